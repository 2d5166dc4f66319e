//! The neighbours of an entity, now or as of an earlier time, page by page.

use std::collections::HashMap;

use super::instance::{Entity, Name, Relationship};
use super::operators::expand::{Expand, SeenLinks};
use super::operators::fetch::push_handle;
use super::snapshot::Snapshot;
use crate::graph::structures::link::Link;
use crate::model::{Direction, Id, TypeKind, Value};
use crate::read::operators::link_types::LinkTypes;
use crate::read::past::held::Held;
use crate::{Error, ErrorKind, Result};

/// A relationship of an entity, with the entity at its other end.
#[derive(Clone, Debug)]
pub struct Neighbor<'s> {
    /// The relationship.
    pub relationship: Relationship<'s>,
    /// The entity at the other end.
    pub entity: Entity<'s>,
}

/// Iterates over the neighbours of an entity, ordered by relationship type and then by age.
pub struct Neighbors<'s> {
    snapshot: &'s Snapshot,
    links: SeenLinks<'s>,
}

/// Iterates over the entities at the other ends. Made by [`Neighbors::entities`].
pub struct Entities<'s> {
    neighbors: Neighbors<'s>,
}

impl Snapshot {
    /// The neighbours of an entity in one direction, over relationships of one type (with subtypes) or of all.
    ///
    /// ```
    /// # use annals::{Direction, NewEntity, NewRelationship, Repository};
    /// # let repository = Repository::in_memory();
    /// # let mut transaction = repository.transaction();
    /// # let a = transaction.create_entity(NewEntity::new("person"))?;
    /// # let b = transaction.create_entity(NewEntity::new("person"))?;
    /// # transaction.create_relationship(NewRelationship::new("knows", a.clone(), b.clone()))?;
    /// # transaction.commit()?;
    /// let snapshot = repository.snapshot();
    /// for neighbor in snapshot.neighbors(&a, Direction::Out, Some("knows"))? {
    ///     assert_eq!(neighbor?.entity.id(), &b);
    /// }
    /// # Ok::<(), annals::Error>(())
    /// ```
    ///
    /// Errors: `NotFound` if this snapshot does not see the entity, or for a type that is neither declared nor used; each item
    /// may be an error of reading history.
    #[inline]
    pub fn neighbors(&self, id: &Id, direction: Direction, type_name: Option<&str>) -> Result<Neighbors<'_>> {
        self.neighbors_after(id, direction, type_name, None)
    }

    /// The same, starting after the relationship `after`: pages at any depth cost as much as the first one.
    ///
    /// Errors: `InvalidArgument` if `after` is not a relationship of the entity.
    #[inline]
    pub fn neighbors_after(
        &self,
        id: &Id,
        direction: Direction,
        type_name: Option<&str>,
        after: Option<&Id>,
    ) -> Result<Neighbors<'_>> {
        let slot = self.live_slot(id)?;
        let after = after.map(|after| self.link_of(slot, direction, after)).transpose()?;
        Ok(self.neighbors_of(slot, direction, self.known_relationship_types(type_name)?, after))
    }

    #[inline]
    fn neighbors_of(
        &self,
        slot: u32,
        direction: Direction,
        types: LinkTypes,
        after: Option<Link>,
    ) -> Neighbors<'_> {
        Neighbors { snapshot: self, links: Expand::new(self, types).links(slot, direction, after) }
    }

    /// The entities one step away from any of several. This is faster than reading the neighbours of each, because the
    /// processor waits for their memory together.
    ///
    /// Shape: for each entity of `from`, in order, the ends of its relationships as in [`Snapshot::neighbors`]; an
    /// entity is repeated for each relationship that leads to it.
    /// Errors: those of reading history.
    pub fn expand<'s>(
        &'s self,
        from: &[Entity<'s>],
        direction: Direction,
        type_name: Option<&str>,
    ) -> Result<Vec<Entity<'s>>> {
        let mut ends = Vec::with_capacity(4 * from.len());
        Expand::new(self, self.relationship_types(type_name)).each(
            from,
            Entity::slot,
            &[direction],
            |_, _, link| {
                let held = self.fetch(TypeKind::Entity, link.other)?;
                push_handle(&mut ends, held, |held| Entity::new(self, link.other, held));
                Ok(())
            },
        )?;
        Ok(ends)
    }

    /// Calls `take` with each relationship of several entities in some directions, and the entity at its other end. This
    /// is faster than reading the neighbours of each, as [`Snapshot::expand`] is.
    ///
    /// ```
    /// # use annals::{Direction, Id, NewEntity, NewRelationship, Repository};
    /// # let repository = Repository::in_memory();
    /// # let mut transaction = repository.transaction();
    /// # let ids: Vec<Id> =
    /// #     (0..3).map(|_| transaction.create_entity(NewEntity::new("person"))).collect::<Result<_, _>>()?;
    /// # transaction.create_relationship(NewRelationship::new("knows", ids[0].clone(), ids[2].clone()))?;
    /// # transaction.create_relationship(NewRelationship::new("knows", ids[1].clone(), ids[2].clone()))?;
    /// # transaction.commit()?;
    /// let snapshot = repository.snapshot();
    /// let people: Vec<_> = snapshot.entities(&ids)?.into_iter().flatten().collect();
    /// let mut known = Vec::new();
    /// snapshot.each_neighbor(&people, &[Direction::Out, Direction::In], Some("knows"), |from, direction, neighbor| {
    ///     known.push((from, direction, neighbor.entity.id().clone()));
    ///     Ok(())
    /// })?;
    /// let [a, b, c] = ids.try_into().unwrap();
    /// assert_eq!(known, [
    ///     (0, Direction::Out, c.clone()), (1, Direction::Out, c), (2, Direction::In, a), (2, Direction::In, b),
    /// ]);
    /// # Ok::<(), annals::Error>(())
    /// ```
    ///
    /// Shape: the index of the entity in `from`, the direction, and the neighbour; entity by entity, direction by
    /// direction, as [`Snapshot::neighbors`] returns them. A relationship from an entity to itself comes once for each
    /// direction. An entity that is repeated in `from` counts where it comes first.
    /// Errors: those of `take`, and of reading history.
    pub fn each_neighbor<'s>(
        &'s self,
        from: &[Entity<'s>],
        directions: &[Direction],
        type_name: Option<&str>,
        mut take: impl FnMut(usize, Direction, Neighbor<'s>) -> Result<()>,
    ) -> Result<()> {
        let mut indexes: HashMap<u32, usize, foldhash::fast::RandomState> = HashMap::default();
        let mut frontier = Vec::with_capacity(from.len());
        for (index, entity) in from.iter().enumerate() {
            indexes.entry(entity.slot()).or_insert_with(|| {
                frontier.push(entity.slot());
                index
            });
        }
        let expand = Expand::new(self, self.relationship_types(type_name));
        expand.each(
            &frontier,
            |slot| *slot,
            directions,
            |slot, direction, link| take(indexes[&slot], direction, self.neighbor_at(link)?),
        )
    }

    #[inline]
    fn neighbor_at(&self, link: Link) -> Result<Neighbor<'_>> {
        let relationship = self.fetch(TypeKind::Relationship, link.relationship)?;
        let entity = self.fetch(TypeKind::Entity, link.other)?;
        Ok(Neighbor {
            relationship: Relationship::new(self, link.relationship, relationship),
            entity: Entity::new(self, link.other, entity),
        })
    }

    /// Calls `take` with one property of each entity one step away from any of several, in the order of
    /// [`Snapshot::expand`]. It makes no handles, so it is cheaper for sums and comparisons.
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
        let (table, name) = (&self.graph().entities, name.symbol());
        let column = table.column(name);
        let expand = Expand::new(self, self.relationship_types(type_name));
        expand.each(from, Entity::slot, &[direction], |_, _, link| {
            let value = match self.fetch(TypeKind::Entity, link.other)? {
                Held::InForce => table.value_beside(column, link.other, name),
                Held::Read(version) => version.row().property(name),
            };
            take(value.as_ref());
            Ok(())
        })
    }

    fn link_of(&self, slot: u32, direction: Direction, relationship: &Id) -> Result<Link> {
        let (own, other) = if direction == Direction::Out { (0, 1) } else { (1, 0) };
        let relationships = &self.graph().relationships;
        let found = self.slot_of(TypeKind::Relationship, relationship);
        match found.and_then(|found| Some((found, relationships.row(found)?))) {
            Some((found, row)) => {
                let shape = self.shape_seen(TypeKind::Relationship, found);
                let (ends, type_name) =
                    shape.map_or((row.ends(), row.type_name()), |shape| (shape.ends, shape.type_name));
                if ends[own] != slot {
                    return Err(not_its(relationship));
                }
                Ok(Link { type_name, relationship: found, other: ends[other] })
            }
            None => Err(not_its(relationship)),
        }
    }
}

