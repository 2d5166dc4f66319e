//! Reads a log beside its writer: learns from the `durable` file how far it may look, and looks there.

use std::path::Path;
use std::sync::{Arc, PoisonError};

use super::mark::{DURABLE_FILE_NAME, Durable};
use super::recovery::{LastHeader, find_segments};
use super::scan::{SegmentView, damaged, scan};
use super::segment::{Segment, io_error};
use super::{FileLog, Role, STALE_RETRIES_MAX};
use crate::log::disk::{Access, Disk, DiskFile};
use crate::{Error, ErrorKind, Position, Result};

/// The mark may be read while it is overwritten; then it is read again, at most this often.
const DURABLE_READS_MAX: usize = 1_000;

/// What a read-only log knows of its writer.
#[derive(Default)]
pub(super) struct Follower {
    durable_file: Option<Arc<dyn DiskFile>>,
    seen: Option<Durable>,
}

impl FileLog {
    /// Looks for new records, new segments and, if the writer says so or `is_stale`, replaced segments.
    ///
    /// Errors: as [`FileLog::open_read_only`]. What was known before stays known.
    pub(super) fn refresh(&self, is_stale: bool) -> Result<()> {
        let Role::Follower(follower) = &self.role else { return Ok(()) };
        let mut follower = follower.lock().unwrap_or_else(PoisonError::into_inner);
        let mut is_stale = is_stale;
        for _ in 0..STALE_RETRIES_MAX {
            let durable = follower.read_durable(self.files.disk(), &self.folder)?;
            if !is_stale && follower.seen == Some(durable) {
                return Ok(());
            }
            let is_replaced =
                is_stale || follower.seen.is_none_or(|seen| seen.generation != durable.generation);
            match self.extend(is_replaced, durable.position)? {
                Some(segments) => {
                    self.publish(segments, durable.position);
                    follower.seen = Some(durable);
                    return Ok(());
                }
                None => is_stale = true,
            }
        }
        let text = format!("{}: segments are replaced faster than they can be read; retry", self.name);
        Err(Error::new(ErrorKind::Unavailable, text))
    }

    /// The segments up to `upto`, as far as possible those that are known; `None` if one was replaced meanwhile.
    fn extend(&self, is_replaced: bool, upto: Position) -> Result<Option<Vec<Arc<Segment>>>> {
        if upto == Position::ZERO {
            return Ok(Some(Vec::new()));
        }
        let known = self.segments_snapshot();
        if let Some(last) = known.last().filter(|_| !is_replaced) {
            match self.index_upto(last, upto)? {
                None => return Ok(None),
                Some(Indexed::Whole) => return Ok(Some(known)),
                Some(Indexed::Until { .. }) => {}
            }
        }
        let found = find_segments(self.files.disk(), &self.folder, upto, LastHeader::IsWhole)?;
        let found = found.into_iter().map(|found| keep_known(&known, found.expect_whole()));
        let segments: Vec<Arc<Segment>> = found.collect();
        let Some(last) = segments.last() else {
            let text = format!(
                "{}: expected records up to {upto}, found no segment; restore from a backup",
                self.name
            );
            return Err(Error::new(ErrorKind::Corrupted, text));
        };
        match self.index_upto(last, upto)? {
            None => Ok(None),
            Some(Indexed::Whole) => Ok(Some(segments)),
            Some(Indexed::Until { error }) => Err(error),
        }
    }

    /// Scans what `segment` holds after what is known of it, up to `upto`.
    fn index_upto(&self, segment: &Arc<Segment>, upto: Position) -> Result<Option<Indexed>> {
        let Some(file) = self.files.open(segment)? else { return Ok(None) };
        let end = file.len().map_err(|error| io_error(&segment.path, "length", error))?;
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

/// The known segment in place of the one found, if it is the same file, so that its index need not be built again.
fn keep_known(known: &[Arc<Segment>], found: Arc<Segment>) -> Arc<Segment> {
    let Ok(at) = known.binary_search_by_key(&found.first(), |segment| segment.first()) else { return found };
    let same = &known[at];
    if same.header != found.header {
        return found;
    }
    if let Some(last) = found.sealed_last() {
        // An active segment may have been sealed since it was indexed, with more records in it.
        if !same.is_indexed_upto(last) {
            return found;
        }
        same.seal(last);
    }
    same.clone()
}

/// How far a segment could be indexed.
enum Indexed {
    /// Up to the wanted position.
    Whole,
    /// Its frames end before: the rest is in the next segment, or else this is the error.
    Until { error: Error },
}

impl Follower {
    fn read_durable(&mut self, disk: &dyn Disk, folder: &Path) -> Result<Durable> {
        let path = folder.join(DURABLE_FILE_NAME);
        let file = match &self.durable_file {
            Some(file) => file.clone(),
            None => match disk.open(&path, Access::Read) {
                Ok(file) => self.durable_file.insert(file).clone(),
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                    return Err(no_mark(disk, folder));
                }
                Err(error) => return Err(io_error(&path, "open", error)),
            },
        };
        for _ in 0..DURABLE_READS_MAX {
            let read = Durable::read(&*file).map_err(|error| io_error(&path, "read", error))?;
            if let Some(durable) = read {
                return Ok(durable);
            }
            std::thread::yield_now();
        }
        self.durable_file = None;
        let text = format!(
            "{}: expected a durable position, found none; open the log for writing once",
            path.display()
        );
        Err(Error::new(ErrorKind::Unavailable, text))
    }
}

/// Without a mark there is either no log, or one that only a writer can vouch for.
fn no_mark(disk: &dyn Disk, folder: &Path) -> Error {
    match find_segments(disk, folder, Position(u64::MAX), LastHeader::MayBeTorn) {
        Err(error) if error.kind() == ErrorKind::NotFound => error,
        Ok(found) if found.is_empty() => {
            let text =
                format!("expected a log in {}, found an empty folder; look at the path", folder.display());
            Error::new(ErrorKind::NotFound, text)
        }
        _ => {
            let text = format!(
                "file log {}: expected the file {DURABLE_FILE_NAME}, found none; open the log for writing once",
                folder.display()
            );
            Error::new(ErrorKind::Unavailable, text)
        }
    }
}
