//! Requests that come again: the receipt of the commit that they have made already.

use super::transaction::Transaction;
use crate::IdempotencyKey;
use crate::Result;
use crate::read::Snapshot;
use crate::write::commit::ticket::Receipt;

impl Snapshot {
    /// The receipt of the commit with this key, in whichever process it was made; `None` if there is none among the last
    /// 65,536 commits with keys. A transaction that changed nothing left no record, and so no key.
    ///
    /// Errors: `InvalidArgument` if it was the key of another request.
    pub fn receipt_of(&self, key: &IdempotencyKey) -> Result<Option<Receipt>> {
        let found = self.graph().repeats.find(key)?;
        Ok(found.map(|position| Receipt { position, instant: self.instant_of(position).unwrap_or_default() }))
    }
}

impl Transaction {
    /// Makes this the transaction of a request that may come again. Its commit fails with `AlreadyExists` if there is one with
    /// this key: ask [`Snapshot::receipt_of`] before, and again after a failure.
    ///
    /// Edits of candidates keep no key.
    pub fn idempotency_key(&mut self, key: IdempotencyKey) -> &mut Transaction {
        self.record_mut().idempotency_key = Some(key);
        self
    }
}
