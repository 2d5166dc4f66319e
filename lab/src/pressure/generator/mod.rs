//! The generator of load: a client of HTTP/1.1 with many connections in one thread. It sends prepared requests and takes
//! the time of each answer.
//!
//! In a closed loop each caller asks again as soon as it has its answer. In an open loop, caller `c` of N has a request
//! due at the times `(c + k·N) / rate` for k = 0, 1, 2, …, and latencies count from then: a server that stands still
//! delays what is due meanwhile, and cannot hide it.

mod whole_answer;
mod caller;
mod loaded;
mod running;
#[cfg(test)]
pub mod fake;
#[cfg(test)]
mod tests;

pub use loaded::Loaded;
pub use running::load;

use std::net::SocketAddr;
use std::time::Duration;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// A load.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    pub address: SocketAddr,
    /// Connections.
    pub callers: usize,
    pub pace: Pace,
    /// No request begins later.
    pub time: Duration,
    /// Longest time for the answers that are missing then.
    pub patience: Duration,
}

/// When requests are sent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pace {
    /// As soon as the caller has its answer.
    Closed,
    /// At this rate, whatever the server does. Units: requests per second.
    Rate(f64),
}

/// The requests of a load, and what is right about their answers.
pub trait Work {
    /// Writes the next request, and returns its number. None if there is nothing left to ask for.
    fn next(&mut self, request: &mut Vec<u8>) -> Option<u64>;

    /// Takes the body of an answer with success. False if it is wrong.
    fn take(&mut self, number: u64, body: &[u8]) -> bool;
}

/// Lets this process, and those that it starts, open as many files as it can get, at most `wanted`. Returns how many.
pub fn raise_open_files(wanted: u64) -> u64 {
    let found = getrlimit(Resource::Nofile);
    let current = found.current.unwrap_or(u64::MAX);
    // Only root may raise the hard limit.
    let tries = [found.maximum.unwrap_or(u64::MAX).max(wanted), found.maximum.unwrap_or(u64::MAX)];
    for maximum in tries {
        let limit = Rlimit { current: Some(maximum.min(wanted).max(current)), maximum: Some(maximum) };
        if current < wanted && setrlimit(Resource::Nofile, limit).is_ok() {
            break;
        }
    }
    getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX)
}
