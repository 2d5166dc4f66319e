//! What instances were called, of which type they were and between which entities, before somebody changed it.

use super::Graph;
use super::instance::headers::{HeaderNumber, PLAIN, Shape};
use super::instance::unpacked::Instance;
use super::structures::hash::key_of;
use super::structures::id_map::IdMap;
use crate::model::{Id, TypeKind};
use crate::structures::vector::Vector;

/// Ids that were given up for others, with the slots they led to.
#[derive(Clone)]
pub(crate) struct FormerIds {
    list: Vector<(Id, u32)>,
    places: IdMap,
}

impl FormerIds {
    pub(crate) fn new() -> FormerIds {
        FormerIds { list: Vector::new(), places: IdMap::new() }
    }

    /// True if nothing was ever given another id.
    pub(crate) fn is_empty(&self) -> bool {
        self.list.len() == 0
    }

    fn place(&self, id: &Id) -> Option<u32> {
        if self.is_empty() {
            return None;
        }
        self.places
            .get(key_of(id), |place| self.list.get(place as usize).is_some_and(|(known, _)| known == id))
    }

    /// The slot of the instance that had this id.
    pub(crate) fn slot(&self, id: &Id) -> Option<u32> {
        let place = self.place(id)?;
        self.list.get(place as usize).map(|(_, slot)| *slot)
    }

    /// Remembers that the instance at `slot`, now called `now`, was called `id`.
    pub(crate) fn insert(&mut self, id: &Id, slot: u32, now: &Id) {
        if id == now || self.place(id).is_some() {
            return;
        }
        let place = u32::try_from(self.list.len()).expect("fewer than 2^32 former ids");
        self.list.push((id.clone(), slot));
        self.places
            .insert(key_of(id), place, |place| self.list.get(place as usize).map(|(id, _)| key_of(id)));
    }

    pub(crate) fn remove(&mut self, id: &Id) {
        if let Some(place) = self.place(id) {
            self.places.remove(key_of(id), place);
        }
    }
}

impl Graph {
    /// What the version with this header, of the instance at `slot`, was called and was. Rows without a header need no
    /// look at anything.
    pub(crate) fn shape(&self, kind: TypeKind, slot: u32, version: HeaderNumber) -> Option<&Shape> {
        let row = self.table(kind).row(slot)?;
        self.shape_by(row.header(), version)
    }

    /// True if every version of the instance at `slot` has the id, the type and the ends of the one in force.
    #[inline]
    pub(crate) fn has_one_shape(&self, kind: TypeKind, slot: u32) -> bool {
        !self.headers.has_identity()
            || self
                .table(kind)
                .row(slot)
                .is_none_or(|row| row.header() == PLAIN || self.headers.get(row.header()).identity.is_none())
    }

    fn shape_by(&self, in_force: HeaderNumber, version: HeaderNumber) -> Option<&Shape> {
        if in_force == PLAIN {
            return None;
        }
        let known = self.headers.get(in_force).identity.as_ref()?;
        let own = self.headers.get(version).identity.as_ref();
        Some(own.map_or(&known.original, |identity| &identity.own))
    }

    /// The same of an instance that was taken apart; its own shape unless it has had others.
    pub(crate) fn shape_of(&self, instance: &Instance, version: HeaderNumber) -> Shape {
        self.shape_by(instance.header, version).cloned().unwrap_or_else(|| Shape {
            id: instance.id.clone(),
            type_name: instance.type_name,
            ends: instance.ends,
        })
    }

    /// What the version with this header, of the instance at `slot`, was called.
    #[inline]
    pub(crate) fn id_in(&self, kind: TypeKind, slot: u32, version: HeaderNumber) -> &Id {
        self.shape(kind, slot, version).map_or_else(|| self.table(kind).id(slot), |shape| &shape.id)
    }
}
