//! One version of a part, made from the one before when somebody needs it.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU8, AtomicU64};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use super::Notes;

/// Whoever hands over when so much is noted that nobody has done, does it himself. Units: bytes.
pub(crate) const LAG_MAX: usize = 8 << 20;

/// One version of a part.
///
/// It begins as the stage before and what was noted since; whoever needs the part first, settles it.
pub(crate) struct Stage<N: Notes> {
    part: OnceLock<N::Part>,
    // Invariant: there until somebody begins to settle it, who keeps the lock until the part is there.
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

    /// Brings it up to date; returns when it is.
    fn catch_up(&self);
}

impl Common {
    fn fork(&self) -> Common {
        Common { begun: AtomicU64::new(self.begun.load(Relaxed)), prompt: AtomicU8::new(0) }
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
    pub(super) fn settled(part: N::Part) -> Stage<N> {
        Stage { part: OnceLock::from(part), pending: Mutex::new(None), noted: 0, common: Arc::default() }
    }

    /// The stage after `before`, or the first of a fork there.
    pub(super) fn after(before: &Arc<Stage<N>>, notes: N, is_forked: bool) -> Stage<N> {
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
    pub(super) fn part(&self) -> &N::Part {
        self.part.get().unwrap_or_else(|| self.wait())
    }

    #[cold]
    fn wait(&self) -> &N::Part {
        self.common.prompt.store(N::PROMPT, Relaxed);
        self.settle()
    }

    /// The part for changing it, if it is there.
    pub(super) fn part_mut(&mut self) -> Option<&mut N::Part> {
        self.part.get_mut()
    }

    fn settle(&self) -> &N::Part {
        let mut pending = self.pending();
        if let Some(pending) = pending.take() {
            self.common.begun.fetch_max(self.noted, Relaxed);
            self.part.get_or_init(|| pending.settle());
        }
        self.settled_part()
    }

    // Takes no lock: the caller may have it.
    fn settled_part(&self) -> &N::Part {
        self.part.get().expect("whoever took what was pending has set the part")
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
    // apart, so that a part nobody else has is changed in place.
    fn settle(self) -> N::Part {
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
                        None => break shared.settled_part().clone(),
                        pending => pending,
                    },
                },
            };
            let pending = pending.expect("a stage without its part knows what comes before it");
            notes.push(pending.notes);
            before = pending.before;
        };
        let in_order: Vec<&N> = notes.iter().rev().map(|notes| &**notes).collect();
        N::apply_to(&in_order, &mut part);
        part
    }
}
