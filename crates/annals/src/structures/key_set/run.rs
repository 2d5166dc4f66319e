//! Holds a short sorted run of keys in one buffer.

use crate::structures::number::narrow;
use std::cmp::Ordering;
use std::ops::{Deref, DerefMut};

// Buffers grow in steps instead of doubling: most of the memory of a set is in them.
const BYTES_STEP: usize = 128;
// Greater than or equal to every head, so that a search may compare all places without knowing the length.
const HEAD_UNUSED: u16 = u16::MAX;

// Heads are compared in groups of this size, also where there are no keys.
const HEADS_STEP: usize = 16;

/// Keys side by side, so that copying them means copying a few blocks of memory.
///
/// A search compares the two bytes of each key at which the keys begin to differ. These bytes are in one small block,
/// so a search waits for memory twice; bisecting the keys themselves would wait for it five times.
/// Shape: at most half as many keys as the table has places, in the order of their bytes.
/// Units: all keys together have at most 65 535 bytes.
/// Source: the heads of Graefe and Larson, "B-tree indexes and CPU caches", 2001.
pub(crate) struct KeyRun<T: ?Sized> {
    len: u16,
    // Invariant: all keys agree in their first `skip` bytes, and `skip` is at most the length of each.
    skip: u16,
    bytes: Vec<u8>,
    // First half: the two bytes of each key from `skip` on, padded with zeros; `HEAD_UNUSED` from `len` on. Second
    // half: the end of each key in `bytes`; entries from `len` on have no meaning.
    table: T,
}

/// A run of any size: its methods do not depend on the size.
pub(crate) type Run = KeyRun<[u16]>;

impl<const M: usize> Deref for KeyRun<[u16; M]> {
    type Target = Run;

    #[inline(always)]
    fn deref(&self) -> &Run {
        self
    }
}

impl<const M: usize> DerefMut for KeyRun<[u16; M]> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut Run {
        self
    }
}

impl<const M: usize> KeyRun<[u16; M]> {
    pub(super) const fn new() -> KeyRun<[u16; M]> {
        KeyRun { len: 0, skip: 0, bytes: Vec::new(), table: [HEAD_UNUSED; M] }
    }

    /// With room for this many bytes.
    pub(super) fn with_room(bytes: usize) -> KeyRun<[u16; M]> {
        KeyRun { bytes: Vec::with_capacity(bytes), ..KeyRun::new() }
    }

    /// Keeps the keys before `index` and returns the others.
    pub(super) fn split_off(&mut self, index: usize) -> KeyRun<[u16; M]> {
        let mut right = KeyRun::new();
        let start = self.start(index);
        right.reserve(self.bytes.len() - start);
        right.bytes.extend_from_slice(&self.bytes[start..]);
        let (moved, kept): (u16, u16) = (narrow(start), narrow(index));
        for (from, to) in self.ends()[index..self.len()].iter().zip(right.ends_mut()) {
            *to = from - moved;
        }
        right.len = self.len - kept;
        right.renew_heads();
        self.len = kept;
        self.bytes.truncate(start);
        self.shrink();
        self.renew_heads();
        right
    }

    /// Moves all keys into a new run of just the needed size. The room stays.
    pub(super) fn take(&mut self) -> KeyRun<[u16; M]> {
        let bytes = self.bytes.as_slice().to_vec();
        self.bytes.clear();
        let emptied = KeyRun { bytes: std::mem::take(&mut self.bytes), ..KeyRun::new() };
        KeyRun { bytes, ..std::mem::replace(self, emptied) }
    }
}

impl Run {
    #[inline]
    pub(super) fn len(&self) -> usize {
        usize::from(self.len)
    }

    pub(super) fn bytes_len(&self) -> usize {
        self.bytes.len()
    }

    #[inline]
    pub(super) fn get(&self, index: usize) -> &[u8] {
        &self.bytes[self.start(index)..usize::from(self.ends()[index])]
    }

