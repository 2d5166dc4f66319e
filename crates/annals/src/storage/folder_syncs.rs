//! Syncs of a folder, each shared by the threads that wait for one at the same time.

use std::io;
use std::sync::{Arc, PoisonError};

use crate::sync::{Condvar, Mutex, MutexGuard, OnceLock};

/// The syncs of one folder.
#[derive(Default)]
pub(super) struct FolderSyncs {
    state: Mutex<State>,
    // Threads wait here until the running sync has ended.
    ended: Condvar,
}

#[derive(Default)]
struct State {
    is_running: bool,
    /// The outcome of the next sync: each thread that waits for it has a clone.
    next: Arc<OnceLock<io::Result<()>>>,
}

/// A sync that is running, until it is dropped.
struct Running<'s>(&'s FolderSyncs);

impl FolderSyncs {
    /// Makes the names durable that were given and removed before this call. Threads that call this while a sync is running
    /// share the next one, which one of them does by `sync`.
    ///
    /// Errors: those of the sync; all threads that share it get them.
    pub(super) fn sync(&self, sync: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
        let mut state = self.state();
        let own = Arc::clone(&state.next);
        // Order: not the running one. It may have begun before the name was given, and then it left the name out.
        while state.is_running {
            state = self.ended.wait(state).unwrap_or_else(PoisonError::into_inner);
            if let Some(outcome) = own.get() {
                return copy(outcome);
            }
        }
        state.is_running = true;
        state.next = Arc::default();
        drop(state);
        let running = Running(self);
        let outcome = sync();
        let told = copy(&outcome);
        let _ = own.set(outcome);
        // Order: the threads that it wakes find the outcome.
        drop(running);
        told
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        // After a panic there is no outcome: then the threads that wait for it do a sync themselves.
        self.0.state().is_running = false;
        self.0.ended.notify_all();
    }
}

fn copy(outcome: &io::Result<()>) -> io::Result<()> {
    outcome.as_ref().copied().map_err(|error| match error.raw_os_error() {
        Some(code) => io::Error::from_raw_os_error(code),
        None => io::Error::new(error.kind(), error.to_string()),
    })
}

#[cfg(all(test, shuttle))]
mod shuttle_tests;

#[cfg(all(test, not(shuttle)))]
mod tests;
