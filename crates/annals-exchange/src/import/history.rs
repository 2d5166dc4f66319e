//! Loads records of another repository unchanged: same positions, instants, authors and messages.

use annals::action;
use std::collections::{HashSet, VecDeque};

use annals::{Error, ErrorKind, HeldTimer, InstanceId, Position, Repository, Result, Ticket, Transaction};

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

/// Loads records in their order into a repository that holds the beginning of the same history.
///
/// Positions must agree, so a refused record ends the import: no later record could have its position.
pub struct HistoryLoader<'r> {
    repository: &'r Repository,
    report: &'r mut Report,
    file: String,
    is_resuming: bool,
    /// The position of the next record.
    next: Position,
    in_flight: VecDeque<InFlight>,
    in_flight_changes: usize,
    // The instances that records in progress write; a record that writes the same instance has to wait, or it would
    // conflict.
    touched: HashSet<InstanceId>,
    // A commit of the history that must be confirmed may be late: its end would take the next position.
    _timer: HeldTimer,
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
            _timer: repository.candidates().hold_timer(),
        }
    }

    /// Adds a record.
    ///
    /// Errors: those of the log; `Conflict` if the repository holds another history; those of the record. Then
    /// everything before it is durable and counted.
    pub fn add(&mut self, line: u64, record: RecordLine) -> Outcome {
        self.submit(line, record).map_err(|stop| self.end(stop))
    }

    /// Waits for records in progress before the import ends; an earlier error has priority.
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
        let is_wide = record.operations.iter().any(|operation| operation.action.changes_more_than_it_names());
        if is_wide || instances.iter().any(|instance| self.touched.contains(instance)) {
            self.finish()?;
        }
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
        // Every version of the history is written again, also those without a change.
        transaction.of_history();
        if record.operations.is_empty() {
            // A record without changes needs a position, too.
            transaction.push_action(action::Void)?;
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

    /// Waits until all added records are durable.
    ///
    /// Errors: the reason of the first refused record.
    pub fn finish(&mut self) -> Outcome {
        let mut refused: Option<Error> = None;
        let mut misplaced = 0;
        for record in std::mem::take(&mut self.in_flight) {
            match record.ticket.wait() {
                Ok(receipt) => {
                    // A record at a wrong position is committed, too.
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

    /// Ends the import at a line that is not a record, after everything before it is durable.
    pub fn stop_at(&mut self, line: u64, reason: &str) -> Stop {
        self.end(self.at(line, Error::new(ErrorKind::InvalidArgument, reason)).into())
    }

    fn at(&self, line: u64, error: Error) -> Error {
        error.with("line", line).with("file", &self.file)
    }
}
