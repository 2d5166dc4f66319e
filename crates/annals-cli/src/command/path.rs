//! `annals path`: a shortest path between two entities.

use annals::{Along, Error, ErrorKind, Expression, Id, Path, Reach, Result};
use clap::Args;

use super::find::condition_from_text;
use super::graph_format::GraphFormatArguments;
use super::selection::{DirectionArgument, arrow};
use crate::context::{AsOfArguments, Context};
use crate::output::properties_summary;
use crate::stop::{Outcome, Stop};

/// Show a shortest path from one entity to another, or the shortest ones
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  annals path package:gimp package:libssl3 --type depends --type pre-depends
  annals path ada charles --direction both --depth-max 4
  annals path ada charles --direction both --count 5
  annals path berlin rome --direction both --weight km
  annals path table:raw table:report --type reads:in --type writes:out --format dot | dot -Tsvg
Exit code 3 if there is no path.")]
pub struct Arguments {
    /// Id of the entity where the path starts
    from: Id,
    /// Id of the entity where the path ends
    to: Id,
    /// Show this many paths, shortest first
    #[arg(long, short = 'k', default_value_t = 1, value_name = "K")]
    count: usize,
    /// Sum up this numeric property of relationships instead of counting steps
    #[arg(long, value_name = "PROPERTY")]
    weight: Option<String>,
    #[command(flatten)]
    walk: WalkArguments,
    #[command(flatten)]
    format: GraphFormatArguments,
    #[command(flatten)]
    as_of: AsOfArguments,
}

/// The walk.
#[derive(Args, Clone, Debug)]
pub struct WalkArguments {
    /// Direction along relationships; by default out for paths and reach, both for the other queries
    #[arg(long, short = 'd', value_enum)]
    direction: Option<DirectionArgument>,
    /// Only along relationships of this type and its subtypes; may be repeated. With :in, :out or :both after the name,
    /// in that direction, instead of --direction
    // The parser is explicit: clap prefers the conversion from `&str`, which takes the whole text as a name.
    #[arg(long = "type", short = 't', value_name = "TYPE[:DIRECTION]", value_parser = str::parse::<Along>)]
    types: Vec<Along>,
    /// Only through entities of this type and its subtypes; may be repeated
    #[arg(long = "entity-type", value_name = "TYPE")]
    entity_types: Vec<String>,
    /// Only through entities with one of these classifications; may be repeated
    #[arg(long, value_name = "NAME")]
    classified: Vec<String>,
    /// Only through entities that fulfil this condition of the search language; may be repeated, all must hold
    #[arg(long, value_name = "CONDITION")]
    entity_where: Vec<String>,
    /// Only along relationships that fulfil this condition of the search language; may be repeated, all must hold
    #[arg(long, value_name = "CONDITION")]
    relationship_where: Vec<String>,
    /// Only over entities and relationships with one of these statuses; by default all but deleted; may be repeated
    #[arg(long = "status", value_name = "STATUS")]
    statuses: Vec<String>,
    /// Leave out entities nearer to the start than this
    #[arg(long, default_value_t = 0, value_name = "N")]
    depth_min: usize,
    /// Take at most this many steps
    #[arg(long, value_name = "N")]
    depth_max: Option<usize>,
    /// Give up after visiting this many entities
    #[arg(long, default_value_t = annals::VISITED_MAX, value_name = "N")]
    visited_max: usize,
}

/// Two entities, and the walk between them.
#[derive(Args, Debug)]
pub struct EndsArguments {
    /// One entity
    pub from: Id,
    /// The other one
    pub to: Id,
    #[command(flatten)]
    pub walk: WalkArguments,
    #[command(flatten)]
    pub as_of: AsOfArguments,
}

impl WalkArguments {
    /// The walk, by default along outgoing relationships.
    pub fn reach(&self) -> Result<Reach> {
        self.reach_along(DirectionArgument::Out)
    }

    /// The walk, by default in both directions.
    pub fn reach_both(&self) -> Result<Reach> {
        self.reach_along(DirectionArgument::Both)
    }

    /// The walk, by default in both directions and one step deep.
    pub fn reach_near(&self) -> Result<Reach> {
        let reach = self.reach_both()?;
        Ok(Reach { depth_max: reach.depth_max.or(Some(1)), ..reach })
    }

    fn reach_along(&self, direction: DirectionArgument) -> Result<Reach> {
        Ok(Reach {
            directions: self.direction.unwrap_or(direction).directions(),
            types: self.types.clone(),
            entity_types: self.entity_types.clone(),
            classifications: self.classified.clone(),
            entity_where: all_of(&self.entity_where)?,
            relationship_where: all_of(&self.relationship_where)?,
            statuses: self.statuses.clone(),
            depth_min: self.depth_min,
            depth_max: self.depth_max,
            visited_max: self.visited_max,
        })
    }
}

/// The condition that all of these hold.
fn all_of(conditions: &[String]) -> Result<Expression> {
    let conditions = conditions.iter().map(|condition| condition_from_text(condition));
    Ok(Expression::All(conditions.collect::<Result<_>>()?))
}

/// Prints the path, or the paths.
pub fn run(context: &mut Context, arguments: &Arguments) -> Outcome {
    let repository = context.open_to_read()?;
    let snapshot = arguments.as_of.snapshot(context, &repository)?;
    let (from, to) = (&arguments.from, &arguments.to);
    let reach = arguments.walk.reach()?;
    let weight = arguments.weight.as_deref();
    if let Some(format) = arguments.format.of(context)? {
        let mut paths = Vec::new();
        if arguments.count == 1 && weight.is_none() {
            paths.extend(snapshot.shortest_path(from, to, &reach)?);
        } else {
            for path in snapshot.shortest_paths(from, to, &reach, weight)?.take(arguments.count) {
                paths.push(path?);
            }
        }
        if !paths.is_empty() {
            return format.write(&paths[..], context);
        }
        return Err(no_path(from, to));
    }
    let mut is_any = false;
    let mut print = |path: &Path| {
        is_any = true;
        if context.output.is_json() {
            return context.output.json(path);
        }
        show(context, path, weight)
    };
    if arguments.count == 1 && weight.is_none() {
        snapshot.shortest_path(from, to, &reach)?.iter().try_for_each(print)?;
    } else {
        let mut paths = snapshot.shortest_paths(from, to, &reach, weight)?.take(arguments.count);
        paths.try_for_each(|path| print(&path?))?;
    }
    if is_any {
        return Ok(());
    }
    Err(no_path(from, to))
}

fn no_path(from: &Id, to: &Id) -> Stop {
    let text = format!("no path from {from} to {to}; try --direction both, other types or more steps");
    Error::new(ErrorKind::NotFound, text).into()
}

fn show(context: &mut Context, path: &Path, weight: Option<&str>) -> Outcome {
    context.output.line(path.start.id())?;
    for step in &path.steps {
        let properties = properties_summary(step.relationship.properties());
        let properties = if properties.is_empty() { properties } else { format!("  ({properties})") };
        let (arrow, type_name) = (arrow(step.direction), step.relationship.type_name());
        context.output.line(format!("  {arrow} {type_name} {arrow} {}{properties}", step.entity.id()))?;
    }
    let steps = path.steps.len();
    let length = weight.map(|weight| format!(", {weight} {}", path.length)).unwrap_or_default();
    context.output.line(format!("{steps} step{}{length}", if steps == 1 { "" } else { "s" }))
}
