//! Candidates: named working copies. You edit one for any time, and then commit it as one transaction, or discard it.
//! Each candidate is an entity, so the log, checkpoints, history and backups hold it as they hold all entities.

mod conflicts;
mod confirm;
mod edits;
mod model;
mod stored;

use std::sync::Arc;
use std::time::Duration;

use crate::model::{Change, Instant, Patch};
use crate::read::Snapshot;
use crate::write::build::retry::transact;
use crate::write::build::transaction::Transaction;
use crate::write::commit::queue::Committer;
use crate::write::commit::ticket::Receipt;
use crate::write::undo::found::Keep;
use crate::write::undo::taken_back::{TakenBack, check_can_be_taken_back};
use crate::{Error, ErrorKind, Result};
pub(crate) use confirm::start;
pub use conflicts::CandidateConflict;
pub use model::{CANDIDATES_MAX, CONFIRM_WITHIN_MAX, Candidate, CandidateCommit, Unconfirmed};
use stored::{CONFIRM_BEFORE, StoredCandidate};

/// The candidates of a repository. Made by [`Repository::candidates`](crate::Repository::candidates).
///
/// ```
/// use annals::{CandidateCommit, Item, Repository, TreePath};
/// # fn main() -> annals::Result<()> {
/// let repository = Repository::in_memory();
/// let candidates = repository.candidates();
/// candidates.open("maintenance", "ada")?;
/// let mtu = TreePath::parse("/interfaces/eth0/mtu")?;
/// candidates.edit("maintenance", |t| t.tree().set(&mtu, 9000))?;
/// assert!(repository.snapshot().tree().item(&mtu)?.is_none());
/// assert!(candidates.view("maintenance")?.tree().item(&mtu)?.is_some());
/// candidates.commit("maintenance", &CandidateCommit::default())?;
/// assert!(repository.snapshot().tree().item(&mtu)?.is_some());
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Candidates {
    committer: Arc<Committer>,
    check: Option<Arc<Check>>,
}

/// Refuses a transaction on behalf of a candidate.
type Check = dyn Fn(&Candidate, &mut Transaction) -> Result<()> + Send + Sync;

