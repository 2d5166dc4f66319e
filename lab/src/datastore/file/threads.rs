//! Threads beside the caller: subscribers that parse each change, and a provider of operational data. They exchange text, as processes do.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use super::diff::Changes;
use crate::datastore::content::{Content, List, Order};
use crate::outcome::Outcome;

/// Subscribers. Each parses every text by itself.
pub struct Subscribers {
    all: Vec<Subscriber>,
}

struct Subscriber {
    events: Sender<Event>,
    heard: Receiver<()>,
    thread: JoinHandle<serde_json::Result<usize>>,
}

#[derive(Clone)]
struct Event {
    text: Arc<str>,
    /// True if the changes are stored, false if they are about to be.
    is_done: bool,
}

impl Subscribers {
    /// Starts this many subscribers.
    pub fn start(count: usize) -> Subscribers {
        Subscribers { all: (0..count).map(|_| Subscriber::start()).collect() }
    }

    /// Sends a text to all subscribers, and waits until each has parsed it.
    ///
    /// Errors: if one has ended.
    pub fn tell(&self, text: &Arc<str>, is_done: bool) -> Outcome<()> {
        let event = Event { text: Arc::clone(text), is_done };
        self.all.iter().try_for_each(|one| one.events.send(event.clone()))?;
        Ok(self.all.iter().try_for_each(|one| one.heard.recv())?)
    }

    /// Ends all subscribers. Shape: the number of stored changes that each received.
    pub fn end(self) -> Outcome<Vec<usize>> {
        let counts = self.all.into_iter().map(|Subscriber { events, thread, .. }| {
            drop(events);
            Ok(thread.join().map_err(|_| "a subscriber panicked")??)
        });
        counts.collect()
    }
}

impl Subscriber {
    fn start() -> Subscriber {
        let (events, told) = channel::<Event>();
        let (hears, heard) = channel();
        let thread = std::thread::spawn(move || {
            let mut count = 0;
            for event in told {
                let changes: Changes = serde_json::from_str(&event.text)?;
                if event.is_done {
                    count += changes.count();
                }
                // The caller may have ended the subscription.
                let _ = hears.send(());
            }
            Ok(count)
        });
        Subscriber { events, heard, thread }
    }
}

/// Makes all entries of `lst` for each request.
pub struct Provider {
    asks: Sender<()>,
    answers: Receiver<String>,
}

impl Provider {
    /// Starts the thread. It ends when the provider is dropped.
    pub fn start(count: u32) -> Provider {
        let (asks, asked) = channel();
        let (sends, answers) = channel();
        std::thread::spawn(move || {
            for () in asked {
                let text = serde_json::to_string(&Content::of(List::Keyed, Order::Up, count));
                // The reader may have ended.
                let _ = sends.send(text.expect("it is made of texts and numbers"));
            }
        });
        Provider { asks, answers }
    }

    /// Requests the entries.
    ///
    /// Errors: if it has ended.
    pub fn ask(&self) -> Outcome<String> {
        self.asks.send(())?;
        Ok(self.answers.recv()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::datastore::file::diff::Diff;
    use crate::datastore::file::tree::Tree;

    #[test]
    fn each_subscriber_counts_what_is_stored() {
        let mut diff = Diff::kept();
        Tree::default().set_all(List::Keyed, Order::Up, 5, &mut diff);
        let text: Arc<str> = serde_json::to_string(diff.changes().unwrap()).unwrap().into();
        let subscribers = Subscribers::start(3);
        subscribers.tell(&text, false).unwrap();
        subscribers.tell(&text, true).unwrap();
        assert_eq!(subscribers.end().unwrap(), [5, 5, 5]);
    }

    #[test]
    fn a_provider_tells_every_entry_each_time() {
        let provider = Provider::start(4);
        for _ in 0..2 {
            let content: Content = serde_json::from_str(&provider.ask().unwrap()).unwrap();
            assert_eq!(content, Content::of(List::Keyed, Order::Up, 4));
        }
    }
}
