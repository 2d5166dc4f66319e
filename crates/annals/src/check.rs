//! Check: rebuilds the graph from the log and compares it with the one in use.

use std::sync::PoisonError;

use crate::graph::compare;
use crate::memory::Memory;
use crate::recover;
use crate::repository::Repository;
use crate::{Position, Result};

/// What a check has looked at and found.
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
    /// What is wrong, at most 100 lines of each kind of check; empty if all is well.
    pub differences: Vec<String>,
}

impl CheckReport {
    /// True if nothing is wrong.
    pub fn is_clean(&self) -> bool {
        self.differences.is_empty()
    }
}

impl Repository {
    /// Reads the whole log, rebuilds the graph from nothing, and compares every instance and every index with the
    /// graph in use; then compares every index with the instances. Writers and readers go on meanwhile.
    ///
    /// Units: it takes the memory of a second graph.
    /// Errors: those of reading the log; `TooLarge` if a memory budget has no room for it; `Unavailable` if an index is lost. What is wrong with the graph is in the report.
    pub fn check(&self) -> Result<CheckReport> {
        self.check_with(|_, _| {})
    }

    /// As [`Repository::check`], telling now and then how many records of how many are replayed.
    pub fn check_with(&self, mut progress: impl FnMut(Position, Position)) -> Result<CheckReport> {
        let _one = self.inner().maintenance.lock().unwrap_or_else(PoisonError::into_inner);
        let snapshot = self.snapshot();
        let position = snapshot.position();
        snapshot.source().memory().admit_second_graph()?;
        snapshot.graph().check_indexes()?;
        let mut rebuilt = snapshot.graph().rebuilt_from_nothing();
        let log = snapshot.source().log();
        recover::replay_to(&**log, &mut rebuilt, position, &Memory::new(None), |at| progress(at, position))?;
        let mut differences = compare::differences(&rebuilt, snapshot.graph());
        differences.extend(compare::inconsistencies(snapshot.graph()));
        Ok(CheckReport {
            position,
            records_count: position.0,
            entities_count: snapshot.entities_count(),
            relationships_count: snapshot.relationships_count(),
            differences,
        })
    }
}
