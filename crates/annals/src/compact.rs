//! Compaction: takes the bytes of purged instances out of the log.
//!
//! Order: say durably what is taken out, remove the checkpoints, rewrite segment by segment, go on from a rebuilt
//! graph, take a checkpoint, and forget what was taken out. A crash at any point is made good at the next opening.

mod marker;

use std::collections::HashMap;
use std::path::Path;
use std::sync::PoisonError;

use crate::checkpoint;
use crate::folder::Folder;
use crate::log::{FileLog, Log, ReadLimit, SegmentInfo};
use crate::memory::Memory;
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
        // Before anything is rewritten: it takes the memory of a second graph.
        inner.committer.source().memory().admit_second_graph()?;
        let log = folder.log();
        log.roll()?;
        let sealed: Vec<SegmentInfo> =
            log.segments()?.into_iter().filter(|segment| segment.is_sealed).collect();
        // Only what lies in sealed segments: a purge in the active one waits for the next compaction.
        let last = sealed.last().map_or(Position::ZERO, |segment| segment.last);
        let mut report = CompactReport { bytes_before: inner.log_bytes(), ..CompactReport::default() };
        let purges = Purges::collect(&**log, last)?;
        if !purges.at.is_empty() {
            purges.write(&folder.compacting())?;
            purges.take_out(folder, &sealed, &mut report)?;
            // Slots and names are given in the order of the log, which has changed: go on from what a rebuild gives.
            inner.committer.source().clear();
            let mut rebuilt = self.snapshot().graph().rebuilt_from_nothing();
            recover::replay(&**log, &mut rebuilt, &Memory::new(None), None)?;
            inner.committer.replace_graph(rebuilt)?;
        }
        inner.checkpoint_held()?;
        marker::remove(&folder.compacting())?;
        report.bytes_after = inner.log_bytes();
        Ok(report)
    }
}

/// Finishes a compaction that a crash interrupted, before anything is read from the log.
///
/// Errors: `Unavailable` for a reader, who cannot finish it; `Corrupted` if the file of purges is damaged.
pub(crate) fn finish(folder: &Folder, is_read_only: bool) -> Result<()> {
    let Some(purges) = marker::read(&folder.compacting())? else { return Ok(()) };
    if is_read_only {
        return Err(Error::new(
            ErrorKind::Unavailable,
            format!(
                "{}: a compaction is under way or was interrupted; try again, or open the repository for writing",
                folder.compacting().display()
            ),
        ));
    }
    // Every segment it was to rewrite was sealed before it started.
    let last = purges.values().map(|(position, _)| *position).max().unwrap_or_default();
    let segments: Vec<SegmentInfo> = folder
        .log()
        .segments()?
        .into_iter()
        .filter(|segment| segment.is_sealed && segment.first <= last)
        .collect();
    let purges = Purges { at: purges, ..Purges::default() };
    purges.take_out(folder, &segments, &mut CompactReport::default())?;
    marker::remove(&folder.compacting())
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

    /// Says durably what is about to be taken out, so that a crash on the way is made good when the log is opened.
    fn write(&self, path: &Path) -> Result<()> {
        marker::write(path, &self.at)
    }

    /// Rewrites the segments. A part of them rewritten is a log that does not fit together, and checkpoints still
    /// hold what is taken out: neither is read before [`finish`] has finished.
    fn take_out(&self, folder: &Folder, segments: &[SegmentInfo], report: &mut CompactReport) -> Result<()> {
        checkpoint::remove_all(&folder.checkpoints())?;
        segments.iter().try_for_each(|segment| self.rewrite(folder.log(), segment, report))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{NewEntity, Patch};

    /// A log of which some segments were rewritten did not replay, or brought the purged back from a checkpoint.
    #[test]
    fn a_compaction_interrupted_after_any_segment_is_finished_at_the_next_opening() -> Result<()> {
        for rewritten in 0..=3 {
            let folder = tempfile::tempdir().unwrap();
            let repository = Repository::open(folder.path())?;
            let inner = repository.inner();
            let (id, _) =
                repository.transact(|t| t.create_entity(NewEntity::new("secret").property("a", 1)))?;
            let instance = InstanceId::Entity(id.clone());
            inner.checkpoint()?;
            let files = inner.folder.as_ref().expect("it has one");
            files.log().roll()?;
            repository.transact(|t| t.update(&instance, Patch::new().set("a", 2)))?;
            files.log().roll()?;
            repository.transact(|t| t.purge(&instance))?;
            repository.transact(|t| t.create_entity(NewEntity::new("other")))?;
            files.log().roll()?;
            let segments = files.log().segments()?;
            let purges = Purges::collect(&**files.log(), Position(4))?;
            purges.write(&files.compacting())?;
            for segment in &segments[..rewritten] {
                purges.rewrite(files.log(), segment, &mut CompactReport::default())?;
            }
            let read_only = Repository::open_with(folder.path(), crate::Options::read_only()).err().unwrap();
            assert_eq!(read_only.kind(), ErrorKind::Unavailable);
            repository.close()?;

            let repository = Repository::open(folder.path())?;
            assert!(repository.snapshot().entity(&id)?.is_none());
            assert_eq!(repository.snapshot().entities_count(), 1);
            assert_eq!(repository.check()?.differences, Vec::<String>::new());
            assert_eq!(repository.warnings(), Vec::<String>::new());
            repository
                .transact(|t| t.create_entity(NewEntity { id: id.clone(), ..NewEntity::new("new") }))?;
            repository.close()?;
            assert_eq!(Repository::open(folder.path())?.snapshot().entities_count(), 2);
        }
        Ok(())
    }
}
