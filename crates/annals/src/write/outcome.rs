//! Tells transactions what became of them.

use super::request::Request;
use super::ticket::{Gate, Receipt};
use crate::{Error, Result};
use std::sync::Arc;

/// Tells the same to all.
pub(crate) fn refuse(requests: impl IntoIterator<Item = Request>, error: &Error) {
    tell(requests.into_iter().map(|request| (request, Err(error.duplicate()))));
}

/// Tells each its outcome.
pub(crate) fn tell(outcomes: impl IntoIterator<Item = (Request, Result<Receipt>)>) {
    let mut gates: Vec<Arc<Gate>> = Vec::new();
    for (Request { work, promise }, result) in outcomes {
        if gates.last().is_none_or(|gate| !Arc::ptr_eq(gate, promise.gate())) {
            gates.push(Arc::clone(promise.gate()));
        }
        promise.keep(result, work);
    }
    // Order: the promises are gone, so that a thread that waited frees what it had committed.
    gates.iter().for_each(|gate| gate.open());
}
