//! The graph with a transaction's own changes; further changes are applied as they are added.

use std::sync::Arc;

use crate::graph::indexed::Indexed;
use crate::graph::record_end::RecordStart;
use crate::graph::structures::symbols::Symbol;
use crate::graph::{Graph, named_at_end};
use crate::memory::{Charge, Memory};
use crate::model::{Action, Change, Instant, Record, TypeKind};
use crate::record::RecordBody;
use crate::structures::number::narrow;
use crate::write::commit::request::need;
use crate::{Error, Result};

/// When a transaction with more changes is searched, indexes take them. Each search reads fewer changes directly.
const TAIL_EVENTS_MAX: usize = 100;

/// The graph of the base with the first changes of a transaction.
#[derive(Clone)]
pub(in crate::write) struct OwnGraph {
    indexed: Arc<Indexed>,
    /// The presumed commit instant.
    instant: Instant,
    applied: usize,
    start: RecordStart,
}

impl OwnGraph {
    /// The graph of the base, without changes so far.
    pub(in crate::write) fn new(base: &Indexed, instant: Instant) -> OwnGraph {
        OwnGraph {
            indexed: Arc::new(base.speculative()),
            instant,
            applied: 0,
            start: base.graph.record_start(),
        }
    }

    /// True if it can apply the rest of `changes`: none of them claims a valid time after the instant.
    pub(super) fn can_go_on(&self, changes: &[Change]) -> bool {
        let is_past = |change: &Change| change.valid_from.is_none_or(|from| from <= self.instant);
        changes.len() >= self.applied && changes[self.applied..].iter().all(is_past)
    }

    /// Applies the new changes of `record`. Of the record this keeps author and message.
    ///
    /// Errors: those of the changes; then this must be dropped.
    pub(super) fn go_on(&mut self, record: &Record, memory: &Arc<Memory>) -> Result<()> {
        if self.applied == record.changes.len() {
            return Ok(());
        }
        let new = self.part(record, record.changes[self.applied..].to_vec());
        let _charge = self.charge(&new, memory)?;
        let graph = &mut Arc::make_mut(&mut self.indexed).graph;
        if self.applied == 0 {
            graph.apply_new(graph.position.next(), &new)?;
        } else {
            graph.apply_new_changes(graph.position, &new, narrow(self.applied))?;
        }
        self.applied = record.changes.len();
        Ok(())
    }

    /// True if the change `number` is applied.
    pub(in crate::write) fn has(&self, number: usize) -> bool {
        number < self.applied
    }

    /// Applies an action that is merged into the change `number`, which is applied.
    ///
    /// Errors: as [`OwnGraph::go_on`].
    pub(super) fn amend(
        &mut self,
        number: usize,
        action: &Action,
        record: &Record,
        memory: &Arc<Memory>,
    ) -> Result<()> {
        let _charge = self.charge(&self.part(record, vec![Change::from(action.clone())]), memory)?;
        let graph = &mut Arc::make_mut(&mut self.indexed).graph;
        graph.amend(narrow(number), action, (self.instant, &record.author))
    }

    /// A record with some of its changes, at the presumed instant.
    fn part(&self, record: &Record, changes: Vec<Change>) -> Record {
        let (author, message) = (Arc::clone(&record.author), Arc::clone(&record.message));
        Record { instant: self.instant, author, message, changes, ..Record::default() }
    }

    /// The memory for it: it is dropped later, but until then it takes as much as if it were committed.
    fn charge(&self, part: &Record, memory: &Arc<Memory>) -> Result<Charge> {
        if !memory.is_bounded() {
            return Ok(Charge::default());
        }
        memory.charge(need(&self.indexed.graph, &RecordBody::of(part), &part.changes))
    }

    /// Checks the conditions that hold at the end of the transaction. Reads do not need it: they may see an unfinished
    /// state. Call it before [`OwnGraph::indexed`], which removes the data that this checks.
    ///
    /// Errors: as [`Graph::check_record`].
    pub(super) fn check_end(&self, record: &Record, is_of_history: bool) -> Result<()> {
        let checked = self.indexed.graph.check_record(&self.start, is_of_history);
        checked.map_err(|error| named_at_end(error, record))
    }

    /// Calls `found` as [`Graph::each_not_unique`] for the changes so far.
    ///
    /// Errors: those of `found`, and of reading values.
    pub(in crate::write) fn each_not_unique(
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
    pub(in crate::write) fn graph(&self) -> &Graph {
        &self.indexed.graph
    }

    /// The graph to search in. The next change copies what others still share of it.
    pub(super) fn indexed(&mut self) -> Arc<Indexed> {
        Arc::make_mut(&mut self.indexed).pass_events(TAIL_EVENTS_MAX);
        Arc::clone(&self.indexed)
    }
}
