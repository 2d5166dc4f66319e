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
    pub created: Content,
    pub changed: Content,
    pub removed: Content,
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

    /// Notes a changed entry or leaf; `add` is called only if changes are kept, and adds it to one of their lists.
    pub fn note(&mut self, add: impl FnOnce(&mut Changes)) {
        self.count += 1;
        if let Some(kept) = &mut self.kept {
            add(kept);
        }
    }
}

impl Changes {
    /// Counts the entries.
    pub fn count(&self) -> usize {
        self.created.count() + self.changed.count() + self.removed.count()
    }
}
