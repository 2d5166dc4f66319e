//! Subscribers to the entries of `lst`: threads that each visit every change.

use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use annals::{Position, Repository, Subscription, Watch};

use crate::outcome::Outcome;

/// How often a subscriber checks whether it must end.
const LOOK_INTERVAL: Duration = Duration::from_millis(10);
/// Longest time between a commit and its event.
const HEAR_TIME_MAX: Duration = Duration::from_secs(60);

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
    thread: JoinHandle<annals::Result<usize>>,
}

impl Subscribers {
    /// Starts this many subscribers at the present position.
    pub fn start(repository: &Repository, count: usize) -> Outcome<Subscribers> {
        let is_over = Arc::new(AtomicBool::new(false));
        let start = || -> Outcome<Subscriber> {
            let (sends, heard) = channel();
            let subscription = repository.subscribe(Watch::entities_of("lst"), None)?;
            let position = subscription.position();
            let is_over = Arc::clone(&is_over);
            let thread = std::thread::spawn(move || {
                hear(subscription, &is_over, |position| {
                    // The receiver may have ended.
                    let _ = sends.send(position);
                })
            });
            Ok(Subscriber { heard, position, thread })
        };
        let all = (0..count).map(|_| start()).collect::<Outcome<_>>()?;
        Ok(Subscribers { all, is_over })
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

/// Counts changes until `is_over`.
fn hear(
    mut subscription: Subscription,
    is_over: &AtomicBool,
    mut heard: impl FnMut(Position),
) -> annals::Result<usize> {
    let mut count = 0;
    while !is_over.load(Ordering::Relaxed) {
        if let Some(event) = subscription.wait(LOOK_INTERVAL)? {
            event.changes.iter().for_each(|change| {
                black_box(change);
            });
            count += event.changes.len();
            heard(event.position);
        }
    }
    Ok(count)
}
