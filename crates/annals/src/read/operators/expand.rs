//! Expand: from entities, along relationships of some types in some directions, to the entities at the other ends.

use std::iter::Peekable;

use smallvec::SmallVec;

use crate::Result;
use crate::graph::past_link_prefix;
use crate::graph::structures::adjacency::Links;
use crate::graph::structures::link::Link;
use crate::graph::structures::symbols::Symbol;
use crate::graph::structures::wide::link_of_key;
use crate::model::{Direction, TypeKind};
use crate::read::operators::filter::status::Statuses;
use crate::read::operators::link_types::LinkTypes;
use crate::read::snapshot::Snapshot;
use crate::structures::key_set::Range;

/// Entities of a frontier whose links are looked up together, before the first of them is followed: so the processor
/// waits for the memory of all of them together.
pub(in crate::read) const TOGETHER: usize = 32;
/// A frontier of this many entities needs no memory: many reads begin at one.
const FEW: usize = 4;
/// Number of links between two checks for cancellation.
const LINKS_UNCHECKED: usize = 4_096;

/// The relationships of a snapshot that a read follows.
pub(in crate::read) struct Expand<'s> {
    snapshot: &'s Snapshot,
    types: LinkTypes,
    /// The types to follow from their ends, if they differ from those to follow from their starts.
    into: Option<LinkTypes>,
    statuses: Statuses,
    /// True if the snapshot sees exactly the current links.
    is_present: bool,
    /// True if it also follows what leads to the containers of grants.
    has_ways: bool,
}

impl<'s> Expand<'s> {
    /// Along live relationships of some types.
    pub(in crate::read) fn new(snapshot: &'s Snapshot, types: LinkTypes) -> Expand<'s> {
        Expand::with_statuses(snapshot, types, Statuses::Live)
    }

    /// Along relationships with these statuses; the caller checks the statuses of the ends.
    pub(in crate::read) fn with_statuses(
        snapshot: &'s Snapshot,
        types: LinkTypes,
        statuses: Statuses,
    ) -> Expand<'s> {
        let is_present = snapshot.view().is_none() && statuses.is_live();
        Expand { snapshot, types, into: None, statuses, is_present, has_ways: false }
    }

    /// The same, but along relationships of these types from their ends; the types from their starts stay.
    pub(in crate::read) fn with_types_into(self, types: LinkTypes) -> Expand<'s> {
        Expand { into: Some(types), ..self }
    }

    /// The same, also along the ways of the sight. Only live relationships.
    pub(in crate::read) fn along_ways(self) -> Expand<'s> {
        Expand { has_ways: self.snapshot.sight().is_some(), ..self }
    }

    #[inline]
    fn types(&self, direction: Direction) -> &LinkTypes {
        match (&self.into, direction) {
            (Some(types), Direction::In) => types,
            _ => &self.types,
        }
    }

    /// The links of one entity in one direction after `after`, by type and then by age.
    #[inline]
    pub(in crate::read) fn links(
        &self,
        slot: u32,
        direction: Direction,
        after: Option<Link>,
    ) -> SeenLinks<'s> {
        // A sight hides links one by one.
        let is_whole = self.snapshot.slots_in_sight(TypeKind::Relationship).is_none();
        match self.present_type(direction).filter(|_| is_whole) {
            None => self.chosen(slot, direction, after),
            Some(type_name) => {
                let neighbors = self.snapshot.graph().neighbors(slot, direction);
                SeenLinks::Present(neighbors.iter_after(type_name, after))
            }
        }
    }

    /// The type of links, or all, if the snapshot sees all current links of it; `None` if links must be checked one by
    /// one.
    #[inline]
    fn present_type(&self, direction: Direction) -> Option<Option<Symbol>> {
        match self.types(direction) {
            LinkTypes::All if self.is_present => Some(None),
            LinkTypes::One(name) if self.is_present => Some(Some(*name)),
            _ => None,
        }
    }

    fn chosen(&self, slot: u32, direction: Direction, after: Option<Link>) -> SeenLinks<'s> {
        let types = match self.types(direction) {
            LinkTypes::All => vec![None],
            LinkTypes::One(name) => vec![Some(*name)],
            LinkTypes::Several(names) => {
                let is_to_come = |name: &&Symbol| after.is_none_or(|after| **name >= after.type_name);
                names.iter().rev().filter(is_to_come).copied().map(Some).collect()
            }
        };
        SeenLinks::Chosen(Box::new(Chosen {
            snapshot: self.snapshot,
            slot,
            direction,
            after,
            types,
            statuses: (!self.is_present).then(|| self.statuses.clone()),
            has_ways: self.has_ways,
            current: Links::none().peekable(),
            past: None,
        }))
    }

    /// Calls `take` with every link of the entities of a frontier, entity by entity, each with its direction. `slot_of`
    /// gives the slot of an entity.
    ///
    /// Errors: `Cancelled`, and those of `take`.
    #[inline]
    pub(in crate::read) fn each<E>(
        &self,
        frontier: &[E],
        slot_of: impl Fn(&E) -> u32,
        directions: &[Direction],
        mut take: impl FnMut(u32, Direction, Link) -> Result<()>,
    ) -> Result<()> {
        let mut count: usize = 0;
        let in_sight = self.snapshot.slots_in_sight(TypeKind::Relationship);
        let mut take = |slot, direction, link: Link| {
            if in_sight.is_some_and(|in_sight| !in_sight.contains(link.relationship)) {
                return Ok(());
            }
            count += 1;
            if count.is_multiple_of(LINKS_UNCHECKED) {
                self.snapshot.check_cancelled()?;
            }
            take(slot, direction, link)
        };
        let present = directions.iter().map(|direction| self.present_type(*direction));
        let present: Option<SmallVec<[Option<Symbol>; 2]>> = present.collect();
        let Some(types) = present else { return self.each_checked(frontier, slot_of, directions, take) };
        let mut found: SmallVec<[_; FEW]> = SmallVec::new();
        for together in frontier.chunks(TOGETHER) {
            self.snapshot.check_cancelled()?;
            found.clear();
            found.reserve(together.len() * directions.len());
            for one in together {
                for direction in directions {
                    let slot = slot_of(one);
                    found.push((slot, *direction, self.snapshot.graph().neighbors(slot, *direction)));
                }
            }
            for ((slot, direction, neighbors), type_name) in found.iter().zip(types.iter().cycle()) {
                neighbors.try_each(*type_name, |link| take(*slot, *direction, link))?;
            }
        }
        Ok(())
    }

    // A function of its own, so that `take` becomes part of the loop over present links.
    fn each_checked<E>(
        &self,
        frontier: &[E],
        slot_of: impl Fn(&E) -> u32,
        directions: &[Direction],
        mut take: impl FnMut(u32, Direction, Link) -> Result<()>,
    ) -> Result<()> {
        for together in frontier.chunks(TOGETHER) {
            self.snapshot.check_cancelled()?;
            for slot in together.iter().map(&slot_of) {
                for direction in directions {
                    let mut links = self.links(slot, *direction, None);
                    links.try_for_each(|link| take(slot, *direction, link))?;
                }
            }
        }
        Ok(())
    }
}

