//! Subscriptions: the changes of a part of the graph by each record, with old and new values, from any position on.

use std::sync::Arc;
use std::time::{Duration, Instant as Clock};

use super::hub::{AskedWatch, Hub, Records};
use crate::model::Instant;
use crate::read::{Snapshot, Watch, WatchedChange, WatchedChanges};
use crate::write::Committer;
use crate::{Error, ErrorKind, Position, Result};

/// A subscription that is further behind gets events of several records. Units: records.
pub const RECORDS_BEHIND_MAX: u64 = 1_024;

/// Each larger block of records has so many of the next smaller ones.
const BLOCK_FACTOR: u64 = 16;

/// The changes of the watched part by one record; or by a block of records, if the subscription was far behind.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// The position before its first record.
    pub from: Position,
    /// The position of its last record. A subscription that begins after it continues with the next event.
    pub position: Position,
    /// When that record was committed.
    pub instant: Instant,
    /// The changes of the watched part; empty only if it must be read again. For a tree, in the order of the tree. Of a
    /// purged instance a search may report that it has disappeared though its condition did not hold, or that an earlier
    /// event said so: nothing has its values any more.
    pub changes: Vec<WatchedChange>,
    /// True if the changes may not be all: read the watched part as of [`Event::position`] or later, and go on from
    /// there. This happens after a purge in a watched tree, after a purge that was followed by a compaction or a restart,
    /// and if declarations may have changed more than a million hits.
    pub read_again: bool,
}

impl Event {
    /// How many records it covers: more than one if the subscription was too far behind for single events. Then the
    /// changes of one thing by these records are one change.
    pub fn records_count(&self) -> u64 {
        self.position.0 - self.from.0
    }

    fn says_something(&self) -> bool {
        self.read_again || !self.changes.is_empty()
    }
}

/// The changes of a part of the graph. Made by [`Repository::subscribe`](crate::Repository::subscribe).
///
/// The subscriber polls; the engine sends nothing. So a slow subscriber does not slow down writers, and loses nothing:
/// it may stop at any position and continue from there later.
pub struct Subscription {
    committer: Arc<Committer>,
    hub: Arc<Hub>,
    watch: Arc<Watch>,
    position: Position,
}

impl Subscription {
    /// Errors: `InvalidArgument` for a part that cannot be watched; `NotFound` for a position that does not exist yet.
    pub(crate) fn new(
        committer: Arc<Committer>,
        hub: Arc<Hub>,
        watch: Watch,
        after: Option<Position>,
    ) -> Result<Subscription> {
        watch.check()?;
        let last = committer.try_snapshot()?.position();
        let position = after.unwrap_or(last);
        if position > last {
            let text = format!("subscribe: expected a position up to {last}, found {position}");
            return Err(Error::new(ErrorKind::NotFound, text));
        }
        Ok(Subscription { committer, hub, watch: Arc::new(watch), position })
    }

    /// The position up to which it has returned all events: a new subscription after this position continues with the
    /// next one.
    pub fn position(&self) -> Position {
        self.position
    }

    /// The next event, if there is one already.
    ///
    /// Errors: `Closed` after the last event of a repository that was closed; those of reading history, and then the
    /// next call tries the same event again.
    pub fn poll(&mut self) -> Result<Option<Arc<Event>>> {
        // Without a graph there is no event yet.
        let snapshot = self.committer.snapshot();
        while self.position < snapshot.position() {
            let records = records_together(self.position, snapshot.position());
            let shared = |asked: &AskedWatch| self.hub.event(asked, || event(&snapshot, asked));
            let event = self.event(&snapshot, records, shared)?;
            self.position = event.position;
            if event.says_something() {
                return Ok(Some(event));
            }
        }
        if self.committer.is_closing() {
            let text =
                "subscription: the repository was closed; open it again, and continue from the position";
            return Err(Error::new(ErrorKind::Closed, text));
        }
        Ok(None)
    }

    /// The next event up to the position of `snapshot`, as its sight shows it: what is hidden now is in none. Something that
    /// becomes hidden just has no further events.
    ///
    /// Errors: those of reading history.
    pub fn poll_in(&mut self, snapshot: &Snapshot) -> Result<Option<Arc<Event>>> {
        while self.position < snapshot.position() {
            let records = records_together(self.position, snapshot.position());
            let event = self.event(snapshot, records, |asked| event(snapshot, asked).map(Arc::new))?;
            self.position = event.position;
            if event.says_something() {
                return Ok(Some(event));
            }
        }
        Ok(None)
    }

    /// The effects of the next records; of fewer records if they have too many.
    fn event(
        &self,
        snapshot: &Snapshot,
        mut records: u64,
        ask: impl Fn(&AskedWatch) -> Result<Arc<Event>>,
    ) -> Result<Arc<Event>> {
        loop {
            let (watch, from) = (Arc::clone(&self.watch), self.position);
            let to = Position(from.0 + records);
            let state = (snapshot.graph().generation, snapshot.graph().purges.last);
            let asked = AskedWatch { records: Records { from, to, state }, watch };
            match ask(&asked) {
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

/// How many records the next event of a subscription at `from` covers. One that is far behind gets blocks, which begin and
/// end at the same positions for all subscriptions, so that equal ones share them.
fn records_together(from: Position, last: Position) -> u64 {
    let behind = last.0 - from.0;
    if behind <= RECORDS_BEHIND_MAX {
        return 1;
    }
    let mut block = RECORDS_BEHIND_MAX;
    while behind / BLOCK_FACTOR >= block && from.0.is_multiple_of(block * BLOCK_FACTOR) {
        block *= BLOCK_FACTOR;
    }
    block - from.0 % RECORDS_BEHIND_MAX
}

fn event(snapshot: &Snapshot, asked: &AskedWatch) -> Result<Event> {
    let AskedWatch { records: Records { from, to, .. }, watch } = asked;
    let WatchedChanges { changes, read_again } = snapshot.watched(watch, *from, *to)?;
    let instant = snapshot.instant_of(*to).unwrap_or_default();
    Ok(Event { from: *from, position: *to, instant, changes, read_again })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_begin_and_end_at_the_same_positions_for_all_and_grow_with_the_distance() {
        let records = |from, last| records_together(Position(from), Position(last));
        assert_eq!([records(0, 1), records(7, 1_031)], [1, 1]);
        assert_eq!([records(0, 1_025), records(7, 1_032), records(2_047, 9_999)], [1_024, 1_017, 1]);
        assert_eq!([records(1_024, 100_000), records(16_384, 32_767)], [1_024, 1_024]);
        assert_eq!([records(16_384, 32_768), records(0, 1_000_000)], [16_384, 262_144]);
    }
}
