//! Reads a log beside its writer: the `durable` file gives the position up to which it may read.

use std::path::Path;
use std::sync::{Arc, PoisonError};

use super::listing::{FoundSegment, LastHeader, find_segments};
use super::manifest::Manifest;
use super::mark::{DURABLE_FILE_NAME, Durable};
use super::recovery::{LOCK_FILE_NAME, check_mark_of, read_durable};
use super::scan::{SegmentView, damaged, scan};
use super::segment::{Segment, io_error, open_file};
use super::{FileLog, Listing, Role, STALE_RETRIES_MAX};
use crate::log::another::another_log;
use crate::log::identity::LogId;
use crate::storage::{Access, Disk, DiskFile};
use crate::{Error, ErrorKind, Position, Result};

/// The writer may overwrite the mark during a read; then the follower reads it again, at most this often.
const DURABLE_READS_MAX: usize = 1_000;

/// The state of a read-only log.
#[derive(Default)]
pub(super) struct Follower {
    /// The open mark, and its identity. It stays open, so that no other file gets that identity.
    mark: Option<(Arc<dyn DiskFile>, u128)>,
    seen: Option<Durable>,
    /// True until the segments of another folder at the same path are listed.
    is_moved: bool,
}

impl FileLog {
    /// Looks for new records, new segments and, if the writer reports it or `is_stale`, a rewritten log.
    ///
    /// Errors: as [`FileLog::open_read_only`]; `Unavailable` if another log is there now. The listing before an error stays
    /// in use.
    pub(super) fn refresh(&self, is_stale: bool) -> Result<()> {
        let Role::Follower(follower) = &self.role else { return Ok(()) };
        let mut follower = follower.lock().unwrap_or_else(PoisonError::into_inner);
        let mut is_stale = is_stale;
        for _ in 0..STALE_RETRIES_MAX {
            follower.is_moved |= follower.open_mark(self.files.disk(), &self.folder)?;
            let durable = follower.read_durable(&self.folder)?;
            if !is_stale && !follower.is_moved && follower.seen == Some(durable) {
                return Ok(());
            }
            if let Some(seen) = follower.seen {
                self.check_is_same(seen, durable)?;
            }
            let is_rewritten =
                is_stale || follower.seen.is_none_or(|seen| seen.generation != durable.generation);
            // The files of another folder may have the names and headers of those known.
            let known = if follower.is_moved { Listing::default() } else { self.listing() };
            match self.extend(known, is_rewritten, durable)? {
                Some(listing) => {
                    self.publish(listing, durable.position);
                    (follower.seen, follower.is_moved) = (Some(durable), false);
                    return Ok(());
                }
                None => is_stale = true,
            }
        }
        let text = format!("{}: the log is rewritten faster than it can be read; retry", self.name);
        Err(Error::new(ErrorKind::Unavailable, text))
    }

    /// Refuses the mark of another log, and of one that has lost records: those read before would be mixed with others.
    fn check_is_same(&self, seen: Durable, found: Durable) -> Result<()> {
        // A writer gives an old log an id.
        if seen.log_id != LogId::NIL && seen.log_id != found.log_id {
            return Err(another_log(
                &self.name,
                &format!("expected the id {}, found {}", seen.log_id, found.log_id),
            ));
        }
        if found.position >= seen.position {
            return Ok(());
        }
        let text = format!("expected records up to {}, found them up to {}", seen.position, found.position);
        Err(another_log(&self.name, &text))
    }

    /// The segments up to the durable position, reusing the known ones as far as possible; `None` if the log was
    /// rewritten meanwhile.
    fn extend(&self, known: Listing, is_rewritten: bool, durable: Durable) -> Result<Option<Listing>> {
        let upto = durable.position;
        if let Some(last) = known.segments.last().filter(|_| !is_rewritten) {
            match self.index_upto(last, upto)? {
                None => return Ok(None),
                Some(Indexed::Whole) => return Ok(Some(known)),
                Some(Indexed::Until { .. }) => {}
            }
        }
        let manifest = Manifest::read(self.files.disk(), &self.folder)?;
        check_mark_of(&self.folder, Some(durable), manifest)?;
        let listed = self.list(&known, manifest, upto);
        // A writer may have replaced the manifest since, and removed the segments of the one before: then the segments
        // found here prove nothing.
        if Manifest::read(self.files.disk(), &self.folder)? != manifest { Ok(None) } else { listed }
    }

