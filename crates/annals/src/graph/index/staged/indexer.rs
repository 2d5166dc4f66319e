//! The thread that brings parts of a graph up to date behind those who commit.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::Builder;

use super::stage::Lagging;

/// With less, nobody is woken: whoever asks first does it. Units: bytes noted.
const LAG_WORTH: usize = 256 << 10;

/// So many changes take some hundred microseconds.
const PART_LEN: usize = 256;

thread_local! {
    // How many changes the thread has entered since it gave way; `None` for threads that somebody may be waiting for.
    static ENTERED: Cell<Option<usize>> = const { Cell::new(None) };
}

/// Calls `take` with a part of the changes at a time. Between them the thread of the index lets others have the core for whom
/// it is worth more: those who commit, and wait for it.
pub(crate) fn in_parts<T>(changes: &[T], mut take: impl FnMut(&[T])) {
    for part in changes.chunks(PART_LEN) {
        take(part);
        let Some(entered) = ENTERED.get().map(|entered| entered + part.len()) else { continue };
        if entered >= PART_LEN {
            std::thread::yield_now();
        }
        ENTERED.set(Some(entered % PART_LEN));
    }
}

/// The thread that brings the parts of a graph and its clones up to date. It is started when there is something to do, and ends
/// when the last of them is gone.
#[derive(Default)]
pub(crate) struct Indexer(Arc<Shared>);

/// The parts of one graph.
type Parts = Vec<Arc<dyn Lagging>>;

/// Parts that are behind what was applied.
pub(crate) struct Behind {
    indexer: Arc<Indexer>,
    parts: Parts,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    work: Condvar,
}

#[derive(Default)]
struct State {
    // What comes next; what was there before it is done with it.
    newest: Option<Parts>,
    is_started: bool,
    is_over: bool,
}

impl Behind {
    /// What parts lack, if there is so much that it is worth waking a thread. Units of `lag`: bytes.
    pub(crate) fn of(indexer: &Arc<Indexer>, lag: usize, parts: impl FnOnce() -> Parts) -> Option<Behind> {
        (lag >= LAG_WORTH).then(|| Behind::new(indexer, parts()))
    }

    /// These parts, whatever they lack.
    pub(crate) fn new(indexer: &Arc<Indexer>, parts: Parts) -> Behind {
        Behind { indexer: Arc::clone(indexer), parts }
    }

    /// Has them brought up to date. Best when nobody has the graph before any more: nothing is copied then.
    pub(crate) fn catch_up(self) {
        let shared = &self.indexer.0;
        let mut state = shared.state();
        state.newest = Some(self.parts);
        if !state.is_started {
            let shared = Arc::clone(shared);
            // Without a thread, whoever asks does it.
            state.is_started = Builder::new().name("annals-index".into()).spawn(move || run(&shared)).is_ok();
        }
        drop(state);
        shared.work.notify_one();
    }
}

impl Drop for Indexer {
    fn drop(&mut self) {
        self.0.state().is_over = true;
        self.0.work.notify_one();
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn run(shared: &Shared) {
    ENTERED.set(Some(0));
    let mut state = shared.state();
    while !state.is_over {
        if let Some(parts) = state.newest.take() {
            drop(state);
            for part in parts {
                // A panic was printed when it happened, and the part tells its readers. The others go on.
                let _ = catch_unwind(AssertUnwindSafe(|| part.catch_up()));
            }
            state = shared.state();
        } else {
            state = shared.work.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}
