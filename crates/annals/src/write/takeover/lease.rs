//! The lease: a writer's signs of life, and a standby that waits until there are none.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant as Clock};

use super::promote::{clock_problem, promote, release};
use super::values::{ADDRESS_BYTES_MAX, WriterLease};
use crate::log::{Log, Register, Slot, Term, Token};
use crate::model::Instant;
use crate::options::Options;
use crate::protection::Protection;
use crate::upkeep::SharedUpkeep;
use crate::write::commit::outcome::{not_writer, reads_only};
use crate::write::commit::queue::Committer;
use crate::{Error, ErrorKind, Position, Result};

/// A writer gives so many signs of life while its lease lasts.
const SIGNS: u32 = 3;
/// A standby looks at the lease so often while it lasts.
const LOOKS: u32 = 15;

/// How a repository stands to the log that it shares with others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    /// True if it is the one that writes.
    pub is_writer: bool,
    /// The term of the writer; 0 on a log without a register.
    pub term: Term,
    /// The address of the writer, if it is known; otherwise empty.
    pub writer: String,
    /// The last record that the writer has told of, or that is here.
    pub position: Position,
    /// Why the latest look at the lease, sign of life or try to take over failed, if it did.
    pub problem: Option<String>,
}

/// The writer of a log that repositories share, as its lease names it. It may have ended since.
#[derive(Clone, PartialEq, Eq)]
pub struct LeaseHolder {
    /// Where it answers; empty if it does not tell.
    pub address: String,
    /// A random number that only this writer and those who can read the log know.
    pub secret: Token,
}

impl LeaseHolder {
    /// The writer that holds the lease of a log; `None` if nobody holds it, and for a log without a register. One that was
    /// killed holds it until another one takes it.
    ///
    /// Errors: those of the register; `NewerFormat`; `Corrupted`.
    pub fn of(log: &dyn Log) -> Result<Option<LeaseHolder>> {
        let Some(register) = log.register() else { return Ok(None) };
        let lease = register.get(Slot::Lease)?.as_deref().map(WriterLease::decode).transpose()?;
        let held = lease.filter(|lease| lease.is_held);
        Ok(held.map(|lease| LeaseHolder { address: lease.address, secret: lease.writer }))
    }
}

/// The place of one repository among those of its log.
pub(crate) struct Seat {
    /// This repository, different from all others.
    pub(super) writer: Token,
    pub(super) upkeep: Arc<SharedUpkeep>,
    pub(super) address: String,
    pub(super) lease_time: Duration,
    pub(super) state: Mutex<State>,
}

/// A change of the lease.
#[derive(Clone, Copy)]
pub(super) enum Sign {
    /// A standby claims it, for the term that it wants to begin.
    Claim(Term),
    /// Its writer gives a sign of life. It may tell instants as settled up to its end.
    Life,
    /// Its writer gives it back.
    Release,
}

pub(super) struct State {
    /// False after [`demote`](Seat::demote): it does not volunteer until another one has written.
    pub(super) is_volunteer: bool,
    /// The value of the lease that was seen last, and since when it is the same.
    seen: Option<Vec<u8>>,
    seen_since: Clock,
    /// The lease in it.
    pub(super) known: Option<WriterLease>,
    problem: Option<String>,
    /// When a standby looked at its clock last, and what was wrong with it.
    clock_seen: Option<Clock>,
    clock_problem: Option<String>,
}

impl Seat {
    /// Errors: `InvalidArgument` for an address that is too long.
    pub(crate) fn new(options: &Options, upkeep: Arc<SharedUpkeep>) -> Result<Seat> {
        let length = options.address.as_ref().map_or(0, String::len);
        if length > ADDRESS_BYTES_MAX {
            let text = format!("address: expected at most {ADDRESS_BYTES_MAX} bytes, found {length}");
            return Err(Error::new(ErrorKind::InvalidArgument, text));
        }
        let state = State {
            is_volunteer: true,
            seen: None,
            seen_since: Clock::now(),
            known: None,
            problem: None,
            clock_seen: None,
            clock_problem: None,
        };
        Ok(Seat {
            writer: upkeep.writer(),
            upkeep,
            address: options.address.clone().unwrap_or_default(),
            lease_time: Duration::from_millis(options.lease_ms.max(1)),
            state: Mutex::new(state),
        })
    }

