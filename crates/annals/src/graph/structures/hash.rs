//! The one hash of ids and names inside a graph.

use std::hash::{BuildHasher, Hash};
use std::sync::OnceLock;

/// Hashes differ from process to process, so that nobody can choose ids that collide.
fn hasher() -> &'static foldhash::fast::RandomState {
    static HASHER: OnceLock<foldhash::fast::RandomState> = OnceLock::new();
    HASHER.get_or_init(foldhash::fast::RandomState::default)
}

/// What an `IdMap` knows a value by that is no number of 128 bits: its hash.
pub(crate) fn key_of(value: &(impl Hash + ?Sized)) -> u128 {
    hasher().hash_one(value).into()
}

/// The hash of a number of 128 bits, given by its halves.
#[inline]
pub(crate) fn hash_number([low, high]: [u64; 2]) -> u64 {
    hasher().hash_one(u128::from(high) << 64 | u128::from(low))
}
