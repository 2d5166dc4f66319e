//! Stores of other projects, each in a server of its own, which the cell starts and ends.

// In the order a newcomer should read them.
mod tree;
mod postgresql;
mod redis;
mod ferretdb;

use super::content::{Content, Entry, Order};
use super::subscribers::Subscribers;
use super::target::{Answer, Call, Store, Target, Whole, middle};
use crate::harness::{Cell, PeerServer, TargetRecord};
use crate::outcome::Outcome;
use ferretdb::Ferretdb;
use postgresql::Postgresql;
use redis::Redis;
use tree::Tree;

/// Why no store has the row with a provider.
const NO_PROVIDER: &str = "a provider is a function in the process, and the store is another process";

/// A store behind the calls of the rows.
///
/// Order: all clients end before the server does.
pub struct Stored {
    subscribers: Option<Subscribers>,
    tree: Box<dyn Tree>,
    _server: PeerServer,
    count: u32,
}

impl Stored {
    /// Starts the store of the cell's target.
    ///
    /// Errors: if it is not installed, or does not answer.
    pub fn start(cell: &Cell) -> Outcome<Stored> {
        let mut server = PeerServer::start(cell)?;
        let tree: Box<dyn Tree> = match cell.target.name {
            "postgresql" => Box::new(server.answer(Postgresql::connect)?),
            "redis" | "redis-unsynced" => Box::new(server.answer(Redis::connect)?),
            "ferretdb" => Box::new(server.answer(Ferretdb::connect)?),
            other => return Err(format!("target {other}: has no adapter for this suite").into()),
        };
        Ok(Stored { subscribers: None, tree, _server: server, count: 0 })
    }

    /// The version, durability and settings of the store.
    pub fn record(&mut self) -> Outcome<TargetRecord> {
        self.tree.record()
    }
}

impl Target for Stored {
    fn lacks(&self, call: Call) -> Option<&'static str> {
        match call {
            Call::Provide => Some(NO_PROVIDER),
            Call::Subscribe(_) | Call::Hear | Call::Unsubscribe => self.tree.lacks_subscribers(),
            _ => None,
        }
    }

    /// No client keeps a copy of the tree: a cached row is the same operation as its twin.
    fn begin(&mut self, count: u32, _: bool) -> Outcome<()> {
        if let Some(subscribers) = self.subscribers.take() {
            subscribers.end()?;
        }
        self.count = count;
        self.tree.begin()
    }

    fn call(&mut self, call: Call) -> Outcome<Answer> {
        let (count, number) = (self.count, middle(self.count));
        let one = |value: &str| {
            let entry = Entry { l: Some(value.into()), ..Entry::new(number) };
            Content { lst: vec![entry], ..Content::default() }
        };
        Ok(match call {
            // Both forms of the keys are the same look-up.
            Call::Find(_) | Call::Get(_) => Answer::Leaf(self.tree.leaf(number)?),
            Call::All(store) => {
                Answer::Whole(self.tree.all(store)?.map(|content| Box::new(content) as Box<dyn Whole>))
            }
            // The same as `SetAll`, because no store parses paths.
            Call::Merge(list) => {
                let entries = Content::of(list, Order::Up, count);
                Answer::Changed(self.tree.set(Store::Running, &entries)?)
            }
            Call::SetAll(store, list, order) => {
                Answer::Changed(self.tree.set(store, &Content::of(list, order, count))?)
            }
            Call::CreateLeaf(value) => match self.tree.create_leaf(&one(value).lst[0])? {
                true => Answer::Changed(true),
                false => Answer::Refused(format!("the leaf of entry {number} is there")),
            },
            Call::SetLeaf(store, value) => Answer::Changed(self.tree.set(store, &one(value))?),
            Call::RemoveLeaf(store) => Answer::Changed(self.tree.remove_leaf(store, number)?),
            Call::RemoveEntries(store, list) => Answer::Changed(self.tree.remove_entries(store, list)?),
            Call::RemoveContainer => Answer::Changed(self.tree.remove_container()?),
            Call::Provide => return Err(NO_PROVIDER.into()),
            Call::Subscribe(count) => {
                let feeds = self.tree.subscribe(count)?;
                self.subscribers = Some(Subscribers::start(feeds));
                Answer::Done
            }
            Call::Hear => {
                let position = self.tree.position()?;
                let subscribers = self.subscribers.as_mut().ok_or("there are no subscribers")?;
                subscribers.wait(position)?;
                Answer::Done
            }
            Call::Unsubscribe => {
                let subscribers = self.subscribers.take().ok_or("there are no subscribers")?;
                let counts = subscribers.end()?;
                self.tree.unsubscribe()?;
                Answer::Heard(counts)
            }
        })
    }
}

impl Whole for Content {
    fn content(&self) -> Outcome<Content> {
        Ok(self.clone())
    }
}
