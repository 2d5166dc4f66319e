//! `annals types`: the declared types; declaring and verifying many.

use std::io::Read;
use std::path::{Path, PathBuf};

use annals::{
    AttributeDefinition, Deprecation, EndDefinition, Error, ErrorKind, TypeDefinition, TypeKind, TypeMatch,
};
use annals_exchange::import::Source;
use annals_exchange::text::{count, one_line, value_to_text};
use annals_json::{json_from_str, type_from_json, type_to_json, verification_to_json};
use clap::{Args, Subcommand};
use serde_json::{Value as Json, json};

use super::apply::unchanged;
use crate::context::{AsOfArguments, Context, user_name};
use crate::stop::Outcome;

/// Show the declared types
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  annals types
  annals types package
  annals types --kind enum
  annals --json types           one type per line, as `annals types load` reads it
  annals types load examples/open-metadata-types/types.jsonl
  annals types verify types.jsonl
`annals stats` counts types that are used without a declaration.")]
#[command(args_conflicts_with_subcommands = true)]
pub struct Arguments {
    #[command(subcommand)]
    action: Option<TypesAction>,
    /// Only types with this name
    name: Option<String>,
    /// Only types of this kind: entity, relationship, classification or enum
    #[arg(long, value_parser = kind)]
    kind: Option<TypeKind>,
    /// Only the type with this id of another system
    #[arg(long, value_name = "ID")]
    external_id: Option<String>,
    #[command(flatten)]
    as_of: AsOfArguments,
}

#[derive(Subcommand, Debug)]
enum TypesAction {
    /// Declare or extend the types of a file, all or none
    Load {
        /// File of JSON Lines, one type per line, in any order; - for standard input
        file: PathBuf,
        /// The author [default: the name of the user; '' for none]
        #[arg(long, env = "ANNALS_AUTHOR", default_value_t = user_name(), hide_default_value = true)]
        author: String,
        /// Why you write
        #[arg(long, short = 'm', default_value = "")]
        message: String,
    },
    /// Compare the types of a file with the declared ones; fails if some conflict or are missing
    Verify {
        /// File of JSON Lines, one type per line; - for standard input
        file: PathBuf,
        #[command(flatten)]
        as_of: AsOfArguments,
    },
}

fn kind(text: &str) -> Result<TypeKind, String> {
    let found = TypeKind::ALL.into_iter().find(|kind| kind.name() == text);
    found.ok_or_else(|| format!("expected one of {}", TypeKind::ALL.map(TypeKind::name).join(", ")))
}

/// Prints the types, declares or verifies them.
pub fn run(context: &mut Context, arguments: &Arguments) -> Outcome {
    match &arguments.action {
        None => print_all(context, arguments),
        Some(TypesAction::Load { file, author, message }) => load(context, file, author, message),
        Some(TypesAction::Verify { file, as_of }) => verify(context, file, as_of),
    }
}

fn load(context: &mut Context, file: &Path, author: &str, message: &str) -> Outcome {
    let definitions = read_types(file)?;
    let repository = context.open_or_create()?;
    let types_count = definitions.len() as u64;
    let mut transaction = repository.transaction();
    transaction.author(author).message(message);
    transaction.define_types(definitions)?;
    let changes_count = transaction.changes_count() as u64;
    let receipt = transaction.commit()?;
    repository.close()?;
    if context.output.is_json() {
        return context.output.json(&json!({
            "position": receipt.position.0,
            "instant": receipt.instant.to_string(),
            "types": types_count,
            "changes": changes_count,
        }));
    }
    if changes_count == 0 {
        return context.output.line(unchanged(&receipt));
    }
    let types = count(types_count);
    context.output.line(format!("declared {types} types at position {}", receipt.position))
}

fn verify(context: &mut Context, file: &Path, as_of: &AsOfArguments) -> Outcome {
    let definitions = read_types(file)?;
    let repository = context.open_to_read()?;
    let snapshot = as_of.snapshot(context, &repository)?;
    let mut broken = 0;
    for given in &definitions {
        let (outcome, differences) = snapshot.verify_type(given);
        broken += u64::from(matches!(outcome, TypeMatch::Unknown | TypeMatch::Conflicting));
        if context.output.is_json() {
            let mut json = verification_to_json(outcome, &differences);
            json["kind"] = given.kind.name().into();
            json["name"] = (&*given.name).into();
            context.output.json(&json)?;
        } else if outcome != TypeMatch::Equal {
            context.output.line(format!(
                "{} {}: {}",
                given.kind.name(),
                one_line(&given.name),
                outcome.name()
            ))?;
            for found in &differences {
                let sides = format!("declared {:?}, given {:?}", found.declared, found.given);
                let sign = if found.is_conflict { "!" } else { " " };
                context.output.line(format!("  {sign} {}: {sides}", found.place))?;
            }
        }
    }
    if broken == 0 {
        return Ok(());
    }
    let types = definitions.len();
    let text = format!("{broken} of {types} types are not declared, or declared otherwise; see above");
    Err(Error::new(ErrorKind::TypeViolation, text).into())
}

