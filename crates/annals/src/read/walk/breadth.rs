//! The breadth-first walk of neighbourhoods and reach, a few entities at a time.

use super::element::{Crossed, Element, Reached, Subgraph};
use super::reach::Reach;
use super::steps::{Steps, Turn};
use super::visited::Visited;
use super::walked::Breadth;
use crate::model::{Direction, Id};
use crate::read::operators::expand::TOGETHER;
use crate::read::snapshot::Snapshot;
use crate::structures::number::narrow;
use crate::{Error, ErrorKind, Result};

/// Initial capacity for entities and levels: most walks need no more.
const ROOM: usize = 8;

impl Breadth {
    pub(super) fn new(steps: &Steps, start: u32, reach: &Reach) -> Result<Breadth> {
        let slots_count = steps.slots_count();
        let (mut order, mut levels) = (Vec::with_capacity(ROOM), Vec::with_capacity(ROOM));
        order.push(start);
        levels.extend([0, 1]);
        let mut breadth = Breadth {
            visited: Visited::new(slots_count),
            refused: Visited::new(slots_count),
            expanded: Visited::new(slots_count),
            order,
            proxies: Vec::from_iter(steps.is_proxy(start).then_some(0)),
            next: 0,
            levels,
            relationships_count: 0,
            depth_max: reach.depth_max.unwrap_or(usize::MAX),
            visited_max: reach.visited_max,
        };
        breadth.visited.insert(start);
        breadth.check(1, "entities")?;
        Ok(breadth)
    }

    /// Expands a few more entities, and adds their relationships to `relationships` if they are wanted.
    ///
    /// Errors: `TooLarge` beyond the bound on visited entities; `Cancelled`; those of reading history. After an error
    /// the walk cannot continue.
    pub(super) fn advance(&mut self, steps: &Steps, mut relationships: Option<&mut Vec<u32>>) -> Result<()> {
        if self.is_done() {
            return Ok(());
        }
        let level_end = self.levels[self.levels.len() - 1];
        let (first, end) = (self.next, level_end.min(self.next + TOGETHER));
        let mut slots = [0; TOGETHER];
        slots[..end - first].copy_from_slice(&self.order[first..end]);
        let may_enter_all = steps.may_enter_all();
        steps.each(Turn::Onward, &slots[..end - first], |from, direction, link| {
            if self.visited.insert(link.other) {
                if may_enter_all || steps.may_enter(link.other)? {
                    if steps.is_proxy(link.other) {
                        self.proxies.push(self.order.len());
                    }
                    self.order.push(link.other);
                    self.check(self.order.len(), "entities")?;
                } else {
                    self.refused.insert(link.other);
                }
            }
            let Some(relationships) = relationships.as_deref_mut() else { return Ok(()) };
            if !may_enter_all && self.refused.contains(link.other) {
                return Ok(());
            }
            if steps.is_both_ways(link) {
                // Each relationship comes twice: from each end, and a loop in each direction.
                self.expanded.insert(from);
                let is_again = if link.other == from {
                    direction != Direction::Out
                } else {
                    self.expanded.contains(link.other)
                };
                if is_again {
                    return Ok(());
                }
            }
            relationships.push(link.relationship);
            self.relationships_count += 1;
            self.check(self.relationships_count, "relationships")
        })?;
        self.next = end;
        if end == level_end {
            self.levels.push(self.order.len());
        }
        Ok(())
    }

    #[inline]
    fn check(&self, count: usize, what: &str) -> Result<()> {
        if count <= self.visited_max { Ok(()) } else { Err(self.too_large(what)) }
    }

    #[cold]
    fn too_large(&self, what: &str) -> Error {
        Error::new(
            ErrorKind::TooLarge,
            format!(
                "walk: expected to visit at most {} {what} (visited_max); narrow types or depth, or raise the bound",
                self.visited_max
            ),
        )
    }
}

/// A walk that proceeds on demand: first the start, then the entities one step away, and so on.
///
/// It stores the visited entities, so a thousand more elements cost only their own work. After an error it ends.
pub struct Walk<'s> {
    steps: Steps<'s>,
    breadth: Breadth,
    depth_min: usize,
    // Number of returned entities, as an index in the order of the walk.
    given: usize,
    // Relationships that are found but not returned, last first; `None` if none are wanted.
    relationships: Option<Vec<u32>>,
    is_broken: bool,
}

