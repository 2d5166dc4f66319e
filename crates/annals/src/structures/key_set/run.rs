//! Holds a short sorted run of keys in one block of bytes, which a page on a disk could hold as it is.

use std::cmp::Ordering;
use std::ops::Range;
use std::sync::Arc;

use super::set_key::Key;
use crate::structures::number::{bytes_at, narrow};

// Greater than or equal to every head, so that a search may compare all places without knowing the length.
const HEAD_UNUSED: u16 = u16::MAX;

// Heads are compared in groups of this size, also where there are no keys; few heads one by one.
const HEADS_STEP: usize = 16;
const FEW_HEADS_STEP: usize = 4;

// Places in the head of a block.
const COUNT_AT: usize = 0;
const PLACES_AT: usize = 2;
const COMMON_AT: usize = 4;
const HEADS_AT: usize = 6;

const OWN: &str = "a new block has one owner";

/// Keys side by side, so that copying them means copying a few parts of one block.
///
/// A search compares the two bytes of each key behind the common prefix. These bytes are side by side, so a search
/// waits for memory once or twice; bisecting the keys themselves would wait for it five times.
///
/// Shape, in numbers of two bytes, little endian: count of keys, places in the tables, length of the common prefix;
/// then a table of heads: the two bytes of each key behind the prefix, padded with zeros, as a number, and
/// [`HEAD_UNUSED`] in places without a key; then a table of bounds: the offset of the rest of the first key, and the
/// end of each; then the common prefix, and the rests. All other bytes are zero.
/// Units: a block has at most 65 535 bytes.
/// Source: the heads of Graefe and Larson, "B-tree indexes and CPU caches", 2001; prefixes as in Bayer and Unterauer,
/// "Prefix B-trees", 1977.
#[derive(Clone)]
pub(super) struct Run(Arc<[u8]>);

/// The keys of a run.
#[derive(Clone, Copy)]
pub(super) struct Keys<'b> {
    block: &'b [u8],
    // One more than there are keys.
    bounds: &'b [[u8; 2]],
    common: &'b [u8],
}

impl<'b> Keys<'b> {
    #[inline]
    fn in_block(block: &'b [u8]) -> Keys<'b> {
        let (count, places) = (word(block, COUNT_AT), word(block, PLACES_AT));
        let (bounds_at, common_at) = (bounds_at(places), common_at(places));
        let bounds = block[bounds_at..bounds_at + 2 * count + 2].as_chunks().0;
        Keys { block, bounds, common: &block[common_at..common_at + word(block, COMMON_AT)] }
    }

    #[inline]
    pub(super) fn len(self) -> usize {
        self.bounds.len() - 1
    }

    /// True if both are the same run.
    #[inline]
    pub(super) fn is(self, other: Keys) -> bool {
        std::ptr::addr_eq(self.block, other.block)
    }

    #[inline]
    pub(super) fn get(self, index: usize) -> Key<'b> {
        Key::of_parts(self.common, self.rest(index))
    }

