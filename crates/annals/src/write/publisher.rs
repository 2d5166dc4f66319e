//! Publishes graphs; a separate thread updates their indexes.
//!
//! The committing thread publishes a graph whose indexes lack the latest commits; a search reads these directly. The
//! index thread takes all missing events together, so the cost per event falls when there are many.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use crate::graph::Graph;
use crate::graph::indexed::Indexed;
use crate::graph::put::Batch;
use crate::sync::{ArcSwap, Condvar, Mutex, MutexGuard};
use crate::{Error, ErrorKind, Result};

/// The index thread waits for this many events, or for [`PAUSE`].
const EVENTS_WORTH: usize = 1_024;
const PAUSE: Duration = Duration::from_millis(5);
/// The committing thread waits while the indexes lack more events.
const TAIL_EVENTS_MAX: usize = 16_384;
/// The same, in bytes. Units: bytes of records.
const TAIL_BYTES_MAX: usize = 32 << 20;

/// The published graph, and the work of the index thread.
pub(crate) struct Publisher {
    published: ArcSwap<Indexed>,
    state: Mutex<State>,
    // The index thread waits here for events.
    work: Condvar,
    // The committing thread waits here until the index thread has taken events.
    taken: Condvar,
}

#[derive(Default)]
struct State {
    /// How often the published graph was replaced by another one than the next batch makes.
    replaced: u64,
    is_closing: bool,
    /// True after the index thread has panicked: the indexes take no more events.
    is_lost: bool,
    /// True while a test holds the indexes back.
    is_held: bool,
}

impl Publisher {
    pub(crate) fn new(indexed: Indexed) -> Publisher {
        Publisher {
            published: ArcSwap::new(Arc::new(indexed)),
            state: Mutex::default(),
            work: Condvar::new(),
            taken: Condvar::new(),
        }
    }

    /// The published graph.
    pub(crate) fn load(&self) -> Arc<Indexed> {
        self.published.load_full()
    }

    /// Publishes the graph after a batch. Shape: the graph published before.
    pub(crate) fn publish(&self, graph: Graph, batch: Batch) -> Arc<Indexed> {
        // Order: the index thread also publishes, and it compares with the published graph under the same lock.
        let _state = self.state();
        let next = self.published.load().with(graph, Arc::new(batch));
        let (lag, lag_before) = (next.tail_len(), self.published.load().tail_len());
        let before = self.published.swap(Arc::new(next));
        let is_worth = |lag: usize| lag >= EVENTS_WORTH;
        if lag_before == 0 || is_worth(lag) && !is_worth(lag_before) {
            self.work.notify_one();
        }
        before
    }

    /// Publishes a graph from another source. Shape: the graph published before.
    pub(crate) fn replace(&self, indexed: Indexed) -> Arc<Indexed> {
        // Order: count and replace under one lock, so that no thread takes the old graph for the new one.
        let mut state = self.state();
        state.replaced += 1;
        self.published.swap(Arc::new(indexed))
    }

    /// Waits while the indexes lack too many events.
    ///
    /// Errors: `Unavailable` if they take no more events.
    pub(crate) fn wait_for_room(&self) -> Result<()> {
        let mut state = self.state();
        loop {
            if state.is_lost {
                return Err(Error::new(
                    ErrorKind::Unavailable,
                    "the indexes are lost: their thread panicked; writes are refused until the repository is reopened",
                ));
            }
            let published = self.published.load();
            let is_full = published.tail_len() > TAIL_EVENTS_MAX || published.tail_bytes() > TAIL_BYTES_MAX;
            if !is_full || state.is_closing || state.is_held {
                return Ok(());
            }
            state = self.taken.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Holds the indexes back, or releases them: for tests of searches.
    pub(crate) fn hold(&self, is_held: bool) {
        self.state().is_held = is_held;
        self.work.notify_one();
    }

    /// Ends the index thread. Searches still read missing events directly.
    pub(crate) fn close(&self) {
        self.state().is_closing = true;
        self.work.notify_one();
        self.taken.notify_all();
    }

    /// Updates the indexes until the repository is closed.
    pub(crate) fn run(&self) {
        while self.wait_for_work() {
            // The panic was printed already.
            if catch_unwind(AssertUnwindSafe(|| self.take_tail())).is_err() {
                self.state().is_lost = true;
                self.taken.notify_all();
                return;
            }
        }
    }

    /// Waits until the indexes lack enough events, or have lacked an event for long enough. False once closed.
    fn wait_for_work(&self) -> bool {
        let mut state = self.state();
        let mut has_paused = false;
        loop {
            if state.is_closing {
                return false;
            }
            let lag = if state.is_held { 0 } else { self.published.load().tail_len() };
            if lag >= EVENTS_WORTH || lag > 0 && has_paused {
                return true;
            }
            if lag == 0 {
                state = self.work.wait(state).unwrap_or_else(PoisonError::into_inner);
            } else {
                state = self.work.wait_timeout(state, PAUSE).unwrap_or_else(PoisonError::into_inner).0;
                has_paused = true;
            }
        }
    }

    /// Lets the indexes take the missing events, and publishes them, unless the published graph was replaced meanwhile.
    fn take_tail(&self) {
        let state = self.state();
        let (taken, replaced) = (self.published.load_full(), state.replaced);
        drop(state);
        let indexes = Arc::new(taken.settled_indexes());
        let state = self.state();
        if state.replaced == replaced {
            let next = self.published.load().with_indexes(indexes, &taken);
            let before = self.published.swap(Arc::new(next));
            drop(state);
            drop(before);
        }
        self.taken.notify_all();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(all(test, shuttle))]
mod shuttle_tests;
