//! State that subscriptions share: the first subscription that needs the effect of some records on a watched part
//! computes it for all.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use super::subscription::{Event, RECORDS_BEHIND_MAX};
use crate::read::Watch;
use crate::{Error, Position, Result};

/// Most events kept for subscriptions that ask later: those of two parts, for subscriptions that are as far behind as
/// they may be without getting events of several records.
const EVENTS_MAX: usize = 2 * 1_024;
const _: () = assert!(RECORDS_BEHIND_MAX == 1_024);
/// Most changes in these events; a single event may have more.
const CHANGES_MAX: usize = 1_000_000;

/// The effects of the records between two positions on a watched part.
#[derive(Clone, PartialEq)]
pub(super) struct AskedWatch {
    pub(super) records: Records,
    pub(super) watch: Arc<Watch>,
}

/// The records between two positions.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Records {
    pub(super) from: Position,
    pub(super) to: Position,
    /// The state in which the event is made: earlier events may hold values that were purged since.
    pub(super) state: State,
}

/// The generation of the log, and the position of the last record that may have purged something.
type State = (u64, Position);

type Answer = Arc<OnceLock<std::result::Result<Arc<Event>, Error>>>;

/// The latest events by their keys.
#[derive(Default)]
pub(crate) struct Hub {
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    /// That of all events: a purge, and a compaction, empty the hub.
    state: State,
    /// The events of each watched part.
    events: HashMap<Records, Vec<Shared>>,
    /// The oldest first, each once for each of its events.
    order: VecDeque<Records>,
    /// The changes in all events.
    changes_count: usize,
}

struct Shared {
    watch: Arc<Watch>,
    answer: Answer,
    /// 0 until the event is there.
    changes_count: usize,
}

impl Hub {
    /// The event for a key; the first caller makes it with `make`, and concurrent callers wait for that.
    pub(super) fn event(
        &self,
        asked: &AskedWatch,
        make: impl FnOnce() -> Result<Event>,
    ) -> Result<Arc<Event>> {
        let answer = self.lock().answer(asked);
        let mut changes_count = 0;
        let event = answer.get_or_init(|| {
            let event = make().map(Arc::new);
            changes_count = event.as_ref().map_or(0, |event| event.changes.len());
            event
        });
        if changes_count > 0 {
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
    fn answer(&mut self, asked: &AskedWatch) -> Answer {
        if asked.records.state > self.state {
            *self = Kept { state: asked.records.state, ..Kept::default() };
        }
        // From before a purge; no later subscription may get it.
        if asked.records.state < self.state {
            return Answer::default();
        }
        let of_records = self.events.entry(asked.records).or_default();
        if let Some(known) = of_records.iter().find(|known| known.watch == asked.watch) {
            return Arc::clone(&known.answer);
        }
        let answer = Answer::default();
        let watch = Arc::clone(&asked.watch);
        of_records.push(Shared { watch, answer: Arc::clone(&answer), changes_count: 0 });
        self.order.push_back(asked.records);
        self.drop_oldest();
        answer
    }

    /// Counts the changes of an event that was just made, if it was not dropped meanwhile.
    fn note(&mut self, asked: &AskedWatch, changes_count: usize) {
        let of_records = self.events.get_mut(&asked.records).into_iter().flatten();
        for known in of_records.filter(|known| known.watch == asked.watch) {
            self.changes_count = self.changes_count - known.changes_count + changes_count;
            known.changes_count = changes_count;
        }
        self.drop_oldest();
    }

    fn drop_oldest(&mut self) {
        while self.order.len() > EVENTS_MAX || self.changes_count > CHANGES_MAX && self.order.len() > 1 {
            let Some(oldest) = self.order.pop_front() else { return };
            let Some(of_records) = self.events.get_mut(&oldest) else { continue };
            self.changes_count -= of_records.remove(0).changes_count;
            if of_records.is_empty() {
                self.events.remove(&oldest);
            }
        }
    }

    /// Failures are not kept: the next caller tries again.
    fn forget(&mut self, asked: &AskedWatch) {
        let Some(of_records) = self.events.get_mut(&asked.records) else { return };
        let Some(at) = of_records.iter().position(|known| known.watch == asked.watch) else { return };
        self.changes_count -= of_records.remove(at).changes_count;
        if of_records.is_empty() {
            self.events.remove(&asked.records);
        }
        if let Some(at) = self.order.iter().position(|records| *records == asked.records) {
            self.order.remove(at);
        }
    }
}
