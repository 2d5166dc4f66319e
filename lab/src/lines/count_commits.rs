//! Counts repeated work of many threads, while all of them are working.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use crate::latencies::Latencies;
use crate::outcome::Outcome;
use crate::run::together;

/// Initial capacity for the latencies of all threads together.
const LATENCIES_ROOM: usize = 500_000;

/// Commits of several threads while all of them were working, with latencies.
pub struct Commits {
    pub count: u64,
    pub elapsed: Duration,
    pub latencies: Latencies,
    /// All commits, including those before the counted time.
    pub made: u64,
}

/// Lets each thread repeat `work` for `length`. Each thread has its own state.
///
/// Work that begins in the first part, a quarter of `length`, is not counted: thousands of threads that begin together
/// queue for the processor, and their first turns take many times as long as a commit.
///
/// Errors: the first one of any thread.
pub fn count_commits<S: Default>(
    threads: usize,
    length: Duration,
    work: impl Fn(usize, &mut S) -> Outcome<()> + Sync,
) -> Outcome<Commits> {
    let before = length / 4;
    let first = OnceLock::new();
    let (results, elapsed) = together(threads, |thread| {
        let mut state = S::default();
        // Write to the buffer first: the system provides new memory page by page, which takes time.
        let mut own: Vec<u64> = vec![1; LATENCIES_ROOM / threads];
        own.clear();
        let mut made = 0;
        let mut start = Instant::now();
        let counted_from = *first.get_or_init(|| start) + before;
        // If a commit takes longer than all of this, one of each thread is counted.
        while start < counted_from + length || own.is_empty() {
            work(thread, &mut state)?;
            let end = Instant::now();
            made += 1;
            if start >= counted_from {
                own.push(u64::try_from((end - start).as_nanos()).unwrap_or(u64::MAX));
            }
            start = end;
        }
        Ok((own, made))
    })?;
    let mut latencies = Latencies::new()?;
    let made = results.iter().map(|(_, made)| made).sum();
    let all = results.into_iter().flat_map(|(own, _)| own);
    all.for_each(|nanos| latencies.record(Duration::from_nanos(nanos)));
    Ok(Commits { count: latencies.count(), elapsed: elapsed - before, latencies, made })
}
