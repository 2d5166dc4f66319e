//! The relationships of one entity: of some types, in one direction or both, in any order, page by page.

use std::iter::Peekable;

use super::cursor;
use super::instance::Relationship;
use super::operators::expand::{Expand, SeenLinks};
use super::operators::page::{Filling, Page, Size};
use super::operators::sort::{Firsts, Placed, Sorting};
use super::snapshot::Snapshot;
use super::walk::VISITED_MAX;
use crate::graph::structures::link::Link;
use crate::graph::structures::symbols::Symbol;
use crate::model::{Direction, Id, TypeKind};
use crate::read::operators::filter::properties::check_order;
use crate::read::operators::filter::status::Statuses;
use crate::read::operators::link_types::LinkTypes;
use crate::search::OrderBy;
use crate::search::PAGE_BYTES_MAX;
use crate::structures::number::bytes_at;
use crate::{Error, ErrorKind, Result};

/// Most relationships on one page.
const LIMIT_MAX: usize = 100_000;
/// Number of relationships between two checks for cancellation.
const LINKS_UNCHECKED: usize = 1_024;
/// Distinguishes cursors of the order by type and age from those of other orders.
const BY_AGE: u32 = 31;

/// The relationships of an entity to list, and their order.
///
/// ```
/// use annals::{NewEntity, NewRelationship, OrderBy, RelationshipsOf, Repository};
/// let repository = Repository::in_memory();
/// let (ada, _) = repository.transact(|t| {
///     let ada = t.create_entity(NewEntity::new("person"))?;
///     for year in [1833, 1815, 1843] {
///         let event = t.create_entity(NewEntity::new("event"))?;
///         t.create_relationship(NewRelationship::new("took-part", ada.clone(), event).property("year", year))?;
///     }
///     t.create_relationship(NewRelationship::new("knows", ada.clone(), ada.clone()))?;
///     Ok(ada)
/// })?;
/// let snapshot = repository.snapshot();
/// let mut of_ada = RelationshipsOf::both().of_types(["took-part"]);
/// of_ada.order = vec![OrderBy::ascending("year")];
/// of_ada.limit = 2;
/// let page = snapshot.relationships_of(&ada, &of_ada)?;
/// let years: Vec<_> = page.items.iter().map(|one| one.property("year").unwrap()).collect();
/// assert_eq!(years, [1815.into(), 1833.into()]);
/// of_ada.after = page.next;
/// assert_eq!(snapshot.relationships_of(&ada, &of_ada)?.items.len(), 1);
/// assert_eq!(snapshot.relationships_of_count(&ada, &RelationshipsOf::both())?, 4); // The loop counts once.
/// # Ok::<(), annals::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct RelationshipsOf {
    /// Those that start at the entity, those that end at it, or both; a loop comes once.
    pub directions: Vec<Direction>,
    /// Names of relationship types (with subtypes); empty means all.
    pub types: Vec<String>,
    /// Statuses; empty means all but `deleted`.
    pub statuses: Vec<String>,
    /// The order, as in a search, the most important key first. If empty, by type and then by age; then pages at any
    /// depth cost as much as the first one. Any other order reads all relationships of the entity for every page.
    pub order: Vec<OrderBy>,
    /// Only relationships after the page that ended with this cursor.
    pub after: Option<String>,
    /// How many to skip, counted from the cursor if there is one. Units: relationships.
    pub skip: usize,
    /// Page size. Units: relationships.
    pub limit: usize,
    /// Ends the page early, as in a search. Units: bytes, as stored.
    pub bytes_max: usize,
    /// Most relationships to read for a page in another order; one more is an error.
    pub visited_max: usize,
}

impl RelationshipsOf {
    /// All relationships of the entity.
    pub fn both() -> RelationshipsOf {
        RelationshipsOf {
            directions: vec![Direction::Out, Direction::In],
            types: Vec::new(),
            statuses: Vec::new(),
            order: Vec::new(),
            after: None,
            skip: 0,
            limit: 100,
            bytes_max: PAGE_BYTES_MAX,
            visited_max: VISITED_MAX,
        }
    }