    /// The segments in force by a manifest, up to a position; `None` if one was rewritten meanwhile.
    fn list(&self, known: &Listing, manifest: Option<Manifest>, upto: Position) -> Result<Option<Listing>> {
        let listing = |segments| Listing { manifest: manifest.unwrap_or_default(), segments };
        if upto == Position::ZERO {
            return Ok(Some(listing(Vec::new())));
        }
        let found = find_segments(self.files.disk(), &self.folder, manifest, upto, LastHeader::IsWhole)?;
        let found = found.into_iter().map(|found| keep_known(&known.segments, found.expect_whole()));
        let segments: Vec<Arc<Segment>> = found.collect();
        self.note_address(&segments);
        let Some(last) = segments.last() else {
            let text = format!(
                "{}: expected records up to {upto}, found no segment; restore from a backup",
                self.name
            );
            return Err(Error::new(ErrorKind::Corrupted, text));
        };
        match self.index_upto(last, upto)? {
            None => Ok(None),
            Some(Indexed::Whole) => Ok(Some(listing(segments))),
            Some(Indexed::Until { error }) => Err(error),
        }
    }

    /// Refuses to show less than the acknowledged records: after a power cut the durable position may lag behind the
    /// records, and only a writer can decide which of them stay.
    ///
    /// Errors: `Unavailable`.
    pub(super) fn check_nothing_hidden(&self) -> Result<()> {
        let disk = self.files.disk();
        // A writer at work advances the durable position itself. If the lock cannot be read, nothing is known.
        let has_writer = || disk.is_locked(&self.folder.join(LOCK_FILE_NAME)).unwrap_or(true);
        if has_writer() {
            return Ok(());
        }
        let beyond = match self.whole_call_beyond_tail() {
            Ok(Some(beyond)) => beyond,
            Ok(None) => return Ok(()),
            // A writer may just have started, and changed the files during the check.
            Err(_) if has_writer() => return Ok(()),
            Err(error) => return Err(error),
        };
        // The writer may just have ended.
        if read_durable(disk, &self.folder)?.is_some_and(|durable| durable.position >= beyond) {
            return self.refresh(false);
        }
        let text = format!(
            "{}: expected the durable position to cover all records, found records up to {beyond} and the durable \
             position {}, as after a power cut; open the repository for writing once, e.g. with `annals compact`",
            self.name,
            self.known_tail()
        );
        Err(Error::new(ErrorKind::Unavailable, text))
    }

    /// The last position of a complete append call beyond the tail, if there is one.
    fn whole_call_beyond_tail(&self) -> Result<Option<Position>> {
        let disk = self.files.disk();
        let manifest = Manifest::read(disk, &self.folder)?;
        let found = find_segments(disk, &self.folder, manifest, Position(u64::MAX), LastHeader::MayBeTorn)?;
        let whole = found.into_iter().filter_map(|found| match found {
            FoundSegment::Whole(segment) => Some(segment),
            FoundSegment::Torn { .. } => None,
        });
        let mut beyond = None;
        // The writer may have started one empty segment after the one with the tail.
        for segment in
            whole.filter(|segment| segment.sealed_last().is_none_or(|last| last > self.known_tail()))
        {
            let segment = keep_known(&self.listing().segments, segment);
            let file = open_file(disk, &segment.path, Access::Read)?;
            let end = file.len().map_err(|error| io_error(&segment.path, "length", error))?;
            // The index of the segment itself covers only durable frames.
            let mut index = segment.update_index(|index| index.clone());
            let view = SegmentView { file: &*file, path: &segment.path, header: &segment.header };
            scan(view, &mut index, Position(u64::MAX), end)?;
            beyond = beyond.max(Some(index.last).filter(|last| *last > self.known_tail()));
        }
        Ok(beyond)
    }

