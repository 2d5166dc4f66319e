//! Loads records as they were committed elsewhere: same positions, instants, authors and messages.

use annals::action;
use std::collections::{HashSet, VecDeque};

use annals::{Action, Error, ErrorKind, InstanceId, Position, Repository, Result, Ticket, Transaction};

use super::jsonl::RecordLine;
use super::loader::is_fatal;
use super::report::Report;
use crate::{Outcome, Stop};

/// Records submitted and not yet durable.
const IN_FLIGHT_MAX: usize = 256;
/// Changes submitted and not yet durable.
const IN_FLIGHT_CHANGES_MAX: usize = 100_000;

/// A record that was submitted and may not be durable yet.
struct InFlight {
    line: u64,
    position: Position,
    changes_count: usize,
    ticket: Ticket,
}

/// Loads records in their order into a repository that is a beginning of the same history.
///
/// Positions must agree, so a record that is refused ends the import: nothing behind it could be right.
pub struct HistoryLoader<'r> {
    repository: &'r Repository,
    report: &'r mut Report,
    file: String,
    is_resuming: bool,
    /// The position that comes next.
    next: Position,
    in_flight: VecDeque<InFlight>,
    in_flight_changes: usize,
    // What the records on their way write; a record that writes the same again has to wait, or it would conflict.
    touched: HashSet<InstanceId>,
}

impl<'r> HistoryLoader<'r> {
    /// Loads records of `file`.
    pub fn new(
        repository: &'r Repository,
        report: &'r mut Report,
        file: &str,
        is_resuming: bool,
    ) -> HistoryLoader<'r> {
        HistoryLoader {
            repository,
            report,
            file: file.to_owned(),
            is_resuming,
            next: repository.snapshot().position().next(),
            in_flight: VecDeque::new(),
            in_flight_changes: 0,
            touched: HashSet::new(),
        }
    }

    /// Takes a record.
    ///
    /// Errors: those of the log; `Conflict` if the repository holds another history; what is wrong with the record.
    /// Everything before it is durable and counted then.
    pub fn add(&mut self, line: u64, record: RecordLine) -> Outcome {
        self.submit(line, record).map_err(|stop| self.end(stop))
    }

    /// Settles what is on its way before the import ends; what was wrong earlier is told first.
    pub fn end(&mut self, stop: Stop) -> Stop {
        self.finish().err().unwrap_or(stop)
    }

    fn submit(&mut self, line: u64, record: RecordLine) -> Outcome {
        if record.position < self.next {
            return self.skip(line, &record);
        }
        if record.position > self.next {
            let text = format!("expected the record of position {}, found {}", self.next, record.position);
            return Err(self.at(line, Error::new(ErrorKind::Gap, text)).into());
        }
        let instances: Vec<InstanceId> =
            record.operations.iter().filter_map(|operation| operation.action.instance()).collect();
        if instances.iter().any(|instance| self.touched.contains(instance)) {
            self.finish()?;
        }
        // These change more than the instance they name.
        let is_wide = record.operations.iter().any(|operation| {
            matches!(
                operation.action,
                Action::Delete(_)
                    | Action::Restore(..)
                    | Action::Purge(_)
                    | Action::PurgeCopy(..)
                    | Action::Reidentify(..)
                    | Action::NameCollection(_)
                    | Action::DefineType(_)
            )
        });
        let changes_count = record.operations.len();
        let position = record.position;
        let ticket = self.transaction(record).and_then(Transaction::submit);
        let ticket = ticket.map_err(|error| self.at(line, error))?;
        self.in_flight.push_back(InFlight { line, position, changes_count, ticket });
        self.in_flight_changes += changes_count;
        self.touched.extend(instances);
        self.next = position.next();
        let is_full =
            self.in_flight.len() >= IN_FLIGHT_MAX || self.in_flight_changes >= IN_FLIGHT_CHANGES_MAX;
        if is_wide || is_full { self.finish() } else { Ok(()) }
    }

    fn transaction(&self, record: RecordLine) -> Result<Transaction> {
        let mut transaction = self.repository.transaction();
        transaction.author(&record.author).message(&record.message).committed_at(record.instant);
        // Every version of the history is made again, also those that changed nothing.
        transaction.always(true);
        if record.operations.is_empty() {
            // A record without changes still has its position.
            transaction.push_action(Action::Void(action::Void))?;
        }
        for operation in record.operations {
            transaction.valid_from(operation.valid_from);
            transaction.push_action(operation.action)?;
        }
        Ok(transaction)
    }

    fn skip(&mut self, line: u64, record: &RecordLine) -> Outcome {
        let held = self.repository.snapshot().instant_of(record.position);
        if !self.is_resuming || held != Some(record.instant) {
            let text = format!(
                "position {} is taken by another record; import a history into an empty repository, or go on with \
                 an interrupted import by --resume",
                record.position
            );
            return Err(self.at(line, Error::new(ErrorKind::Conflict, text)).into());
        }
        self.report.summary.skipped_count += 1;
        Ok(())
    }

    /// Waits until everything taken is durable.
    ///
    /// Errors: why the first record that was refused was refused.
    pub fn finish(&mut self) -> Outcome {
        let mut refused: Option<Error> = None;
        let mut misplaced = 0;
        for record in std::mem::take(&mut self.in_flight) {
            match record.ticket.wait() {
                Ok(receipt) => {
                    // Also what is misplaced is committed.
                    self.report.summary.records_count += 1;
                    self.report.summary.changes_count += record.changes_count as u64;
                    if receipt.position != record.position || refused.is_some() {
                        misplaced += 1;
                    }
                }
                Err(error) => {
                    refused.get_or_insert_with(|| self.at(record.line, error));
                }
            }
        }
        self.in_flight_changes = 0;
        self.touched.clear();
        match refused {
            None => Ok(()),
            Some(error) if misplaced == 0 || is_fatal(error.kind()) => Err(error.into()),
            Some(error) => {
                let text = format!(
                    "{error}; {misplaced} records behind it were committed one position early: mend the line and \
                     import into an empty repository"
                );
                Err(Error::new(error.kind(), text).into())
            }
        }
    }

    /// Ends the import at a line that is no record, once everything before it is durable.
    pub fn stop_at(&mut self, line: u64, reason: &str) -> Stop {
        self.end(self.at(line, Error::new(ErrorKind::InvalidArgument, reason)).into())
    }

    fn at(&self, line: u64, error: Error) -> Error {
        error.with("line", line).with("file", &self.file)
    }
}
