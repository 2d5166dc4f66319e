//! The hash function for ids and names in a graph.

use std::hash::{BuildHasher, Hash};
use std::sync::OnceLock;

/// Hashes differ between processes, so that clients cannot choose colliding ids.
fn hasher() -> &'static foldhash::fast::RandomState {
    static HASHER: OnceLock<foldhash::fast::RandomState> = OnceLock::new();
    HASHER.get_or_init(foldhash::fast::RandomState::default)
}

/// The key in an `IdMap` of a value that is not a number of 128 bits: its hash.
pub(crate) fn key_of(value: &(impl Hash + ?Sized)) -> u128 {
    hasher().hash_one(value).into()
}

/// The hash of a number of 128 bits, given by its halves.
#[inline]
pub(crate) fn hash_number([low, high]: [u64; 2]) -> u64 {
    hasher().hash_one(u128::from(high) << 64 | u128::from(low))
}
