//! Publishes graphs; a separate thread updates their indexes.
//!
//! The committing thread publishes a graph whose indexes lack the latest commits; a search reads these directly. The
//! index thread takes all missing events together, so the cost per event falls when there are many.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::graph::Graph;
use crate::graph::indexed::Indexed;
use crate::graph::put::EventBatch;
use crate::sync::{ArcSwap, Condvar, Mutex, MutexGuard};
use crate::{Error, ErrorKind, Result};

/// The index thread waits for this many events, or for [`PAUSE`].
const EVENTS_WORTH: usize = 1_024;
const PAUSE: Duration = Duration::from_millis(5);
/// Indexes of a checkpoint that nobody has asked for are made after this pause: a command that reads or writes little has
/// ended by then.
const LATE_PAUSE: Duration = Duration::from_millis(100);
/// The committing thread waits while more events than these wait for the index thread.
const TAIL_EVENTS_MAX: usize = 16_384;
/// The same, in bytes. Units: bytes of records.
const TAIL_BYTES_MAX: usize = 32 << 20;

/// The published graph, and the work of the index thread.
pub(crate) struct Publisher {
    published: ArcSwap<Indexed>,
    state: Mutex<State>,
    // The index thread waits here for events.
    work: Condvar,
    // The committing thread waits here until the index thread takes events.
    taken: Condvar,
}

#[derive(Default)]
struct State {
    /// The events that the index thread takes at present.
    taking: Tail,
    /// How often the published graph was replaced by another one than the next batch makes.
    replaced: u64,
    is_closing: bool,
    /// True after the index thread has failed: the indexes take no more events.
    is_lost: bool,
    /// True while a test holds the indexes back.
    is_held: bool,
}

/// The size of a tail.
#[derive(Clone, Copy, Default)]
struct Tail {
    events: usize,
    /// Units: bytes of records.
    bytes: usize,
}

impl Tail {
    fn of(indexed: &Indexed) -> Tail {
        Tail { events: indexed.tail_len(), bytes: indexed.tail_bytes() }
    }
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

    /// Starts a thread that updates indexes after commits.
    pub(crate) fn start(publisher: Arc<Publisher>) -> Result<JoinHandle<()>> {
        std::thread::Builder::new()
            .name("annals-index".into())
            .spawn(move || publisher.run())
            .map_err(|source| Error::io("start the thread annals-index", source))
    }

    /// The published graph.
    pub(crate) fn load(&self) -> Arc<Indexed> {
        self.published.load_full()
    }

    /// Publishes the graph after a batch. Shape: the graph published before.
    pub(crate) fn publish(&self, graph: Graph, batch: EventBatch) -> Arc<Indexed> {
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

    /// Waits while too many events wait for the index thread. Those that it takes at present do not count: a commit
    /// after a huge one then waits only until the thread has begun with the huge one.
    ///
    /// Errors: `Unavailable` if they take no more events.
    pub(crate) fn wait_for_room(&self) -> Result<()> {
        let mut state = self.state();
        loop {
            if state.is_lost {
                return Err(Error::new(
                    ErrorKind::Unavailable,
                    "the indexes are lost: their thread failed; writes are refused until the repository is reopened",
                ));
            }
            if !self.is_full(&state) || state.is_closing || state.is_held {
                return Ok(());
            }
            state = self.taken.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn is_full(&self, state: &State) -> bool {
        let Tail { events, bytes } = Tail::of(&self.published.load());
        // Saturates: a graph from another source lacks none of the events that are taken.
        events.saturating_sub(state.taking.events) > TAIL_EVENTS_MAX
            || bytes.saturating_sub(state.taking.bytes) > TAIL_BYTES_MAX
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

    /// True once the indexes take no more events.
    pub(crate) fn is_lost(&self) -> bool {
        self.state().is_lost
    }

    /// Updates the indexes until the repository is closed.
    pub(crate) fn run(&self) {
        while self.wait_for_work() {
            // The panic was printed already. Searches tell the error.
            let updated = catch_unwind(AssertUnwindSafe(|| self.update_tail()));
            if !matches!(updated, Ok(Ok(()))) {
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
            let (lag, are_late) = match self.published.load() {
                _ if state.is_held => (0, false),
                published => (published.tail_len(), !published.indexes.are_made()),
            };
            if lag >= EVENTS_WORTH || (lag > 0 || are_late) && has_paused {
                return true;
            }
            if lag == 0 && !are_late {
                state = self.work.wait(state).unwrap_or_else(PoisonError::into_inner);
            } else {
                let pause = if are_late { LATE_PAUSE } else { PAUSE };
                let (waited, end) =
                    self.work.wait_timeout(state, pause).unwrap_or_else(PoisonError::into_inner);
                state = waited;
                has_paused = !are_late || end.timed_out();
            }
        }
    }

    /// Makes the indexes if they are not, lets them take the missing events, and publishes them, unless the published
    /// graph was replaced meanwhile.
    ///
    /// Errors: the indexes of a checkpoint are damaged.
    fn update_tail(&self) -> Result<()> {
        let (taken, replaced) = self.begin_taking();
        taken.graph.entities.make_derived();
        taken.graph.relationships.make_derived();
        taken.indexes.made()?;
        let indexes = Arc::new(taken.settled_indexes()?);
        let mut state = self.state();
        state.taking = Tail::default();
        let before = (state.replaced == replaced).then(|| {
            let next = self.published.load().with_indexes(indexes, &taken);
            self.published.swap(Arc::new(next))
        });
        drop(state);
        drop(before);
        self.taken.notify_all();
        Ok(())
    }

    /// Shape: the graph whose missing events the indexes take from now on, and the number of replacements before it.
    fn begin_taking(&self) -> (Arc<Indexed>, u64) {
        let mut state = self.state();
        let taken = self.published.load_full();
        state.taking = Tail::of(&taken);
        self.taken.notify_all();
        (taken, state.replaced)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(all(test, shuttle))]
mod shuttle_tests;

#[cfg(all(test, not(shuttle)))]
mod tests {
    use super::*;
    use crate::Position;

    #[test]
    fn commits_wait_for_a_huge_one_until_the_index_thread_has_begun_with_it() {
        let graph_at = |position| Graph { position: Position(position), ..Graph::with_spill(None) };
        let huge = || EventBatch { events_count: 10 * TAIL_EVENTS_MAX, ..EventBatch::default() };
        let long = || EventBatch { events_count: 1, bytes: 10 * TAIL_BYTES_MAX, ..EventBatch::default() };
        for batch in [huge, long as fn() -> EventBatch] {
            let publisher = Publisher::new(Indexed::new(graph_at(0), Arc::default()));
            let is_full = || publisher.is_full(&publisher.state());
            publisher.publish(graph_at(1), batch());
            assert!(is_full());
            let _taken = publisher.begin_taking();
            assert!(!is_full());
            publisher.publish(graph_at(2), batch());
            assert!(is_full(), "the second huge one waits for the index thread");
            assert!(publisher.update_tail().is_ok());
            assert!(!is_full());
        }
    }
}
