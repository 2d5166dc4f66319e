//! The neighbours of an entity, now or as of an earlier time, page by page.

use super::link_types::LinkTypes;
use std::iter::Peekable;

use super::held::Held;
use super::instance::{Entity, Relationship};
use super::snapshot::Snapshot;
use super::status::Statuses;
use crate::graph::past_link_prefix;
use crate::graph::structures::adjacency::Links;
use crate::graph::structures::link::Link;
use crate::graph::structures::symbols::Symbol;
use crate::graph::structures::wide::link_of_key;
use crate::model::{Direction, Id, TypeKind};
use crate::structures::key_set::Range;
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
    slot: u32,
    direction: Direction,
    links: LinksSeen<'s>,
    // Invariant: `None` asks for live relationships, and for no further types. In a box, because few ask for more, and
    // iterators are moved about.
    more: Option<Box<More>>,
}

/// What else is asked for.
struct More {
    // Types still to come, last first; empty when all types are walked at once.
    types: Vec<Symbol>,
    after: Option<Link>,
    statuses: Statuses,
}

/// Iterates over the entities at the other ends. Made by [`Neighbors::entities`].
pub struct Entities<'s> {
    neighbors: Neighbors<'s>,
}

/// The links that a snapshot may see, in order.
enum LinksSeen<'s> {
    /// At present the current ones, which it sees all.
    Current(Links<'s>),
    /// The same, if no handle needs anything from a file.
    Plain(Links<'s>),
    /// As of an earlier time some of them.
    Some(Links<'s>),
    /// And past ones too.
    Merged(Box<Merged<'s>>),
}

struct Merged<'s> {
    current: Peekable<Links<'s>>,
    past: Peekable<Range<'s>>,
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
    #[inline(always)] // For the sake of `neighbors_now`.
    pub fn neighbors(&self, id: &Id, direction: Direction, type_name: Option<&str>) -> Result<Neighbors<'_>> {
        let slot = self.live_slot(id)?;
        match self.stretch_now(type_name) {
            Some(type_name) => Ok(self.neighbors_now(slot, direction, type_name)),
            None => Ok(self.neighbors_at(slot, direction, self.known_relationship_types(type_name)?, None)),
        }
    }

    /// The same, starting behind the relationship `after`: pages of any depth cost what the first one does.
    ///
    /// Errors: `InvalidArgument` if `after` is not a relationship of the entity.
    pub fn neighbors_after(
        &self,
        id: &Id,
        direction: Direction,
        type_name: Option<&str>,
        after: Option<&Id>,
    ) -> Result<Neighbors<'_>> {
        let slot = self.live_slot(id)?;
        let after = after.map(|after| self.link_of(slot, direction, after)).transpose()?;
        Ok(self.neighbors_at(slot, direction, self.known_relationship_types(type_name)?, after))
    }

    #[inline]
    pub(crate) fn neighbors_at(
        &self,
        slot: u32,
        direction: Direction,
        types: LinkTypes,
        after: Option<Link>,
    ) -> Neighbors<'_> {
        self.neighbors_with(slot, direction, types, after, &Statuses::Live)
    }

    /// The same, over relationships with these statuses; whether the ends have one of them is for the caller to see.
    #[inline(never)] // What is asked for most is `neighbors_now`.
    pub(crate) fn neighbors_with(
        &self,
        slot: u32,
        direction: Direction,
        types: LinkTypes,
        after: Option<Link>,
        statuses: &Statuses,
    ) -> Neighbors<'_> {
        let seen = |type_name| LinksSeen::new(self, slot, direction, type_name, after, statuses);
        let (links, types) = match types {
            LinkTypes::All => (seen(None), Vec::new()),
            LinkTypes::One(name) => (seen(Some(name)), Vec::new()),
            LinkTypes::Several(mut types) => {
                types.retain(|name| after.is_none_or(|after| *name >= after.type_name));
                types.reverse();
                (types.pop().map_or_else(LinksSeen::none, |first| seen(Some(first))), types)
            }
        };
        let has_more = !types.is_empty() || !statuses.is_live();
        let more = has_more.then(|| Box::new(More { types, after, statuses: statuses.clone() }));
        Neighbors { snapshot: self, slot, direction, links, more }
    }

    /// The same at present, over live relationships of one type or of all. Inlined, so that it is written where it is
    /// needed: what is written in parts and moved as a whole, the processor waits for.
    #[inline(always)]
    fn neighbors_now(&self, slot: u32, direction: Direction, type_name: Option<Symbol>) -> Neighbors<'_> {
        let links = LinksSeen::now(self, self.graph().neighbors(slot, direction).iter(type_name));
        Neighbors { snapshot: self, slot, direction, links, more: None }
    }

    /// Which type, or all, [`Snapshot::neighbors_now`] is to take; `None` if it cannot find these relationships.
    #[inline(always)]
    fn stretch_now(&self, type_name: Option<&str>) -> Option<Option<Symbol>> {
        if self.view().is_some() {
            return None;
        }
        type_name.map_or(Some(None), |name| self.type_without_subtypes(name).map(Some))
    }

    // Not inlined, so that what asks is: it takes and gives registers.
    #[inline(never)]
    fn type_without_subtypes(&self, name: &str) -> Option<Symbol> {
        let graph = self.graph();
        if !graph.types.is_empty() {
            return None;
        }
        graph.names.find(name).filter(|name| graph.is_type_known(TypeKind::Relationship, *name))
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

impl<'s> LinksSeen<'s> {
    // Live links, at present.
    #[inline(always)]
    fn now(snapshot: &Snapshot, links: Links<'s>) -> LinksSeen<'s> {
        if snapshot.graph().is_spilled() { LinksSeen::Current(links) } else { LinksSeen::Plain(links) }
    }

    fn none() -> LinksSeen<'s> {
        LinksSeen::Current(Links::none())
    }

    #[inline]
    fn new(
        snapshot: &'s Snapshot,
        slot: u32,
        direction: Direction,
        type_name: Option<Symbol>,
        after: Option<Link>,
        statuses: &Statuses,
    ) -> LinksSeen<'s> {
        let current = snapshot.graph().neighbors(slot, direction).iter_after(type_name, after);
        if snapshot.view().is_none() && statuses.is_live() {
            return LinksSeen::now(snapshot, current);
        }
        if snapshot.graph().past_links.is_empty() {
            return LinksSeen::Some(current);
        }
        let mut prefix = past_link_prefix(slot, direction).to_vec();
        prefix.extend(type_name.into_iter().flat_map(|name| name.0.to_be_bytes()));
        let mut past = snapshot.graph().past_links.prefix(&prefix).peekable();
        while past.next_if(|key| after.is_some_and(|after| link_of_key(key) <= after)).is_some() {}
        if past.peek().is_none() {
            return LinksSeen::Some(current);
        }
        LinksSeen::Merged(Box::new(Merged { current: current.peekable(), past }))
    }
}

