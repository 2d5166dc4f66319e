//! Threads beside the caller: subscribers that parse each change, and a provider of operational data. They exchange text, as processes do.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use super::diff::Changes;
use crate::datastore::content::{Content, List, Order};
use crate::datastore::subscribers::{Event, Feed, Position, Subscribers};
use crate::outcome::Outcome;

/// Subscribers. Each parses every text by itself.
pub struct Told {
    events: Vec<Sender<Text>>,
    subscribers: Subscribers,
    /// Number of the last text.
    position: Position,
}

#[derive(Clone)]
struct Text {
    position: Position,
    text: Arc<str>,
    /// True if the changes are stored, false if they are about to be.
    is_done: bool,
}

impl Told {
    /// Starts this many subscribers.
    pub fn start(count: usize) -> Told {
        let (events, feeds): (Vec<_>, Vec<_>) = (0..count).map(|_| channel()).unzip();
        let feeds = feeds.into_iter().map(|feed| Box::new(Texts(feed)) as Box<dyn Feed>);
        Told { events, subscribers: Subscribers::start(feeds.collect()), position: 0 }
    }

    /// Sends a text to all subscribers, and waits until each has parsed it.
    ///
    /// Errors: if one has ended.
    pub fn tell(&mut self, text: &Arc<str>, is_done: bool) -> Outcome<()> {
        self.position += 1;
        let text = Text { position: self.position, text: Arc::clone(text), is_done };
        self.events.iter().try_for_each(|one| one.send(text.clone()))?;
        self.subscribers.wait(self.position)
    }

    /// Ends all subscribers. Shape: the number of stored changes that each received.
    pub fn end(self) -> Outcome<Vec<usize>> {
        self.subscribers.end()
    }
}

struct Texts(Receiver<Text>);

impl Feed for Texts {
    fn wait(&mut self, time_max: Duration) -> Result<Option<Event>, String> {
        let Ok(Text { position, text, is_done }) = self.0.recv_timeout(time_max) else { return Ok(None) };
        let changes: Changes = serde_json::from_str(&text).map_err(|error| error.to_string())?;
        Ok(Some(Event { position, changes_count: if is_done { changes.count() } else { 0 } }))
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
        let mut subscribers = Told::start(3);
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
