//! Which sync serves which thread.

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
    assert!(outcomes.iter().all(|outcome| outcome.as_ref().unwrap_err().raw_os_error() == Some(NO_SPACE)));
}

#[test]
fn after_a_panic_in_a_sync_the_next_call_does_its_own() {
    let syncs = FolderSyncs::default();
    let sync = || syncs.sync(|| panic!("the disk is code of a test"));
    assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(sync)).is_err());
    assert!(syncs.sync(|| Ok(())).is_ok());
}
