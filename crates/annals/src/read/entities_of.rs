//! All entities, or those of a type, one by one.

use std::vec;

use super::held::Held;
use super::instance::Entity;
use super::snapshot::Snapshot;
use crate::Result;
use crate::graph::structures::slot_set::{self, SlotSet};
use crate::model::TypeKind;

/// Iterates over entities. Made by [`Snapshot::entities_of`].
pub struct EntitiesOf<'s> {
    snapshot: &'s Snapshot,
    /// True if what is live is in force, and nothing has to be read.
    is_plain: bool,
    list: List<'s>,
    /// The lists to come. Shape: live instances, those of the past.
    lists: vec::IntoIter<[Option<&'s SlotSet>; 2]>,
}

/// The slots of one list.
enum List<'s> {
    Present(slot_set::Iter<'s>),
    /// Of both sets from a slot on.
    Both([Option<&'s SlotSet>; 2], u32),
}

impl<'s> List<'s> {
    fn of(sets: [Option<&'s SlotSet>; 2]) -> List<'s> {
        match sets {
            [Some(present), None] => List::Present(present.iter()),
            both => List::Both(both, 0),
        }
    }

    #[inline]
    fn next(&mut self) -> Option<u32> {
        match self {
            List::Present(slots) => slots.next(),
            List::Both(sets, from) => {
                let slot = sets.iter().flatten().filter_map(|set| set.next_from(*from)).min()?;
                *from = slot + 1;
                Some(slot)
            }
        }
    }
}

impl Snapshot {
    /// All entities in the order of their creation, or those of a type and then those of its subtypes.
    ///
    /// Errors: each item may be an error of reading history.
    pub fn entities_of(&self, type_name: Option<&str>) -> EntitiesOf<'_> {
        let table = &self.graph().entities;
        let is_past = self.view().is_some();
        let past = |name| table.lists.by_type.past_extents.of(name).filter(|_| is_past);
        let lists: Vec<[Option<&SlotSet>; 2]> = match type_name {
            Some(name) => {
                let types = self.types_named(TypeKind::Entity, name);
                types.into_iter().map(|name| [table.lists.by_type.extents.of(name), past(name)]).collect()
            }
            None => vec![[Some(table.live_slots()), Some(table.dead_slots()).filter(|_| is_past)]],
        };
        let is_plain = !is_past && !table.spill.is_used();
        EntitiesOf { snapshot: self, is_plain, list: List::of([None; 2]), lists: lists.into_iter() }
    }
}

impl<'s> Iterator for EntitiesOf<'s> {
    type Item = Result<Entity<'s>>;

    // One place makes the handle, and it is inlined: a handle that is written in parts and moved as a whole is waited for.
    #[inline]
    fn next(&mut self) -> Option<Result<Entity<'s>>> {
        loop {
            let Some(slot) = self.list.next() else {
                self.list = List::of(self.lists.next()?);
                continue;
            };
            if self.is_plain {
                return Some(Ok(Entity::new(self.snapshot, slot, Held::InForce)));
            }
            if let Some(entity) = self.snapshot.entity_at(slot).transpose() {
                return Some(entity);
            }
        }
    }
}
