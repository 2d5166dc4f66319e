//! What the rows ask, whoever answers.

use super::content::{Content, List, Order};
use crate::outcome::Outcome;

/// One of the datastores that a configuration has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Store {
    /// What is configured.
    Running,
    /// What is in operation: what was pushed into it, and what a provider tells when it is asked.
    Operational,
}

/// How the keys of an entry are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keys {
    /// `[k1='1' and k2='str1']`: not a path to the engine of the page, which looks at every entry.
    Joined,
    /// `[k1='1'][k2='str1']`.
    Apart,
}

/// Something asked of a target: one transaction, or one read. *The leaf* is that of the middle entry of `lst`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// All that the path of the leaf leads to, with the items on the way.
    Find(Keys),
    /// The value of the leaf.
    Get(Keys),
    /// The container with everything in it.
    All(Store),
    /// Merges a tree of all entries.
    Merge(List),
    /// Sets the leaf of every entry by its path, in this order; what is missing on the way is created.
    SetAll(Store, List, Order),
    /// Creates the leaf; refused if it is there.
    CreateLeaf(&'static str),
    /// Creates or changes the leaf.
    SetLeaf(Store, &'static str),
    /// Removes the leaf, if it is there. The entry stays.
    RemoveLeaf(Store),
    /// Removes every entry of a list. The container stays.
    RemoveEntries(Store, List),
    /// Removes the container with everything in it.
    RemoveContainer,
    /// From now on somebody tells every entry of `lst` whenever the operational store is read.
    Provide,
    /// So many subscribers hear of every change of entries of `lst` from now on.
    Subscribe(usize),
    /// Waits until each subscriber has heard of every change so far.
    Hear,
    /// They go.
    Unsubscribe,
}

/// What came back.
pub enum Answer {
    /// A change was done; false if there was nothing to change.
    Changed(bool),
    /// A change was refused, and why.
    Refused(String),
    /// The leaf.
    Leaf(Option<String>),
    /// The container; `None` if it is not there.
    Whole(Option<Box<dyn Whole>>),
    /// How many stored changes of entries each subscriber heard of.
    Heard(Vec<usize>),
}

/// A tree as the target hands it out. Whoever asked may drop it when no clock runs.
pub trait Whole {
    /// What is in it.
    fn content(&self) -> Outcome<Content>;
}

/// Whoever answers. Each has its own file; the list of them is in `mod.rs`.
pub trait Target {
    /// As the tables call it.
    fn title(&self) -> &'static str;

    /// Why it cannot answer this call, if it cannot.
    fn lacks(&self, call: Call) -> Option<&'static str>;

    /// True if what it has changed survives a power cut: then a durable write is measured beside its own.
    fn is_durable(&self) -> bool;

    /// What a reader must know of it before comparing.
    fn unfair(&self) -> &'static [&'static str];

    /// Begins anew, with nothing: so many entries will come. `is_cached` asks it to keep what is running in memory.
    fn begin(&mut self, count: u32, is_cached: bool) -> Outcome<()>;

    /// Answers.
    ///
    /// Errors: if nothing can be measured any more; a refusal is an answer.
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

/// The number of the middle one of so many entries.
pub fn middle(count: u32) -> u32 {
    count / 2
}