    pub(super) fn last(self) -> Option<Key<'b>> {
        self.len().checked_sub(1).map(|index| self.get(index))
    }

    pub(super) fn iter(self) -> impl Iterator<Item = Key<'b>> + Clone {
        self.range(0..self.len())
    }

    #[inline]
    pub(super) fn range(self, range: Range<usize>) -> impl DoubleEndedIterator<Item = Key<'b>> + Clone {
        range.map(move |index| self.get(index))
    }

    /// The prefix that is stored once. The keys may have a longer one.
    #[inline]
    pub(super) fn common(self) -> &'b [u8] {
        self.common
    }

    #[inline]
    fn rest(self, index: usize) -> &'b [u8] {
        &self.block[self.bound(index)..self.bound(index + 1)]
    }

    // Where the rest of the key at `index` begins, and that of the key before ends.
    #[inline]
    fn bound(self, index: usize) -> usize {
        u16::from_le_bytes(self.bounds[index]).into()
    }

    /// The bytes of all rests.
    pub(super) fn rests_len(self) -> usize {
        self.bound(self.len()) - self.bound(0)
    }

    /// The index of `key`, or the index where it would be inserted.
    #[inline]
    pub(super) fn search(self, key: &[u8]) -> Result<usize, usize> {
        let (count, places, common_len) = (self.len(), word(self.block, PLACES_AT), self.common.len());
        match compare_first(key, &self.block[common_at(places)..], common_len) {
            Ordering::Less => return Err(0),
            Ordering::Equal => {}
            Ordering::Greater => return Err(count),
        }
        let rest = &key[common_len..];
        let head = head(rest);
        // Counting all heads is faster than bisecting: it has no branch to mispredict, and the compiler uses vector
        // instructions.
        let heads = &self.block[HEADS_AT..HEADS_AT + 2 * count.next_multiple_of(HEADS_STEP).min(places)];
        let mut from = count_of(heads, |other| other < head);
        let mut to = from;
        if from < count && word(heads, 2 * from) == usize::from(head) {
            to = (to + count_of(heads, |other| other == head)).min(count);
        }
        while from < to {
            let middle = (from + to) / 2;
            match self.rest(middle).cmp(rest) {
                Ordering::Less => from = middle + 1,
                Ordering::Equal => return Ok(middle),
                Ordering::Greater => to = middle,
            }
        }
        Err(from)
    }

    /// The index in the middle of the bytes: neither 0 nor the length, if there are two keys.
    pub(super) fn middle(self) -> usize {
        let half = usize::midpoint(self.bound(0), self.bound(self.len()));
        let index = (0..self.len()).take_while(|index| self.bound(index + 1) <= half).count();
        index.clamp(1, self.len() - 1)
    }
}

/// No key.
static NO_KEYS: [u8; 8] = [0, 0, 0, 0, 0, 0, 8, 0];

impl Run {
    pub(super) fn new() -> Run {
        Run(Arc::from(NO_KEYS))
    }

