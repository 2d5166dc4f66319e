//! `annals path`: a shortest path between two entities.

use annals::{Along, Error, ErrorKind, Id};
use clap::Args;

use super::graph_format::GraphFormatArguments;
use super::listing::json_of_line;
use super::selection::DirectionArgument;
use crate::context::{AsOfArguments, Context};
use crate::place::AnswerLine;
use crate::request::Request;
use crate::shown::Shown;
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

impl EndsArguments {
    /// A request about the two entities.
    pub fn request(&self, context: &Context, path: &str) -> Request {
        let request = Request::get(path).with("from", &self.from).with("to", &self.to);
        context.of_candidate(self.walk.of(request).read_at(&self.as_of))
    }
}

impl WalkArguments {
    /// A request with this walk.
    pub fn of(&self, request: Request) -> Request {
        request
            .with_all("direction", self.direction.map(DirectionArgument::name))
            .with_all("type", &self.types)
            .with_all("entityType", &self.entity_types)
            .with_all("classified", &self.classified)
            .with_all("entityWhere", &self.entity_where)
            .with_all("relationshipWhere", &self.relationship_where)
            .with_all("status", &self.statuses)
            .with_all("depthMin", Some(self.depth_min).filter(|depth| *depth > 0))
            .with_all("depthMax", self.depth_max)
            .with("visitedMax", self.visited_max)
    }
}

/// Prints the path, or the paths.
pub fn run(context: &mut Context, arguments: &Arguments) -> Outcome {
    let (from, to) = (&arguments.from, &arguments.to);
    let weight = arguments.weight.as_deref();
    let is_one = arguments.count == 1 && weight.is_none();
    context.warn_of_emptiness(&arguments.as_of)?;
    let format = arguments.format.of(context)?;
    let candidate = context.candidate.clone();
    let request = |path: &str| {
        let request = Request::get(path).with("from", from).with("to", to).with_all("weight", weight);
        arguments.walk.of(request).read_at(&arguments.as_of).with_all("candidate", &candidate)
    };
    let mut answer = if is_one {
        context.ask(request("/v1/path"))?
    } else {
        context.ask(request("/v1/paths").with("limit", arguments.count.max(1)).lines())?
    };
    let mut is_any = false;
    while let Some(line) = answer.line()? {
        let AnswerLine::Item(line) = line else { break };
        let json = json_of_line(&line)?;
        if arguments.count == 0 || Shown(&json).of("found").0 == false {
            continue;
        }
        is_any = true;
        if format.is_some() {
            break;
        }
        if context.output.is_json() {
            // A path of a list has no member `found`.
            let path = line.strip_prefix(b"{\"found\":true,").map(|rest| [b"{", rest].concat());
            context.output.json_line(&path.unwrap_or(line))?;
        } else {
            show(context, Shown(&json), weight)?;
        }
    }
    match format {
        _ if !is_any => Err(no_path(from, to)),
        None => Ok(()),
        Some(format) => {
            let request = if is_one {
                request("/v1/path")
            } else {
                request("/v1/paths").with("limit", arguments.count)
            };
            format.print(context, request)
        }
    }
}

fn no_path(from: &Id, to: &Id) -> Stop {
    let text = format!("no path from {from} to {to}; try --direction both, other types or more steps");
    Error::new(ErrorKind::NotFound, text).into()
}

fn show(context: &mut Context, path: Shown, weight: Option<&str>) -> Outcome {
    context.output.line(path.of("start").text("id"))?;
    let mut steps = 0;
    for step in path.all("steps") {
        steps += 1;
        let relationship = step.of("relationship");
        let properties = relationship.summary();
        let properties = if properties.is_empty() { properties } else { format!("  ({properties})") };
        let arrow = if step.text("direction") == "in" { "<-" } else { "->" };
        let (type_name, id) = (relationship.text("type"), step.of("entity").text("id"));
        context.output.line(format!("  {arrow} {type_name} {arrow} {id}{properties}"))?;
    }
    let length = path.of("length").0.as_f64().unwrap_or_default();
    let length = weight.map(|weight| format!(", {weight} {length}")).unwrap_or_default();
    context.output.line(format!("{steps} step{}{length}", if steps == 1 { "" } else { "s" }))
}
