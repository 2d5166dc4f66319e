//! What a commit hands back: a ticket to wait on, and at the end a receipt.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::{Arc, PoisonError};
use std::task::{Context, Poll, Waker};

use smallvec::SmallVec;

use super::request::{Work, panicked};
use crate::model::Instant;
use crate::sync::atomic::{AtomicUsize, Ordering};
use crate::sync::thread::{self, Thread};
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
    // Set once, before anybody is woken.
    outcome: OnceLock<Outcome>,
    // Told the outcome when it is set.
    waiting: Mutex<Everybody>,
    gate: Arc<Gate>,
}

struct Outcome {
    result: Result<Receipt>,
    // What the transaction was made of goes back to the thread that made it: memory that another thread frees costs
    // several times as much.
    _spent: Option<Box<Work>>,
}

/// As a rule one: room for more would be taken by the thread that waits, and given back by the one that commits.
type Everybody = SmallVec<[Waiting; 1]>;

/// Who is told.
enum Waiting {
    Callback(Box<dyn FnOnce(Result<Receipt>) + Send>),
    /// A task.
    Waker(Waker),
    /// Came to the gate before.
    Thread(Thread),
}

/// Rows of a gate. More would wake the last row late.
const ROWS: usize = 4;
/// So many wait in one row before the next is opened. With fewer, more threads are held up by opening one, and then wait for a core
/// behind all whom they woke.
const ROW_THREADS: usize = 100;

/// Where the threads wait whose transactions will, as a rule, be told together: one system call wakes a whole row.
///
/// Whoever opens the gate wakes the first row, and each row the next: waking many takes longer than a sync, and the thread that
/// leads has better things to do. Nobody needs a lock to leave.
#[derive(Default)]
pub(super) struct Gate<const ROW: usize = ROW_THREADS> {
    rows: [OnceLock<()>; ROWS],
    came: AtomicUsize,
}

impl<const ROW: usize> Gate<ROW> {
    /// Lets everybody look whether their own outcome is there. Shape: how many have come.
    pub(super) fn open(&self) -> usize {
        self.open_row(0);
        self.came.load(Ordering::Relaxed)
    }

    fn open_row(&self, row: usize) {
        if let Some(row) = self.rows.get(row).filter(|row| row.get().is_none()) {
            // Somebody else may have opened it meanwhile.
            let _ = row.set(());
        }
    }

    /// Waits until the gate is open.
    fn pass(&self) {
        // A row fills before the next one has anybody, and all who leave it open the next: nobody is left behind.
        let row = self.came.fetch_add(1, Ordering::Relaxed) / ROW % ROWS;
        self.rows[row].wait();
        self.open_row(row + 1);
    }
}

impl Ticket {
    pub(super) fn new(gate: Arc<Gate>) -> Ticket {
        Ticket(Arc::new(Shared { outcome: OnceLock::new(), waiting: Mutex::default(), gate }))
    }

    pub(super) fn done(result: Result<Receipt>) -> Ticket {
        let ticket = Ticket::new(Arc::default());
        ticket.settle(result, None);
        ticket
    }

    /// Waits until the commit is durable or has failed.
    pub fn wait(&self) -> Result<Receipt> {
        if let Some(result) = self.poll() {
            return result;
        }
        self.0.gate.pass();
        if let Some(result) = self.poll() {
            return result;
        }
        // It goes with a later batch than most at this gate.
        self.lock().push(Waiting::Thread(thread::current()));
        loop {
            if let Some(result) = self.poll() {
                return result;
            }
            thread::park();
        }
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

    fn lock(&self) -> MutexGuard<'_, Everybody> {
        self.0.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the outcome and tells it, unless that was done before. Shape: how many callbacks and tasks were told.
    fn settle(&self, result: Result<Receipt>, spent: Option<Box<Work>>) -> usize {
        if self.0.outcome.set(Outcome { result, _spent: spent }).is_err() {
            return 0;
        }
        // Order: the outcome is set before this lock, so whoever waits is either here or sees it after this lock.
        let waiting = std::mem::take(&mut *self.lock());
        let mut count = 0;
        for waiting in waiting {
            match waiting {
                Waiting::Thread(thread) => thread.unpark(),
                Waiting::Waker(waker) => {
                    count += 1;
                    let _ = catch_unwind(AssertUnwindSafe(|| waker.wake()));
                }
                Waiting::Callback(callback) => {
                    let Some(result) = self.poll() else { break };
                    count += 1;
                    // A caller's panic must not end the thread that commits for everybody. It was printed when it happened.
                    let _ = catch_unwind(AssertUnwindSafe(|| callback(result)));
                }
            }
        }
        count
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

    /// Tells the outcome and hands back what was committed. Whoever waits is woken by opening the gate, once for many. Shape:
    /// how many were called back.
    pub(super) fn keep(self, result: Result<Receipt>, spent: Box<Work>) -> usize {
        self.0.settle(result, Some(spent))
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
