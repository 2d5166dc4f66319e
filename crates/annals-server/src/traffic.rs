//! Tells a request that has the server to itself from one of many.
//!
//! What is alone is worked on by the thread of its connection. Handing work to a thread that sleeps, and its result
//! back, wakes two cores, which takes longer than most requests do. What is not alone would hold up the others there.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant as Clock};

/// Requests that overlapped at most so long ago are many. Without a memory, a crowd whose requests are taken from
/// their sockets one by one would look alone again and again, and be committed one by one.
const CROWD_TIME: Duration = Duration::from_millis(100);
/// A connection has the server to itself if it alone sent anything for so long.
const SOLE_TIME: Duration = CROWD_TIME;
/// A log that takes longer for a commit is waited for without a thread.
const COMMIT_TIME_MAX: Duration = Duration::from_millis(2);

/// The requests worked on.
pub struct Traffic {
    start: Clock,
    in_flight: AtomicUsize,
    // When several requests were worked on at once last. Units: milliseconds after `start`; 0 for never.
    crowded: AtomicU64,
    // Units: microseconds.
    last_commit: AtomicU64,
    // Connections so far.
    connections: AtomicU64,
    // The connection that sent something last, and since when it alone did. Units: milliseconds after `start`.
    connection: AtomicU64,
    sole_since: AtomicU64,
}

impl Default for Traffic {
    fn default() -> Traffic {
        Traffic {
            start: Clock::now(),
            in_flight: AtomicUsize::new(0),
            crowded: AtomicU64::new(0),
            last_commit: AtomicU64::new(0),
            connections: AtomicU64::new(0),
            connection: AtomicU64::new(0),
            sole_since: AtomicU64::new(0),
        }
    }
}

impl Traffic {
    /// Counts a request in; it is counted out when what this gives is dropped.
    pub fn enter(&self, now: Clock) -> impl Drop + '_ {
        if self.in_flight.fetch_add(1, Ordering::Relaxed) > 0 {
            self.crowded.store(self.millis(now).max(1), Ordering::Relaxed);
        }
        Worked(self)
    }

    /// Requests worked on.
    pub fn in_flight(&self) -> usize {
        self.in_flight.load(Ordering::Relaxed)
    }

    /// True if one request is worked on, as it was for a while.
    pub fn is_alone(&self) -> bool {
        let crowded = self.crowded.load(Ordering::Relaxed);
        self.in_flight() == 1 && (crowded == 0 || self.now() > crowded + CROWD_TIME.as_millis() as u64)
    }

    /// True if a commit may hold up the thread of its connection: it is alone, and the log is quick.
    pub fn is_commit_alone(&self) -> bool {
        self.is_alone() && self.last_commit.load(Ordering::Relaxed) <= COMMIT_TIME_MAX.as_micros() as u64
    }

    /// Notes how long a commit took.
    pub fn note_commit(&self, taken: Duration) {
        self.last_commit.store(u64::try_from(taken.as_micros()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// A number for a new connection.
    pub fn next_connection(&self) -> u64 {
        self.connections.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Notes that a connection sent something.
    pub fn note_connection(&self, connection: u64, now: Clock) {
        if self.connection.swap(connection, Ordering::Relaxed) != connection {
            self.sole_since.store(self.millis(now), Ordering::Relaxed);
        }
    }

    /// True if this connection alone sends, and did for a while.
    pub fn is_sole(&self, connection: u64) -> bool {
        self.connection.load(Ordering::Relaxed) == connection
            && self.now() > self.sole_since.load(Ordering::Relaxed) + SOLE_TIME.as_millis() as u64
    }

    fn now(&self) -> u64 {
        self.millis(Clock::now())
    }

    fn millis(&self, at: Clock) -> u64 {
        u64::try_from(at.saturating_duration_since(self.start).as_millis()).unwrap_or(u64::MAX)
    }
}

struct Worked<'t>(&'t Traffic);

impl Drop for Worked<'_> {
    fn drop(&mut self) {
        self.0.in_flight.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_request_is_alone_until_another_comes_and_for_a_while_after() {
        let traffic = Traffic::default();
        assert!(!traffic.is_alone());
        let first = traffic.enter(Clock::now());
        assert!(traffic.is_alone());
        let second = traffic.enter(Clock::now());
        assert_eq!(traffic.in_flight(), 2);
        assert!(!traffic.is_alone());
        drop(first);
        assert!(!traffic.is_alone());
        std::thread::sleep(CROWD_TIME + Duration::from_millis(20));
        assert!(traffic.is_alone());
        drop(second);
        assert_eq!(traffic.in_flight(), 0);
    }

    #[test]
    fn a_connection_is_the_only_one_a_while_after_others_sent_something() {
        let traffic = Traffic::default();
        let (first, second) = (traffic.next_connection(), traffic.next_connection());
        assert_ne!(first, second);
        traffic.note_connection(first, Clock::now());
        assert!(!traffic.is_sole(first), "perhaps others did just before");
        std::thread::sleep(SOLE_TIME + Duration::from_millis(20));
        traffic.note_connection(first, Clock::now());
        assert!(traffic.is_sole(first));
        traffic.note_connection(second, Clock::now());
        assert!(!traffic.is_sole(first) && !traffic.is_sole(second));
    }

    #[test]
    fn a_slow_log_is_not_waited_for_by_the_thread_of_a_connection() {
        let traffic = Traffic::default();
        let _request = traffic.enter(Clock::now());
        assert!(traffic.is_commit_alone());
        traffic.note_commit(COMMIT_TIME_MAX * 2);
        assert!(traffic.is_alone() && !traffic.is_commit_alone());
        traffic.note_commit(COMMIT_TIME_MAX / 2);
        assert!(traffic.is_commit_alone());
    }
}
