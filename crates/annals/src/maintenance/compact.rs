//! Compaction: removes the bytes of purged instances from the log.
//!
//! Compaction proves before it replaces. It writes the new log beside the one in force, replays it into an empty graph,
//! and compares that with the graph in force, including the past. Then it puts the new log in force in one step. A
//! compaction that fails, or that a crash interrupts, leaves the log unchanged.

mod outlived;
mod purged;
mod stop;

use std::sync::atomic::Ordering;
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
use crate::write::forget_purged_edits;
use crate::{Error, ErrorKind, Result};
use purged::Purged;
pub(crate) use stop::{Stop, StoppableLog};

/// An observer is told how far the new log is after so many records.
const RECORDS_UNTOLD: u64 = 1_024;
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
    /// Removed contents, which no version names. In a store that several repositories share, those that were unnamed for
    /// longer than [`Options::removal_grace_ms`](crate::Options::removal_grace_ms); the others follow by themselves.
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
    /// On a log with a register, checkpoints and contents stay in the store for
    /// [`Options::removal_grace_ms`](crate::Options::removal_grace_ms), and leave it by themselves then.
    ///
    /// Messages and authors of commits stay. Earlier backups still hold purged instances. Earlier snapshots stay
    /// unchanged, but no longer find the past of purged instances.
    ///
    /// Units: it takes the memory of a second graph, and room on the disk for the segments that change.
    /// Errors: `InvalidArgument` for a log that cannot be rewritten; `ReadOnly`; `TooLarge` if a memory budget has no
    /// room for it; `Corrupted` if the new log would not give the graph in force; `Closed` if the repository is closed
    /// meanwhile, which does not wait for it; those of the log. After any error the log is whole: either the old one or,
    /// if the error says so, the new one. A checkpoint that cannot be written afterwards is a warning.
    pub fn compact(&self) -> Result<CompactReport> {
        let inner = self.inner();
        if let Some(error) = inner.committer.read_only() {
            return Err(error.with("operation", "compact"));
        }
        let log = inner.committer.source().log();
        let rewrite = log.as_rewrite().ok_or_else(|| {
            let text = format!("{}: compact: expected a log that can be rewritten", log.describe());
            Error::new(ErrorKind::InvalidArgument, text)
        })?;
        let _one = inner.maintenance.lock().unwrap_or_else(PoisonError::into_inner);
        inner.committer.source().memory().check_second_graph()?;
        let mut report = CompactReport { bytes_before: inner.log_bytes(), ..CompactReport::default() };
        let stop = Stop(&inner.is_stopping);
        let is_replaced = self.take_out(rewrite, &mut report)?;
        self.clear_away(stop, &mut report).map_err(|error| match is_replaced {
            true => {
                let text =
                    format!("compact: the log is compacted, but then: {}; compact again", error.text());
                Error::new(error.kind(), text).caused_by(error)
            }
            false => error,
        })?;
        report.bytes_after = inner.log_bytes();
        Ok(report)
    }

    /// Puts the compacted log in force. False if there was nothing to remove.
    ///
    /// Errors: after all of them the log is as before.
    fn take_out(&self, rewrite: &dyn Rewrite, report: &mut CompactReport) -> Result<bool> {
        let stop = Stop(&self.inner().is_stopping);
        stop.check()?;
        // Order: before the last position is known.
        forget_purged_edits(&self.inner().committer)?;
        // The next compaction handles a purge after this position.
        let last = rewrite.seal()?;
        // Order: before the snapshot. The last record may be durable but not published yet, and a graph that lacks it has other
        // edits of candidates.
        if !self.wait_for(last, PUBLISHED_WAIT) {
            stop.check()?;
            let text = format!(
                "compact: expected to know the records up to {last}, found them only up to {}: another writer appended \
                 them; commit something, then try again",
                self.snapshot().position()
            );
            return Err(Error::new(ErrorKind::Busy, text));
        }
        let purged =
            Purged::collect(&StoppableLog { log: rewrite, stop }, last, self.snapshot().graph(), stop)?;
        if purged.is_empty() {
            return Ok(false);
        }
        let rewritten = rewrite.rewrite(last, &mut |position, record| {
            stop.check()?;
            if position.0.is_multiple_of(RECORDS_UNTOLD) {
                self.inner().progressed("rewrite", position, last);
            }
            purged.take_out(position, record)
        })?;
        let rebuilt = self.prove(&*rewritten, stop)?;
        report.records_count = rewritten.report().records_count;
        report.segments_count = rewritten.report().segments_count;
        report.changes_count = purged.changes_count();
        // Order: the last question. From here on the compaction is done to its end.
        stop.check()?;
        self.inner().check_upkeep()?;
        rewritten.put_in_place()?;
        self.go_on_from(rebuilt, stop)?;
        Ok(true)
    }

    /// Goes on from the graph of a compacted log: its slots and names are others. Nothing of the old log is left then.
    fn go_on_from(&self, rebuilt: Indexed, stop: Stop<'_>) -> Result<()> {
        let committer = &self.inner().committer;
        let replaced = committer.replace_graph(rebuilt);
        // Order: after that, because readers of the old graph may have cached records until now.
        committer.source().clear();
        self.inner().checkpointed.store(0, Ordering::SeqCst);
        let removed = self.inner().all_checkpoints().iter().try_for_each(|checkpoints| {
            checkpoints.remove_others(&**committer.source().log(), committer.term())
        });
        // A repository that is being closed needs no other graph.
        removed.and(replaced.or_else(|error| if stop.is_set() { Ok(()) } else { Err(error) })).map_err(|error| {
            let text = format!(
                "compact: the log is compacted, but then: {}; open the repository again, which removes what is left of \
                 the old one",
                error.text()
            );
            Error::new(error.kind(), text).caused_by(error)
        })
    }

    /// Writes a checkpoint, and removes the contents that no version names.
    fn clear_away(&self, stop: Stop<'_>, report: &mut CompactReport) -> Result<()> {
        let inner = self.inner();
        if inner.checkpoints.is_some()
            && let Err(error) = inner.checkpoint_held()
            && !stop.is_set()
        {
            // Without one, opening takes longer.
            inner.warn(format!("the checkpoint after a compaction failed: {error}"));
        }
        let log = inner.committer.source().log();
        // Order: after the new log is in force, because until then its predecessor names them.
        let log_read = StoppableLog { log: &**log, stop };
        let removed = match (&inner.seat, &inner.committer.contents) {
            (Some(_), _) => inner.remove_from_shared(&log_read)?,
            (None, Some(contents)) => collect(contents, &log_read, &|| log.tail())?,
            (None, None) => return Ok(()),
        };
        (report.contents_count, report.contents_bytes) = removed;
        Ok(())
    }

    /// Replays `rewritten` into an empty graph and compares that with the graph in force.
    ///
    /// Errors: `Corrupted` if they differ; those of reading the log; `Closed` if the repository is being closed.
    fn prove(&self, rewritten: &dyn Rewritten, stop: Stop<'_>) -> Result<Indexed> {
        let snapshot = self.snapshot();
        let mut rebuilt = Indexed::new(snapshot.graph().rebuilt_from_nothing(), Arc::default());
        rebuilt.graph.generation = rewritten.generation();
        let unbounded = Memory::new(None);
        let mut differences = match recover::replay_to(
            &StoppableLog { log: rewritten, stop },
            &mut rebuilt,
            snapshot.position(),
            &unbounded,
            |at| self.inner().progressed("compare", at, snapshot.position()),
        ) {
            Ok(()) => meanings::meanings(snapshot.graph(), &rebuilt.graph, &|| stop.is_set()),
            // The log could not be read: that tells nothing about its records.
            Err(error) if is_of_reading(error.kind()) => return Err(error),
            Err(error) => vec![error.to_string()],
        };
        if differences.is_empty() {
            differences = compare::inconsistencies(&rebuilt, &|| stop.is_set());
        }
        // Order: before the differences, which are those of a comparison that has ended early.
        stop.check()?;
        let Some(first) = differences.first() else { return Ok(rebuilt) };
        let text = format!(
            "compact: expected the rewritten log to give the graph in force, found {} differences, the first: {first}; \
             the log is as before; run `annals check`, and report this",
            differences.len()
        );
        Err(Error::new(ErrorKind::Corrupted, text))
    }
}

/// True for an error of a store, or of another process at it, rather than of the records.
fn is_of_reading(kind: ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::Conflict
            | ErrorKind::Busy
            | ErrorKind::Unavailable
            | ErrorKind::NotWriter
            | ErrorKind::Closed
            | ErrorKind::Io
    )
}
