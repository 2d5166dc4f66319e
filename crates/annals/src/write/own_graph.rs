//! The graph with a transaction's own changes; further changes are applied as they are added.

use std::sync::Arc;

use super::request::need;
use crate::graph::Graph;
use crate::graph::indexed::Indexed;
use crate::graph::record_end::RecordStart;
use crate::graph::structures::symbols::Symbol;
use crate::memory::{Charge, Memory};
use crate::model::{Change, Instant, Record, TypeKind};
use crate::record::RecordBody;
use crate::structures::number::narrow;
use crate::{Error, Result};

/// When a transaction with more changes is searched, indexes take them. Each search reads fewer changes directly.
const TAIL_EVENTS_MAX: usize = 1_000;

/// The graph of the base with the first changes of a transaction.
#[derive(Clone)]
pub(super) struct OwnGraph {
    indexed: Indexed,
    /// The presumed commit instant.
    instant: Instant,
    applied: usize,
    start: RecordStart,
}

impl OwnGraph {
    /// The graph of the base, without changes so far.
    pub(super) fn new(base: &Indexed, instant: Instant) -> OwnGraph {
        OwnGraph { indexed: base.speculative(), instant, applied: 0, start: base.graph.record_start() }
    }

    /// True if it can apply the rest of `changes`: none of them claims a valid time after the instant.
    pub(super) fn can_go_on(&self, changes: &[Change]) -> bool {
        let is_past = |change: &Change| change.valid_from.is_none_or(|from| from <= self.instant);
        changes.len() >= self.applied && changes[self.applied..].iter().all(is_past)
    }

    /// Applies the new ones of `changes`. `record` gives author and instant.
    ///
    /// Errors: those of the changes; then this must be dropped.
    pub(super) fn go_on(&mut self, changes: &[Change], record: Record, memory: &Arc<Memory>) -> Result<()> {
        if self.applied == changes.len() {
            return Ok(());
        }
        let record = Record { instant: self.instant, changes: changes[self.applied..].to_vec(), ..record };
        // It is dropped later, but until then it takes as much as if it were committed.
        let _charge = if memory.is_bounded() {
            let body = RecordBody::encode(&record.author, &record.message, None, &record.changes);
            memory.admit(need(&self.indexed.graph, &body, &record.changes))?
        } else {
            Charge::default()
        };
        let graph = &mut self.indexed.graph;
        if self.applied == 0 {
            graph.apply_new(graph.position.next(), &record)?;
        } else {
            graph.apply_new_changes(graph.position, &record, narrow(self.applied))?;
        }
        self.applied = changes.len();
        Ok(())
    }

    /// Checks the conditions that hold at the end of the transaction. Reads do not need it: they may see an unfinished
    /// state. Call it before [`OwnGraph::indexed`], which removes the data that this checks.
    ///
    /// Errors: as [`Graph::check_record`].
    pub(super) fn check_end(&self) -> Result<()> {
        self.indexed.graph.check_record(&self.start)
    }

    /// Calls `found` as [`Graph::each_not_unique`] for the changes so far.
    ///
    /// Errors: those of `found`, and of reading values.
    pub(super) fn each_not_unique(
        &self,
        found: impl FnMut((TypeKind, u32), Symbol, Error) -> Result<()>,
    ) -> Result<()> {
        self.indexed.graph.each_not_unique(&self.start, found)
    }

    /// The presumed commit instant.
    pub(super) fn instant(&self) -> Instant {
        self.instant
    }

    /// The graph, to look instances up in.
    pub(super) fn graph(&self) -> &Graph {
        &self.indexed.graph
    }

    /// A copy to search in.
    pub(super) fn indexed(&mut self) -> Indexed {
        self.indexed.take_events(TAIL_EVENTS_MAX);
        self.indexed.clone()
    }
}
