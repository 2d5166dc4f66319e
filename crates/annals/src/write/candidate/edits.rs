//! A transaction whose first changes are the edits of a candidate.

use crate::model::{Action, Change};
use crate::read::Snapshot;
use crate::write::Transaction;
use crate::{Position, Result};

impl Transaction {
    /// Begins with the edits of a candidate, which have another base.
    pub(in crate::write) fn take_edits(&mut self, edits: Vec<Change>, base: Position) {
        self.edits = Some((base, edits.len()));
        self.defines_types = edits.iter().any(|change| matches!(change.action, Action::DefineType(_)));
        self.changes = edits;
    }

    /// Checks the edits that were added since the view `before`.
    pub(in crate::write) fn check_edits(&mut self, before: &Snapshot) -> Result<()> {
        self.current()?;
        self.expectations.check_edits(self.base.graph(), before)?;
        self.check_size()
    }

    /// Adds a change if it can be applied.
    pub(in crate::write) fn try_change(&mut self, change: &Change) -> Result<()> {
        let before = self.own.clone();
        self.changes.push(change.clone());
        self.own_graph().map(drop).inspect_err(|_| {
            self.changes.pop();
            self.own = before;
        })
    }
}
