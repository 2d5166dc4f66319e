//! What a transaction changes: counted, and kept if somebody is to hear of it.

use serde::{Deserialize, Serialize};

use crate::datastore::content::Content;

/// The changes of a transaction.
#[derive(Default)]
pub struct Diff {
    count: usize,
    kept: Option<Changes>,
}

/// Changes, as they are told.
#[derive(Default, Serialize, Deserialize)]
pub struct Changes {
    created: Content,
    changed: Content,
    removed: Content,
}

impl Diff {
    /// Nothing yet; what comes is kept.
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

    /// Notes an entry that is created; `add` is called only if somebody is to hear of it.
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

    /// Notes an entry, or its leaf, that goes.
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
