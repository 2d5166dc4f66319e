//! Publishes graphs, and brings their indexes up to date on a thread of its own.
//!
//! Whoever commits publishes a graph with indexes that lack what was committed last; a search looks at that itself. The thread
//! takes all that is lacking at once, so that the more there is, the less each part of it costs.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use crate::graph::Graph;
use crate::graph::indexed::Indexed;
use crate::graph::put::Batch;
use crate::sync::{ArcSwap, Condvar, Mutex, MutexGuard};
use crate::{Error, ErrorKind, Result};

/// The thread takes so many events at once; fewer, once they have waited for [`PAUSE`].
const EVENTS_WORTH: usize = 1_024;
const PAUSE: Duration = Duration::from_millis(5);
/// Whoever commits waits while the indexes lack more.
const TAIL_EVENTS_MAX: usize = 16_384;
/// The same. Units: bytes of records.
const TAIL_BYTES_MAX: usize = 32 << 20;

/// What is published, and what the thread of the indexes has to do.
pub(crate) struct Publisher {
    published: ArcSwap<Indexed>,
    state: Mutex<State>,
    // The thread of the indexes waits here for something to take.
    work: Condvar,
    // Whoever commits waits here until it has taken something.
    taken: Condvar,
}

#[derive(Default)]
struct State {
    /// How often what is published was replaced by something else than what a batch makes of it.
    replaced: u64,
    is_closing: bool,
    /// True once the thread has panicked: no index takes anything any more.
    is_lost: bool,
    /// True while a test wants the indexes to stay behind.
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

    /// What is published.
    pub(crate) fn load(&self) -> Arc<Indexed> {
        self.published.load_full()
    }

    /// Publishes what a batch makes of what is published. Shape: what was published before.
    pub(crate) fn publish(&self, graph: Graph, batch: Batch) -> Arc<Indexed> {
        // Order: the thread of the indexes publishes, too, and looks at what is published under the same lock.
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

    /// Publishes something else. Shape: what was published before.
    pub(crate) fn replace(&self, indexed: Indexed) -> Arc<Indexed> {
        // Order: counted and replaced under one lock, so that nobody takes what was there for what replaces it.
        let mut state = self.state();
        state.replaced += 1;
        self.published.swap(Arc::new(indexed))
    }

    /// Waits while the indexes lack more than they may.
    ///
    /// Errors: `Unavailable` if they take nothing any more.
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

    /// From now on the indexes stay behind, or do not any more: for tests of searches.
    pub(crate) fn hold(&self, is_held: bool) {
        self.state().is_held = is_held;
        self.work.notify_one();
    }

    /// Ends the thread of the indexes. What they lack, searches go on looking at themselves.
    pub(crate) fn close(&self) {
        self.state().is_closing = true;
        self.work.notify_one();
        self.taken.notify_all();
    }

    /// Brings the indexes up to date until the repository is closed.
    pub(crate) fn run(&self) {
        while self.wait_for_work() {
            // The panic is printed when it happens.
            if catch_unwind(AssertUnwindSafe(|| self.take_tail())).is_err() {
                self.state().is_lost = true;
                self.taken.notify_all();
                return;
            }
        }
    }

    /// Waits until the indexes lack enough, or have lacked something long enough. False once closed.
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

    /// Has the indexes take what they lack, and publishes them, unless what is published goes on from something else by then.
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