/// The links of one entity in one direction that a snapshot sees. Made by [`Expand::links`].
pub(in crate::read) enum SeenLinks<'s> {
    /// The current ones, of one type or of all: the snapshot sees each of them.
    Present(Links<'s>),
    /// Checked current and past ones, type by type. In a box, because iterators are moved often.
    Chosen(Box<Chosen<'s>>),
}

pub(in crate::read) struct Chosen<'s> {
    snapshot: &'s Snapshot,
    slot: u32,
    direction: Direction,
    after: Option<Link>,
    /// The remaining types, last first; `None` means all types together.
    types: Vec<Option<Symbol>>,
    /// The wanted statuses; `None` if every link is seen.
    statuses: Option<Statuses>,
    has_ways: bool,
    current: Peekable<Links<'s>>,
    past: Option<Peekable<Range<'s>>>,
}

impl Iterator for SeenLinks<'_> {
    type Item = Link;

    #[inline]
    fn next(&mut self) -> Option<Link> {
        match self {
            SeenLinks::Present(links) => links.next(),
            SeenLinks::Chosen(links) => links.next().map(Link::in_registers),
        }
    }
}

impl Chosen<'_> {
    fn next(&mut self) -> Option<Link> {
        loop {
            match self.next_of_type() {
                Some(link) if self.sees(link) => return Some(link),
                Some(_) => {}
                None => {
                    let type_name = self.types.pop()?;
                    self.turn_to(type_name);
                }
            }
        }
    }

    fn turn_to(&mut self, type_name: Option<Symbol>) {
        let graph = self.snapshot.graph();
        self.current =
            graph.neighbors(self.slot, self.direction).iter_after(type_name, self.after).peekable();
        if self.statuses.is_none() || graph.past_links.is_empty() {
            return;
        }
        let mut prefix = past_link_prefix(self.slot, self.direction).to_vec();
        prefix.extend(type_name.into_iter().flat_map(|name| name.0.to_be_bytes()));
        let mut past = graph.past_links.prefix(&prefix).peekable();
        while past.next_if(|key| self.after.is_some_and(|after| link_of_key(*key) <= after)).is_some() {}
        self.past = Some(past);
    }

    /// The next link of the present type, current or past.
    fn next_of_type(&mut self) -> Option<Link> {
        let past = self.past.as_mut().and_then(|past| past.peek().map(|key| link_of_key(*key)));
        match (past, self.current.peek()) {
            (Some(link), current) if current.is_none_or(|current| link < *current) => {
                self.past.as_mut()?.next();
                Some(link)
            }
            _ => self.current.next(),
        }
    }

    fn sees(&self, link: Link) -> bool {
        if self.has_ways {
            return self.snapshot.walks_live(TypeKind::Relationship, link.relationship)
                && self.snapshot.has_link(self.slot, self.direction, link);
        }
        let Some(statuses) = &self.statuses else {
            return self.snapshot.in_sight(TypeKind::Relationship, link.relationship);
        };
        self.snapshot.sees_status(TypeKind::Relationship, link.relationship, statuses)
            && self.snapshot.has_link(self.slot, self.direction, link)
    }
}