impl Iterator for LinksSeen<'_> {
    type Item = Link;

    #[inline]
    fn next(&mut self) -> Option<Link> {
        match self {
            LinksSeen::Current(links) | LinksSeen::Plain(links) | LinksSeen::Some(links) => links.next(),
            LinksSeen::Merged(merged) => merged.next(),
        }
    }
}

impl Iterator for Merged<'_> {
    type Item = Link;

    fn next(&mut self) -> Option<Link> {
        match (self.current.peek(), self.past.peek().map(|key| link_of_key(key))) {
            (Some(current), Some(link)) if link < *current => {
                self.past.next();
                Some(link)
            }
            (None, Some(link)) => {
                self.past.next();
                Some(link)
            }
            _ => self.current.next(),
        }
    }
}

impl<'s> Entity<'s> {
    /// The neighbours of this entity, as [`Snapshot::neighbors`] has them, without looking the entity up again.
    pub fn neighbors(&self, direction: Direction, type_name: Option<&str>) -> Neighbors<'s> {
        let (snapshot, slot) = (self.snapshot, self.slot());
        match snapshot.stretch_now(type_name) {
            Some(type_name) => snapshot.neighbors_now(slot, direction, type_name),
            None => snapshot.neighbors_at(slot, direction, snapshot.relationship_types(type_name), None),
        }
    }
}

