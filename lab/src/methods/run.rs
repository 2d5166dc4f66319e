//! A run at one volume: calls, times, checks and records.

use std::path::Path;
use std::time::Instant as Clock;

use annals::{Expression, Find, Header, Id, InstanceId, Instant, Operator, TypeKind};

use super::archive::Archive;
use super::book::Book;
use super::call::{Answer, Call, ELSEWHERE, Looked, Target};
use super::record::{Part, Record};
use super::row::Method;
use super::values::Values;
use super::volume::Volume;
use crate::outcome::Outcome;
use crate::run::RawFile;

/// Bytes of the durable write that is measured beside commits: the size of about one commit.
const SYNC_BYTES: usize = 512;
/// Largest volume at which every search is compared with a full scan. Units: instances per type.
const CHECKED_IN_FULL_MAX: usize = 20;

/// Everything that the phases need.
pub struct Run<'t> {
    pub target: &'t mut dyn Target,
    pub archive: &'t Archive,
    pub volume: Volume,
    pub values: Values,
    pub record: Record,
    /// The created instances, if searches are checked in full.
    pub book: Option<Book>,
    /// The instant before the first update.
    pub mark: Option<Instant>,
    file: RawFile,
    /// One durable write is measured per this many samples of a row.
    sync_every: usize,
}

impl<'t> Run<'t> {
    /// Without samples. `folder` is on the measured disk.
    pub fn new(
        target: &'t mut dyn Target,
        archive: &'t Archive,
        volume: Volume,
        folder: &Path,
    ) -> Outcome<Run<'t>> {
        let book = (volume.instances <= CHECKED_IN_FULL_MAX).then(Book::default);
        Ok(Run {
            target,
            archive,
            volume,
            values: Values::new(volume.instances, volume.instances as u64),
            record: Record::new(),
            book,
            mark: None,
            file: RawFile::create(&folder.join("raw"))?,
            sync_every: (volume.instances / 20).clamp(2, 64),
        })
    }

    /// Makes a call as of now, and records it.
    pub fn ask(&mut self, method: Method, call: Call) -> Outcome<Option<Answer>> {
        self.ask_part(method, Part::Whole, call, None)
    }

    /// Makes a call, and records it; `None` if it was refused.
    pub fn ask_part(
        &mut self,
        method: Method,
        part: Part,
        call: Call,
        then: Option<Instant>,
    ) -> Outcome<Option<Answer>> {
        Ok(self.ask_if(method, call, then, |_| Some(part))?.ok())
    }

    /// Makes a call, and records it under the part that `part_of` returns; not if it returns `None`, because the
    /// original leaves out empty pages.
    ///
    /// Shape: the answer, or the error.
    pub fn ask_if(
        &mut self,
        method: Method,
        call: Call,
        then: Option<Instant>,
        part_of: impl FnOnce(&Answer) -> Option<Part>,
    ) -> Outcome<Result<Answer, String>> {
        if call.is_write() {
            // Counted by row: otherwise rows whose calls alternate would give all durable writes to one of them.
            let is_turn = self.record.of_mut(method).all.len().is_multiple_of(self.sync_every);
            if is_turn {
                let elapsed = self.sync()?;
                self.record.of_mut(method).syncs_ns.push(elapsed);
            }
        }
        let kept = call.clone();
        let timed = self.target.call(call, then)?;
        let samples = self.record.of_mut(method);
        match &timed.answer {
            Ok(answer) => {
                if let Some(part) = part_of(answer) {
                    samples.add(timed.elapsed, answer.elements, part);
                }
            }
            Err(error) => samples.refuse(format!("{}: {error}", kept.describe())),
        }
        Ok(timed.answer)
    }

    /// One durable write for comparison.
    fn sync(&mut self) -> Outcome<u64> {
        let start = Clock::now();
        self.file.append(&[7; SYNC_BYTES])?;
        Ok(u64::try_from(start.elapsed().as_nanos())?)
    }

    /// Reads a page of input for other rows, recorded under `method` unless it is empty.
    pub fn look_up(
        &mut self,
        method: Method,
        kind: TypeKind,
        find: Find,
        then: Option<Instant>,
    ) -> Outcome<Vec<Id>> {
        let find = find.limit(self.volume.instances);
        let call = Call::Find(kind, Box::new(find));
        let found =
            self.ask_if(method, call, then, |answer| (!answer.ids.is_empty()).then_some(Part::LookUp))?;
        found.map(|answer| answer.ids).map_err(|error| format!("{}: {error}", method.row().title()).into())
    }

    /// The present state of an instance.
    ///
    /// Errors: if it is not there.
    pub fn look(&mut self, id: &InstanceId) -> Outcome<Looked> {
        let looked = self.target.look(id, None)?;
        looked.ok_or_else(|| format!("{id}: wrong answer: expected it to be there").into())
    }
}

impl Run<'_> {
    /// Instances of each type, created in both ways.
    pub fn of_each_type(&self) -> usize {
        2 * self.volume.instances
    }

    /// The condition for own instances.
    pub fn own(&self) -> Expression {
        home_is(None)
    }

    /// The condition for instances of another home.
    pub fn copies(&self) -> Expression {
        home_is(Some(ELSEWHERE))
    }

    /// The condition for this classification with this home.
    pub fn classification_of(&self, name: &str, home: Option<&str>) -> Expression {
        Expression::Classified { name: name.into(), matching: Some(Box::new(home_is(home))) }
    }
}

fn home_is(home: Option<&str>) -> Expression {
    match home {
        None => Expression::header(Header::Home, Operator::Missing, ""),
        Some(home) => Expression::header(Header::Home, Operator::Equal, home),
    }
}
