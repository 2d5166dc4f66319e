//! One version of a part, made from the one before when somebody needs it.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, PoisonError};

use super::Notes;
use crate::sync::atomic::Ordering::Relaxed;
use crate::sync::atomic::{AtomicBool, AtomicU8, AtomicU64};
use crate::sync::{Mutex, MutexGuard, OnceLock};
use crate::{Error, ErrorKind, Result};

/// Whoever hands over when so much is noted that nobody has done, does it himself. Units: bytes.
pub(crate) const LAG_MAX: usize = 8 << 20;

/// One version of a part.
///
/// It begins as the stage before and what was noted since; whoever needs the part first, settles it.
pub(crate) struct Stage<N: Notes> {
    part: OnceLock<N::Part>,
    // Invariant: there until a thread begins to settle it, which keeps the lock until the part is there, or lost.
    pending: Mutex<Option<Pending<N>>>,
    // All that was ever noted, up to this one. Units: bytes.
    noted: u64,
    common: Arc<Common>,
}

/// What all stages of a part have in common; those of a fork have their own.
#[derive(Default)]
struct Common {
    // The most that was noted up to a stage which somebody has begun to settle. Units: bytes.
    begun: AtomicU64,
    // How many more stages are made as soon as they are handed over, because somebody waited for one.
    prompt: AtomicU8,
    // True once a thread panicked while it settled a stage: that stage and all later ones have no part, ever.
    is_lost: AtomicBool,
}

struct Pending<N: Notes> {
    before: Arc<Stage<N>>,
    notes: Arc<N>,
}

impl<N: Notes> Clone for Pending<N> {
    fn clone(&self) -> Pending<N> {
        Pending { before: Arc::clone(&self.before), notes: Arc::clone(&self.notes) }
    }
}

/// What may be behind, whatever it is a part of.
pub(crate) trait Lagging: Send + Sync {
    /// How much was noted up to this and is not begun; 0 when somebody has begun it. Units: bytes.
    fn lag(&self) -> usize;

    /// Brings it up to date; returns when it is, or when it is lost.
    fn catch_up(&self);
}

impl Common {
    fn fork(&self) -> Common {
        Common {
            begun: AtomicU64::new(self.begun.load(Relaxed)),
            prompt: AtomicU8::new(0),
            is_lost: AtomicBool::new(self.is_lost.load(Relaxed)),
        }
    }
}

impl<N: Notes> Lagging for Stage<N> {
    fn lag(&self) -> usize {
        let lag = self.noted.saturating_sub(self.common.begun.load(Relaxed));
        usize::try_from(lag).unwrap_or(usize::MAX)
    }

    fn catch_up(&self) {
        self.settle();
    }
}

impl<N: Notes> Stage<N> {
    pub(crate) fn settled(part: N::Part) -> Stage<N> {
        Stage { part: OnceLock::from(part), pending: Mutex::new(None), noted: 0, common: Arc::default() }
    }

    /// The stage after `before`, or the first of a fork there.
    pub(crate) fn after(before: &Arc<Stage<N>>, notes: N, is_forked: bool) -> Stage<N> {
        let stage = Stage {
            noted: before.noted + (notes.size() + size_of::<Stage<N>>()) as u64,
            part: OnceLock::new(),
            pending: Mutex::new(Some(Pending { before: Arc::clone(before), notes: Arc::new(notes) })),
            common: if is_forked { Arc::new(before.common.fork()) } else { Arc::clone(&before.common) },
        };
        let is_prompt =
            stage.common.prompt.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1)).is_ok();
        if stage.lag() > LAG_MAX || is_prompt {
            stage.settle();
        }
        stage
    }

    #[inline]
    pub(crate) fn part(&self) -> &N::Part {
        self.part.get().unwrap_or_else(|| self.wait())
    }

    #[cold]
    fn wait(&self) -> &N::Part {
        self.common.prompt.store(N::PROMPT, Relaxed);
        self.settle().expect("whoever reads a part has checked that it is not lost")
    }

    /// Errors: `Unavailable` if the part is not there and never will be.
    #[inline]
    pub(crate) fn check(&self) -> Result<()> {
        if self.part.get().is_none() && self.common.is_lost.load(Relaxed) { Err(lost()) } else { Ok(()) }
    }

    /// The part for changing it, if it is there.
    pub(crate) fn part_mut(&mut self) -> Option<&mut N::Part> {
        self.part.get_mut()
    }

    // Shape: `None` if the part is lost.
    fn settle(&self) -> Option<&N::Part> {
        let mut pending = self.pending();
        if let Some(pending) = pending.take() {
            self.common.begun.fetch_max(self.noted, Relaxed);
            // A part that was changed in place is half changed after a panic: nothing can be made of it again.
            let outcome = catch_unwind(AssertUnwindSafe(|| pending.settle()));
            match outcome {
                Ok(Some(part)) => drop(self.part.set(part)),
                Ok(None) => self.common.is_lost.store(true, Relaxed),
                Err(panic) => {
                    self.common.is_lost.store(true, Relaxed);
                    resume_unwind(panic);
                }
            }
        }
        self.part.get()
    }

    fn take_pending(&mut self) -> Option<Pending<N>> {
        self.pending.get_mut().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn pending(&self) -> MutexGuard<'_, Option<Pending<N>>> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<N: Notes> Drop for Stage<N> {
    // One after the other: each inside the drop of the next would take a stack as deep as there are stages.
    fn drop(&mut self) {
        let mut pending = self.take_pending();
        while let Some(Pending { before, .. }) = pending {
            pending = Arc::into_inner(before).and_then(|mut before| before.take_pending());
        }
    }
}

impl<N: Notes> Pending<N> {
    // Goes back to a stage with its part, then does what was noted since. Stages between that nobody else has are taken
    // apart, so that a part nobody else has is changed in place. Shape: `None` if a stage before has lost its part.
    fn settle(self) -> Option<N::Part> {
        let mut notes = vec![self.notes];
        let mut before = self.before;
        let mut part = loop {
            let pending = match Arc::try_unwrap(before) {
                Ok(mut own) => match own.part.take() {
                    Some(part) => break part,
                    None => own.take_pending(),
                },
                Err(shared) => match shared.part.get() {
                    Some(part) => break part.clone(),
                    // Order: whoever settles a stage has its lock, and asks for those of stages before it only.
                    None => match shared.pending().clone() {
                        None => break shared.part.get()?.clone(),
                        pending => pending,
                    },
                },
            };
            let pending = pending?;
            notes.push(pending.notes);
            before = pending.before;
        };
        let in_order: Vec<&N> = notes.iter().rev().map(|notes| &**notes).collect();
        N::apply_to(&in_order, &mut part);
        Some(part)
    }
}

#[cold]
fn lost() -> Error {
    Error::new(
        ErrorKind::Unavailable,
        "an index of this version is lost: a thread panicked while it brought the index up to date; \
         reopen the repository",
    )
}
