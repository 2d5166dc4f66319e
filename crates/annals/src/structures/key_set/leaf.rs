//! The leaves of a key set: their bounds, how they are divided and merged, and the separators between them.

use std::ops::Range;

use super::run::{Keys, Run, common_len};
use super::set_key::Key;

/// The longest key in bytes. A leaf holds several of the longest keys, and offsets fit 16 bits.
pub(crate) const KEY_BYTES_MAX: usize = 512;

pub(crate) const LEAF_KEYS_MAX: usize = 128;

// One more key may exceed this, right after a split.
pub(crate) const LEAF_BYTES_MAX: usize = 2048;

/// Counts the keys of a leaf to be, and their bytes.
#[derive(Clone, Copy, Default)]
pub(super) struct Fill {
    count: usize,
    // As if each had its prefix.
    whole_bytes: usize,
    common_len: usize,
}

impl Fill {
    pub(super) fn of(keys: Keys) -> Fill {
        let (count, common_len) = (keys.len(), keys.common().len());
        Fill { count, whole_bytes: keys.rests_len() + count * common_len, common_len }
    }

    /// Adds a key, and returns whether all fit. Shape: `any` is another one of the keys, or their common prefix.
    pub(super) fn add(&mut self, any: &[u8], key: &[u8]) -> bool {
        self.common_len = match self.count {
            0 => key.len(),
            _ => common_len(&any[..self.common_len], key),
        };
        self.count += 1;
        self.whole_bytes += key.len();
        self.count <= LEAF_KEYS_MAX && self.bytes_len() <= LEAF_BYTES_MAX
    }

    // With the common prefix once.
    fn bytes_len(self) -> usize {
        self.whole_bytes - self.count.saturating_sub(1) * self.common_len
    }
}

pub(super) fn leaf_has_room(leaf: Keys, key: &[u8]) -> bool {
    Fill::of(leaf).add(leaf.common(), key)
}

/// True if the keys of two neighbours fill at most half a leaf.
pub(super) fn fit_together(left: &Run, right: &Run) -> bool {
    if left.len() + right.len() > LEAF_KEYS_MAX / 2 {
        return false;
    }
    let (left, right) = (left.keys(), right.keys());
    if left.rests_len() + right.rests_len() > LEAF_BYTES_MAX / 2 {
        return false;
    }
    let (one, other) = (Fill::of(left), Fill::of(right));
    let both = Fill {
        count: one.count + other.count,
        whole_bytes: one.whole_bytes + other.whole_bytes,
        common_len: common_len(left.common(), right.common()),
    };
    both.bytes_len() <= LEAF_BYTES_MAX / 2
}

/// Divides a leaf without room for `key`, which belongs before the key at `at`; `is_last` means that there is no leaf
/// after it. Returns both halves, with the key.
pub(super) fn halves_with(leaf: &Run, at: usize, key: &[u8], is_last: bool) -> [Run; 2] {
    let keys = leaf.keys();
    let len = keys.len();
    // For keys that arrive in order, the left leaf stays full. A key before or after all that lacks their common prefix
    // stays alone, because with it they might take many times the room.
    let stays_whole = at == len && is_last || (at == 0 || at == len) && !key.starts_with(keys.common());
    let middle = if stays_whole { at } else { keys.middle() };
    let is_left = at < middle || middle == 0;
    let key = Key::from(key);
    let part = |range: Range<usize>, has_key: bool| {
        if range.len() == len && !has_key {
            return leaf.clone();
        }
        let before = range.start..if has_key { at } else { range.end };
        let after = before.end..range.end;
        Run::of(keys.range(before).chain(has_key.then_some(key)).chain(keys.range(after)))
    };
    [part(0..middle, is_left), part(middle..len, !is_left)]
}

/// The shortest string that is greater than `left` and not greater than `right`.
pub(super) fn separator_between(left: Key, right: Key) -> Vec<u8> {
    let mut separator = right.to_vec();
    separator.truncate(left.common_len(right) + 1);
    separator
}

pub(super) fn assert_bounded(key: &[u8]) {
    assert!(key.len() <= KEY_BYTES_MAX, "a key has {} bytes, at most {KEY_BYTES_MAX} are allowed", key.len());
}
