//! A measurement of one round: Annals and the limit, one after the other, and both with the right answer.

use std::fmt::Debug;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::outcome::Outcome;

/// Annals and the limit, measured one after the other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// Name of the line.
    pub line: String,
    /// In the unit of the line.
    pub ours: f64,
    /// In the unit of the line.
    pub limit: f64,
}

impl Sample {
    /// A pair of figures for a line.
    pub fn new(line: impl Into<String>, ours: f64, limit: f64) -> Sample {
        Sample { line: line.into(), ours, limit }
    }
}

/// The result of a piece of work, and its duration.
pub struct Timed<T> {
    pub result: T,
    pub elapsed: Duration,
}

impl<T> Timed<T> {
    /// Does some work and times it.
    pub fn of(work: impl FnOnce() -> Outcome<T>) -> Outcome<Timed<T>> {
        let start = Instant::now();
        let result = work()?;
        Ok(Timed { result, elapsed: start.elapsed() })
    }

    /// How many of `count` are done per second.
    pub fn rate(&self, count: usize) -> f64 {
        per_second(count as u64, self.elapsed)
    }

    /// The duration. Units: seconds.
    pub fn seconds(&self) -> f64 {
        self.elapsed.as_secs_f64()
    }

    /// The duration of each of `count`. Units: microseconds.
    pub fn micros_each(&self, count: usize) -> f64 {
        self.seconds() * 1e6 / count.max(1) as f64
    }
}

/// How many of `count` are done per second.
pub fn per_second(count: u64, elapsed: Duration) -> f64 {
    count as f64 / elapsed.as_secs_f64()
}

/// Does both, in odd turns the limit first, so that neither always runs after the other.
pub fn in_turn<A, B>(
    turn: usize,
    ours: impl FnOnce() -> Outcome<A>,
    limit: impl FnOnce() -> Outcome<B>,
) -> Outcome<(A, B)> {
    if turn.is_multiple_of(2) {
        let ours = ours()?;
        Ok((ours, limit()?))
    } else {
        let limit = limit()?;
        Ok((ours()?, limit))
    }
}

/// Every error of [`agree`] contains this text.
pub const WRONG_ANSWER: &str = "wrong answer";

/// Errors: if they differ.
pub fn agree<T: PartialEq + Debug>(what: &str, ours: T, expected: T) -> Outcome<()> {
    if ours == expected {
        return Ok(());
    }
    Err(format!("{what}: {WRONG_ANSWER}: expected {expected:?}, found {ours:?}").into())
}
