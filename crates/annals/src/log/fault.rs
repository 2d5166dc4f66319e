//! Injects the faults of remote logs into any log, by a seeded plan. The engine must survive them.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{
    Appended, Call, Log, LogId, ReadLimit, Register, Rewrite, Term, Token, check_append, check_read,
};
use crate::storage::widen;
use crate::{Error, ErrorKind, Position, Result};

/// How often each fault happens. The same plan on the same calls injects the same faults.
///
/// Units: calls in 1 000; 0 is never, 1 000 is always.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FaultPlan {
    /// The seed of the random sequence.
    pub seed: u64,
    /// The append does nothing, and is refused with `Unavailable`: the log was not reached.
    pub append_refused: u16,
    /// The append does nothing, and its outcome is unknown: the call was lost.
    pub append_lost: u16,
    /// The append succeeds, and its outcome is unknown: the answer was lost.
    pub append_answer_lost: u16,
    /// The outcome of the append is unknown, and it happens later: before one of the next calls, or never if another one
    /// took its position.
    pub append_late: u16,
    /// The append does nothing and answers `Taken`, as if another writer had won. Never for a call that came before.
    pub append_conflict: u16,
    /// The append does nothing and answers `NoRoom`; so does the probe.
    pub append_full: u16,
    /// Reading, or asking for the tail, answers `Unavailable`.
    pub read_refused: u16,
    /// Reading returns fewer records than the limit allows, but at least one.
    pub read_short: u16,
}

/// A log that behaves as `inner` does, except for the faults of its plan.
#[derive(Debug)]
pub struct FaultLog<L> {
    inner: L,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    plan: FaultPlan,
    /// `set_plan` starts it from the seed of the plan.
    random: u64,
    /// The latest call whose outcome was unknown.
    in_doubt: Option<Token>,
    late: Vec<LateCall>,
}

/// An append that happens later.
#[derive(Debug)]
struct LateCall {
    /// How many calls come before it.
    calls_before: u64,
    at: Position,
    token: Token,
    term: Term,
    records: Vec<Vec<u8>>,
}

/// A late append happens before one of so many next calls.
const LATE_CALLS_MAX: u64 = 8;

impl<L: Log> FaultLog<L> {
    /// Wraps `inner` and injects faults by `plan`.
    pub fn new(inner: L, plan: FaultPlan) -> FaultLog<L> {
        FaultLog { inner, state: Mutex::new(State { plan, random: plan.seed, ..State::default() }) }
    }

    /// Follows another plan from now on; the default plan injects nothing. Late appends that have not happened yet still
    /// do.
    pub fn set_plan(&self, plan: FaultPlan) {
        let mut state = self.state();
        state.plan = plan;
        state.random = plan.seed;
    }

    /// How many late appends have not happened yet.
    pub fn late_count(&self) -> usize {
        self.state().late.len()
    }

    /// The log inside.
    pub fn inner(&self) -> &L {
        &self.inner
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// True `per_mille` times in 1 000. Always draws, so that one chance does not shift the others.
    fn happens(&self, chance: impl Fn(&FaultPlan) -> u16) -> bool {
        let mut state = self.state();
        next_random(&mut state.random) % 1_000 < u64::from(chance(&state.plan))
    }

    /// Makes the late appends that are due.
    fn make_late(&self) {
        let mut due = Vec::new();
        let mut state = self.state();
        for mut call in std::mem::take(&mut state.late) {
            match call.calls_before.checked_sub(1) {
                Some(left) => {
                    call.calls_before = left;
                    state.late.push(call);
                }
                None => due.push(call),
            }
        }
        drop(state);
        for LateCall { at, token, term, records, .. } in due {
            let records: Vec<&[u8]> = records.iter().map(Vec::as_slice).collect();
            // Nobody hears of its outcome.
            let _ = self.inner.append_call(&Call { at, token, term, records: &records });
        }
    }

    /// The outcome of a call that nobody has heard of.
    fn unknown(&self, call: &Call<'_>, what: &str) -> Appended {
        self.state().in_doubt = Some(call.token);
        Appended::Unknown(self.unavailable(what))
    }

    fn postpone(&self, call: &Call<'_>) -> Appended {
        let mut state = self.state();
        let calls_before = next_random(&mut state.random) % LATE_CALLS_MAX;
        let records = call.records.iter().map(|record| record.to_vec()).collect();
        state.late.push(LateCall { calls_before, at: call.at, token: call.token, term: call.term, records });
        drop(state);
        self.unknown(call, "append, it happens later")
    }

    fn full(&self, what: &str) -> Error {
        let text = format!("{}: {what}: injected fault; nothing was written; make room", self.describe());
        Error::new(ErrorKind::NoRoom, text)
    }

    fn unavailable(&self, what: &str) -> Error {
        Error::new(ErrorKind::Unavailable, format!("{}: {what}: injected fault; retry", self.describe()))
    }
}

impl<L: Log> Log for FaultLog<L> {
    fn tail(&self) -> Result<Position> {
        if self.happens(|plan| plan.read_refused) {
            return Err(self.unavailable("tail"));
        }
        self.inner.tail()
    }

