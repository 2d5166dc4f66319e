//! Settings of a repository. The defaults suit most users.

use std::path::PathBuf;
use std::sync::Arc;

use crate::Position;
use crate::graph::structures::spill_file::{FILE_BYTES_MAX, SpillSettings};
use crate::log::FileOptions;
use crate::memory::Memory;
use crate::model::Instant;
use crate::observer::Observer;
use crate::storage::{Disk, RealDisk, Store};

/// Called at intervals while a repository is opened: records replayed so far, and records in all.
pub type ReplayProgress = Arc<dyn Fn(Position, Position) + Send + Sync>;

/// The source of commit instants.
pub type WallClock = Arc<dyn Fn() -> Instant + Send + Sync>;

/// Settings of a repository.
#[derive(Clone)]
pub struct Options {
    /// Open for reading beside the writer, and follow its commits.
    pub is_read_only: bool,
    /// On a log with a register: follow the writer, and take over when it gives no more signs of life. Without this, a
    /// repository takes over when it is opened, and is refused beside a writer.
    pub is_standby: bool,
    /// On a log with a register: where this repository answers, for those that ask who writes.
    pub address: Option<String>,
    /// On a log with a register: a writer that gives no sign of life for so long is taken for gone. Units: milliseconds.
    pub lease_ms: u64,
    /// On a log with a register: how long objects stay in the shared stores that are to leave them, replaced checkpoints and
    /// contents that no version names. Meanwhile other repositories end what they read, and name what they have put there.
    /// Units: milliseconds.
    pub removal_grace_ms: u64,
    /// How often a read-only repository looks for new records. Units: milliseconds.
    pub poll_interval_ms: u64,
    /// Most transactions that wait to be committed.
    pub queue_transactions_max: usize,
    /// Most bytes that wait to be committed.
    pub queue_bytes_max: usize,
    /// Once the log has not answered for so long, the repository refuses writes, and tells transactions in progress that
    /// their outcome is unknown. It keeps asking, and reads go on. A log in a folder always answers.
    /// Units: milliseconds.
    pub log_patience_ms: u64,
    /// The repository writes a checkpoint in the background when the log has grown by this much since the last one, and
    /// either rests for ten seconds, or has passed ten times the duration of the last one. Units: bytes.
    pub checkpoint_log_bytes: u64,
    /// The repository also writes a checkpoint when it is closed, if the log has grown by more than this since the last
    /// one, and by enough for the size of the graph: see docs/operations.md. Units: bytes.
    pub checkpoint_end_bytes: u64,
    /// Most memory of the process (its resident set), `None` for no bound; at least 16 MiB. With a budget, long values
    /// are stored in files beside the repository, and the repository refuses work that would exceed it: see
    /// docs/memory.md.
    /// Units: bytes.
    pub memory_bytes_max: Option<u64>,
    /// With a memory budget, values of at least this length are stored in files. Units: bytes.
    pub spilled_value_bytes_min: usize,
    /// Size of the segment files of a log in a folder, 4 KiB to 1 GiB. Units: bytes.
    pub segment_bytes: u64,
    /// The store of contents, instead of the folder `content` of the repository. No other repository may use it; on a log
    /// with a register all its repositories share it.
    pub contents: Option<Arc<dyn Store>>,
    /// Called with the progress of opening.
    pub on_replay: Option<ReplayProgress>,
    /// Receives reports of appends, checkpoints, warnings and failures.
    pub observer: Option<Arc<dyn Observer>>,
    /// The clock of the machine; tests may set another one.
    #[doc(hidden)]
    pub clock: WallClock,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            is_read_only: false,
            is_standby: false,
            address: None,
            lease_ms: 3_000,
            removal_grace_ms: crate::protection::removal_grace_ms(),
            poll_interval_ms: 20,
            queue_transactions_max: 65_536,
            queue_bytes_max: 256 << 20,
            log_patience_ms: 10_000,
            checkpoint_log_bytes: 256 << 20,
            checkpoint_end_bytes: 256 << 10,
            memory_bytes_max: None,
            spilled_value_bytes_min: 128,
            segment_bytes: FileOptions::default().segment_bytes,
            contents: None,
            on_replay: None,
            observer: None,
            clock: Arc::new(Instant::now),
        }
    }
}

impl Options {
    /// The place for long values, if there is a memory budget: a folder of a disk, or the system's folder for temporary
    /// files.
    pub(crate) fn spill(
        &self,
        place: Option<(&Arc<dyn Disk>, PathBuf)>,
        memory: &Arc<Memory>,
    ) -> Option<SpillSettings> {
        self.memory_bytes_max?;
        let (disk, folder) = match place {
            Some((disk, folder)) => (Arc::clone(disk), folder),
            None => (Arc::new(RealDisk) as Arc<dyn Disk>, std::env::temp_dir()),
        };
        Some(SpillSettings {
            disk,
            folder,
            value_bytes_min: self.spilled_value_bytes_min,
            file_bytes_max: FILE_BYTES_MAX,
            memory: Arc::clone(memory),
        })
    }

    /// The options of a log in a folder.
    pub(crate) fn of_files(&self) -> FileOptions {
        FileOptions { segment_bytes: self.segment_bytes, ..FileOptions::default() }
    }

    /// Read-only.
    pub fn read_only() -> Options {
        Options { is_read_only: true, ..Options::default() }
    }
}

impl std::fmt::Debug for Options {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Options")
            .field("is_read_only", &self.is_read_only)
            .field("is_standby", &self.is_standby)
            .field("address", &self.address)
            .field("lease_ms", &self.lease_ms)
            .field("removal_grace_ms", &self.removal_grace_ms)
            .field("poll_interval_ms", &self.poll_interval_ms)
            .field("queue_transactions_max", &self.queue_transactions_max)
            .field("queue_bytes_max", &self.queue_bytes_max)
            .field("log_patience_ms", &self.log_patience_ms)
            .field("checkpoint_log_bytes", &self.checkpoint_log_bytes)
            .field("checkpoint_end_bytes", &self.checkpoint_end_bytes)
            .field("memory_bytes_max", &self.memory_bytes_max)
            .field("spilled_value_bytes_min", &self.spilled_value_bytes_min)
            .field("segment_bytes", &self.segment_bytes)
            .finish_non_exhaustive()
    }
}
