//! Finds a record in a segment: one entry (position, offset) per 4 KiB of log.

use std::ops::Range;

use crate::Position;

/// Units: bytes of log between two entries. Finding a record reads at most this many bytes before it.
const INDEX_STEP_BYTES: u64 = 4096;

/// The sparse index of one segment. It takes 8 bytes of memory per 4 KiB of log.
#[derive(Clone, Debug)]
pub(super) struct SparseIndex {
    first: Position,
    /// The first position that it finds: that of the segment, or of a frame from which the segment was read.
    pub begin: Position,
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
        SparseIndex { first, begin: first, entries: Vec::new(), last: Position(first.0 - 1), end: offset }
    }

    /// The index of a segment that is read from the frame of `begin` on: it has this frame only.
    pub fn from_frame(first: Position, begin: Position, frame: Range<u64>) -> SparseIndex {
        let mut index =
            SparseIndex { first, begin, entries: Vec::new(), last: Position(begin.0 - 1), end: frame.start };
        index.push(begin, frame.end - frame.start);
        index
    }

    /// Adds the frames before its own, which are those of `front`.
    pub fn put_before(&mut self, front: SparseIndex) {
        let own_start = self.entries.first().map_or(0, |&(_, offset)| offset);
        let own = std::mem::take(&mut self.entries);
        self.entries =
            front.entries.into_iter().filter(|&(_, offset)| offset < own_start).chain(own).collect();
        self.begin = front.begin;
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
    /// frames). `position` is in the index.
    pub fn find(&self, position: Position) -> (u64, u64) {
        debug_assert!(position >= self.begin && position <= self.last);
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

    #[test]
    fn an_index_from_a_frame_on_and_one_before_it_find_what_one_of_all_frames_finds() {
        let length = |number: u64| 28 + number % 300;
        let mut all = SparseIndex::new(Position(10), 32);
        (0..1000).for_each(|number| all.push(Position(10 + number), length(number)));
        for begin in [0, 1, 499, 999] {
            let mut front = SparseIndex::new(Position(10), 32);
            (0..begin).for_each(|number| front.push(Position(10 + number), length(number)));
            let start = front.end;
            front.push(Position(10 + begin), length(begin));
            let mut index = SparseIndex::from_frame(Position(10), Position(10 + begin), start..front.end);
            (begin + 1..1000).for_each(|number| index.push(Position(10 + number), length(number)));
            assert_eq!((index.begin, index.last, index.end), (Position(10 + begin), all.last, all.end));
            index.put_before(front);
            assert_eq!(index.begin, Position(10));
            let mut offset = 32;
            for number in 0..1000 {
                let (start, next) = index.find(Position(10 + number));
                assert!(start <= offset && offset < next && offset - start < INDEX_STEP_BYTES);
                offset += length(number);
            }
        }
    }
}