impl<'s> Walk<'s> {
    /// The same, but only entities: cheaper.
    pub fn entities(self) -> impl Iterator<Item = Result<Reached<'s>>> + use<'s> {
        Walk { relationships: None, ..self }.filter_map(|element| match element {
            Ok(Element::Entity(reached)) => Some(Ok(reached)),
            Ok(Element::Relationship(_)) => None,
            Err(error) => Some(Err(error)),
        })
    }

    fn pending(&mut self) -> Option<Element<'s>> {
        let snapshot = self.steps.snapshot;
        while self.given < self.breadth.order.len() {
            let (slot, distance) = (self.breadth.order[self.given], self.breadth.distance(self.given));
            self.given += 1;
            if self.breadth.is_listed(self.given - 1) {
                return Some(Element::Entity(Reached { snapshot, slot, distance }));
            }
        }
        let slot = self.relationships.as_mut()?.pop()?;
        Some(Element::Relationship(Crossed { snapshot, slot }))
    }
}

impl<'s> Iterator for Walk<'s> {
    type Item = Result<Element<'s>>;

    fn next(&mut self) -> Option<Result<Element<'s>>> {
        loop {
            match self.pending() {
                Some(Element::Entity(reached)) if reached.distance < self.depth_min => {}
                Some(element) => return Some(Ok(element)),
                None if self.is_broken || self.breadth.is_done() => return None,
                None => {
                    let advanced = self.breadth.advance(&self.steps, self.relationships.as_mut());
                    if let Some(relationships) = &mut self.relationships {
                        relationships.reverse();
                    }
                    if let Err(error) = advanced {
                        self.is_broken = true;
                        (self.given, self.relationships) = (self.breadth.order.len(), None);
                        return Some(Err(error));
                    }
                }
            }
        }
    }
}

