//! The settled instant: no later record gets an instant before it, so what was read as of an earlier one never changes.

use std::time::{Duration, Instant as Clock};

use super::queue::Committer;
use crate::model::Instant;
use crate::protection::Protection;
use crate::read::future_instant;
use crate::{Error, ErrorKind, Result};

/// A follower takes an instant for settled so long after it, because a record gets its instant before it is durable, and
/// the clocks of machines differ.
pub(crate) const GRACE: Duration = Duration::from_secs(3);

/// Pauses of a thread that waits.
const PAUSE_MIN: Duration = Duration::from_micros(100);
const PAUSE_MAX: Duration = Duration::from_millis(10);

impl Committer {
    /// The settled instant.
    pub(crate) fn settled_until(&self) -> Instant {
        self.settled_beyond(i64::MIN)
    }

    /// True if an instant is before the settled one.
    ///
    /// Errors: `FutureInstant`.
    pub(crate) fn is_settled(&self, instant: Instant) -> Result<bool> {
        if self.settled_beyond(instant.micros()) > instant {
            return Ok(true);
        }
        // A read that follows would admit an instant that has passed meanwhile, so it cannot be left to it.
        let now =
            Instant::from_checked_micros(self.publisher.load().graph.last_instant()).max((self.clock)());
        if instant > now { Err(future_instant(instant, now)) } else { Ok(false) }
    }

    /// Waits until an instant is settled.
    ///
    /// Errors: `Busy`; `FutureInstant`.
    pub(crate) fn wait_settled(&self, instant: Instant, timeout: Duration) -> Result<()> {
        let deadline = Clock::now() + timeout;
        let mut pause = PAUSE_MIN;
        while !self.is_settled(instant)? {
            let left = deadline.saturating_duration_since(Clock::now());
            if left.is_zero() {
                let text = format!(
                    "as of {instant}: records of that time may still come, those before {} are all visible; try again",
                    self.settled_until()
                );
                return Err(Error::new(ErrorKind::Busy, text));
            }
            std::thread::sleep(pause.min(left));
            pause = (pause * 2).min(PAUSE_MAX);
        }
        Ok(())
    }

    /// The settled instant, which is after `wanted` if that is possible now.
    fn settled_beyond(&self, wanted: i64) -> Instant {
        // Order: first, so that a snapshot that is taken now has all records before the settled instant.
        let last = self.publisher.load().graph.last_instant();
        let micros = if !Protection::Settled.is_kept() {
            (self.clock)().micros().max(last)
        } else if !self.is_writer() {
            self.settled.note(last)
        } else {
            let present = (self.clock)().micros().max(last);
            // The present itself: a later record gets the next microsecond.
            let next = if wanted == present { present.saturating_add(1) } else { present };
            self.settled.find(next)
        };
        Instant::from_micros(micros).unwrap_or_default()
    }

    /// Notes that a follower has all records before an instant, and that no other gets one.
    pub(crate) fn note_settled(&self, instant: Instant) {
        self.settled.note(instant.micros());
    }

    /// A writer tells no settled instant beyond this.
    pub(in crate::write) fn settle_until(&self, end: Instant) {
        self.settled.begin_term(i64::MIN, end.micros());
    }

    /// Tells no more settled instants as a writer.
    pub(in crate::write) fn stop_settling(&self) {
        self.settled.stop();
    }

    /// The latest instant that it has told as settled, as a writer.
    pub(in crate::write) fn told_until(&self) -> Instant {
        Instant::from_micros(self.settled.floor()).unwrap_or_default()
    }

    /// Notes that a follower has all records that were durable at `begun` by its clock. Where a register tells the settled
    /// instant of the writer, this says nothing: an append may take long.
    pub(crate) fn note_looked(&self, begun: Instant) {
        if self.source.log().register().is_some() {
            return;
        }
        let grace = i64::try_from(GRACE.as_micros()).unwrap_or(i64::MAX);
        self.settled.note(begun.micros().saturating_sub(grace));
    }
}
