//! The leaves of a key set: their bounds, and the separators between them.

use super::run::{self, KeyRun};

/// The longest key in bytes. A leaf holds several of the longest keys, and offsets fit 16 bits.
pub(crate) const KEY_BYTES_MAX: usize = 512;

pub(crate) const LEAF_KEYS_MAX: usize = 128;

// One more key may exceed this, right after a split.
pub(crate) const LEAF_BYTES_MAX: usize = 2048;

/// A set with more keys becomes a tree; a tree that has shrunk stays a tree until it is empty. There may be as many
/// sets as names of properties, most of them with few keys.
pub(crate) const FEW_KEYS_MAX: usize = 7;

pub(crate) type Leaf = KeyRun<[u16; 2 * LEAF_KEYS_MAX]>;

pub(crate) type Few = KeyRun<[u16; 2 * FEW_KEYS_MAX]>;

pub(crate) static NONE: Few = Few::new();

pub(crate) fn leaf_has_room(leaf: &Leaf, key: &[u8]) -> bool {
    leaf.len() < LEAF_KEYS_MAX && leaf.bytes_len() + key.len() <= LEAF_BYTES_MAX
}

// The shortest string that is greater than `left` and not greater than `right`.
pub(crate) fn separator_between(left: &[u8], right: &[u8]) -> Vec<u8> {
    right[..=run::common_len(left, right)].to_vec()
}

pub(crate) fn assert_bounded(key: &[u8]) {
    assert!(key.len() <= KEY_BYTES_MAX, "a key has {} bytes, at most {KEY_BYTES_MAX} are allowed", key.len());
}
