//! `annals neighbors`: the relationships of an entity, with the entities at their other ends.

use annals::{Direction, Error, ErrorKind, Id, Neighbor, Snapshot};
use annals_json::NeighborForm;
use clap::Args;
use serde_json::json;

use super::selection::{DirectionArgument, arrow, direction_name};
use crate::context::{AsOfArguments, Context};
use crate::output::{Table, properties_summary};
use crate::stop::Outcome;

/// Show the relationships of an entity, with the entities at their other ends
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  annals neighbors package:bash
  annals neighbors package:libc6 --direction in --type depends --limit 1000
  annals neighbors package:bash --valid-at 2024-01-01
With --json each line is {\"direction\", \"relationship\", \"entity\"}; a last line {\"next\": …} if there is more.")]
pub struct Arguments {
    /// Id of the entity
    id: Id,
    /// Direction of the relationships
    #[arg(long, short = 'd', value_enum, default_value = "both")]
    direction: DirectionArgument,
    /// Only relationships of this type and its subtypes
    #[arg(long = "type", short = 't', value_name = "TYPE")]
    type_name: Option<String>,
    /// Show at most this many neighbours in one direction
    #[arg(long, default_value_t = 100, value_name = "N")]
    limit: usize,
    /// Continue after this relationship; needs --direction out or in
    #[arg(long, value_name = "RELATIONSHIP")]
    after: Option<Id>,
    /// Print only the count
    #[arg(long = "count", conflicts_with = "after")]
    is_count: bool,
    #[command(flatten)]
    as_of: AsOfArguments,
}

/// Prints one page.
pub fn run(context: &mut Context, arguments: &Arguments) -> Outcome {
    if arguments.after.is_some() && arguments.direction == DirectionArgument::Both {
        let text =
            "--after: expected --direction out or in beside it, found both; page each direction by itself";
        return Err(Error::new(ErrorKind::InvalidArgument, text).into());
    }
    let repository = context.open_to_read()?;
    let snapshot = arguments.as_of.snapshot(context, &repository)?;
    if arguments.is_count {
        return print_count(context, arguments, &snapshot);
    }
    let mut table = Table::new(&["", "TYPE", "ENTITY", "PROPERTIES"]);
    let mut next = Vec::new();
    for direction in arguments.direction.directions() {
        let last = page(context, arguments, &snapshot, direction, &mut table)?;
        next.extend(last.map(|last| (direction, last)));
    }
    context.output.table(&mut table)?;
    context.output.end_list();
    for (direction, last) in next {
        let name = direction_name(direction);
        if context.output.is_json() {
            context.output.json(&json!({ "next": last.to_string(), "direction": name }))?;
        } else {
            context.output.line(format!("more: --direction {name} --after {last}"))?;
        }
    }
    Ok(())
}

fn print_count(context: &mut Context, arguments: &Arguments, snapshot: &Snapshot) -> Outcome {
    let mut neighbors_count = 0;
    for direction in arguments.direction.directions() {
        neighbors_count += snapshot.degree(&arguments.id, direction, arguments.type_name.as_deref())?;
    }
    context.output.count(neighbors_count)
}

/// Adds the neighbours in one direction; returns where the next page starts.
fn page(
    context: &mut Context,
    arguments: &Arguments,
    snapshot: &Snapshot,
    direction: Direction,
    table: &mut Table,
) -> Outcome<Option<Id>> {
    let type_name = arguments.type_name.as_deref();
    let mut neighbors =
        snapshot.neighbors_after(&arguments.id, direction, type_name, arguments.after.as_ref())?;
    let mut last = None;
    for neighbor in neighbors.by_ref().take(arguments.limit) {
        let neighbor = neighbor?;
        last = Some(neighbor.relationship.id().clone());
        if context.output.is_json() {
            context.output.json(&NeighborForm { neighbor, direction: Some(direction) })?;
        } else {
            let Neighbor { relationship, entity } = neighbor;
            table.row([
                arrow(direction).to_owned(),
                relationship.type_name().to_owned(),
                entity.id().to_string(),
                properties_summary(relationship.properties()),
            ]);
        }
    }
    Ok(if neighbors.next().is_some() { last } else { None })
}
