//! Reads calls: whole ones up to a limit, or a part of one.

use std::sync::Arc;

use annals::log::{ReadBatch, ReadLimit, another_log};
use annals::{Error, ErrorKind, Position, Result};
use tokio::time::Instant;
use tokio_postgres::Row;
use uuid::Uuid;

use super::lanes::Lane;
use super::seen::{LastCall, column, position};
use super::shared::SharedState;
use crate::call_body::Part;

/// An answer has at most so much, and one record more. Units: bytes.
const ANSWER_BYTES_MAX: usize = 16 * 1024 * 1024;
/// An answer has at most so many records.
const ANSWER_RECORDS_MAX: usize = 10_000;

/// No log has so many records, and SQL can still count on from there.
const POSITIONS_END: i64 = i64::MAX / 2;

/// Records that follow each other, all of one generation.
pub(super) struct Answer {
    pub records: Vec<Vec<u8>>,
    pub generation: u64,
}

/// The last call of the log.
pub(super) async fn tail(shared: Arc<SharedState>, until: Instant) -> Result<LastCall> {
    let before = shared.seen.last();
    let rows = shared.lanes.look(Lane::Read, &shared.sql.tail, &[], until).await;
    let rows = rows.map_err(|failure| failure.into_error())?;
    shared.seen.take_origin(&rows)?;
    let row = rows.first().ok_or_else(|| another_log(&shared.lanes.place.to_string(), "it has no row"))?;
    let found = LastCall {
        last: Position(position(row, 3)?),
        token: column::<Option<Uuid>>(row, 4)?.unwrap_or_default(),
        bytes: position(row, 5)?,
    };
    shared.seen.note_saved(position(row, 2)?);
    shared.seen.note_tail(before, found)?;
    Ok(found)
}

/// Reads records by `sql`, the statement of the log in force or of a rewriting.
pub(super) async fn read(
    shared: Arc<SharedState>,
    sql: String,
    from: Position,
    limit: ReadLimit,
    until: Instant,
) -> Result<Answer> {
    let before = shared.seen.last();
    let records = limit.records.clamp(1, ANSWER_RECORDS_MAX);
    let bytes = limit.bytes.min(ANSWER_BYTES_MAX);
    let first = i64::try_from(from.0).ok().filter(|first| *first < POSITIONS_END);
    let (Some(first), Ok(bytes), Ok(records)) = (first, i64::try_from(bytes), i64::try_from(records)) else {
        return Ok(Answer { records: Vec::new(), generation: shared.seen.generation() });
    };
    let rows = shared.lanes.look(Lane::Read, &sql, &[&first, &bytes, &records], until).await;
    let rows = rows.map_err(|failure| failure.into_error())?;
    let generation = shared.seen.take_origin(&rows)?;
    let mut calls = rows.iter().map(FoundCall::of).collect::<Result<Vec<_>>>()?;
    calls.retain(|call| call.first != Position::ZERO);
    // The join has no order.
    calls.sort_by_key(|call| call.first);
    if calls.is_empty() && from <= before.last {
        return Err(shared.seen.lost(before, "found fewer"));
    }
    let mut batch = ReadBatch::new(limit);
    let mut next = from;
    for call in &calls {
        if call.first > next || call.last < next {
            let text = format!(
                "{}: expected a call with position {next}, found the next one at {}; restore it from a backup",
                shared.lanes.place, call.first
            );
            return Err(Error::new(ErrorKind::Gap, text));
        }
        shared.seen.check_call(before, call.call)?;
        for record in call.records(&shared, next)? {
            if !batch.offer(record) {
                return Ok(Answer { records: batch.into_records(), generation });
            }
            next = next.next();
        }
        if next <= call.last {
            break;
        }
        shared.seen.note(call.call);
    }
    Ok(Answer { records: batch.into_records(), generation })
}

/// A part of a call in an answer.
struct FoundCall<'r> {
    first: Position,
    last: Position,
    call: LastCall,
    part: Part<'r>,
}

impl<'r> FoundCall<'r> {
    /// The row of a log without such calls has position zero.
    fn of(row: &'r Row) -> Result<FoundCall<'r>> {
        let last = Position(position(row, 3)?);
        Ok(FoundCall {
            first: Position(position(row, 2)?),
            last,
            call: LastCall {
                last,
                token: column::<Option<Uuid>>(row, 4)?.unwrap_or_default(),
                bytes: position(row, 5)?,
            },
            part: Part {
                begin: column::<Option<i64>>(row, 6)?.unwrap_or_default(),
                index: column::<Option<&[u8]>>(row, 7)?.unwrap_or_default(),
                body: column::<Option<&[u8]>>(row, 8)?.unwrap_or_default(),
            },
        })
    }

    /// The whole records, of which the first is the one at `next`.
    ///
    /// Errors: `Corrupted`.
    fn records(&self, shared: &SharedState, next: Position) -> Result<Vec<&'r [u8]>> {
        let damaged = |(number, text): (usize, String)| {
            let at = next.0.saturating_add(u64::try_from(number).unwrap_or(u64::MAX));
            let text = format!(
                "{}: the record at {at}, in the call at {}: {text}; restore it from a backup",
                shared.lanes.place, self.first
            );
            Error::new(ErrorKind::Corrupted, text)
        };
        let records = self.part.records().map_err(damaged)?;
        if records.is_empty() {
            return Err(damaged((0, "expected it in its index, found none".to_owned())));
        }
        Ok(records)
    }
}
