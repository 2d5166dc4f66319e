//! Loads operations in batches: several in progress at once, each all or none; only bad lines are dropped.

use annals::action;
use std::collections::{HashSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use annals::{Action, Error, ErrorKind, Repository, Result, Snapshot, Ticket};

use super::batch::Batch;
use super::change_check::ChangeCheck;
use super::declarations::{order_of_need, type_names};
use super::exchanged::{Clash, groups};
use super::mark::{Run, Stretch, marked_message};
use super::merge::Merge;
use super::operation::{Effect, Operation};
use super::report::Report;
use super::unit::{Place, Unit, Written};
use super::{Checked, Refused};
use crate::Outcome;

/// Batches submitted and not yet durable. Their lines are kept in memory until they are.
const IN_FLIGHT_MAX: usize = 16;
/// A batch is closed at this size, or at a share of the memory budget. Units: bytes of input.
pub const BATCH_BYTES_MAX: usize = 4 << 20;
/// The share of the memory budget: in all stages together, the batches in progress take many times as much.
const BATCH_SHARE: u64 = 512;
/// Shortest batch, even with a small budget. Units: bytes of input.
const BATCH_BYTES_MIN: usize = 16 << 10;
/// A batch is closed at this many stretches of lines, because its message names each. Units: stretches, of some 40
/// bytes.
const STRETCHES_MAX: usize = 64;
/// How many times a batch refused by the memory budget is tried again: the allocator returns the memory of earlier
/// batches late.
const TRIES_AGAIN: u32 = 5;
/// The pause between two of these tries.
const TRY_AGAIN_PAUSE: Duration = Duration::from_millis(20);

/// How often the refused line of a batch is taken out, so that the lines before and behind it need one record each. Behind so
/// many, the rest is halved: each try costs as much as the whole rest.
const TAKEN_OUT_MAX: u32 = 16;

/// How often lines that exchange unique values are tried: each time without the lines that cannot succeed.
const EXCHANGES_MAX: usize = 8;

/// Options of loading.
#[derive(Clone, Debug)]
pub struct LoadOptions {
    /// A batch is closed when it has this many changes.
    pub batch_changes: usize,
    /// A batch is closed at this size, or at a share of the memory budget. Units: bytes, as places count them.
    pub batch_bytes_max: usize,
    /// The author.
    pub author: String,
    /// The reason.
    pub message: String,
    /// The writes that are allowed; `None` for all.
    pub check: Option<ChangeCheck>,
}

struct InFlight {
    ticket: Ticket,
    units: Vec<Unit>,
    bytes: usize,
}

/// Loads the operations of one file.
pub struct Loader<'r> {
    repository: &'r Repository,
    options: &'r LoadOptions,
    report: &'r mut Report,
    file: String,
    run: Run,
    /// The lines of types that were loaded before everything else.
    set_aside: HashSet<u64>,
    /// Added to the sum of each stretch: the sum over the header of a CSV file.
    header_sum: u64,
    units: Vec<Unit>,
    /// The last line of the last unit, if the next one may continue its stretch.
    follows: Option<u64>,
    stretches_count: usize,
    changes_count: usize,
    bytes: usize,
    /// A batch is closed at this size. Units: bytes of input.
    batch_bytes_max: usize,
    /// True if the last unit taken declares types.
    is_defining: bool,
    in_flight: VecDeque<InFlight>,
    in_flight_bytes: usize,
    /// The last line that was taken or refused.
    last_line: u64,
}

