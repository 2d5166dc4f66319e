//! Reads records in an order, a bounded part of the log at a time.

use std::ops::RangeInclusive;

use super::filter::Filter;
use super::query::LogQuery;
use crate::log::ReadLimit;
use crate::model::Instant;
use crate::read::Snapshot;
use crate::{Error, ErrorKind, Position, Result};

/// Records read together, at first and at most: pages are often short.
const PIECE_RECORDS: usize = 32;
const PIECE_RECORDS_MAX: usize = 1_000;

/// The records that are read for a page.
pub(super) struct Scan<'s> {
    snapshot: &'s Snapshot,
    is_oldest_first: bool,
    // The rest to be read.
    left: Left,
    // Records that are read but not returned, in the order of the list.
    piece: std::vec::IntoIter<(Position, Vec<u8>)>,
    piece_records: usize,
}

enum Left {
    /// All of a range; empty if it ends before it starts.
    Range(RangeInclusive<u64>),
    /// These, in the order of the list.
    Listed(std::vec::IntoIter<u64>),
}

impl<'s> Scan<'s> {
    /// The records of `query`, selected by positions and times only.
    pub(super) fn new(snapshot: &'s Snapshot, query: &LogQuery, filter: &Filter) -> Result<Scan<'s>> {
        let range = range(snapshot, query)?;
        let left = match filter.positions()? {
            None => Left::Range(range),
            Some(positions) => {
                let mut listed: Vec<u64> = positions.into_iter().filter(|at| range.contains(at)).collect();
                if !query.is_oldest_first {
                    listed.reverse();
                }
                Left::Listed(listed.into_iter())
            }
        };
        let (is_oldest_first, piece) = (query.is_oldest_first, Vec::new().into_iter());
        Ok(Scan { snapshot, is_oldest_first, left, piece, piece_records: PIECE_RECORDS })
    }

    pub(super) fn next(&mut self) -> Result<Option<(Position, Vec<u8>)>> {
        if self.piece.len() == 0 {
            self.piece = self.next_piece()?.into_iter();
        }
        Ok(self.piece.next())
    }

    /// True if there are more records after the returned ones.
    pub(super) fn has_more(&self) -> bool {
        let is_left = match &self.left {
            Left::Range(range) => !range.is_empty(),
            Left::Listed(positions) => positions.len() > 0,
        };
        self.piece.len() > 0 || is_left
    }

    fn next_piece(&mut self) -> Result<Vec<(Position, Vec<u8>)>> {
        let range = match &mut self.left {
            Left::Range(range) if range.is_empty() => return Ok(Vec::new()),
            Left::Range(range) => range.clone(),
            Left::Listed(positions) => {
                let Some(position) = positions.next() else { return Ok(Vec::new()) };
                let records = self.read(position, 1)?;
                return Ok(numbered(position, records).collect());
            }
        };
        let (first, last) = (*range.start(), *range.end());
        let most = usize::try_from(last - first + 1).unwrap_or(usize::MAX);
        let mut count = self.piece_records.min(most);
        if self.is_oldest_first {
            let records = self.read(first, count)?;
            self.left = Left::Range(first + records.len() as u64..=last);
            self.piece_records = PIECE_RECORDS_MAX;
            return Ok(numbered(first, records).collect());
        }
        loop {
            let start = last + 1 - count as u64;
            let records = self.read(start, count)?;
            // A log returns fewer if records are large, or in several files: then those before `last` are missing.
            if records.len() < count {
                count = count.div_ceil(2);
                continue;
            }
            self.left = Left::Range(first..=start - 1);
            self.piece_records = (2 * count).min(PIECE_RECORDS_MAX);
            let mut piece: Vec<_> = numbered(start, records).collect();
            piece.reverse();
            return Ok(piece);
        }
    }

    /// At least one record, at most `count`.
    fn read(&self, from: u64, count: usize) -> Result<Vec<Vec<u8>>> {
        let log = self.snapshot.source().log();
        let mut records = log.read(Position(from), ReadLimit { records: count, ..ReadLimit::default() })?;
        records.truncate(count);
        if records.is_empty() {
            let text = format!("{}: expected a record at position {from}, found none", log.describe());
            return Err(Error::new(ErrorKind::Gap, text));
        }
        Ok(records)
    }
}

fn numbered(first: u64, records: Vec<Vec<u8>>) -> impl Iterator<Item = (Position, Vec<u8>)> {
    (first..).map(Position).zip(records)
}

/// The range of positions of a query. Instants never run backwards, so a range of time is a range of positions.
fn range(snapshot: &Snapshot, query: &LogQuery) -> Result<RangeInclusive<u64>> {
    if let (Some(since), Some(until)) = (query.since, query.until)
        && since > until
    {
        let text = format!("log since {since} until {until}: expected the start before the end");
        return Err(Error::new(ErrorKind::InvalidArgument, text));
    }
    let before = |instant: Instant| {
        let last = Instant::from_checked_micros(instant.micros().saturating_sub(1));
        snapshot.graph().position_at(last).0
    };
    // A record that is not committed is not in the log.
    let committed = snapshot.pending().map_or(u64::MAX, |pending| pending.position - 1);
    let (mut first, mut last) = (1, snapshot.position().0.min(committed));
    if let Some(since) = query.since {
        first = before(since) + 1;
    }
    if let Some(until) = query.until {
        last = last.min(before(until));
    }
    if let Some(after) = query.after {
        let position = after.position.0;
        // A record that was shown in part continues.
        let is_begun = after.changes.is_some();
        if query.is_oldest_first {
            first = first.max(if is_begun { position } else { position.saturating_add(1) });
        } else {
            last = last.min(if is_begun { position } else { position.saturating_sub(1) });
        }
    }
    Ok(first..=last)
}
