//! Check: rebuilds the graph from the log and compares it with the one in use.

use std::sync::{Arc, PoisonError};

use super::contents::missing_contents;
use super::recover;
use crate::graph::compare;
use crate::graph::indexed::Indexed;
use crate::memory::Memory;
use crate::repository::Repository;
use crate::write::follow;
use crate::{Error, ErrorKind, Position, Result, Snapshot};

/// Most replays, if the repository is compacted during each of them.
const REBUILDS_MAX: usize = 10;

/// The result of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckReport {
    /// The position that was checked.
    pub position: Position,
    /// Records replayed.
    pub records_count: u64,
    /// Live entities.
    pub entities_count: u64,
    /// Live relationships.
    pub relationships_count: u64,
    /// The differences, at most 100 lines of each kind of check; empty if there are none.
    pub differences: Vec<String>,
}

impl CheckReport {
    /// True if there are no differences.
    pub fn is_clean(&self) -> bool {
        self.differences.is_empty()
    }
}

impl Repository {
    /// Reads the whole log, rebuilds the graph from it, and compares every instance and every index with the graph in
    /// use; then compares every index with the instances, and looks for each content that a version names. Writers and
    /// readers continue meanwhile.
    ///
    /// Units: it takes the memory of a second graph.
    /// Errors: those of reading the log; `TooLarge` if a memory budget has no room for it. The report lists differences
    /// in the graph.
    pub fn check(&self) -> Result<CheckReport> {
        self.check_with(|_, _| {})
    }

    /// As [`Repository::check`], reporting at intervals how many of all records are replayed.
    pub fn check_with(&self, mut progress: impl FnMut(Position, Position)) -> Result<CheckReport> {
        let _one = self.inner().maintenance.lock().unwrap_or_else(PoisonError::into_inner);
        self.snapshot().source().memory().check_second_graph()?;
        let mut told = |at, end| {
            progress(at, end);
            self.inner().progressed("check", at, end);
        };
        let (snapshot, rebuilt) = self.rebuilt(&mut told)?;
        let position = snapshot.position();
        let found = snapshot.indexed().settled()?;
        let mut differences = compare::differences(&rebuilt, &found);
        differences.extend(compare::inconsistencies(&found, &|| false));
        let committer = &self.inner().committer;
        let log = &**snapshot.source().log();
        differences.extend(missing_contents(committer.contents.as_ref(), log, position)?);
        Ok(CheckReport {
            position,
            records_count: position.0,
            entities_count: snapshot.entities_count(),
            relationships_count: snapshot.relationships_count(),
            differences,
        })
    }

    /// A snapshot, and a graph replayed from the same records of the log. If another process rewrites the log
    /// meanwhile, it takes a new snapshot.
    fn rebuilt(&self, progress: &mut impl FnMut(Position, Position)) -> Result<(Snapshot, Indexed)> {
        for _ in 0..REBUILDS_MAX {
            let snapshot = self.try_snapshot()?;
            let position = snapshot.position();
            let mut rebuilt = Indexed::new(snapshot.graph().rebuilt_from_nothing(), Arc::default());
            let log = snapshot.source().log();
            let unbounded = Memory::new(None);
            let report = |at| progress(at, position);
            let replayed = recover::replay_to(&**log, &mut rebuilt, position, &unbounded, report);
            if log.generation() == rebuilt.graph.generation {
                return replayed.map(|()| (snapshot, rebuilt));
            }
            if !self.is_read_only() {
                break;
            }
            follow(&self.inner().committer)?;
        }
        let text = "check: the log was compacted, and this repository does not know it yet; reopen it";
        Err(Error::new(ErrorKind::Unavailable, text))
    }
}
