//! The slots of one table by id.

use crate::graph::structures::hash::key_of;
use crate::graph::structures::id_map::IdMap;
use crate::model::Id;
use crate::structures::vector::Vector;

/// The slots of one table by id.
#[derive(Clone)]
pub(super) struct SlotsById {
    // By the UUID itself.
    uuids: IdMap,
    // By the hash of any other id.
    others: IdMap,
    // The greatest fresh id that ever had a slot. Fresh ids ascend, so most new ones need no look-up.
    latest: Option<[u8; 16]>,
}

#[inline]
fn uuid(id: &Id) -> Option<u128> {
    id.uuid_bytes().map(|bytes| u128::from_ne_bytes(*bytes))
}

impl SlotsById {
    pub(super) fn new() -> SlotsById {
        SlotsById { uuids: IdMap::new(), others: IdMap::new(), latest: None }
    }

    /// The same for all `ids`, by slot, for which `is_there` is true.
    pub(super) fn of(ids: &Vector<Id>, is_there: impl Fn(u32) -> bool) -> SlotsById {
        let by_slot = || (0u32..).zip(ids.iter()).filter(|(slot, _)| is_there(*slot));
        let others = by_slot().filter(|(_, id)| uuid(id).is_none());
        SlotsById {
            uuids: IdMap::of(by_slot().filter_map(|(slot, id)| Some((uuid(id)?, slot)))),
            others: IdMap::of(others.map(|(slot, id)| (key_of(id), slot))),
            latest: by_slot().filter_map(|(_, id)| id.fresh_bytes()).max().copied(),
        }
    }

    /// The slot of `id`, among `ids`.
    #[inline]
    pub(super) fn get(&self, id: &Id, ids: &Vector<Id>) -> Option<u32> {
        match uuid(id) {
            Some(uuid) => self.uuids.get(uuid, |_| true),
            None => self.others.get(key_of(id), |slot| ids.get(slot as usize) == Some(id)),
        }
    }

    /// True for a fresh id that is greater than all that ever had a slot: it has none.
    #[inline]
    pub(super) fn is_later(&self, id: &Id) -> bool {
        let fresh = id.fresh_bytes();
        fresh.is_some() && fresh > self.latest.as_ref()
    }

    /// Adds a slot for an id that has no other slot.
    pub(super) fn insert(&mut self, id: &Id, slot: u32) {
        self.latest = self.latest.max(id.fresh_bytes().copied());
        match uuid(id) {
            Some(uuid) => self.uuids.insert(uuid, slot),
            None => self.others.insert(key_of(id), slot),
        }
    }

    /// Adds slots for ids that have none.
    pub(super) fn insert_all<'i>(&mut self, ids: impl Iterator<Item = (&'i Id, u32)> + Clone) {
        self.latest = self.latest.max(ids.clone().filter_map(|(id, _)| id.fresh_bytes()).max().copied());
        self.uuids.insert_all(ids.clone().filter_map(|(id, slot)| Some((uuid(id)?, slot))));
        let others = ids.filter(|(id, _)| uuid(id).is_none());
        self.others.insert_all(others.map(|(id, slot)| (key_of(id), slot)));
    }

    /// Removes ids with their slots.
    pub(super) fn remove_all<'i>(&mut self, ids: impl Iterator<Item = (&'i Id, u32)> + Clone) {
        self.uuids.remove_all(ids.clone().filter_map(|(id, slot)| Some((uuid(id)?, slot))));
        let others = ids.filter(|(id, _)| uuid(id).is_none());
        self.others.remove_all(others.map(|(id, slot)| (key_of(id), slot)));
    }

    pub(super) fn remove(&mut self, id: &Id, slot: u32) {
        match uuid(id) {
            Some(uuid) => self.uuids.remove(uuid, slot),
            None => self.others.remove(key_of(id), slot),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{InstanceId, NewEntity};
    use crate::{Repository, Result, Snapshot};

    #[test]
    fn the_nil_uuid_leads_to_what_has_it_and_not_to_what_was_purged() -> Result<()> {
        let repository = Repository::in_memory();
        let nil = Id::from_uuid_bytes([0; 16]);
        let purged = repository.transact(|t| t.create_entity(NewEntity::new("t")))?.0;
        repository.transact(|t| t.purge(&InstanceId::Entity(purged.clone())))?;
        let before = repository.snapshot();
        let new = NewEntity::new("t").id(&nil.to_string())?;
        repository.transact(|t| t.create_entity(new.clone()))?;
        let slots = |snapshot: &Snapshot| [&purged, &nil].map(|id| snapshot.graph().entities.slot(id));
        assert_eq!(slots(&before), [None, None]);
        assert_eq!(slots(&repository.snapshot()), [None, Some(1)]);
        Ok(())
    }
}
