//! The relationships of all entities in one direction: by entity, then by type, then by age.
#![expect(clippy::expect_used, reason = "a page names only wide entities that are there")]

use super::link::{Bounds, Link, Narrow, NarrowTypes};
use std::iter::Zip;
use std::slice;
use std::sync::Arc;

use super::links_page::{PAGE_ENTITIES, empty_page, entry_of, is_sound, set_wide, splice};
use super::symbols::Symbol;
use super::wide::{Wide, WideLinks};
use crate::structures::number;
use crate::structures::vector::Vector;

/// Most links stored within a page; more links go into a tree, so that adding the millionth costs as much as adding the
/// tenth.
const NARROW_LINKS_MAX: usize = 32;

/// A persistent map from entities to their links. The links of 32 entities are side by side in one block, so a walk
/// reads little more memory than with a packed adjacency.
#[derive(Clone)]
pub(crate) struct Adjacency {
    len: usize,
    pages: Vector<Arc<[u32]>>,
    // Links of entities with many, by the number in their page; `None` after they have few again.
    wide: Vector<Option<Arc<Wide>>>,
}

/// The links of one entity.
#[derive(Clone, Copy)]
pub(crate) enum Neighbors<'g> {
    Narrow(Narrow<'g>),
    Wide(&'g Wide),
}

impl Adjacency {
    pub(crate) fn new() -> Adjacency {
        Adjacency { len: 0, pages: Vector::new(), wide: Vector::new() }
    }

    /// The pages for [`Adjacency::from_pages`].
    pub(crate) fn pages(&self) -> impl Iterator<Item = &[u32]> {
        self.pages.iter().map(|page| &**page)
    }

    /// The links that are kept outside of the pages, by number.
    pub(crate) fn wide(&self) -> impl Iterator<Item = Option<Neighbors<'_>>> {
        self.wide.iter().map(|wide| wide.as_deref().map(Neighbors::Wide))
    }

    /// The links of `len` entities from parts of a file; `None` if the parts do not fit together or exceed `bounds`.
    pub(crate) fn from_pages(
        len: usize,
        pages: Vec<Arc<[u32]>>,
        wide: Vec<Option<Vec<Link>>>,
        bounds: Bounds,
    ) -> Option<Adjacency> {
        let is_wide = |number: u32| wide.get(number as usize).is_some_and(Option::is_some);
        let are_ordered = |links: &Vec<Link>| links.windows(2).all(|pair| pair[0] < pair[1]);
        let is_sound = pages.len() == len.div_ceil(PAGE_ENTITIES)
            && pages.iter().all(|page| is_sound(page, bounds, is_wide))
            && wide
                .iter()
                .flatten()
                .all(|links| are_ordered(links) && links.iter().all(|link| bounds.contain(link)));
        let wide = wide.into_iter().map(|links| links.map(|links| Arc::new(Wide::late(links))));
        is_sound.then(|| Adjacency { len, pages: pages.into_iter().collect(), wide: wide.collect() })
    }

    /// Counts the entities.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Makes room for one more entity, without links.
    pub(crate) fn push(&mut self) {
        if self.len.is_multiple_of(PAGE_ENTITIES) {
            self.pages.push(empty_page());
        }
        self.len += 1;
    }

    /// The links of the entity at `slot`, which must be there.
    #[inline(always)] // Otherwise moving the result would take half the time of a frontier.
    pub(crate) fn get(&self, slot: u32) -> Neighbors<'_> {
        let page = &self.pages[slot as usize / PAGE_ENTITIES];
        match entry_of(page, slot as usize % PAGE_ENTITIES) {
            Ok(narrow) => Neighbors::Narrow(narrow),
            Err(number) => Neighbors::Wide(self.wide_at(number)),
        }
    }

    fn wide_at(&self, number: u32) -> &Wide {
        self.wide[number as usize].as_deref().expect("a page names a wide entity")
    }

    /// Adds a new link.
    pub(crate) fn insert(&mut self, slot: u32, link: Link) {
        match self.get(slot) {
            Neighbors::Wide(_) => Arc::make_mut(self.wide_mut(slot)).insert(link),
            Neighbors::Narrow(narrow) if narrow.others.len() < NARROW_LINKS_MAX => {
                let at = narrow.count_before(link);
                let (page, place) = self.page_mut(slot);
                splice(page, place, at..at, &[link]);
            }
            Neighbors::Narrow(narrow) => {
                let mut links: Vec<Link> = narrow.iter().collect();
                links.insert(narrow.count_before(link), link);
                self.make_wide(slot, &links);
            }
        }
    }

    /// Adds new links of one entity, each with its slot. Shape: ascending, each once.
    pub(crate) fn insert_sorted(&mut self, links: &[(u32, Link)]) {
        let [(slot, first), others @ ..] = links else { return };
        let slot = *slot;
        if others.is_empty() {
            return self.insert(slot, *first);
        }
        let links = links.iter().map(|(_, link)| *link);
        match self.get(slot) {
            Neighbors::Wide(_) => {
                let links: Vec<Link> = links.collect();
                Arc::make_mut(self.wide_mut(slot)).insert_sorted(&links);
            }
            Neighbors::Narrow(narrow) => {
                let known = narrow.others.len();
                let mut links: Vec<Link> = narrow.iter().chain(links).collect();
                links.sort_unstable();
                if links.len() <= NARROW_LINKS_MAX {
                    let (page, place) = self.page_mut(slot);
                    splice(page, place, 0..known, &links);
                } else {
                    self.make_wide(slot, &links);
                }
            }
        }
    }

    // Moves the links of an entity out of its page.
    fn make_wide(&mut self, slot: u32, links: &[Link]) {
        let number = number::narrow(self.wide.len());
        self.wide.push(Some(Arc::new(Wide::from_sorted(links))));
        let (page, place) = self.page_mut(slot);
        set_wide(page, place, Some((number, links[0].type_name)));
    }

    /// Removes a link, if it is there.
    pub(crate) fn remove(&mut self, slot: u32, link: Link) {
        match self.get(slot) {
            Neighbors::Wide(_) => {
                Arc::make_mut(self.wide_mut(slot)).remove(link);
                self.make_narrow_again(slot);
            }
            Neighbors::Narrow(narrow) => {
                let at = narrow.count_before(link);
                if narrow.iter().nth(at) == Some(link) {
                    let (page, place) = self.page_mut(slot);
                    splice(page, place, at..at + 1, &[]);
                }
            }
        }
    }

    /// Removes links of an entity, all of which are there. Shape: ascending, each once.
    pub(crate) fn remove_sorted(&mut self, slot: u32, links: &[Link]) {
        let neighbors = self.get(slot);
        if neighbors.degree(None) == links.len() {
            self.clear(slot);
        } else if links.len() > 1 && matches!(neighbors, Neighbors::Wide(_)) {
            Arc::make_mut(self.wide_mut(slot)).remove_sorted(links);
            self.make_narrow_again(slot);
        } else {
            links.iter().for_each(|link| self.remove(slot, *link));
        }
    }

    // Moves the links of a wide entity into its page, if it has few by now.
    fn make_narrow_again(&mut self, slot: u32) {
        let number = self.wide_number(slot);
        let wide = self.wide_at(number);
        // Half the limit, so that a degree near the limit does not change its form with every step.
        if wide.len() > NARROW_LINKS_MAX / 2 {
            return;
        }
        let links: Vec<Link> = wide.iter(None, None).collect();
        self.wide.set(number as usize, None);
        let (page, place) = self.page_mut(slot);
        set_wide(page, place, None);
        splice(page, place, 0..0, &links);
    }

    /// Removes all links of an entity with their memory.
    pub(crate) fn clear(&mut self, slot: u32) {
        match self.get(slot) {
            Neighbors::Wide(_) => {
                let number = self.wide_number(slot);
                self.wide.set(number as usize, None);
                let (page, place) = self.page_mut(slot);
                set_wide(page, place, None);
            }
            Neighbors::Narrow(narrow) => {
                let count = narrow.others.len();
                if count > 0 {
                    let (page, place) = self.page_mut(slot);
                    splice(page, place, 0..count, &[]);
                }
            }
        }
    }

    fn page_mut(&mut self, slot: u32) -> (&mut Arc<[u32]>, usize) {
        let slot = slot as usize;
        (&mut self.pages[slot / PAGE_ENTITIES], slot % PAGE_ENTITIES)
    }

    fn wide_number(&self, slot: u32) -> u32 {
        let page = &self.pages[slot as usize / PAGE_ENTITIES];
        entry_of(page, slot as usize % PAGE_ENTITIES).err().expect("asked of wide entities only")
    }

    fn wide_mut(&mut self, slot: u32) -> &mut Arc<Wide> {
        let number = self.wide_number(slot);
        self.wide[number as usize].as_mut().expect("a page names a wide entity")
    }
}

