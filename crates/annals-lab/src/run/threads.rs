//! Threads that start together.

use std::sync::Barrier;
use std::time::{Duration, Instant};

use crate::Outcome;

/// Enough for every experiment, and little enough for thousands of threads. Units: bytes.
const STACK_BYTES: usize = 256 << 10;

/// Lets each thread do `work`, which gets its number; returns what they returned, by number, and the time from the
/// first start to the last end.
///
/// Errors: the first one of any thread.
pub fn together<T: Send>(
    threads: usize,
    work: impl Fn(usize) -> Outcome<T> + Sync,
) -> Outcome<(Vec<T>, Duration)> {
    let start_line = Barrier::new(threads);
    let run = |thread| {
        start_line.wait();
        // The threads look at the clock themselves: on a busy machine whoever waits for them would be late.
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
        let handles: Vec<_> = (0..threads).map(spawn).collect();
        handles.into_iter().map(|handle| handle.join().expect("no thread panics")).collect()
    });
    let first = ended.iter().map(|(start, _, _)| *start).min().ok_or("no threads")?;
    let last = ended.iter().map(|(_, _, end)| *end).max().ok_or("no threads")?;
    let results = ended.into_iter().map(|(_, result, _)| result).collect::<Result<Vec<T>, String>>()?;
    Ok((results, last - first))
}
