//! Compaction: removes the bytes of purged instances from the log.
//!
//! Compaction proves before it replaces. It writes the new log beside the one in force, replays it into an empty graph,
//! and compares that with the graph in force, including the past. Then it puts the new log in force in one step. A
//! compaction that fails, or that a crash interrupts, leaves the log unchanged.

mod outlived;
mod purged;

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use super::checkpoint::Checkpointed;
use super::contents::collect;
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

/// The effect of a compaction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CompactReport {
    /// Segments rewritten.
    pub segments_count: u64,
    /// Records rewritten.
    pub records_count: u64,
    /// Removed changes of purged instances.
    pub changes_count: u64,
    /// Removed contents, which no version names.
    pub contents_count: u64,
    /// Units: bytes of these contents.
    pub contents_bytes: u64,
    /// Size of the log before. Units: bytes; 0 for a repository without a folder.
    pub bytes_before: u64,
    /// Size of the log after. Units: bytes; 0 for a repository without a folder.
    pub bytes_after: u64,
}

impl Repository {
    /// Rewrites the log without the changes of purged instances, keeping every position, writes a new checkpoint, and
    /// removes the contents that no version names any more.
    /// Afterwards the folder holds no byte of a purged instance, except in files that could not be removed; opening the
    /// repository next time removes these. Writers and readers continue meanwhile.
    ///
    /// Messages and authors of commits stay. Earlier backups still hold purged instances. Earlier snapshots stay
    /// unchanged, but no longer find the past of purged instances.
    ///
    /// Units: it takes the memory of a second graph, and room on the disk for the segments that change.
    /// Errors: `InvalidArgument` for a log that cannot be rewritten; `ReadOnly`; `TooLarge` if a memory budget has no
    /// room for it; `Corrupted` if the new log would not give the graph in force; those of the log. After any error the
    /// log is whole: either the old one or the new one.
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
        inner.committer.source().memory().check_second_graph()?;
        let mut report = CompactReport { bytes_before: inner.log_bytes(), ..CompactReport::default() };
        self.take_out(rewrite, &mut report)?;
        if inner.checkpoints.is_some() {
            inner.checkpoint_held()?;
        }
        if let Some(contents) = &inner.committer.contents {
            // Order: after the new log is in force, because until then its predecessor names them.
            let removed = collect(contents, &**log, &|| log.tail())?;
            (report.contents_count, report.contents_bytes) = removed;
        }
        report.bytes_after = inner.log_bytes();
        Ok(report)
    }

    fn take_out(&self, rewrite: &dyn Rewrite, report: &mut CompactReport) -> Result<()> {
        // The next compaction handles a purge after this position.
        let last = rewrite.seal()?;
        let purged = Purged::collect(rewrite, last, self.snapshot().graph())?;
        if purged.is_empty() {
            return Ok(());
        }
        let rewritten = rewrite.rewrite(last, &mut |position, record| purged.take_out(position, record))?;
        // The last record may be durable but not published yet.
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
        // Replaying the changed log gives other slots and names, so the repository continues with the rebuilt graph.
        let committer = &self.inner().committer;
        let replaced = committer.replace_graph(rebuilt);
        // Order: last, because readers of the old graph may have cached records until now.
        committer.source().clear();
        replaced?;
        let checkpoints = self.inner().checkpoints.as_ref();
        checkpoints.map_or(Ok(()), |checkpoints| checkpoints.remove_others(&**committer.source().log()))
    }

    /// Replays `rewritten` into an empty graph and compares that with the graph in force.
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
