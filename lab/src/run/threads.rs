//! Threads that start together.

use std::sync::RwLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::outcome::Outcome;

/// Enough for every experiment, and small enough for thousands of threads. Units: bytes.
const STACK_BYTES: usize = 256 << 10;

/// How often the start checks whether all threads are ready.
const LOOK_INTERVAL: Duration = Duration::from_millis(1);

/// Runs `work` on each thread, with its number; returns the results by number, and the time from the first start to the
/// last end.
///
/// Errors: the first one of any thread.
pub fn together<T: Send>(
    threads: usize,
    work: impl Fn(usize) -> Outcome<T> + Sync,
) -> Outcome<(Vec<T>, Duration)> {
    // One unlock releases all readers together. A barrier would release them one after the other, each when it gets the
    // processor: for thousands of threads that takes seconds.
    let start_line = RwLock::new(());
    let there = AtomicUsize::new(0);
    let run = |thread| {
        there.fetch_add(1, Ordering::Relaxed);
        drop(start_line.read());
        // The threads read the clock themselves: on a busy machine the waiting thread would read it late.
        let start = Instant::now();
        let result = work(thread).map_err(|error| error.to_string());
        (start, result, Instant::now())
    };
    let ended: Vec<(Instant, Result<T, String>, Instant)> = std::thread::scope(|scope| {
        let run = &run;
        let spawn = |thread| {
            let builder = std::thread::Builder::new().stack_size(STACK_BYTES);
            builder.spawn_scoped(scope, move || run(thread)).expect("the system gives a thread")
        };
        let closed = start_line.write();
        let handles: Vec<_> = (0..threads).map(spawn).collect();
        while there.load(Ordering::Relaxed) < threads {
            std::thread::sleep(LOOK_INTERVAL);
        }
        drop(closed);
        handles.into_iter().map(|handle| handle.join().expect("no thread panics")).collect()
    });
    let first = ended.iter().map(|(start, _, _)| *start).min().ok_or("no threads")?;
    let last = ended.iter().map(|(_, _, end)| *end).max().ok_or("no threads")?;
    let results = ended.into_iter().map(|(_, result, _)| result).collect::<Result<Vec<T>, String>>()?;
    Ok((results, last - first))
}
