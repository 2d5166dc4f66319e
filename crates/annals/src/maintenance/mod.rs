//! Maintenance beside readers and writers: recovery, checkpoints, check, backup, compaction.

pub(crate) mod backup;
pub(crate) mod sent_backup;
pub(crate) mod check;
pub(crate) mod checkpoint;
pub(crate) mod compact;
pub(crate) mod contents;
pub(crate) mod folder;
mod progress;
pub(crate) mod records;
pub(crate) mod recover;
pub(crate) mod removals;
pub(crate) mod shared_store;
