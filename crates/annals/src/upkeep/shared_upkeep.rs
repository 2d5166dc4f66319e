//! The upkeep of a log with a register, as one of its repositories reads and changes it.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant as Clock};

use super::leaving::is_over;
use super::value::Upkeep;
use crate::log::{Log, Register, Slot, Term, Token};
use crate::model::{Instant, Sha256};
use crate::protection::Protection;
use crate::{Error, ErrorKind, Result};

/// A swap is tried for so long.
const PATIENCE: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(20);
/// Tries of a change that others forestall.
const CHANGES_MAX: usize = 100;

/// A swap without an answer: the value before, and the new one.
type Doubt = (Option<Vec<u8>>, Vec<u8>);

/// One repository and the upkeep of its log.
pub(crate) struct SharedUpkeep {
    log: Arc<dyn Log>,
    /// This repository, different from all others.
    writer: Token,
    /// The last term of this repository; 0 before its first.
    term: AtomicU64,
    /// How long an object stays that is to leave the store.
    grace: Duration,
    /// Set while a swap of this repository may have happened, or happen later. It is found out before a value is believed.
    doubt: Mutex<Option<Doubt>>,
}

impl SharedUpkeep {
    pub(crate) fn new(log: Arc<dyn Log>, grace: Duration) -> SharedUpkeep {
        SharedUpkeep { log, writer: Token::random(), term: AtomicU64::new(0), grace, doubt: Mutex::default() }
    }

    pub(crate) fn writer(&self) -> Token {
        self.writer
    }

    pub(crate) fn grace(&self) -> Duration {
        self.grace
    }

    /// The last term of this repository.
    pub(crate) fn term(&self) -> Term {
        Term(self.term.load(Ordering::SeqCst))
    }

    pub(crate) fn register(&self) -> Result<&dyn Register> {
        self.log.register().ok_or_else(|| {
            let text = format!(
                "{}: expected a log with a register; only such a one can be taken over",
                self.log.describe()
            );
            Error::new(ErrorKind::InvalidArgument, text)
        })
    }

    /// The time of the storage.
    pub(crate) fn now(&self) -> Result<Instant> {
        self.register()?.now()
    }

    /// True if the grace has passed since then.
    pub(crate) fn is_over(&self, since: Instant, now: Instant) -> bool {
        is_over(since, now, self.grace)
    }

    /// The value; `None` before the first writer.
    ///
    /// Errors: `Unavailable`; those of decoding.
    pub(crate) fn load(&self) -> Result<Option<Upkeep>> {
        let value = self.get(self.register()?)?;
        value.as_deref().map(Upkeep::decode).transpose()
    }

    /// The value, if `term` is in force and this repository has begun it.
    ///
    /// Errors: `NotWriter` if another one has taken over; those of [`SharedUpkeep::load`].
    pub(crate) fn load_of(&self, term: Term) -> Result<Upkeep> {
        self.load()?.filter(|upkeep| self.is_of(term, upkeep)).ok_or_else(taken_over)
    }

    fn is_of(&self, term: Term, upkeep: &Upkeep) -> bool {
        upkeep.term == term && upkeep.writer == self.writer
    }

    /// True if the value is of the last term of this repository.
    pub(crate) fn is_own(&self, upkeep: &Upkeep) -> bool {
        self.is_of(self.term(), upkeep)
    }

    /// Changes the value as the writer of `term`. `edit` may be called several times. Shape: the value now.
    ///
    /// Errors: `NotWriter` if another one has taken over; `Unavailable`, after which the change may have happened.
    pub(crate) fn change(&self, term: Term, mut edit: impl FnMut(&mut Upkeep)) -> Result<Upkeep> {
        let changed = self.update(&mut |upkeep| {
            if !self.is_of(term, upkeep) {
                return Err(taken_over());
            }
            edit(upkeep);
            Ok(())
        })?;
        changed.ok_or_else(taken_over)
    }

    /// Takes a content off those that leave the store, as any repository may do. Shape: the value now; `None` before the
    /// first writer.
    pub(crate) fn spare(&self, sha256: &Sha256) -> Result<Option<Upkeep>> {
        self.update(&mut |upkeep| {
            upkeep.spare(sha256);
            Ok(())
        })
    }

