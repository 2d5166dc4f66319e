//! Transactions that write a record of a history again.

use super::transaction::Transaction;
use std::sync::Arc;

use crate::Result;
use crate::model::Instant;

impl Transaction {
    /// Sets the commit instant, to import history; call it before the first change. It must not be before the last
    /// record's, nor in the future; the commit checks both. It may be before the
    /// [settled instant](crate::Repository::settled_until): then reads as of instants since the last record change.
    pub fn committed_at(&mut self, instant: Instant) -> &mut Transaction {
        self.instant = Some(instant);
        (self.own, self.view) = (None, None);
        self
    }

    /// Writes a record of another repository again, as its export has it: every change makes a version, as with
    /// [`Transaction::always`], and the rules of trees are not checked. The record kept them when it was written, but
    /// instances that it needed may be purged since, and then the export does not have them.
    pub fn of_history(&mut self) -> &mut Transaction {
        self.is_of_history = true;
        self.always(true)
    }

    /// Checks the conditions that hold at the end of this transaction.
    pub(super) fn check_own_end(&mut self) -> Result<()> {
        let is_of_history = self.is_of_history;
        let record = Arc::clone(&self.record);
        self.own_graph()?.check_end(&record, is_of_history)
    }
}
