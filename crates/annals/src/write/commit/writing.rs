//! Whether a repository writes at present, and the right to commit, which one thread has at a time.

use std::time::{Duration, Instant as Clock};

use super::outcome::refuse;
use super::queue::Committer;
use super::sequencer::Sequencer;
use crate::log::Term;
use crate::model::Instant;
use crate::sync::atomic::Ordering;
use crate::{Error, ErrorKind, Result};

/// How often a thread that wants the right to commit asks for it.
const SEQUENCER_PAUSE: Duration = Duration::from_millis(1);

impl Committer {
    /// True while the repository writes.
    pub(crate) fn is_writer(&self) -> bool {
        self.is_writer.load(Ordering::SeqCst)
    }

    /// False in a repository that only ever follows.
    pub(in crate::write) fn may_write(&self) -> bool {
        self.may_write
    }

    /// The term in which it writes, or wrote last.
    pub(crate) fn term(&self) -> Term {
        Term(self.term.load(Ordering::SeqCst))
    }

    /// Why the repository does not write at present, if it does not.
    pub(crate) fn read_only(&self) -> Option<Error> {
        self.state().read_only.as_ref().map(Error::duplicate)
    }

    /// True if writing has not failed.
    pub(in crate::write) fn is_sound(&self) -> bool {
        self.failure().is_none() && !self.publisher.is_lost()
    }

    /// Begins to write, in a term whose record is in the log. No record gets an instant before `floor`, and no instant from
    /// `end` on is told as settled.
    pub(in crate::write) fn begin_writing(&self, term: Term, floor: Instant, end: Instant) {
        self.settled.begin_term(floor.micros(), end.micros());
        let mut state = self.state();
        self.term.store(term.0, Ordering::SeqCst);
        state.read_only = None;
        self.is_writer.store(true, Ordering::SeqCst);
    }

    /// Writes no more: queued transactions are refused, and nothing of them was written. A call in progress ends.
    pub(in crate::write) fn demote(&self, error: &Error) {
        let mut state = self.state();
        state.read_only = Some(error.duplicate());
        self.is_writer.store(false, Ordering::SeqCst);
        let queued = std::mem::take(&mut state.requests);
        state.bytes = 0;
        drop(state);
        self.room.notify_all();
        refuse(queued, error);
    }

    /// Lets a repository write again when its turn comes, after its writing failed and another one writes: reading the log to
    /// its end tells what became of its calls. Not after the indexes failed, which fail again.
    pub(in crate::write) fn forget_failure(&self) {
        if self.publisher.is_lost() {
            return;
        }
        let mut state = self.state();
        if state.failed.is_none() || state.read_only.is_none() {
            return;
        }
        // While a thread reads with it, the next call does this.
        let Some(sequencer) = &mut state.sequencer else { return };
        sequencer.is_lost = false;
        (state.failed, state.stall) = (None, None);
        drop(state);
        self.settled.landed();
    }

    /// Replaces the reason why it does not write, in a repository that does not.
    pub(in crate::write) fn set_read_only(&self, error: Error) {
        if let Some(known) = &mut self.state().read_only {
            *known = error;
        }
    }

    /// The right to commit, in a repository that does not write; `None` while another thread has it.
    pub(super) fn idle_sequencer(&self) -> Option<Box<Sequencer>> {
        let mut state = self.state();
        state.read_only.as_ref()?;
        state.sequencer.take_if(|sequencer| sequencer.pending.is_none())
    }

    /// The right to commit, as soon as no other thread has it and no outcome is unknown.
    ///
    /// Errors: `Unavailable` after `end`.
    pub(in crate::write) fn take_sequencer(&self, end: Clock) -> Result<Box<Sequencer>> {
        loop {
            let taken = self.state().sequencer.take_if(|sequencer| sequencer.pending.is_none());
            if let Some(sequencer) = taken {
                return Ok(sequencer);
            }
            if Clock::now() >= end {
                let text = "the log has not told the outcome of the latest commit; try again later";
                return Err(Error::new(ErrorKind::Unavailable, text));
            }
            std::thread::sleep(SEQUENCER_PAUSE);
        }
    }

    /// Gives the right to commit back, after others may have written.
    pub(in crate::write) fn return_sequencer(&self, mut sequencer: Box<Sequencer>) {
        sequencer.recent.clear();
        sequencer.recent_changes = 0;
        sequencer.go_on_from(self.publisher.load().graph.clone());
        let mut state = self.state();
        state.sequencer = Some(sequencer);
        self.call(state);
    }
}
