//! The limit of commits: threads pass bytes to one thread that writes, syncs and wakes them.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::Thread;
use std::time::Duration;

use super::count_commits::{Commits, count_commits};
use crate::outcome::Outcome;
use crate::run::RawFile;

/// The bytes to write, and the threads that wait for them.
#[derive(Default)]
struct Pile {
    bytes: Vec<u8>,
    waiting: Vec<(Arc<AtomicBool>, Thread)>,
    is_over: bool,
    failed: Option<String>,
}

/// Threads that repeatedly pass `bytes` for `length`.
pub fn hand_over(path: &Path, threads: usize, bytes: usize, length: Duration) -> Outcome<Commits> {
    let file = RawFile::create(path)?;
    let pile = Arc::new((Mutex::new(Pile::default()), Condvar::new()));
    let writer = {
        let pile = Arc::clone(&pile);
        std::thread::spawn(move || write_pile(&pile, file))
    };
    let payload = vec![7u8; bytes];
    let is_written: Vec<Arc<AtomicBool>> = (0..threads).map(|_| Arc::default()).collect();
    let commits = count_commits(threads, length, |thread, (): &mut ()| {
        let is_written = &is_written[thread];
        is_written.store(false, Ordering::SeqCst);
        let mut guard = pile.0.lock().expect("no panics while locked");
        if let Some(error) = &guard.failed {
            return Err(error.clone().into());
        }
        guard.bytes.extend_from_slice(&payload);
        guard.waiting.push((Arc::clone(is_written), std::thread::current()));
        drop(guard);
        pile.1.notify_one();
        while !is_written.load(Ordering::SeqCst) {
            std::thread::park();
        }
        Ok(())
    });
    pile.0.lock().expect("no panics while locked").is_over = true;
    pile.1.notify_one();
    writer.join().expect("the writer ends");
    commits
}

fn write_pile((state, filled): &(Mutex<Pile>, Condvar), mut file: RawFile) {
    loop {
        let mut guard = state.lock().expect("no panics while locked");
        while guard.bytes.is_empty() && !guard.is_over {
            guard = filled.wait(guard).expect("no panics while locked");
        }
        if guard.bytes.is_empty() {
            return;
        }
        let bytes = std::mem::take(&mut guard.bytes);
        let waiting = std::mem::take(&mut guard.waiting);
        drop(guard);
        if let Err(error) = file.append(&bytes) {
            state.lock().expect("no panics while locked").failed = Some(error.to_string());
        }
        for (is_written, thread) in waiting {
            is_written.store(true, Ordering::SeqCst);
            thread.unpark();
        }
    }
}
