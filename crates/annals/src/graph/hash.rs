//! The one hash of ids and names inside a graph.

use std::hash::BuildHasher;
use std::sync::OnceLock;

use crate::model::Id;

/// Hashes differ from process to process, so that nobody can choose ids that collide.
fn hasher() -> &'static foldhash::fast::RandomState {
    static HASHER: OnceLock<foldhash::fast::RandomState> = OnceLock::new();
    HASHER.get_or_init(foldhash::fast::RandomState::default)
}

pub(crate) fn hash_bytes(bytes: &[u8]) -> u64 {
    hasher().hash_one(bytes)
}

#[inline]
pub(crate) fn hash_id(id: &Id) -> u64 {
    match id.uuid_bytes() {
        Some(bytes) => hash_uuid(bytes),
        None => hasher().hash_one(id),
    }
}

/// The same of an id that is a UUID.
#[inline]
pub(crate) fn hash_uuid(bytes: &[u8; 16]) -> u64 {
    hasher().hash_one(u128::from_ne_bytes(*bytes))
}

pub(crate) fn hash_of(value: &impl std::hash::Hash) -> u64 {
    hasher().hash_one(value)
}
