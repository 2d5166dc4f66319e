//! Many entities at once: faster than one after the other, because the processor waits for their memory together.

use std::hint::black_box;

use smallvec::SmallVec;

use super::held::Held;
use super::instance::{Entity, Name};
use super::link_types::LinkTypes;
use super::snapshot::Snapshot;
use crate::Result;
use crate::graph::structures::adjacency::Neighbors;
use crate::graph::structures::symbols::Symbol;
use crate::graph::structures::wide::Wide;
use crate::model::{Direction, Id, TypeKind, Value};

/// How many are looked up at once: the processor waits for their memory together.
pub(super) const AHEAD: usize = 32;
/// Walks from so few are waited for so much that reading what may not be needed pays.
const FEW_WALKS: usize = 8;
/// So few are looked up one by one.
pub(super) const FEW: usize = 4;

/// The other ends of the links of one entity.
#[derive(Clone, Copy)]
enum Ends<'s> {
    Few(&'s [u32]),
    Many(&'s Wide),
}

impl<'s> Ends<'s> {
    #[inline]
    fn of(neighbors: Neighbors<'s>, type_name: Option<Symbol>) -> Ends<'s> {
        match neighbors {
            Neighbors::Narrow(narrow) => Ends::Few(narrow.of_type(type_name).others),
            Neighbors::Wide(wide) => Ends::Many(wide),
        }
    }

    /// Reads the memory where they begin, and nothing else.
    #[inline]
    fn read_start(&self) {
        if let Ends::Few(ends) = self {
            black_box(ends.first().copied());
        }
    }
}

/// Instances that are read as they are asked for, a few ahead.
pub(super) struct Ahead<'s, I> {
    snapshot: &'s Snapshot,
    kind: TypeKind,
    slots: I,
    // The last comes first.
    ready: Vec<(u32, Result<Option<Held>>)>,
}

impl<I: Iterator<Item = u32>> Iterator for Ahead<'_, I> {
    /// Shape: slot, what this snapshot sees there, deleted or not.
    type Item = (u32, Result<Option<Held>>);

    fn next(&mut self) -> Option<Self::Item> {
        if self.ready.is_empty() {
            if self.slots.size_hint().1.is_some_and(|left| left <= FEW) {
                let slot = self.slots.next()?;
                return Some((slot, self.snapshot.seen(self.kind, slot, true)));
            }
            let mut slots = [0; AHEAD];
            let mut count = 0;
            // Order: the array first, so that no slot is taken for which it has no room.
            for (known, slot) in slots.iter_mut().zip(&mut self.slots) {
                *known = slot;
                count += 1;
            }
            if count == 0 {
                return None;
            }
            self.snapshot.read_ahead(self.kind, &slots[..count], &mut self.ready);
            self.ready.reverse();
        }
        self.ready.pop()
    }
}

