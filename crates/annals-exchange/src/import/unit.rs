//! The operations of one line, row or stanza, and its place.

use annals::{Action, Error, ErrorKind, InstanceId, Snapshot};

use super::operation::{Effect, Operation};

/// The place of a line, row or stanza.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// Its first line, which messages name.
    pub line: u64,
    /// Its last line.
    pub last: u64,
    /// The sum over its lines; `None` if no import of this format resumes by lines.
    pub sum: Option<u64>,
    /// Its length. Units: bytes of input.
    pub bytes: usize,
}

impl Place {
    /// A single line, without a sum.
    pub fn unsummed(line: u64, bytes: usize) -> Place {
        Place { line, last: line, sum: None, bytes }
    }
}

/// The operations of one line, row or stanza: all or none.
pub struct Unit {
    /// Its place.
    pub place: Place,
    /// The last line of the unit before it, if only empty lines are between the two.
    pub follows: Option<u64>,
    /// Its operations; those of a merge are compared with the repository before they are written.
    pub operations: Vec<Operation>,
    /// How the last transaction with it writes it.
    pub written: Written,
}

/// How a transaction writes a unit.
#[derive(Clone, Debug, Default)]
pub struct Written {
    /// Its changes; none if the instance is as the line says already.
    pub changes_count: usize,
    /// Its effect, for the summary.
    pub effect: Effect,
    /// The instance of its first change.
    pub instance: Option<InstanceId>,
}

impl Unit {
    /// The unit of a line.
    pub fn new(place: Place, follows: Option<u64>, operations: Vec<Operation>) -> Unit {
        Unit { place, follows, operations, written: Written::default() }
    }

    /// The error of the unit, with advice for importers.
    pub fn explain(&self, snapshot: &Snapshot, error: &Error) -> String {
        match error.kind() {
            ErrorKind::MissingEnd if self.has_ends(snapshot) && !self.returns(snapshot) => error.to_string(),
            ErrorKind::MissingEnd if self.has_ends(snapshot) => format!(
                "{error}; the relationship is deleted, and returns between its former ends before it gets those of the \
                 line: import a line for the former end, too, or purge the relationship, or give the line another id"
            ),
            ErrorKind::MissingEnd => format!("{error}; put entities before the relationships between them"),
            ErrorKind::AlreadyExists if self.is_deleted(snapshot) => {
                format!("{error}; to load it again as it is in the file, import with --merge")
            }
            ErrorKind::AlreadyExists => {
                format!("{error}; if an import was interrupted, run it again with --resume")
            }
            _ => error.to_string(),
        }
    }

    /// True if the instance of its first operation is deleted.
    fn is_deleted(&self, snapshot: &Snapshot) -> bool {
        let Some(instance) = self.operations.first().and_then(|operation| operation.action.instance()) else {
            return false;
        };
        let is_live = match &instance {
            InstanceId::Entity(id) => matches!(snapshot.entity_summary(id), Ok(Some(_))),
            InstanceId::Relationship(id) => matches!(snapshot.relationship(id), Ok(Some(_))),
        };
        !is_live && snapshot.revision(&instance).is_some()
    }

    /// True if it is a relationship that is deleted.
    fn returns(&self, snapshot: &Snapshot) -> bool {
        let first = self.operations.first().and_then(|operation| operation.action.instance());
        matches!(first, Some(InstanceId::Relationship(_))) && self.is_deleted(snapshot)
    }

    /// True if it is a relationship between entities that exist.
    fn has_ends(&self, snapshot: &Snapshot) -> bool {
        let is_there = |id| matches!(snapshot.entity_summary(id), Ok(Some(_)));
        match self.operations.first().map(|operation| &operation.action) {
            Some(Action::CreateRelationship(new)) => is_there(&new.from) && is_there(&new.to),
            _ => false,
        }
    }
}
