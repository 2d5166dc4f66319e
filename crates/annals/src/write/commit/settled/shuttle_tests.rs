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
