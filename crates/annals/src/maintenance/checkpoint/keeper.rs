//! Takes checkpoints: when asked, and in the background when the log has grown enough.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, Weak};
use std::thread::JoinHandle;
use std::time::{Duration, Instant as Clock};

use crate::repository::{Inner, Repository};
use crate::{Error, ErrorKind, Position, Result};

/// How often the background thread looks at the log.
const LOOK_INTERVAL: Duration = Duration::from_millis(500);
/// Nothing is being written if the log has not grown in so many looks: ten seconds.
const QUIET_LOOKS: u32 = 20;
/// While the log grows, so many times as long as a checkpoint took passes until the next.
const PAUSE: u32 = 10;

/// When a checkpoint is due, which writes the whole graph: once the log has grown enough, and either rests or has grown for so
/// long that checkpoints take a small part of the time, however large the graph.
struct Schedule {
    /// Size of the log that the last checkpoint covers. Units: bytes.
    covered: u64,
    seen: u64,
    quiet_looks: u32,
    not_before: Option<Clock>,
}

impl Schedule {
    fn new(covered: u64) -> Schedule {
        Schedule { covered, seen: 0, quiet_looks: 0, not_before: None }
    }

    /// Shape: `bytes` is the size of the log now, `grown_min` how much it must have grown.
    fn is_due(&mut self, now: Clock, bytes: u64, grown_min: u64) -> bool {
        // Compaction makes the log smaller, too.
        self.covered = self.covered.min(bytes);
        self.quiet_looks = if bytes == self.seen { self.quiet_looks + 1 } else { 0 };
        self.seen = bytes;
        let may_begin = self.not_before.is_none_or(|earliest| now >= earliest);
        bytes - self.covered >= grown_min && (may_begin || self.quiet_looks >= QUIET_LOOKS)
    }

    /// Notes a checkpoint of what was seen last.
    fn note(&mut self, start: Clock, end: Clock) {
        self.covered = self.seen;
        self.not_before = end.checked_add(end.duration_since(start) * PAUSE);
    }
}

impl Repository {
    /// Writes a checkpoint of the present graph, so that the next opening replays only what comes after. Readers and
    /// writers go on meanwhile.
    ///
    /// Errors: `InvalidArgument` for a repository without a folder; `ReadOnly`; `Closed` if it is closed meanwhile; `NoRoom`;
    /// `Io`.
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
        let Some(folder) = &self.folder else {
            return Err(Error::new(
                ErrorKind::InvalidArgument,
                "checkpoint: expected a repository in a folder, found one on a log alone",
            ));
        };
        if self.options.is_read_only {
            return Err(Error::new(ErrorKind::ReadOnly, "checkpoint: the repository is open read-only"));
        }
        let snapshot = self.committer.snapshot();
        match folder.checkpoints().save_new(&**folder.log(), snapshot.graph(), &self.is_stopping) {
            Err(error) if self.is_stopping.load(Ordering::SeqCst) => {
                let text = "checkpoint: the repository was closed meanwhile; open it again";
                Err(Error::new(ErrorKind::Closed, text).caused_by(error))
            }
            outcome => outcome.map(|()| snapshot.position()),
        }
    }

    /// Size of the segments that the checkpoint loaded at opening covers as a whole. Units: bytes.
    fn checkpointed_bytes(&self) -> u64 {
        let segments =
            self.folder.as_ref().and_then(|folder| folder.log().segments().ok()).unwrap_or_default();
        let covered = segments.iter().filter(|segment| segment.last <= self.loaded_position);
        covered.map(|segment| segment.bytes).sum()
    }

    /// Units: bytes of the log's segments.
    pub(crate) fn log_bytes(&self) -> u64 {
        let segments = self.folder.as_ref().and_then(|folder| folder.log().segments().ok());
        segments.map_or(0, |segments| segments.iter().map(|segment| segment.bytes).sum())
    }
}

/// Starts the thread that takes checkpoints in the background.
pub(crate) fn start(inner: &Arc<Inner>, is_stopping: Arc<AtomicBool>) -> Result<JoinHandle<()>> {
    // Before anything can be written: a segment that grew is no longer covered.
    let covered = inner.checkpointed_bytes();
    // Weak: the thread must not keep the repository open.
    let inner = Arc::downgrade(inner);
    std::thread::Builder::new()
        .name("annals-checkpoint".into())
        .spawn(move || keep(&inner, covered, &is_stopping))
        .map_err(|source| Error::io("start the thread annals-checkpoint", source))
}

fn keep(inner: &Weak<Inner>, covered: u64, is_stopping: &AtomicBool) {
    let mut schedule = Schedule::new(covered);
    while !is_stopping.load(Ordering::SeqCst) {
        std::thread::park_timeout(LOOK_INTERVAL);
        let Some(inner) = inner.upgrade() else { return };
        let start = Clock::now();
        let is_due = schedule.is_due(start, inner.log_bytes(), inner.options.checkpoint_log_bytes);
        if !is_due || is_stopping.load(Ordering::SeqCst) {
            continue;
        }
        if let Err(error) = inner.checkpoint()
            && error.kind() != ErrorKind::Closed
        {
            inner.warn(format!("the background checkpoint failed: {error}"));
        }
        schedule.note(start, Clock::now());
    }
}

#[cfg(test)]
#[allow(clippy::as_conversions)]
mod tests {
    use super::*;

    #[test]
    fn while_a_log_grows_checkpoints_take_a_small_part_of_the_time() {
        let second = Duration::from_secs(1);
        let start = Clock::now();
        let mut schedule = Schedule::new(1_000);
        assert!(!schedule.is_due(start, 1_999, 1_000), "not yet grown enough");
        assert!(schedule.is_due(start, 2_000, 1_000), "nobody knows how long the first will take");
        schedule.note(start, start + 3 * second);
        assert!(!schedule.is_due(start + 32 * second, 9_000, 1_000), "3 seconds want 30 more");
        assert!(!schedule.is_due(start + 33 * second, 2_999, 1_000), "not grown enough since");
        assert!(schedule.is_due(start + 33 * second, 9_000, 1_000));
    }

    #[test]
    fn a_log_that_rests_or_shrinks_gets_its_checkpoint() {
        let start = Clock::now();
        let mut schedule = Schedule::new(0);
        schedule.note(start, start + Duration::from_secs(1_000));
        let due = (0..).position(|_| schedule.is_due(start, 5_000, 1_000));
        assert_eq!(due, Some(QUIET_LOOKS as usize), "the first look saw it grow");
        schedule.note(start, start);
        assert!(!schedule.is_due(start, 2_000, 1_000), "compacted");
        assert!(schedule.is_due(start, 3_000, 1_000));
    }
}
