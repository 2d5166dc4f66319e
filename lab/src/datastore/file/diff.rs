//! The changes of a transaction: counted, and kept for subscribers.

use serde::{Deserialize, Serialize};

use crate::datastore::content::Content;

/// The changes of a transaction.
#[derive(Default)]
pub struct Diff {
    count: usize,
    kept: Option<Changes>,
}

/// Changes, as subscribers receive them.
#[derive(Default, Serialize, Deserialize)]
pub struct Changes {
    created: Content,
    changed: Content,
    removed: Content,
}

impl Diff {
    /// An empty difference that keeps its changes.
    pub fn kept() -> Diff {
        Diff { count: 0, kept: Some(Changes::default()) }
    }

    /// Counts the changes.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The changes, if they are kept.
    pub fn changes(&self) -> Option<&Changes> {
        self.kept.as_ref()
    }

    /// Notes a new entry; `add` is called only if changes are kept.
    pub fn create(&mut self, add: impl FnOnce(&mut Content)) {
        self.count += 1;
        if let Some(kept) = &mut self.kept {
            add(&mut kept.created);
        }
    }

    /// Notes an entry whose leaf changes.
    pub fn change(&mut self, add: impl FnOnce(&mut Content)) {
        self.count += 1;
        if let Some(kept) = &mut self.kept {
            add(&mut kept.changed);
        }
    }

    /// Notes an entry, or a leaf, that is removed.
    pub fn remove(&mut self, add: impl FnOnce(&mut Content)) {
        self.count += 1;
        if let Some(kept) = &mut self.kept {
            add(&mut kept.removed);
        }
    }
}

impl Changes {
    /// Counts the entries.
    pub fn count(&self) -> usize {
        self.created.count() + self.changed.count() + self.removed.count()
    }
}
