//! One version of the keys, made from the one before when somebody needs it.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use super::notes::Notes;
use crate::graph::key_set::KeySet;
use crate::graph::vector::Vector;

/// Whoever hands over when so much is noted that nobody has done, does it himself. Units: bytes.
pub(super) const LAG_MAX: usize = 8 << 20;

/// One version of the keys.
///
/// It begins as the stage before and what was noted since; whoever needs the sets first, settles it.
pub(crate) struct Stage {
    sets: OnceLock<Vector<KeySet>>,
    // Invariant: there until somebody begins to settle it, who keeps the lock until the sets are there.
    pending: Mutex<Option<Pending>>,
    // What was noted since the latest stage that somebody had begun to settle when this one was made. Units: bytes.
    lag: usize,
}

#[derive(Clone)]
struct Pending {
    before: Arc<Stage>,
    notes: Arc<Notes>,
}

impl Stage {
    pub(super) fn settled(sets: Vector<KeySet>) -> Stage {
        Stage { sets: OnceLock::from(sets), pending: Mutex::default(), lag: 0 }
    }

    /// The stage after `before`.
    pub(super) fn after(before: &Arc<Stage>, notes: Notes) -> Stage {
        let mut pending = Pending { before: Arc::clone(before), notes: Arc::new(notes) };
        let mut stage = Stage { sets: OnceLock::new(), pending: Mutex::new(Some(pending.clone())), lag: 0 };
        loop {
            stage.lag += pending.notes.size() + size_of::<Stage>();
            let Some(earlier) = pending.before.not_begun() else { break };
            pending = earlier;
        }
        if stage.lag > LAG_MAX {
            stage.settle();
        }
        stage
    }

    /// How much was noted and not begun when this was made; 0 when somebody has begun it. Units: bytes.
    pub(super) fn lag(&self) -> usize {
        if self.not_begun().is_some() { self.lag } else { 0 }
    }

    // What makes it, unless somebody has begun to settle it.
    fn not_begun(&self) -> Option<Pending> {
        self.pending.try_lock().ok()?.clone()
    }

    #[inline]
    pub(super) fn sets(&self) -> &Vector<KeySet> {
        self.sets.get().unwrap_or_else(|| self.settle())
    }

    /// The sets for changing them, if they are there.
    pub(super) fn sets_mut(&mut self) -> Option<&mut Vector<KeySet>> {
        self.sets.get_mut()
    }

    #[cold]
    fn settle(&self) -> &Vector<KeySet> {
        let mut pending = self.pending();
        if let Some(pending) = pending.take() {
            self.sets.get_or_init(|| pending.settle());
        }
        self.sets.get().expect("whoever took what was pending has set the sets")
    }

    fn take_pending(&mut self) -> Option<Pending> {
        self.pending.get_mut().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn pending(&self) -> MutexGuard<'_, Option<Pending>> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Stage {
    // One after the other: each inside the drop of the next would take a stack as deep as there are stages.
    fn drop(&mut self) {
        let mut pending = self.take_pending();
        while let Some(Pending { before, .. }) = pending {
            pending = Arc::into_inner(before).and_then(|mut before| before.take_pending());
        }
    }
}

impl Pending {
    // Goes back to a stage with sets, then does what was noted since. Stages between that nobody else has are taken
    // apart, so that sets nobody else has are changed in place.
    fn settle(self) -> Vector<KeySet> {
        let mut notes = vec![self.notes];
        let mut before = self.before;
        let mut sets = loop {
            let pending = match Arc::try_unwrap(before) {
                Ok(mut own) => match own.sets.take() {
                    Some(sets) => break sets,
                    None => own.take_pending(),
                },
                Err(shared) => match shared.sets.get() {
                    Some(sets) => break sets.clone(),
                    // Order: whoever settles a stage has its lock, and asks for those of stages before it only.
                    None => match shared.pending().clone() {
                        None => break shared.sets().clone(),
                        pending => pending,
                    },
                },
            };
            let pending = pending.expect("a stage without sets knows what comes before it");
            notes.push(pending.notes);
            before = pending.before;
        };
        notes.iter().rev().for_each(|notes| notes.apply_to(&mut sets));
        sets
    }
}
