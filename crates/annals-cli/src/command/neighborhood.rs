//! `annals neighborhood`: the entities and relationships around an entity.

use annals::Id;
use annals_exchange::text::counted;
use clap::Args;

use super::graph_format::GraphFormatArguments;
use super::listing::{Listing, json_of_line};
use super::path::WalkArguments;
use crate::context::{AsOfArguments, Context};
use crate::place::AnswerLine;
use crate::request::Request;
use crate::shown::Shown;
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
    let request = Request::get_of("entities", &arguments.id, "/neighborhood");
    let request = arguments.walk.of(request).read_at(&arguments.as_of);
    context.warn_of_emptiness(&arguments.as_of)?;
    let request = context.of_candidate(request);
    show(context, request, arguments.format)
}

/// Prints the part of the graph that answers a request.
pub fn show(context: &mut Context, request: Request, format: GraphFormatArguments) -> Outcome {
    if let Some(format) = format.of(context)? {
        return format.print(context, request);
    }
    let mut answer = context.ask(request.lines())?;
    if context.output.is_json() {
        return Listing::of_reached().take(context, &mut answer).map(drop);
    }
    let (mut entities, mut relationships) = (Listing::of_reached(), Listing::of_relationships());
    let (mut entities_count, mut relationships_count) = (0, 0);
    // All entities come before all relationships.
    while let Some(AnswerLine::Item(line)) = answer.line()? {
        let json = json_of_line(&line)?;
        match json.get("relationship") {
            None => {
                entities_count += 1;
                entities.item(context, Shown(&json))?;
            }
            Some(relationship) => {
                if relationships_count == 0 {
                    std::mem::replace(&mut entities, Listing::of_reached()).end(context)?;
                }
                relationships_count += 1;
                relationships.item(context, Shown(relationship))?;
            }
        }
    }
    entities.end(context)?;
    relationships.end(context)?;
    context.output.line(format!(
        "{}, {}",
        counted(entities_count, "entity"),
        counted(relationships_count, "relationship")
    ))
}
