//! Counts what many threads do again and again, while all of them are at it.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use crate::outcome::Outcome;
use crate::run::{Latencies, together};

/// Latencies that all threads together have room for at first.
const LATENCIES_ROOM: usize = 500_000;

/// Commits of several threads while all of them were at it, and how long each took.
pub struct Commits {
    pub count: u64,
    pub elapsed: Duration,
    pub latencies: Latencies,
    /// With those before that, which are not counted.
    pub made: u64,
}

/// Lets each thread do `work` again and again for `length`. Each has a state of its own.
///
/// What begins in a quarter of `length` before that is not counted: thousands that begin at once queue for the processor, and
/// some of them wait for their first turn for many times what a commit takes.
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
        // Room that was written before: the system hands out memory that is new page by page, and that takes its time.
        let mut own: Vec<u64> = vec![1; LATENCIES_ROOM / threads];
        own.clear();
        let mut made = 0;
        let mut start = Instant::now();
        let counted_from = *first.get_or_init(|| start) + before;
        // Where a commit takes longer than all that, one of each thread is counted.
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