    /// Makes a run with the longest common prefix. Shape: `keys` ascending, each once.
    pub(super) fn of<'k>(keys: impl Iterator<Item = Key<'k>> + Clone) -> Run {
        let (mut count, mut bytes_len, mut ends) = (0, 0, None);
        for key in keys.clone() {
            count += 1;
            bytes_len += key.len();
            ends = Some((ends.map_or(key, |(first, _)| first), key));
        }
        let Some((first, last)) = ends else { return Run::new() };
        // All keys share the common prefix of the first and the last key.
        let common_len = first.common_len(last);
        let common = first.without_last(first.len() - common_len);
        Run::made(count, common, bytes_len - count * common_len, 0, |draft| {
            keys.for_each(|key| draft.push(key.without_first(common_len)));
        })
    }

    // Makes a run of as many keys as `fill` writes, with at least `spare` bytes of room for more.
    fn made(count: usize, common: Key, rests_len: usize, spare: usize, fill: impl FnOnce(&mut Draft)) -> Run {
        let places = places_for(count, common.len(), rests_len, spare);
        let start = common_at(places) + common.len();
        let mut block = zeroed(rounded(start + rests_len + spare));
        let bytes = Arc::get_mut(&mut block).expect(OWN);
        put_word(bytes, COUNT_AT, count);
        put_word(bytes, PLACES_AT, places);
        put_word(bytes, COMMON_AT, common.len());
        bytes[HEADS_AT + 2 * count..bounds_at(places)].fill(0xFF);
        put_word(bytes, bounds_at(places), start);
        let mut at = common_at(places);
        for part in common.without_first(0) {
            bytes[at..at + part.len()].copy_from_slice(part);
            at += part.len();
        }
        let mut draft = Draft { bytes, places, count: 0, end: start };
        fill(&mut draft);
        Run(block)
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        word(&self.0, COUNT_AT)
    }

    #[inline]
    pub(super) fn keys(&self) -> Keys<'_> {
        Keys::in_block(&self.0)
    }

    /// Inserts `key` before the key at `index`.
    pub(super) fn insert(&mut self, index: usize, key: &[u8]) {
        self.insert_all(&[(index, key)]);
    }

    /// Inserts keys, each before the key at its index. Shape: ascending, none of them there.
    pub(super) fn insert_all(&mut self, added: &[(usize, &[u8])]) {
        let ([(_, first), ..], [.., (_, last)]) = (added, added) else { return };
        let mut spare = 0;
        if let [(index, key)] = added {
            if has_room(self.keys(), key) {
                return insert_here(Arc::make_mut(&mut self.0), *index, key);
            }
            // More keys may follow before it is shared again.
            spare = Arc::get_mut(&mut self.0).map_or(0, |bytes| bytes.len() / 8);
        }
        if self.len() == 0 {
            *self = Run::of(added.iter().map(|(_, key)| Key::from(*key)));
            return;
        }
        let common = self.keys().common();
        let mut kept = common_len(common, first);
        if added.len() > 1 {
            kept = common_len(&common[..kept], last);
        }
        if kept < common.len() {
            *self = self.with_common(kept);
        }
        let keys = self.keys();
        let added_len: usize = added.iter().map(|(_, key)| key.len() - kept).sum();
        let common = Key::from(keys.common());
        let merged =
            Run::made(keys.len() + added.len(), common, keys.rests_len() + added_len, spare, |draft| {
                let mut from = 0;
                for (index, key) in added {
                    draft.copy(keys, from..*index);
                    draft.push([&[], &key[kept..]]);
                    from = *index;
                }
                draft.copy(keys, from..keys.len());
            });
        *self = merged;
    }

    /// Removes the keys at `indexes`. Shape: ascending, each once.
    pub(super) fn remove_all(&mut self, indexes: &[usize]) {
        if let [index] = indexes
            && self.remove_here(*index)
        {
            return;
        }
        let keys = self.keys();
        if indexes.len() == keys.len() {
            *self = Run::new();
            return;
        }
        let removed_len: usize = indexes.iter().map(|index| keys.rest(*index).len()).sum();
        let (count, rests_len) = (keys.len() - indexes.len(), keys.rests_len() - removed_len);
        let left = Run::made(count, Key::from(keys.common()), rests_len, 0, |draft| {
            let mut from = 0;
            for index in indexes {
                draft.copy(keys, from..*index);
                from = index + 1;
            }
            draft.copy(keys, from..keys.len());
        });
        *self = left;
    }

    // Removes a key if nobody shares the block.
    fn remove_here(&mut self, index: usize) -> bool {
        let Some(bytes) = Arc::get_mut(&mut self.0) else { return false };
        let keys = Keys::in_block(bytes);
        let (count, places) = (keys.len(), word(bytes, PLACES_AT));
        // A run without keys has no common prefix.
        if count == 1 {
            return false;
        }
        let (start, behind, end) = (keys.bound(index), keys.bound(index + 1), keys.bound(count));
        bytes.copy_within(behind..end, start);
        // Nothing of a removed key stays in memory.
        bytes[end - (behind - start)..end].fill(0);
        bytes.copy_within(HEADS_AT + 2 * index + 2..HEADS_AT + 2 * count, HEADS_AT + 2 * index);
        put_word(bytes, HEADS_AT + 2 * count - 2, HEAD_UNUSED.into());
        let bounds = bounds_at(places) + 2 * index + 2..bounds_at(places) + 2 * count + 2;
        bytes.copy_within(bounds.clone(), bounds.start - 2);
        put_word(bytes, bounds.end - 2, 0);
        let removed: u16 = narrow(behind - start);
        shift(&mut bytes[bounds.start - 2..bounds.end - 2], removed.wrapping_neg());
        put_word(bytes, COUNT_AT, count - 1);
        true
    }

    // The same keys with only so much of the common prefix.
    fn with_common(&self, len: usize) -> Run {
        let keys = self.keys();
        let (common, more) = keys.common().split_at(len);
        let rests_len = keys.rests_len() + more.len() * keys.len();
        Run::made(keys.len(), Key::from(common), rests_len, 0, |draft| {
            (0..keys.len()).for_each(|index| draft.push([more, keys.rest(index)]));
        })
    }
}

