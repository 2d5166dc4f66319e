//! The changes of the entries of `lst`, from a subscription in this process.

use std::hint::black_box;
use std::time::Duration;

use annals::{Repository, Subscription, Watch};

use crate::datastore::subscribers::{Event, Feed};
use crate::outcome::Outcome;

/// A subscription.
struct Watched(Subscription);

/// Subscribes this many times, from the present position.
pub fn feeds(repository: &Repository, count: usize) -> Outcome<Vec<Box<dyn Feed>>> {
    let feed = |_| -> Outcome<Box<dyn Feed>> {
        Ok(Box::new(Watched(repository.subscribe(Watch::entities_of("lst"), None)?)))
    };
    (0..count).map(feed).collect()
}

impl Feed for Watched {
    fn wait(&mut self, time_max: Duration) -> Result<Option<Event>, String> {
        let event = self.0.wait(time_max).map_err(|error| error.to_string())?;
        Ok(event.map(|event| {
            event.changes.iter().for_each(|change| {
                black_box(change);
            });
            Event { position: event.position.0.into(), changes_count: event.changes.len() }
        }))
    }
}
