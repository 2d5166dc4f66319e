//! A transaction between its commit call and the log.

use std::sync::Arc;

use super::expectations::Expectations;
use super::reads::Reads;
use super::ticket::Promise;
use crate::contents::Pin;
use crate::graph::Graph;
use crate::memory::{Charge, NAMES_FEW, Need};
use crate::model::{Action, Change, Instant, Record, Stamp};
use crate::record::RecordBody;
use crate::{Error, ErrorKind, Position};

/// A transaction between its commit call and the log.
pub(crate) struct CommitRequest {
    pub(crate) work: Box<Work>,
    pub(super) promise: Promise,
}

impl CommitRequest {
    /// Tells of an unknown outcome before it is known. Whatever it turns out to be is not told any more.
    pub(super) fn give_up(&self, error: &Error) {
        self.promise.give_up(error);
    }

    /// True if an outcome was told.
    pub(super) fn is_told(&self) -> bool {
        self.promise.is_told()
    }
}

/// A classification in a copy that the same transaction wrote: it gets its stamps at commit.
pub(crate) struct OwnStamps {
    /// Number of the change that saves the copy.
    pub(crate) change: usize,
    /// Name of the classification.
    pub(crate) name: Arc<str>,
    /// True if the same transaction attached it.
    pub(crate) is_new: bool,
}

/// The content of a transaction.
pub(crate) struct Work {
    pub(crate) base: Position,
    pub(crate) record: Record,
    pub(crate) body: RecordBody,
    /// The commit instant, if the caller sets it.
    pub(crate) instant: Option<Instant>,
    /// True for a record of a history that is imported.
    pub(crate) is_of_history: bool,
    /// Classifications that get their stamps at commit.
    pub(crate) stamped: Vec<OwnStamps>,
    /// The reads of a serializable transaction.
    pub(crate) reads: Option<Reads>,
    /// The reads that decided whether the transaction is allowed.
    pub(crate) relied: Reads,
    /// Expected latest versions at the moment of sequencing.
    pub(crate) expectations: Expectations,
    /// For the edits of a candidate: the number of changes with an older base, and that base.
    pub(crate) edits: Option<(Position, usize)>,
    /// The contents that it names, kept in the store until it is durable.
    pub(crate) _pins: Vec<Pin>,
    /// Its charge to the memory budget; the queue sets it.
    pub(crate) charge: Charge,
}

impl Work {
    /// Sets the instant of the record, and all stamps that depend on it.
    pub(super) fn set_instant(&mut self, instant: Instant) {
        self.record.instant = instant;
        if self.stamped.is_empty() {
            return;
        }
        for OwnStamps { change, name, is_new } in &self.stamped {
            let Action::SaveEntity(copy) = &mut self.record.changes[*change].action else { continue };
            let found = copy.classifications.iter_mut().find(|known| known.name == *name);
            if let Some(known) = found {
                let author = Arc::clone(&self.record.author);
                known.updated = Stamp { instant, author };
                if *is_new {
                    known.created = known.updated.clone();
                }
            }
        }
        self.body = RecordBody::of(&self.record);
    }
}

/// The memory that a transaction takes when it is applied to `graph`.
pub(crate) fn need(graph: &Graph, body: &RecordBody, changes: &[Change]) -> Need {
    let along = graph.taken_along_count(changes.iter().map(|change| &change.action));
    let changes = changes.len();
    let names = body.names().count();
    let new_names = body.names().filter(|name| graph.names.find(name).is_none()).count();
    let known_names = if names > NAMES_FEW { names - new_names } else { 0 };
    Need { bytes: body.record_bytes_max(), changes, along, new_names, known_names }
}

/// The error after a panic of the committing thread: the outcome is unknown.
pub(crate) fn panicked() -> Error {
    Error::new(
        ErrorKind::OutcomeUnknown,
        "a committing thread has panicked; whether the transaction is durable is unknown; reopen the repository",
    )
}
