//! Versions that are not in force, for handles and in a cache.

use std::sync::Arc;

use super::recent::Recent;
use crate::Result;
use crate::graph::instance::row::{OwnRow, Row};
use crate::graph::instance::unpacked::Instance;
use crate::memory::Memory;
use crate::model::{Id, TypeKind};

/// Size of a cached version without its content: its key, and its entry in the order. Units: bytes.
const KEPT_BYTES: usize = 128;
/// A larger version is not cached. Units: bytes.
const VERSION_BYTES_MAX: usize = 16 << 10;
/// The cache has room for a version of each instance, so that one past state of the whole graph fits, and for one of
/// each transaction, so that long histories of few instances fit, too. Each counts this many bytes, within these
/// bounds, unless a memory budget allows less.
const ROOM_BYTES_EACH: usize = 400;
const ROOM_BYTES_MIN: usize = 32 << 20;
const ROOM_BYTES_MAX: usize = 1 << 30;
/// Parts of the cache, each with its own lock.
const PARTS: usize = 16;

/// The content of a version that is not in force. Copying it copies a pointer, and handles without one are small.
#[derive(Clone)]
pub(crate) struct Version(Arc<OwnRow>);

impl Version {
    /// No value of `instance` may be spilled: the values of a handle are in memory.
    pub(in crate::read) fn new(instance: &Instance) -> Version {
        Version(Arc::new(OwnRow::of(instance)))
    }

    #[inline]
    pub(crate) fn row(&self) -> Row<'_> {
        self.0.row()
    }

    /// Decoded. `id` is its id in that version.
    pub(in crate::read) fn unpack(&self, id: &Id) -> Result<Arc<Instance>> {
        let mut read = |_| unreachable!("nothing of it was left out");
        Ok(Arc::new(self.row().unpack(id, None, &mut read)?))
    }

    /// Its size in memory. A large set counts as more than is cached: measuring it may take longer than reading it
    /// again. Units: bytes.
    fn bytes_about(&self) -> usize {
        self.row().bytes_count() + VERSION_BYTES_MAX * self.row().large_sets().len()
    }
}

/// The key of a version: an instance as of its last change at a position, and the version.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct VersionKey {
    pub(in crate::read) kind: TypeKind,
    pub(in crate::read) slot: u32,
    pub(in crate::read) version: u32,
    pub(in crate::read) changed: u64,
    /// The generation of the graph with these slots and version numbers.
    pub(in crate::read) generation: u64,
}

/// The cached versions.
pub(in crate::read) struct Versions([Recent<VersionKey, Version>; PARTS]);

impl Versions {
    pub(in crate::read) fn new() -> Versions {
        Versions(std::array::from_fn(|_| Recent::new()))
    }

    fn part(&self, key: VersionKey) -> &Recent<VersionKey, Version> {
        &self.0[key.slot.wrapping_add(key.version) as usize % PARTS]
    }

    pub(in crate::read) fn get(&self, key: VersionKey) -> Option<Version> {
        self.part(key).get(key)
    }

    /// Caches a version, unless it is large, with room for this many.
    pub(in crate::read) fn insert(&self, key: VersionKey, version: &Version, count: usize, memory: &Memory) {
        let bytes = version.bytes_about();
        if bytes <= VERSION_BYTES_MAX {
            let room = ROOM_BYTES_EACH.saturating_mul(count).clamp(ROOM_BYTES_MIN, ROOM_BYTES_MAX);
            let room = memory.share(room) / PARTS;
            self.part(key).insert(key, version.clone(), bytes + KEPT_BYTES, room);
        }
    }

    pub(in crate::read) fn clear(&self) {
        self.0.iter().for_each(Recent::clear);
    }
}
