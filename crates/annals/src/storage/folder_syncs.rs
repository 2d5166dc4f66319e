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
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc::channel;

    use super::*;

    const THREADS: usize = 8;

    /// One thread does a sync, and meanwhile others ask for one. Shape: how many there were, and the outcomes of the others.
    fn ask_during_a_sync(next: fn() -> io::Result<()>) -> (usize, Vec<io::Result<()>>) {
        let (syncs, count) = (FolderSyncs::default(), AtomicUsize::new(0));
        let ((begun, has_begun), (end, may_end)) = (channel(), channel::<()>());
        let sync = || {
            count.fetch_add(1, Ordering::Relaxed);
            next()
        };
        let outcomes = std::thread::scope(|scope| {
            let first = scope.spawn(|| {
                syncs.sync(move || {
                    begun.send(()).unwrap();
                    may_end.recv().unwrap();
                    Ok(())
                })
            });
            has_begun.recv().unwrap();
            let others: Vec<_> = (0..THREADS).map(|_| scope.spawn(|| syncs.sync(sync))).collect();
            while Arc::strong_count(&syncs.state().next) < 1 + THREADS {
                std::thread::yield_now();
            }
            assert!(others.iter().all(|other| !other.is_finished()), "the running sync may lack their names");
            end.send(()).unwrap();
            assert!(first.join().unwrap().is_ok());
            others.into_iter().map(|other| other.join().unwrap()).collect()
        });
        (count.into_inner(), outcomes)
    }

    #[test]
    fn threads_that_wait_for_the_running_sync_share_the_next_one() {
        let (count, outcomes) = ask_during_a_sync(|| Ok(()));
        assert_eq!((count, outcomes.len()), (1, THREADS));
        assert!(outcomes.iter().all(Result::is_ok));
    }

    #[test]
    fn a_sync_that_fails_fails_for_all_that_share_it() {
        const NO_SPACE: i32 = 28;
        let (count, outcomes) = ask_during_a_sync(|| Err(io::Error::from_raw_os_error(NO_SPACE)));
        assert_eq!(count, 1);
        assert!(
            outcomes.iter().all(|outcome| outcome.as_ref().unwrap_err().raw_os_error() == Some(NO_SPACE))
        );
    }

    #[test]
    fn after_a_panic_in_a_sync_the_next_call_does_its_own() {
        let syncs = FolderSyncs::default();
        let sync = || syncs.sync(|| panic!("the disk is code of a test"));
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(sync)).is_err());
        assert!(syncs.sync(|| Ok(())).is_ok());
    }
}