impl<'s> Entity<'s> {
    /// The neighbours of this entity, as [`Snapshot::neighbors`] returns them, without looking the entity up again.
    pub fn neighbors(&self, direction: Direction, type_name: Option<&str>) -> Neighbors<'s> {
        let types = self.snapshot.relationship_types(type_name);
        self.snapshot.neighbors_of(self.slot(), direction, types, None)
    }
}

impl<'s> Neighbors<'s> {
    /// Only the entities at the other ends: cheaper, because relationships are not read.
    pub fn entities(self) -> Entities<'s> {
        Entities { neighbors: self }
    }

    /// The number of remaining ones, without reading them.
    pub(super) fn links_count(self) -> usize {
        self.links.count()
    }
}

impl<'s> Iterator for Entities<'s> {
    type Item = Result<Entity<'s>>;

    #[inline]
    fn next(&mut self) -> Option<Result<Entity<'s>>> {
        let link = self.neighbors.links.next()?;
        Some(self.neighbors.snapshot.fetch_entity(link.other))
    }
}

impl<'s> Iterator for Neighbors<'s> {
    type Item = Result<Neighbor<'s>>;

    #[inline]
    fn next(&mut self) -> Option<Result<Neighbor<'s>>> {
        let link = self.links.next()?;
        Some(self.snapshot.neighbor_at(link))
    }
}

fn not_its(relationship: &Id) -> Error {
    let text =
        format!("after {relationship}: expected a relationship of the entity; start from the first page");
    Error::new(ErrorKind::InvalidArgument, text)
}
