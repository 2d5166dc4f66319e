//! State that subscriptions share: the first subscription that needs the effect of a record on a watched part computes
//! it for all.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use super::subscription::Event;
use crate::read::Watch;
use crate::{Error, Position, Result};

/// Most events kept for subscriptions that ask later.
const EVENTS_MAX: usize = 256;
/// Most changes in these events; a single event may have more.
const CHANGES_MAX: usize = 1_000_000;

/// The effects of the records between two positions on a watched part.
// Order: numbers first. They usually tell two of them apart, and a watched part is long to compare.
#[derive(Clone, PartialEq)]
pub(super) struct Asked {
    pub(super) from: Position,
    pub(super) to: Position,
    /// The generation of the log: after a compaction, earlier events may hold purged values.
    pub(super) generation: u64,
    pub(super) watch: Arc<Watch>,
}

type Answer = Arc<OnceLock<std::result::Result<Arc<Event>, Error>>>;

/// The latest events by their keys.
#[derive(Default)]
pub(crate) struct Hub {
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    events: VecDeque<Shared>,
    /// The changes in all of them.
    changes_count: usize,
}

struct Shared {
    asked: Asked,
    answer: Answer,
    /// 0 until the event is there.
    changes_count: usize,
}

impl Hub {
    /// The event for a key; the first caller makes it with `make`, and concurrent callers wait for that.
    pub(super) fn event(&self, asked: &Asked, make: impl FnOnce() -> Result<Event>) -> Result<Arc<Event>> {
        let answer = self.lock().answer(asked);
        let mut made = None;
        let event = answer.get_or_init(|| {
            let event = make().map(Arc::new);
            made = Some(event.as_ref().map_or(0, |event| event.changes.len()));
            event
        });
        if let Some(changes_count) = made.filter(|count| *count > 0) {
            self.lock().note(asked, changes_count);
        }
        event.as_ref().map(Arc::clone).map_err(|error| {
            self.lock().forget(asked);
            error.duplicate()
        })
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    fn answer(&mut self, asked: &Asked) -> Answer {
        if let Some(known) = self.events.iter().rev().find(|known| known.asked == *asked) {
            return Arc::clone(&known.answer);
        }
        let answer = Answer::default();
        self.events.push_back(Shared { asked: asked.clone(), answer: Arc::clone(&answer), changes_count: 0 });
        self.drop_oldest();
        answer
    }

    fn note(&mut self, asked: &Asked, changes_count: usize) {
        if let Some(made) = self.events.iter_mut().rev().find(|known| known.asked == *asked) {
            self.changes_count = self.changes_count - made.changes_count + changes_count;
            made.changes_count = changes_count;
            self.drop_oldest();
        }
    }

    fn drop_oldest(&mut self) {
        while self.events.len() > EVENTS_MAX || self.changes_count > CHANGES_MAX && self.events.len() > 1 {
            self.changes_count -= self.events.pop_front().map_or(0, |oldest| oldest.changes_count);
        }
    }

    /// Failures are not kept: the next caller tries again.
    fn forget(&mut self, asked: &Asked) {
        let is_it = |known: &Shared| known.asked == *asked;
        self.changes_count -=
            self.events.iter().filter(|known| is_it(known)).map(|it| it.changes_count).sum::<usize>();
        self.events.retain(|known| !is_it(known));
    }
}
