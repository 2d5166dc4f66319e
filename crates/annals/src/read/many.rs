//! Many entities at once: faster than one after the other, because the processor waits for their memory together.

use super::instance::{Entity, Held, Name};
use super::neighbors::LinkTypes;
use super::snapshot::Snapshot;
use crate::Result;
use crate::graph::adjacency::Neighbors;
use crate::graph::slot_set::SlotSet;
use crate::model::{Direction, Id, TypeKind, Value};

/// How many entities are looked up at once.
const AHEAD: usize = 32;

impl Snapshot {
    /// The entities one step away from any of several: faster than asking for the neighbours of each, because the
    /// processor waits for their memory together.
    ///
    /// Shape: for each entity of `from`, in order, the ends of its relationships as [`Snapshot::neighbors`] has
    /// them; an entity comes as often as relationships lead to it.
    /// Errors: those of reading history.
    pub fn expand<'s>(
        &'s self,
        from: &[Entity<'s>],
        direction: Direction,
        type_name: Option<&str>,
    ) -> Result<Vec<Entity<'s>>> {
        let types = self.relationship_types(type_name);
        let mut ends = Vec::with_capacity(4 * from.len());
        let one = match (self.view(), &types) {
            (None, LinkTypes::All) => None,
            (None, LinkTypes::One(name)) => Some(*name),
            _ => {
                for entity in from {
                    let mut neighbors = self.neighbors_at(entity.slot, direction, types.clone(), None);
                    while let Some(link) = neighbors.next_link() {
                        ends.push(self.end_of(link)?);
                    }
                }
                return Ok(ends);
            }
        };
        let adjacency = self.graph().adjacency(direction);
        if self.graph().entities.spill.is_used() {
            for entity in from {
                for link in adjacency.get(entity.slot).iter(one) {
                    ends.push(self.end_of(link)?);
                }
            }
            return Ok(ends);
        }
        let entity = |slot| Entity { snapshot: self, slot, held: Held::InForce };
        for from in from.chunks(AHEAD) {
            // All pages are looked up before the first list of ends is read.
            let mut links = [None; AHEAD];
            for (links, entity) in links.iter_mut().zip(from) {
                *links = Some(adjacency.get(entity.slot));
            }
            for links in links.iter().flatten() {
                match links {
                    Neighbors::Narrow(narrow) => {
                        ends.extend(narrow.of_type(one).others.iter().map(|&slot| entity(slot)));
                    }
                    wide => ends.extend(wide.iter(one).map(|link| entity(link.other))),
                }
            }
        }
        Ok(ends)
    }

    /// One property of many entities: faster than asking each, because the processor waits for their memory together.
    ///
    /// Shape: for each of `entities`, in order, its value.
    pub fn values(&self, entities: &[Entity<'_>], name: Name) -> Vec<Option<Value>> {
        let slots: Vec<u32> = entities.iter().map(|entity| entity.slot).collect();
        let mut values = self.graph().entities.values(&slots, name.symbol());
        for (value, entity) in values.iter_mut().zip(entities) {
            if let Held::Read(_) = entity.held {
                *value = entity.value(name);
            }
        }
        values
    }

    /// The entities with these ids.
    ///
    /// Shape: for each of `ids`, in order, what [`Snapshot::entity`] has for it.
    /// Errors: those of reading history.
    pub fn entities(&self, ids: &[Id]) -> Result<Vec<Option<Entity<'_>>>> {
        let table = &self.graph().entities;
        let mut entities = Vec::with_capacity(ids.len());
        for ids in ids.chunks(AHEAD) {
            ids.iter().for_each(|id| table.look_ahead(id));
            for id in ids {
                entities.push(self.entity(id)?);
            }
        }
        Ok(entities)
    }

    /// All entities in the order of their creation, or those of a type and then those of its subtypes.
    ///
    /// Errors: each item may be an error of reading history.
    pub fn entities_of(&self, type_name: Option<&str>) -> impl Iterator<Item = Result<Entity<'_>>> {
        let table = &self.graph().entities;
        let is_past = self.view().is_some();
        let past = |name| table.past_extents.of(name).filter(|_| is_past);
        let lists: Vec<[Option<&SlotSet>; 2]> = match type_name {
            Some(name) => {
                let types = self.types_named(TypeKind::Entity, name);
                types.into_iter().map(|name| [table.extents.of(name), past(name)]).collect()
            }
            None => vec![[Some(table.live_slots()), Some(table.dead_slots()).filter(|_| is_past)]],
        };
        let slots = lists.into_iter().flat_map(|lists| -> Box<dyn Iterator<Item = u32>> {
            if let [Some(current), None] = lists {
                return Box::new(current.iter());
            }
            let next = move |from: u32| lists.iter().flatten().filter_map(|list| list.next_from(from)).min();
            Box::new(std::iter::successors(next(0), move |slot| next(slot + 1)))
        });
        slots.filter_map(|slot| self.entity_at(slot).transpose())
    }
}
