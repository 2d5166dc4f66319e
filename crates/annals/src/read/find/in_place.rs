//! Walks slots in the order of their creation, of their last change, or of their ids.

use super::access::Places;
use super::walk::{Values, index_key};
use crate::graph::index::key::{append_id_key, append_time_key, slot_of_key};
use crate::read::operators::scan::domain::{Domain, Slots};
use crate::structures::key_set::Key;

/// An order that most slots have already. The other instances have keys in an index.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum SlotOrder {
    Created,
    Updated,
    Id,
}

/// Slots that are in their place, merged with those that have keys.
pub(super) struct InPlace<'d, 'g> {
    places: &'d Places<'g>,
    order: SlotOrder,
    ordered: Slots<'g, Domain<'g>>,
    values: Values<'d, 'g>,
    // The keys of the next of each; that of an ordered slot is empty if there is none.
    next_ordered: Vec<u8>,
    next_key: Option<Key<'g>>,
    // The key of the last one, if it is not a key of an index.
    last: Vec<u8>,
    is_descending: bool,
}

impl<'d, 'g> InPlace<'d, 'g> {
    /// Starts after the key of a cursor.
    pub(super) fn start(
        places: &'d Places<'g>,
        domain: &Domain<'g>,
        order: SlotOrder,
        is_descending: bool,
        after: Option<&[u8]>,
    ) -> InPlace<'d, 'g> {
        let indexes = places.indexes;
        let (current, past) = match order {
            SlotOrder::Created => (indexes.times.created(), None),
            SlotOrder::Updated => {
                (indexes.times.updated(), places.with_past.then(|| indexes.times.past_updated()))
            }
            SlotOrder::Id => (indexes.ids.keys(), None),
        };
        let mut domain = domain.clone();
        if order == SlotOrder::Id {
            domain.of_slots(indexes.ids.ordered());
        }
        let after = after.map(|key| index_key(key, is_descending));
        let place = after.as_deref().map(|after| order.place(places, after));
        let before = match place {
            None => None,
            // In this direction the place itself is left out in any case.
            Some((first, _)) if is_descending => Some(first),
            Some((first, is_there)) => {
                if is_there {
                    Some(first)
                } else {
                    first.checked_sub(1)
                }
            }
        };
        let ordered = domain.into_slots_after(before, is_descending);
        let values = Values::of_sets(current, past, after.as_deref(), is_descending);
        let mut walk = InPlace {
            places,
            order,
            ordered,
            values,
            next_ordered: Vec::new(),
            next_key: None,
            last: Vec::new(),
            is_descending,
        };
        walk.next_key = walk.values.next_key();
        walk.turn_ordered();
        walk
    }

    fn turn_ordered(&mut self) {
        let (places, order) = (self.places, self.order);
        // In the present only the others are visible at the place of their slot.
        let leaves_changed_out = order == SlotOrder::Updated && !places.with_past;
        let leaves_out = |slot| leaves_changed_out && places.indexes.times.is_changed(slot);
        let next = self.ordered.find(|slot| order.has_place(places, *slot) && !leaves_out(*slot));
        self.next_ordered.clear();
        let Some(slot) = next else { return };
        match order {
            // Nothing to compare it with: a walk by id uses only the slot.
            SlotOrder::Id if self.next_key.is_none() => {
                self.next_ordered.extend_from_slice(&slot.to_be_bytes())
            }
            _ => order.write_key(places, slot, &mut self.next_ordered),
        }
    }

    /// The key of the next one: its time or id, then its slot.
    pub(super) fn next(&mut self) -> Option<Key<'_>> {
        let takes_key = match (&self.next_ordered[..], self.next_key) {
            ([], None) => return None,
            (_, None) => false,
            ([], Some(_)) => true,
            // A version may be in both lists, if a correction of the past was made at its time: then it comes once.
            (ordered, Some(key)) if key == *ordered => {
                self.next_key = self.values.next_key();
                false
            }
            (ordered, Some(key)) => (key < *ordered) != self.is_descending,
        };
        if takes_key {
            return std::mem::replace(&mut self.next_key, self.values.next_key());
        }
        std::mem::swap(&mut self.last, &mut self.next_ordered);
        self.turn_ordered();
        Some(Key::from(&self.last[..]))
    }
}

impl SlotOrder {
    /// True if the slot is its place in the order, as far as the indexes know.
    fn has_place(self, places: &Places, slot: u32) -> bool {
        // A walk by id goes only by the ordered slots.
        let is_ordered = self == SlotOrder::Id || places.indexes.times.is_in_order(slot);
        is_ordered && places.is_told(slot)
    }

    /// Writes the key of a slot that is its place; nothing for a purged instance.
    fn write_key(self, places: &Places, slot: u32, key: &mut Vec<u8>) {
        match self {
            SlotOrder::Created | SlotOrder::Updated => {
                let row = places.table.row(slot);
                row.into_iter().for_each(|row| append_time_key(row.created().micros, slot, key));
            }
            // The set of ordered ids has no purged instance.
            SlotOrder::Id => append_id_key(places.table.id(slot), slot, key),
        }
    }

