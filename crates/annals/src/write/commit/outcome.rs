//! Reports their outcomes to transactions.

use super::request::CommitRequest;
use super::ticket::{Gate, Receipt};
use crate::{Error, ErrorKind, Result};
use std::sync::Arc;

/// The error of a write at a repository that does not write now; `address` is that of the one that does, or empty.
pub(crate) fn not_writer(address: &str) -> Error {
    let text = match address {
        "" => "this server does not write now; ask the one that does".to_owned(),
        address => format!("this server does not write; the server {address} does"),
    };
    Error::new(ErrorKind::NotWriter, text).with("writer", address)
}

/// The error of a write at a repository that only reads a log which others write; `address` as in [`not_writer`].
pub(crate) fn reads_only(log: &str, address: &str) -> Error {
    let text = match address {
        "" => format!("{log}: it is open read-only; send the change to the server that writes"),
        address => format!("{log}: it is open read-only; the server {address} writes"),
    };
    Error::new(ErrorKind::ReadOnly, text).with("writer", address)
}

/// The error of writes at a repository that begins; `None` if it writes.
pub(crate) fn refusal_at_first(log: &str, is_read_only: bool, is_shared: bool) -> Option<Error> {
    match (is_read_only, is_shared) {
        (false, false) => None,
        (false, true) => Some(not_writer("")),
        (true, true) => Some(reads_only(log, "")),
        (true, false) => {
            let text = format!("{log}: it is open read-only; open it for writing");
            Some(Error::new(ErrorKind::ReadOnly, text))
        }
    }
}

/// Reports the same error to all.
pub(crate) fn refuse(requests: impl IntoIterator<Item = CommitRequest>, error: &Error) {
    tell(requests.into_iter().map(|request| (request, Err(error.duplicate()))));
}

/// Reports its outcome to each.
pub(crate) fn tell(outcomes: impl IntoIterator<Item = (CommitRequest, Result<Receipt>)>) {
    let mut gates: Vec<Arc<Gate>> = Vec::new();
    for (CommitRequest { work, promise }, result) in outcomes {
        if gates.last().is_none_or(|gate| !Arc::ptr_eq(gate, promise.gate())) {
            gates.push(Arc::clone(promise.gate()));
        }
        promise.keep(result, work);
    }
    // Order: the promises are dropped first, so that the waiting thread frees the memory of its transaction.
    gates.iter().for_each(|gate| gate.open());
}
