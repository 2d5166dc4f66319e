//! `annals neighborhood`: the entities and relationships around an entity.

use annals::{Id, Subgraph};
use annals_exchange::text::count;
use clap::Args;

use super::graph_format::GraphFormatArguments;
use super::listing::Listing;
use super::path::WalkArguments;
use crate::context::{AsOfArguments, Context};
use crate::stop::Outcome;

/// Show the entities and relationships around an entity, each once
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  annals neighborhood package:bash                            one step in both directions
  annals neighborhood package:bash --depth-max 3 --entity-type package
  annals neighborhood package:bash --format dot | dot -Tsvg > bash.svg
With --json first come lines {\"distance\", \"entity\"}, then lines {\"relationship\"}.")]
pub struct Arguments {
    /// Id of the entity
    id: Id,
    #[command(flatten)]
    walk: WalkArguments,
    #[command(flatten)]
    format: GraphFormatArguments,
    #[command(flatten)]
    as_of: AsOfArguments,
}

/// Prints the neighbourhood.
pub fn run(context: &mut Context, arguments: &Arguments) -> Outcome {
    let repository = context.open_to_read()?;
    let snapshot = arguments.as_of.snapshot(context, &repository)?;
    let found = snapshot.neighborhood(&arguments.id, &arguments.walk.reach_near()?)?;
    show(context, &found, arguments.format)
}

/// Prints a part of the graph.
pub fn show(context: &mut Context, subgraph: &Subgraph, format: GraphFormatArguments) -> Outcome {
    if let Some(format) = format.of(context)? {
        return format.write(subgraph, context);
    }
    let mut listing = Listing::of_reached();
    subgraph.entities().try_for_each(|reached| listing.reached(context, &reached))?;
    listing.end(context)?;
    let mut listing = Listing::of_relationships();
    subgraph.relationships().try_for_each(|crossed| listing.crossed(context, &crossed))?;
    listing.end(context)?;
    if context.output.is_json() {
        return Ok(());
    }
    let (entities, relationships) = (subgraph.entities().len(), subgraph.relationships().len());
    context.output.line(format!(
        "{} entities, {} relationships",
        count(entities as u64),
        count(relationships as u64)
    ))
}