    /// Swaps until nobody else was first. `edit` that changes nothing swaps nothing.
    fn update(&self, edit: &mut dyn FnMut(&mut Upkeep) -> Result<()>) -> Result<Option<Upkeep>> {
        let register = self.register()?;
        for _ in 0..CHANGES_MAX {
            let known = self.get(register)?;
            let Some(before) = known.as_deref().map(Upkeep::decode).transpose()? else { return Ok(None) };
            let mut upkeep = before.clone();
            edit(&mut upkeep)?;
            if upkeep == before {
                return Ok(Some(upkeep));
            }
            upkeep.count += 1;
            if self.swap(register, known, upkeep.encode())? {
                return Ok(Some(upkeep));
            }
        }
        let text =
            "register: expected to change a value, found it changed by others again and again; try again";
        Err(Error::new(ErrorKind::Unavailable, text))
    }

    /// Begins a term after the value `known`. From here on the old writer's changes fail. False if another one was first.
    pub(crate) fn begin_term(&self, known: Option<&Upkeep>, term: Term) -> Result<bool> {
        let register = self.register()?;
        for _ in 0..CHANGES_MAX {
            let found = self.get(register)?;
            let now = found.as_deref().map(Upkeep::decode).transpose()?;
            let of_term = |upkeep: Option<&Upkeep>| upkeep.map(|upkeep| (upkeep.term, upkeep.writer));
            if of_term(now.as_ref()) != of_term(known) {
                return Ok(false);
            }
            // The objects that leave the store are those of the writer before.
            let mut own = now.unwrap_or_else(|| Upkeep::new(self.writer));
            (own.term, own.writer, own.count) = (term, self.writer, own.count + 1);
            if self.swap(register, found, own.encode())? {
                self.term.store(term.0, Ordering::SeqCst);
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn doubt(&self) -> MutexGuard<'_, Option<Doubt>> {
        self.doubt.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn get(&self, register: &dyn Register) -> Result<Option<Vec<u8>>> {
        settle(register, &mut self.doubt())?;
        register.get(Slot::Upkeep)
    }

    fn swap(&self, register: &dyn Register, expected: Option<Vec<u8>>, value: Vec<u8>) -> Result<bool> {
        let mut doubt = self.doubt();
        settle(register, &mut doubt)?;
        let swapped = swap_until_known(register, expected.as_deref(), &value);
        if swapped.as_ref().is_err_and(|error| !is_refusal(error)) {
            *doubt = Some((expected, value));
        }
        swapped
    }
}

/// Finds out whether an earlier swap happened.
fn settle(register: &dyn Register, doubt: &mut Option<Doubt>) -> Result<()> {
    if let Some((expected, value)) = doubt {
        swap_until_known(register, expected.as_deref(), value)?;
        *doubt = None;
    }
    Ok(())
}

/// True if the value is the new one.
fn swap_until_known(register: &dyn Register, expected: Option<&[u8]>, value: &[u8]) -> Result<bool> {
    let end = Clock::now() + PATIENCE;
    loop {
        // A swap without an answer may have happened, or happen later: the value tells.
        let seen = match Protection::Swap.is_kept() {
            true => expected.map(<[u8]>::to_vec),
            false => register.get(Slot::Upkeep)?,
        };
        let swapped = register.swap(Slot::Upkeep, seen.as_deref(), value);
        match &swapped {
            Ok(true) => return Ok(true),
            Err(error) if is_refusal(error) => return swapped,
            _ => {}
        }
        match register.get(Slot::Upkeep) {
            Ok(now) if now.as_deref() == Some(value) => return Ok(true),
            Ok(now) if now.as_deref() != expected => return Ok(false),
            Err(error) if Clock::now() >= end => return Err(error),
            _ if Clock::now() >= end => return swapped,
            _ => std::thread::sleep(PAUSE),
        }
    }
}

/// True if the swap never happens.
fn is_refusal(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::TooLarge | ErrorKind::ReadOnly)
}

/// The error of a writer that is not the one of the term in force.
fn taken_over() -> Error {
    let text =
        "another server has taken over the log; only that one replaces and removes objects of the store";
    Error::new(ErrorKind::NotWriter, text)
}

impl fmt::Debug for SharedUpkeep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedUpkeep").field("term", &self.term()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU32;

    use super::*;
    use crate::Position;
    use crate::log::{Appended, Call, MemoryLog, ReadLimit};

    /// A log whose register loses the answers of its next swaps. Every other one of these has happened.
    #[derive(Default)]
    struct Losing {
        inner: MemoryLog,
        left: AtomicU32,
    }

    impl Log for Losing {
        fn tail(&self) -> Result<Position> {
            self.inner.tail()
        }

        fn append_call(&self, call: &Call<'_>) -> Appended {
            self.inner.append_call(call)
        }

        fn read(&self, from: Position, limit: ReadLimit) -> Result<Vec<Vec<u8>>> {
            self.inner.read(from, limit)
        }

        fn describe(&self) -> String {
            "losing log".into()
        }

        fn register(&self) -> Option<&dyn Register> {
            Some(self)
        }
    }

    impl Register for Losing {
        fn get(&self, slot: Slot) -> Result<Option<Vec<u8>>> {
            self.inner.get(slot)
        }

        fn swap(&self, slot: Slot, expected: Option<&[u8]>, value: &[u8]) -> Result<bool> {
            let left = self.left.load(Ordering::SeqCst);
            if left == 0 {
                return self.inner.swap(slot, expected, value);
            }
            self.left.store(left - 1, Ordering::SeqCst);
            if left.is_multiple_of(2) {
                self.inner.swap(slot, expected, value)?;
            }
            Err(Error::new(ErrorKind::Unavailable, "the answer was lost"))
        }

        fn now(&self) -> Result<Instant> {
            Ok(Instant::now())
        }
    }

    fn replace(value: &mut Upkeep, name: &str) {
        value.checkpoints = vec![name.to_owned()];
    }

    #[test]
    fn changes_whose_answers_are_lost_happen_once() {
        let log = Arc::new(Losing { inner: MemoryLog::with_register(), ..Losing::default() });
        let one = SharedUpkeep::new(Arc::clone(&log) as Arc<dyn Log>, Duration::ZERO);
        log.left.store(1, Ordering::SeqCst);
        assert!(one.begin_term(None, Term(1)).unwrap());
        for (left, name) in [(1, "a"), (2, "b"), (3, "c")] {
            log.left.store(left, Ordering::SeqCst);
            let before = one.load().unwrap().unwrap().count;
            let changed = one.change(Term(1), |value| replace(value, name)).unwrap();
            assert_eq!((changed.count, &changed.checkpoints[..]), (before + 1, &[name.to_owned()][..]));
            assert_eq!(one.load().unwrap().unwrap(), changed);
        }
    }

    #[test]
    fn a_writer_that_was_deposed_changes_nothing() {
        let log = Arc::new(Losing { inner: MemoryLog::with_register(), ..Losing::default() });
        let upkeep = || SharedUpkeep::new(Arc::clone(&log) as Arc<dyn Log>, Duration::ZERO);
        let (one, two) = (upkeep(), upkeep());
        assert!(one.load().unwrap().is_none() && one.spare(&Sha256([1; 32])).unwrap().is_none());
        assert!(one.begin_term(None, Term(1)).unwrap());
        one.change(Term(1), |value| replace(value, "a")).unwrap();
        assert!(!two.begin_term(None, Term(1)).unwrap(), "another one was first");
        let known = two.load().unwrap();
        assert!(two.begin_term(known.as_ref(), Term(2)).unwrap());
        let refused = one.change(Term(1), |value| replace(value, "zombie")).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::NotWriter);
        assert_eq!(one.load_of(Term(1)).unwrap_err().kind(), ErrorKind::NotWriter);
        assert_eq!(two.load_of(Term(2)).unwrap().checkpoints, ["a"]);
        assert!(!one.is_own(&two.load().unwrap().unwrap()));
    }

    #[test]
    fn a_swap_in_doubt_is_found_out_before_a_value_is_believed() {
        let log = Arc::new(Losing { inner: MemoryLog::with_register(), ..Losing::default() });
        let one = SharedUpkeep::new(Arc::clone(&log) as Arc<dyn Log>, Duration::ZERO);
        assert!(one.begin_term(None, Term(1)).unwrap());
        let expected = log.inner.get(Slot::Upkeep).unwrap();
        let value = Upkeep { count: 9, ..one.load().unwrap().unwrap() };
        // It may still land.
        *one.doubt() = Some((expected, value.encode()));
        assert_eq!(one.load().unwrap().unwrap().count, 9, "it was sent again");
        assert!(one.doubt().is_none());
    }
}
