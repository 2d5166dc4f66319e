//! A log in PostgreSQL: one row for each append call, insert only.
//!
//! The log owns one thread with the runtime of the driver. Callers wait for it up to the deadline, also on threads of another
//! runtime. A connection is closed when an answer is late; nothing is ever cancelled.

mod place;
mod credentials;
mod tls;
mod settings;
mod failure;
mod connection;
mod lanes;
mod sql;
mod seen;
mod shared;
mod opening;
mod append;
mod read;
mod register;
mod rewrite;
mod adopt;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use annals::log::{
    Appended, Call, Log, LogId, ReadLimit, Register, Rewrite, Verified, check_append, check_read,
};
use annals::{Error, ErrorKind, Position, Result};
use tokio::time::Instant;
use uuid::Uuid;

use crate::Options;
use crate::runner::Runner;
use append::SentCall;
use lanes::{Lane, Lanes};
pub(crate) use opening::is_missing;
use place::PostgresPlace;
use shared::SharedState;
use sql::Sql;

/// An opening ends within this time, however long other calls may take.
const OPENING_MAX: Duration = Duration::from_secs(4);

/// A call has a second more for each of these. Units: bytes.
const BYTES_A_SECOND: usize = 16 * 1024 * 1024;

/// A log in PostgreSQL. Each append is one row, and one commit of the server.
///
/// A call of any operation ends within [`Options::deadline`], with a second more for each 16 MiB.
pub struct PostgresLog {
    shared: Arc<SharedState>,
    runner: Runner,
    deadline: Duration,
    durability: String,
    /// This handle, in the rows of its calls.
    writer: Uuid,
    is_closed: AtomicBool,
    is_rewriting: AtomicBool,
}

impl PostgresLog {
    /// Opens the log at `postgres://USER@HOST:PORT,…/DATABASE?schema=…`, and creates it there if it is missing and opened
    /// for writing.
    ///
    /// Errors: those of [`crate::open`].
    pub fn open(place: &str, options: &Options) -> Result<PostgresLog> {
        let place = PostgresPlace::parse(place)?;
        let sql = Sql::new(&place.schema);
        let lanes = Lanes::new(place, options.is_read_only);
        let runner = Runner::start("annals-postgres")?;
        let limit = options.deadline.min(OPENING_MAX);
        let name = lanes.place.to_string();
        let opened = runner.wait(limit, async move {
            let until = Instant::now() + limit;
            let opened = opening::open(&lanes, &sql, until).await?;
            let shared = Arc::new(SharedState {
                lanes,
                sql,
                seen: opened.seen,
                is_swap_in_doubt: AtomicBool::new(false),
            });
            read::tail(Arc::clone(&shared), until).await?;
            Ok((shared, opened.durability, opened.is_vacuumed))
        });
        let (shared, durability, is_vacuumed) = opened.unwrap_or_else(|| Err(no_answer(&name)))?;
        let log = PostgresLog {
            shared,
            runner,
            deadline: options.deadline,
            durability,
            writer: Uuid::new_v4(),
            is_closed: AtomicBool::new(false),
            is_rewriting: AtomicBool::new(false),
        };
        if !is_vacuumed && !options.is_read_only {
            log.vacuum_later();
        }
        Ok(log)
    }

    /// Checks a place without asking the server.
    ///
    /// Errors: `InvalidArgument`, as of [`PostgresLog::open`].
    pub fn check(place: &str) -> Result<()> {
        PostgresPlace::parse(place).map(drop)
    }

    /// How durable an acknowledged commit is, by the settings that were found at the opening. It begins with `unsafe: ` if it
    /// may be lost.
    pub fn durability(&self) -> &str {
        &self.durability
    }

    /// Runs `task` on the thread of the log until `limit`.
    fn ask<T, F>(&self, limit: Duration, task: impl FnOnce(Arc<SharedState>, Instant) -> F) -> Result<T>
    where
        T: Send + 'static,
        F: Future<Output = Result<T>> + Send + 'static,
    {
        let task = task(Arc::clone(&self.shared), Instant::now() + limit);
        let answer = self.runner.wait(limit, task);
        answer.unwrap_or_else(|| Err(no_answer(&self.describe())))
    }

    /// The deadline of a call with so many bytes.
    fn limit_of(&self, bytes: usize) -> Duration {
        let seconds = u64::try_from(bytes / BYTES_A_SECOND).unwrap_or(u64::MAX);
        self.deadline.saturating_add(Duration::from_secs(seconds))
    }

