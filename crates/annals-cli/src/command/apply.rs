//! `annals apply`: writes a list of operations, all or none.

use std::collections::VecDeque;
use std::io::Read;
use std::path::PathBuf;

use annals::{Error, ErrorKind, Result};
use annals_exchange::import::Source;
use annals_exchange::text::counted;
use annals_json::{Operation, json_from_slice, operation_from_json};
use clap::Args;
use serde_json::{Value as Json, json};

use super::candidate::print_stays;
use super::listing::json_of_line;
use crate::context::{Access, Context, SignatureArguments};
use crate::request::Request;
use crate::shown::Shown;
use crate::stop::Outcome;

/// Longest list of operations. Units: bytes of JSON.
const OPERATIONS_BYTES_MAX: u64 = 256 << 20;

/// Write a JSON array of operations, all or none
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  echo '[{\"action\": \"create\", \"kind\": \"entity\", \"id\": \"ada\", \"type\": \"person\",
          \"properties\": {\"name\": \"Ada\"}}]' | annals apply -
  echo '{\"action\": \"update\", \"kind\": \"entity\", \"id\": \"ada\", \"patch\": {\"born\": 1815}}' | annals apply -
  echo '{\"action\": \"delete\", \"kind\": \"entity\", \"id\": \"ada\"}' | annals apply - --message 'a test only'
  annals apply changes.json --dry-run
Actions: create, upsert, update, replace, delete, restore, purge, undo, classify, reclassify, declassify, define-type,
patch-type, and others.
docs/json.md describes each. An operation may state the version that it expects (\"ifVersion\"), and have its own \"validFrom\".
An operation that changes nothing makes no version, unless it has \"always\": true.")]
pub struct Arguments {
    /// File with an array of operations, or one operation; - for standard input
    file: PathBuf,
    /// Check everything, write nothing
    #[arg(long = "dry-run")]
    is_dry_run: bool,
    #[command(flatten)]
    signature: SignatureArguments,
}

/// Commits the operations, or checks them.
pub fn run(context: &mut Context, arguments: &Arguments) -> Outcome {
    let operations = read_operations(arguments)?;
    match arguments.is_dry_run {
        true if context.candidate.is_some() => {
            let text = "expected --dry-run without --candidate; edits of a candidate change nothing before it is committed";
            Err(Error::new(ErrorKind::InvalidArgument, text).into())
        }
        true => dry_run(context, &operations, &arguments.signature),
        false => {
            context.enter(Access::Create)?;
            let receipt = send(context, &operations, &arguments.signature, false)?;
            context.leave()?;
            print_receipt(context, &receipt)?;
            print_new_ids(context, &operations, &receipt)
        }
    }
}

/// Prints the ids that created instances got because their operations named none; in JSON the receipt has them.
fn print_new_ids(context: &mut Context, operations: &[Json], receipt: &Json) -> Outcome {
    if context.output.is_json() {
        return Ok(());
    }
    let is_unnamed = |operation: &Json| operation["action"] == "create" && operation.get("id").is_none();
    let ids = receipt["ids"].as_array().into_iter().flatten().filter_map(Json::as_str);
    let new = operations.iter().zip(ids).filter(|(operation, _)| is_unnamed(operation));
    new.map(|(_, id)| id).try_for_each(|id| context.output.line(id))
}

/// Commits operations in their JSON form and prints the receipt.
pub fn commit(
    context: &mut Context,
    access: Access,
    operations: &[Json],
    signature: &SignatureArguments,
) -> Outcome {
    context.enter(access)?;
    let receipt = send(context, operations, signature, false)?;
    context.leave()?;
    print_receipt(context, &receipt)
}

