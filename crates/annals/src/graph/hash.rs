//! The one hash of ids and names inside a graph.

use std::hash::BuildHasher;
use std::sync::OnceLock;

/// Hashes differ from process to process, so that nobody can choose ids that collide.
fn hasher() -> &'static foldhash::fast::RandomState {
    static HASHER: OnceLock<foldhash::fast::RandomState> = OnceLock::new();
    HASHER.get_or_init(foldhash::fast::RandomState::default)
}

pub(crate) fn hash_bytes(bytes: &[u8]) -> u64 {
    hasher().hash_one(bytes)
}

pub(crate) fn hash_of(value: &impl std::hash::Hash) -> u64 {
    hasher().hash_one(value)
}

/// The hash of a number of 128 bits, given by its halves.
#[inline]
pub(crate) fn hash_number([low, high]: [u64; 2]) -> u64 {
    hasher().hash_one(u128::from(high) << 64 | u128::from(low))
}
