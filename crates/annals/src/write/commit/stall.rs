//! The time in which the log does not answer: when it is asked again, and what those that wait are told.

use std::time::{Duration, Instant as Clock};

use crate::{Error, ErrorKind};

/// The pause before a try grows from the first to the second of these.
const PAUSES: [Duration; 2] = [Duration::from_millis(5), Duration::from_secs(1)];

/// Since when the log does not answer, and why.
pub(super) struct Stall {
    since: Clock,
    next_try: Clock,
    pause: Duration,
    error: Error,
    /// True once those that wait were told.
    is_told: bool,
}

impl Stall {
    /// A stall that begins with `error`; at first there was no try yet.
    pub(super) fn new(error: &Error) -> Stall {
        let now = Clock::now();
        Stall { since: now, next_try: now, pause: PAUSES[0], error: error.duplicate(), is_told: false }
    }

    /// Notes a try that failed.
    pub(super) fn note(&mut self, error: &Error) {
        self.error = error.duplicate();
        self.next_try = Clock::now() + self.pause;
        self.pause = (self.pause * 2).min(PAUSES[1]);
    }

    /// True once it has lasted so long that writes are refused.
    pub(super) fn is_long(&self, patience: Duration) -> bool {
        self.since.elapsed() >= patience
    }

    /// The time without a try, and without anything to tell.
    pub(super) fn rest(&self, patience: Duration) -> Duration {
        let trying = self.next_try.saturating_duration_since(Clock::now());
        if self.is_told { trying } else { trying.min(patience.saturating_sub(self.since.elapsed())) }
    }

    /// True the first time.
    pub(super) fn tell(&mut self) -> bool {
        !std::mem::replace(&mut self.is_told, true)
    }

    /// True if those that wait were told.
    pub(super) fn is_told(&self) -> bool {
        self.is_told
    }

    /// The reason for a transaction of which nothing was written.
    pub(super) fn refusal(&self) -> Error {
        let seconds = self.since.elapsed().as_secs();
        let text = format!("the log has not answered for {seconds} s; nothing was written; try again later");
        Error::new(ErrorKind::Unavailable, text).caused_by(self.error.to_string())
    }

    /// The reason for a transaction whose outcome is unknown.
    pub(super) fn unknown(&self) -> Error {
        unknown(&self.error)
    }
}

/// The error of a transaction whose outcome is unknown.
pub(super) fn unknown(cause: &Error) -> Error {
    let text = "the log did not answer while it was written: whether the transaction is durable, or becomes so later, is \
                unknown; look for its changes before it is repeated";
    Error::new(ErrorKind::OutcomeUnknown, text).caused_by(cause.to_string())
}
