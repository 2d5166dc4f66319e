//! What subscriptions share: what a record did to what is watched is found out once, by the subscription that asks first.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::subscription::Event;
use crate::read::Watch;
use crate::{Error, Position, Result};

/// Most events kept for those who ask later.
const EVENTS_MAX: usize = 256;
/// Most changes in them, save for those of a single event.
const CHANGES_MAX: usize = 1_000_000;

/// What the records after one position, up to another, did to what is watched.
#[derive(Clone, PartialEq)]
pub(super) struct Asked {
    pub(super) watch: Arc<Watch>,
    pub(super) from: Position,
    pub(super) to: Position,
    /// How often the log had been rewritten: what was told before may be purged.
    pub(super) generation: u64,
}

type Answer = Arc<OnceLock<std::result::Result<Arc<Event>, Error>>>;

/// The latest events, by what was asked.
#[derive(Default)]
pub(crate) struct Hub {
    events: Mutex<VecDeque<(Asked, Answer)>>,
}

impl Hub {
    /// The event that was asked for; made by `make` if nobody has asked before. Who asks at the same time waits for the first.
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

    /// A failure is not kept: who asks again may have more luck.
    fn forget(&self, asked: &Asked) {
        let mut events = self.events.lock().unwrap_or_else(PoisonError::into_inner);
        events.retain(|(known, _)| known != asked);
    }
}
