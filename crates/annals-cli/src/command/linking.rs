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
    context.warn_of_emptiness(&ends.as_of)?;
    let request = ends.request(context, "/v1/linking");
    super::neighborhood::show(context, request, *format)
}