impl<'r> Loader<'r> {
    /// Loads lines of `file`, without those that its `run` has committed.
    pub fn new(
        repository: &'r Repository,
        options: &'r LoadOptions,
        report: &'r mut Report,
        file: &str,
        run: Run,
    ) -> Loader<'r> {
        Loader {
            repository,
            options,
            report,
            file: file.to_owned(),
            run,
            set_aside: HashSet::new(),
            header_sum: 0,
            units: Vec::new(),
            follows: None,
            stretches_count: 0,
            changes_count: 0,
            bytes: 0,
            batch_bytes_max: options.batch_bytes_max.min(batch_bytes_max(repository.memory_bytes_max())),
            is_defining: false,
            in_flight: VecDeque::new(),
            in_flight_bytes: 0,
            last_line: 0,
        }
    }

    /// Skips these lines without counting them: their types are loaded already.
    pub fn set_aside(&mut self, lines: HashSet<u64>) {
        self.set_aside = lines;
    }

    /// The present state of the repository.
    pub fn snapshot(&self) -> Snapshot {
        self.repository.snapshot()
    }

    /// Sums up stretches of a CSV file together with its header.
    pub fn set_header_sum(&mut self, header_sum: u64) {
        self.header_sum = header_sum;
    }

    /// Adds the operations of a line.
    ///
    /// Errors: those of the log. Errors of the line are reported, sooner or later.
    pub fn add(&mut self, place: Place, operations: Vec<Operation>) -> Outcome {
        self.last_line = place.last;
        if operations.is_empty() {
            return Ok(());
        }
        let follows = self.follows.take();
        if self.run.covered.has(place.line) {
            self.report.summary.skipped_count += 1;
            return Ok(());
        }
        if self.set_aside.contains(&place.line) {
            return Ok(());
        }
        self.add_unit(Unit::new(place, follows, operations))
    }

    /// Adds a unit that no earlier run has committed.
    pub fn add_unit(&mut self, unit: Unit) -> Outcome {
        let Unit { place, follows, operations, .. } = unit;
        // Order: types are committed before instances of them, because creating an instance reads defaults from the
        // snapshot.
        let is_defining = operations.iter().any(Operation::is_definition);
        if is_defining != self.is_defining {
            self.finish()?;
            self.is_defining = is_defining;
        }
        if let Some(reason) = self.refused_type(&operations) {
            if self.report.is_stopping() {
                self.finish()?;
            }
            return self.report.refuse(&self.file, place.line, ErrorKind::TypeViolation, reason);
        }
        let Some(changes_count) = self.compared(place, &operations)? else { return Ok(()) };
        self.changes_count += changes_count;
        self.bytes += place.bytes;
        let begins_stretch = follows.is_none() || self.units.is_empty();
        // Without sums the message of the record names one stretch.
        self.stretches_count += usize::from(begins_stretch && place.sum.is_some());
        self.units.push(Unit::new(place, follows, operations));
        self.follows = Some(place.last);
        let is_full = if is_defining {
            // Consecutive types are sorted before they are committed, so their batches are larger.
            self.bytes >= self.options.batch_bytes_max.saturating_mul(IN_FLIGHT_MAX)
        } else {
            self.changes_count >= self.options.batch_changes
                || self.bytes >= self.batch_bytes_max
                || self.stretches_count >= STRETCHES_MAX
        };
        if is_full { self.submit() } else { Ok(()) }
    }

    /// The number of changes of a line, after it is compared with the repository if it must be; `None` for none. The
    /// batch compares a line that differs again, with what its transaction sees.
    fn compared(&mut self, place: Place, operations: &[Operation]) -> Outcome<Option<usize>> {
        let Some(merge) = &self.report.merge else { return Ok(Some(operations.len())) };
        if merge.must_see(&self.repository.snapshot(), operations) {
            // An earlier line names the same instance; its effect must be visible.
            self.finish()?;
        }
        let Some(merge) = &mut self.report.merge else { return Ok(Some(operations.len())) };
        match merge.compare(&self.repository.snapshot(), operations.to_vec()) {
            Ok(operations) if operations.is_empty() => {
                self.report.summary.skipped_count += 1;
                self.report.summary.unchanged_count += 1;
                Ok(None)
            }
            Ok(operations) => Ok(Some(operations.len())),
            Err(error) if is_fatal(error.kind()) => Err(error.into()),
            Err(error) => {
                if self.report.is_stopping() {
                    self.finish()?;
                }
                self.report.refuse(&self.file, place.line, error.kind(), error)?;
                Ok(None)
            }
        }
    }

    /// Why the line is refused, if this import has refused its type and the type is not declared.
    fn refused_type(&self, operations: &[Operation]) -> Option<String> {
        if self.report.refused_types.is_empty() {
            return None;
        }
        operations.iter().flat_map(|operation| type_names(&operation.action)).find_map(|(kind, name)| {
            let place = self.report.refused_types.get(&(kind, name.into()))?;
            let is_declared = self.repository.snapshot().type_definition(kind, name).is_some();
            let kind = kind.name();
            (!is_declared).then(|| {
                format!(
                    "{kind} type {name} is refused at {place}, so what is of it could not be checked; repair that \
                     line, then run the same import with --resume"
                )
            })
        })
    }

    /// Reports a line that could not be read.
    ///
    /// Errors: ends the import if it must stop at the first refused line; the lines before it are then committed.
    pub fn refuse(&mut self, refused: &Refused) -> Outcome {
        self.follows = None;
        self.last_line = self.last_line.max(refused.line);
        if self.run.covered.has(refused.line) {
            return Ok(());
        }
        if self.report.is_stopping() {
            self.finish()?;
        }
        self.report.refuse(&self.file, refused.line, ErrorKind::InvalidArgument, &refused.reason)
    }

    /// Adds a line, or reports that it could not be read.
    pub fn take(&mut self, place: Place, read: Checked<Vec<Operation>>) -> Outcome {
        match read {
            Ok(operations) => self.add(place, operations),
            Err(refused) => self.refuse(&refused),
        }
    }

    /// Commits the rest and waits until everything is durable.
    pub fn finish(&mut self) -> Outcome {
        self.submit()?;
        self.settle(0, 0)?;
        if let Some(merge) = &mut self.report.merge {
            merge.settle();
        }
        self.report.summary.through_line = self.last_line;
        Ok(())
    }

    /// Commits the rest. If the import failed, it only waits for batches in progress, so that they are counted.
    pub fn end(&mut self, outcome: Outcome) -> Outcome {
        match outcome {
            Ok(()) => self.finish(),
            Err(stop) => {
                // The first failure is the reason; a second one adds nothing.
                let _ = self.settle(0, 0);
                Err(stop)
            }
        }
    }

    /// Writes a record without changes, with a message that names the progress of the import.
    pub fn mark(&mut self, message: &str) -> Outcome {
        let mut transaction = self.repository.transaction();
        transaction.author(&self.options.author).message(message);
        transaction.push_action(action::Void)?;
        transaction.submit()?.wait()?;
        self.report.summary.records_count += 1;
        Ok(())
    }

    /// The file, for messages.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// The properties of which a merge has read texts as the instances have them.
    pub fn read_as_there(&self) -> impl Iterator<Item = &Arc<str>> {
        self.report.merge.iter().flat_map(Merge::read_as_there)
    }

    /// The message that the user gave.
    pub fn message(&self) -> &str {
        &self.options.message
    }

    /// The report of committed and refused lines.
    pub fn report(&mut self) -> &mut Report {
        self.report
    }

    fn submit(&mut self) -> Outcome {
        if self.units.is_empty() {
            return Ok(());
        }
        let room = self.options.batch_bytes_max.saturating_mul(IN_FLIGHT_MAX).saturating_sub(self.bytes);
        self.settle(IN_FLIGHT_MAX - 1, room)?;
        let mut units = std::mem::take(&mut self.units);
        let bytes = std::mem::take(&mut self.bytes);
        self.changes_count = 0;
        self.stretches_count = 0;
        if self.is_defining {
            units = order_of_need(units);
        }
        let mut batch = self.prepare(&mut units);
        if !self.in_flight.is_empty() && batch.as_ref().is_ok_and(Batch::restores) {
            // A container, or a child, of an entity that returns may return in an earlier batch.
            self.settle(0, 0)?;
            batch = self.prepare(&mut units);
        }
        match batch.and_then(|batch| batch.hand_over(self.options.check.as_ref())) {
            Ok(ticket) => {
                self.in_flight.push_back(InFlight { ticket, units, bytes });
                self.in_flight_bytes += bytes;
            }
            Err(error) => {
                self.settle(0, 0)?;
                let last = last_line(&units);
                self.commit_parts(units, Some(error))?;
                self.report.summary.through_line = last;
            }
        }
        Ok(())
    }

    fn prepare(&mut self, units: &mut [Unit]) -> Result<Batch> {
        let stretches = stretches(units, self.header_sum);
        let message = marked_message(&self.options.message, &self.file, self.run.began_at, &stretches);
        let mut transaction = self.repository.transaction();
        transaction.author(&self.options.author).message(&message);
        Batch::prepare(transaction, units, self.report.merge.as_mut())
    }

    /// Waits until at most `left` batches, of at most this many bytes together, are in progress.
    fn settle(&mut self, left: usize, bytes_left: usize) -> Outcome {
        while (self.in_flight.len() > left || self.in_flight_bytes > bytes_left)
            && let Some(oldest) = self.in_flight.pop_front()
        {
            self.in_flight_bytes -= oldest.bytes;
            if let Err(error) = oldest.ticket.wait() {
                return self.settle_all(oldest.units, error);
            }
            self.count(&oldest.units);
            self.report.summary.through_line = last_line(&oldest.units);
        }
        Ok(())
    }

    /// After a refused batch: waits for all other batches, which the refused one may depend on, then commits the
    /// refused ones in parts.
    fn settle_all(&mut self, units: Vec<Unit>, error: Error) -> Outcome {
        let mut last = last_line(&units);
        let mut refused = vec![(units, Some(error))];
        self.in_flight_bytes = 0;
        for batch in std::mem::take(&mut self.in_flight) {
            last = last_line(&batch.units);
            match batch.ticket.wait() {
                Ok(_) => self.count(&batch.units),
                // An instance that it lacked may exist once the batches before it are committed, so the whole batch is
                // tried again.
                Err(_) => refused.push((batch.units, None)),
            }
        }
        for (units, error) in refused {
            self.commit_parts(units, error)?;
        }
        self.report.summary.through_line = last;
        Ok(())
    }

    /// Commits `units` in parts, so that only bad lines are dropped: around the line that the error names, or in ever
    /// smaller ones. `error` is the reason why the whole was refused, if it was tried.
    fn commit_parts(&mut self, units: Vec<Unit>, error: Option<Error>) -> Outcome {
        let mut parts = vec![(units, error)];
        let mut clashing = Vec::new();
        let mut tries_left = TRIES_AGAIN;
        let mut taken_out_left = TAKEN_OUT_MAX;
        while let Some((mut units, error)) = parts.pop() {
            let outcome = match error {
                Some(error) => Err(error),
                None => self.commit(&mut units),
            };
            match outcome {
                Ok(()) => {
                    self.count(&units);
                    tries_left = TRIES_AGAIN;
                }
                // Another writer of the repository was first, or batches in progress must make room.
                Err(error)
                    if tries_left > 0 && matches!(error.kind(), ErrorKind::NoRoom | ErrorKind::Conflict) =>
                {
                    tries_left -= 1;
                    std::thread::sleep(TRY_AGAIN_PAUSE);
                    parts.push((units, None));
                }
                Err(error)
                    if is_fatal(error.kind()) && !(units.len() > 1 && self.may_fit_in_parts(&error)) =>
                {
                    return Err(error.into());
                }
                Err(error) if units.len() == 1 && error.kind() == ErrorKind::NotUnique => {
                    // The holder of its value may give it up in another part.
                    clashing.extend(units.into_iter().map(|unit| Clash { unit, error: error.duplicate() }));
                }
                Err(error) if units.len() == 1 => {
                    let line = units[0].place.line;
                    for operation in &units[0].operations {
                        if let Action::DefineType(definition) = &operation.action {
                            self.report.refuse_type(definition.kind, &definition.name, &self.file, line)?;
                        }
                    }
                    let reason = units[0].explain(&self.repository.snapshot(), &error);
                    self.report.refuse(&self.file, line, error.kind(), reason)?;
                }
                Err(error) => {
                    let named = refused_unit(&units, &error).filter(|_| taken_out_left > 0);
                    taken_out_left -= u32::from(named.is_some());
                    let (begins, ends) = named.map_or((units.len() / 2, units.len()), |one| (one, one + 1));
                    // Order: the first lines are committed first.
                    parts.push((units.split_off(ends), None));
                    parts.push((units.split_off(begins), None));
                    parts.push((units, None));
                    parts.retain(|(units, _)| !units.is_empty());
                }
            }
        }
        self.commit_exchanged(clashing)
    }

    /// Commits lines whose unique values other lines of these hold: all lines that exchange values at once.
    fn commit_exchanged(&mut self, mut clashing: Vec<Clash>) -> Outcome {
        for _ in 0..EXCHANGES_MAX {
            let count = clashing.len();
            let mut left = Vec::new();
            let refused: Vec<Clash>;
            for group in groups(clashing) {
                let (mut units, errors): (Vec<Unit>, Vec<Error>) =
                    group.into_iter().map(|Clash { unit, error }| (unit, error)).unzip();
                match self.commit_again(&mut units) {
                    Ok(()) => self.count(&units),
                    Err(error) if is_fatal(error.kind()) => return Err(error.into()),
                    Err(_) => left.extend(units.into_iter().zip(errors).map(Clash::of)),
                }
            }
            let held: HashSet<String> = left.iter().filter_map(Clash::id).collect();
            (clashing, refused) = left
                .into_iter()
                .partition(|clash| clash.holder().is_some_and(|holder| held.contains(holder)));
            for Clash { unit, error } in refused {
                let reason = unit.explain(&self.repository.snapshot(), &error);
                self.report.refuse(&self.file, unit.place.line, error.kind(), reason)?;
            }
            if clashing.is_empty() || clashing.len() == count {
                break;
            }
        }
        for Clash { unit, error } in clashing {
            let reason = unit.explain(&self.repository.snapshot(), &error);
            self.report.refuse(&self.file, unit.place.line, error.kind(), reason)?;
        }
        Ok(())
    }

    /// Commits units together, several times if another writer was first or the memory budget has no room.
    fn commit_again(&mut self, units: &mut [Unit]) -> Result<()> {
        let mut tries_left = TRIES_AGAIN;
        loop {
            match self.commit(units) {
                Ok(()) => return Ok(()),
                Err(error)
                    if tries_left > 0 && matches!(error.kind(), ErrorKind::NoRoom | ErrorKind::Conflict) =>
                {
                    tries_left -= 1;
                    std::thread::sleep(TRY_AGAIN_PAUSE);
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Commits units together, and waits until they are durable.
    fn commit(&mut self, units: &mut [Unit]) -> Result<()> {
        self.prepare(units)?.hand_over(self.options.check.as_ref())?.wait().map(drop)
    }

    /// True if a smaller part may succeed: the memory budget has no room for the whole, but is not spent.
    fn may_fit_in_parts(&self, error: &Error) -> bool {
        let is_bounded = self.repository.memory_bytes_max().is_some();
        error.kind() == ErrorKind::NoRoom && is_bounded && !self.repository.is_memory_spent()
    }

    fn count(&mut self, units: &[Unit]) {
        let summary = &mut self.report.summary;
        // Another client may have made all lines of a merge true meanwhile.
        summary.records_count += u64::from(units.iter().any(|unit| unit.written.changes_count > 0));
        for Written { changes_count, effect, .. } in units.iter().map(|unit| &unit.written) {
            summary.changes_count += *changes_count as u64;
            match effect {
                _ if *changes_count == 0 => {
                    summary.skipped_count += 1;
                    summary.unchanged_count += 1;
                }
                Effect::Created => summary.created_count += 1,
                Effect::Updated => summary.updated_count += 1,
                Effect::Deleted => summary.deleted_count += 1,
            }
        }
        self.report.progress.note_committed(summary.changes_count);
    }
}

/// The unit whose change the error names.
fn refused_unit(units: &[Unit], error: &Error) -> Option<usize> {
    let (_, number) = error.context().iter().find(|(name, _)| *name == "change")?;
    let number: usize = number.parse().ok()?;
    let mut changes_count = 0;
    units.iter().position(|unit| {
        changes_count += unit.written.changes_count;
        number < changes_count
    })
}

/// The last line of these units. Types are not in the order of their lines.
fn last_line(units: &[Unit]) -> u64 {
    units.iter().map(|unit| unit.place.last).max().unwrap_or_default()
}

/// The stretches of lines of the units, ascending.
fn stretches(units: &[Unit], header_sum: u64) -> Vec<Stretch> {
    let mut places: Vec<_> = units.iter().map(|unit| (unit.place, unit.follows)).collect();
    // Types are committed in the order in which they need each other.
    places.sort_by_key(|(place, _)| place.line);
    if places.iter().any(|(place, _)| place.sum.is_none()) {
        // Such an import cannot be resumed by lines: the message only tells people the source of the record.
        let (first, last) = (places[0].0.line, places[places.len() - 1].0.line);
        return vec![Stretch { first, last, sum: None }];
    }
    let mut stretches: Vec<Stretch> = Vec::new();
    for (place, follows) in places {
        let sum = place.sum.unwrap_or_default();
        match stretches.last_mut() {
            // Invariant: a stretch skips no line, because it claims that all its lines are committed.
            Some(stretch) if follows == Some(stretch.last) => {
                stretch.last = place.last;
                stretch.sum = stretch.sum.map(|before| before.wrapping_add(sum));
            }
            _ => stretches.push(Stretch {
                first: place.line,
                last: place.last,
                sum: Some(sum.wrapping_add(header_sum)),
            }),
        }
    }
    stretches
}

/// Units: bytes of input in a batch, with a memory budget of this size.
fn batch_bytes_max(memory_bytes_max: Option<u64>) -> usize {
    let share = memory_bytes_max.map_or(u64::MAX, |bytes| bytes / BATCH_SHARE);
    usize::try_from(share).unwrap_or(usize::MAX).clamp(BATCH_BYTES_MIN, BATCH_BYTES_MAX)
}

/// True if the log fails, and not the line.
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
