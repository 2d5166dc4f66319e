//! Versions that are not in force, as they are held while they are read, and kept for the next who asks.

use std::sync::Arc;

use super::recent::Recent;
use crate::Result;
use crate::graph::instance::properties::Properties;
use crate::graph::instance::row::{NO_EXTRA, Packed, Packing, Row, pack};
use crate::graph::instance::unpacked::Instance;
use crate::graph::structures::symbols::Symbol;
use crate::memory::Memory;
use crate::model::{Id, TypeKind, Value};

/// What a version takes beside its content: where it is found, and that it is next to go. Units: bytes.
const KEPT_BYTES: usize = 128;
/// A larger version is not kept. Units: bytes.
const VERSION_BYTES_MAX: usize = 16 << 10;
/// There is room for a version of each instance, so that one past state of the whole graph stays at hand, and for one of each
/// transaction, so that long histories of few instances do, too: so many bytes for each, within these bounds, unless a memory
/// budget has less.
const ROOM_BYTES_EACH: usize = 400;
const ROOM_BYTES_MIN: usize = 32 << 20;
const ROOM_BYTES_MAX: usize = 1 << 30;
/// Parts of what is kept, each with a lock of its own.
const PARTS: usize = 16;

/// The content of a version that is not in force. Copying it copies a pointer, and handles that have none are small.
#[derive(Clone)]
pub(crate) struct Version(Arc<Content>);

enum Content {
    /// A row that needs nothing but its bytes.
    Packed(Box<[u8]>),
    /// Too large for a row, or with values that a row does not hold.
    Whole(Arc<Instance>),
}

impl Version {
    pub(super) fn new(instance: Instance) -> Version {
        let mut row = Vec::new();
        let instance = Instance { past: None, ..instance };
        match pack(&instance, NO_EXTRA, &mut Packing::new(usize::MAX), &mut row) {
            true => Version(Arc::new(Content::Packed(row.into()))),
            false => Version::of_whole(Arc::new(instance)),
        }
    }

    pub(super) fn of_whole(instance: Arc<Instance>) -> Version {
        Version(Arc::new(Content::Whole(instance)))
    }

    #[inline]
    pub(crate) fn row(&self) -> Row<'_> {
        match &*self.0 {
            Content::Packed(row) => Row::Packed(Packed::new(row)),
            Content::Whole(instance) => Row::Whole(instance),
        }
    }

    /// Taken apart. `id` is what it was called.
    pub(super) fn unpack(&self, id: &Id) -> Result<Arc<Instance>> {
        match &*self.0 {
            Content::Packed(_) => {
                let mut read = |_| unreachable!("nothing of it was left out");
                Ok(Arc::new(self.row().unpack(id, None, &mut read)?))
            }
            Content::Whole(instance) => Ok(Arc::clone(instance)),
        }
    }

    /// What it takes in memory, roughly, or more than is kept. Units: bytes.
    fn bytes_about(&self) -> usize {
        let instance = match &*self.0 {
            Content::Packed(row) => return row.len(),
            Content::Whole(instance) => instance,
        };
        let of_properties =
            |properties: &Properties| properties.iter().map(|(_, value)| value_bytes(value)).sum();
        let classified: usize =
            instance.classifications().iter().map(|known| of_properties(&known.properties)).sum();
        let own: usize = of_properties(&instance.properties);
        size_of::<Instance>() + size_of_val(instance.classifications()) + own + classified
    }
}

fn value_bytes(value: &Value) -> usize {
    size_of::<(Symbol, Value)>()
        + match value {
            Value::String(text) | Value::Iri(text) => text.len(),
            Value::Bytes(bytes) => bytes.len(),
            // Counting them may take longer than reading them again.
            Value::List(_) | Value::Map(_) | Value::Set(_) => VERSION_BYTES_MAX,
            _ => 0,
        }
}

/// Which version of an instance, as an instance that was last changed at a position knows it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct VersionKey {
    pub(super) kind: TypeKind,
    pub(super) slot: u32,
    pub(super) version: u32,
    pub(super) changed: u64,
    /// Of the graph that numbers slots and versions this way.
    pub(super) generation: u64,
}

/// The versions that were read last.
pub(super) struct Versions([Recent<VersionKey, Version>; PARTS]);

impl Versions {
    pub(super) fn new() -> Versions {
        Versions(std::array::from_fn(|_| Recent::new()))
    }

    fn part(&self, key: VersionKey) -> &Recent<VersionKey, Version> {
        &self.0[key.slot.wrapping_add(key.version) as usize % PARTS]
    }

    pub(super) fn get(&self, key: VersionKey) -> Option<Version> {
        self.part(key).get(key)
    }

    /// Keeps a version, unless it is large, with room for so many.
    pub(super) fn insert(&self, key: VersionKey, version: &Version, count: usize, memory: &Memory) {
        let bytes = version.bytes_about();
        if bytes <= VERSION_BYTES_MAX {
            let room = ROOM_BYTES_EACH.saturating_mul(count).clamp(ROOM_BYTES_MIN, ROOM_BYTES_MAX);
            let room = memory.share(room) / PARTS;
            self.part(key).insert(key, version.clone(), bytes + KEPT_BYTES, room);
        }
    }

    pub(super) fn clear(&self) {
        self.0.iter().for_each(Recent::clear);
    }
}
