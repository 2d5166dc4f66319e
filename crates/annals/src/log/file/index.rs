//! Finds a record in a segment: one entry (position, offset) per 4 KiB of log.

use crate::Position;

/// Units: bytes of log between two entries. Finding a record reads at most this many bytes before it.
const INDEX_STEP_BYTES: u64 = 4096;

/// The sparse index of one segment. It takes 8 bytes of memory per 4 KiB of log.
#[derive(Clone, Debug)]
pub(super) struct SparseIndex {
    first: Position,
    // Shape: (position - first, offset of its frame), ascending. Segments stay below 4 GiB.
    entries: Vec<(u32, u32)>,
    /// The position of the last frame; the one before `first` when there is none.
    pub last: Position,
    /// Units: bytes of the file up to the end of the last frame.
    pub end: u64,
}

impl SparseIndex {
    /// The index of a segment without frames, whose frames will start at `offset`.
    pub fn new(first: Position, offset: u64) -> SparseIndex {
        SparseIndex { first, entries: Vec::new(), last: Position(first.0 - 1), end: offset }
    }

    /// Adds the frame at `position`, `bytes` long, which starts at the end of the last one.
    pub fn push(&mut self, position: Position, bytes: u64) {
        debug_assert_eq!(position, self.last.next());
        let is_due = match self.entries.last() {
            Some(&(_, offset)) => self.end - u64::from(offset) >= INDEX_STEP_BYTES,
            None => true,
        };
        // Without a further entry, readers only start further before their position.
        if is_due
            && let Ok(relative) = u32::try_from(position.0 - self.first.0)
            && let Ok(offset) = u32::try_from(self.end)
        {
            self.entries.push((relative, offset));
        }
        self.last = position;
        self.end += bytes;
    }

    /// The offset at which to start reading for `position`, and the offset of the next entry (or the end of the
    /// frames). `position` is in the segment.
    pub fn find(&self, position: Position) -> (u64, u64) {
        debug_assert!(position >= self.first && position <= self.last);
        let relative = position.0 - self.first.0;
        let after = self.entries.partition_point(|&(entry, _)| u64::from(entry) <= relative);
        let before = after.checked_sub(1).and_then(|before| self.entries.get(before));
        let start = before.map_or(0, |&(_, offset)| u64::from(offset));
        let next = self.entries.get(after).map_or(self.end, |&(_, offset)| u64::from(offset));
        (start, next)
    }

    /// Drops the frames after `last`, which ends at `end`.
    pub fn cut(&mut self, last: Position, end: u64) {
        self.entries.retain(|&(_, offset)| u64::from(offset) < end);
        self.last = last;
        self.end = end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_position_is_found_within_one_step() {
        let mut index = SparseIndex::new(Position(10), 32);
        let mut offsets = Vec::new();
        for number in 0..1000u64 {
            offsets.push(index.end);
            index.push(Position(10 + number), 28 + number % 300);
        }
        for (number, &offset) in offsets.iter().enumerate() {
            let (start, next) = index.find(Position(10 + number as u64));
            assert!(start <= offset && offset < next, "{start} <= {offset} < {next}");
            assert!(offset - start < INDEX_STEP_BYTES);
        }
        index.cut(Position(509), offsets[500]);
        assert_eq!((index.last, index.end), (Position(509), offsets[500]));
        let (start, next) = index.find(Position(509));
        assert!(start <= offsets[499] && next == index.end);
    }
}
