//! What a commit hands back: a ticket to wait on, and at the end a receipt.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::{Arc, PoisonError};
use std::task::{Context, Poll, Waker};

use smallvec::SmallVec;

use super::request::{Work, panicked};
use crate::model::Instant;
use crate::sync::{Mutex, MutexGuard, OnceLock};
use crate::{Position, Result};

/// Proof that a transaction is durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Receipt {
    /// Its record. For a transaction without changes: the snapshot it read.
    pub position: Position,
    /// When it was committed.
    pub instant: Instant,
}

/// A commit on its way. Dropping the ticket does not take the commit back.
///
/// A ticket is a future, too: awaiting it waits without a thread.
#[derive(Clone)]
pub struct Ticket(Arc<Shared>);

struct Shared {
    // Set once, which wakes the threads that wait.
    outcome: OnceLock<Outcome>,
    gate: Arc<Gate>,
    // Told the outcome after it is set.
    waiting: Mutex<SmallVec<[Waiting; 1]>>,
}

struct Outcome {
    result: Result<Receipt>,
    // What the transaction was made of goes back to the thread that made it: memory that another thread frees costs
    // several times as much.
    _spent: Option<Box<Work>>,
}

/// What a ticket tells the outcome to, beside the threads that wait for it.
enum Waiting {
    Callback(Box<dyn FnOnce(Result<Receipt>) + Send>),
    /// A task.
    Waker(Waker),
}

/// Where threads wait whose transactions will be told together, as a rule: one system call wakes them all. With a call for
/// each, the threads that are awake already would hold up the one that wakes the others.
#[derive(Default)]
pub(super) struct Gate(OnceLock<()>);

impl Gate {
    /// Lets all threads look for their own outcome.
    pub(super) fn open(&self) {
        // Another thread may have opened it before.
        let _ = self.0.set(());
    }
}

impl Ticket {
    pub(super) fn new(gate: Arc<Gate>) -> Ticket {
        Ticket(Arc::new(Shared { outcome: OnceLock::new(), gate, waiting: Mutex::default() }))
    }

    pub(super) fn done(result: Result<Receipt>) -> Ticket {
        let ticket = Ticket::new(Arc::default());
        ticket.settle(result, None);
        ticket
    }

    /// Waits until the commit is durable or has failed.
    pub fn wait(&self) -> Result<Receipt> {
        if self.0.outcome.get().is_none() {
            self.0.gate.0.wait();
        }
        // A transaction that goes with a later batch than most at its gate is told by itself.
        copy(&self.0.outcome.wait().result)
    }

    /// The outcome, if it is known already.
    pub fn poll(&self) -> Option<Result<Receipt>> {
        self.0.outcome.get().map(|outcome| copy(&outcome.result))
    }

    /// Calls `callback` with the outcome: at once if it is known, otherwise from the committing thread, which must
    /// not be held up.
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

    /// Sets the outcome and tells it, unless that was done before.
    fn settle(&self, result: Result<Receipt>, spent: Option<Box<Work>>) {
        if self.0.outcome.set(Outcome { result, _spent: spent }).is_err() {
            return;
        }
        // Order: the outcome is set before this lock. A callback or task is in the list now, or sees the outcome later.
        let waiting = std::mem::take(&mut *self.lock());
        for waiting in waiting {
            let Some(result) = self.poll() else { break };
            // A caller's panic must not end the thread that commits for everybody. It was printed when it happened.
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

/// The duty to tell an outcome. Whoever waits is told even if a thread that commits has panicked.
pub(super) struct Promise(Ticket);

impl Promise {
    pub(super) fn new(ticket: &Ticket) -> Promise {
        Promise(ticket.clone())
    }

    pub(super) fn gate(&self) -> &Arc<Gate> {
        &self.0.0.gate
    }

    /// Sets the outcome and hands back what was committed. The threads at the gate learn of it when the gate is opened.
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
