//! The operations of one line, row or stanza, and its place.

use annals::InstanceId;

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
}
