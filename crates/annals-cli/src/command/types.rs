//! `annals types`: the declared types; declaring and verifying many.

use std::io::Read;
use std::path::{Path, PathBuf};

use annals::{
    AttributeDefinition, Deprecation, EndDefinition, Error, ErrorKind, TypeDefinition, TypeKind, TypeMatch,
};
use annals_exchange::import::Source;
use annals_exchange::text::{counted, one_line, value_to_text};
use annals_json::{json_from_str, type_from_json, type_to_json};
use clap::{Args, Subcommand};
use serde_json::{Value as Json, json};

use super::apply::unchanged;
use super::listing::json_of_line;
use super::types_convert;
use crate::context::{Access, AsOfArguments, Context};
use crate::request::Request;
use crate::shown::Shown;
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
  annals types convert airport elevation float
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
        #[arg(long, env = "ANNALS_AUTHOR")]
        author: Option<String>,
        /// Why you write
        #[arg(long, short = 'm', default_value = "")]
        message: String,
    },
    Convert(types_convert::Arguments),
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
        Some(TypesAction::Load { file, author, message }) => load(context, file, author.as_deref(), message),
        Some(TypesAction::Convert(arguments)) => types_convert::run(context, arguments),
        Some(TypesAction::Verify { file, as_of }) => verify(context, file, as_of),
    }
}

fn load(context: &mut Context, file: &Path, author: Option<&str>, message: &str) -> Outcome {
    let definitions = read_types(file)?;
    let types: Vec<Json> = definitions.iter().map(type_to_json).collect();
    context.enter(Access::Create)?;
    let author = context.author(author)?;
    let request = Request::post("/v1/types", &json!({ "types": types })).signed(author.as_deref(), message);
    let mut receipt = json_of_line(&context.ask(request)?.whole()?)?;
    context.leave()?;
    if context.output.is_json() {
        receipt["types"] = types.len().into();
        return context.output.json(&receipt);
    }
    let receipt = Shown(&receipt);
    if receipt.number("changes") == 0 {
        return context.output.line(unchanged(receipt));
    }
    let types = counted(types.len() as u64, "type");
    context.output.line(format!("declared {types} at position {}", receipt.number("position")))
}

fn verify(context: &mut Context, file: &Path, as_of: &AsOfArguments) -> Outcome {
    let definitions = read_types(file)?;
    context.warn_of_emptiness(as_of)?;
    let mut broken = 0;
    for given in &definitions {
        let request = Request::post("/v1/types/verify", &type_to_json(given)).known_at(as_of);
        let mut told = json_of_line(&context.ask(request)?.whole()?)?;
        let outcome = Shown(&told).text("outcome").to_owned();
        broken +=
            u64::from([TypeMatch::Unknown, TypeMatch::Conflicting].iter().any(|bad| bad.name() == outcome));
        if context.output.is_json() {
            told["kind"] = given.kind.name().into();
            told["name"] = (&*given.name).into();
            context.output.json(&told)?;
        } else if outcome != TypeMatch::Equal.name() {
            context.output.line(format!("{} {}: {outcome}", given.kind.name(), one_line(&given.name)))?;
            for found in Shown(&told).all("differences") {
                let side = |name| found.optional(name).map(str::to_owned);
                let sides = format!("declared {:?}, given {:?}", side("declared"), side("given"));
                let sign = if found.is("conflict") { "!" } else { " " };
                context.output.line(format!("  {sign} {}: {sides}", found.text("place")))?;
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
    let request = Request::get("/v1/types")
        .with_all("kind", arguments.kind.map(TypeKind::name))
        .with_all("externalId", &arguments.external_id)
        .known_at(&arguments.as_of);
    context.warn_of_emptiness(&arguments.as_of)?;
    let page = json_of_line(&context.ask(request)?.whole()?)?;
    for known in Shown(&page).all("items") {
        if arguments.name.as_deref().is_some_and(|name| name != known.text("name")) {
            continue;
        }
        if context.output.is_json() {
            context.output.json(known.0)?;
        } else {
            print(context, &type_from_json(known.0)?)?;
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