    /// Scans the frames of `segment` after its indexed ones, up to `upto`.
    fn index_upto(&self, segment: &Arc<Segment>, upto: Position) -> Result<Option<Indexed>> {
        let Some(file) = self.files.open(segment)? else { return Ok(None) };
        let end = file.len().map_err(|error| io_error(&segment.path, "length", error))?;
        segment.begin_index(&*file, upto);
        segment.update_index(|index| {
            let view = SegmentView { file: &*file, path: &segment.path, header: &segment.header };
            let tear = scan(view, index, upto, end)?;
            if index.last >= upto {
                return Ok(Some(Indexed::Whole));
            }
            let error = match tear {
                Some(tear) => damaged(&segment.path, &tear),
                None => {
                    let text = format!(
                        "{}: expected records up to {upto}, found the end after {}; restore from a backup",
                        segment.path.display(),
                        index.last
                    );
                    Error::new(ErrorKind::Corrupted, text)
                }
            };
            Ok(Some(Indexed::Until { error }))
        })
    }
}

/// Returns the known segment instead of the found one if both are the same file, so that its index is not built again.
fn keep_known(known: &[Arc<Segment>], found: Arc<Segment>) -> Arc<Segment> {
    let at = known.binary_search_by_key(&found.first(), |segment| segment.first());
    let Some(same) = at.ok().and_then(|at| known.get(at)) else { return found };
    if same.header != found.header {
        return found;
    }
    if let Some(last) = found.sealed_last() {
        // The active segment may have been sealed since it was indexed, with more records in it.
        if !same.is_indexed_upto(last) {
            return found;
        }
        same.seal(last);
    }
    same.clone()
}

/// How far a segment was indexed.
enum Indexed {
    /// Up to the wanted position.
    Whole,
    /// Its frames end earlier: the rest is in the next segment; if there is none, this is the error.
    Until { error: Error },
}

impl Follower {
    /// Opens the file that has the name of the mark now. True if it is another one than before.
    fn open_mark(&mut self, disk: &dyn Disk, folder: &Path) -> Result<bool> {
        let path = folder.join(DURABLE_FILE_NAME);
        let file = match disk.open(&path, Access::Read) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Err(no_mark(disk, folder)),
            Err(error) => return Err(io_error(&path, "open", error)),
        };
        let identity = file.identity().map_err(|error| io_error(&path, "identity", error))?;
        let before = self.mark.replace((file, identity));
        Ok(before.is_some_and(|(_, before)| before != identity))
    }

    fn read_durable(&self, folder: &Path) -> Result<Durable> {
        let path = folder.join(DURABLE_FILE_NAME);
        let Some((file, _)) = &self.mark else { return Err(none_found(&path)) };
        for _ in 0..DURABLE_READS_MAX {
            let read = Durable::read(&**file).map_err(|error| io_error(&path, "read", error))?;
            if let Some(durable) = read {
                return Ok(durable);
            }
            std::thread::yield_now();
        }
        Err(none_found(&path))
    }
}

fn none_found(mark: &Path) -> Error {
    let text =
        format!("{}: expected a durable position, found none; open the log for writing once", mark.display());
    Error::new(ErrorKind::Unavailable, text)
}

/// Without a mark there is either no log, or one that only a writer can check.
fn no_mark(disk: &dyn Disk, folder: &Path) -> Error {
    let found = Manifest::read(disk, folder).and_then(|manifest| {
        find_segments(disk, folder, manifest, Position(u64::MAX), LastHeader::MayBeTorn)
    });
    match found {
        Err(error) => error,
        Ok(found) if found.is_empty() => {
            let text =
                format!("expected a log in {}, found an empty folder; look at the path", folder.display());
            Error::new(ErrorKind::NotFound, text)
        }
        Ok(_) => {
            let text = format!(
                "file log {}: expected the file {DURABLE_FILE_NAME}, found none; open the log for writing once",
                folder.display()
            );
            Error::new(ErrorKind::Unavailable, text)
        }
    }
}
