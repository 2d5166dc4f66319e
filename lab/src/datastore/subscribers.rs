//! Subscribers to the entries of `lst`: threads that each visit every change.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::outcome::Outcome;

/// How often a subscriber checks whether it must end.
const LOOK_INTERVAL: Duration = Duration::from_millis(50);
/// Longest time between a change and its event.
const HEAR_TIME_MAX: Duration = Duration::from_secs(120);

/// Where a change stands among all changes. Only the target knows what its parts mean.
pub type Position = u128;

/// Changes that a subscriber received at once.
pub struct Event {
    /// Of the last of them.
    pub position: Position,
    pub changes_count: usize,
}

/// The changes of a target, as one subscriber receives them.
pub trait Feed: Send {
    /// Waits for changes, at most this long. It visits each of them.
    ///
    /// Errors: a text, because it crosses threads.
    fn wait(&mut self, time_max: Duration) -> Result<Option<Event>, String>;
}

/// Subscribers. They end when this is dropped.
pub struct Subscribers {
    all: Vec<Subscriber>,
    is_over: Arc<AtomicBool>,
}

struct Subscriber {
    /// The position of each event that it has received.
    heard: Receiver<Position>,
    /// The last of them.
    position: Position,
    thread: JoinHandle<Result<usize, String>>,
}

impl Subscribers {
    /// Starts a subscriber for each feed.
    pub fn start(feeds: Vec<Box<dyn Feed>>) -> Subscribers {
        let is_over = Arc::new(AtomicBool::new(false));
        let start = |mut feed: Box<dyn Feed>| {
            let (sends, heard) = channel();
            let is_over = Arc::clone(&is_over);
            let thread = std::thread::spawn(move || {
                let mut count = 0;
                while !is_over.load(Ordering::Relaxed) {
                    if let Some(event) = feed.wait(LOOK_INTERVAL)? {
                        count += event.changes_count;
                        // The receiver may have ended.
                        let _ = sends.send(event.position);
                    }
                }
                Ok(count)
            });
            Subscriber { heard, position: 0, thread }
        };
        Subscribers { all: feeds.into_iter().map(start).collect(), is_over }
    }

    /// Waits until each subscriber has received the changes up to this position.
    ///
    /// Errors: if one has ended, or takes too long.
    pub fn wait(&mut self, position: Position) -> Outcome<()> {
        for one in &mut self.all {
            while one.position < position {
                one.position = one.heard.recv_timeout(HEAR_TIME_MAX)?;
            }
        }
        Ok(())
    }

    /// Ends all subscribers. Shape: the number of changes that each received.
    pub fn end(mut self) -> Outcome<Vec<usize>> {
        self.is_over.store(true, Ordering::Relaxed);
        let joined = std::mem::take(&mut self.all).into_iter().map(|one| one.thread.join());
        joined.map(|count| Ok(count.map_err(|_| "a subscriber panicked")??)).collect()
    }
}

impl Drop for Subscribers {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Events with as many changes as their position says.
    struct Three(Position);

    impl Feed for Three {
        fn wait(&mut self, time_max: Duration) -> Result<Option<Event>, String> {
            if self.0 == 3 {
                std::thread::sleep(time_max);
                return Ok(None);
            }
            self.0 += 1;
            Ok(Some(Event { position: self.0, changes_count: self.0 as usize }))
        }
    }

    struct Broken;

    impl Feed for Broken {
        fn wait(&mut self, _: Duration) -> Result<Option<Event>, String> {
            Err("the connection is closed".into())
        }
    }

    #[test]
    fn each_subscriber_counts_all_changes() {
        let mut subscribers = Subscribers::start(vec![Box::new(Three(0)), Box::new(Three(0))]);
        subscribers.wait(3).unwrap();
        assert_eq!(subscribers.end().unwrap(), [6, 6]);
    }

    #[test]
    fn a_broken_feed_is_an_error_and_not_a_wait() {
        let mut subscribers = Subscribers::start(vec![Box::new(Broken)]);
        assert!(subscribers.wait(1).is_err());
        assert_eq!(subscribers.end().unwrap_err().to_string(), "the connection is closed");
    }
}
