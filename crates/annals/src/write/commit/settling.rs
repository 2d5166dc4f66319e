//! The settled instant: no later record gets an instant before it, so what was read as of an earlier one never changes.

use std::time::{Duration, Instant as Clock};

use super::queue::Committer;
use crate::model::Instant;
use crate::read::future_instant;
use crate::sync::atomic::{AtomicI64, Ordering};
use crate::{Error, ErrorKind, Result};

/// A follower takes an instant for settled so long after it, because a record gets its instant before it is durable, and
/// the clocks of machines differ.
pub(crate) const GRACE: Duration = Duration::from_secs(3);

/// Pauses of a thread that waits.
const PAUSE_MIN: Duration = Duration::from_micros(100);
const PAUSE_MAX: Duration = Duration::from_millis(10);

/// What a writer has told readers, and the records that they do not see yet. Units: microseconds.
///
/// Order: a reader raises `floor` and then reads `in_flight`; the sequencer sets `in_flight` and then reads `floor`. So at
/// least one of them sees the other: the record gets a later instant, or the reader waits for it.
pub(super) struct Settled {
    /// No record that is sequenced from now on gets an instant before this, whatever the clock shows.
    floor: AtomicI64,
    /// No record that is sequenced and not published has an instant before this; `i64::MAX` if there is none.
    in_flight: AtomicI64,
    /// The latest settled instant that was found: it stays one.
    found: AtomicI64,
    /// Nothing from here on may be told as settled: only up to here does the lease bind a writer that takes over.
    end: AtomicI64,
}

impl Settled {
    pub(super) fn new() -> Settled {
        let least = || AtomicI64::new(i64::MIN);
        Settled {
            floor: least(),
            in_flight: AtomicI64::new(i64::MAX),
            found: least(),
            end: AtomicI64::new(i64::MAX),
        }
    }

    /// The settled instant of a writer; it is `upto`, unless a record is in flight. `upto` is at most a microsecond after
    /// both the clock and the last record.
    fn find(&self, upto: i64) -> i64 {
        let upto = upto.min(self.end.load(Ordering::SeqCst));
        self.floor.fetch_max(upto, Ordering::SeqCst);
        let upto = self.floor.load(Ordering::SeqCst).min(self.in_flight.load(Ordering::SeqCst));
        self.note(upto)
    }

    /// Notes a settled instant. Shape: the latest one.
    pub(super) fn note(&self, instant: i64) -> i64 {
        self.found.fetch_max(instant, Ordering::SeqCst).max(instant)
    }

    /// Begins as a writer after one that has told no settled instant beyond `floor`; tells none beyond `end`.
    pub(super) fn begin_term(&self, floor: i64, end: i64) {
        self.end.store(end, Ordering::SeqCst);
        self.floor.fetch_max(floor, Ordering::SeqCst);
    }

    /// Called before the first record of a batch, which comes after one of the instant `last`, reads the clock.
    pub(super) fn begin(&self, last: i64) {
        self.in_flight.store(last.max(self.floor()), Ordering::SeqCst);
    }

    /// The earliest instant that a record may get now.
    pub(super) fn floor(&self) -> i64 {
        self.floor.load(Ordering::SeqCst)
    }

    /// Called with the instant of the first record of a batch.
    pub(super) fn took(&self, instant: i64) {
        self.in_flight.store(instant, Ordering::SeqCst);
    }

    /// Called when all records that were in flight are published, or are not in the log.
    pub(super) fn landed(&self) {
        self.in_flight.store(i64::MAX, Ordering::SeqCst);
    }
}

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
        let micros = if !self.is_writer() {
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
        self.settled.end.fetch_min(self.settled.floor(), Ordering::SeqCst);
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

#[cfg(all(test, shuttle))]
mod shuttle_tests {
    //! A reader and a sequencer in many orders of their steps.

    use shuttle::thread;
    use std::sync::Arc;

    use super::*;
    use crate::sync::in_many_orders;

    /// The clock of the sequencer is behind that of the reader: what is not published when the instant was found settled
    /// gets no earlier one.
    #[test]
    fn no_record_comes_before_an_instant_that_was_found_settled() {
        in_many_orders(|| {
            let (settled, published) = (Arc::new(Settled::new()), Arc::new(AtomicI64::new(0)));
            let writer = {
                let (settled, published) = (Arc::clone(&settled), Arc::clone(&published));
                thread::spawn(move || {
                    let mut instants = Vec::new();
                    for (position, clock) in [(1, 5), (2, 3), (3, 20)] {
                        let last = instants.last().copied().unwrap_or(i64::MIN);
                        settled.begin(last);
                        let instant = settled.floor().max(clock).max(last);
                        settled.took(instant);
                        instants.push(instant);
                        published.store(position, Ordering::SeqCst);
                        settled.landed();
                    }
                    instants
                })
            };
            let found: Vec<(i64, usize)> = [4, 10]
                .map(|clock| {
                    let until = settled.find(clock);
                    (until, usize::try_from(published.load(Ordering::SeqCst)).unwrap())
                })
                .into();
            let instants = writer.join().unwrap();
            for (until, seen) in found {
                assert!(instants.iter().skip(seen).all(|instant| *instant >= until), "{until}, {instants:?}");
            }
        });
    }
}
