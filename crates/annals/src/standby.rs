//! A repository on a log that others may write: it follows, stands by, takes over, and tells who writes.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::log::{LogId, Token};
use crate::options::Options;
use crate::read::Snapshot;
use crate::repository::{Inner, Repository};
use crate::upkeep::SharedUpkeep;
use crate::write::{Committer, Following, Seat, Standing, follow, follow_step, following, prepare};
use crate::{Error, ErrorKind, Position, Result};

impl Repository {
    /// Reads records that other writers, or the writer that this repository follows, have added.
    ///
    /// Does nothing in a repository that writes: it reads records of other writers when it commits.
    /// Errors: those of the log; `Unavailable` if it is another log than the one that was read, or has lost records.
    pub fn refresh(&self) -> Result<Position> {
        if !self.is_read_only() {
            return Ok(self.snapshot().position());
        }
        let _one = self.inner().maintenance.lock().unwrap_or_else(PoisonError::into_inner);
        follow(&self.inner().committer).map(|graph| graph.position)
    }

    /// As [`Repository::snapshot`], but never of a graph that is not there. A server takes its snapshots here.
    ///
    /// Errors: `Unavailable` in a follower that has dropped its graph after a compaction, because its memory budget has no
    /// room for two, and reads the log anew ([`Error::is_opening`]).
    pub fn try_snapshot(&self) -> Result<Snapshot> {
        self.inner().committer.try_snapshot()
    }

    /// The identity of the log, which a copy of it does not have; [`LogId::NIL`](crate::log::LogId::NIL) for a log without
    /// identity, such as one in memory.
    pub fn log_id(&self) -> LogId {
        self.inner().committer.source().log().id()
    }

    /// How a repository that was opened read-only stands to the log that it follows; `None` in one that writes.
    pub fn following(&self) -> Option<Following> {
        self.is_read_only().then(|| following(&self.inner().committer))
    }

    /// The time since snapshots are known to have had every record: of one that follows, see [`Following::age`]; of a writer
    /// whose log others may take over, since its latest sign of life; otherwise zero.
    pub fn age(&self) -> Duration {
        let seat = self.inner().seat.as_ref();
        match self.following() {
            Some(following) => following.age,
            None => seat.map_or(Duration::ZERO, |seat| seat.unsigned_for()),
        }
    }

    /// Checks that the log is the one that snapshots were read from. A server asks this before each answer.
    ///
    /// Errors: `Unavailable` in a follower whose log was replaced by another one, or has lost records: snapshots show
    /// what is in no log any more; as [`Repository::try_snapshot`].
    pub fn check_log(&self) -> Result<()> {
        if !self.is_read_only() {
            return Ok(());
        }
        if !self.inner().committer.source().is_of_other_log() {
            return self.try_snapshot().map(drop);
        }
        following(&self.inner().committer).problem.map_or(Ok(()), Err)
    }

    /// Refuses if this repository writes nothing now.
    ///
    /// Errors: `ReadOnly` if it was opened so; `NotWriter` while another one writes to its log.
    pub fn check_writer(&self) -> Result<()> {
        self.inner().committer.read_only().map_or(Ok(()), Err)
    }

    /// Takes over the log of others before there are threads, unless it is opened as a standby.
    pub(crate) fn take_seat(&self) -> Result<()> {
        let inner = self.inner();
        match &inner.seat {
            Some(seat) if !inner.options.is_standby => {
                prepare(&inner.committer);
                seat.promote(&inner.committer, "opened for writing")
            }
            _ => Ok(()),
        }
    }

    /// Becomes the writer of a log with a register, in this running repository. A writer that gives signs of life is not
    /// deposed: end it, or let it call [`Repository::demote`].
    ///
    /// Errors: `Locked` beside a writer; `InvalidArgument` on a log without a register; `ReadOnly` if it was opened so;
    /// those of the log and of the register, after which it is a standby as before.
    pub fn promote(&self) -> Result<()> {
        let inner = self.inner();
        let Some(seat) = inner.seat.as_ref().filter(|_| !inner.options.is_read_only) else {
            return self.check_seat();
        };
        seat.promote(&inner.committer, "promoted")
    }

    /// Ends writing, and lets a standby take over at once. Transactions in progress are committed first; queued and later
    /// ones are refused with `NotWriter`, and nothing of them was written. It takes over again when it is asked to, or after
    /// another one has written.
    ///
    /// Errors: `InvalidArgument` on a log without a register; `ReadOnly`; `Unavailable` if the log or the register does
    /// not answer: it does not write any more, but a standby waits until the lease has ended.
    pub fn demote(&self) -> Result<()> {
        let inner = self.inner();
        let Some(seat) = inner.seat.as_ref().filter(|_| !inner.options.is_read_only) else {
            return self.check_seat();
        };
        seat.demote(&inner.committer)
    }

    fn check_seat(&self) -> Result<()> {
        let log = self.inner().committer.source().log();
        if self.inner().options.is_read_only {
            let text = format!("{}: it is open read-only; open it as a standby", log.describe());
            return Err(Error::new(ErrorKind::ReadOnly, text));
        }
        let text =
            format!("{}: expected a log with a register; only such a one can be taken over", log.describe());
        Err(Error::new(ErrorKind::InvalidArgument, text))
    }

    /// True if it does not write at present, and takes over when the writer gives no more signs of life.
    pub fn is_standby(&self) -> bool {
        self.inner().seat.is_some() && !self.inner().options.is_read_only && self.is_read_only()
    }

    /// The [`LeaseHolder::secret`](crate::LeaseHolder::secret) of this repository while it writes; `None` on a log without a
    /// register.
    pub fn lease_secret(&self) -> Option<Token> {
        self.inner().seat.as_ref().map(|seat| seat.secret())
    }

    /// How it stands to the log that it shares with others; `None` on a log without a register.
    pub fn standing(&self) -> Option<Standing> {
        self.inner().seat.as_ref().map(|seat| seat.standing(&self.inner().committer))
    }
}

impl Inner {
    /// Checks that no other one has taken over, before something beside the log is replaced or removed.
    pub(crate) fn check_upkeep(&self) -> Result<()> {
        self.seat.as_ref().map_or(Ok(()), |seat| seat.check_upkeep(&self.committer))
    }
}

/// The place of a repository among those of its log; `None` without a register. One that is opened for writing waits until
/// the lease has ended.
///
/// Errors: `Locked` beside a writer; `InvalidArgument` for an address that is too long; those of the register.
pub(crate) fn seat_of(upkeep: Option<&Arc<SharedUpkeep>>, options: &Options) -> Result<Option<Arc<Seat>>> {
    let Some(upkeep) = upkeep else { return Ok(None) };
    let seat = Arc::new(Seat::new(options, Arc::clone(upkeep))?);
    if !options.is_read_only && !options.is_standby {
        seat.wait_for_end()?;
    }
    Ok(Some(seat))
}

/// A thread that looks for new records of another writer.
pub(crate) fn poll(
    committer: Arc<Committer>,
    is_stopping: Arc<AtomicBool>,
    options: &Options,
) -> Result<JoinHandle<()>> {
    let interval = Duration::from_millis(options.poll_interval_ms.max(1));
    std::thread::Builder::new()
        .name("annals-follower".into())
        .spawn(move || {
            while !is_stopping.load(Ordering::SeqCst) {
                // A call of `refresh` or `following` returns the error; the thread keeps trying.
                let has_more = follow_step(&committer).is_ok_and(|look| look.has_more);
                if !has_more {
                    std::thread::park_timeout(interval);
                }
            }
        })
        .map_err(|source| Error::io("start the thread annals-follower", source))
}