    /// Those that start at the entity.
    pub fn out() -> RelationshipsOf {
        RelationshipsOf { directions: vec![Direction::Out], ..RelationshipsOf::both() }
    }

    /// Those that end at the entity.
    pub fn incoming() -> RelationshipsOf {
        RelationshipsOf { directions: vec![Direction::In], ..RelationshipsOf::both() }
    }

    /// The same, only of these types and their subtypes.
    #[must_use]
    pub fn of_types<'n>(mut self, types: impl IntoIterator<Item = &'n str>) -> RelationshipsOf {
        self.types = types.into_iter().map(str::to_owned).collect();
        self
    }

    /// The bounds of a page, after the skipped ones.
    fn size(&self) -> Size {
        Size { offset: 0, limit: self.limit, bytes_max: self.bytes_max }
    }

    fn check(&self) -> Result<()> {
        if self.directions.is_empty() {
            return Err(invalid("directions: expected out, in or both, found none".into()));
        }
        if self.limit == 0 || self.limit > LIMIT_MAX {
            let text = format!("limit: expected 1 to {LIMIT_MAX}, found {}", self.limit);
            return Err(Error::new(ErrorKind::InvalidPage, text));
        }
        Ok(())
    }
}

/// The links of an entity in one direction or both, each once, in one order.
struct LinksOf<'s> {
    snapshot: &'s Snapshot,
    sides: Vec<Peekable<SeenLinks<'s>>>,
    unchecked: usize,
}

impl LinksOf<'_> {
    fn next(&mut self) -> Result<Option<Link>> {
        self.unchecked += 1;
        if self.unchecked.is_multiple_of(LINKS_UNCHECKED) {
            self.snapshot.check_cancelled()?;
        }
        let key = |link: &Link| (link.type_name, link.relationship);
        let first = self.sides.iter_mut().filter_map(|side| side.peek().map(key)).min();
        let mut found = None;
        // A loop is the next link of both sides at once.
        for side in &mut self.sides {
            found = side.next_if(|link| Some(key(link)) == first).or(found);
        }
        Ok(found)
    }
}

