//! Writes checkpoints in the background, when the log has grown enough.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::thread::JoinHandle;
use std::time::{Duration, Instant as Clock};

use crate::{Error, ErrorKind, Position, Result};

/// How often the background thread checks the size of the log.
const LOOK_INTERVAL: Duration = Duration::from_millis(500);
/// After this many checks without growth the log rests: ten seconds.
const QUIET_LOOKS: u32 = 20;
/// While the log grows, the pause between checkpoints is this many times the duration of the last one.
const PAUSE: u32 = 10;

/// Decides when a checkpoint is due; each one writes the whole graph. It is due once the log has grown enough, and
/// either rests, or has grown for so long that checkpoints take a small part of the time, for a graph of any size.
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

    /// Notes a checkpoint that covers the size seen last.
    fn note(&mut self, start: Clock, end: Clock) {
        self.covered = self.seen;
        self.not_before = end.checked_add(end.duration_since(start) * PAUSE);
    }
}

/// The repository, for the thread that writes checkpoints.
pub(crate) trait Checkpointed: Send + Sync + 'static {
    /// How much of the log the checkpoint covers that was loaded or written last. Units: bytes.
    fn checkpointed_bytes(&self) -> u64;

    /// Units: bytes of the log's segments.
    fn log_bytes(&self) -> u64;

    /// How much the log must have grown before a checkpoint is due. Units: bytes.
    fn grown_bytes_min(&self) -> u64;

    /// How often the log was rewritten.
    fn generation(&self) -> u64;

    /// Removes checkpoints of the log before another repository rewrote it: they hold what was purged.
    fn remove_stale(&self) -> Result<()>;

    /// Frees what readers have not used for some time.
    fn free_unused(&self);

    /// Writes a checkpoint of the present graph.
    fn write_checkpoint(&self) -> Result<Position>;

    /// Reports a failed checkpoint to the user.
    fn warn(&self, text: String);
}

/// Starts the thread that writes checkpoints in the background.
pub(crate) fn start(
    repository: &Arc<impl Checkpointed>,
    is_stopping: Arc<AtomicBool>,
) -> Result<JoinHandle<()>> {
    let covered = repository.checkpointed_bytes();
    // Weak: the thread must not keep the repository open.
    let repository = Arc::downgrade(repository);
    std::thread::Builder::new()
        .name("annals-checkpoint".into())
        .spawn(move || keep(&repository, covered, &is_stopping))
        .map_err(|source| Error::io("start the thread annals-checkpoint", source))
}

fn keep(repository: &Weak<impl Checkpointed>, covered: u64, is_stopping: &AtomicBool) {
    let mut schedule = Schedule::new(covered);
    // None yet: it may have been rewritten while the repository was opened.
    let mut generation = None;
    while !is_stopping.load(Ordering::SeqCst) {
        std::thread::park_timeout(LOOK_INTERVAL);
        let Some(repository) = repository.upgrade() else { return };
        repository.free_unused();
        let present = Some(repository.generation());
        if present != generation {
            match repository.remove_stale() {
                Ok(()) => generation = present,
                Err(error) => repository.warn(format!("checkpoints stay that hold what was purged: {error}")),
            }
        }
        let start = Clock::now();
        let is_due = schedule.is_due(start, repository.log_bytes(), repository.grown_bytes_min());
        if !is_due || is_stopping.load(Ordering::SeqCst) {
            continue;
        }
        if let Err(error) = repository.write_checkpoint()
            && error.kind() != ErrorKind::Closed
        {
            repository.warn(format!("the background checkpoint failed: {error}"));
        }
        schedule.note(start, Clock::now());
    }
}

#[cfg(test)]
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