    /// The value that this repository keeps up beside the log while it writes.
    pub(crate) fn upkeep(&self) -> &Arc<SharedUpkeep> {
        &self.upkeep
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How the repository stands to its log.
    pub(crate) fn standing(&self, committer: &Committer) -> Standing {
        let is_writer = committer.is_writer();
        let (known, problem) = {
            let state = self.state();
            (state.known.clone().filter(|lease| lease.is_held), state.problem.clone())
        };
        let own = committer.snapshot().position();
        let (term, writer, told) =
            known.map(|lease| (lease.term, lease.address, lease.position)).unwrap_or_default();
        if is_writer {
            let (term, writer) = (committer.term(), self.address.clone());
            return Standing { is_writer, term, writer, position: own, problem };
        }
        Standing { is_writer, term: term.max(committer.term()), writer, position: told.max(own), problem }
    }

    /// The time since the latest sign of life, in a repository that writes.
    pub(crate) fn unsigned_for(&self) -> Duration {
        self.state().seen_since.elapsed()
    }

    /// See [`LeaseHolder::secret`].
    pub(crate) fn secret(&self) -> Token {
        self.writer
    }

    /// Looks at the lease. True if its writer has given no sign for as long as it lasts, or has given it back, or there
    /// never was one.
    pub(super) fn look(&self, register: &dyn Register) -> Result<bool> {
        let value = register.get(Slot::Lease)?;
        let lease = value.as_deref().map(WriterLease::decode).transpose()?;
        let mut state = self.state();
        if value != state.seen {
            state.seen = value;
            state.seen_since = Clock::now();
        }
        let is_free = lease.as_ref().is_none_or(|lease| !lease.is_held);
        if lease.as_ref().is_some_and(|lease| lease.is_held && lease.writer != self.writer) {
            state.is_volunteer = true;
        }
        state.known = lease;
        let is_over = is_free || state.seen_since.elapsed() >= self.lease_time;
        Ok(is_over || !Protection::Lease.is_kept())
    }

    /// Changes the lease that was seen last. False if it is another one by now.
    pub(super) fn sign(&self, register: &dyn Register, committer: &Committer, sign: Sign) -> Result<bool> {
        let (seen, known) = {
            let state = self.state();
            (state.seen.clone(), state.known.clone())
        };
        let seen = if Protection::Swap.is_kept() { seen } else { register.get(Slot::Lease)? };
        let lease = self.next_lease(known.as_ref(), committer, sign);
        let value = lease.encode();
        let is_own = match register.swap(Slot::Lease, seen.as_deref(), &value) {
            Ok(is_swapped) => is_swapped || register.get(Slot::Lease)?.as_ref() == Some(&value),
            Err(error) => {
                // It may have happened.
                if register.get(Slot::Lease)?.as_ref() != Some(&value) {
                    return Err(error);
                }
                true
            }
        };
        if is_own {
            let mut state = self.state();
            state.seen = Some(value);
            state.seen_since = Clock::now();
            state.known = Some(lease.clone());
            drop(state);
            if let Sign::Life = sign {
                committer.settle_until(lease.end);
            }
        }
        Ok(is_own)
    }

    fn next_lease(&self, known: Option<&WriterLease>, committer: &Committer, sign: Sign) -> WriterLease {
        let (position, settled, end) =
            known.map_or_else(Default::default, |known| (known.position, known.settled, known.end));
        let lease = WriterLease {
            count: known.map_or(0, |known| known.count + 1),
            term: committer.term(),
            writer: self.writer,
            is_held: true,
            address: self.address.clone(),
            position,
            settled,
            end,
        };
        match sign {
            Sign::Claim(term) => WriterLease { term, ..lease },
            Sign::Life => {
                let now = (committer.clock)().micros();
                let lasts = i64::try_from(self.lease_time.as_micros()).unwrap_or(i64::MAX);
                let until = Instant::from_micros(now.saturating_add(lasts)).unwrap_or(end);
                // Order: the position last, so that all records before the settled instant are up to it.
                let settled = committer.settled_until();
                WriterLease {
                    settled,
                    position: committer.snapshot().position(),
                    end: end.max(until),
                    ..lease
                }
            }
            Sign::Release => {
                let end = committer.told_until();
                WriterLease {
                    is_held: false,
                    settled: end,
                    position: committer.snapshot().position(),
                    end,
                    ..lease
                }
            }
        }
    }

    /// Becomes the writer, unless another one gives signs of life.
    ///
    /// Errors: `Locked` beside a writer; those of the log and of its register.
    pub(crate) fn promote(&self, committer: &Arc<Committer>, reason: &str) -> Result<()> {
        if committer.is_writer() {
            return Ok(());
        }
        let register = self.wait_for_end()?;
        self.state().is_volunteer = true;
        promote(self, committer, register, reason)
    }

    /// Waits until the lease has ended. An opening for writing asks this first, so that it does not read a long log in vain.
    ///
    /// Errors: `Locked` at the next sign of life of a writer; those of the register.
    pub(crate) fn wait_for_end(&self) -> Result<&dyn Register> {
        let register = self.upkeep.register()?;
        while !self.look(register)? {
            let seen = self.state().seen.clone();
            std::thread::sleep(self.rest(false));
            self.look(register)?;
            if self.state().seen != seen {
                return Err(self.locked());
            }
        }
        Ok(register)
    }

    /// The error beside a writer.
    pub(super) fn locked(&self) -> Error {
        let writer = self.state().known.as_ref().map(|lease| lease.address.clone()).unwrap_or_default();
        let place =
            if writer.is_empty() { "another server".to_owned() } else { format!("the server {writer}") };
        let text = format!("the log is written by {place}; ask that one, or open it read-only");
        Error::new(ErrorKind::Locked, text).with("writer", writer)
    }

    /// Ends writing, and gives the lease back, so that a standby takes over at once. Transactions in progress end first;
    /// queued ones are refused.
    ///
    /// Errors: `Unavailable` if the log did not tell their outcome in time, or the register does not answer: then a standby
    /// takes over when the lease has ended.
    pub(crate) fn demote(&self, committer: &Committer) -> Result<()> {
        if !committer.is_writer() {
            return Ok(());
        }
        self.state().is_volunteer = false;
        committer.demote(&not_writer(""));
        committer.stop_settling();
        release(self, committer)
    }

    /// Checks that no other one has taken over: before something beside the log is replaced or removed.
    ///
    /// Errors: `NotWriter`; those of the register.
    pub(crate) fn check_upkeep(&self, committer: &Committer) -> Result<()> {
        self.upkeep.load_of(committer.term()).map(drop).map_err(|error| match error.kind() {
            ErrorKind::NotWriter => not_writer(&self.known_address()),
            _ => error,
        })
    }

    /// Does what is due. A failed look or sign comes again next time.
    fn go_on(&self, committer: &Arc<Committer>) -> Result<()> {
        let register = self.upkeep.register()?;
        if committer.is_writer() && committer.is_sound() {
            if !self.sign(register, committer, Sign::Life)? {
                self.look(register)?;
                committer.demote(&not_writer(&self.known_address()));
            }
            return Ok(());
        }
        let is_over = self.look(register)?;
        if committer.is_writer() {
            // It has failed and refuses writes. Without signs of life another one writes, and this one follows it.
            if self.other_lease().is_none() {
                return Ok(());
            }
            committer.demote(&not_writer(&self.known_address()));
        }
        committer.forget_failure();
        self.settle(committer);
        if !committer.may_write() {
            committer.set_read_only(reads_only(&committer.source().log().describe(), &self.known_address()));
            return Ok(());
        }
        committer.set_read_only(not_writer(&self.known_address()));
        if is_over && self.state().is_volunteer && committer.is_sound() {
            return promote(self, committer, register, "the writer gave no sign of life");
        }
        self.watch_clock(register, committer)
    }

    /// Looks at the clock once in the time of a lease: one that keeps a standby from taking over is known before it must.
    ///
    /// Errors: `Unavailable` with a wrong clock; those of the register.
    fn watch_clock(&self, register: &dyn Register, committer: &Committer) -> Result<()> {
        let is_due = self.state().clock_seen.is_none_or(|seen| seen.elapsed() >= self.lease_time);
        if is_due {
            let problem = clock_problem(register)?.map(|problem| problem.to_string());
            let mut state = self.state();
            let new = problem.clone().filter(|_| state.clock_problem.is_none());
            (state.clock_seen, state.clock_problem) = (Some(Clock::now()), problem);
            drop(state);
            if let Some(text) = new {
                committer.warn(&text);
            }
        }
        let known = self.state().clock_problem.clone();
        known.map_or(Ok(()), |text| Err(Error::new(ErrorKind::Unavailable, text)))
    }

    /// Takes over what the writer tells as settled, once its records are here.
    fn settle(&self, committer: &Committer) {
        let told = self.state().known.as_ref().map(|lease| (lease.position, lease.settled));
        if let Some((position, settled)) = told
            && committer.snapshot().position() >= position
        {
            committer.note_settled(settled);
        }
    }

    /// The lease of another writer, as it was seen last.
    fn other_lease(&self) -> Option<WriterLease> {
        self.state().known.clone().filter(|lease| lease.is_held && lease.writer != self.writer)
    }

    fn known_address(&self) -> String {
        self.other_lease().map(|lease| lease.address).unwrap_or_default()
    }

    fn rest(&self, is_writer: bool) -> Duration {
        self.lease_time / if is_writer { SIGNS } else { LOOKS }
    }
}

/// Starts the thread of the lease: it gives signs of life, or waits until there are none. At its end it gives the lease
/// back.
pub(crate) fn start(
    seat: &Arc<Seat>,
    committer: &Arc<Committer>,
    is_stopping: Arc<AtomicBool>,
) -> Result<JoinHandle<()>> {
    let (seat, committer) = (Arc::clone(seat), Arc::clone(committer));
    std::thread::Builder::new()
        .name("annals-lease".into())
        .spawn(move || {
            while !is_stopping.load(Ordering::SeqCst) {
                let problem = seat.go_on(&committer).err().map(|error| error.to_string());
                seat.state().problem = problem;
                std::thread::park_timeout(seat.rest(committer.is_writer()));
            }
        })
        .map_err(|source| Error::io("start the thread annals-lease", source))
}
