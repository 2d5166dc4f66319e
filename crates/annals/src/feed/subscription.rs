//! Subscriptions: what each record did to a part of the graph, with old and new values, from any position on.

use std::sync::Arc;
use std::time::{Duration, Instant as Clock};

use super::hub::{Asked, Hub};
use crate::model::Instant;
use crate::read::{Snapshot, Watch, WatchedChange};
use crate::write::Committer;
use crate::{Error, ErrorKind, Position, Result};

/// A subscription that is further behind gets one event for all that it has missed. Units: records.
pub const RECORDS_BEHIND_MAX: u64 = 1_024;

/// What one record did to what is watched; or several records together, for a subscription that was far behind.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// The position before it.
    pub from: Position,
    /// The position of the record, of several the last. A subscription that begins after it goes on from here.
    pub position: Position,
    /// When that record was committed.
    pub instant: Instant,
    /// What became of what is watched; never empty. Of a tree in the order of the tree.
    pub changes: Vec<WatchedChange>,
}

impl Event {
    /// How many records it tells of: more than one if the subscription was too far behind to be told of each. What several of them did to
    /// one thing is told as one change.
    pub fn records_count(&self) -> u64 {
        self.position.0 - self.from.0
    }
}

/// What becomes of a part of the graph. Made by [`Repository::subscribe`](crate::Repository::subscribe).
///
/// A subscription asks; nothing is sent to it. So it slows no writer down, however slow it is, and loses nothing: it may stop at any
/// position and go on from there later.
pub struct Subscription {
    committer: Arc<Committer>,
    hub: Arc<Hub>,
    watch: Arc<Watch>,
    position: Position,
}

impl Subscription {
    /// Errors: `InvalidArgument` for what cannot be watched; `NotFound` for a position that is not there yet.
    pub(crate) fn new(
        committer: Arc<Committer>,
        hub: Arc<Hub>,
        watch: Watch,
        after: Option<Position>,
    ) -> Result<Subscription> {
        watch.check()?;
        let last = committer.snapshot().position();
        let position = after.unwrap_or(last);
        if position > last {
            let text = format!("subscribe: expected a position up to {last}, found {position}");
            return Err(Error::new(ErrorKind::NotFound, text));
        }
        Ok(Subscription { committer, hub, watch: Arc::new(watch), position })
    }

    /// It has told of everything up to here: another one that begins after this position goes on with the same.
    pub fn position(&self) -> Position {
        self.position
    }

    /// The next event, if there is one already.
    ///
    /// Errors: `Closed` after the last event of a repository that was closed; those of reading history, and then the same event is tried
    /// again next time; `TooLarge` if one record changed over a million instances.
    pub fn poll(&mut self) -> Result<Option<Arc<Event>>> {
        let snapshot = self.committer.snapshot();
        while self.position < snapshot.position() {
            let behind = snapshot.position().0 - self.position.0;
            let records = if behind > RECORDS_BEHIND_MAX { behind } else { 1 };
            let event = self.event(&snapshot, records)?;
            self.position = event.position;
            if !event.changes.is_empty() {
                return Ok(Some(event));
            }
        }
        if self.committer.is_closing() {
            let text = "subscription: the repository was closed; open it again, and go on from the position";
            return Err(Error::new(ErrorKind::Closed, text));
        }
        Ok(None)
    }

    /// What the next records did; fewer of them if they did too much.
    fn event(&self, snapshot: &Snapshot, mut records: u64) -> Result<Arc<Event>> {
        loop {
            let (watch, from) = (Arc::clone(&self.watch), self.position);
            let to = Position(from.0 + records);
            let asked = Asked { watch, from, to, generation: snapshot.graph().generation };
            match self.hub.event(&asked, || event(snapshot, &asked)) {
                Err(error) if error.kind() == ErrorKind::TooLarge && records > 1 => records /= 2,
                outcome => return outcome,
            }
        }
    }

    /// The next event; waits for it at most `timeout`.
    pub fn wait(&mut self, timeout: Duration) -> Result<Option<Arc<Event>>> {
        let start = Clock::now();
        loop {
            if let Some(event) = self.poll()? {
                return Ok(Some(event));
            }
            let left = timeout.saturating_sub(start.elapsed());
            if left.is_zero() || !self.committer.wait_for(self.position.next(), left) {
                return Ok(None);
            }
        }
    }
}

fn event(snapshot: &Snapshot, asked: &Asked) -> Result<Event> {
    let Asked { watch, from, to, .. } = asked;
    let changes = snapshot.watched(watch, *from, *to)?;
    let instant = snapshot.instant_of(*to).unwrap_or_default();
    Ok(Event { from: *from, position: *to, instant, changes })
}
