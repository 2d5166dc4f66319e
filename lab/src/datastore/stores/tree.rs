//! The calls that the rows need of a store.

use crate::datastore::content::{Content, Entry, List};
use crate::datastore::subscribers::{Feed, Position};
use crate::datastore::target::Store;
use crate::harness::TargetRecord;
use crate::outcome::Outcome;

/// The tree in the form of a store. A call is one transaction, if the store has transactions.
pub trait Tree {
    /// Its version, durability and settings, read from the server.
    fn record(&mut self) -> Outcome<TargetRecord>;

    /// Empties both stores.
    fn begin(&mut self) -> Outcome<()>;

    /// The leaf of an entry of the running `lst`.
    fn leaf(&mut self, number: u32) -> Outcome<Option<String>>;

    /// The container with everything in it, each list in its order. `None` if it is not there.
    fn all(&mut self, store: Store) -> Outcome<Option<Content>>;

    /// Sets the leaves of these entries of one list, and creates the missing entries, new ones of `usr-lst` at its end, and the container.
    ///
    /// Shape: whether that changed anything, as for the other changes.
    fn set(&mut self, store: Store, entries: &Content) -> Outcome<bool>;

    /// Creates the leaf of this entry of the running `lst`. False, without a change, if it is there.
    fn create_leaf(&mut self, entry: &Entry) -> Outcome<bool>;

    /// Removes the leaf of an entry of `lst`. The entry stays.
    fn remove_leaf(&mut self, store: Store, number: u32) -> Outcome<bool>;

    /// Removes every entry of a list. The container stays.
    fn remove_entries(&mut self, store: Store, list: List) -> Outcome<bool>;

    /// Removes the running container with everything in it.
    fn remove_container(&mut self) -> Outcome<bool>;

    /// Why it has no subscribers, if it has none.
    fn lacks_subscribers(&self) -> Option<&'static str> {
        None
    }

    /// Begins to keep changes of `lst`. Shape: as many feeds of them, each with a connection of its own.
    fn subscribe(&mut self, count: usize) -> Outcome<Vec<Box<dyn Feed>>>;

    /// The position of the last change that is kept.
    fn position(&mut self) -> Outcome<Position>;

    /// Stops keeping changes.
    fn unsubscribe(&mut self) -> Outcome<()>;
}

/// How a store is called in names of tables and keys.
pub fn name(store: Store) -> &'static str {
    match store {
        Store::Running => "running",
        Store::Operational => "operational",
    }
}
