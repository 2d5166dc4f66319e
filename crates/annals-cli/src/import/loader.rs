//! Loads operations in batches: several on their way at once, each all or nothing, and only the bad lines dropped.

use std::collections::VecDeque;
use std::time::Duration;

use annals::{Action, Error, ErrorKind, Repository, Result, Ticket};

use super::mark::{Covered, marked_message};
use super::operation::Operation;
use super::plan::Mark;
use super::report::Report;
use super::{Checked, Refused};
use crate::stop::Outcome;

/// Batches submitted and not yet durable. Their lines are kept in memory until they are.
const IN_FLIGHT_MAX: usize = 16;
/// A batch is closed at this size, or at a share of the memory budget. Units: bytes of input.
const BATCH_BYTES_MAX: usize = 4 << 20;
/// The share: read, parsed, encoded and applied, the batches in flight take many times as much.
const BATCH_SHARE: u64 = 512;
/// Shortest batch, however small the budget. Units: bytes of input.
const BATCH_BYTES_MIN: usize = 16 << 10;
/// A batch that the memory budget refuses is tried again so often: what was in flight has left memory behind that the
/// allocator gives back later.
const TRIES_AGAIN: u32 = 5;
/// Between two of these tries.
const TRY_AGAIN_PAUSE: Duration = Duration::from_millis(20);

/// How to load.
#[derive(Clone, Debug)]
pub struct LoadOptions {
    /// A batch is closed when it has this many changes.
    pub batch_changes: usize,
    /// Who imports.
    pub author: String,
    /// Why.
    pub message: String,
}

/// What one line, row or stanza asks for: all of it or nothing.
struct Unit {
    line: u64,
    operations: Vec<Operation>,
}

struct InFlight {
    ticket: Ticket,
    units: Vec<Unit>,
}

/// Loads the operations of one file.
pub struct Loader<'r> {
    repository: &'r Repository,
    options: &'r LoadOptions,
    report: &'r mut Report,
    file: String,
    covered: Covered,
    units: Vec<Unit>,
    changes_count: usize,
    bytes: usize,
    /// A batch is closed at this size. Units: bytes of input.
    batch_bytes_max: usize,
    /// True if the last unit taken declares types.
    is_defining: bool,
    in_flight: VecDeque<InFlight>,
}

