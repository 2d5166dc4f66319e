//! The further instances that a deletion, a restoration or a purge takes along: told before it happens, and obeyed when
//! it happens.

use foldhash::{HashSet, HashSetExt};

use crate::graph::Graph;
use crate::graph::instance::row::Row;
use crate::graph::structures::slot_set::SlotSet;
use crate::model::TypeKind;

/// The slots of instances that an action changes, or removes, besides the one that it names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Along {
    /// Containers before their children.
    pub(crate) entities: Vec<u32>,
    pub(crate) relationships: Vec<u32>,
}

impl Along {
    /// All of them, relationships first.
    pub(crate) fn slots(&self) -> impl Iterator<Item = (TypeKind, u32)> + '_ {
        let relationships = self.relationships.iter().map(|slot| (TypeKind::Relationship, *slot));
        relationships.chain(self.entities.iter().map(|slot| (TypeKind::Entity, *slot)))
    }
}

impl Graph {
    /// The instances that are deleted with a live entity: its relationships, and everything that it contains with their
    /// relationships.
    pub(super) fn deleted_along(&self, slot: u32) -> Along {
        let mut entities = vec![slot];
        let (mut met, mut relationships, mut next) = (HashSet::new(), Vec::new(), 0);
        while let Some(slot) = entities.get(next).copied() {
            next += 1;
            entities.extend(self.child_links(slot).map(|link| link.other));
            relationships.extend(self.live_relationships(slot).into_iter().filter(|slot| met.insert(*slot)));
        }
        entities.remove(0);
        Along { entities, relationships }
    }

    /// The instances that are restored with a deleted entity: everything that was deleted with it as its content, each
    /// with the relationship that contains it; and, if asked for, the other relationships that were deleted with them
    /// and that have both ends then.
    ///
    /// A child that was restored alone and has another container now stays there.
    ///
    /// Units: `valid_from` in microseconds since 1970: from when they are restored.
    pub(super) fn restored_along(&self, slot: u32, with_relationships: bool, valid_from: i64) -> Along {
        let Some(place) = self.entities.row(slot).map(Row::place) else { return Along::default() };
        let (mut entities, mut containing, mut others) = (Vec::new(), Vec::new(), Vec::new());
        let (mut restored, mut level) = (SlotSet::new(), vec![slot]);
        restored.insert(slot);
        while !level.is_empty() {
            let past = self.past_relationships_of(&level);
            let mut next = Vec::new();
            for slot in level {
                for relationship in past.of(slot) {
                    if self.relationships.row(relationship).map(Row::place) != Some(place) {
                        continue;
                    }
                    match self.child_deleted_at(slot, relationship, place) {
                        Some(child) => {
                            if restored.insert(child) {
                                next.push(child);
                                containing.push(relationship);
                            }
                        }
                        None => others.push(relationship),
                    }
                }
            }
            entities.extend_from_slice(&next);
            level = next;
        }
        if !with_relationships {
            return Along { entities, relationships: containing };
        }
        let is_back = |end: u32| {
            let is_there = |row: Row<'_>| row.is_live() && row.live_from() <= valid_from;
            restored.contains(end) || self.entities.row(end).is_some_and(is_there)
        };
        // Its other end may have listed a relationship, too: as the one that contains it, or as another one.
        let mut met = SlotSet::new();
        for slot in &containing {
            met.insert(*slot);
        }
        let others = others.into_iter().filter(|&relationship| {
            let row = self.relationships.known_row(relationship);
            let [_, to] = row.ends();
            let is_placed = self.containment(row.type_name()).is_some() && self.container_link(to).is_some();
            row.ends().into_iter().all(is_back) && !is_placed && met.insert(relationship)
        });
        let relationships = others.collect();
        Along { entities, relationships: [containing, relationships].concat() }
    }

    /// The instances that a purge of an entity removes with it: every relationship that it has or ever had, and
    /// everything that it contains, or contained when it was deleted, with their relationships.
    pub(super) fn purged_along(&self, slot: u32) -> Along {
        let (mut entities, mut relationships) = (Vec::new(), Vec::new());
        let (mut purged, mut met, mut level) = (SlotSet::new(), SlotSet::new(), vec![slot]);
        purged.insert(slot);
        while !level.is_empty() {
            let past = self.past_relationships_of(&level);
            let mut next = Vec::new();
            for slot in level {
                let contained = self.child_links(slot).map(|link| link.other);
                next.extend(contained.filter(|child| purged.insert(*child)));
                let ever_past: Vec<u32> = past.of(slot).collect();
                if let Some(found) = self.entities.row(slot).filter(|found| !found.is_live()) {
                    let place = found.place();
                    let is_taken =
                        |slot: &u32| self.relationships.row(*slot).is_some_and(|row| row.place() == place);
                    let taken = ever_past.iter().copied().filter(is_taken);
                    let contained = taken.filter_map(|taken| self.child_deleted_at(slot, taken, place));
                    next.extend(contained.filter(|child| purged.insert(*child)));
                }
                let ever = self.live_relationships(slot).into_iter().chain(ever_past);
                relationships.extend(ever.filter(|slot| met.insert(*slot)));
            }
            entities.extend_from_slice(&next);
            level = next;
        }
        Along { entities, relationships }
    }
}