/// Holds the timer of commits that must be confirmed, until it is dropped.
#[derive(Debug)]
pub struct HeldTimer(#[expect(dead_code, reason = "its owners are counted")] Arc<()>);

impl Candidates {
    pub(crate) fn new(committer: Arc<Committer>) -> Candidates {
        Candidates { committer, check: None }
    }

    /// The same candidates, for a client that may not do everything. Each write but an opening asks `check` by what is true
    /// then: first with the candidate and a transaction without changes, and then with the transaction that would take
    /// effect. That of an edit and of a rebase has all edits, that of a commit all that it commits, that of a take-back all
    /// that it sets back, and that of a confirmation what it keeps in force but deletions and restorations.
    #[must_use]
    pub fn checked(
        self,
        check: impl Fn(&Candidate, &mut Transaction) -> Result<()> + Send + Sync + 'static,
    ) -> Candidates {
        Candidates { check: Some(Arc::new(check)), ..self }
    }

    /// A candidate that the client may write.
    ///
    /// Errors: `NotFound`; those of the check.
    fn writable(&self, t: &Transaction, name: &str) -> Result<StoredCandidate> {
        let stored = StoredCandidate::read(t.base(), name)?;
        self.ask(&stored, &mut Transaction::new(Arc::clone(&self.committer), t.base().clone()))?;
        Ok(stored)
    }

    fn ask(&self, stored: &StoredCandidate, transaction: &mut Transaction) -> Result<()> {
        self.check.as_ref().map_or(Ok(()), |check| check(stored.candidate(), transaction))
    }

    /// All candidates, by name.
    pub fn list(&self) -> Result<Vec<Candidate>> {
        stored::all(&self.committer.try_snapshot()?)
    }

    /// One candidate.
    ///
    /// Errors: `NotFound`.
    pub fn get(&self, name: &str) -> Result<Candidate> {
        StoredCandidate::read(&self.committer.try_snapshot()?, name).map(StoredCandidate::into_candidate)
    }

    /// Opens a candidate: a working copy of the repository as it is now, without edits.
    ///
    /// Errors: `AlreadyExists`; `InvalidArgument` for a name that no id can have; `TooLarge` if there are [`CANDIDATES_MAX`].
    pub fn open(&self, name: &str, author: &str) -> Result<Receipt> {
        self.transact(|t| {
            t.author(author);
            stored::open(t, name)
        })
        .map(|(_, receipt)| receipt)
    }

    /// Runs `work` in a transaction that sees the latest commits and the edits so far, and stores its changes as edits
    /// of the candidate, durably. Runs it again if another thread edited the candidate meanwhile. The edits keep author
    /// and message.
    ///
    /// Errors: `NotFound`; those of `work`; those of the edits; `PreconditionFailed` if earlier edits can no longer be
    /// applied ([`Candidates::rebase`] helps), if it was committed and waits for a confirmation, or if the candidate has
    /// another version of an instance than `work` expects; `TooLarge` if one transaction cannot commit all its edits.
    pub fn edit<T>(
        &self,
        name: &str,
        mut work: impl FnMut(&mut Transaction) -> Result<T>,
    ) -> Result<(T, Receipt)> {
        self.transact(|outer| {
            let stored = self.writable(outer, name)?.open()?;
            let mut inner = self.with_edits(&stored)?;
            inner.is_always = outer.is_always;
            let (before, count) = (inner.current()?.clone(), inner.record.changes.len());
            let result = work(&mut inner)?;
            if inner.rights.is_some() {
                let text = format!(
                    "candidate {name}: expected edits of a writer without grants, because nobody asks them at its commit; \
                     write without a candidate"
                );
                return Err(Error::new(ErrorKind::Refused, text));
            }
            self.ask(&stored, &mut inner)?;
            inner.check_edits(&before)?;
            outer.author(&inner.record.author).message(&inner.record.message);
            let edits = inner.record_mut().changes.split_off(count);
            stored.add(outer, &edits)?;
            Ok(result)
        })
    }

    /// The latest commits with the edits of the candidate.
    ///
    /// Errors: as [`Candidates::edit`].
    pub fn view(&self, name: &str) -> Result<Snapshot> {
        let stored = StoredCandidate::read(&self.committer.try_snapshot()?, name)?.open()?;
        self.with_edits(&stored)?.current().cloned()
    }

    /// The edits of a candidate, in order. A void is in place of each edit of an instance that was purged after the edit;
    /// it prevents the commit until a rebase drops it.
    ///
    /// Errors: `NotFound`.
    pub fn edits(&self, name: &str) -> Result<Vec<Change>> {
        StoredCandidate::read(&self.committer.try_snapshot()?, name)?.edits()
    }

    /// The edits that prevent the commit of the candidate: edits of instances that another transaction has changed
    /// since its base, edits that would take such instances along, edits that can no longer be applied, and edits whose
    /// unique values others have taken. [`Candidates::check`] also finds conditions that all of
    /// them together break.
    ///
    /// Errors: `NotFound`; `PreconditionFailed` if it waits for a confirmation.
    pub fn conflicts(&self, name: &str) -> Result<Vec<CandidateConflict>> {
        let stored = StoredCandidate::read(&self.committer.try_snapshot()?, name)?.open()?;
        conflicts::find(&stored, &self.committer)
    }

    /// Checks whether the candidate could be committed now, without committing.
    ///
    /// Errors: as [`Candidates::commit`], including the conditions at the end of a transaction, and refusals of hooks.
    pub fn check(&self, name: &str) -> Result<()> {
        let stored = StoredCandidate::read(&self.committer.try_snapshot()?, name)?.open()?;
        conflicts::check(&stored, &self.committer)?;
        let mut transaction = Transaction::new(Arc::clone(&self.committer), stored.snapshot.clone());
        transaction.begin_with_edits(stored.edits()?, stored.base());
        self.ask(&stored, &mut transaction)?;
        transaction.expect_edits_along()?;
        transaction.dry_run().map(drop)
    }

    /// Rebases the candidate on the repository as it is now. Returns the dropped edits.
    ///
    /// With [`Keep::Mine`] edits in conflict stay, and overwrite the later changes when the candidate is committed;
    /// with [`Keep::Theirs`] they are dropped; with neither, a conflict is an error.
    /// Errors: `NotFound`; `PreconditionFailed` for a conflict, with `Mine` only if an edit cannot be applied any more.
    pub fn rebase(&self, name: &str, keep: Option<Keep>, author: &str) -> Result<Vec<CandidateConflict>> {
        self.transact(|t| {
            t.author(author).message(&format!("candidate {name}: rebased"));
            let stored = self.writable(t, name)?.open()?;
            let (conflicts, mut kept) = conflicts::rebase(&stored, t, &self.committer, keep)?;
            self.ask(&stored, &mut kept)?;
            Ok(conflicts)
        })
        .map(|(dropped, _)| dropped)
    }

    /// Commits the edits as one transaction. This ends the candidate, or leaves it waiting for its confirmation.
    ///
    /// Errors: `NotFound`; `PreconditionFailed` if there are conflicts ([`Candidates::conflicts`] lists all of them);
    /// `InvalidArgument` if it must be confirmed and holds changes that cannot be undone, such as purging, or the time
    /// is over [`CONFIRM_WITHIN_MAX`]; as [`Transaction::commit`].
    pub fn commit(&self, name: &str, how: &CandidateCommit) -> Result<Receipt> {
        let confirm_before = how.confirm_within.map(|within| self.deadline(within)).transpose()?;
        let (outcome, receipt) = self.transact(|t| {
            let stored = self.writable(t, name)?.open()?;
            // Order: report the conflict before trying. Trying again does not remove it.
            if let Err(conflict) = conflicts::check(&stored, &self.committer) {
                return Ok(Err(conflict));
            }
            t.author(&how.author).message(&how.message);
            t.begin_with_edits(stored.edits()?, stored.base());
            self.ask(&stored, t)?;
            t.expect_edits_along()?;
            if let Some(before) = confirm_before {
                check_can_be_taken_back(&t.record.changes)?;
                t.update(&stored.instance, Patch::new().set(CONFIRM_BEFORE, before))?;
            } else {
                t.purge(&stored.instance)?;
            }
            Ok(Ok(()))
        })?;
        outcome.map(|()| receipt)
    }

    /// Confirms a commit that waits for confirmation; this ends the candidate.
    ///
    /// Errors: `NotFound`; `PreconditionFailed` if no commit waits: it was not committed, or was undone.
    pub fn confirm(&self, name: &str, author: &str) -> Result<Receipt> {
        self.transact(|t| {
            let stored = self.writable(t, name)?.unconfirmed()?;
            if self.check.is_some() {
                let mut kept = Transaction::new(Arc::clone(&self.committer), t.base().clone());
                let mut edits = stored.edits()?;
                edits.retain(|edit| !edit.action.takes_along());
                kept.begin_with_edits(edits, stored.base());
                self.ask(&stored, &mut kept)?;
            }
            t.author(author).message(&format!("candidate {name}: confirmed"));
            t.purge(&stored.instance)
        })
        .map(|(_, receipt)| receipt)
    }

    /// Undoes a commit that waits for confirmation. The candidate is open again, with its edits.
    ///
    /// With `keep`, also if later transactions built on the commit, as [`Transaction::take_back_all`] says.
    ///
    /// An instance in conflict stays, or is undone, as a whole: its edits in the candidate are about all of it.
    ///
    /// Errors: `NotFound`; `PreconditionFailed` if no commit waits; as [`Transaction::take_back`].
    pub fn take_back(&self, name: &str, keep: Option<Keep>, author: &str) -> Result<(TakenBack, Receipt)> {
        self.transact(|t| {
            t.author(author).message(&format!("candidate {name}: taken back"));
            let stored = self.writable(t, name)?.unconfirmed()?;
            confirm::take_back(t, &stored, keep, |t| self.ask(&stored, t))
        })
    }

    /// Lets commits that nobody confirmed in time wait as long as the result is kept: an import of a history must not be
    /// interrupted by the end of such a commit.
    pub fn hold_timer(&self) -> HeldTimer {
        HeldTimer(Arc::clone(&self.committer.held_timer))
    }

    /// Ends a candidate without committing its edits.
    ///
    /// Errors: `NotFound`; `PreconditionFailed` if it waits for a confirmation: confirm the commit, or undo it first.
    pub fn discard(&self, name: &str, author: &str) -> Result<Receipt> {
        self.transact(|t| {
            let stored = self.writable(t, name)?.open()?;
            t.author(author).message(&format!("candidate {name}: discarded"));
            t.purge(&stored.instance)
        })
        .map(|(_, receipt)| receipt)
    }

    fn transact<T>(&self, work: impl FnMut(&mut Transaction) -> Result<T>) -> Result<(T, Receipt)> {
        transact(&self.committer, work)
    }

    /// A transaction with the edits of a candidate, on the snapshot that the candidate was read from.
    fn with_edits(&self, stored: &StoredCandidate) -> Result<Transaction> {
        let mut transaction = Transaction::new(Arc::clone(&self.committer), stored.snapshot.clone());
        let edits = stored.edits()?;
        let purged = edits.iter().find_map(conflicts::purged);
        transaction.begin_with_edits(edits, stored.base());
        purged.map_or_else(|| transaction.current().map(drop), Err).map_err(|error| {
            let name = &stored.name;
            let text = format!("candidate {name}: its edits cannot be applied any more, {error}; rebase it");
            Error::new(ErrorKind::PreconditionFailed, text).with("candidate", name)
        })?;
        Ok(transaction)
    }

    fn deadline(&self, within: Duration) -> Result<Instant> {
        let micros = i64::try_from(within.as_micros()).ok().filter(|_| within <= CONFIRM_WITHIN_MAX);
        let deadline = micros.and_then(|micros| (self.committer.clock)().micros().checked_add(micros));
        deadline.map(Instant::from_checked_micros).ok_or_else(|| {
            let days = CONFIRM_WITHIN_MAX.as_secs() / (24 * 3_600);
            let text = format!("confirm within: expected at most {days} days, found {within:?}");
            Error::new(ErrorKind::InvalidArgument, text)
        })
    }
}