    fn append_call(&self, call: &Call<'_>) -> Appended {
        if let Err(error) = check_append(self, call) {
            return Appended::Refused(error);
        }
        self.make_late();
        let is_repeated = self.state().in_doubt == Some(call.token);
        // Order: each chance is drawn, whatever the others are.
        let [is_refused, is_lost, is_late, is_conflict, is_full, is_unheard] = [
            self.happens(|plan| plan.append_refused),
            self.happens(|plan| plan.append_lost),
            self.happens(|plan| plan.append_late),
            self.happens(|plan| plan.append_conflict),
            self.happens(|plan| plan.append_full),
            self.happens(|plan| plan.append_answer_lost),
        ];
        if is_refused {
            return Appended::Refused(self.unavailable("append"));
        }
        if is_lost {
            return self.unknown(call, "append, the call was lost");
        }
        if is_late {
            return self.postpone(call);
        }
        if is_conflict && !is_repeated {
            return Appended::Taken;
        }
        if is_full {
            return Appended::Refused(self.full("append"));
        }
        match self.inner.append_call(call) {
            Appended::Stored if is_unheard => self.unknown(call, "append, the answer was lost"),
            outcome => outcome,
        }
    }

    fn read(&self, from: Position, limit: ReadLimit) -> Result<Vec<Vec<u8>>> {
        check_read(self, from)?;
        self.make_late();
        if self.happens(|plan| plan.read_refused) {
            return Err(self.unavailable("read"));
        }
        let mut records = self.inner.read(from, limit)?;
        if self.happens(|plan| plan.read_short) && records.len() > 1 {
            let kept = next_random(&mut self.state().random) % widen(records.len() - 1);
            records.truncate(1 + usize::try_from(kept).unwrap_or_default());
        }
        Ok(records)
    }

    fn probe(&self) -> Result<()> {
        if self.happens(|plan| plan.append_full) {
            return Err(self.full("probe"));
        }
        self.inner.probe()
    }

    fn describe(&self) -> String {
        format!("{} with faults", self.inner.describe())
    }

    fn id(&self) -> LogId {
        self.inner.id()
    }

    fn generation(&self) -> u64 {
        self.inner.generation()
    }

    fn register(&self) -> Option<&dyn Register> {
        self.inner.register()
    }

    fn bytes_up_to(&self, position: Position) -> u64 {
        self.inner.bytes_up_to(position)
    }

    fn close(&self) -> Result<()> {
        self.inner.close()
    }

    fn as_rewrite(&self) -> Option<&dyn Rewrite> {
        self.inner.as_rewrite()
    }
}

/// SplitMix64: small, and good enough to choose faults.
/// Source: <https://prng.di.unimi.it/splitmix64.c>.
pub(crate) fn next_random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::MemoryLog;

    fn always(set: impl Fn(&mut FaultPlan)) -> FaultLog<MemoryLog> {
        let mut plan = FaultPlan::default();
        set(&mut plan);
        FaultLog::new(MemoryLog::new(), plan)
    }

