//! Shared syncs in many orders of the steps of their threads.

use shuttle::thread;

use super::*;
use crate::sync::atomic::{AtomicUsize, Ordering};
use crate::sync::in_many_orders;

const NAMES: usize = 3;

/// Names in a folder, as numbers of bits.
#[derive(Default)]
struct Folder {
    syncs: FolderSyncs,
    given: AtomicUsize,
    durable: AtomicUsize,
}

#[test]
fn a_name_is_durable_when_its_thread_has_synced() {
    in_many_orders(|| {
        let folder = Arc::new(Folder::default());
        let threads: Vec<_> = (0..NAMES)
            .map(|name| {
                let folder = Arc::clone(&folder);
                thread::spawn(move || {
                    folder.given.fetch_or(1 << name, Ordering::SeqCst);
                    let synced = folder.syncs.sync(|| {
                        // A sync takes the names that are there when it begins.
                        let names = folder.given.load(Ordering::SeqCst);
                        thread::yield_now();
                        folder.durable.fetch_or(names, Ordering::SeqCst);
                        Ok(())
                    });
                    assert!(synced.is_ok());
                    assert_ne!(folder.durable.load(Ordering::SeqCst) & 1 << name, 0);
                })
            })
            .collect();
        for thread in threads {
            thread.join().unwrap();
        }
    });
}
