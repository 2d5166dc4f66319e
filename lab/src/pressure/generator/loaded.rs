//! The counts and the times of a load.

use std::time::Duration;

use crate::latencies::Latencies;
use crate::outcome::Outcome;

/// Share of the requests that may be late, and share of its core that the generator may use, before it is itself the
/// limit.
const LATE_MAX: f64 = 0.05;
const CPU_MAX: f64 = 0.95;

/// A load that has ended.
pub struct Loaded {
    pub callers: usize,
    /// From the start to the time at which no more requests began. Units: seconds.
    pub seconds: f64,
    /// Right answers, and those of them that came in this time.
    pub right: u64,
    pub in_time: u64,
    /// Requests without a right answer.
    pub errors: u64,
    /// Those of them that were answered 503 with `Retry-After`.
    pub refused: u64,
    /// The first error that is no refusal, and the first refusal.
    pub first_error: Option<String>,
    pub first_refusal: Option<String>,
    /// The longest latency of a right answer.
    pub longest: Duration,
    /// Of right answers, and of requests that were due and not sent at the end.
    pub latencies: Latencies,
    /// Of refusals.
    pub refusals: Latencies,
    /// Of all answers, with their heads. Units: bytes.
    pub bytes: u64,
    /// Right answers in each tenth of a second.
    pub ticks: Vec<u64>,
    /// Requests that were due, of an open loop.
    pub due: u64,
    /// Requests that the generator sent more than a millisecond late, although their caller waited for nothing.
    pub late: u64,
    /// Requests that were due before the end, and that their callers could not send because they waited for an answer.
    pub dropped: u64,
    /// Of the generator. Units: seconds.
    pub cpu_seconds: f64,
}

impl Loaded {
    /// Nothing yet.
    pub fn new(callers: usize) -> Outcome<Loaded> {
        Ok(Loaded {
            callers,
            seconds: 0.0,
            right: 0,
            in_time: 0,
            errors: 0,
            refused: 0,
            first_error: None,
            first_refusal: None,
            longest: Duration::ZERO,
            latencies: Latencies::new()?,
            refusals: Latencies::new()?,
            bytes: 0,
            ticks: Vec::new(),
            due: 0,
            late: 0,
            dropped: 0,
            cpu_seconds: 0.0,
        })
    }

    /// Right answers per second.
    pub fn rate(&self) -> f64 {
        self.in_time as f64 / self.seconds
    }

    /// Share of the requests that began late because of the generator.
    pub fn late_share(&self) -> f64 {
        self.late as f64 / self.due.max(1) as f64
    }

    /// True if the generator could not have done much more.
    pub fn is_generator_limit(&self) -> bool {
        self.late_share() > LATE_MAX || self.cpu_seconds > CPU_MAX * self.seconds
    }

    /// Notes a right answer: `since_due` after it was due, and `since_start` after the start.
    pub fn note_right(&mut self, since_due: Duration, since_start: Duration, time: Duration) {
        self.right += 1;
        self.longest = self.longest.max(since_due);
        self.latencies.record(since_due);
        if since_start <= time {
            self.in_time += 1;
            let tick = since_start.as_millis() as usize / 100;
            if self.ticks.len() <= tick {
                self.ticks.resize(tick + 1, 0);
            }
            self.ticks[tick] += 1;
        }
    }

    /// Notes a request without a right answer.
    pub fn note_error(&mut self, text: impl FnOnce() -> String) {
        self.errors += 1;
        self.first_error.get_or_insert_with(text);
    }

    /// Notes an answer 503 that says when to ask again.
    pub fn note_refusal(&mut self, since_due: Duration, text: impl FnOnce() -> String) {
        self.errors += 1;
        self.refused += 1;
        self.refusals.record(since_due);
        self.first_refusal.get_or_insert_with(text);
    }
}
