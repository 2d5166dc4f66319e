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
    /// All ends that the relationships now on the log ever had, to know which go with an entity.
    ends: HashMap<Id, Vec<Id>>,
    relationships_of: HashMap<Id, Vec<Id>>,
    /// Ids that instances had before they got the ones they have.
    former: HashMap<InstanceId, Vec<InstanceId>>,
    /// Relationships that were given other ids.
    renamed: HashMap<Id, Id>,
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
                    Action::CreateRelationship(new) => purges.link(&new.id, [&new.from, &new.to]),
                    Action::SaveRelationship(copy) => purges.link(&copy.id, [&copy.from, &copy.to]),
                    Action::Relink(id, from, to) => purges.link(id, [from, to].into_iter().flatten()),
                    Action::Reidentify(instance, id) => purges.rename(instance, id),
                    Action::PurgeCopy(id, _) => purges.purge(id, (position, index)),
                    Action::Purge(id) => purges.purge(id, (position, index)),
                    _ => {}
                }
            }
            Ok(())
        })?;
        Ok(purges)
    }

    fn link<'e>(&mut self, relationship: &Id, ends: impl IntoIterator<Item = &'e Id>) {
        for end in ends {
            self.ends.entry(relationship.clone()).or_default().push(end.clone());
            self.relationships_of.entry(end.clone()).or_default().push(relationship.clone());
        }
    }

    fn rename(&mut self, instance: &InstanceId, id: &Id) {
        let before = instance.id();
        let now = match instance {
            InstanceId::Entity(_) => {
                let relationships = self.relationships_of.remove(before).unwrap_or_default();
                for relationship in &relationships {
                    let ends = self.ends.entry(self.named_now(relationship)).or_default();
                    ends.iter_mut().filter(|end| *end == before).for_each(|end| end.clone_from(id));
                }
                self.relationships_of.insert(id.clone(), relationships);
                InstanceId::Entity(id.clone())
            }
            InstanceId::Relationship(_) => {
                let ends = self.ends.remove(before).unwrap_or_default();
                self.ends.insert(id.clone(), ends);
                self.renamed.insert(before.clone(), id.clone());
                InstanceId::Relationship(id.clone())
            }
        };
        let mut former = self.former.remove(instance).unwrap_or_default();
        former.push(instance.clone());
        self.former.insert(now, former);
    }

    /// The id that a relationship has in the end.
    fn named_now(&self, relationship: &Id) -> Id {
        let mut now = relationship;
        while let Some(next) = self.renamed.get(now) {
            now = next;
        }
        now.clone()
    }

    /// An instance is purged under all ids it ever had, and with what it is linked with, or ever was.
    fn purge(&mut self, id: &InstanceId, place: (Position, usize)) {
        for former in self.former.remove(id).unwrap_or_default() {
            // The id is free for another relationship.
            self.renamed.remove(former.id());
            self.at.insert(former, place);
        }
        self.at.insert(id.clone(), place);
        let InstanceId::Entity(entity) = id else {
            self.ends.remove(id.id());
            return;
        };
        for relationship in self.relationships_of.remove(entity).unwrap_or_default() {
            let relationship = self.named_now(&relationship);
            // An id may have been purged and given to another relationship since.
            if self.ends.get(&relationship).is_some_and(|ends| ends.contains(entity)) {
                self.purge(&InstanceId::Relationship(relationship), place);
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