// True if a key has the common prefix, and its block has room for it.
fn has_room(keys: Keys, key: &[u8]) -> bool {
    let count = keys.len();
    count > 0
        && count < word(keys.block, PLACES_AT)
        && keys.bound(count) + key.len() - keys.common.len().min(key.len()) <= keys.block.len()
        && key.starts_with(keys.common)
}

// Inserts a key into a block that has room for it.
fn insert_here(bytes: &mut [u8], index: usize, key: &[u8]) {
    let keys = Keys::in_block(bytes);
    let (count, places) = (keys.len(), word(bytes, PLACES_AT));
    let (start, end) = (keys.bound(index), keys.bound(count));
    let rest = &key[keys.common.len()..];
    bytes.copy_within(start..end, start + rest.len());
    bytes[start..start + rest.len()].copy_from_slice(rest);
    let heads = HEADS_AT + 2 * index..HEADS_AT + 2 * count;
    bytes.copy_within(heads.clone(), heads.start + 2);
    put_word(bytes, heads.start, head(rest).into());
    let bounds = bounds_at(places) + 2 * index..bounds_at(places) + 2 * count + 2;
    bytes.copy_within(bounds.clone(), bounds.start + 2);
    shift(&mut bytes[bounds.start + 2..bounds.end + 2], narrow(rest.len()));
    put_word(bytes, COUNT_AT, count + 1);
}

// A block in progress: its keys come in order.
struct Draft<'b> {
    bytes: &'b mut [u8],
    places: usize,
    count: usize,
    // The end of the last rest.
    end: usize,
}

impl Draft<'_> {
    // Adds a key with this rest, which is in two parts.
    #[inline]
    fn push(&mut self, rest: [&[u8]; 2]) {
        let start = self.end;
        for part in rest.into_iter().filter(|part| !part.is_empty()) {
            self.bytes[self.end..self.end + part.len()].copy_from_slice(part);
            self.end += part.len();
        }
        let head = head(&self.bytes[start..self.end]);
        put_word(self.bytes, HEADS_AT + 2 * self.count, head.into());
        self.count += 1;
        put_word(self.bytes, bounds_at(self.places) + 2 * self.count, self.end);
    }

    // Adds keys of another run with the same common prefix.
    fn copy(&mut self, keys: Keys, range: Range<usize>) {
        let (start, end) = (keys.bound(range.start), keys.bound(range.end));
        self.bytes[self.end..self.end + (end - start)].copy_from_slice(&keys.block[start..end]);
        let heads = &keys.block[HEADS_AT + 2 * range.start..HEADS_AT + 2 * range.end];
        let heads_at = HEADS_AT + 2 * self.count;
        self.bytes[heads_at..heads_at + heads.len()].copy_from_slice(heads);
        let bounds = keys.bounds[range.start + 1..=range.end].as_flattened();
        let bounds_to = bounds_at(self.places) + 2 + 2 * self.count;
        let copied = &mut self.bytes[bounds_to..bounds_to + bounds.len()];
        copied.copy_from_slice(bounds);
        let [from, to]: [u16; 2] = [start, self.end].map(narrow);
        shift(copied, to.wrapping_sub(from));
        self.count += range.len();
        self.end += end - start;
    }
}

/// The length of the common prefix of `left` and `right`.
#[inline]
pub(super) fn common_len(left: &[u8], right: &[u8]) -> usize {
    // Mostly `left` is the common prefix of other keys, and `right` has it.
    if right.starts_with(left) {
        return left.len();
    }
    left.iter().zip(right).take_while(|(left, right)| left == right).count()
}

