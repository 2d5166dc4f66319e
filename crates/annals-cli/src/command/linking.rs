//! `annals linking`: what lies between two entities.

use annals::Id;
use clap::Args;

use super::path::WalkArguments;
use crate::context::{AsOfArguments, Context};
use crate::stop::Outcome;

/// Show everything that lies on a path between two entities
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  annals linking ada charles
  annals linking package:bash package:libssl3 --direction out --depth-max 5
Of all paths on which no entity comes twice, each entity and relationship once; nothing if there is no path.
With --json first come lines {\"distance\", \"entity\"}, then lines {\"relationship\"}.")]
pub struct Arguments {
    /// One entity
    from: Id,
    /// The other one
    to: Id,
    #[command(flatten)]
    walk: WalkArguments,
    #[command(flatten)]
    as_of: AsOfArguments,
}

/// Prints what links them.
pub fn run(context: &mut Context, arguments: &Arguments) -> Outcome {
    let repository = context.open_to_read()?;
    let snapshot = arguments.as_of.snapshot(&repository)?;
    let subgraph = snapshot.linking(&arguments.from, &arguments.to, &arguments.walk.reach_both())?;
    super::neighborhood::show(context, &subgraph)
}
