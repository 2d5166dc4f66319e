//! `annals linking`: all paths between two entities.

use clap::Args;

use super::graph_format::GraphFormatArguments;
use super::path::EndsArguments;
use crate::context::Context;
use crate::stop::Outcome;

/// Show everything on a path between two entities
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  annals linking ada charles
  annals linking package:bash package:libssl3 --direction out --depth-max 5
Shows each entity and relationship of these paths once. No path visits an entity twice. Empty if there is no path.
With --json first come lines {\"distance\", \"entity\"}, then lines {\"relationship\"}.")]
pub struct Arguments {
    #[command(flatten)]
    ends: EndsArguments,
    #[command(flatten)]
    format: GraphFormatArguments,
}

/// Prints the entities and relationships that link them.
pub fn run(context: &mut Context, Arguments { ends, format }: &Arguments) -> Outcome {
    let repository = context.open_to_read()?;
    let snapshot = ends.as_of.snapshot(context, &repository)?;
    let found = snapshot.linking(&ends.from, &ends.to, &ends.walk.reach_both()?)?;
    super::neighborhood::show(context, &found, *format)
}
