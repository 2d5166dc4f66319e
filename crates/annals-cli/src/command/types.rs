//! `annals types`: the declared types.

use annals::{AttributeDefinition, EndDefinition, TypeDefinition};
use clap::Args;

use crate::context::{AsOfArguments, Context};
use crate::output::{one_line, value_to_text};
use crate::stop::Outcome;
use crate::wire::type_to_json;

/// Show the declared types
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  annals types
  annals types package
  annals --json types           one type per line, as `annals apply` takes it in define-type
Types that are used without a declaration are counted by `annals stats`.")]
pub struct Arguments {
    /// Only types with this name
    name: Option<String>,
    #[command(flatten)]
    as_of: AsOfArguments,
}

/// Prints the types.
pub fn run(context: &mut Context, arguments: &Arguments) -> Outcome {
    let repository = context.open_to_read()?;
    let snapshot = arguments.as_of.snapshot(&repository)?;
    for definition in snapshot.types() {
        if arguments.name.as_deref().is_some_and(|name| name != &*definition.name) {
            continue;
        }
        if context.output.is_json() {
            context.output.json(&type_to_json(&definition))?;
        } else {
            print(context, &definition)?;
        }
    }
    Ok(())
}

fn print(context: &mut Context, definition: &TypeDefinition) -> Outcome {
    let mut line = format!("{} {}", definition.kind.name(), one_line(&definition.name));
    if !definition.supertypes.is_empty() {
        line += &format!(": {}", definition.supertypes.join(", "));
    }
    if let Some([from, to]) = &definition.ends {
        line += &format!("  from {} to {}", end(from), end(to));
    }
    if !definition.applies_to.is_empty() {
        line += &format!("  for {}", definition.applies_to.join(", "));
    }
    if definition.is_closed {
        line += "  closed";
    }
    context.output.line(line)?;
    if !definition.description.is_empty() {
        context.output.line(format!("    {}", one_line(&definition.description)))?;
    }
    for attribute in &definition.attributes {
        context.output.line(format!("    {}", attribute_line(attribute)))?;
    }
    Ok(())
}

fn end(end: &EndDefinition) -> String {
    let many = if end.is_many { "many" } else { "one" };
    format!("{many} {}", end.type_name.as_deref().unwrap_or("of any type"))
}

fn attribute_line(attribute: &AttributeDefinition) -> String {
    let mut line = format!("{}: {}", one_line(&attribute.name), attribute.value_type.name());
    for (is_set, word) in [
        (attribute.is_many, "many"),
        (attribute.is_required, "required"),
        (attribute.is_unique, "unique"),
        (!attribute.is_indexed, "unindexed"),
    ] {
        if is_set {
            line += &format!(", {word}");
        }
    }
    if let Some(value) = &attribute.default {
        line += &format!(", default {}", value_to_text(value));
    }
    line
}
