//! Finds the segments of a log by the names in its folder, and checks that they form a chain.

use std::io;
use std::path::Path;
use std::sync::Arc;

use super::manifest::{Manifest, missing_manifest};
use super::scan::Tear;
use super::segment::{Segment, SegmentName, io_error, open_file, read_header, read_start};
use crate::log::frame::{SEGMENT_HEADER_BYTES, SegmentHeader, SegmentStart};
use crate::storage::{Access, Disk, DiskFile, widen};
use crate::{Error, ErrorKind, Position, Result};

/// A segment found by its name.
pub(super) enum FoundSegment {
    Whole(Arc<Segment>),
    /// The last segment, whose header was not completely written, and nothing after it.
    Torn {
        name: SegmentName,
        tear: Tear,
    },
}

impl FoundSegment {
    pub fn expect_whole(self) -> Arc<Segment> {
        match self {
            FoundSegment::Whole(segment) => segment,
            FoundSegment::Torn { .. } => unreachable!("only the last segment may be torn"),
        }
    }
}

/// Whether the last header may be incomplete: yes for the writer, no for a reader of durable records.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum LastHeader {
    MayBeTorn,
    IsWhole,
}

/// The segments of `folder` that are in force and start at `upto` or before. Each has its last position, except the
/// last one.
///
/// Errors: `Gap` if one is missing; `Corrupted` or `NewerFormat` for a header; `NotFound` if there is no folder.
pub(super) fn find_segments(
    disk: &dyn Disk,
    folder: &Path,
    manifest: Option<Manifest>,
    upto: Position,
    last_header: LastHeader,
) -> Result<Vec<FoundSegment>> {
    let names = disk.list(folder).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => {
            let text = format!("expected a log in {}, found no folder; look at the path", folder.display());
            Error::new(ErrorKind::NotFound, text)
        }
        _ => io_error(folder, "list", error),
    })?;
    let Manifest { log_id, generation } = manifest.unwrap_or_default();
    let is_rewritten =
        names.iter().filter_map(|name| SegmentName::parse(name)).any(|name| name.generation > 0);
    if manifest.is_none() && is_rewritten {
        return Err(missing_manifest(folder));
    }
    let mut names = names_in_force(&names, generation);
    names.retain(|name| name.first <= upto);
    let mut found: Vec<FoundSegment> = Vec::with_capacity(names.len());
    let mut before: Option<Arc<Segment>> = None;
    for (number, &name) in names.iter().enumerate() {
        let path = folder.join(name.file_name());
        let file = open_file(disk, &path, Access::Read)?;
        let may_be_torn = last_header == LastHeader::MayBeTorn && number + 1 == names.len();
        if may_be_torn && let Some(tear) = torn_header(&*file, &path, name.first)? {
            found.push(FoundSegment::Torn { name, tear });
            continue;
        }
        if manifest.is_none() && needs_manifest(&*file, &path)? {
            return Err(missing_manifest(folder));
        }
        let header = read_header(&*file, &path, name, log_id)?;
        check_chain(folder, &header, before.as_deref())?;
        let segment = Arc::new(Segment::found(path, header));
        if let Some(before) = before.replace(segment.clone()) {
            before.seal(Position(name.first.0 - 1));
        }
        found.push(FoundSegment::Whole(segment));
    }
    Ok(found)
}

/// For each segment the file of the highest generation up to `generation`, in the order of positions.
pub(super) fn names_in_force(names: &[String], generation: u64) -> Vec<SegmentName> {
    let mut segments: Vec<SegmentName> = names.iter().filter_map(|name| SegmentName::parse(name)).collect();
    segments.retain(|name| name.generation <= generation);
    segments.sort_unstable_by_key(|name| (name.first, std::cmp::Reverse(name.generation)));
    segments.dedup_by_key(|name| name.first);
    segments
}

/// Only a log of format 1 has no manifest.
fn needs_manifest(file: &dyn DiskFile, path: &Path) -> Result<bool> {
    Ok(matches!(read_start(file, path)?, SegmentStart::Whole(header) if header.format > 1))
}

/// Distinguishes an incomplete header from a damaged one: frames follow only a synced header.
fn torn_header(file: &dyn DiskFile, path: &Path, first: Position) -> Result<Option<Tear>> {
    let SegmentStart::Bad(reason) = read_start(file, path)? else { return Ok(None) };
    let bytes = file.len().map_err(|error| io_error(path, "length", error))?;
    if bytes > widen(SEGMENT_HEADER_BYTES) {
        return Ok(None);
    }
    Ok(Some(Tear { offset: 0, position: first, reason: format!("a segment header with {reason}") }))
}

/// Each header names the first position of the segment before.
fn check_chain(folder: &Path, header: &SegmentHeader, before: Option<&Segment>) -> Result<()> {
    let found = before.map_or(Position::ZERO, Segment::first);
    let is_start = header.first == Position(1);
    if header.previous == found && (before.is_some() != is_start) {
        return Ok(());
    }
    let missing = if is_start { header.first } else { header.previous };
    let text = format!(
        "file log {}: segment {} expected the segment {:020} before it, found {}; restore the missing segment from a \
         backup",
        folder.display(),
        SegmentName::of(header).file_name(),
        missing.0,
        before.map_or_else(|| "none".to_string(), |before| SegmentName::of(&before.header).file_name())
    );
    Err(Error::new(ErrorKind::Gap, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_each_segment_the_latest_generation_up_to_the_one_in_force_counts() {
        let name = |first, generation| SegmentName { first: Position(first), generation };
        let all = [name(1, 0), name(9, 2), name(5, 3), name(5, 0), name(5, 1), name(9, 0)];
        let names: Vec<String> = all.iter().map(|name| name.file_name()).chain(["lock".into()]).collect();
        assert_eq!(names_in_force(&names, 0), [name(1, 0), name(5, 0), name(9, 0)]);
        assert_eq!(names_in_force(&names, 2), [name(1, 0), name(5, 1), name(9, 2)]);
        assert_eq!(names_in_force(&names, 3), [name(1, 0), name(5, 3), name(9, 2)]);
    }
}