impl Snapshot {
    /// One page of the relationships of an entity.
    ///
    /// Errors: `NotFound` for an unknown entity or type; `InvalidPage` for a foreign cursor, a limit of 0 or over
    /// 100,000; `InvalidArgument` for an unknown status; `TooLarge` for more than `visited_max` relationships to sort;
    /// `Cancelled`; those of reading history.
    pub fn relationships_of(&self, id: &Id, of: &RelationshipsOf) -> Result<Page<Relationship<'_>>> {
        of.check()?;
        match self.sorting(&of.order)? {
            None => self.relationships_by_age(id, of),
            Some(sorting) => {
                let types = self.known_types(TypeKind::Relationship, &of.types)?;
                check_order(self, TypeKind::Relationship, types.as_deref(), &of.order)?;
                self.relationships_sorted(id, of, &sorting)
            }
        }
    }

    /// The number of relationships of the entity, on all pages.
    ///
    /// Units: relationships. In the present, for all types or one, in one direction, it is one look-up; otherwise each
    /// is counted.
    /// Errors: as [`Snapshot::relationships_of`].
    pub fn relationships_of_count(&self, id: &Id, of: &RelationshipsOf) -> Result<usize> {
        of.check()?;
        let (slot, types, statuses) = self.resolve(id, of)?;
        if self.is_plain() && statuses.is_live() && of.directions.len() == 1 {
            return Ok(types.degree(self.graph().neighbors(slot, of.directions[0])));
        }
        let mut links = self.links_of(slot, of, types, &statuses, None);
        let mut count = 0;
        while links.next()?.is_some() {
            count += 1;
        }
        Ok(count)
    }

    fn resolve(&self, id: &Id, of: &RelationshipsOf) -> Result<(u32, LinkTypes, Statuses)> {
        let statuses = Statuses::new(self, &of.statuses)?;
        let slot = self.slot_of(TypeKind::Entity, id);
        let slot = match slot.filter(|slot| self.sees_status(TypeKind::Entity, *slot, &statuses)) {
            Some(slot) => slot,
            None => self.live_slot(id)?,
        };
        let types = LinkTypes::of(self.known_types(TypeKind::Relationship, &of.types)?);
        Ok((slot, types, statuses))
    }

    fn links_of(
        &self,
        slot: u32,
        of: &RelationshipsOf,
        types: LinkTypes,
        statuses: &Statuses,
        after: Option<Link>,
    ) -> LinksOf<'_> {
        let both = [Direction::Out, Direction::In].into_iter();
        let directions = both.filter(|direction| of.directions.contains(direction));
        let expand = Expand::with_statuses(self, types, statuses.clone());
        let side = |direction| expand.links(slot, direction, after).peekable();
        LinksOf { snapshot: self, sides: directions.map(side).collect(), unchecked: 0 }
    }

    fn relationships_by_age(&self, id: &Id, of: &RelationshipsOf) -> Result<Page<Relationship<'_>>> {
        let (slot, types, statuses) = self.resolve(id, of)?;
        let after = of.after.as_deref().map(|text| {
            let key = cursor::decode(self.graph(), BY_AGE, text)?;
            let words: [u8; 8] = key.try_into().map_err(|_| cursor::foreign(text))?;
            let word = |at: usize| u32::from_be_bytes(bytes_at(&words, at));
            // With any other end, this is after the relationship and before the next one.
            Ok::<_, Error>(Link { type_name: Symbol(word(0)), relationship: word(4), other: u32::MAX })
        });
        let mut links = self.links_of(slot, of, types, &statuses, after.transpose()?);
        for _ in 0..of.skip {
            if links.next()?.is_none() {
                break;
            }
        }
        let key_of = |link: Link| [link.type_name.0.to_be_bytes(), link.relationship.to_be_bytes()].concat();
        let mut page = Filling::new(self, TypeKind::Relationship, of.size());
        while let Some(link) = links.next()? {
            let held = self.fetch(TypeKind::Relationship, link.relationship)?;
            let make = |slot, held| Relationship::new(self, slot, held);
            if page.add(link.relationship, held, |_| key_of(link), make) {
                break;
            }
        }
        Ok(page.finish().into_page(self, BY_AGE))
    }

    fn relationships_sorted(
        &self,
        id: &Id,
        of: &RelationshipsOf,
        sorting: &Sorting,
    ) -> Result<Page<Relationship<'_>>> {
        let (slot, types, statuses) = self.resolve(id, of)?;
        let after =
            of.after.as_deref().map(|text| cursor::decode(self.graph(), sorting.number, text)).transpose()?;
        let mut links = self.links_of(slot, of, types, &statuses, None);
        let mut firsts = Firsts::new(of.skip.saturating_add(of.limit).saturating_add(1));
        let mut visited = 0;
        while let Some(link) = links.next()? {
            visited += 1;
            if visited > of.visited_max {
                return Err(Error::new(
                    ErrorKind::TooLarge,
                    format!(
                        "relationships of {id}: expected at most {} to put in order (visited_max); narrow the \
                         types, or read them by type and age",
                        of.visited_max
                    ),
                ));
            }
            let key = self.sort_key(TypeKind::Relationship, link.relationship, sorting)?;
            if after.as_ref().is_none_or(|after| key > *after) && firsts.has_room_for(&key) {
                firsts.put(key, link.relationship);
            }
        }
        let mut page = Filling::new(self, TypeKind::Relationship, of.size());
        for Placed { key, item: slot } in firsts.into_sorted().into_iter().skip(of.skip) {
            let held = self.fetch(TypeKind::Relationship, slot)?;
            let make = |slot, held| Relationship::new(self, slot, held);
            if page.add(slot, held, |_| key, make) {
                break;
            }
        }
        Ok(page.finish().into_page(self, sorting.number))
    }
}

fn invalid(text: String) -> Error {
    Error::new(ErrorKind::InvalidArgument, text)
}
