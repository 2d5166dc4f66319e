//! The limit of commits: threads pass bytes to one thread that writes, syncs and wakes them.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::{JoinHandle, Thread};
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

/// The thread that writes. It ends when this is dropped.
pub struct HandOver {
    pile: Arc<(Mutex<Pile>, Condvar)>,
    writer: Option<JoinHandle<()>>,
    payload: Vec<u8>,
    is_written: Vec<Arc<AtomicBool>>,
}

impl HandOver {
    /// Starts it for so many threads, which pass `bytes` each time.
    pub fn start(path: &Path, threads: usize, bytes: usize) -> Outcome<HandOver> {
        let file = RawFile::create(path)?;
        let pile = Arc::new((Mutex::new(Pile::default()), Condvar::new()));
        let writer = {
            let pile = Arc::clone(&pile);
            std::thread::spawn(move || write_pile(&pile, file))
        };
        let is_written = (0..threads).map(|_| Arc::default()).collect();
        Ok(HandOver { pile, writer: Some(writer), payload: vec![7; bytes], is_written })
    }

    /// Passes the bytes of the thread with this number, and returns when they are on the disk.
    pub fn pass(&self, thread: usize) -> Outcome<()> {
        let is_written = &self.is_written[thread];
        is_written.store(false, Ordering::SeqCst);
        let mut guard = self.pile.0.lock().expect("no panics while locked");
        if let Some(error) = &guard.failed {
            return Err(error.clone().into());
        }
        guard.bytes.extend_from_slice(&self.payload);
        guard.waiting.push((Arc::clone(is_written), std::thread::current()));
        drop(guard);
        self.pile.1.notify_one();
        while !is_written.load(Ordering::SeqCst) {
            std::thread::park();
        }
        Ok(())
    }
}

impl Drop for HandOver {
    fn drop(&mut self) {
        self.pile.0.lock().expect("no panics while locked").is_over = true;
        self.pile.1.notify_one();
        if let Some(writer) = self.writer.take() {
            writer.join().expect("the writer ends");
        }
    }
}

/// Threads that repeatedly pass `bytes` for `length`.
pub fn hand_over(path: &Path, threads: usize, bytes: usize, length: Duration) -> Outcome<Commits> {
    let hand_over = HandOver::start(path, threads, bytes)?;
    count_commits(threads, length, |thread, (): &mut ()| hand_over.pass(thread))
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