impl<'g> Neighbors<'g> {
    /// Number of links, of one type or of all.
    pub(crate) fn degree(self, type_name: Option<Symbol>) -> usize {
        match self {
            Neighbors::Narrow(narrow) => narrow.of_type(type_name).others.len(),
            Neighbors::Wide(wide) => wide.degree(type_name),
        }
    }

    /// The links of one type or of all, in order.
    #[inline]
    pub(crate) fn iter(self, type_name: Option<Symbol>) -> Links<'g> {
        match self {
            Neighbors::Narrow(narrow) => narrow.of_type(type_name).iter(),
            Neighbors::Wide(wide) => Links::Wide(Box::new(wide.iter(type_name, None))),
        }
    }

    /// Calls `take` with each of them, in order.
    #[inline]
    pub(crate) fn try_each<E>(
        self,
        type_name: Option<Symbol>,
        mut take: impl FnMut(Link) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        match self {
            Neighbors::Narrow(narrow) => {
                let narrow = narrow.of_type(type_name);
                (0..narrow.others.len()).try_for_each(|at| take(narrow.link(at)))
            }
            Neighbors::Wide(wide) => {
                // Reads whole leaves of the tree. After an error the rest is skipped.
                let mut result = Ok(());
                wide.iter(type_name, None).for_each(|link| {
                    if result.is_ok() {
                        result = take(link);
                    }
                });
                result
            }
        }
    }

    /// The links of one type or of all that come after `after`, in order.
    #[inline]
    pub(crate) fn iter_after(self, type_name: Option<Symbol>, after: Option<Link>) -> Links<'g> {
        let Some(after) = after else { return self.iter(type_name) };
        match self {
            Neighbors::Narrow(narrow) => {
                let narrow = narrow.of_type(type_name);
                let first = narrow.iter().take_while(|link| *link <= after).count();
                narrow.from(first).iter()
            }
            Neighbors::Wide(wide) => Links::Wide(Box::new(wide.iter(type_name, Some(after)))),
        }
    }
}

