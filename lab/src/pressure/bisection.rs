//! Finds the highest arrival rate that a server holds.

use crate::outcome::Outcome;

/// The search ends when a rate that is not held is at most so many times one that is.
const NEAR: f64 = 1.05;
/// How much the rate changes until the highest one is between two others.
const FACTOR: f64 = 1.5;
/// A server that does not hold this rate holds none. Units: requests per second.
const RATE_MIN: f64 = 1.0;

/// The highest rate for which `is_held` says true, at most `most`; None if it says so for none. The search begins at
/// `first`. Units: requests per second.
///
/// Errors: those of `is_held`.
pub fn highest(first: f64, most: f64, mut is_held: impl FnMut(f64) -> Outcome<bool>) -> Outcome<Option<f64>> {
    let mut rate = first.clamp(RATE_MIN, most);
    let (mut held, mut missed) = (None, None);
    loop {
        if is_held(rate)? {
            held = Some(rate);
        } else {
            missed = Some(rate);
        }
        rate = match (held, missed) {
            (Some(held), _) if held >= most => return Ok(Some(held)),
            (Some(held), None) => (held * FACTOR).min(most),
            (None, Some(missed)) if missed <= RATE_MIN => return Ok(None),
            (None, Some(missed)) => (missed / FACTOR).max(RATE_MIN),
            (Some(held), Some(missed)) if missed <= held * NEAR => return Ok(Some(held)),
            (Some(held), Some(missed)) => (held * missed).sqrt(),
            (None, None) => unreachable!("one of them is set above"),
        };
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::time::Duration;

    use super::super::generator::fake::{RIGHT, serve};
    use super::super::generator::{Pace, Plan, Work, load};
    use super::*;

    #[test]
    fn the_search_finds_the_capacity_from_below_and_from_above() {
        for first in [10.0, 900.0, 1_000.0, 100_000.0] {
            let mut tries = 0;
            let found = highest(first, 1e6, |rate| {
                tries += 1;
                Ok(rate <= 1_000.0)
            });
            let found = found.unwrap().unwrap();
            assert!((950.0..=1_000.0).contains(&found), "{found} from {first}");
            assert!(tries < 25, "{tries} from {first}");
        }
        assert_eq!(highest(10.0, 50.0, |_| Ok(true)).unwrap(), Some(50.0));
        assert_eq!(highest(10.0, 50.0, |_| Ok(false)).unwrap(), None);
    }

    struct Get;

    impl Work for Get {
        fn next(&mut self, request: &mut Vec<u8>) -> Option<u64> {
            request.extend_from_slice(b"GET / HTTP/1.1\r\n\r\n");
            Some(0)
        }

        fn take(&mut self, _: u64, _: &[u8]) -> bool {
            true
        }
    }

    #[test]
    fn the_search_finds_the_capacity_of_a_server() {
        // One request at a time, at least two milliseconds each: at most 500 a second.
        let turn = Mutex::new(());
        let address = serve(move |_| {
            let _turn = turn.lock().unwrap();
            std::thread::sleep(Duration::from_millis(2));
            Some(RIGHT)
        });
        let found = highest(100.0, 1e5, |rate| {
            let (time, patience) = (Duration::from_millis(500), Duration::from_secs(5));
            let plan = Plan { address, callers: 20, pace: Pace::Rate(rate), time, patience };
            let loaded = load(&plan, &mut Get)?;
            Ok(loaded.rate() >= 0.95 * rate)
        });
        let found = found.unwrap().unwrap();
        // A sleep takes longer than it should on a machine with other work.
        assert!((100.0..=530.0).contains(&found), "{found}");
    }
}
