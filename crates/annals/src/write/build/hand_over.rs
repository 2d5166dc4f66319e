//! The end of a transaction: its dry run, and its commit.

use std::sync::Arc;

use super::anchoring;
use super::correction;
use super::taken_back_mark::marked;
use super::transaction::{TRANSACTION_BYTES_MAX, Transaction};
use crate::contents::{Pin, no_contents};
use crate::graph::{check_conflicts, find_conflict};
use crate::memory::Charge;
use crate::model::{Instant, Stamp};
use crate::read::Snapshot;
use crate::record::{RecordBody, each_named_content};
use crate::write::commit::queue::Committer;
use crate::write::commit::request::Work;
use crate::write::commit::ticket::{Receipt, Ticket};
use crate::{Error, ErrorKind, Result};

impl Transaction {
    /// The snapshot after the commit, without committing.
    ///
    /// Errors: as [`Transaction::commit`] for the changes; it checks neither reads nor the size of the record.
    pub fn dry_run(mut self) -> Result<Snapshot> {
        self.check_rights()?;
        let latest = self.committer.snapshot();
        if let Some(key) = &self.record.idempotency_key {
            latest.graph().repeats.check_new(key, latest.position())?;
        }
        self.expectations.check(latest.graph(), latest.log_tag())?;
        find_conflict(latest.graph(), self.base.graph().position, &self.record.changes)?;
        if let Some((base, count)) = self.edits {
            check_conflicts(latest.graph(), base, &self.record.changes[..count])?;
        }
        let latest = match &self.rights {
            Some(rights) => latest.seen_by(rights.sight())?,
            None => latest,
        };
        let mut transaction = Transaction { base: latest, own: None, view: None, ..self };
        transaction.check_own_end()?;
        transaction.check_corrections()?;
        let after = transaction.current()?.clone();
        transaction.committer.validators.check_tried(transaction.base, &after)?;
        Ok(after)
    }

    /// Commits; returns when the record is durable. Without a change, it writes no record, and the receipt names the
    /// last record that this transaction sees.
    ///
    /// Errors: `Conflict` if another transaction changed the same instances first: begin a new transaction and try
    /// again. `PreconditionFailed` if an instance has another version than expected. `InvalidProperty`,
    /// `TypeViolation`, `MissingEnd`, `NotUnique`, `Cardinality`, `NotFound`, `AlreadyExists`, `Deleted` and similar
    /// kinds if a change is not allowed. `Unavailable` if the log failed: the outcome is unknown.
    pub fn commit(self) -> Result<Receipt> {
        self.hand_over(Committer::enqueue_or_lead)?.wait()
    }

    /// Submits the transaction and returns a ticket at once; waits only while the queue is full.
    ///
    /// Errors: `TooLarge`, `ReadOnly`, `Closed`. The ticket returns errors of the changes.
    pub fn submit(self) -> Result<Ticket> {
        self.hand_over(|committer, work| committer.enqueue(work, true))
    }

    /// As [`Transaction::submit`], but never waits.
    ///
    /// Errors: `Busy` while the queue is full.
    pub fn try_submit(self) -> Result<Ticket> {
        self.hand_over(|committer, work| committer.enqueue(work, false))
    }

    fn hand_over(mut self, enqueue: impl FnOnce(&Committer, Box<Work>) -> Result<Ticket>) -> Result<Ticket> {
        self.check_rights()?;
        if self.record.changes.is_empty() {
            if self.left_out_count > 0 {
                // A read-only repository refuses every write, even one that would change nothing.
                self.committer.state().check_writable()?;
            }
            // A repeat may find that nothing is left to change, because the first try has done it.
            if let Some(key) = &self.record.idempotency_key {
                self.base.graph().repeats.check_new(key, self.base.position())?;
            }
            // Also for a serializable transaction: its reads and its expectations are of one snapshot.
            self.expectations.check(self.base.graph(), self.base.log_tag())?;
            let position = self.base.position();
            let instant = self.base.instant_of(position).unwrap_or_default();
            return Ok(Ticket::done(Ok(Receipt { position, instant })));
        }
        self.check_corrections()?;
        self.take_out_purged_edits()?;
        let pins = self.pin_contents()?;
        // Drop them: parts of the graph that other versions share must be copied when they change.
        (self.own, self.view, self.typed) = (None, None, None);
        let Transaction { committer, base, record, instant, edits, .. } = self;
        let mut record = Arc::unwrap_or_clone(record);
        record.instant = instant.unwrap_or_default();
        if !self.taken_back.is_empty() {
            record.message = marked(&record.message, &self.taken_back).into();
        }
        anchoring::attach(&base.unsighted(), &mut record.changes, || Stamp {
            instant: instant.unwrap_or_else(Instant::now),
            author: Arc::clone(&record.author),
        });
        let body = RecordBody::of(&record);
        check_record_size(&body)?;
        let work = Work {
            base: base.graph().position,
            record,
            body,
            instant,
            is_of_history: self.is_of_history,
            reads: self.is_serializable.then_some(self.reads),
            relied: self.relied,
            edits,
            stamped: self.stamped,
            _pins: pins,
            charge: Charge::default(),
            expectations: self.expectations,
        };
        enqueue(&committer, Box::new(work))
    }

    /// Pins the contents that the changes name.
    ///
    /// Errors: `NotFound` if the store does not have one; `InvalidArgument` without a store; `DigestMismatch` if it has
    /// other further digests than a change says.
    fn pin_contents(&self) -> Result<Vec<Pin>> {
        let mut pins = Vec::new();
        for change in &self.record.changes {
            each_named_content(change, &mut |content| {
                let contents = self.committer.contents.as_ref().ok_or_else(no_contents)?;
                pins.push(contents.pin(content)?);
                Ok(())
            })?;
        }
        Ok(pins)
    }

    /// Bytes of the record of the changes so far, at most.
    pub(crate) fn record_bytes(&self) -> usize {
        RecordBody::of(&self.record).record_bytes_max()
    }

    /// Refuses changes that do not fit into a record.
    ///
    /// Errors: `TooLarge`.
    pub(in crate::write) fn check_size(&self) -> Result<()> {
        check_record_size(&RecordBody::of(&self.record))
    }

    /// Refuses corrections of the past that do not fit the past state: only the log has it, so the graph cannot check
    /// this.
    ///
    /// If the commit succeeds, no other transaction has changed the instance, so this check still holds then.
    fn check_corrections(&mut self) -> Result<()> {
        let instances = correction::find(self.base.graph(), &self.record.changes);
        if instances.is_empty() {
            return Ok(());
        }
        let snapshot = self.current()?;
        instances.iter().try_for_each(|instance| correction::check(snapshot, instance))
    }
}

fn check_record_size(body: &RecordBody) -> Result<()> {
    let bytes = body.record_bytes_max();
    if bytes <= TRANSACTION_BYTES_MAX {
        return Ok(());
    }
    let text = format!(
        "transaction: expected at most {TRANSACTION_BYTES_MAX} bytes, found {bytes}; commit in parts"
    );
    Err(Error::new(ErrorKind::TooLarge, text))
}
