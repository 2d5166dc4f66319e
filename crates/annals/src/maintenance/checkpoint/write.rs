//! Writes a checkpoint of a repository: on request, when the background thread finds that one is due, or at the end.

use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant as Clock};

use super::keeper::Checkpointed;
use super::stoppable::Stop;
use crate::maintenance::checkpoint::Checkpoints;
use crate::repository::{Inner, Repository};
use crate::{Error, ErrorKind, Position, Result};

/// At the end a checkpoint is due once the log has grown by this part of the last one: then it takes longer to replay the
/// records than to write the checkpoint.
const END_PART: u64 = 24;
/// How long the end of a repository may write a checkpoint; then it is given up.
const END_MAX: Duration = Duration::from_secs(5);

impl Repository {
    /// Writes a checkpoint of the present graph, so that the next opening replays only later records. Readers and
    /// writers continue meanwhile.
    ///
    /// Errors: `InvalidArgument` for a repository without a store for checkpoints; `ReadOnly`; `NotWriter` on a log with a
    /// register, unless it writes there; `Closed` if it is closed meanwhile; `NoRoom`; `Io`.
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
        if let Some(error) = self.committer.read_only().filter(|_| checkpoints.is_shared()) {
            return Err(error.with("operation", "checkpoint"));
        }
        self.save_in(checkpoints, Stop::Closing(&self.is_stopping)).map_err(|error| {
            if !self.is_stopping.load(Ordering::SeqCst) {
                return error;
            }
            let text = "checkpoint: the repository was closed meanwhile; open it again";
            Error::new(ErrorKind::Closed, text).caused_by(error)
        })
    }

    /// True unless others share the store, and one of them has begun to write.
    fn may_save(&self, checkpoints: &Checkpoints) -> bool {
        !checkpoints.is_shared() || self.check_upkeep().is_ok()
    }

    fn save_in(&self, checkpoints: &Checkpoints, stop: Stop<'_>) -> Result<Position> {
        let snapshot = self.committer.snapshot();
        let position = snapshot.position();
        let indexed = snapshot.indexed().settled()?;
        let start = Clock::now();
        checkpoints.save_new(&**self.committer.source().log(), &indexed, self.committer.term(), stop)?;
        self.checkpointed.store(position.0, Ordering::SeqCst);
        if let Some(observer) = &self.options.observer {
            observer.checkpointed(position, start.elapsed());
        }
        Ok(position)
    }

    /// Writes a checkpoint if it is due now that the repository ends, and nobody commits any more: the next opening then
    /// replays few records. The caller holds the maintenance lock. A failure is a warning, because nothing is lost.
    pub(crate) fn checkpoint_at_end(&self) {
        let Some(checkpoints) = self.checkpoints.as_ref().filter(|_| !self.options.is_read_only) else {
            return;
        };
        // After a panic or a failed sync somebody looks at the files first.
        let is_sound = !std::thread::panicking()
            && self.committer.failure().is_none()
            && !self.committer.publisher().is_lost();
        let grown = self.log_bytes().saturating_sub(self.checkpointed_bytes());
        if !is_sound
            || grown <= self.options.checkpoint_end_bytes
            || grown.saturating_mul(END_PART) <= checkpoints.newest_bytes()
        {
            return;
        }
        let Some(end) = Clock::now().checked_add(END_MAX).filter(|_| self.may_save(checkpoints)) else {
            return;
        };
        if let Err(error) = self.save_in(checkpoints, Stop::At(end))
            // The next writer has its own.
            && error.kind() != ErrorKind::NotWriter
        {
            self.warn(format!(
                "no checkpoint was written when the repository was closed, so the next opening replays the log: {error}"
            ));
        }
    }
}

impl Checkpointed for Inner {
    fn checkpointed_bytes(&self) -> u64 {
        let position = Position(self.checkpointed.load(Ordering::SeqCst));
        self.committer.source().log().bytes_up_to(position)
    }

    fn log_bytes(&self) -> u64 {
        self.committer.source().log().bytes_up_to(Position(u64::MAX))
    }

    fn grown_bytes_min(&self) -> u64 {
        let is_shared = self.checkpoints.as_ref().is_some_and(Checkpoints::is_shared);
        if is_shared && !self.committer.is_writer() { u64::MAX } else { self.options.checkpoint_log_bytes }
    }

    fn generation(&self) -> u64 {
        self.committer.source().log().generation()
    }

    fn remove_stale(&self) -> Result<()> {
        // Where others share the checkpoints, and without others, the one that compacts removes them.
        let Some(checkpoints) =
            self.checkpoints.as_ref().filter(|known| !known.is_shared() && self.seat.is_some())
        else {
            return Ok(());
        };
        let _one = self.maintenance.lock().unwrap_or_else(PoisonError::into_inner);
        checkpoints.remove_stale(&**self.committer.source().log())
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