    pub(super) fn last(&self) -> Option<&[u8]> {
        self.len().checked_sub(1).map(|index| self.get(index))
    }

    /// The index of `key`, or the index where it would be inserted.
    #[inline]
    pub(super) fn search(&self, key: &[u8]) -> Result<usize, usize> {
        let skip = usize::from(self.skip);
        // `bytes` starts with the first key, and so with the common prefix of all keys.
        match cmp_first(key, &self.bytes, skip) {
            Ordering::Less => return Err(0),
            Ordering::Equal => {}
            Ordering::Greater => return Err(self.len()),
        }
        let head = head(key, skip);
        // Counting all heads is faster than bisecting: it has no branch to mispredict, and the compiler uses vector
        // instructions.
        let heads = &self.heads()[..self.len().next_multiple_of(HEADS_STEP).min(self.room())];
        let mut from = usize::from(heads.iter().map(|other| u16::from(*other < head)).sum::<u16>());
        let mut to = from;
        if heads.get(from) == Some(&head) {
            to += usize::from(heads.iter().map(|other| u16::from(*other == head)).sum::<u16>());
            to = to.min(self.len());
        }
        while from < to {
            let middle = (from + to) / 2;
            match self.get(middle)[skip..].cmp(&key[skip..]) {
                Ordering::Less => from = middle + 1,
                Ordering::Equal => return Ok(middle),
                Ordering::Greater => to = middle,
            }
        }
        Err(from)
    }

    /// The index in the middle of the bytes: neither 0 nor the length, if there are two keys.
    pub(super) fn middle(&self) -> usize {
        let half: u16 = narrow(self.bytes.len() / 2);
        let index = self.ends()[..self.len()].partition_point(|end| *end <= half);
        index.clamp(1, self.len() - 1)
    }

    /// Inserts `key` before the key at `index`. There must be room.
    pub(super) fn insert(&mut self, index: usize, key: &[u8]) {
        let (start, len) = (self.start(index), self.len());
        let end = self.bytes.len();
        let skip = if len == 0 { key.len() } else { common_len(&self.bytes[..usize::from(self.skip)], key) };
        self.reserve(key.len());
        // Extend, move to the right, then write the key: cheaper than splicing an iterator in.
        self.bytes.extend_from_slice(key);
        if start < end {
            self.bytes.copy_within(start..end, start + key.len());
            self.bytes[start..start + key.len()].copy_from_slice(key);
        }
        self.ends_mut().copy_within(index..len, index + 1);
        let added: u16 = narrow(key.len());
        self.ends_mut()[index] = narrow(start);
        self.ends_mut()[index..=len].iter_mut().for_each(|end| *end += added);
        self.heads_mut().copy_within(index..len, index + 1);
        self.heads_mut()[index] = head(key, skip);
        self.len += 1;
        if skip != usize::from(self.skip) {
            self.renew_heads();
        }
    }

    pub(super) fn remove(&mut self, index: usize) {
        let (start, end, len) = (self.start(index), usize::from(self.ends()[index]), self.len());
        self.bytes.copy_within(end.., start);
        self.bytes.truncate(self.bytes.len() - (end - start));
        self.ends_mut().copy_within(index + 1..len, index);
        let removed: u16 = narrow(end - start);
        self.ends_mut()[index..len - 1].iter_mut().for_each(|following| *following -= removed);
        self.heads_mut().copy_within(index + 1..len, index);
        self.heads_mut()[len - 1] = HEAD_UNUSED;
        self.len -= 1;
        if self.len == 0 {
            self.skip = 0;
        }
    }

    /// Removes the keys at `indexes`. Shape: ascending, each once.
    pub(super) fn remove_all(&mut self, indexes: &[usize]) {
        // The last first, so that the keys after them move once.
        indexes.iter().rev().for_each(|index| self.remove(*index));
    }

