//! The thread that brings parts of a graph up to date behind those who commit.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::Builder;

use super::stage::Lagging;

/// With less, nobody is woken: whoever asks first does it. Tests wake the thread for anything. Units: bytes noted.
const LAG_WORTH: usize = if cfg!(test) { 1 } else { 256 << 10 };

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
    /// What these parts lack, if it is worth waking a thread.
    pub(crate) fn of(indexer: &Arc<Indexer>, parts: Parts) -> Option<Behind> {
        let lag: usize = parts.iter().map(|part| part.lag()).sum();
        (lag >= LAG_WORTH).then(|| Behind { indexer: Arc::clone(indexer), parts })
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
    let mut state = shared.state();
    while !state.is_over {
        if let Some(parts) = state.newest.take() {
            drop(state);
            parts.into_iter().for_each(|part| part.catch_up());
            state = shared.state();
        } else {
            state = shared.work.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}
