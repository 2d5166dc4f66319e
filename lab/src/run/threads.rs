//! Starts threads together: each first makes what it needs, and all have one start, which is taken when all are ready.

use std::sync::RwLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::outcome::Outcome;

/// Enough for every operation, and small enough for thousands of threads. Units: bytes.
const STACK_BYTES: usize = 256 << 10;

/// How often the start checks whether all threads are ready.
const LOOK_INTERVAL: Duration = Duration::from_millis(1);

/// Runs `make` and, after the start of all, `work` on each thread; returns the results by the numbers of the threads.
///
/// Errors: the first one of any thread. If `make` fails on one thread, no thread works.
pub fn start_together<S, T: Send>(
    threads: usize,
    make: impl Fn(usize) -> Outcome<S> + Sync,
    work: impl Fn(usize, S, Instant) -> Outcome<T> + Sync,
) -> Outcome<Vec<T>> {
    // The start; none if a thread is not ready. One unlock releases all readers together. A barrier would release them one
    // after the other, each when it gets the processor: for thousands of threads that takes seconds.
    let start_line: RwLock<Option<Instant>> = RwLock::new(None);
    let (ready, has_failed) = (AtomicUsize::new(0), AtomicBool::new(false));
    let run = |thread| -> Result<Option<T>, String> {
        let made = make(thread).map_err(|error| error.to_string());
        has_failed.fetch_or(made.is_err(), Ordering::Relaxed);
        ready.fetch_add(1, Ordering::Release);
        let start = *start_line.read().expect("no thread panics while it holds the line");
        let made = made?;
        match start {
            Some(start) => work(thread, made, start).map(Some).map_err(|error| error.to_string()),
            None => Ok(None),
        }
    };
    let ended: Vec<Result<Option<T>, String>> = std::thread::scope(|scope| {
        let run = &run;
        let spawn = |thread| {
            let builder = std::thread::Builder::new().stack_size(STACK_BYTES);
            builder.spawn_scoped(scope, move || run(thread)).expect("the system gives a thread")
        };
        let mut closed = start_line.write().expect("no thread panics while it holds the line");
        let handles: Vec<_> = (0..threads).map(spawn).collect();
        while ready.load(Ordering::Acquire) < threads {
            std::thread::sleep(LOOK_INTERVAL);
        }
        *closed = (!has_failed.load(Ordering::Relaxed)).then(Instant::now);
        drop(closed);
        handles.into_iter().map(|handle| handle.join().expect("no thread panics")).collect()
    });
    let results = ended.into_iter().collect::<Result<Vec<Option<T>>, String>>()?;
    Ok(results.into_iter().flatten().collect())
}

/// Runs `work` on each thread, with its number; returns the results by number, and the time from the first start to the
/// last end.
///
/// Errors: the first one of any thread.
pub fn together<T: Send>(
    threads: usize,
    work: impl Fn(usize) -> Outcome<T> + Sync,
) -> Outcome<(Vec<T>, Duration)> {
    // The threads read the clock themselves: on a busy machine the waiting thread would read it late.
    let timed = |thread, (), _| {
        let start = Instant::now();
        Ok((start, work(thread)?, Instant::now()))
    };
    let ended = start_together(threads, |_| Ok(()), timed)?;
    let first = ended.iter().map(|(start, ..)| *start).min().ok_or("no threads")?;
    let last = ended.iter().map(|(.., end)| *end).max().ok_or("no threads")?;
    Ok((ended.into_iter().map(|(_, result, _)| result).collect(), last - first))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_threads_have_one_start_after_the_last_of_them_was_ready() {
        let make = |thread: usize| {
            std::thread::sleep(Duration::from_millis(20 * thread as u64));
            Ok(Instant::now())
        };
        let found = start_together(4, make, |_, ready, start| Ok((ready, start))).unwrap();
        let (_, start) = found[0];
        assert_eq!(found.len(), 4);
        assert!(found.iter().all(|(ready, own)| *own == start && *ready <= start), "{found:?}");
    }

    #[test]
    fn no_thread_works_if_one_is_not_ready() {
        let make = |thread: usize| if thread == 1 { Err("not ready".into()) } else { Ok(()) };
        let error = start_together(3, make, |_, (), _| -> Outcome<()> { Err("worked".into()) }).unwrap_err();
        assert_eq!(error.to_string(), "not ready");
    }
}