impl<'g> Narrow<'g> {
    #[inline]
    pub(crate) fn iter(self) -> Links<'g> {
        Links::Narrow(self.others.iter().zip(self.relationships), self.types)
    }
}

/// Iterates over links.
pub(crate) enum Links<'g> {
    // The remaining links, and the types of all.
    Narrow(Zip<slice::Iter<'g, u32>, slice::Iter<'g, u32>>, NarrowTypes<'g>),
    // Boxed: a range is large, few entities are wide, and iterators are moved about.
    Wide(Box<WideLinks<'g>>),
}

impl Links<'_> {
    pub(crate) fn none() -> Self {
        Narrow { others: &[], relationships: &[], types: NarrowTypes::Each(&[]) }.iter()
    }
}

impl Iterator for Links<'_> {
    type Item = Link;

    #[inline]
    fn next(&mut self) -> Option<Link> {
        match self {
            Links::Narrow(ends, types) => {
                let left = ends.len();
                let (other, relationship) = ends.next()?;
                let type_name = match types {
                    NarrowTypes::One(only) => *only,
                    NarrowTypes::Each(types) => Symbol(types[types.len() - left]),
                };
                Some(Link { type_name, relationship: *relationship, other: *other })
            }
            Links::Wide(links) => links.next().map(Link::in_registers),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    #[test]
    fn a_page_that_begins_with_many_links_has_their_type() {
        let mut adjacency = Adjacency::new();
        (0..2).for_each(|_| adjacency.push());
        let link = |relationship| Link { type_name: Symbol(5), relationship, other: 1 };
        let many: Vec<(u32, Link)> = (0..100).map(|number| (0, link(number))).collect();
        adjacency.insert_sorted(&many);
        adjacency.insert(1, link(100));
        assert!(matches!(adjacency.get(0), Neighbors::Wide(wide) if wide.len() == 100));
        let Neighbors::Narrow(Narrow { types, .. }) = adjacency.get(1) else { panic!("it has one link") };
        assert!(matches!(types, NarrowTypes::One(Symbol(5))), "the types are not stored one by one");
    }

    proptest! {
        #[test]
        fn neighbors_behave_as_an_ordered_set(
            steps in proptest::collection::vec((any::<bool>(), 0u32..4, 0u32..80, 0u32..3), 0..600),
            cleared in proptest::collection::vec((0usize..600, 0u32..3), 0..3),
            thinned in proptest::collection::vec((0usize..600, 0u32..3, 1usize..9), 0..3),
            grown in proptest::collection::vec((0usize..600, 0u32..3, 1u32..50), 0..4),
        ) {
            let mut adjacency = Adjacency::new();
            (0..40).for_each(|_| adjacency.push());
            let mut model: Vec<BTreeSet<Link>> = vec![BTreeSet::new(); 40];
            for (step, (is_insert, type_name, relationship, slot)) in steps.into_iter().enumerate() {
                for (_, slot) in cleared.iter().filter(|(at, _)| *at == step) {
                    adjacency.clear(16 * slot);
                    model[16 * *slot as usize].clear();
                }
                for (_, slot, every) in thinned.iter().filter(|(at, ..)| *at == step) {
                    let known = &mut model[16 * *slot as usize];
                    let links: Vec<Link> = known.iter().copied().step_by(*every).collect();
                    adjacency.remove_sorted(16 * slot, &links);
                    known.retain(|link| !links.contains(link));
                }
                for (number, (_, slot, count)) in (100..).zip(&grown).filter(|(_, (at, ..))| *at == step) {
                    let link = |at| Link { type_name: Symbol(at % 3), relationship: 100 * number + at, other: at };
                    let links: BTreeSet<(u32, Link)> = (0..*count).map(|at| (16 * slot, link(at))).collect();
                    adjacency.insert_sorted(&links.iter().copied().collect::<Vec<_>>());
                    model[16 * *slot as usize].extend(links.iter().map(|(_, link)| *link));
                }
                // Two entities of one page and one of another.
                let slot = 16 * slot;
                let known = &mut model[slot as usize];
                let link = Link { type_name: Symbol(type_name), relationship, other: relationship / 3 };
                if is_insert && known.insert(link) {
                    adjacency.insert(slot, link);
                } else if !is_insert {
                    known.remove(&link);
                    adjacency.remove(slot, link);
                }
                let neighbors = adjacency.get(slot);
                let of_type: Vec<Link> =
                    known.iter().copied().filter(|known| known.type_name == link.type_name).collect();
                prop_assert_eq!(neighbors.degree(Some(link.type_name)), of_type.len());
                prop_assert_eq!(neighbors.iter(Some(link.type_name)).collect::<Vec<_>>(), of_type);
                prop_assert_eq!(neighbors.degree(None), known.len());
                let rest: Vec<Link> = known.range(link..).skip_while(|known| **known == link).copied().collect();
                prop_assert_eq!(neighbors.iter_after(None, Some(link)).collect::<Vec<_>>(), rest);
                prop_assert_eq!(neighbors.iter(None).collect::<Vec<_>>(), known.iter().copied().collect::<Vec<_>>());
            }
            let pages = adjacency.pages().map(Arc::from).collect();
            let wide: Vec<_> =
                adjacency.wide().map(|wide| wide.map(|wide| wide.iter(None).collect())).collect();
            let bounds = Bounds { types: 4, relationships: 20_000, entities: 60 };
            let loaded = Adjacency::from_pages(40, pages, wide, bounds).expect("parts it wrote");
            for (slot, links) in (0u32..).zip(&model) {
                let links: Vec<Link> = links.iter().copied().collect();
                prop_assert_eq!(&adjacency.get(slot).iter(None).collect::<Vec<_>>(), &links);
                prop_assert_eq!(&loaded.get(slot).iter(None).collect::<Vec<_>>(), &links);
            }
        }

        #[test]
        fn foreign_pages_are_refused_or_read_without_panic(
            page in proptest::collection::vec(0u32..4, 0..30),
            ends in proptest::collection::vec(0u32..2, 16),
            head in (prop_oneof![3 => 0u32..3, 1 => Just(u32::MAX)], 0u32..2, 0u32..12),
            len in prop_oneof![4 => Just(usize::MAX), 1 => 0usize..25],
        ) {
            let ends = ends.iter().map(|end| end | end << 16);
            let page: Vec<u32> = ends.chain([head.0, head.1, head.2]).chain(page).take(len).collect();
            let bounds = Bounds { types: 3, relationships: 3, entities: 32 };
            if let Some(loaded) = Adjacency::from_pages(32, vec![page.into()], Vec::new(), bounds) {
                for slot in 0..32 {
                    let neighbors = loaded.get(slot);
                    let count = neighbors.iter(None).count();
                    assert!(count < 30 && neighbors.iter(Some(Symbol(1))).count() <= count);
                    assert!(neighbors.iter_after(None, neighbors.iter(None).last()).count() <= count);
                }
            }
        }
    }
}
