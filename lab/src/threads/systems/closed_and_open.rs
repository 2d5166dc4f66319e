//! The loops of this program's systems: closed, and open with due times. ADAPTERS.md describes both.

use std::time::{Duration, Instant};

use super::request::Loop;
use crate::latencies::encode;
use crate::outcome::Outcome;
use crate::run::start_together;
use crate::threads::answer::LoopAnswer;

const TICK: Duration = Duration::from_millis(100);
/// An operation that begins later than this after its due time is late.
const LATE: Duration = Duration::from_millis(1);

/// The result of one thread.
struct Done<S> {
    state: S,
    /// Units: nanoseconds.
    latencies: Vec<u64>,
    ticks: Vec<u64>,
    late: u64,
    dropped: u64,
    /// From the common start to the end of the last turn.
    last_end: Duration,
}

/// Repeats `work` on each thread, with what `make` has made before the start; it returns what one turn of it counts as. A
/// turn that counts as nothing has nothing to do, and ends its thread. Returns the states of the threads, too.
///
/// Errors: the first one of any thread.
pub fn repeat<S: Send>(
    wanted: Loop,
    make: impl Fn(usize) -> Outcome<S> + Sync,
    work: impl Fn(usize, &mut S) -> Outcome<u64> + Sync,
) -> Outcome<(LoopAnswer, Vec<S>)> {
    let Loop { threads, seconds, rate } = wanted;
    if threads == 0
        || !(0.0..=3_600.0).contains(&seconds)
        || rate.is_some_and(|rate| rate.is_nan() || rate <= 0.0)
    {
        return Err(format!("expected threads, at most an hour and a positive rate, found {wanted:?}").into());
    }
    let length = Duration::from_secs_f64(seconds);
    let done = start_together(threads, make, |thread, state, start| {
        let done = Done::new(state);
        match rate {
            None => closed(done, start, length, |state| work(thread, state)),
            Some(rate) => {
                let first = Duration::from_secs_f64(thread as f64 / rate);
                let interval = Duration::from_secs_f64(threads as f64 / rate);
                open(done, start, length, (first, interval), |state| work(thread, state))
            }
        }
    })?;
    let mut answer = LoopAnswer::default();
    let mut states = Vec::with_capacity(threads);
    let mut latencies = Vec::new();
    let mut last_end = Duration::ZERO;
    for done in done {
        states.push(done.state);
        latencies.push(done.latencies);
        last_end = last_end.max(done.last_end);
        answer.ticks.resize(answer.ticks.len().max(done.ticks.len()), 0);
        answer.ticks.iter_mut().zip(&done.ticks).for_each(|(all, own)| *all += own);
        answer.late += done.late;
        answer.dropped += done.dropped;
    }
    answer.seconds = last_end.as_secs_f64();
    answer.operations = answer.ticks.iter().sum();
    answer.histogram = Some(encode(latencies.into_iter().flatten())?);
    Ok((answer, states))
}

impl<S> Done<S> {
    fn new(state: S) -> Done<S> {
        let (latencies, ticks) = (Vec::new(), Vec::new());
        Done { state, latencies, ticks, late: 0, dropped: 0, last_end: Duration::ZERO }
    }

    fn count(&mut self, since_start: Duration, latency: Duration, operations: u64) {
        let tick = (since_start.as_nanos() / TICK.as_nanos()) as usize;
        if self.ticks.len() <= tick {
            self.ticks.resize(tick + 1, 0);
        }
        self.ticks[tick] += operations;
        self.last_end = since_start;
        self.latencies.push(u64::try_from(latency.as_nanos()).unwrap_or(u64::MAX));
    }
}

/// Begins the next turn as soon as the last one has ended, and at least one, also on a thread that the machine has started
/// after the end.
fn closed<S>(
    mut done: Done<S>,
    start: Instant,
    length: Duration,
    mut work: impl FnMut(&mut S) -> Outcome<u64>,
) -> Outcome<Done<S>> {
    let mut before = Instant::now();
    loop {
        let operations = work(&mut done.state)?;
        if operations == 0 {
            break;
        }
        let now = Instant::now();
        done.count(now - start, now - before, operations);
        before = now;
        if before - start >= length {
            break;
        }
    }
    Ok(done)
}

/// Begins each turn when it is due, or at once if it is late. Latencies count from the due time. The turns of a thread are
/// due from `first` on, in steps of `interval`.
fn open<S>(
    mut done: Done<S>,
    start: Instant,
    length: Duration,
    (first, interval): (Duration, Duration),
    mut work: impl FnMut(&mut S) -> Outcome<u64>,
) -> Outcome<Done<S>> {
    let mut due = first;
    while due < length {
        let now = start.elapsed();
        if now >= length {
            done.dropped += 1;
        } else {
            std::thread::sleep(due.saturating_sub(now));
            done.late += u64::from(start.elapsed() > due + LATE);
            let operations = work(&mut done.state)?;
            if operations == 0 {
                break;
            }
            let end = start.elapsed();
            done.count(end, end - due, operations);
        }
        due += interval;
    }
    Ok(done)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    #[test]
    fn a_closed_loop_counts_every_turn_once() {
        let turns = AtomicU64::new(0);
        let wanted = Loop { threads: 3, seconds: 0.25, rate: None };
        let (answer, states) = repeat(
            wanted,
            |_| Ok(0),
            |_, own: &mut u64| {
                turns.fetch_add(1, Ordering::Relaxed);
                *own += 1;
                std::thread::sleep(Duration::from_millis(1));
                Ok(2)
            },
        )
        .unwrap();
        assert_eq!(answer.operations, 2 * turns.into_inner());
        assert_eq!(answer.operations, 2 * states.iter().sum::<u64>());
        assert!(answer.ticks.len() >= 3 && answer.seconds >= 0.25);
    }

    #[test]
    fn a_thread_that_has_nothing_to_do_ends_at_once() {
        let wanted = Loop { threads: 2, seconds: 30.0, rate: None };
        let (answer, turns) = repeat(
            wanted,
            |_| Ok(0),
            |_, turns: &mut u64| {
                *turns += 1;
                Ok(0)
            },
        )
        .unwrap();
        assert_eq!((answer.operations, turns), (0, vec![1, 1]));
        assert!(answer.seconds < 20.0 && answer.ticks.is_empty());
    }

    #[test]
    fn an_open_loop_keeps_its_rate_and_measures_from_the_due_time() {
        // Ten operations are due in a second, each of which takes 0.35 s: every one but the first waits. A busy machine may
        // be 0.3 s late and changes nothing.
        let wanted = Loop { threads: 1, seconds: 1.0, rate: Some(10.0) };
        let (answer, _) = repeat(
            wanted,
            |_| Ok(()),
            |_, (): &mut ()| {
                std::thread::sleep(Duration::from_millis(350));
                Ok(1)
            },
        )
        .unwrap();
        assert_eq!((answer.operations, answer.dropped), (3, 7));
        assert!(answer.late >= 2, "{}", answer.late);
        let calm = Loop { threads: 2, seconds: 0.5, rate: Some(40.0) };
        let (answer, _) = repeat(calm, |_| Ok(()), |_, (): &mut ()| Ok(1)).unwrap();
        assert_eq!(answer.operations + answer.dropped, 20);
        assert!(repeat(Loop { rate: Some(0.0), ..calm }, |_| Ok(()), |_, (): &mut ()| Ok(1)).is_err());
    }
}
