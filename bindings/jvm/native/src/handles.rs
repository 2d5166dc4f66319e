//! The table of handles: Java holds numbers, and never addresses, so a closed or invented number is an error.

use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, PoisonError, RwLock};

use annals::{Error, ErrorKind, Result, Snapshot, Transaction};
use annals_server::{Closer, Exchange};

use crate::opened::Opened;

/// Parts of the table; each has a lock of its own.
const PARTS: usize = 32;

/// The thing behind a handle.
#[derive(Clone)]
pub enum Thing {
    Repository(Arc<Opened>),
    Snapshot(Arc<Snapshot>),
    /// The lock is poisoned after a panic within the transaction.
    Transaction(Arc<Mutex<Open>>),
    /// The closer ends it while a thread waits for it.
    Exchange(Arc<Mutex<Exchange>>, Closer),
}

/// A transaction, or the reason why it is over.
pub enum Open {
    /// Takes changes.
    Yes(Box<Transaction>),
    /// Takes none any more.
    No(&'static str),
}

struct Table {
    next: AtomicI64,
    parts: [RwLock<HashMap<i64, Thing>>; PARTS],
}

static TABLE: LazyLock<Table> =
    LazyLock::new(|| Table { next: AtomicI64::new(1), parts: std::array::from_fn(|_| RwLock::default()) });

fn part(handle: i64) -> &'static RwLock<HashMap<i64, Thing>> {
    &TABLE.parts[usize::try_from(handle.rem_euclid(PARTS as i64)).unwrap_or(0)]
}

/// A new handle.
pub fn add(thing: Thing) -> i64 {
    let handle = TABLE.next.fetch_add(1, Ordering::Relaxed);
    part(handle).write().unwrap_or_else(PoisonError::into_inner).insert(handle, thing);
    handle
}

/// Ends a handle, and gives the thing to be dropped; calls in progress keep theirs.
pub fn remove(handle: i64) -> Option<Thing> {
    part(handle).write().unwrap_or_else(PoisonError::into_inner).remove(&handle)
}

/// The thing behind a handle.
///
/// Errors: `Closed`; `InvalidArgument` for a number that never was a handle.
pub fn get(handle: i64) -> Result<Thing> {
    let found = part(handle).read().unwrap_or_else(PoisonError::into_inner).get(&handle).cloned();
    found.ok_or_else(|| match (1..TABLE.next.load(Ordering::Relaxed)).contains(&handle) {
        true => Error::new(ErrorKind::Closed, "it is closed, and can no longer be used; open it again"),
        false => wrong(handle, "a handle of this process"),
    })
}

/// The error for a handle of another kind.
pub fn wrong(handle: i64, expected: &str) -> Error {
    Error::new(
        ErrorKind::InvalidArgument,
        format!("handle {handle}: expected {expected}, found something else"),
    )
}

/// The repository behind a handle.
///
/// Errors: as [`get`].
pub fn repository(handle: i64) -> Result<Arc<Opened>> {
    match get(handle)? {
        Thing::Repository(opened) => Ok(opened),
        _ => Err(wrong(handle, "a repository")),
    }
}

/// The exchange behind a handle.
///
/// Errors: as [`get`].
pub fn exchange(handle: i64) -> Result<Arc<Mutex<Exchange>>> {
    match get(handle)? {
        Thing::Exchange(exchange, _) => Ok(exchange),
        _ => Err(wrong(handle, "an exchange")),
    }
}

/// Works with the transaction behind a handle; other threads wait.
///
/// Errors: as [`get`]; those of `work`.
pub fn with_transaction<T>(handle: i64, work: impl FnOnce(&mut Transaction) -> Result<T>) -> Result<T> {
    let Thing::Transaction(transaction) = get(handle)? else { return Err(wrong(handle, "a transaction")) };
    let mut transaction = transaction.lock().map_err(|_| panicked("transaction"))?;
    match &mut *transaction {
        Open::Yes(transaction) => work(transaction),
        Open::No(why) => Err(ended(why)),
    }
}

/// Works with the transaction behind a handle, and discards it if the work fails after its first change: nothing of it
/// may be committed.
///
/// Errors: as [`with_transaction`].
pub fn with_whole<T>(handle: i64, work: impl FnOnce(&mut Transaction) -> Result<T>) -> Result<T> {
    let mut is_torn = false;
    let done = with_transaction(handle, |transaction| {
        let before = transaction.changes_count();
        let done = work(transaction);
        is_torn = done.is_err() && transaction.changes_count() != before;
        done
    });
    if is_torn && let Thing::Transaction(transaction) = get(handle)? {
        *transaction.lock().map_err(|_| panicked("transaction"))? =
            Open::No("operations failed after the first of their changes, so it was discarded");
    }
    done
}

/// Takes the transaction out of its handle.
///
/// Errors: as [`get`].
pub fn take_transaction(handle: i64) -> Result<Transaction> {
    let Thing::Transaction(transaction) = get(handle)? else { return Err(wrong(handle, "a transaction")) };
    remove(handle);
    let mut transaction = transaction.lock().map_err(|_| panicked("transaction"))?;
    match std::mem::replace(&mut *transaction, Open::No("it is committed already")) {
        Open::Yes(transaction) => Ok(*transaction),
        Open::No(why) => Err(ended(why)),
    }
}

fn ended(why: &str) -> Error {
    Error::new(ErrorKind::Closed, format!("transaction: {why}; begin another one"))
}

/// The error for a thing with which a call panicked, so that nobody knows its state.
pub fn panicked(what: &str) -> Error {
    let text =
        format!("{what}: an earlier call with it panicked, so that its state is unknown; begin another one");
    Error::new(ErrorKind::Closed, text)
}