impl Snapshot {
    /// The instances at `slots`, deleted or not, faster than one after the other.
    pub(super) fn ahead<I: Iterator<Item = u32>>(&self, kind: TypeKind, slots: I) -> Ahead<'_, I> {
        Ahead { snapshot: self, kind, slots, ready: Vec::new() }
    }

    fn read_ahead(&self, kind: TypeKind, slots: &[u32], ready: &mut Vec<(u32, Result<Option<Held>>)>) {
        ready.reserve(slots.len());
        let Some(view) = self.view() else {
            ready.extend(slots.iter().map(|slot| (*slot, self.seen(kind, *slot, true))));
            return;
        };
        let mut versions = [None; AHEAD];
        self.graph().table(kind).versions_in(slots, view, &mut versions);
        let held = slots.iter().zip(versions).map(|(slot, version)| {
            (*slot, version.map(|version| self.content(kind, *slot, version)).transpose())
        });
        ready.extend(held);
    }

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
        if let Some(slots) = self.plain_ends(from, direction, &types) {
            let entity = |slot| Entity::new(self, slot, Held::InForce);
            return Ok(slots.into_iter().map(entity).collect());
        }
        let mut ends = Vec::with_capacity(4 * from.len());
        for entity in from {
            let mut neighbors = self.neighbors_at(entity.slot(), direction, types.clone(), None);
            while let Some(link) = neighbors.next_link() {
                ends.push(self.end_of(link)?);
            }
        }
        Ok(ends)
    }

    /// One property of the entities one step away from any of several: what [`Snapshot::values`] has for those that
    /// [`Snapshot::expand`] has, without a handle for each.
    ///
    /// Shape: for each end, in the order of [`Snapshot::expand`], its value.
    /// Errors: those of reading history.
    pub fn expand_values(
        &self,
        from: &[Entity<'_>],
        direction: Direction,
        type_name: Option<&str>,
        name: Name,
    ) -> Result<Vec<Option<Value>>> {
        let mut values = Vec::with_capacity(4 * from.len());
        self.each_expanded_value(from, direction, type_name, name, |value| values.push(value.cloned()))?;
        Ok(values)
    }

    /// Calls `take` with each of [`Snapshot::expand_values`]: faster where values are summed up or compared, and not kept.
    ///
    /// ```
    /// # use annals::{Direction, NewEntity, NewRelationship, Repository, Value};
    /// # let repository = Repository::in_memory();
    /// # let mut transaction = repository.transaction();
    /// # let person = transaction.create_entity(NewEntity::new("person"))?;
    /// # for amount in [3, 4] {
    /// #     let order = transaction.create_entity(NewEntity::new("order").property("amount", amount))?;
    /// #     transaction.create_relationship(NewRelationship::new("placed", person.clone(), order))?;
    /// # }
    /// # transaction.commit()?;
    /// let snapshot = repository.snapshot();
    /// let (from, amount) = ([snapshot.entity(&person)?.unwrap()], snapshot.name("amount").unwrap());
    /// let mut sum = 0;
    /// snapshot.each_expanded_value(&from, Direction::Out, Some("placed"), amount, |value| {
    ///     sum += value.and_then(Value::as_integer).unwrap_or(0);
    /// })?;
    /// assert_eq!(sum, 7);
    /// # Ok::<(), annals::Error>(())
    /// ```
    ///
    /// Errors: those of reading history.
    #[inline]
    pub fn each_expanded_value(
        &self,
        from: &[Entity<'_>],
        direction: Direction,
        type_name: Option<&str>,
        name: Name,
        mut take: impl FnMut(Option<&Value>),
    ) -> Result<()> {
        match self.plain_ends(from, direction, &self.relationship_types(type_name)) {
            Some(slots) => self.graph().entities.each_value(&slots, name.symbol(), take),
            None => {
                let ends = self.expand(from, direction, type_name)?;
                self.values(&ends, name).iter().for_each(|value| take(value.as_ref()));
            }
        }
        Ok(())
    }

    /// The slots of [`Snapshot::expand`], unless they must be looked at one by one.
    fn plain_ends(&self, from: &[Entity<'_>], direction: Direction, types: &LinkTypes) -> Option<Vec<u32>> {
        let one = match types {
            LinkTypes::All => None,
            LinkTypes::One(name) => Some(*name),
            LinkTypes::Several(_) => return None,
        };
        if self.view().is_some() || self.graph().entities.spill.is_used() {
            return None;
        }
        let adjacency = self.graph().adjacency(direction);
        let mut slots = Vec::with_capacity(4 * from.len());
        let mut add = |list: &Ends<'_>| match list {
            Ends::Few(ends) => slots.extend_from_slice(ends),
            Ends::Many(wide) => wide.ends(one).for_each(|end| slots.push(end)),
        };
        if from.len() <= FEW_WALKS {
            from.iter().for_each(|entity| adjacency.read_likely(entity.slot()));
            from.iter().for_each(|entity| add(&Ends::of(adjacency.get(entity.slot()), one)));
            return Some(slots);
        }
        for from in from.chunks(AHEAD) {
            let from: SmallVec<[u32; AHEAD]> = from.iter().map(|entity| entity.slot()).collect();
            let mut lists: SmallVec<[Ends<'_>; AHEAD]> = SmallVec::new();
            // All lists are begun before the first is copied.
            adjacency.each(&from, |neighbors| lists.push(Ends::of(neighbors, one)));
            lists.iter().for_each(Ends::read_start);
            lists.iter().for_each(&mut add);
        }
        Some(slots)
    }

    /// One property of many entities: faster than asking each, because the processor waits for their memory together.
    ///
    /// Shape: for each of `entities`, in order, its value.
    pub fn values(&self, entities: &[Entity<'_>], name: Name) -> Vec<Option<Value>> {
        let slots: Vec<u32> = entities.iter().map(|entity| entity.slot()).collect();
        let mut values = Vec::with_capacity(slots.len());
        self.graph().entities.each_value(&slots, name.symbol(), |value| values.push(value.cloned()));
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
        ids.iter().map(|id| self.entity(id)).collect()
    }
}