impl<'s> Neighbors<'s> {
    /// Only the entities at the other ends: cheaper, because the relationships are not looked at.
    pub fn entities(self) -> Entities<'s> {
        Entities { neighbors: self }
    }

    /// The next link that the snapshot sees, without looking at the entity behind it.
    #[inline]
    pub(crate) fn next_link(&mut self) -> Option<Link> {
        loop {
            let link = self.next_unseen()?;
            let is_seen = match &self.links {
                LinksSeen::Current(_) | LinksSeen::Plain(_) => true,
                LinksSeen::Some(_) | LinksSeen::Merged(_) => {
                    let (kind, slot) = (TypeKind::Relationship, link.relationship);
                    let statuses = self.more.as_ref().map_or(&Statuses::Live, |more| &more.statuses);
                    self.snapshot.sees_status(kind, slot, statuses)
                        && self.snapshot.has_link(self.slot, self.direction, link)
                }
            };
            if is_seen {
                return Some(link);
            }
        }
    }

    /// The next link, of which nobody has looked whether the snapshot sees it.
    #[inline]
    pub(super) fn next_unseen(&mut self) -> Option<Link> {
        loop {
            if let Some(link) = self.links.next() {
                return Some(link);
            }
            let More { types, after, statuses } = &mut **self.more.as_mut()?;
            let name = types.pop()?;
            self.links =
                LinksSeen::new(self.snapshot, self.slot, self.direction, Some(name), *after, statuses);
        }
    }
}

impl Snapshot {
    /// The entity that a link which this snapshot sees leads to.
    #[inline]
    pub(super) fn end_of(&self, link: Link) -> Result<Entity<'_>> {
        // Live links lead to live entities.
        if self.view().is_none() {
            let held = self.in_force(TypeKind::Entity, link.other)?;
            return Ok(Entity::new(self, link.other, held));
        }
        self.entity_at(link.other)?.ok_or_else(|| dangling(link))
    }
}

impl<'s> Iterator for Entities<'s> {
    type Item = Result<Entity<'s>>;

    #[inline]
    fn next(&mut self) -> Option<Result<Entity<'s>>> {
        let link = self.neighbors.next_link()?;
        Some(self.neighbors.snapshot.end_of(link))
    }
}

impl<'s> Iterator for Neighbors<'s> {
    type Item = Result<Neighbor<'s>>;

    // One place makes the handles of what is in memory, and it is inlined; the others come in a box, so that the result may
    // stay in registers: what is written in parts and moved as a whole is waited for.
    #[inline]
    fn next(&mut self) -> Option<Result<Neighbor<'s>>> {
        if let LinksSeen::Plain(links) = &mut self.links {
            if let Some(link) = links.next_untyped() {
                // Live links are live relationships and lead to live entities.
                let relationship = Relationship::new(self.snapshot, link.relationship, Held::InForce);
                let entity = Entity::new(self.snapshot, link.other, Held::InForce);
                return Some(Ok(Neighbor { relationship, entity }));
            }
            self.more.as_ref()?;
        }
        self.next_read().map(|neighbor| *neighbor)
    }
}

impl<'s> Neighbors<'s> {
    #[inline(never)]
    fn next_read(&mut self) -> Option<Box<Result<Neighbor<'s>>>> {
        let link = self.next_link()?;
        let snapshot = self.snapshot;
        if snapshot.view().is_none() {
            let relationship = snapshot.in_force(TypeKind::Relationship, link.relationship);
            let neighbor = relationship.and_then(|held| {
                let relationship = Relationship::new(snapshot, link.relationship, held);
                Ok(Neighbor { relationship, entity: snapshot.end_of(link)? })
            });
            return Some(Box::new(neighbor));
        }
        let neighbor = snapshot.relationship_at(link.relationship).and_then(|relationship| {
            let entity = snapshot.entity_at(link.other)?;
            relationship.zip(entity).ok_or_else(|| dangling(link))
        });
        Some(Box::new(neighbor.map(|(relationship, entity)| Neighbor { relationship, entity })))
    }
}

fn dangling(link: Link) -> Error {
    Error::new(
        ErrorKind::Corrupted,
        format!("link {link:?}: expected a live relationship and end; run `annals check`"),
    )
}

fn not_its(relationship: &Id) -> Error {
    let text =
        format!("after {relationship}: expected a relationship of the entity; start from the first page");
    Error::new(ErrorKind::InvalidArgument, text)
}
