//! Compaction: takes the bytes of purged instances out of the log.
//!
//! Compaction proves before it replaces. It writes the new log beside the one in force, replays it into an empty graph,
//! compares that with the graph in force, the past included, and puts it in place in one step. A compaction that fails,
//! or that a crash interrupts, leaves the log as it was.

mod outlived;
mod purged;

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use super::checkpoint::Checkpointed;
use super::recover;
use crate::graph::indexed::Indexed;
use crate::graph::{compare, meanings};
use crate::log::{Log, Rewrite, Rewritten};
use crate::memory::Memory;
use crate::repository::Repository;
use crate::{Error, ErrorKind, Result};
use purged::Purged;

/// How long a compaction waits for the last record to be published. A commit is published right after it is durable.
const PUBLISHED_WAIT: Duration = Duration::from_secs(2);

/// What a compaction has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CompactReport {
    /// Segments rewritten.
    pub segments_count: u64,
    /// Records rewritten.
    pub records_count: u64,
    /// Changes of purged instances taken out.
    pub changes_count: u64,
    /// Size of the log before. Units: bytes; 0 for a repository without a folder.
    pub bytes_before: u64,
    /// Size of the log after. Units: bytes; 0 for a repository without a folder.
    pub bytes_after: u64,
}

impl Repository {
    /// Rewrites the log without the changes of purged instances, keeping every position, and takes a fresh
    /// checkpoint. Afterwards no byte of a purged instance is in the folder: a file that cannot be removed is removed when
    /// the repository is opened next. Writers and readers go on meanwhile.
    ///
    /// Messages and authors of commits stay. Backups made before still hold what was purged. Snapshots taken before
    /// stay as they are, but no longer find the past of what was purged.
    ///
    /// Units: it takes the memory of a second graph, and room on the disk for the segments that change.
    /// Errors: `InvalidArgument` for a log that cannot be rewritten; `ReadOnly`; `TooLarge` if a memory budget has no
    /// room for it; `Corrupted` if the new log would not give the graph in force; those of the log. Whatever the
    /// error, the log is whole: as it was, or as it should be.
    pub fn compact(&self) -> Result<CompactReport> {
        if self.is_read_only() {
            return Err(Error::new(ErrorKind::ReadOnly, "compact: the repository is open read-only"));
        }
        let inner = self.inner();
        let log = inner.committer.source().log();
        let rewrite = log.as_rewrite().ok_or_else(|| {
            let text = format!("{}: compact: expected a log that can be rewritten", log.describe());
            Error::new(ErrorKind::InvalidArgument, text)
        })?;
        let _one = inner.maintenance.lock().unwrap_or_else(PoisonError::into_inner);
        inner.committer.source().memory().admit_second_graph()?;
        let mut report = CompactReport { bytes_before: inner.log_bytes(), ..CompactReport::default() };
        self.take_out(rewrite, &mut report)?;
        if inner.checkpoints.is_some() {
            inner.checkpoint_held()?;
        }
        report.bytes_after = inner.log_bytes();
        Ok(report)
    }

    fn take_out(&self, rewrite: &dyn Rewrite, report: &mut CompactReport) -> Result<()> {
        // A purge behind it waits for the next compaction.
        let last = rewrite.seal()?;
        let purged = Purged::collect(rewrite, last, self.snapshot().graph())?;
        if purged.is_empty() {
            return Ok(());
        }
        let rewritten = rewrite.rewrite(last, &mut |position, record| purged.take_out(position, record))?;
        // The last record may be durable and not yet published.
        if !self.wait_for(last, PUBLISHED_WAIT) {
            let text = format!(
                "compact: expected to know the records up to {last}, found them only up to {}: another writer appended \
                 them; commit something, then try again",
                self.snapshot().position()
            );
            return Err(Error::new(ErrorKind::Busy, text));
        }
        let rebuilt = self.prove(&*rewritten)?;
        report.records_count = rewritten.report().records_count;
        report.segments_count = rewritten.report().segments_count;
        report.changes_count = purged.changes_count();
        rewritten.put_in_place()?;
        // Slots and names are given in the order of the log, which has changed: go on from what a rebuild gives.
        let committer = &self.inner().committer;
        let replaced = committer.replace_graph(rebuilt);
        // Order: last, as readers of the graph before may have kept records until now.
        committer.source().clear();
        replaced?;
        let checkpoints = self.inner().checkpoints.as_ref();
        checkpoints.map_or(Ok(()), |checkpoints| checkpoints.remove_others(&**committer.source().log()))
    }

    /// Replays `rewritten` from nothing and compares the graph with the one in force.
    ///
    /// Errors: `Corrupted` if they differ.
    fn prove(&self, rewritten: &dyn Rewritten) -> Result<Indexed> {
        let snapshot = self.snapshot();
        let mut rebuilt = Indexed::new(snapshot.graph().rebuilt_from_nothing(), Arc::default());
        rebuilt.graph.generation = rewritten.generation();
        let unbounded = Memory::new(None);
        let mut differences =
            match recover::replay_to(rewritten, &mut rebuilt, snapshot.position(), &unbounded, |_| {}) {
                Ok(()) => meanings::meanings(snapshot.graph(), &rebuilt.graph),
                Err(error) => vec![error.to_string()],
            };
        if differences.is_empty() {
            differences = compare::inconsistencies(&rebuilt);
        }
        let Some(first) = differences.first() else { return Ok(rebuilt) };
        let text = format!(
            "compact: expected the rewritten log to give the graph in force, found {} differences, the first: {first}; \
             the log is as before; run `annals check`, and report this",
            differences.len()
        );
        Err(Error::new(ErrorKind::Corrupted, text))
    }
}
