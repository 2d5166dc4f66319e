//! The values of the settled instant, which a writer and its readers share.

use crate::sync::atomic::{AtomicI64, Ordering};

/// The instants that a writer has told readers, and the records that they do not see yet. Units: microseconds.
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
    pub(super) fn find(&self, upto: i64) -> i64 {
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

    /// Tells no more settled instants.
    pub(super) fn stop(&self) {
        self.end.fetch_min(self.floor(), Ordering::SeqCst);
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

#[cfg(all(test, shuttle))]
mod shuttle_tests;
