//! Writes a checkpoint of a repository, on request or when the background thread finds that one is due.

use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::time::Instant as Clock;

use super::keeper::Checkpointed;
use crate::repository::{Inner, Repository};
use crate::{Error, ErrorKind, Position, Result};

impl Repository {
    /// Writes a checkpoint of the present graph, so that the next opening replays only later records. Readers and
    /// writers continue meanwhile.
    ///
    /// Errors: `InvalidArgument` for a repository without a store for checkpoints; `ReadOnly`; `Closed` if it is closed
    /// meanwhile; `NoRoom`; `Io`.
    pub fn checkpoint(&self) -> Result<Position> {
        self.inner().checkpoint()
    }
}

impl Inner {
    pub(crate) fn checkpoint(&self) -> Result<Position> {
        let _one = self.maintenance.lock().unwrap_or_else(PoisonError::into_inner);
        self.checkpoint_held()
    }

    /// The same while the caller holds the maintenance lock.
    pub(crate) fn checkpoint_held(&self) -> Result<Position> {
        let Some(checkpoints) = &self.checkpoints else {
            return Err(Error::new(
                ErrorKind::InvalidArgument,
                "checkpoint: expected a repository with a place for checkpoints, found one on a log alone",
            ));
        };
        if self.options.is_read_only {
            return Err(Error::new(ErrorKind::ReadOnly, "checkpoint: the repository is open read-only"));
        }
        let snapshot = self.committer.snapshot();
        let indexed = snapshot.indexed().settled();
        let start = Clock::now();
        match checkpoints.save_new(&**self.committer.source().log(), &indexed, &self.is_stopping) {
            Err(error) if self.is_stopping.load(Ordering::SeqCst) => {
                let text = "checkpoint: the repository was closed meanwhile; open it again";
                Err(Error::new(ErrorKind::Closed, text).caused_by(error))
            }
            Err(error) => Err(error),
            Ok(()) => {
                if let Some(observer) = &self.options.observer {
                    observer.checkpointed(snapshot.position(), start.elapsed());
                }
                Ok(snapshot.position())
            }
        }
    }
}

impl Checkpointed for Inner {
    fn checkpointed_bytes(&self) -> u64 {
        self.committer.source().log().bytes_up_to(self.loaded_position)
    }

    fn log_bytes(&self) -> u64 {
        self.committer.source().log().bytes_up_to(Position(u64::MAX))
    }

    fn grown_bytes_min(&self) -> u64 {
        self.options.checkpoint_log_bytes
    }

    fn free_unused(&self) {
        self.committer.source().let_go_of_walks();
    }

    fn write_checkpoint(&self) -> Result<Position> {
        self.checkpoint()
    }

    fn warn(&self, text: String) {
        Inner::warn(self, text);
    }
}
