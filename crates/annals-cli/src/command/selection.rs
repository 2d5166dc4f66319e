//! Arguments and look-ups that several commands share: the instance, the direction, the types.

use annals::{Direction, ErrorKind, Id, InstanceId, Result, Snapshot};
use clap::{Args, ValueEnum};

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
    /// The instance that is meant, live or deleted.
    ///
    /// Errors: `NotFound` if neither an entity nor a relationship ever had the id, or the instance became known after the
    /// snapshot.
    pub fn find(&self, snapshot: &Snapshot) -> Result<InstanceId> {
        let instance = self.find_ever(snapshot)?;
        snapshot.check_known(&instance)?;
        Ok(instance)
    }

    fn find_ever(&self, snapshot: &Snapshot) -> Result<InstanceId> {
        let relationship = InstanceId::Relationship(self.id.clone());
        let entity = InstanceId::Entity(self.id.clone());
        if self.is_relationship {
            return snapshot.versions(&relationship, 0, 1).map(|_| relationship);
        }
        match snapshot.versions(&entity, 0, 1) {
            Ok(_) => Ok(entity),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                // If there is no relationship either, the command shows the error about the entity.
                snapshot.versions(&relationship, 0, 1).map(|_| relationship).map_err(|_| error)
            }
            Err(error) => Err(error),
        }
    }
}
