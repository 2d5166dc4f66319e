//! What one line, row or stanza asks for, and where it stands.

use super::operation::{Effect, Operation};

/// Where a line, row or stanza stands.
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
    /// Something on one line, without a sum.
    pub fn unsummed(line: u64, bytes: usize) -> Place {
        Place { line, last: line, sum: None, bytes }
    }
}

/// What one line, row or stanza asks for: all of it or nothing.
pub struct Unit {
    /// Where it stands.
    pub place: Place,
    /// The last line of the unit before it, if nothing but empty lines stands between the two.
    pub follows: Option<u64>,
    /// What it asks for.
    pub operations: Vec<Operation>,
    /// What it does, as the summary counts it.
    pub effect: Effect,
}

impl Unit {
    /// What a line asks for.
    pub fn new(place: Place, follows: Option<u64>, operations: Vec<Operation>) -> Unit {
        Unit { place, follows, operations, effect: Effect::Created }
    }
}
