//! Compaction: takes the bytes of purged instances out of the log.

use std::collections::HashMap;
use std::sync::PoisonError;

use crate::graph::Graph;
use crate::log::{FileLog, Log, ReadLimit, SegmentInfo};
use crate::model::{Action, Id, InstanceId, Record};
use crate::record::{decode_record, encode_record};
use crate::repository::Repository;
use crate::{Error, ErrorKind, Position, Result, recover};

/// What a compaction has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CompactReport {
    /// Segments rewritten.
    pub segments_count: u64,
    /// Records rewritten.
    pub records_count: u64,
    /// Changes of purged instances taken out.
    pub changes_count: u64,
    /// Size of the log before. Units: bytes.
    pub bytes_before: u64,
    /// Size of the log after. Units: bytes.
    pub bytes_after: u64,
}

/// The purges on the log: for each instance, where it was purged last.
#[derive(Default)]
struct Purges {
    at: HashMap<InstanceId, (Position, usize)>,
    /// Ends of the relationships now on the log, to know which go with an entity.
    ends: HashMap<Id, (Id, Id)>,
    relationships_of: HashMap<Id, Vec<Id>>,
}

impl Repository {
    /// Rewrites the log without the changes of purged instances, keeping every position, and takes a fresh
    /// checkpoint. Afterwards no byte of a purged instance is in the folder. Writers and readers go on meanwhile.
    ///
    /// Messages and authors of commits stay. Backups made before still hold what was purged.
    /// Errors: `InvalidArgument` for a repository without a folder; `ReadOnly`; those of the log.
    pub fn compact(&self) -> Result<CompactReport> {
        let inner = self.inner();
        let Some(folder) = &inner.folder else {
            return Err(Error::new(
                ErrorKind::InvalidArgument,
                "compact: expected a repository in a folder, found one on a log alone",
            ));
        };
        if self.is_read_only() {
            return Err(Error::new(ErrorKind::ReadOnly, "compact: the repository is open read-only"));
        }
        let _one = inner.maintenance.lock().unwrap_or_else(PoisonError::into_inner);
        let log = folder.log();
        log.roll()?;
        let position = self.snapshot().position();
        let mut report = CompactReport { bytes_before: inner.log_bytes(), ..CompactReport::default() };
        let purges = Purges::collect(&**log, position)?;
        if !purges.at.is_empty() {
            for segment in log.segments()?.iter().filter(|segment| segment.is_sealed) {
                purges.rewrite(log, segment, &mut report)?;
            }
        }
        if report.changes_count > 0 {
            // Slots and names are given in the order of the log, which has changed: go on from what a rebuild gives.
            inner.committer.source().clear();
            let mut rebuilt = Graph::new();
            recover::replay(&**log, &mut rebuilt, None)?;
            inner.committer.replace_graph(rebuilt)?;
        }
        inner.checkpoint_held(false)?;
        report.bytes_after = inner.log_bytes();
        Ok(report)
    }
}

impl Purges {
    fn collect(log: &dyn Log, last: Position) -> Result<Purges> {
        let mut purges = Purges::default();
        for_each_record(log, Position(1), last, |position, record| {
            for (index, change) in record.changes.iter().enumerate() {
                match &change.action {
                    Action::CreateRelationship(new) => {
                        purges.ends.insert(new.id.clone(), (new.from.clone(), new.to.clone()));
                        for end in [&new.from, &new.to] {
                            purges.relationships_of.entry(end.clone()).or_default().push(new.id.clone());
                        }
                    }
                    Action::Purge(id) => purges.purge(id, (position, index)),
                    _ => {}
                }
            }
            Ok(())
        })?;
        Ok(purges)
    }

    fn purge(&mut self, id: &InstanceId, place: (Position, usize)) {
        self.at.insert(id.clone(), place);
        let InstanceId::Entity(entity) = id else { return };
        for relationship in self.relationships_of.remove(entity).unwrap_or_default() {
            // An id may have been purged and given to another relationship since.
            let is_its =
                self.ends.get(&relationship).is_some_and(|(from, to)| from == entity || to == entity);
            if is_its {
                self.at.insert(InstanceId::Relationship(relationship), place);
            }
        }
    }

    /// True if the change at `place` is about an instance that was purged there or later.
    fn covers(&self, action: &Action, place: (Position, usize)) -> bool {
        action.instance().and_then(|id| self.at.get(&id)).is_some_and(|purged| place <= *purged)
    }

    fn rewrite(&self, log: &FileLog, segment: &SegmentInfo, report: &mut CompactReport) -> Result<()> {
        let mut touched = (0, 0);
        for_each_record(log, segment.first, segment.last, |position, mut record| {
            let voided = self.void(position, &mut record);
            touched.0 += u64::from(voided > 0);
            touched.1 += voided;
            Ok(())
        })?;
        if touched.0 == 0 {
            return Ok(());
        }
        let records =
            Rewritten { purges: self, log, next: segment.first, last: segment.last, read: Vec::new() };
        log.replace_segment(segment.first, records)?;
        report.segments_count += 1;
        report.records_count += touched.0;
        report.changes_count += touched.1;
        Ok(())
    }

    /// Puts a void in the place of every covered change, so that the others keep their numbers; returns how many.
    fn void(&self, position: Position, record: &mut Record) -> u64 {
        let mut voided = 0;
        for (index, change) in record.changes.iter_mut().enumerate() {
            if self.covers(&change.action, (position, index)) {
                *change = Action::Void.into();
                voided += 1;
            }
        }
        voided
    }
}

/// The records of a segment as they shall be.
struct Rewritten<'c> {
    purges: &'c Purges,
    log: &'c FileLog,
    next: Position,
    last: Position,
    // Read ahead, last first.
    read: Vec<Vec<u8>>,
}

impl Iterator for Rewritten<'_> {
    type Item = Result<(Position, Vec<u8>)>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.next > self.last {
            return None;
        }
        if self.read.is_empty() {
            match self.log.read(self.next, ReadLimit::default()) {
                Ok(records) => self.read = records.into_iter().rev().collect(),
                Err(error) => return Some(Err(error)),
            }
        }
        let bytes = self.read.pop()?;
        let position = self.next;
        self.next = position.next();
        Some(decode_record(position, &bytes).map(|mut record| {
            let is_untouched = self.purges.void(position, &mut record) == 0;
            (position, if is_untouched { bytes } else { encode_record(&record) })
        }))
    }
}

fn for_each_record(
    log: &dyn Log,
    first: Position,
    last: Position,
    mut take: impl FnMut(Position, Record) -> Result<()>,
) -> Result<()> {
    let mut next = first;
    while next <= last {
        let records = log.read(next, ReadLimit::default())?;
        if records.is_empty() {
            return Err(Error::new(ErrorKind::Gap, format!("expected a record at {next}, found none")));
        }
        for bytes in records {
            if next > last {
                break;
            }
            take(next, decode_record(next, &bytes)?)?;
            next = next.next();
        }
    }
    Ok(())
}
