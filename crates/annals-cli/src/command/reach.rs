//! `annals reach`: everything within reach of an entity.

use annals::Id;
use annals_exchange::text::count;
use clap::Args;
use serde_json::json;

use super::listing::{Listing, is_elsewhere};
use super::path::WalkArguments;
use crate::context::{AsOfArguments, Context};
use crate::stop::Outcome;

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
    let snapshot = arguments.as_of.snapshot(context, &repository)?;
    let walk = snapshot.walk(&arguments.id, &arguments.walk.reach())?;
    let mut walk = walk.entities().filter(is_elsewhere);
    let mut listing = Listing::of_reached();
    let shown = if arguments.is_count { 0 } else { arguments.limit.unwrap_or(usize::MAX) };
    let (mut entities_count, mut distance_max) = (0, 0);
    for reached in walk.by_ref().take(shown) {
        let reached = reached?;
        (entities_count, distance_max) = (entities_count + 1, reached.distance);
        listing.reached(context, &reached)?;
    }
    listing.end(context)?;
    if context.output.is_json() && !arguments.is_count {
        return Ok(());
    }
    for reached in walk {
        (entities_count, distance_max) = (entities_count + 1, reached?.distance);
    }
    if context.output.is_json() {
        return context.output.json(&json!({ "count": entities_count, "distanceMax": distance_max }));
    }
    let entities = count(entities_count);
    context.output.line(format!("{entities} within reach, the farthest {distance_max} steps away"))
}
