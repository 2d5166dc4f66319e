//! Progress of imports and exports: their listener, and why they end early.

use std::fmt::Display;
use std::io;

use annals::{Error, ErrorKind, InstanceId};

/// The result of an import or export.
pub type Outcome<T = ()> = std::result::Result<T, Stop>;

/// Why an import or export ended early.
#[derive(Debug)]
pub enum Stop {
    /// It failed.
    Failed(Error),
    /// The input is wrong, or requests a change that a guard forbids.
    Refused(Error),
    /// A line was refused and reported, and the import must stop at the first.
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

/// A refused line, row or stanza.
pub struct RefusedLine<'r> {
    /// Its file.
    pub file: &'r str,
    /// Its number from 1; 0 for the whole file.
    pub line: u64,
    /// The reason, for programs.
    pub kind: ErrorKind,
    /// The reason, for people.
    pub reason: &'r dyn Display,
    /// True if enough earlier lines were refused for the same reason: then it is counted, and
    /// [`Progress::note_repeated`] reports the number at the end.
    pub is_repeated: bool,
}

/// Further lines that were refused for the same reason.
pub struct RepeatedReason<'r> {
    /// The file and the number of the last of these lines that is no repetition.
    pub file: &'r str,
    /// Its number.
    pub line: u64,
    /// The reason.
    pub reason: &'r str,
    /// How many further lines were refused.
    pub more_count: u64,
}

/// Listens to an import or export: a terminal prints it, a server puts it into its answer.
pub trait Progress: Send + Sync {
    /// The amount done, and the total if it is known.
    fn set(&self, _done: u64, _total: Option<u64>) {}

    /// This many changes are committed.
    fn note_committed(&self, _changes_count: u64) {}

    /// A line was refused.
    fn note_refused(&self, _refused: &RefusedLine<'_>) {}

    /// The import has ended, and more lines were refused for the same reason.
    fn note_repeated(&self, _repeated: &RepeatedReason<'_>) {}

    /// An entity that no line names stays, because its deletion would delete another instance that must not go.
    fn note_kept(&self, _instance: &InstanceId, _reason: &dyn Display) {}

    /// A remark, which refuses nothing.
    fn note_remark(&self, _text: &dyn Display) {}
}

/// No listener.
impl Progress for () {}
