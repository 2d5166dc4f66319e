//! The change feed: every record from a position on, as it was committed.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use crate::log::ReadLimit;
use crate::model::Record;
use crate::read::{Snapshot, WithoutPurged};
use crate::record::decode_record;
use crate::write::Committer;
use crate::{Position, Result};

/// Most records without a change in sight that one call reads.
const SKIPPED_RECORDS_MAX: usize = 1_000;

/// Follows the log from a position. Made by [`Repository::follow`](crate::Repository::follow).
///
/// It returns durable records only, each once, in order, without gaps: as a compaction would leave them now, but with
/// their purges.
pub struct Follow {
    committer: Arc<Committer>,
    next: Position,
    // Read ahead and not yet returned.
    records: VecDeque<Vec<u8>>,
    without_purged: WithoutPurged,
}

impl Follow {
    pub(crate) fn new(committer: Arc<Committer>, after: Position) -> Follow {
        Follow {
            committer,
            next: after.next(),
            records: VecDeque::new(),
            without_purged: WithoutPurged::default(),
        }
    }

    /// The position of the next record.
    pub fn position(&self) -> Position {
        self.next
    }

    /// The next record, if it is visible already; without the changes of instances that were purged since, in place of
    /// which are voids. It has its purges.
    ///
    /// Errors: those of the log, and of reading long values; the next call tries the same record again.
    pub fn poll(&mut self) -> Result<Option<(Position, Record)>> {
        let snapshot = self.committer.snapshot();
        if self.records.is_empty() {
            let published = snapshot.position();
            if self.next > published {
                return Ok(None);
            }
            let ahead = usize::try_from(published.0 - self.next.0 + 1).unwrap_or(usize::MAX);
            let limit =
                ReadLimit { records: ahead.min(ReadLimit::default().records), ..ReadLimit::default() };
            self.records = self.committer.source().log().read(self.next, limit)?.into();
        }
        let (position, ahead) = (self.next, &self.records);
        let Some(bytes) = ahead.front() else { return Ok(None) };
        let record = decode_record(position, bytes)?;
        let following = || {
            let numbered = (position.0..).map(Position).zip(ahead);
            numbered.map(|(position, bytes)| decode_record(position, bytes)).collect()
        };
        let record = self.without_purged.record(&snapshot, position, record, following)?;
        self.records.pop_front();
        self.next = position.next();
        Ok(Some((position, record)))
    }

    /// The next record up to the position of `snapshot` of which its sight shows something, and only that part. `None` also
    /// after many records of which it shows nothing: [`Follow::position`] says how far it is.
    ///
    /// Errors: those of reading history; the next call tries the same record again.
    pub fn poll_in(&mut self, snapshot: &Snapshot) -> Result<Option<(Position, Record)>> {
        for _ in 0..SKIPPED_RECORDS_MAX {
            if self.next > snapshot.position() {
                return Ok(None);
            }
            let Some((position, record)) = self.poll()? else { return Ok(None) };
            match snapshot.record_in_sight(position, record) {
                Ok(None) => {}
                Ok(Some(record)) => return Ok(Some((position, record))),
                Err(error) => {
                    (self.next, self.records) = (position, VecDeque::new());
                    return Err(error);
                }
            }
        }
        Ok(None)
    }

    /// The next record; waits for it at most `timeout`.
    pub fn wait(&mut self, timeout: Duration) -> Result<Option<(Position, Record)>> {
        if let Some(found) = self.poll()? {
            return Ok(Some(found));
        }
        self.committer.wait_for(self.next, timeout);
        self.poll()
    }
}
