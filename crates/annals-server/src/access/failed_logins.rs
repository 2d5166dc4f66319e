//! Failed logins: each address is slowed down and logged, in bounded memory.
//!
//! A guess at 256 random bits is hopeless. The delay keeps a client that guesses, or has a wrong token, from filling the
//! log and from taking time of the processor. It never delays a right token, also from the same address.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant as Clock};

use crate::bounds::peers::client_of;

/// Addresses that are remembered. The one that failed least recently makes room.
const ADDRESSES_MAX: usize = 4_096;
/// An address is forgotten after this time without a failure.
const FORGET_TIME: Duration = Duration::from_secs(600);
/// So many failures are answered at once.
const FREE_COUNT: u32 = 3;
/// The delay of the first failure after those; each further one doubles it.
const DELAY: Duration = Duration::from_millis(125);
/// Longest delay.
const DELAY_MAX: Duration = Duration::from_secs(4);

#[derive(Clone, Copy, Debug)]
struct Failed {
    count: u32,
    last: Clock,
}

/// The addresses from which logins failed.
#[derive(Debug, Default)]
pub struct FailedLogins(Mutex<HashMap<IpAddr, Failed>>);

/// The consequences of a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failure {
    /// How long its answer waits.
    pub delay: Duration,
    /// The failures of this address so far.
    pub count: u32,
}

impl Failure {
    /// True if the log has a line of it: at 1, 2, 4, 8 …, so that a flood makes a few lines.
    pub fn is_logged(self) -> bool {
        self.count.is_power_of_two()
    }
}

impl FailedLogins {
    /// Counts a failure of an address. An IPv6 address counts by its network.
    pub fn count(&self, address: IpAddr, now: Clock) -> Failure {
        let address = client_of(address);
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !known.contains_key(&address) && known.len() >= ADDRESSES_MAX {
            known.retain(|_, failed| now.saturating_duration_since(failed.last) < FORGET_TIME);
            if known.len() >= ADDRESSES_MAX
                && let Some(oldest) = known.iter().min_by_key(|(_, failed)| failed.last).map(|(at, _)| *at)
            {
                known.remove(&oldest);
            }
        }
        let failed = known.entry(address).or_insert(Failed { count: 0, last: now });
        if now.saturating_duration_since(failed.last) >= FORGET_TIME {
            failed.count = 0;
        }
        *failed = Failed { count: failed.count.saturating_add(1), last: now };
        let delay = match failed.count.checked_sub(FREE_COUNT + 1) {
            None => Duration::ZERO,
            Some(over) => DELAY.saturating_mul(1 << over.min(10)).min(DELAY_MAX),
        };
        Failure { delay, count: failed.count }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_of_one_address_are_slower_and_slower_and_those_of_others_are_not() {
        let (failed, now) = (FailedLogins::default(), Clock::now());
        let (one, other) = (IpAddr::from([192, 0, 2, 1]), IpAddr::from([192, 0, 2, 2]));
        let delays: Vec<u128> = (0..10).map(|_| failed.count(one, now).delay.as_millis()).collect();
        assert_eq!(delays, [0, 0, 0, 125, 250, 500, 1_000, 2_000, 4_000, 4_000]);
        assert_eq!(failed.count(other, now), Failure { delay: Duration::ZERO, count: 1 });
        assert_eq!(failed.count(one, now + FORGET_TIME).count, 1);
    }

    #[test]
    fn a_flood_from_many_addresses_takes_bounded_memory_and_forgets_the_oldest() {
        let (failed, now) = (FailedLogins::default(), Clock::now());
        let at = |index: u32| IpAddr::from((index + (10 << 24)).to_be_bytes());
        for index in 0..ADDRESSES_MAX as u32 + 100 {
            failed.count(at(index), now + Duration::from_millis(index.into()));
        }
        assert_eq!(failed.0.lock().unwrap().len(), ADDRESSES_MAX);
        let later = now + Duration::from_secs(60);
        assert_eq!(failed.count(at(ADDRESSES_MAX as u32 + 99), later).count, 2);
        assert_eq!(failed.count(at(0), later).count, 1);
    }
}
