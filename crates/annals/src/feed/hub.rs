//! State that subscriptions share: the first subscription that needs the effect of a record on a watched part computes
//! it for all.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::subscription::Event;
use crate::read::Watch;
use crate::{Error, Position, Result};

/// Most events kept for subscriptions that ask later.
const EVENTS_MAX: usize = 256;
/// Most changes in these events; a single event may have more.
const CHANGES_MAX: usize = 1_000_000;

/// The effects of the records between two positions on a watched part.
#[derive(Clone, PartialEq)]
pub(super) struct Asked {
    pub(super) watch: Arc<Watch>,
    pub(super) from: Position,
    pub(super) to: Position,
    /// The generation of the log: after a compaction, earlier events may hold purged values.
    pub(super) generation: u64,
}

type Answer = Arc<OnceLock<std::result::Result<Arc<Event>, Error>>>;

/// The latest events by their keys.
#[derive(Default)]
pub(crate) struct Hub {
    events: Mutex<VecDeque<(Asked, Answer)>>,
}

impl Hub {
    /// The event for a key; the first caller makes it with `make`, and concurrent callers wait for that.
    pub(super) fn event(&self, asked: &Asked, make: impl FnOnce() -> Result<Event>) -> Result<Arc<Event>> {
        let answer = self.answer(asked);
        let event = answer.get_or_init(|| make().map(Arc::new)).as_ref().map(Arc::clone);
        event.map_err(|error| {
            self.forget(asked);
            error.duplicate()
        })
    }

    fn answer(&self, asked: &Asked) -> Answer {
        let mut events = self.events.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, answer)) = events.iter().rev().find(|(known, _)| known == asked) {
            return Arc::clone(answer);
        }
        let answer = Answer::default();
        events.push_back((asked.clone(), Arc::clone(&answer)));
        let changes = |answer: &Answer| match answer.get() {
            Some(Ok(event)) => event.changes.len(),
            _ => 0,
        };
        let mut changes_count: usize = events.iter().map(|(_, answer)| changes(answer)).sum();
        while events.len() > EVENTS_MAX || changes_count > CHANGES_MAX && events.len() > 1 {
            changes_count -= events.pop_front().map_or(0, |(_, answer)| changes(&answer));
        }
        answer
    }

    /// Failures are not kept: the next caller tries again.
    fn forget(&self, asked: &Asked) {
        let mut events = self.events.lock().unwrap_or_else(PoisonError::into_inner);
        events.retain(|(known, _)| known != asked);
    }
}
