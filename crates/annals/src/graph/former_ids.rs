//! The former ids of instances.

use super::structures::hash::key_of;
use super::structures::id_map::IdMap;
use crate::model::Id;
use crate::structures::number::narrow;
use crate::structures::vector::Vector;

/// Ids that instances no longer have, with their slots.
#[derive(Clone)]
pub(crate) struct FormerIds {
    list: Vector<(Id, u32)>,
    places: IdMap,
}

impl FormerIds {
    pub(crate) fn new() -> FormerIds {
        FormerIds { list: Vector::new(), places: IdMap::new() }
    }

    /// True if no id was ever changed.
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

    /// Stores that the instance at `slot`, with the id `now`, had the id `id`.
    pub(crate) fn insert(&mut self, id: &Id, slot: u32, now: &Id) {
        if id == now || self.place(id).is_some() {
            return;
        }
        let place = narrow(self.list.len());
        self.list.push((id.clone(), slot));
        self.places.insert(key_of(id), place);
    }

    pub(crate) fn remove(&mut self, id: &Id) {
        if let Some(place) = self.place(id) {
            self.places.remove(key_of(id), place);
        }
    }
}
