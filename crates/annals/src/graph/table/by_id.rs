//! Which slot an id leads to.

use crate::graph::structures::hash::key_of;
use crate::graph::structures::id_map::{Home, IdMap};
use crate::model::Id;
use crate::structures::vector::Vector;

/// The slots of one table by id. Ids by slot, which the table has, decide in doubt.
#[derive(Clone)]
pub(super) struct SlotsById {
    // By the UUID itself.
    uuids: IdMap,
    // By the hash of any other id.
    others: IdMap,
}

// The nil UUID also stands for what was purged, so that it is no key.
#[inline]
fn uuid(id: &Id) -> Option<u128> {
    id.uuid_bytes().map(|bytes| u128::from_ne_bytes(*bytes)).filter(|uuid| *uuid != 0)
}

// Not inlined, because as a rule nobody asks.
#[inline(never)]
fn uuid_at(ids: &Vector<Id>, slot: u32) -> Option<u128> {
    ids.get(slot as usize).and_then(uuid)
}

fn other_key_at(ids: &Vector<Id>, slot: u32) -> Option<u128> {
    ids.get(slot as usize).filter(|id| uuid(id).is_none()).map(key_of)
}

impl SlotsById {
    pub(super) fn new() -> SlotsById {
        SlotsById { uuids: IdMap::new(), others: IdMap::new() }
    }

    /// The same for all `ids`, by slot, whose instance `is_there`.
    pub(super) fn of(ids: &[Id], is_there: impl Fn(u32) -> bool) -> SlotsById {
        let by_slot = || (0u32..).zip(ids);
        let others = by_slot().filter(|(slot, id)| uuid(id).is_none() && is_there(*slot));
        SlotsById {
            uuids: IdMap::of(by_slot().filter_map(|(slot, id)| Some((uuid(id)?, slot)))),
            others: IdMap::of(others.map(|(slot, id)| (key_of(id), slot))),
        }
    }

    /// The slot of `id`, among `ids`. The caller says whether there is an instance, where the nil UUID may stand for none.
    #[inline]
    pub(super) fn get(
        &self,
        id: &Id,
        ids: &Vector<Id>,
        is_there: impl Fn(u32) -> bool + Copy,
    ) -> Option<u32> {
        match uuid(id) {
            Some(uuid) => self.of_uuid(uuid, ids),
            None => self.of_other(id, ids, is_there),
        }
    }

    // Not inlined, so that what asks is: both the UUID and the result take registers.
    #[inline(never)]
    fn of_uuid(&self, uuid: u128, ids: &Vector<Id>) -> Option<u32> {
        let found = self.uuids.get_own(uuid);
        if found.is_some() { found } else { self.of_uuid_in_doubt(uuid, ids) }
    }

    // Not inlined, so that what is asked first needs few registers.
    #[inline(never)]
    fn of_uuid_in_doubt(&self, uuid: u128, ids: &Vector<Id>) -> Option<u32> {
        self.uuids.get(uuid, move |slot| self.uuids.vouches(slot) || uuid_at(ids, slot) == Some(uuid))
    }

    #[inline(never)]
    fn of_other(&self, id: &Id, ids: &Vector<Id>, is_there: impl Fn(u32) -> bool + Copy) -> Option<u32> {
        let is_it = |slot: u32| ids.get(slot as usize) == Some(id) && (id.text().is_some() || is_there(slot));
        self.others.get(key_of(id), is_it)
    }

    /// Where looking up this id will begin.
    #[inline]
    pub(super) fn home(&self, id: &Id) -> Home<'_> {
        match uuid(id) {
            Some(uuid) => self.uuids.home(uuid),
            None => self.others.home(key_of(id)),
        }
    }

    /// Where adding this id will begin.
    #[inline]
    pub(super) fn homes_of_new(&self, id: &Id) -> [Home<'_>; 2] {
        match uuid(id) {
            Some(uuid) => self.uuids.homes_of_new(uuid),
            None => self.others.homes_of_new(key_of(id)),
        }
    }

    /// Adds a slot, which leads to nothing else any more.
    pub(super) fn insert(&mut self, id: &Id, slot: u32, ids: &Vector<Id>) {
        match uuid(id) {
            Some(uuid) => self.uuids.insert(uuid, slot, |slot| uuid_at(ids, slot)),
            None => self.others.insert(key_of(id), slot, |slot| other_key_at(ids, slot)),
        }
    }

    pub(super) fn remove(&mut self, id: &Id, slot: u32) {
        match uuid(id) {
            Some(uuid) => self.uuids.remove(uuid, slot),
            None => self.others.remove(key_of(id), slot),
        }
    }

    /// From now on tries what is thrown away.
    pub(super) fn fork(&mut self) {
        self.uuids.fork();
        self.others.fork();
    }

    /// Goes on where `lost` does not: [`IdMap::go_on_after`].
    pub(super) fn go_on_after(&mut self, lost: &SlotsById, ids: &Vector<Id>, lost_ids: &Vector<Id>) {
        let end = u32::try_from(ids.len()).expect("as many as slots");
        let uuid = |slot| uuid_at(ids, slot);
        self.uuids.go_on_after(&lost.uuids, end, |slot| uuid_at(lost_ids, slot), uuid);
        let other = |slot| other_key_at(ids, slot);
        self.others.go_on_after(&lost.others, end, |slot| other_key_at(lost_ids, slot), other);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{InstanceId, NewEntity};
    use crate::{Repository, Result};

    #[test]
    fn an_entry_of_a_version_that_was_thrown_away_leads_to_nothing() -> Result<()> {
        let repository = Repository::in_memory();
        let (created, _): (Vec<Id>, _) =
            repository.transact(|t| (0..2).map(|_| t.create_entity(NewEntity::new("t"))).collect())?;
        repository.transact(|t| t.purge(&InstanceId::Entity(created[0].clone())))?;
        let table = repository.snapshot().graph().entities.clone();
        let mut lost = table.clone();
        let (nil, other) = (Id::from_uuid_bytes([0; 16]), Id::random());
        for (id, slot) in [(&nil, 2), (&other, 3), (&created[0], 4)] {
            lost.slots.insert(id, slot, &lost.ids);
        }
        assert_eq!((table.slot(&nil), table.slot(&other), table.slot(&created[0])), (None, None, None));
        assert_eq!(table.slot(&created[1]), Some(1));
        Ok(())
    }
}