    #[test]
    fn refused_append_stores_nothing() {
        let log = always(|plan| plan.append_refused = 1_000);
        let refused = log.append(Position(1), &[b"a"]).unwrap_err();
        assert_eq!((refused.kind(), log.tail().unwrap()), (ErrorKind::Unavailable, Position::ZERO));
    }

    #[test]
    fn lost_append_stores_nothing_and_its_outcome_is_unknown() {
        let log = always(|plan| plan.append_lost = 1_000);
        let lost = log.append(Position(1), &[b"a"]).unwrap_err();
        assert_eq!((lost.kind(), log.tail().unwrap()), (ErrorKind::OutcomeUnknown, Position::ZERO));
    }

    #[test]
    fn late_append_happens_later_once_and_never_at_a_position_that_is_taken() {
        let log = always(|plan| plan.append_late = 1_000);
        let call = |records| Call { at: Position(1), token: Token(7), term: Term(0), records };
        assert!(matches!(log.append_call(&call(&[b"a"])), Appended::Unknown(_)));
        assert_eq!(log.inner().tail().unwrap(), Position::ZERO);
        log.set_plan(FaultPlan::default());
        for _ in 0..LATE_CALLS_MAX + 1 {
            log.read(Position(1), ReadLimit::ONE).unwrap();
        }
        assert_eq!(log.tail().unwrap(), Position(1));
        assert!(matches!(log.append_call(&call(&[b"a"])), Appended::Stored), "its repeat hears of it");
        log.set_plan(FaultPlan { append_late: 1_000, ..FaultPlan::default() });
        assert!(matches!(log.append_call(&Call { at: Position(2), ..call(&[b"b"]) }), Appended::Unknown(_)));
        log.inner().append(Position(2), &[b"c"]).unwrap();
        for _ in 0..LATE_CALLS_MAX + 1 {
            log.read(Position(1), ReadLimit::ONE).unwrap();
        }
        assert_eq!(log.inner().read(Position(2), ReadLimit::default()).unwrap(), [b"c".to_vec()]);
    }

    #[test]
    fn lost_answer_stores_the_record() {
        let log = always(|plan| plan.append_answer_lost = 1_000);
        let lost = log.append(Position(1), &[b"a"]).unwrap_err();
        assert_eq!((lost.kind(), log.tail().unwrap()), (ErrorKind::OutcomeUnknown, Position(1)));
    }

    #[test]
    fn full_append_stores_nothing_and_the_probe_tells() {
        let log = always(|plan| plan.append_full = 1_000);
        let full = log.append(Position(1), &[b"a"]).unwrap_err();
        assert_eq!((full.kind(), log.tail().unwrap()), (ErrorKind::NoRoom, Position::ZERO));
        assert_eq!(log.probe().unwrap_err().kind(), ErrorKind::NoRoom);
        log.set_plan(FaultPlan::default());
        log.probe().unwrap();
    }

    #[test]
    fn injected_conflict_stores_nothing() {
        let log = always(|plan| plan.append_conflict = 1_000);
        let conflict = log.append(Position(1), &[b"a"]).unwrap_err();
        assert_eq!((conflict.kind(), log.tail().unwrap()), (ErrorKind::Conflict, Position::ZERO));
    }

    #[test]
    fn short_read_returns_at_least_one_record() {
        let log = always(|plan| plan.read_short = 1_000);
        log.append(Position(1), &[b"a", b"b", b"c"]).unwrap();
        let read = log.read(Position(1), ReadLimit::default()).unwrap();
        assert!(read == [b"a".to_vec()] || read == [b"a".to_vec(), b"b".to_vec()], "{read:?}");
        assert_eq!(log.read(Position(3), ReadLimit::default()).unwrap(), [b"c".to_vec()]);
    }

    #[test]
    fn the_same_plan_injects_the_same_faults() {
        let plan = FaultPlan { seed: 7, append_refused: 500, ..FaultPlan::default() };
        let outcomes = || -> Vec<bool> {
            let log = FaultLog::new(MemoryLog::new(), plan);
            (0..50).map(|_| log.append(log.tail().unwrap().next(), &[b"a"]).is_ok()).collect()
        };
        assert_eq!(outcomes(), outcomes());
        assert!(outcomes().contains(&true) && outcomes().contains(&false));
    }
}
