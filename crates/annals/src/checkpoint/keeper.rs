//! Takes checkpoints: when asked, and in the background when the log has grown enough.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, Weak};
use std::thread::JoinHandle;
use std::time::Duration;

use super::file::save_new;
use crate::repository::{Inner, Repository};
use crate::{Error, ErrorKind, Position, Result};

/// How often the background thread looks at the log.
const LOOK_INTERVAL: Duration = Duration::from_millis(500);
/// Nothing is being written if the log has not grown in so many looks: ten seconds.
const QUIET_LOOKS: u32 = 20;

impl Repository {
    /// Writes a checkpoint of the present graph, so that the next opening replays only what comes after. Readers and
    /// writers go on meanwhile.
    ///
    /// Errors: `InvalidArgument` for a repository without a folder; `ReadOnly`; `Io`.
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
        save_new(&folder.checkpoints(), &**folder.log(), snapshot.graph())?;
        Ok(snapshot.position())
    }

    /// How much the log must grow until the next checkpoint, which writes the whole graph: while it is written to, a
    /// quarter, so that a bulk load writes each value a few times and not once for every 256 MiB.
    fn checkpoint_log_bytes(&self, log_bytes: u64, is_quiet: bool) -> u64 {
        let least = self.options.checkpoint_log_bytes;
        if is_quiet { least } else { least.max(log_bytes / 4) }
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
    let checkpointed_bytes = inner.checkpointed_bytes();
    // Weak: the thread must not keep the repository open.
    let inner = Arc::downgrade(inner);
    std::thread::Builder::new()
        .name("annals-checkpoint".into())
        .spawn(move || keep(&inner, checkpointed_bytes, &is_stopping))
        .map_err(|source| Error::io("start the thread annals-checkpoint", source))
}

fn keep(inner: &Weak<Inner>, mut bytes_then: u64, is_stopping: &AtomicBool) {
    let (mut bytes_before, mut quiet_looks) = (0, 0);
    while !is_stopping.load(Ordering::SeqCst) {
        std::thread::park_timeout(LOOK_INTERVAL);
        let Some(inner) = inner.upgrade() else { return };
        let bytes = inner.log_bytes();
        // Compaction makes the log smaller, too.
        if bytes < bytes_then {
            bytes_then = bytes;
        }
        quiet_looks = if bytes == bytes_before { quiet_looks + 1 } else { 0 };
        bytes_before = bytes;
        let grown_min = inner.checkpoint_log_bytes(bytes, quiet_looks >= QUIET_LOOKS);
        if bytes - bytes_then < grown_min || is_stopping.load(Ordering::SeqCst) {
            continue;
        }
        bytes_then = bytes;
        if let Err(error) = inner.checkpoint() {
            inner.warn(format!("the background checkpoint failed: {error}"));
        }
    }
}
