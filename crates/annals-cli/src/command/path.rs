//! `annals path`: a shortest path between two entities.

use annals::{Error, ErrorKind, Id, Path, Reach};
use clap::Args;
use serde_json::{Value as Json, json};

use super::selection::{DirectionArgument, arrow, direction_name};
use crate::context::{AsOfArguments, Context};
use crate::output::properties_summary;
use crate::stop::Outcome;
use crate::wire::{entity_to_json, relationship_to_json};

/// Show a shortest path from one entity to another
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  annals path package:gimp package:libssl3 --type depends --type pre-depends
  annals path ada charles --direction both --depth-max 4
Exit code 3 if there is no path.")]
pub struct Arguments {
    /// Where it starts
    from: Id,
    /// Where it ends
    to: Id,
    #[command(flatten)]
    walk: WalkArguments,
    #[command(flatten)]
    as_of: AsOfArguments,
}

/// How to walk.
#[derive(Args, Clone, Debug)]
pub struct WalkArguments {
    /// Which way to go along relationships
    #[arg(long, short = 'd', value_enum, default_value = "out")]
    direction: DirectionArgument,
    /// Only along relationships of this type and its subtypes; may be repeated
    #[arg(long = "type", short = 't', value_name = "TYPE")]
    types: Vec<String>,
    /// At most this many steps
    #[arg(long, value_name = "N")]
    depth_max: Option<usize>,
    /// Give up after visiting this many entities
    #[arg(long, default_value_t = annals::VISITED_MAX, value_name = "N")]
    visited_max: usize,
}

impl WalkArguments {
    /// The walk.
    pub fn reach(&self) -> Reach {
        Reach {
            directions: self.direction.directions(),
            types: self.types.clone(),
            depth_max: self.depth_max,
            visited_max: self.visited_max,
            ..Reach::out()
        }
    }
}

/// Prints the path.
pub fn run(context: &mut Context, arguments: &Arguments) -> Outcome {
    let repository = context.open_to_read()?;
    let snapshot = arguments.as_of.snapshot(&repository)?;
    let (from, to) = (&arguments.from, &arguments.to);
    let found = snapshot.shortest_path(from, to, &arguments.walk.reach())?;
    let Some(path) = found else {
        let text = format!("no path from {from} to {to}; try --direction both, other types or more steps");
        return Err(Error::new(ErrorKind::NotFound, text).into());
    };
    if context.output.is_json() {
        return context.output.json(&path_to_json(&path));
    }
    context.output.line(path.start.id())?;
    for step in &path.steps {
        let properties = properties_summary(step.relationship.properties());
        let properties = if properties.is_empty() { properties } else { format!("  ({properties})") };
        let (arrow, type_name) = (arrow(step.direction), step.relationship.type_name());
        context.output.line(format!("  {arrow} {type_name} {arrow} {}{properties}", step.entity.id()))?;
    }
    let steps = path.steps.len();
    context.output.line(format!("{steps} step{}", if steps == 1 { "" } else { "s" }))
}

fn path_to_json(path: &Path) -> Json {
    let steps: Vec<Json> = path
        .steps
        .iter()
        .map(|step| {
            json!({
                "direction": direction_name(step.direction),
                "relationship": relationship_to_json(&step.relationship),
                "entity": entity_to_json(&step.entity),
            })
        })
        .collect();
    json!({ "start": entity_to_json(&path.start), "steps": steps })
}
