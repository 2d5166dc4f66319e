//! Parts of a graph that are brought up to date behind those who commit, who only note what becomes of them.

use std::sync::Arc;

use crate::Result;

mod indexer;
mod stage;

pub(crate) use indexer::{Behind, Indexer, in_parts};
pub(crate) use stage::Lagging;
use stage::Stage;

#[cfg(test)]
pub(crate) use stage::LAG_MAX;

/// What is to become of a part, in order.
pub(crate) trait Notes: Default + Send + Sync + 'static {
    /// What they are about.
    type Part: Clone + Send + Sync;

    /// Once somebody has waited for a version, whoever commits makes as many after it himself, before anybody sees them.
    const PROMPT: u8;

    fn is_empty(&self) -> bool;

    /// Units: bytes.
    fn size(&self) -> usize;

    /// Does what is noted, the oldest first.
    fn apply_to(notes: &[&Self], part: &mut Self::Part);
}

/// A part of a graph.
///
/// Whoever applies many records may have the changes noted. [`Staged::hand_over`] ends that; until then nothing may be
/// asked. What was noted is done by another thread ([`Indexer`]), or by the first who asks.
pub(crate) struct Staged<N: Notes> {
    stage: Arc<Stage<N>>,
    // True until the first stage that nothing before it is to know of.
    is_forked: bool,
    // What comes after the stage, while changes are noted.
    notes: Option<Box<N>>,
}

impl<N: Notes> Staged<N> {
    pub(crate) fn new(part: N::Part) -> Staged<N> {
        Staged { stage: Arc::new(Stage::settled(part)), is_forked: false, notes: None }
    }

    /// From now on tries changes that are thrown away: settling them settles nothing that goes on without them.
    pub(crate) fn fork(&mut self) {
        self.is_forked = true;
    }

    /// The part as it is after all changes.
    #[inline]
    pub(crate) fn part(&self) -> &N::Part {
        assert!(self.notes.is_none(), "what was noted is handed over before it is read");
        self.stage.part()
    }

    /// Errors: `Unavailable` if a thread panicked while it brought this version up to date, or one before it.
    #[inline]
    pub(crate) fn check(&self) -> Result<()> {
        self.stage.check()
    }

    /// Changes the part, or notes the change.
    pub(crate) fn change(&mut self, change: impl FnOnce(&mut N::Part), note: impl FnOnce(&mut N)) {
        match &mut self.notes {
            Some(notes) => note(notes),
            None => change(self.part_mut()),
        }
    }

    // In place, unless a clone shares it.
    fn part_mut(&mut self) -> &mut N::Part {
        let stage = &mut self.stage;
        if Arc::get_mut(stage).is_none_or(|stage| stage.part_mut().is_none()) {
            *stage = Arc::new(Stage::settled(stage.part().clone()));
        }
        Arc::get_mut(stage).and_then(Stage::part_mut).expect("made its own above")
    }

    /// From now on changes are noted.
    pub(crate) fn defer(&mut self) {
        self.notes.get_or_insert_default();
    }

    /// Ends that; returns at once unless very much is noted that nobody has done, or somebody waits for each version.
    pub(crate) fn hand_over(&mut self) {
        if let Some(notes) = self.notes.take()
            && !notes.is_empty()
        {
            let is_first = std::mem::take(&mut self.is_forked);
            self.stage = Arc::new(Stage::after(&self.stage, *notes, is_first));
        }
    }

    /// Brings it up to date, for somebody who will not ask for each version.
    pub(crate) fn catch_up(&self) {
        Lagging::catch_up(&*self.stage);
    }

    /// What brings it up to date, for [`Behind`].
    pub(crate) fn lagging(&self) -> Arc<dyn Lagging> {
        self.stage.clone()
    }

    pub(crate) fn lag(&self) -> usize {
        Lagging::lag(&*self.stage)
    }
}

impl<N: Notes> Clone for Staged<N> {
    fn clone(&self) -> Staged<N> {
        assert!(self.notes.is_none(), "what was noted is handed over before a graph is shared");
        Staged { stage: Arc::clone(&self.stage), is_forked: self.is_forked, notes: None }
    }
}

#[cfg(all(test, shuttle))]
mod shuttle_tests;
#[cfg(test)]
mod tests;