    /// Adds the keys of `right`, all of which are greater. There must be room.
    pub(super) fn append(&mut self, right: &Run) {
        let start = self.bytes.len();
        self.reserve(right.bytes.len());
        self.bytes.extend_from_slice(&right.bytes);
        let (len, moved): (usize, u16) = (self.len(), narrow(start));
        for (from, to) in right.ends()[..right.len()].iter().zip(&mut self.ends_mut()[len..]) {
            *to = from + moved;
        }
        self.len += right.len;
        self.renew_heads();
    }

    /// Frees the memory that the keys do not need now.
    pub(super) fn shrink(&mut self) {
        self.bytes.shrink_to_fit();
    }

    // Computes `skip` and the heads from the keys.
    fn renew_heads(&mut self) {
        self.heads_mut().fill(HEAD_UNUSED);
        self.skip = 0;
        let Some(last) = self.last() else { return };
        // All keys share the common prefix of the first and the last key.
        let skip = common_len(self.get(0), last);
        self.skip = narrow(skip);
        for index in 0..self.len() {
            self.heads_mut()[index] = head(self.get(index), skip);
        }
    }

    #[inline]
    fn start(&self, index: usize) -> usize {
        if index == 0 { 0 } else { usize::from(self.ends()[index - 1]) }
    }

    fn reserve(&mut self, more: usize) {
        let needed = self.bytes.len() + more;
        if needed > self.bytes.capacity() {
            self.bytes.reserve_exact(needed.next_multiple_of(self.bytes_step()) - self.bytes.len());
        }
    }

    // Few keys need little room.
    fn bytes_step(&self) -> usize {
        if self.room() < HEADS_STEP { self.room() } else { BYTES_STEP }
    }

    /// The greatest possible number of keys.
    #[inline(always)]
    pub(super) fn room(&self) -> usize {
        self.table.len() / 2
    }

    #[inline(always)]
    fn heads(&self) -> &[u16] {
        &self.table[..self.room()]
    }

    #[inline(always)]
    fn heads_mut(&mut self) -> &mut [u16] {
        let room = self.room();
        &mut self.table[..room]
    }

    #[inline(always)]
    fn ends(&self) -> &[u16] {
        &self.table[self.room()..]
    }

    #[inline(always)]
    fn ends_mut(&mut self) -> &mut [u16] {
        let room = self.room();
        &mut self.table[room..]
    }
}

impl<const M: usize> Clone for KeyRun<[u16; M]> {
    // Leaves room for a key, because a node is copied to be changed.
    fn clone(&self) -> KeyRun<[u16; M]> {
        let step = self.bytes_step();
        let mut bytes = Vec::with_capacity((self.bytes.len() + step / 2).next_multiple_of(step));
        bytes.extend_from_slice(&self.bytes);
        KeyRun { len: self.len, skip: self.skip, bytes, table: self.table }
    }
}

/// The length of the common prefix of `left` and `right`.
pub(super) fn common_len(left: &[u8], right: &[u8]) -> usize {
    left.iter().zip(right).take_while(|(left, right)| left == right).count()
}

// Compares the first `len` bytes of two strings; the second has at least as many.
#[inline]
fn cmp_first(left: &[u8], right: &[u8], len: usize) -> Ordering {
    // Most prefixes are short: as one number they are compared without a call.
    if let (Some(left), Some(right), 0..8) = (left.first_chunk(), right.first_chunk(), len) {
        let [left, right] = [left, right].map(|bytes| u64::from_be_bytes(*bytes) >> 8 >> (8 * (7 - len)));
        return left.cmp(&right);
    }
    left[..len.min(left.len())].cmp(&right[..len])
}

// Smaller heads belong to smaller keys; keys with one head must be compared themselves.
#[inline]
fn head(key: &[u8], skip: usize) -> u16 {
    match key[skip..] {
        [] => 0,
        [first] => u16::from_be_bytes([first, 0]),
        [first, second, ..] => u16::from_be_bytes([first, second]),
    }
}
