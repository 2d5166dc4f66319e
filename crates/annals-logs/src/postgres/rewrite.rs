//! Rewrites records beside the log in force, and puts them in place by one statement: compaction removes purged instances so.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use annals::log::{
    Appended, Call, Log, LogId, ReadLimit, Rewrite, RewriteRecord, RewriteReport, Rewritten, check_read,
};
use annals::{Error, ErrorKind, Position, Result};
use tokio::time::{Instant, sleep};
use uuid::Uuid;

use super::lanes::Lane;
use super::place::Vacuum;
use super::seen::position;
use super::shared::SharedState;
use super::{PostgresLog, read};
use crate::call_body::Body;

/// How long the server may write its table anew.
const VACUUM_MAX: Duration = Duration::from_secs(900);
/// How often it is asked to, while others hold the table.
const VACUUM_TRIES_MAX: u32 = 3;
/// How long it waits each time. Meanwhile appends wait, too.
const VACUUM_WAIT: Duration = Duration::from_secs(2);

impl Rewrite for PostgresLog {
    fn seal(&self) -> Result<Position> {
        self.check_writer()?;
        self.tail()
    }

    fn rewrite(&self, last: Position, change: &mut RewriteRecord<'_>) -> Result<Box<dyn Rewritten + '_>> {
        self.check_writer()?;
        if last > self.tail()? {
            let text = format!(
                "{}: rewrite up to {last}: expected a position that is there; seal it",
                self.describe()
            );
            return Err(Error::new(ErrorKind::InvalidArgument, text));
        }
        if self.is_rewriting.swap(true, Ordering::SeqCst) {
            let text =
                format!("{}: rewrite: expected no other rewriting, found one; wait for it", self.describe());
            return Err(Error::new(ErrorKind::Busy, text));
        }
        let attempt = Uuid::new_v4();
        let mut rewritten = RewrittenCalls {
            log: self,
            attempt,
            sql: self.shared.sql.read_rewritten(attempt),
            generation: self.generation(),
            calls_count: 0,
            saved: 0,
            bytes: 0,
            report: RewriteReport::default(),
        };
        // An earlier one may have left calls, also one of another process, which then cannot be put in place.
        self.ask(self.deadline, |shared, until| async move {
            let deleted = shared.lanes.execute(Lane::Rewrite, &shared.sql.begin_rewriting, &[], until).await;
            deleted.map(|_| ()).map_err(|failure| failure.into_error())
        })?;
        rewritten.prepare(last, change)?;
        Ok(Box::new(rewritten))
    }
}

/// Calls that were rewritten, in a table beside those in force.
struct RewrittenCalls<'l> {
    log: &'l PostgresLog,
    attempt: Uuid,
    /// The statement that reads them.
    sql: String,
    /// The generation that they were made from.
    generation: u64,
    calls_count: i64,
    /// Units: bytes by which the log becomes smaller.
    saved: i64,
    /// Units: bytes of the prepared calls.
    bytes: usize,
    report: RewriteReport,
}

