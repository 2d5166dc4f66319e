//! What a commit hands back: a ticket to wait on, and at the end a receipt.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use crate::model::Instant;
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
#[derive(Clone)]
pub struct Ticket(Arc<Shared>);

struct Shared {
    state: Mutex<State>,
    is_done: Condvar,
}

enum State {
    Waiting(Vec<Callback>),
    Done(Result<Receipt>),
}

type Callback = Box<dyn FnOnce(Result<Receipt>) + Send>;

impl Ticket {
    pub(crate) fn new() -> Ticket {
        Ticket(Arc::new(Shared { state: Mutex::new(State::Waiting(Vec::new())), is_done: Condvar::new() }))
    }

    pub(crate) fn done(result: Result<Receipt>) -> Ticket {
        let ticket = Ticket::new();
        ticket.complete(result);
        ticket
    }

    /// Waits until the commit is durable or has failed.
    pub fn wait(&self) -> Result<Receipt> {
        let mut state = self.0.state.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let State::Done(result) = &*state {
                return copy(result);
            }
            state = self.0.is_done.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// The outcome, if it is known already.
    pub fn poll(&self) -> Option<Result<Receipt>> {
        match &*self.0.state.lock().unwrap_or_else(PoisonError::into_inner) {
            State::Done(result) => Some(copy(result)),
            State::Waiting(_) => None,
        }
    }

    /// Calls `callback` with the outcome: at once if it is known, otherwise from the committing thread, which must
    /// not be held up. This is how an async runtime waits without a thread.
    pub fn on_done(&self, callback: impl FnOnce(Result<Receipt>) + Send + 'static) {
        let mut state = self.0.state.lock().unwrap_or_else(PoisonError::into_inner);
        match &mut *state {
            State::Waiting(callbacks) => callbacks.push(Box::new(callback)),
            State::Done(result) => {
                let result = copy(result);
                drop(state);
                callback(result);
            }
        }
    }

    pub(crate) fn complete(&self, result: Result<Receipt>) {
        let mut state = self.0.state.lock().unwrap_or_else(PoisonError::into_inner);
        let State::Waiting(callbacks) = &mut *state else { return };
        let callbacks = std::mem::take(callbacks);
        let outcome = copy(&result);
        *state = State::Done(result);
        drop(state);
        self.0.is_done.notify_all();
        for callback in callbacks {
            // A caller's panic must not end the thread that commits for everybody. It was printed when it happened.
            let _ = catch_unwind(AssertUnwindSafe(|| callback(copy(&outcome))));
        }
    }
}

fn copy(result: &Result<Receipt>) -> Result<Receipt> {
    match result {
        Ok(receipt) => Ok(*receipt),
        Err(error) => Err(error.duplicate()),
    }
}
