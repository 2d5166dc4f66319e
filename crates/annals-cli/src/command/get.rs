//! `annals get`: one entity or relationship, now or as of an earlier time.

use annals::{Entity, Error, ErrorKind, Id, InstanceId, Position, Relationship, Result, Snapshot, StampRef};
use annals_exchange::text::{one_line, value_to_text};
use clap::Args;

use super::selection::InstanceArgument;
use crate::context::{AsOfArguments, Context};
use crate::output::{Table, provenance_texts};
use crate::stop::Outcome;

/// Show an entity or a relationship
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  annals get package:bash
  annals get package:bash --valid-at 2024-01-01     as it was true then
  annals get package:bash --version 1               its first version
  annals get far --summary                          also if only a proxy of it is here
  annals --json get package:bash | jq .properties")]
pub struct Arguments {
    #[command(flatten)]
    instance: InstanceArgument,
    /// This version, even a deleted one
    #[arg(long, value_name = "N")]
    version: Option<u32>,
    /// Show all that the repository knows of an entity, even if it holds only a proxy of it
    #[arg(long = "summary", conflicts_with_all = ["version", "is_relationship"])]
    is_summary: bool,
    #[command(flatten)]
    as_of: AsOfArguments,
}

/// Prints the instance.
pub fn run(context: &mut Context, arguments: &Arguments) -> Outcome {
    let repository = context.open_to_read()?;
    let snapshot = arguments.as_of.snapshot(context, &repository)?;
    match arguments.instance.find(&snapshot)? {
        InstanceId::Entity(id) => {
            let entity = match arguments.version {
                Some(version) => snapshot.entity_version(&id, version)?,
                None if arguments.is_summary => snapshot.entity_summary(&id)?,
                None => snapshot.entity(&id).map_err(|error| with_hint(error, &id))?,
            };
            let entity = entity.ok_or_else(|| unseen(&InstanceId::Entity(id), arguments.version))?;
            if context.output.is_json() {
                return context.output.json(&entity);
            }
            print_entity(context, &entity)
        }
        InstanceId::Relationship(id) if arguments.is_summary => {
            let text =
                format!("--summary: expected the id of an entity, found relationship {id}; leave it out");
            Err(Error::new(ErrorKind::InvalidArgument, text).into())
        }
        InstanceId::Relationship(id) => {
            let relationship = match arguments.version {
                Some(version) => snapshot.relationship_version(&id, version)?,
                None => snapshot.relationship(&id)?,
            };
            let relationship =
                relationship.ok_or_else(|| unseen(&InstanceId::Relationship(id), arguments.version))?;
            if context.output.is_json() {
                return context.output.json(&relationship);
            }
            print_relationship(context, &snapshot, &relationship)
        }
    }
}

/// Adds to the error how the command line shows a proxy.
fn with_hint(error: Error, id: &Id) -> Error {
    if error.kind() != ErrorKind::ProxyOnly {
        return error;
    }
    let text = format!(
        "entity {id}: the repository holds only a proxy of it; add --summary to see its known fields"
    );
    Error::new(ErrorKind::ProxyOnly, text)
}

fn unseen(id: &InstanceId, version: Option<u32>) -> Error {
    let text = match version {
        Some(version) => format!("{id} has no version {version}; list its versions with `annals history`"),
        None => format!("{id} is deleted, or was not there yet; list its versions with `annals history`"),
    };
    Error::new(ErrorKind::NotFound, text)
}

/// Adds rows for fields that most instances do not have.
macro_rules! rare_rows {
    ($table:expr, $instance:expr) => {{
        let instance = $instance;
        let mut row = |name: &str, text: String| $table.row([format!("  {name}"), text]);
        if let Some(status) = instance.status_on_delete() {
            row("status on delete", one_line(status));
        }
        if let Some(id) = instance.reidentified_from() {
            row("reidentified from", id.to_string());
        }
        for (name, text) in instance.provenance().map(provenance_texts).unwrap_or_default() {
            row(&words(name), text);
        }
        if instance.home_version() != u64::from(instance.version()) {
            row("home version", instance.home_version().to_string());
        }
    }};
}

