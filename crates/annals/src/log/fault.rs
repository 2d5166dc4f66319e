//! Injects the faults of remote logs into any log, by a seeded plan. The engine must survive them.

use std::sync::{Mutex, PoisonError};

use super::{Log, LogId, ReadLimit, Rewrite, check_append, check_read};
use crate::storage::widen;
use crate::{Error, ErrorKind, Position, Result};

/// How often each fault happens. The same plan on the same calls injects the same faults.
///
/// Units: calls in 1 000; 0 is never, 1 000 is always.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FaultPlan {
    /// The seed of the random sequence.
    pub seed: u64,
    /// The append does nothing and answers `Unavailable`.
    pub append_refused: u16,
    /// The append succeeds and answers `Unavailable`: the answer was lost.
    pub append_answer_lost: u16,
    /// The append does nothing and answers `Conflict`, as if another writer had won.
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
    // `set_plan` replaces the plan; the random state starts from the seed of the plan.
    state: Mutex<(FaultPlan, u64)>,
}

impl<L: Log> FaultLog<L> {
    /// Wraps `inner` and injects faults by `plan`.
    pub fn new(inner: L, plan: FaultPlan) -> FaultLog<L> {
        FaultLog { inner, state: Mutex::new((plan, plan.seed)) }
    }

    /// Follows another plan from now on; the default plan injects nothing.
    pub fn set_plan(&self, plan: FaultPlan) {
        *self.state.lock().unwrap_or_else(PoisonError::into_inner) = (plan, plan.seed);
    }

    /// The log inside.
    pub fn inner(&self) -> &L {
        &self.inner
    }

    /// True `per_mille` times in 1 000. Always draws, so that one chance does not shift the others.
    fn happens(&self, chance: impl Fn(&FaultPlan) -> u16) -> bool {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let (plan, random) = &mut *state;
        next_random(random) % 1_000 < u64::from(chance(plan))
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

    fn append(&self, at: Position, records: &[&[u8]]) -> Result<()> {
        check_append(self, at, records)?;
        if self.happens(|plan| plan.append_refused) {
            return Err(self.unavailable("append"));
        }
        if self.happens(|plan| plan.append_conflict) {
            let text =
                format!("{}: position {at} is taken: injected fault; reload and retry", self.describe());
            return Err(Error::new(ErrorKind::Conflict, text));
        }
        if self.happens(|plan| plan.append_full) {
            return Err(self.full("append"));
        }
        self.inner.append(at, records)?;
        if self.happens(|plan| plan.append_answer_lost) {
            return Err(self.unavailable("append, the answer was lost"));
        }
        Ok(())
    }

    fn read(&self, from: Position, limit: ReadLimit) -> Result<Vec<Vec<u8>>> {
        check_read(self, from)?;
        if self.happens(|plan| plan.read_refused) {
            return Err(self.unavailable("read"));
        }
        let mut records = self.inner.read(from, limit)?;
        if self.happens(|plan| plan.read_short) && records.len() > 1 {
            let kept = {
                let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
                next_random(&mut state.1) % widen(records.len() - 1)
            };
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
    fn lost_answer_stores_the_record() {
        let log = always(|plan| plan.append_answer_lost = 1_000);
        let lost = log.append(Position(1), &[b"a"]).unwrap_err();
        assert_eq!((lost.kind(), log.tail().unwrap()), (ErrorKind::Unavailable, Position(1)));
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
