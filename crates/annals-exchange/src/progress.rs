//! What imports and exports share: whom they tell how far they are and what they refuse, and why they end early.

use std::fmt::Display;
use std::io;

use annals::{Error, ErrorKind};

/// What an import or export returns.
pub type Outcome<T = ()> = std::result::Result<T, Stop>;

/// Why an import or export ended early.
#[derive(Debug)]
pub enum Stop {
    /// It failed.
    Failed(Error),
    /// The input is not what it should be, or asks for what a guard forbids.
    Refused(Error),
    /// A line was refused, the listener knows it, and the first one was to end the import.
    AtRefusal,
    /// The output could not be written.
    Output(io::Error),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Stop {
        Stop::Failed(error)
    }
}

impl From<io::Error> for Stop {
    /// Only for errors of writing the output.
    fn from(error: io::Error) -> Stop {
        Stop::Output(error)
    }
}

/// A line, row or stanza that was refused.
pub struct RefusedLine<'r> {
    /// The file it stands in.
    pub file: &'r str,
    /// Its number from 1; 0 if the file as a whole is meant.
    pub line: u64,
    /// What is wrong, as programs see it.
    pub kind: ErrorKind,
    /// What is wrong, as people see it.
    pub reason: &'r dyn Display,
}

/// Listens to an import or export: a terminal shows what it hears, a server puts it into its answer.
pub trait Progress: Send + Sync {
    /// So much is done, and so much there is, if that is known.
    fn set(&self, _done: u64, _total: Option<u64>) {}

    /// So many changes are committed.
    fn note_committed(&self, _changes_count: u64) {}

    /// A line was refused.
    fn note_refused(&self, _refused: &RefusedLine<'_>) {}

    /// Something is worth knowing and refuses nothing.
    fn note_remark(&self, _text: &dyn Display) {}
}

/// Nobody listens.
impl Progress for () {}
