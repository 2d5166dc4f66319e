//! The values of the settled instant, which a writer and its readers share.

use crate::sync::atomic::{AtomicI64, Ordering};

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