impl<'r> Loader<'r> {
    /// Loads lines of `file`, leaving out those that are `covered`.
    pub fn new(
        repository: &'r Repository,
        options: &'r LoadOptions,
        report: &'r mut Report,
        file: &str,
        covered: Covered,
    ) -> Loader<'r> {
        Loader {
            repository,
            options,
            report,
            file: file.to_owned(),
            covered,
            units: Vec::new(),
            changes_count: 0,
            bytes: 0,
            batch_bytes_max: batch_bytes_max(repository.memory_bytes_max()),
            is_defining: false,
            in_flight: VecDeque::new(),
        }
    }

    /// Takes what a line asks for; `bytes` is its length.
    ///
    /// Errors: those of the log. What is wrong with the line is reported, sooner or later.
    pub fn add(&mut self, line: u64, operations: Vec<Operation>, bytes: usize) -> Outcome {
        if operations.is_empty() {
            return Ok(());
        }
        if self.covered.has(line) {
            self.report.summary.skipped_count += 1;
            return Ok(());
        }
        // Order: types are committed before what uses them, because creating looks defaults up in the snapshot.
        let is_defining = operations.iter().any(Operation::is_definition);
        if is_defining != self.is_defining {
            self.finish()?;
            self.is_defining = is_defining;
        }
        self.changes_count += operations.len();
        self.bytes += bytes;
        self.units.push(Unit { line, operations });
        if self.changes_count >= self.options.batch_changes || self.bytes >= self.batch_bytes_max {
            self.submit()?;
        }
        Ok(())
    }

    /// Takes a line that could not be read.
    ///
    /// Errors: ends the import if it was asked to stop at the first; the lines before it are committed then.
    pub fn refuse(&mut self, refused: &Refused) -> Outcome {
        if self.covered.has(refused.line) {
            return Ok(());
        }
        if self.report.is_stopping() {
            self.finish()?;
        }
        self.report.refuse(&self.file, refused.line, ErrorKind::InvalidArgument, &refused.reason)
    }

    /// Takes a line that was read or not.
    pub fn take(&mut self, line: u64, read: Checked<Vec<Operation>>, bytes: usize) -> Outcome {
        match read {
            Ok(operations) => self.add(line, operations, bytes),
            Err(refused) => self.refuse(&refused),
        }
    }

    /// Commits what is left and waits until everything is durable.
    pub fn finish(&mut self) -> Outcome {
        self.submit()?;
        self.settle(0)
    }

    /// Commits what is left. Of an import that failed only what is on its way is waited for, so that it is counted.
    pub fn end(&mut self, outcome: Outcome) -> Outcome {
        match outcome {
            Ok(()) => self.finish(),
            Err(stop) => {
                // The first failure says why; a second one adds nothing.
                let _ = self.settle(0);
                Err(stop)
            }
        }
    }

    /// Writes a record that changes nothing and says how far a release came.
    pub fn mark(&mut self, mark: &Mark) -> Outcome {
        let mut transaction = self.repository.transaction();
        transaction.author(&self.options.author).message(&mark.message(&self.options.message));
        transaction.push_action(Action::Void)?;
        transaction.submit()?.wait()?;
        self.report.summary.records_count += 1;
        Ok(())
    }

    /// What is done and refused.
    pub fn report(&mut self) -> &mut Report {
        self.report
    }

    fn submit(&mut self) -> Outcome {
        if self.units.is_empty() {
            return Ok(());
        }
        self.settle(IN_FLIGHT_MAX - 1)?;
        let units = std::mem::take(&mut self.units);
        self.changes_count = 0;
        self.bytes = 0;
        match self.hand_over(&units) {
            Ok(ticket) => self.in_flight.push_back(InFlight { ticket, units }),
            Err(error) => {
                self.settle(0)?;
                self.commit_parts(units, Some(error))?;
            }
        }
        Ok(())
    }

    fn hand_over(&self, units: &[Unit]) -> Result<Ticket> {
        let (first, last) = (units[0].line, units[units.len() - 1].line);
        let mut transaction = self.repository.transaction();
        transaction.author(&self.options.author).message(&marked_message(
            &self.options.message,
            &self.file,
            first,
            last,
        ));
        for operation in units.iter().flat_map(|unit| &unit.operations) {
            operation.clone().push(&mut transaction)?;
        }
        transaction.submit()
    }

    /// Waits until at most `left` batches are on their way.
    fn settle(&mut self, left: usize) -> Outcome {
        while self.in_flight.len() > left
            && let Some(oldest) = self.in_flight.pop_front()
        {
            if let Err(error) = oldest.ticket.wait() {
                return self.settle_all(oldest.units, error);
            }
            self.count(&oldest.units);
        }
        Ok(())
    }

    /// After a refused batch: waits for all others, which may lean on it, then commits the refused ones in parts.
    fn settle_all(&mut self, units: Vec<Unit>, error: Error) -> Outcome {
        let mut refused = vec![(units, Some(error))];
        for batch in std::mem::take(&mut self.in_flight) {
            match batch.ticket.wait() {
                Ok(_) => self.count(&batch.units),
                // What it lacked may be there once the batches before it are in, so it is tried whole again.
                Err(_) => refused.push((batch.units, None)),
            }
        }
        for (units, error) in refused {
            self.commit_parts(units, error)?;
        }
        Ok(())
    }

    /// Commits `units` in ever smaller parts, so that only the bad ones are dropped. `error` is why the whole was
    /// refused, if it was tried.
    fn commit_parts(&mut self, units: Vec<Unit>, error: Option<Error>) -> Outcome {
        let mut parts = vec![(units, error)];
        let mut tries_left = TRIES_AGAIN;
        while let Some((mut units, error)) = parts.pop() {
            let outcome = match error {
                Some(error) => Err(error),
                None => self.hand_over(&units).and_then(|ticket| ticket.wait()),
            };
            match outcome {
                Ok(_) => {
                    self.count(&units);
                    tries_left = TRIES_AGAIN;
                }
                Err(error) if tries_left > 0 && error.kind() == ErrorKind::NoRoom => {
                    tries_left -= 1;
                    std::thread::sleep(TRY_AGAIN_PAUSE);
                    parts.push((units, None));
                }
                Err(error)
                    if is_fatal(error.kind()) && !(units.len() > 1 && self.may_fit_in_parts(&error)) =>
                {
                    return Err(error.into());
                }
                Err(error) if units.len() == 1 => {
                    self.report.refuse(&self.file, units[0].line, error.kind(), explain(&error))?;
                }
                Err(_) => {
                    let behind = units.split_off(units.len() / 2);
                    parts.push((behind, None));
                    parts.push((units, None));
                }
            }
        }
        Ok(())
    }

    /// True if a smaller part may be taken: the memory budget has no room for the whole, and is not spent.
    fn may_fit_in_parts(&self, error: &Error) -> bool {
        let is_bounded = self.repository.memory_bytes_max().is_some();
        error.kind() == ErrorKind::NoRoom && is_bounded && !self.repository.is_memory_spent()
    }

    fn count(&mut self, units: &[Unit]) {
        self.report.summary.records_count += 1;
        self.report.summary.changes_count +=
            units.iter().map(|unit| unit.operations.len() as u64).sum::<u64>();
        let changes_count = self.report.summary.changes_count;
        self.report.progress.note(|| format!("{} changes", crate::output::count(changes_count)));
    }
}

/// Units: bytes of input in a batch, under a memory budget of so many bytes.
fn batch_bytes_max(memory_bytes_max: Option<u64>) -> usize {
    let share = memory_bytes_max.map_or(u64::MAX, |bytes| bytes / BATCH_SHARE);
    usize::try_from(share).unwrap_or(usize::MAX).clamp(BATCH_BYTES_MIN, BATCH_BYTES_MAX)
}

/// True if the log is the trouble and not the line.
pub fn is_fatal(kind: ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::Unavailable
            | ErrorKind::Locked
            | ErrorKind::ReadOnly
            | ErrorKind::Closed
            | ErrorKind::Corrupted
            | ErrorKind::Gap
            | ErrorKind::NewerFormat
            | ErrorKind::NoRoom
            | ErrorKind::Io
    )
}

/// The error with what an importer can do about it.
fn explain(error: &Error) -> String {
    match error.kind() {
        ErrorKind::MissingEnd => format!("{error}; put entities before the relationships between them"),
        ErrorKind::AlreadyExists => {
            format!("{error}; if an import was interrupted, run it again with --resume")
        }
        _ => error.to_string(),
    }
}
