//! `annals reach`: everything within reach of an entity.

use annals::Id;
use clap::Args;
use serde_json::json;

use super::path::WalkArguments;
use crate::context::{AsOfArguments, Context};
use crate::output::{Table, count, properties_summary};
use crate::stop::Outcome;
use crate::wire::ReachedForm;

/// Show everything within reach of an entity, nearest first
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  annals reach package:bash --type depends --type pre-depends      all it needs
  annals reach package:libc6 --direction in --type depends         all that would break without it
  annals reach package:libc6 -d in --count --valid-at 2024-01-01   how many, as was true then
With --json each line is {\"distance\", \"entity\"}.")]
pub struct Arguments {
    /// Id of the entity to start at
    id: Id,
    #[command(flatten)]
    walk: WalkArguments,
    /// Only say how many
    #[arg(long = "count")]
    is_count: bool,
    /// Show at most this many
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    #[command(flatten)]
    as_of: AsOfArguments,
}

/// Prints the entities with their distances.
pub fn run(context: &mut Context, arguments: &Arguments) -> Outcome {
    let repository = context.open_to_read()?;
    let snapshot = arguments.as_of.snapshot(&repository)?;
    let found = snapshot.reachable(&arguments.id, &arguments.walk.reach())?;
    let distance_max = found.last().map_or(0, |reached| reached.distance);
    if arguments.is_count && context.output.is_json() {
        return context.output.json(&json!({ "count": found.len(), "distanceMax": distance_max }));
    }
    let mut table = Table::new(&["STEPS", "ID", "TYPE", "PROPERTIES"]);
    let shown = if arguments.is_count { 0 } else { arguments.limit.unwrap_or(usize::MAX) };
    for reached in found.iter().take(shown) {
        if context.output.is_json() {
            context.output.json(&ReachedForm::of(reached)?)?;
        } else {
            let entity = reached.entity()?;
            table.row([
                reached.distance.to_string(),
                entity.id().to_string(),
                entity.type_name().to_owned(),
                properties_summary(entity.properties()),
            ]);
        }
    }
    if context.output.is_json() {
        return Ok(());
    }
    context.output.table(&table)?;
    let entities = count(found.len() as u64);
    context.output.line(format!("{entities} within reach, the farthest {distance_max} steps away"))
}
