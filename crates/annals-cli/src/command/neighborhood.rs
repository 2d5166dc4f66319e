//! `annals neighborhood`: the entities and relationships around an entity.

use annals::{Id, Subgraph};
use clap::Args;

use super::path::WalkArguments;
use crate::context::{AsOfArguments, Context};
use crate::output::{Table, count, properties_summary, relationship_row};
use crate::stop::Outcome;
use crate::wire::{CrossedForm, ReachedForm};

/// Show the entities and relationships around an entity, each once
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  annals neighborhood package:bash                            one step in both directions
  annals neighborhood package:bash --depth-max 3 --entity-type package
With --json first come lines {\"distance\", \"entity\"}, then lines {\"relationship\"}.")]
pub struct Arguments {
    /// Id of the entity
    id: Id,
    #[command(flatten)]
    walk: WalkArguments,
    #[command(flatten)]
    as_of: AsOfArguments,
}

/// Prints the neighbourhood.
pub fn run(context: &mut Context, arguments: &Arguments) -> Outcome {
    let repository = context.open_to_read()?;
    let snapshot = arguments.as_of.snapshot(&repository)?;
    show(context, &snapshot.neighborhood(&arguments.id, &arguments.walk.reach_near())?)
}

/// Prints a part of the graph.
pub fn show(context: &mut Context, subgraph: &Subgraph) -> Outcome {
    if context.output.is_json() {
        for reached in subgraph.entities() {
            context.output.json(&ReachedForm::of(&reached)?)?;
        }
        for crossed in subgraph.relationships() {
            context.output.json(&CrossedForm::of(&crossed)?)?;
        }
        return Ok(());
    }
    let mut table = Table::new(&["STEPS", "ID", "TYPE", "PROPERTIES"]);
    for reached in subgraph.entities() {
        let entity = reached.entity()?;
        table.row([
            reached.distance.to_string(),
            entity.id().to_string(),
            entity.type_name().to_owned(),
            properties_summary(entity.properties()),
        ]);
    }
    context.output.table(&table)?;
    let mut table = Table::new(&["ID", "FROM", "TYPE", "TO", "PROPERTIES"]);
    for crossed in subgraph.relationships() {
        table.row(relationship_row(&crossed.relationship()?));
    }
    context.output.table(&table)?;
    let (entities, relationships) = (subgraph.entities().len(), subgraph.relationships().len());
    context.output.line(format!(
        "{} entities, {} relationships",
        count(entities as u64),
        count(relationships as u64)
    ))
}