impl RewrittenCalls<'_> {
    /// Calls `change` for each record up to `last`, and stores the calls in which one changes.
    fn prepare(&mut self, last: Position, change: &mut RewriteRecord<'_>) -> Result<()> {
        let mut calls = VecDeque::new();
        let mut next = Position(1);
        // The records of the call that is being read.
        let (mut records, mut changed) = (Vec::new(), 0u64);
        while next <= last || !records.is_empty() {
            let read = self.log.read(next, ReadLimit::default())?;
            self.check_generation()?;
            if read.is_empty() {
                let text =
                    format!("{}: rewrite: expected a record at {next}, found none", self.log.describe());
                return Err(Error::new(ErrorKind::Gap, text));
            }
            for record in read {
                if calls.is_empty() {
                    if next > last {
                        return Ok(());
                    }
                    calls = self.calls_from(next, last)?;
                }
                let new = if next <= last { change(next, &record)? } else { None };
                changed += u64::from(new.is_some());
                records.push((record.len(), new.unwrap_or(record)));
                if calls.front().is_none_or(|(_, end)| *end == next) {
                    if let Some((first, _)) = calls.pop_front()
                        && changed > 0
                    {
                        self.store(first, &records, changed)?;
                    }
                    (records, changed) = (Vec::new(), 0);
                }
                next = next.next();
            }
        }
        Ok(())
    }

    /// The next calls that begin from `next` on and up to `last`. Shape: first and last position of each.
    fn calls_from(&self, next: Position, last: Position) -> Result<VecDeque<(Position, Position)>> {
        let bound = |position: u64| i64::try_from(position).unwrap_or(i64::MAX);
        let (after, upto) = (bound(next.0 - 1), bound(last.0));
        self.log.ask(self.log.deadline, move |shared, until| async move {
            let rows = shared.lanes.look(Lane::Read, &shared.sql.ends, &[&after, &upto], until).await;
            let rows = rows.map_err(|failure| failure.into_error())?;
            rows.iter().map(|row| Ok((Position(position(row, 0)?), Position(position(row, 1)?)))).collect()
        })
    }

    fn store(&mut self, first: Position, records: &[(usize, Vec<u8>)], changed: u64) -> Result<()> {
        let before: usize = records.iter().map(|(length, _)| length).sum();
        let after = records.iter().map(|(_, record)| record.len()).sum();
        let Body { index, body } = Body::encode(records.iter().map(|(_, record)| &**record), after)?;
        let signed = |bytes: usize| i64::try_from(bytes).unwrap_or(i64::MAX);
        self.saved += signed(before) - signed(after);
        self.bytes += after;
        self.calls_count += 1;
        self.report.records_count += changed;
        self.report.segments_count += 1;
        let (attempt, first) = (self.attempt, i64::try_from(first.0).unwrap_or(i64::MAX));
        self.log.ask(self.log.limit_of(after), move |shared, until| async move {
            let prepare = &shared.sql.prepare;
            let stored =
                shared.lanes.execute(Lane::Rewrite, prepare, &[&attempt, &first, &index, &body], until).await;
            stored.map(|_| ()).map_err(|failure| failure.into_error())
        })
    }

    fn check_generation(&self) -> Result<()> {
        if self.log.generation() == self.generation {
            return Ok(());
        }
        let text = format!("{}: another rewriting was put in place first; retry", self.log.describe());
        Err(Error::new(ErrorKind::Conflict, text))
    }
}

impl Log for RewrittenCalls<'_> {
    fn tail(&self) -> Result<Position> {
        self.log.tail()
    }

    fn append_call(&self, _: &Call<'_>) -> Appended {
        let text =
            format!("{}: append: expected the log in force, found one that is prepared", self.describe());
        Appended::Refused(Error::new(ErrorKind::ReadOnly, text))
    }

    fn read(&self, from: Position, limit: ReadLimit) -> Result<Vec<Vec<u8>>> {
        check_read(self, from)?;
        let sql = self.sql.clone();
        let time = self.log.limit_of(limit.bytes.min(annals::log::RECORD_BYTES_MAX));
        let answer = self.log.ask(time, move |shared, until| read::read(shared, sql, from, limit, until))?;
        if answer.generation != self.generation {
            self.check_generation()?;
        }
        Ok(answer.records)
    }

    fn describe(&self) -> String {
        format!("rewritten {}", self.log.describe())
    }

    fn id(&self) -> LogId {
        self.log.id()
    }

    fn generation(&self) -> u64 {
        self.generation + 1
    }
}

impl Rewritten for RewrittenCalls<'_> {
    fn report(&self) -> RewriteReport {
        self.report
    }

    fn put_in_place(self: Box<Self>) -> Result<()> {
        let (attempt, saved, count) = (self.attempt, self.saved, self.calls_count);
        let generation = i64::try_from(self.generation).unwrap_or(i64::MAX);
        // The server copies what it puts in place.
        let limit = self.log.limit_of(self.bytes.saturating_mul(4)).saturating_mul(2);
        let is_in_place = self.log.ask(limit, move |shared, until| async move {
            put_in_place(&shared, (attempt, saved, generation, count), until).await
        })?;
        if !is_in_place {
            let text = format!("{}: another rewriting was put in place first; retry", self.log.describe());
            return Err(Error::new(ErrorKind::Conflict, text));
        }
        // The size is another one now, and so is the generation.
        self.log.tail()?;
        let (log, vacuum) = (self.log, self.log.shared.lanes.place.vacuum);
        let waited = log.ask(VACUUM_MAX, move |shared, _| async move {
            purge(&shared, vacuum).await;
            Ok(())
        });
        // The next opening, or the next rewriting, does it again.
        let _ = waited;
        Ok(())
    }
}

