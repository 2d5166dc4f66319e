//! The results of a commit: a ticket to wait on, and then a receipt.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::{Arc, PoisonError};
use std::task::{Context, Poll, Waker};

use smallvec::SmallVec;

use super::request::{Work, panicked};
use crate::model::Instant;
use crate::sync::{Mutex, MutexGuard, OnceLock};
use crate::{Error, Position, Result};

/// Proof that a transaction is durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Receipt {
    /// The position of its record. For a transaction without changes: that of its snapshot.
    pub position: Position,
    /// The commit instant.
    pub instant: Instant,
}

/// A commit in progress. Dropping the ticket does not undo the commit.
///
/// A ticket is also a future: awaiting it holds no thread.
#[derive(Clone)]
pub struct Ticket(Arc<Shared>);

struct Shared {
    // Set once; setting it wakes the waiting threads.
    outcome: OnceLock<Outcome>,
    gate: Arc<Gate>,
    // Callbacks and tasks, called after the outcome is set.
    waiting: Mutex<SmallVec<[Waiting; 1]>>,
}

struct Outcome {
    result: Result<Receipt>,
    // The content of the transaction returns to the thread that made it: freeing memory on another thread costs several
    // times as much.
    _spent: Option<Box<Work>>,
}

/// A receiver of the outcome that is not a thread.
enum Waiting {
    Callback(Box<dyn FnOnce(Result<Receipt>) + Send>),
    /// A task.
    Waker(Waker),
}

/// A place where threads wait whose transactions usually end together: one system call wakes them all. With one call
/// for each, the threads that are awake would slow down the thread that wakes the others.
#[derive(Default)]
pub(super) struct Gate(OnceLock<()>);

impl Gate {
    /// Wakes all threads; each checks its own outcome.
    pub(super) fn open(&self) {
        // Another thread may have opened it before.
        let _ = self.0.set(());
    }
}

impl Ticket {
    pub(super) fn new(gate: Arc<Gate>) -> Ticket {
        Ticket(Arc::new(Shared { outcome: OnceLock::new(), gate, waiting: Mutex::default() }))
    }

    pub(in crate::write) fn done(result: Result<Receipt>) -> Ticket {
        let ticket = Ticket::new(Arc::default());
        ticket.settle(result, None);
        ticket
    }

    /// Waits until the commit is durable or has failed.
    pub fn wait(&self) -> Result<Receipt> {
        if self.0.outcome.get().is_none() {
            self.0.gate.0.wait();
        }
        // A transaction may be in a later batch than most at its gate; then it waits for its own outcome.
        copy(&self.0.outcome.wait().result)
    }

    /// The outcome, if it is known already.
    pub fn poll(&self) -> Option<Result<Receipt>> {
        self.0.outcome.get().map(|outcome| copy(&outcome.result))
    }

    /// Calls `callback` with the outcome: at once if it is known, otherwise on the committing thread, which the
    /// callback must not block.
    pub fn on_done(&self, callback: impl FnOnce(Result<Receipt>) + Send + 'static) {
        let mut waiting = self.lock();
        match self.poll() {
            None => waiting.push(Waiting::Callback(Box::new(callback))),
            Some(result) => {
                drop(waiting);
                callback(result);
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, SmallVec<[Waiting; 1]>> {
        self.0.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the outcome and notifies receivers, unless that was done before.
    fn settle(&self, result: Result<Receipt>, spent: Option<Box<Work>>) {
        if self.0.outcome.set(Outcome { result, _spent: spent }).is_err() {
            return;
        }
        // Order: the outcome is set before this lock. A callback or task is in the list now, or sees the outcome later.
        let waiting = std::mem::take(&mut *self.lock());
        for waiting in waiting {
            let Some(result) = self.poll() else { break };
            // A panic of a caller's code must not end the committing thread. It was printed already.
            let _ = catch_unwind(AssertUnwindSafe(|| match waiting {
                Waiting::Waker(waker) => waker.wake(),
                Waiting::Callback(callback) => callback(result),
            }));
        }
    }
}

impl Future for Ticket {
    type Output = Result<Receipt>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<Receipt>> {
        let mut waiting = self.lock();
        if let Some(result) = Ticket::poll(&self) {
            return Poll::Ready(result);
        }
        let waker = context.waker();
        let is_there = |known: &Waiting| matches!(known, Waiting::Waker(known) if known.will_wake(waker));
        if !waiting.iter().any(is_there) {
            waiting.push(Waiting::Waker(waker.clone()));
        }
        Poll::Pending
    }
}

/// The obligation to set an outcome. Even if the committing thread panics, dropping the promise sets one.
pub(super) struct Promise(Ticket);

impl Promise {
    pub(in crate::write) fn new(ticket: &Ticket) -> Promise {
        Promise(ticket.clone())
    }

    pub(super) fn gate(&self) -> &Arc<Gate> {
        &self.0.0.gate
    }

    /// Sets the outcome, and opens the gate. A later outcome is not told.
    pub(super) fn give_up(&self, error: &Error) {
        self.0.settle(Err(error.duplicate()), None);
        self.gate().open();
    }

    /// True if an outcome is set.
    pub(super) fn is_told(&self) -> bool {
        self.0.0.outcome.get().is_some()
    }

    /// Sets the outcome and returns the content of the transaction. The threads at the gate see it when the gate opens.
    pub(super) fn keep(self, result: Result<Receipt>, spent: Box<Work>) {
        self.0.settle(result, Some(spent));
    }
}

impl Drop for Promise {
    fn drop(&mut self) {
        if self.0.0.outcome.get().is_none() {
            self.0.settle(Err(panicked()), None);
            self.0.0.gate.open();
        }
    }
}

fn copy(result: &Result<Receipt>) -> Result<Receipt> {
    match result {
        Ok(receipt) => Ok(*receipt),
        Err(error) => Err(error.duplicate()),
    }
}

#[cfg(all(test, shuttle))]
mod shuttle_tests;