/// Prints the receipt of a transaction.
pub fn print_receipt(context: &mut Context, receipt: &Json) -> Outcome {
    if context.output.is_json() {
        return context.output.json(receipt);
    }
    let receipt = Shown(receipt);
    print_stays(context, receipt)?;
    if receipt.number("changes") == 0 {
        return context.output.line(unchanged(receipt));
    }
    context.output.line(format!(
        "applied {} at position {}, {}",
        counted(receipt.number("changes"), "operation"),
        receipt.number("position"),
        receipt.text("instant")
    ))
}

/// The line that reports a write that changes nothing.
pub fn unchanged(receipt: Shown) -> String {
    format!("nothing to change; the repository stays at position {}", receipt.number("position"))
}

/// Checks operations without writing, and prints what they would do.
pub fn dry_run(context: &mut Context, operations: &[Json], signature: &SignatureArguments) -> Outcome {
    context.enter(Access::Create)?;
    let told = send(context, operations, signature, true)?;
    if context.output.is_json() {
        return context.output.json(&told);
    }
    let told = Shown(&told);
    print_stays(context, told)?;
    context.output.line(format!(
        "would apply {}, leaving {} and {}; nothing was written",
        counted(told.number("changes"), "operation"),
        counted(told.number("entities"), "entity"),
        counted(told.number("relationships"), "relationship")
    ))
}

/// Sends a transaction. Returns its receipt, with one id for each operation: that of its instance; null for operations on
/// types.
pub fn send(
    context: &mut Context,
    operations: &[Json],
    signature: &SignatureArguments,
    is_dry_run: bool,
) -> Outcome<Json> {
    let SignatureArguments { author, message, valid_from } = signature;
    let mut transaction = json!({ "operations": operations, "message": message });
    // A server that knows the client names the author itself.
    if let Some(author) = context.author(author.as_deref())?.filter(|author| !author.is_empty()) {
        transaction["author"] = author.into();
    }
    if let Some(valid_from) = valid_from {
        transaction["validFrom"] = valid_from.to_string().into();
    }
    if is_dry_run {
        transaction["dryRun"] = true.into();
    }
    let request = context.of_candidate(Request::post("/v1/transactions", &transaction));
    let mut receipt = json_of_line(&context.ask(request)?.whole()?)?;
    receipt["ids"] = ids(operations, receipt["ids"].take());
    Ok(receipt)
}

/// For each operation the id of its instance. The door names those of created instances only.
fn ids(operations: &[Json], created: Json) -> Json {
    let mut created: VecDeque<Json> = created.as_array().cloned().unwrap_or_default().into();
    let id = |operation: &Json| {
        let read = operation_from_json(operation).ok();
        // Only a new instance, also one in a tree, has no id in its operation; reading it chose one that nothing has.
        let named = read.as_ref().and_then(Operation::id).filter(|_| operation.get("id").is_some());
        let Some(id) = named else {
            let is_creating = read.is_some_and(|read| read.is_creating());
            return if is_creating { created.pop_front().unwrap_or_default() } else { Json::Null };
        };
        let id = Json::from(id.to_string());
        if created.front() == Some(&id) {
            created.pop_front();
        }
        id
    };
    operations.iter().map(id).collect()
}

fn read_operations(arguments: &Arguments) -> Result<Vec<Json>> {
    let source = Source::open(&arguments.file)?;
    let name = source.name().to_owned();
    let mut text = Vec::new();
    source
        .take(OPERATIONS_BYTES_MAX + 1)
        .read_to_end(&mut text)
        .map_err(|error| Error::io("read input", error).with("path", &name))?;
    if text.len() as u64 > OPERATIONS_BYTES_MAX {
        let text = format!("{name}: expected at most {OPERATIONS_BYTES_MAX} bytes; use `annals import`");
        return Err(Error::new(ErrorKind::TooLarge, text));
    }
    match json_from_slice(&text) {
        Ok(Json::Array(operations)) => Ok(operations),
        Ok(operation) => Ok(vec![operation]),
        Err(error) => Err(Error::new(ErrorKind::InvalidArgument, format!("{name}: expected JSON: {error}"))),
    }
}
