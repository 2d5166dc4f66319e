//! `annals shared`: the entities that two entities share.

use clap::Args;

use super::listing::Listing;
use super::path::EndsArguments;
use crate::context::Context;
use crate::stop::Outcome;

/// List the neighbours that two entities share; with --depth-max, all entities that both reach
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  annals shared ada charles
  annals shared package:bash package:dash --direction out --depth-max 3
With --json each line is {\"distances\", \"entity\"}.")]
pub struct Arguments {
    #[command(flatten)]
    ends: EndsArguments,
}

/// Prints the entities with their distances from both.
pub fn run(context: &mut Context, Arguments { ends }: &Arguments) -> Outcome {
    context.warn_of_emptiness(&ends.as_of)?;
    let mut answer = context.ask(ends.request(context, "/v1/shared").lines())?;
    let mut listing = Listing::of_reached();
    listing.take(context, &mut answer)?;
    listing.end(context)?;
    context.output.end_list();
    Ok(())
}