    /// The key of the first slot from `slot` on, before `end`, that is its place.
    fn key_from(self, places: &Places, slot: u32, end: u32) -> Option<Vec<u8>> {
        let key = |slot| {
            let mut key = Vec::new();
            self.write_key(places, slot, &mut key);
            (!key.is_empty()).then_some(key)
        };
        let has_place = |slot: &u32| self.has_place(places, *slot);
        match self {
            SlotOrder::Created | SlotOrder::Updated => (slot..end).filter(has_place).find_map(key),
            SlotOrder::Id => {
                let ordered = places.indexes.ids.ordered().iter_from(slot);
                ordered.take_while(|slot| *slot < end).filter(has_place).find_map(key)
            }
        }
    }

    /// The first slot in its place that does not come before `after`, and whether its place equals `after`.
    fn place(self, places: &Places, after: &[u8]) -> (u32, bool) {
        let count = u32::try_from(places.table.slots_count()).unwrap_or(u32::MAX);
        // Usually the instance that ended the page before still is in its place: then nothing is searched.
        let named =
            after.last_chunk::<4>().map(|slot| u32::from_be_bytes(*slot)).filter(|slot| *slot < count);
        if let Some(slot) = named
            && self.key_from(places, slot, slot + 1).as_deref() == Some(after)
        {
            return (slot, true);
        }
        let (mut low, mut high) = (0, count);
        while low < high {
            let middle = low + (high - low) / 2;
            match self.key_from(places, middle, high) {
                Some(key) if key[..] < *after => low = slot_of_key(Key::from(&key[..])) + 1,
                _ => high = middle,
            }
        }
        // The slot itself may have another place: the next one that is in its place decides.
        let key = self.key_from(places, low, count);
        let first = key.as_deref().map_or(count, |key| slot_of_key(Key::from(key)));
        (first, key.as_deref() == Some(after))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::model::{Id, InstanceId, NewEntity, TypeKind};
    use crate::{Find, Repository, Snapshot};

    /// All ids, page by page, by the plan with this number.
    fn walked(snapshot: &Snapshot, text: &str, plan: usize) -> Vec<Id> {
        let mut find = Find { limit: 3, ..Find::parse(text).unwrap() };
        let mut found = Vec::new();
        loop {
            let page = snapshot.find_ids_by_plan(TypeKind::Entity, &find, plan).unwrap().unwrap();
            found.extend(page.items);
            find.after = Some(match page.next {
                Some(next) => next,
                None => return found,
            });
        }
    }

    /// Fresh ids by number, others, and texts.
    fn id(number: u8, kind: u8) -> Id {
        let mut bytes = [0; 16];
        (bytes[5], bytes[6], bytes[15]) = (number, kind << 4, number);
        match kind {
            4 | 7 => Id::from_uuid_bytes(bytes),
            _ => Id::new(&format!("text {number}")).unwrap(),
        }
    }

    fn ids() -> impl Strategy<Value = Id> {
        (any::<u8>(), prop_oneof![Just(7), Just(7), Just(4), Just(0)])
            .prop_map(|(number, kind)| id(number, kind))
    }

    proptest! {
        #[test]
        fn pages_by_id_are_in_order_whatever_ids_there_are(
            // Most ids ascend: then they have no key.
            mut ascending in prop::collection::vec(any::<u8>(), 0..60),
            steps in prop::collection::vec((0..8_u8, ids(), ids()), 0..40),
        ) {
            let repository = Repository::in_memory();
            ascending.sort_unstable();
            let ascending = ascending.iter().map(|number| (0, id(*number, 7), id(0, 0)));
            for (number, (what, one, other)) in ascending.chain(steps).enumerate() {
                let instance = InstanceId::Entity(one.clone());
                // A refusal, because the id is taken or missing, changes nothing.
                let _ = repository.transact(|t| match what {
                    0..4 => t.create_entity(NewEntity { id: one.clone(), ..NewEntity::new("t") }).map(drop),
                    4 => t.reidentify(&instance, &other),
                    5 => t.delete(&instance),
                    _ => t.purge(&instance),
                });
                if number % 16 != 0 {
                    continue;
                }
                let snapshot = repository.snapshot();
                let mut expected = walked(&snapshot, "t", 0);
                expected.sort_unstable();
                // Indexes with all records, and those as they are.
                for snapshot in [&snapshot.settled(), &snapshot] {
                    prop_assert_eq!(&walked(snapshot, "t order by @id", 0), &expected);
                    let descending = walked(snapshot, "t order by @id desc", 0);
                    prop_assert!(descending.iter().rev().eq(&expected));
                }
            }
        }
    }

    #[test]
    fn fresh_ids_take_no_keys_even_after_other_ids() {
        let repository = Repository::in_memory();
        let other = |text: &str| NewEntity { id: Id::new(text).unwrap(), ..NewEntity::new("t") };
        let last = "ffffffff-ffff-4fff-bfff-ffffffffffff";
        repository.transact(|t| t.create_entity(other(last)).and(t.create_entity(other("zzz")))).unwrap();
        repository
            .transact(|t| (0..100).try_for_each(|_| t.create_entity(NewEntity::new("t")).map(drop)))
            .unwrap();
        let settled = repository.snapshot().settled();
        let ids = &settled.indexed().indexes(TypeKind::Entity).unwrap().ids;
        assert_eq!((ids.keys().len(), ids.ordered().len()), (2, 100));
    }
}
