//! Appends a call by one statement, and finds out what became of one that was sent before.

use std::sync::Arc;

use annals::log::{Appended, Call, another_log};
use annals::{Error, ErrorKind, Position, Result};
use tokio::time::Instant;
use uuid::Uuid;

use super::failure::{Answered, Failure};
use super::lanes::Lane;
use super::seen::{LastCall, column, position};
use super::shared::SharedState;
use crate::call_body::Body;

/// How often the statement is sent again because the log changed between it and the look after it.
const TRIES_MAX: usize = 8;

/// A call as it is sent, apart from the memory of the caller, who may be gone.
pub(super) struct SentCall {
    at: Position,
    last: Position,
    token: Uuid,
    term: i64,
    writer: Uuid,
    body: Body,
}

impl SentCall {
    /// `last` is the position of its last record.
    ///
    /// Errors: `TooLarge`.
    pub fn new(call: &Call<'_>, last: Position, writer: Uuid, bytes: usize) -> Result<SentCall> {
        let term = i64::try_from(call.term.0).map_err(|_| {
            Error::new(
                ErrorKind::TooLarge,
                format!("append: expected a term of 63 bits, found {}", call.term),
            )
        })?;
        let body = Body::encode(call.records.iter().copied(), bytes)?;
        Ok(SentCall { at: call.at, last, token: Uuid::from_u128(call.token.0), term, writer, body })
    }
}

/// The state of the log beside a call that was not inserted.
enum Look {
    /// The call is there.
    Own,
    /// Another one has the position.
    Taken,
    /// The position is free.
    Free(LastCall),
}

/// Appends a call.
pub(super) async fn append(shared: Arc<SharedState>, call: SentCall, until: Instant) -> Appended {
    match try_append(&shared, &call, until).await {
        Ok(outcome) => outcome,
        Err(failure) => failure.into_appended(),
    }
}

async fn try_append(shared: &SharedState, call: &SentCall, until: Instant) -> Answered<Appended> {
    for _ in 0..TRIES_MAX {
        let before = shared.seen.last();
        if let Some(bytes) = insert(shared, call, before, until).await? {
            shared.seen.note(LastCall { last: call.last, token: call.token, bytes });
            return Ok(Appended::Stored);
        }
        match look(shared, call, until).await? {
            // The row may be visible although standbys lack it: a later commit is synced after it.
            Look::Own => {
                shared.lanes.execute(Lane::Append, &shared.sql.prove, &[], until).await?;
                return Ok(Appended::Stored);
            }
            Look::Taken => return Ok(Appended::Taken),
            Look::Free(found) => {
                if let Err(error) = shared.seen.check_tail(before, found) {
                    return Ok(Appended::Refused(error));
                }
                if found.last.next() != call.at {
                    let text = format!(
                        "{}: expected position {}, found {}; append at tail + 1",
                        shared.lanes.place,
                        found.last.next(),
                        call.at
                    );
                    return Ok(Appended::Refused(Error::new(ErrorKind::InvalidArgument, text)));
                }
                // The call before came between the statement and the look.
            }
        }
    }
    let text =
        format!("{}: the log changes too fast to append at {}; try again", shared.lanes.place, call.at);
    Err(Failure::Unanswered { error: Error::new(ErrorKind::Unavailable, text), is_late: false })
}

/// Inserts the row, durably. Shape: the size of the log with it; `None` if the position or the call before it is not as
/// expected.
async fn insert(
    shared: &SharedState,
    call: &SentCall,
    before: LastCall,
    until: Instant,
) -> Answered<Option<u64>> {
    let known = (before.last.next() == call.at && before.last != Position::ZERO).then_some(before.token);
    let id = Uuid::from_bytes(shared.seen.id.0);
    let bytes = signed(call.body.body.len())?;
    let (first, last) = (signed(call.at.0)?, signed(call.last.0)?);
    let Body { index, body } = &call.body;
    let parameters: super::connection::Parameters<'_> =
        &[&first, &last, &call.token, &call.term, &call.writer, &bytes, index, body, &id, &known];
    let rows = shared.lanes.query(Lane::Append, &shared.sql.append, parameters, until).await?;
    // The row is stored, even if its size cannot be read.
    Ok(rows.first().map(|row| position(row, 0).unwrap_or_default()))
}

/// Reads what has the position of the call, on its own connection.
async fn look(shared: &SharedState, call: &SentCall, until: Instant) -> Answered<Look> {
    let rows = shared.lanes.query(Lane::Append, &shared.sql.at, &[&signed(call.at.0)?], until).await?;
    let read = || -> Result<Look> {
        shared.seen.take_origin(&rows)?;
        let Some(row) = rows.first() else {
            return Err(another_log(&shared.lanes.place.to_string(), "the table of logs is empty"));
        };
        let tail = LastCall {
            last: Position(position(row, 4)?),
            token: column::<Option<Uuid>>(row, 5)?.unwrap_or_default(),
            bytes: 0,
        };
        Ok(match column::<Option<Uuid>>(row, 3)? {
            Some(token) if token == call.token => Look::Own,
            Some(_) => Look::Taken,
            None if tail.last >= call.at => Look::Taken,
            None => Look::Free(tail),
        })
    };
    read().map_err(Failure::Refused)
}

/// A number of a position or of bytes as SQL has it.
fn signed(number: impl TryInto<i64>) -> Answered<i64> {
    number.try_into().map_err(|_| {
        let text = "append: expected a position and a size of 63 bits; append at tail + 1";
        Failure::Refused(Error::new(ErrorKind::InvalidArgument, text))
    })
}