#[inline]
fn bounds_at(places: usize) -> usize {
    HEADS_AT + 2 * places
}

#[inline]
fn common_at(places: usize) -> usize {
    bounds_at(places) + 2 * places + 2
}

// Places for this many keys, and for as many more as the block has room for in any case.
fn places_for(count: usize, common_len: usize, rests_len: usize, spare: usize) -> usize {
    if count <= 2 * FEW_HEADS_STEP {
        return count.next_multiple_of(FEW_HEADS_STEP);
    }
    let places = count.next_multiple_of(HEADS_STEP);
    let needed = common_at(places) + common_len + rests_len;
    let more = (rounded(needed + spare) - needed) / (rests_len / count.max(1) + 4);
    places + more / HEADS_STEP * HEADS_STEP
}

// The allocator has blocks of few sizes, so that the room up to the next size costs nothing. Its size includes two
// reference counts.
fn rounded(bytes: usize) -> usize {
    const COUNTS: usize = 16;
    let whole = bytes + COUNTS;
    whole.next_multiple_of((whole.next_power_of_two() / 8).max(16)) - COUNTS
}

// Copying zeros costs less than making a vector and copying it.
fn zeroed(len: usize) -> Arc<[u8]> {
    static ZEROS: [u8; 4096] = [0; 4096];
    ZEROS.get(..len).map_or_else(|| Arc::from(vec![0; len]), Arc::from)
}

#[inline]
fn word(bytes: &[u8], at: usize) -> usize {
    u16::from_le_bytes(bytes_at(bytes, at)).into()
}

#[inline]
fn put_word(bytes: &mut [u8], at: usize, word: usize) {
    bytes[at..at + 2].copy_from_slice(&narrow::<u16, usize>(word).to_le_bytes());
}

fn shift(words: &mut [u8], by: u16) {
    for word in words.as_chunks_mut::<2>().0 {
        *word = u16::from_le_bytes(*word).wrapping_add(by).to_le_bytes();
    }
}

#[inline]
fn count_of(heads: &[u8], is_counted: impl Fn(u16) -> bool) -> usize {
    let counted =
        heads.as_chunks::<2>().0.iter().map(|head| u16::from(is_counted(u16::from_le_bytes(*head))));
    counted.sum::<u16>().into()
}

// Compares the first `len` bytes of two strings; the second has at least as many.
#[inline]
fn compare_first(left: &[u8], right: &[u8], len: usize) -> Ordering {
    // Most prefixes are short: as one number they are compared without a call.
    if let (Some(left), Some(right), 0..8) = (left.first_chunk(), right.first_chunk(), len) {
        let [left, right] = [left, right].map(|bytes| u64::from_be_bytes(*bytes) >> 8 >> (8 * (7 - len)));
        return left.cmp(&right);
    }
    left[..len.min(left.len())].cmp(&right[..len])
}

// Smaller heads belong to smaller keys; keys with one head must be compared themselves.
#[inline]
fn head(rest: &[u8]) -> u16 {
    match rest {
        [] => 0,
        [first] => u16::from_be_bytes([*first, 0]),
        [first, second, ..] => u16::from_be_bytes([*first, *second]),
    }
}

#[cfg(test)]
impl Run {
    /// Checks that the block has its only shape: nothing of former keys.
    pub(super) fn check(&self) {
        let keys = self.keys();
        let (count, places) = (keys.len(), word(&self.0, PLACES_AT));
        assert!(count <= places);
        for index in 0..places {
            let expected = if index < count { head(keys.rest(index)) } else { HEAD_UNUSED };
            assert_eq!(word(&self.0, HEADS_AT + 2 * index), usize::from(expected));
            assert!(index < count || word(&self.0, bounds_at(places) + 2 * index + 2) == 0);
        }
        assert!(self.0[keys.bound(count)..].iter().all(|byte| *byte == 0));
        assert!(keys.iter().is_sorted_by(|left, right| left < right));
    }
}
