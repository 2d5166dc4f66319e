//! Lists the segments of a file log, and reads all of them to prove that they are whole.

use std::path::PathBuf;
use std::sync::Arc;

use super::FileLog;
use super::scan::{SegmentView, damaged, scan};
use super::segment::Segment;
use crate::log::Verified;
use crate::{Position, Result};

/// One segment file of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SegmentInfo {
    /// Its file.
    pub path: PathBuf,
    /// The position of its first record, even if that is not written yet.
    pub first: Position,
    /// The position of its last record; the one before `first` if it is empty.
    pub last: Position,
    /// True if no further records are appended to it. All but the last are sealed.
    pub is_sealed: bool,
    /// Units: bytes of header and frames.
    pub bytes: u64,
}

impl FileLog {
    /// The segment files, in order.
    ///
    /// Errors: `Io`.
    pub fn segments(&self) -> Result<Vec<SegmentInfo>> {
        let tail = self.known_tail();
        let mut infos = Vec::new();
        for segment in self.listing().segments {
            let sealed_last = segment.sealed_last();
            let bytes = match sealed_last {
                None => segment.update_index(|index| index.end),
                Some(_) => segment.sealed_bytes(self.files.disk())?,
            };
            let (path, first) = (segment.path.clone(), segment.first());
            let last = sealed_last.unwrap_or(tail);
            infos.push(SegmentInfo { path, first, last, is_sealed: sealed_last.is_some(), bytes });
        }
        Ok(infos)
    }

    /// Reads every frame up to the tail and verifies its checksum, its position and its append call.
    ///
    /// Errors: `Corrupted`, `Gap` or `NewerFormat`, naming file, offset and position of the first damage; `Io`.
    pub(super) fn verify_segments(&self) -> Result<Verified> {
        let mut verified = Verified::default();
        let tail = self.known_tail();
        let mut retries = 0;
        let mut next = Position(1);
        while next <= tail {
            let segment = self.segment_of(next)?;
            let Some((last, bytes)) = self.verify_segment(&segment)? else {
                self.renew(&mut retries)?;
                continue;
            };
            verified.segments_count += 1;
            verified.records_count += last.0 + 1 - next.0;
            verified.bytes += bytes;
            next = last.next();
        }
        Ok(verified)
    }

    /// Shape: the last position and the bytes of the segment; `None` if it was replaced meanwhile.
    fn verify_segment(&self, segment: &Arc<Segment>) -> Result<Option<(Position, u64)>> {
        if segment.sealed_last().is_some() {
            return Ok(segment
                .scan_sealed(&self.files, Position::ZERO)?
                .map(|index| (index.last, index.end)));
        }
        // The active segment is verified up to its durable end; appends continue after it.
        let (last, end) = segment.update_index(|index| (index.last, index.end));
        let Some(file) = self.files.open(segment)? else { return Ok(None) };
        let mut index = segment.empty_index();
        let view = SegmentView { file: &*file, path: &segment.path, header: &segment.header };
        match scan(view, &mut index, last, end)? {
            Some(tear) => Err(damaged(&segment.path, &tear)),
            None => Ok(Some((last, end))),
        }
    }
}
