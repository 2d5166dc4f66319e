//! `annals apply`: writes a list of operations, all or none.

use std::io::Read;
use std::path::PathBuf;

use annals::{BuiltOn, Error, ErrorKind, Id, Instant, Receipt, Repository, Result, Transaction};
use annals_exchange::import::Source;
use annals_exchange::text::count;
use annals_json::{add_stays, json_from_slice, operation_from_json};
use clap::Args;
use serde_json::{Value as Json, json};

use super::candidate::print_stays;
use crate::context::{Context, SignatureArguments};
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
    let repository = context.open_or_create()?;
    match arguments.is_dry_run {
        true if context.candidate.is_some() => {
            let text = "expected --dry-run without --candidate; edits of a candidate change nothing before it is committed";
            Err(Error::new(ErrorKind::InvalidArgument, text).into())
        }
        true => dry_run(context, &repository, &operations, &arguments.signature),
        false => commit(context, repository, &operations, &arguments.signature),
    }
}

/// Commits operations in their JSON form and prints the receipt.
pub fn commit(
    context: &mut Context,
    repository: Repository,
    operations: &[Json],
    signature: &SignatureArguments,
) -> Outcome {
    let (filled, changes_count, receipt) = match &context.candidate {
        Some(name) => {
            let edit = |transaction: &mut Transaction| {
                let before = transaction.changes_count();
                let filled = fill(transaction, operations, signature)?;
                Ok((filled, (transaction.changes_count() - before) as u64))
            };
            let ((filled, changes_count), receipt) = repository.candidates().edit(name, edit)?;
            (filled, changes_count, receipt)
        }
        None => {
            let mut transaction = repository.transaction();
            let filled = fill(&mut transaction, operations, signature)?;
            (filled, transaction.changes_count() as u64, transaction.commit()?)
        }
    };
    repository.close()?;
    if context.output.is_json() {
        return context.output.json(&filled.added_to(json!({
            "position": receipt.position.0,
            "instant": receipt.instant.to_string(),
            "changes": changes_count,
        })));
    }
    print_stays(context, filled.stays.as_deref().unwrap_or_default())?;
    if changes_count == 0 {
        return context.output.line(unchanged(&receipt));
    }
    context.output.line(format!(
        "applied {} operations at position {}, {}",
        count(changes_count),
        receipt.position,
        receipt.instant
    ))
}

/// The line that reports a write that changes nothing.
pub fn unchanged(receipt: &Receipt) -> String {
    format!("nothing to change; the repository stays at position {}", receipt.position)
}

fn dry_run(
    context: &mut Context,
    repository: &Repository,
    operations: &[Json],
    signature: &SignatureArguments,
) -> Outcome {
    let mut transaction = repository.transaction();
    let filled = fill(&mut transaction, operations, signature)?;
    let changes_count = transaction.changes_count() as u64;
    let snapshot = transaction.dry_run()?;
    let (entities, relationships) = (snapshot.entities_count(), snapshot.relationships_count());
    if context.output.is_json() {
        return context.output.json(&filled.added_to(json!({
            "dryRun": true,
            "changes": changes_count,
            "entities": entities,
            "relationships": relationships,
        })));
    }
    print_stays(context, filled.stays.as_deref().unwrap_or_default())?;
    context.output.line(format!(
        "would apply {} operations, leaving {} entities and {} relationships; nothing was written",
        count(changes_count),
        count(entities),
        count(relationships)
    ))
}

/// The result of the operations, beside their changes.
#[derive(Default)]
struct Filled {
    /// For each operation the id of its instance, also a new id; null for operations on types.
    ids: Vec<Json>,
    /// The instances that stay as they are, if records are taken back.
    stays: Option<Vec<BuiltOn>>,
}

impl Filled {
    fn added_to(&self, mut receipt: Json) -> Json {
        receipt["ids"] = self.ids.clone().into();
        if let Some(stays) = &self.stays {
            add_stays(&mut receipt, stays);
        }
        receipt
    }
}

/// Puts operations into a transaction.
fn fill(
    transaction: &mut Transaction,
    operations: &[Json],
    signature: &SignatureArguments,
) -> Result<Filled> {
    transaction.author(&signature.author).message(&signature.message);
    let mut filled = Filled::default();
    for (index, json) in operations.iter().enumerate() {
        let (id, stays) =
            add(transaction, json, signature.valid_from).map_err(|error| error.with("operation", index))?;
        filled.ids.push(id.map_or(Json::Null, |id| id.to_string().into()));
        if let Some(stays) = stays {
            filled.stays.get_or_insert_default().extend(stays);
        }
    }
    Ok(filled)
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

/// Adds one operation; returns the id of its instance, and the instances that stay if it takes records back.
fn add(
    transaction: &mut Transaction,
    json: &Json,
    valid_from: Option<Instant>,
) -> Result<(Option<Id>, Option<Vec<BuiltOn>>)> {
    let operation = operation_from_json(json)?;
    let added = operation.add_to(transaction, valid_from)?;
    Ok((added.created.or_else(|| operation.id()), added.stays))
}
