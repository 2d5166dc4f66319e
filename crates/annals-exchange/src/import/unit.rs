//! The operations of one line, row or stanza, and its place.

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
    /// Its operations.
    pub operations: Vec<Operation>,
    /// Its effect, for the summary.
    pub effect: Effect,
}

impl Unit {
    /// The unit of a line.
    pub fn new(place: Place, follows: Option<u64>, operations: Vec<Operation>) -> Unit {
        Unit { place, follows, operations, effect: Effect::Created }
    }
}
