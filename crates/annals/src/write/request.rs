//! A transaction on its way to the log.

use super::expectations::Expectations;
use super::reads::Reads;
use super::ticket::Promise;
use crate::graph::Graph;
use crate::memory::{Charge, NAMES_FEW, Need};
use crate::model::{Instant, Record};
use crate::record::RecordBody;
use crate::{Error, ErrorKind, Position};

/// A transaction on its way.
pub(crate) struct Request {
    pub(crate) work: Box<Work>,
    pub(crate) promise: Promise,
}

/// What a transaction is made of.
pub(crate) struct Work {
    pub(crate) base: Position,
    pub(crate) record: Record,
    pub(crate) body: RecordBody,
    /// The commit instant, if the caller sets it.
    pub(crate) instant: Option<Instant>,
    /// What a serializable transaction read.
    pub(crate) reads: Option<Reads>,
    /// Versions that must be the last ones at the moment of sequencing.
    pub(crate) expectations: Expectations,
    /// How many of the changes were made of an older base, and of which: the edits of a candidate.
    pub(crate) edits: Option<(Position, usize)>,
    /// What the memory budget keeps for it; the queue fills it in.
    pub(crate) charge: Charge,
}

/// What a transaction takes in memory when it is applied to `graph`.
pub(crate) fn need(graph: &Graph, body: &RecordBody, changes: usize) -> Need {
    let names = body.names().count();
    let new_names = body.names().filter(|name| graph.names.find(name).is_none()).count();
    let known_names = if names > NAMES_FEW { names - new_names } else { 0 };
    Need { bytes: body.record_bytes_max(), changes, new_names, known_names }
}

/// What is told when a thread that commits has panicked: nobody knows what it had done.
pub(crate) fn panicked() -> Error {
    Error::new(
        ErrorKind::Unavailable,
        "a committing thread has panicked; whether the transaction is durable is unknown; reopen the repository",
    )
}