impl Drop for RewrittenCalls<'_> {
    fn drop(&mut self) {
        let attempt = self.attempt;
        // If the server does not answer, the next rewriting removes them.
        let _ = self.log.ask(self.log.deadline, move |shared, until| async move {
            let discarded =
                shared.lanes.execute(Lane::Rewrite, &shared.sql.discard, &[&attempt], until).await;
            discarded.map(|_| ()).map_err(|failure| failure.into_error())
        });
        self.log.is_rewriting.store(false, Ordering::SeqCst);
    }
}

/// True if the rewriting is in force; false if another one came first. A lost answer is asked for again.
///
/// Errors: `Unavailable` if it is unknown, `Io` and `NoRoom` if the server refused it.
async fn put_in_place(
    shared: &SharedState,
    (attempt, saved, generation, count): (Uuid, i64, i64, i64),
    until: Instant,
) -> Result<bool> {
    let mut pause = Duration::from_millis(50);
    loop {
        let parameters: super::connection::Parameters<'_> = &[&attempt, &saved, &generation, &count];
        // Half of the time that is left, so that a late answer can be asked for again.
        let half = Instant::now() + until.saturating_duration_since(Instant::now()) / 2;
        let rows = shared.lanes.query(Lane::Rewrite, &shared.sql.put_in_place, parameters, half).await;
        match rows {
            Ok(rows) => {
                let raised = rows.first().map_or(Ok(0), |row| position(row, 0))?;
                return Ok(raised == 1 || is_in_place(shared, attempt, until).await?);
            }
            Err(super::failure::Failure::Refused(error)) => return Err(error),
            Err(failure) if Instant::now() + pause >= until => {
                let text = format!(
                    "{}: whether the rewritten log is in force is unknown; open the log again",
                    shared.lanes.place
                );
                return Err(
                    Error::new(ErrorKind::Unavailable, text).caused_by(failure.into_error().to_string())
                );
            }
            Err(_) => {
                sleep(pause).await;
                pause = (pause * 2).min(Duration::from_secs(1));
            }
        }
    }
}

/// True if an earlier try was put in place, and synced.
async fn is_in_place(shared: &SharedState, attempt: Uuid, until: Instant) -> Result<bool> {
    let failed = |failure: super::failure::Failure| failure.into_error();
    let rows =
        shared.lanes.look(Lane::Rewrite, &shared.sql.rewriting, &[&attempt], until).await.map_err(failed)?;
    if rows.is_empty() {
        return Ok(false);
    }
    shared.lanes.execute(Lane::Rewrite, &shared.sql.prove, &[], until).await.map_err(failed)?;
    Ok(true)
}

impl PostgresLog {
    /// Removes purged bytes that an earlier handle left in the files of the table, on the thread of the log.
    pub(super) fn vacuum_later(&self) {
        let shared = Arc::clone(&self.shared);
        let vacuum = shared.lanes.place.vacuum;
        self.runner.go(async move { purge(&shared, vacuum).await });
    }
}

/// Lets the server write the table anew, without the old rows. If it cannot now, the table stays marked.
async fn purge(shared: &SharedState, vacuum: Vacuum) {
    let generation = i64::try_from(shared.seen.generation()).unwrap_or(i64::MAX);
    let until = Instant::now() + VACUUM_MAX;
    let wait = VACUUM_WAIT.as_millis();
    let statement = match vacuum {
        Vacuum::Full => format!("vacuum (full) {}", shared.sql.calls),
        Vacuum::Plain => format!("vacuum {}", shared.sql.calls),
    };
    for _ in 0..VACUUM_TRIES_MAX {
        let set = format!("set lock_timeout = {wait}");
        if shared.lanes.run(Lane::Rewrite, &set, until).await.is_err() {
            continue;
        }
        let vacuumed = shared.lanes.run(Lane::Rewrite, &statement, until).await;
        let reset = shared.lanes.run(Lane::Rewrite, "set lock_timeout = 0", until).await;
        if vacuumed.is_ok() && reset.is_ok() {
            // A lost answer is another vacuum at the next opening.
            let _ = shared.lanes.execute(Lane::Rewrite, &shared.sql.vacuumed, &[&generation], until).await;
            return;
        }
    }
}