/// Longest file of types. Units: bytes.
const TYPES_BYTES_MAX: u64 = 64 << 20;

/// The types of a file of JSON Lines: each line a type, or `{"type": …}` as exports have it.
fn read_types(file: &Path) -> annals::Result<Vec<TypeDefinition>> {
    let mut text = String::new();
    let mut input = Source::open(file)?.take(TYPES_BYTES_MAX + 1);
    input.read_to_string(&mut text).map_err(|error| Error::io(format!("read {}", file.display()), error))?;
    if text.len() as u64 > TYPES_BYTES_MAX {
        let text = format!("{}: expected at most {TYPES_BYTES_MAX} bytes of types", file.display());
        return Err(Error::new(ErrorKind::TooLarge, text));
    }
    let mut definitions = Vec::new();
    for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
        let place = format!("{}:{number}", file.display());
        let json: Json = json_from_str(line).map_err(|error| {
            let text = format!("{place}: expected a type in JSON, found {error}");
            Error::new(ErrorKind::InvalidArgument, text)
        })?;
        let inner = json.get("type").filter(|inner| inner.is_object());
        let definition =
            type_from_json(inner.unwrap_or(&json)).map_err(|error| error.with("line", &place))?;
        definitions.push(definition);
    }
    Ok(definitions)
}

fn print_all(context: &mut Context, arguments: &Arguments) -> Outcome {
    let repository = context.open_to_read()?;
    let snapshot = arguments.as_of.snapshot(context, &repository)?;
    for definition in snapshot.types() {
        let is_wanted = arguments.name.as_deref().is_none_or(|name| name == &*definition.name)
            && arguments.kind.is_none_or(|kind| kind == definition.kind)
            && (arguments.external_id.is_none()
                || arguments.external_id.as_deref() == definition.external_id.as_deref());
        if !is_wanted {
            continue;
        }
        if context.output.is_json() {
            context.output.json(&type_to_json(&definition))?;
        } else {
            print(context, &definition)?;
        }
    }
    context.output.end_list();
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
    if !definition.statuses.is_empty() {
        line += &format!("  statuses {}", definition.statuses.join(", "));
    }
    line += &deprecation(definition.deprecation.as_ref());
    context.output.line(line)?;
    if !definition.description.is_empty() {
        context.output.line(format!("    {}", one_line(&definition.description)))?;
    }
    for attribute in &definition.attributes {
        context.output.line(format!("    {}", attribute_line(attribute)))?;
    }
    for element in &definition.elements {
        let mut line = format!("    {} {}", element.ordinal, one_line(&element.name));
        if !element.description.is_empty() {
            line += &format!(": {}", one_line(&element.description));
        }
        context.output.line(line)?;
    }
    Ok(())
}

fn deprecation(deprecation: Option<&Deprecation>) -> String {
    match deprecation.map(|known| &known.replaced_by) {
        None => String::new(),
        Some(None) => "  deprecated".into(),
        Some(Some(name)) => format!("  deprecated, use {name}"),
    }
}

fn end(end: &EndDefinition) -> String {
    let many = if end.is_many { "many" } else { "one" };
    format!("{many} {}", end.type_name.as_deref().unwrap_or("of any type"))
}

fn attribute_line(attribute: &AttributeDefinition) -> String {
    let value_type = attribute.enum_type.as_deref().unwrap_or(attribute.value_type.name());
    let mut line = format!("{}: {value_type}", one_line(&attribute.name));
    if let Some(item_type) = attribute.item_type {
        line += &format!(" of {}", item_type.name());
    }
    for (is_set, word) in [
        (attribute.is_key, "key"),
        (attribute.is_many, "many"),
        (attribute.is_required && !attribute.is_key, "required"),
        (attribute.is_unique, "unique"),
        (!attribute.is_indexed, "unindexed"),
    ] {
        if is_set {
            line += &format!(", {word}");
        }
    }
    for (limit, word) in [(&attribute.minimum, "least"), (&attribute.maximum, "most")] {
        if let Some(limit) = limit {
            line += &format!(", at {word} {}", value_to_text(limit));
        }
    }
    if let Some(pattern) = &attribute.pattern {
        line += &format!(", matches {}", one_line(pattern));
    }
    if let Some(value) = &attribute.default {
        line += &format!(", default {}", value_to_text(value));
    }
    line + &deprecation(attribute.deprecation.as_ref())
}