    /// The reason why nothing is appended by this handle.
    fn check_writer(&self) -> Result<()> {
        let refused =
            |kind, text: &str| Err(Error::new(kind, format!("{}: append: {text}", self.describe())));
        if self.shared.lanes.is_read_only {
            return refused(ErrorKind::ReadOnly, "the log was opened for reading; open it for writing");
        }
        if self.is_closed.load(Ordering::SeqCst) {
            return refused(ErrorKind::Closed, "the log was closed; open it again");
        }
        Ok(())
    }
}

fn no_answer(log: &str) -> Error {
    Error::new(
        ErrorKind::Unavailable,
        format!("{log}: the thread of the log did not answer in time; try again"),
    )
}

impl Log for PostgresLog {
    fn tail(&self) -> Result<Position> {
        self.ask(self.deadline, read::tail).map(|found| found.last)
    }

    fn append_call(&self, call: &Call<'_>) -> Appended {
        let checked = check_append(self, call).and_then(|()| self.check_writer());
        if let Err(error) = checked {
            return Appended::Refused(error);
        }
        let bytes = call.records.iter().map(|record| record.len()).sum();
        let count = u64::try_from(call.records.len()).unwrap_or(u64::MAX);
        let sent = match SentCall::new(call, Position(call.at.0 + count - 1), self.writer, bytes) {
            Ok(sent) => sent,
            Err(error) => return Appended::Refused(error),
        };
        let limit = self.limit_of(bytes);
        let task = append::append(Arc::clone(&self.shared), sent, Instant::now() + limit);
        self.runner.wait(limit, task).unwrap_or_else(|| Appended::Unknown(no_answer(&self.describe())))
    }

    fn read(&self, from: Position, limit: ReadLimit) -> Result<Vec<Vec<u8>>> {
        check_read(self, from)?;
        let sql = self.shared.sql.read.clone();
        let time = self.limit_of(limit.bytes.min(annals::log::RECORD_BYTES_MAX));
        let answer = self.ask(time, move |shared, until| read::read(shared, sql, from, limit, until))?;
        Ok(answer.records)
    }

    fn describe(&self) -> String {
        self.shared.lanes.place.to_string()
    }

    fn id(&self) -> LogId {
        self.shared.seen.id
    }

    fn generation(&self) -> u64 {
        self.shared.seen.generation()
    }

    fn as_rewrite(&self) -> Option<&dyn Rewrite> {
        Some(self)
    }

    fn register(&self) -> Option<&dyn Register> {
        Some(self)
    }

    fn bytes_up_to(&self, position: Position) -> u64 {
        if let Some(known) = self.shared.seen.bytes_up_to(position) {
            return known;
        }
        let asked = self.ask(self.deadline, move |shared, until| async move {
            let first = i64::try_from(position.0).unwrap_or(i64::MAX);
            let rows = shared.lanes.look(Lane::Read, &shared.sql.bytes, &[&first], until).await;
            let rows = rows.map_err(|failure| failure.into_error())?;
            rows.first().map_or(Ok(0), |row| seen::position(row, 0))
        });
        let Ok(bytes) = asked else { return 0 };
        self.shared.seen.note_size(position, bytes);
        self.shared.seen.bytes_up_to(position).unwrap_or(bytes)
    }

    fn verify(&self) -> Result<Verified> {
        let mut verified = Verified::default();
        loop {
            let from = Position(verified.records_count + 1);
            let records = self.read(from, ReadLimit { bytes: BYTES_A_SECOND, records: usize::MAX })?;
            if records.is_empty() {
                break;
            }
            let count = |number: usize| u64::try_from(number).unwrap_or(u64::MAX);
            verified.records_count += count(records.len());
            verified.bytes += records.iter().map(|record| count(record.len())).sum::<u64>();
        }
        verified.segments_count = self.count_calls()?;
        Ok(verified)
    }

    fn close(&self) -> Result<()> {
        self.is_closed.store(true, Ordering::SeqCst);
        Ok(())
    }
}

impl PostgresLog {
    /// Checks the headers of all calls, and counts them.
    ///
    /// Errors: `Corrupted`.
    fn count_calls(&self) -> Result<u64> {
        self.ask(self.deadline.saturating_mul(10), |shared, until| async move {
            let rows = shared.lanes.look(Lane::Read, &shared.sql.damage, &[], until).await;
            let rows = rows.map_err(|failure| failure.into_error())?;
            let Some(row) = rows.first() else { return Ok(0) };
            match seen::column::<Option<i64>>(row, 0)? {
                None => seen::position(row, 1),
                Some(first) => {
                    let text = format!(
                        "{}: the call at {first} does not fit its own index, or the call before it; restore it from \
                         a backup",
                        shared.lanes.place
                    );
                    Err(Error::new(ErrorKind::Corrupted, text))
                }
            }
        })
    }
}

impl fmt::Debug for PostgresLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresLog").field("place", &self.describe()).finish_non_exhaustive()
    }
}