impl Snapshot {
    /// Walks from an entity, breadth first, and returns every entity and every relationship once, on demand. Entities
    /// come before the relationships that lead to them.
    ///
    /// The result is that of [`Snapshot::neighborhood`], with entities from `reach.depth_min` on.
    ///
    /// ```
    /// use annals::{Element, NewEntity, NewRelationship, Reach, Repository};
    /// let repository = Repository::in_memory();
    /// let (hub, _) = repository.transact(|t| {
    ///     let hub = t.create_entity(NewEntity::new("hub"))?;
    ///     for _ in 0..10 {
    ///         let leaf = t.create_entity(NewEntity::new("leaf"))?;
    ///         t.create_relationship(NewRelationship::new("link", hub.clone(), leaf))?;
    ///     }
    ///     Ok(hub)
    /// })?;
    /// let snapshot = repository.snapshot();
    /// let mut walk = snapshot.walk(&hub, &Reach::both())?;
    /// let Some(Ok(Element::Entity(start))) = walk.next() else { panic!("it starts with the hub") };
    /// assert_eq!((start.id(), start.distance), (&hub, 0));
    /// assert_eq!(walk.entities().take(5).count(), 5); // The rest is not walked.
    /// # Ok::<(), annals::Error>(())
    /// ```
    ///
    /// Errors: `NotFound` for an unknown start, type or classification; each item may be `TooLarge` beyond
    /// `reach.visited_max`, `Cancelled`, or an error of reading history.
    pub fn walk(&self, start: &Id, reach: &Reach) -> Result<Walk<'_>> {
        let steps = Steps::new(self, reach)?;
        let breadth = Breadth::new(&steps, steps.slot(start)?, reach)?;
        let (depth_min, relationships) = (reach.depth_min, Some(Vec::new()));
        Ok(Walk { steps, breadth, depth_min, given: 0, relationships, is_broken: false })
    }

    /// The neighbourhood of an entity: the start, every entity within a walk of at most `reach.depth_max` steps, and
    /// every relationship on such a walk, each once.
    ///
    /// An entity that the walk may not enter is not listed, nor are relationships to it, and the walk does not pass through
    /// it. A relationship between two entities that are both at the greatest depth is one step too far, and not listed.
    /// The start is always listed, unless `reach.depth_min` leaves it out.
    ///
    /// ```
    /// use annals::{NewEntity, NewRelationship, Reach, Repository};
    /// let repository = Repository::in_memory();
    /// let (ada, _) = repository.transact(|t| {
    ///     let ada = t.create_entity(NewEntity::new("person"))?;
    ///     let charles = t.create_entity(NewEntity::new("person"))?;
    ///     let engine = t.create_entity(NewEntity::new("machine"))?;
    ///     t.create_relationship(NewRelationship::new("knows", ada.clone(), charles.clone()))?;
    ///     t.create_relationship(NewRelationship::new("built", charles, engine))?;
    ///     Ok(ada)
    /// })?;
    /// let snapshot = repository.snapshot();
    /// let near = snapshot.neighborhood(&ada, &Reach::both().depth_max(2))?;
    /// assert_eq!((near.entities().len(), near.relationships().len()), (3, 2));
    /// let people = snapshot.neighborhood(&ada, &Reach::both().depth_max(2).through(["person"]))?;
    /// assert_eq!((people.entities().len(), people.relationships().len()), (2, 1));
    /// # Ok::<(), annals::Error>(())
    /// ```
    ///
    /// Errors: `NotFound` for an unknown start, type or classification; `TooLarge` beyond `reach.visited_max` entities
    /// or as many relationships; `Cancelled`; those of reading history.
    pub fn neighborhood(&self, start: &Id, reach: &Reach) -> Result<Subgraph<'_>> {
        let steps = Steps::new(self, reach)?;
        let mut breadth = Breadth::new(&steps, steps.slot(start)?, reach)?;
        let mut relationships = Vec::new();
        while !breadth.is_done() {
            breadth.advance(&steps, Some(&mut relationships))?;
        }
        Ok(Subgraph { snapshot: self, entities: breadth.listed(reach.depth_min), relationships })
    }

    /// Every entity within reach of `start`, each once, nearest first, with its distance; without `start` itself.
    ///
    /// With [`Reach::incoming`] these are all entities from which a path leads to `start`; with [`Reach::depth`] those
    /// exactly that far away.
    ///
    /// Units: distance counts steps.
    /// Errors: as [`Snapshot::neighborhood`].
    pub fn reachable(&self, start: &Id, reach: &Reach) -> Result<Vec<Reached<'_>>> {
        let steps = Steps::new(self, reach)?;
        let mut breadth = Breadth::new(&steps, steps.slot(start)?, reach)?;
        while !breadth.is_done() {
            breadth.advance(&steps, None)?;
        }
        let reached = breadth.listed(reach.depth_min.max(1)).into_iter();
        let handle = |(slot, distance)| Reached { snapshot: self, slot, distance: distance as usize };
        Ok(reached.map(handle).collect())
    }
}

impl Breadth {
    /// Shape: slot and distance of each entity at least this far away, nearest first.
    pub(super) fn listed(&self, depth_min: usize) -> Vec<(u32, u32)> {
        let mut listed = Vec::with_capacity(self.order.len().saturating_sub(self.first_at(depth_min)));
        for (distance, first) in self.levels.iter().enumerate().skip(depth_min) {
            let end = self.levels.get(distance + 1).copied().unwrap_or(self.order.len());
            let places = (*first..end).filter(|at| self.is_listed(*at));
            listed.extend(places.map(|at| (self.order[at], narrow(distance))));
        }
        listed
    }

    /// False if the entity at an index in `order` is a proxy.
    fn is_listed(&self, at: usize) -> bool {
        self.proxies.is_empty() || self.proxies.binary_search(&at).is_err()
    }

    /// The number of listed entities at least this far away, as far as the walk has come.
    pub(super) fn listed_count(&self, depth_min: usize) -> usize {
        let first = self.first_at(depth_min);
        self.order.len() - first - self.proxies_from(first).len()
    }

    /// The index in `order` of one of them, counted from 0.
    pub(super) fn listed_place(&self, depth_min: usize, number: usize) -> usize {
        let first = self.first_at(depth_min);
        let proxies = self.proxies_from(first);
        // The listed entities before a proxy are the indexes before it, without the earlier proxies.
        let (mut before, mut end) = (0, proxies.len());
        while before < end {
            let middle = usize::midpoint(before, end);
            if proxies[middle] - first - middle <= number { before = middle + 1 } else { end = middle }
        }
        first + number + before
    }

    fn proxies_from(&self, first: usize) -> &[usize] {
        &self.proxies[self.proxies.partition_point(|at| *at < first)..]
    }
}
