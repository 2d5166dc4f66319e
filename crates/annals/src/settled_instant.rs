//! Asks a repository which instants are settled.

use std::time::Duration;

use crate::Result;
use crate::model::Instant;
use crate::repository::Repository;
use crate::write::follow;

impl Repository {
    /// The settled instant: no later record gets an instant before it, so a snapshot that is taken from now on shows the
    /// same for ever as of each instant before it. Asking for it moves it on, and no commit waits for that.
    ///
    /// | in | it is |
    /// |---|---|
    /// | a writer | the time of the clock, or, while records are being made durable, the instant of the first of them. A clock that is set back does not move it back |
    /// | a follower | 3 seconds before its latest look at the log, because a record has its instant before it is durable, and clocks differ; or the instant of the last record, if that is later. While the log cannot be read it stands still. At its opening of a folder without a writer it is the time of the clock |
    ///
    /// On a log with a register a follower tells the settled instant of the writer, which its lease names; and a writer that
    /// takes over keeps the promise of the one before.
    ///
    /// An imported history ([`Transaction::committed_at`](crate::Transaction::committed_at)) may come before it, a purge takes things from the past, and a writer
    /// that is opened again does not know what an earlier one has told. It is a promise of one writer: another one that
    /// writes to the same log does not know it.
    ///
    /// ```
    /// # use annals::{AsOf, Instant, NewEntity, Repository};
    /// # fn main() -> annals::Result<()> {
    /// let repository = Repository::in_memory();
    /// let now = Instant::now();
    /// repository.wait_settled(now, std::time::Duration::from_secs(2))?;
    /// let then = repository.snapshot().as_of(AsOf { instant: Some(now), ..AsOf::default() })?;
    /// repository.transact(|t| t.create_entity(NewEntity::new("person")))?;
    /// assert_eq!(then.entities_count(), 0);
    /// # Ok(())
    /// # }
    /// ```
    pub fn settled_until(&self) -> Instant {
        self.inner().committer.settled_until()
    }

    /// Settles what a follower has read at its opening, which began at `begun`.
    pub(crate) fn settle_at_opening(&self, begun: Instant) {
        let inner = self.inner();
        inner.committer.note_looked(begun);
        // Most commands read a folder that has no writer, and a later writer gives later instants.
        let now = (inner.options.clock)();
        let has_none = inner.folder.as_ref().is_some_and(|folder| !folder.may_have_writer());
        // Order: after the lock, so that the records of a writer that has just ended are read. Its own thread tries again.
        if has_none && follow(&inner.committer).is_ok() {
            inner.committer.note_settled(now);
        }
    }

    /// True if an instant is before the [settled one](Repository::settled_until). The instant of the clock is too, unless
    /// records are being made durable: the next one then gets a later instant.
    ///
    /// Errors: `FutureInstant` for an instant after both the clock and the last record.
    pub fn is_settled(&self, instant: Instant) -> Result<bool> {
        self.inner().committer.is_settled(instant)
    }

    /// Waits until an instant [is settled](Repository::is_settled), at most `timeout`. Take the snapshot afterwards.
    ///
    /// Errors: `Busy` if it is not settled by then: a commit takes long, or a follower cannot read its log. `FutureInstant`.
    pub fn wait_settled(&self, instant: Instant, timeout: Duration) -> Result<()> {
        self.inner().committer.wait_settled(instant, timeout)
    }
}
