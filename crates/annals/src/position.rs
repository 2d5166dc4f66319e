//! Positions number records: 1, 2, 3 …

use std::fmt;

/// The number of a record on the log. The first record has position 1; [`Position::ZERO`] is "before all records".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position(pub u64);

impl Position {
    /// Before the first record: the tail of an empty log.
    pub const ZERO: Position = Position(0);

    /// The position after this one.
    #[must_use]
    pub fn next(self) -> Position {
        Position(self.0.saturating_add(1))
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
