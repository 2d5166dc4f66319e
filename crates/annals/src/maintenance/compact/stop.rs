//! The end of a compaction that has not replaced the log yet, when the repository is being closed.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::log::{Appended, Call, Log, LogId, ReadLimit};
use crate::{Error, ErrorKind, Position, Result};

/// Whether the repository is being closed.
#[derive(Clone, Copy)]
pub(crate) struct Stop<'s>(pub(crate) &'s AtomicBool);

impl Stop<'_> {
    pub(super) fn is_set(self) -> bool {
        self.0.load(Ordering::SeqCst)
    }

    /// Errors: `Closed` once the repository is being closed.
    pub(super) fn check(self) -> Result<()> {
        if !self.is_set() {
            return Ok(());
        }
        let text = "compact: the repository was closed meanwhile; open it again, and compact it then";
        Err(Error::new(ErrorKind::Closed, text))
    }
}

/// A log that refuses to be read once the repository is being closed.
pub(crate) struct StoppableLog<'s> {
    pub(crate) log: &'s dyn Log,
    pub(crate) stop: Stop<'s>,
}

impl Log for StoppableLog<'_> {
    fn tail(&self) -> Result<Position> {
        self.log.tail()
    }

    fn append_call(&self, call: &Call<'_>) -> Appended {
        self.log.append_call(call)
    }

    fn read(&self, from: Position, limit: ReadLimit) -> Result<Vec<Vec<u8>>> {
        self.stop.check()?;
        self.log.read(from, limit)
    }

    fn describe(&self) -> String {
        self.log.describe()
    }

    fn id(&self) -> LogId {
        self.log.id()
    }

    fn generation(&self) -> u64 {
        self.log.generation()
    }
}
