//! The calls of the rows, and the trait of the targets that answer them.

use super::content::{Content, List, Order};
use crate::outcome::Outcome;

/// One of the datastores that a configuration has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Store {
    /// The configuration.
    Running,
    /// The operational state: pushed data, and the data of a provider, which each read requests.
    Operational,
}

/// How the keys of an entry are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keys {
    /// `[k1='1' and k2='str1']`. The engine of the page does not recognise keys here, and visits every entry.
    Joined,
    /// `[k1='1'][k2='str1']`.
    Apart,
}

/// A call of a target: one transaction, or one read. *The leaf* is the leaf of the middle entry of `lst`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// Every match of the path of the leaf, with its parents.
    Find(Keys),
    /// The value of the leaf.
    Get(Keys),
    /// The container with everything in it.
    All(Store),
    /// Merges a tree of all entries.
    Merge(List),
    /// Sets the leaf of every entry by its path, in this order, and creates the missing parents.
    SetAll(Store, List, Order),
    /// Creates the leaf. Refused if it exists.
    CreateLeaf(&'static str),
    /// Creates or changes the leaf.
    SetLeaf(Store, &'static str),
    /// Removes the leaf, if it exists. The entry stays.
    RemoveLeaf(Store),
    /// Removes every entry of a list. The container stays.
    RemoveEntries(Store, List),
    /// Removes the container with everything in it.
    RemoveContainer,
    /// Starts a provider: each read of the operational store requests every entry of `lst` from it.
    Provide,
    /// Starts this many subscribers to the entries of `lst`.
    Subscribe(usize),
    /// Waits until each subscriber has received every change so far.
    Hear,
    /// Ends the subscribers.
    Unsubscribe,
}

/// An answer.
pub enum Answer {
    /// Whether the transaction changed anything.
    Changed(bool),
    /// The call succeeded. The target does not report whether it changed anything.
    Done,
    /// The transaction was refused, with the reason.
    Refused(String),
    /// The leaf.
    Leaf(Option<String>),
    /// The container; `None` if it is not there.
    Whole(Option<Box<dyn Whole>>),
    /// The number of stored changes that each subscriber received.
    Heard(Vec<usize>),
}

/// A tree in the form of the target. The caller drops it after the clock has stopped.
pub trait Whole {
    /// Its content.
    fn content(&self) -> Outcome<Content>;
}

/// A target. Each has a file of its own, and a line in the list in `mod.rs`.
pub trait Target {
    /// Why it cannot answer this call, if it cannot.
    fn lacks(&self, _: Call) -> Option<&'static str> {
        None
    }

    /// Begins with empty stores, for rows with this many entries. With `is_cached` it keeps the running store in memory.
    fn begin(&mut self, count: u32, is_cached: bool) -> Outcome<()>;

    /// Answers a call.
    ///
    /// Errors: a failure that ends the measurement. A refusal is an answer.
    fn call(&mut self, call: Call) -> Outcome<Answer>;
}

impl Keys {
    /// The path of the leaf of an entry of `lst`.
    pub fn leaf_path(self, number: u32) -> String {
        match self {
            Keys::Joined => format!("/cont/lst[k1='{number}' and k2='str{number}']/l"),
            Keys::Apart => List::Keyed.leaf_path(number),
        }
    }
}

/// The number of the middle entry.
pub fn middle(count: u32) -> u32 {
    count / 2
}
