//! Arguments and look-ups that several commands share: the instance, the direction, the types.

use annals::{Direction, ErrorKind, Id};
use clap::{Args, ValueEnum};

use crate::context::Context;
use crate::place::Answer;
use crate::request::Request;
use crate::stop::Outcome;

/// The direction along relationships.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DirectionArgument {
    /// Along relationships that start at the entity
    Out,
    /// Along relationships that end at the entity
    In,
    /// Both
    Both,
}

impl DirectionArgument {
    /// Its name in requests.
    pub fn name(self) -> &'static str {
        match self {
            DirectionArgument::Out => "out",
            DirectionArgument::In => "in",
            DirectionArgument::Both => "both",
        }
    }

    /// The directions, in the order they are walked.
    pub fn directions(self) -> Vec<Direction> {
        match self {
            DirectionArgument::Out => vec![Direction::Out],
            DirectionArgument::In => vec![Direction::In],
            DirectionArgument::Both => vec![Direction::Out, Direction::In],
        }
    }
}

/// An arrow for people.
pub fn arrow(direction: Direction) -> &'static str {
    match direction {
        Direction::Out => "->",
        Direction::In => "<-",
    }
}

pub use annals_json::direction_to_text as direction_name;

/// The collections of the door.
const ENTITIES: &str = "entities";
const RELATIONSHIPS: &str = "relationships";

/// Names an entity or a relationship.
#[derive(Args, Clone, Debug)]
pub struct InstanceArgument {
    /// Id of an entity, or of a relationship if no entity has it
    pub id: Id,
    /// Read the id as that of a relationship
    #[arg(long = "relationship")]
    pub is_relationship: bool,
}

impl InstanceArgument {
    /// Asks about the instance, live or deleted: about the entity with the id, or else about the relationship. `request`
    /// gets the collection, `entities` or `relationships`. Returns the collection, too.
    ///
    /// Errors: the problem that is the answer; that about the entity, if neither was ever there.
    pub fn ask(
        &self,
        context: &mut Context,
        request: impl Fn(&'static str) -> Request,
    ) -> Outcome<(&'static str, Answer)> {
        if self.is_relationship {
            return Ok((RELATIONSHIPS, context.ask(request(RELATIONSHIPS))?));
        }
        let stop = match context.ask(request(ENTITIES)) {
            Ok(answer) => return Ok((ENTITIES, answer)),
            Err(stop) if stop.kind() != Some(ErrorKind::NotFound) => return Err(stop),
            Err(stop) => stop,
        };
        if self.was_ever(context, ENTITIES)? || !self.was_ever(context, RELATIONSHIPS)? {
            return Err(stop);
        }
        Ok((RELATIONSHIPS, context.ask(request(RELATIONSHIPS))?))
    }

    /// True if the instance is or was there.
    fn was_ever(&self, context: &mut Context, collection: &str) -> Outcome<bool> {
        let versions = Request::get_of(collection, &self.id, "/history").with("limit", 1);
        let versions = context.of_candidate(versions);
        match context.ask(versions) {
            Ok(_) => Ok(true),
            Err(stop) if stop.kind() == Some(ErrorKind::NotFound) => Ok(false),
            Err(stop) => Err(stop),
        }
    }
}