fn print_entity(context: &mut Context, entity: &Entity) -> Outcome {
    context.output.line(format!("entity {}", entity.id()))?;
    let mut table = Table::untitled();
    header(
        &mut table,
        entity.type_name(),
        (entity.version(), entity.latest_version(), entity.status_name()),
        (entity.created(), entity.updated()),
        (entity.valid_from().to_string(), entity.position()),
    );
    rare_rows!(table, entity);
    if entity.is_proxy() {
        let text = "only what relationships tell of it is here";
        table.row(["  proxy".to_owned(), text.to_owned()]);
    }
    let names: Vec<String> = entity
        .classifications()
        .map(|known| {
            let properties = crate::output::properties_summary(known.properties());
            if properties.is_empty() {
                known.name().to_owned()
            } else {
                format!("{} ({properties})", known.name())
            }
        })
        .collect();
    if !names.is_empty() {
        table.row(["  classified".to_owned(), names.join(", ")]);
    }
    context.output.table(&mut table)?;
    print_properties(context, entity.properties())
}

fn print_relationship(context: &mut Context, snapshot: &Snapshot, relationship: &Relationship) -> Outcome {
    context.output.line(format!("relationship {}", relationship.id()))?;
    let mut table = Table::untitled();
    let end = |id| -> Result<String> {
        let known = snapshot.entity_summary(id)?.map(|entity| {
            let proxy = if entity.is_proxy() { ", a proxy" } else { "" };
            format!(" ({}{proxy})", entity.type_name())
        });
        Ok(format!("{id}{}", known.unwrap_or_default()))
    };
    table.row(["  from".to_owned(), end(relationship.from())?]);
    table.row(["  to".to_owned(), end(relationship.to())?]);
    header(
        &mut table,
        relationship.type_name(),
        (relationship.version(), relationship.latest_version(), relationship.status_name()),
        (relationship.created(), relationship.updated()),
        (relationship.valid_from().to_string(), relationship.position()),
    );
    rare_rows!(table, relationship);
    context.output.table(&mut table)?;
    print_properties(context, relationship.properties())
}

fn header(
    table: &mut Table,
    type_name: &str,
    (version, latest, status): (u32, u32, &str),
    (created, updated): (StampRef, StampRef),
    (valid_from, position): (String, Position),
) {
    table.row(["  type".to_owned(), type_name.to_owned()]);
    table.row(["  version".to_owned(), format!("{version} of {latest}, {}", one_line(status))]);
    table.row(["  created".to_owned(), stamp_to_text(created)]);
    table.row(["  updated".to_owned(), format!("{} at position {}", stamp_to_text(updated), position.0)]);
    table.row(["  valid from".to_owned(), valid_from]);
}

/// `maintained by` for `maintainedBy`.
fn words(name: &str) -> String {
    let words =
        name.chars().flat_map(|one| one.is_uppercase().then_some(' ').into_iter().chain(one.to_lowercase()));
    words.collect()
}

fn stamp_to_text(stamp: StampRef) -> String {
    match stamp.author {
        "" => stamp.instant.to_string(),
        author => format!("{} by {}", stamp.instant, one_line(author)),
    }
}

fn print_properties<'p>(
    context: &mut Context,
    properties: impl Iterator<Item = (&'p str, annals::Value)>,
) -> Outcome {
    let mut named: Vec<_> = properties.collect();
    if named.is_empty() {
        return Ok(());
    }
    named.sort_unstable_by_key(|(name, _)| *name);
    context.output.line("properties")?;
    let mut table = Table::untitled();
    for (name, value) in named {
        table.row([format!("  {}", one_line(name)), value_to_text(&value)]);
    }
    context.output.table(&mut table)
}
