//! Sets of slots: instances of some types, with some classifications, of some home.

use std::borrow::Borrow;
use std::marker::PhantomData;

use smallvec::SmallVec;

use crate::graph::structures::slot_set::{Extents, PAGE_SLOTS, PAGE_WORDS, SlotSet};
use crate::graph::structures::symbols::Symbol;
use crate::graph::table::Table;
use crate::structures::number::narrow;

/// More sets are not checked one by one.
const SETS_FEW: usize = 6;

/// An intersection of unions, never stored: pages of 2,048 slots are combined when a walk reaches them.
#[derive(Clone)]
pub(in crate::read) struct Domain<'g> {
    table: &'g Table,
    // Invariant: at least one union.
    unions: SmallVec<[Union<'g>; 1]>,
}

#[derive(Clone)]
struct Union<'g> {
    sets: SmallVec<[&'g SlotSet; 2]>,
    len: usize,
    // True if it has every live instance, except proxies, and no other.
    is_everything_live: bool,
    // The types, if it consists of the live instances of types: their rows have the type, too.
    types: Vec<Symbol>,
}

/// The instances that a search may find, before its conditions.
#[derive(Clone, Copy, PartialEq)]
pub(in crate::read) struct Reach {
    /// Live ones in the present.
    pub(in crate::read) live: bool,
    /// Deleted ones, or live ones of the past.
    pub(in crate::read) other: bool,
    /// Entities that the repository holds only as proxies.
    pub(in crate::read) proxies: bool,
}

impl Reach {
    /// True if the lists of types and classifications hold exactly the searched instances.
    pub(in crate::read) fn is_exact(self) -> bool {
        !self.other && !self.proxies
    }
}

impl<'g> Domain<'g> {
    /// All instances of these types, or of all types.
    pub(in crate::read) fn of(table: &'g Table, types: Option<&[Symbol]>, reach: Reach) -> Domain<'g> {
        let mut domain = Domain { table, unions: SmallVec::new() };
        if let Some(types) = types {
            domain.of_types(types, reach);
            return domain;
        }
        let mut sets: SmallVec<[&SlotSet; 2]> = SmallVec::new();
        sets.extend(reach.live.then(|| table.live_slots()));
        sets.extend(reach.other.then(|| table.dead_slots()));
        sets.extend(reach.proxies.then_some(&table.lists.proxies.present));
        let len = sets.iter().map(|set| set.len()).sum();
        domain.unions.push(Union {
            sets,
            len,
            is_everything_live: reach.live && reach.is_exact(),
            types: Vec::new(),
        });
        domain
    }

    /// Restricts it to instances of these types.
    pub(in crate::read) fn of_types(&mut self, types: &[Symbol], reach: Reach) {
        let mut union = Union::new(types, &self.table.lists.by_type.extents, reach.live);
        union.add(types, &self.table.lists.by_type.past_extents, reach.other);
        if reach.is_exact() && union.sets.len() > SETS_FEW {
            union.types = types.to_vec();
        }
        self.push(union, reach);
    }

    /// Restricts it to these slots.
    pub(in crate::read) fn of_slots(&mut self, slots: &'g SlotSet) {
        let sets = SmallVec::from_slice(&[slots]);
        self.unions.push(Union { sets, len: slots.len(), is_everything_live: false, types: Vec::new() });
    }

    /// Restricts it to entities with one of these classifications.
    pub(in crate::read) fn of_classified(&mut self, names: &[Symbol], reach: Reach) {
        let mut union = Union::new(names, &self.table.lists.classified.present, reach.live);
        union.add(names, &self.table.lists.classified.past, reach.other);
        self.push(union, reach);
    }

    /// Restricts it to instances of the collection with this name; without a symbol no instance belongs to it.
    pub(in crate::read) fn of_home(&mut self, home: Option<Symbol>, reach: Reach) {
        let home: Vec<Symbol> = home.into_iter().collect();
        let mut union = Union::new(&home, &self.table.lists.by_home.homed, reach.live);
        union.add(&home, &self.table.lists.by_home.past_homed, reach.other);
        // These lists have proxies, so the list of all instances still matters.
        self.unions.push(union);
    }

    fn push(&mut self, mut union: Union<'g>, reach: Reach) {
        if reach.proxies && self.table.lists.proxies.present.len() > 0 {
            // Proxies are in no list, so each is checked.
            union.len += self.table.lists.proxies.present.len();
            union.sets.push(&self.table.lists.proxies.present);
        }
        // Lists of types and classifications have live instances only.
        union.is_everything_live =
            reach.is_exact() && union.sets.len() == 1 && union.len == self.table.live_slots().len();
        // The list of all instances adds nothing to a list of some.
        if self.unions.len() == 1 && self.unions[0].is_all(self.table) {
            self.unions.clear();
        }
        self.unions.push(union);
    }

    /// True if it contains every live instance, except proxies.
    pub(in crate::read) fn is_everything_live(&self) -> bool {
        self.unions.iter().all(|union| union.is_everything_live)
    }

    /// The sets that an instance known to be live and no proxy may be outside of; `None` if there are none.
    pub(in crate::read) fn beside_live(&self) -> Option<Domain<'g>> {
        let unions = self.unions.iter().filter(|union| !union.is_everything_live).cloned();
        let unions: SmallVec<[Union<'g>; 1]> = unions.collect();
        (!unions.is_empty()).then_some(Domain { table: self.table, unions })
    }

    /// An upper bound of its size.
    pub(in crate::read) fn len_max(&self) -> usize {
        self.unions.iter().map(|union| union.len).min().unwrap_or(0)
    }

    /// Its size, without visiting each slot.
    pub(in crate::read) fn count(&self) -> usize {
        if let [union] = &self.unions[..]
            && (union.sets.len() == 1 || !union.types.is_empty())
        {
            // No instance has two types.
            return union.len;
        }
        (0..self.pages_len()).map(|page| ones(&self.words(page))).sum()
    }

    fn pages_len(&self) -> usize {
        self.table.slots_count().div_ceil(PAGE_SLOTS as usize)
    }

    fn words(&self, page: usize) -> [u64; PAGE_WORDS] {
        let mut words = [0; PAGE_WORDS];
        for (index, union) in self.unions.iter().enumerate() {
            let mut own = [0; PAGE_WORDS];
            for set in &union.sets {
                set.add_page_to(page, &mut own);
            }
            if index == 0 {
                words = own;
            } else {
                words.iter_mut().zip(own).for_each(|(words, own)| *words &= own);
            }
        }
        words
    }

    /// True if it contains the slot.
    #[inline]
    pub(in crate::read) fn contains(&self, slot: u32) -> bool {
        self.unions.iter().all(|union| match union.types.is_empty() {
            true => union.sets.iter().any(|set| set.contains(slot)),
            false => self.is_of(slot, &union.types),
        })
    }

    #[inline(never)]
    fn is_of(&self, slot: u32, types: &[Symbol]) -> bool {
        let row = self.table.row(slot).filter(|_| self.table.is_live(slot));
        row.is_some_and(|row| types.binary_search(&row.type_name()).is_ok())
    }

    /// The slots after `after`, ascending; or before it, descending.
    pub(in crate::read) fn slots(&self, after: Option<u32>, is_descending: bool) -> Slots<'g, &Domain<'g>> {
        let pages = self.pages_len();
        let page = match after {
            Some(slot) => (slot / PAGE_SLOTS) as usize,
            None if is_descending => pages.saturating_sub(1),
            None => 0,
        };
        let mut words = if page < pages { self.words(page) } else { [0; PAGE_WORDS] };
        if let Some(slot) = after.filter(|_| page < pages) {
            let (word, bit) = ((slot % PAGE_SLOTS / u64::BITS) as usize, slot % u64::BITS);
            let behind = if bit == u64::BITS - 1 { 0 } else { u64::MAX << (bit + 1) };
            let before = (1u64 << bit) - 1;
            for (index, bits) in words.iter_mut().enumerate() {
                let kept = match index.cmp(&word) {
                    std::cmp::Ordering::Less => {
                        if is_descending {
                            u64::MAX
                        } else {
                            0
                        }
                    }
                    std::cmp::Ordering::Equal => {
                        if is_descending {
                            before
                        } else {
                            behind
                        }
                    }
                    std::cmp::Ordering::Greater => {
                        if is_descending {
                            0
                        } else {
                            u64::MAX
                        }
                    }
                };
                *bits &= kept;
            }
        }
        let word = first_word(is_descending);
        Slots { domain: self, of: PhantomData, page, pages, words, word, is_descending }
    }

    /// All slots, ascending.
    pub(in crate::read) fn into_slots(self) -> Slots<'g, Domain<'g>> {
        self.into_slots_after(None, false)
    }

    /// As [`Domain::slots`].
    pub(in crate::read) fn into_slots_after(
        self,
        after: Option<u32>,
        is_descending: bool,
    ) -> Slots<'g, Domain<'g>> {
        let Slots { page, pages, words, word, .. } = self.slots(after, is_descending);
        Slots { domain: self, of: PhantomData, page, pages, words, word, is_descending }
    }
}

impl<'g> Union<'g> {
    fn new(names: &[Symbol], extents: &'g Extents, is_used: bool) -> Union<'g> {
        let mut union = Union { sets: SmallVec::new(), len: 0, is_everything_live: false, types: Vec::new() };
        union.add(names, extents, is_used);
        union
    }

    fn add(&mut self, names: &[Symbol], extents: &'g Extents, is_used: bool) {
        let sets = names.iter().filter_map(|name| extents.of(*name)).filter(|set| is_used && set.len() > 0);
        for set in sets {
            self.len += set.len();
            self.sets.push(set);
        }
    }

    fn is_all(&self, table: &Table) -> bool {
        self.types.is_empty()
            && self
                .sets
                .iter()
                .any(|set| std::ptr::eq(*set, table.live_slots()) || std::ptr::eq(*set, table.dead_slots()))
    }
}

fn ones(words: &[u64; PAGE_WORDS]) -> usize {
    words.iter().map(|bits| bits.count_ones() as usize).sum()
}

/// The slots of a domain, in one direction.
pub(in crate::read) struct Slots<'g, D> {
    domain: D,
    of: PhantomData<&'g Table>,
    page: usize,
    pages: usize,
    words: [u64; PAGE_WORDS],
    // The present word.
    word: usize,
    is_descending: bool,
}

// The word of a page where a walk begins.
fn first_word(is_descending: bool) -> usize {
    if is_descending { PAGE_WORDS - 1 } else { 0 }
}

impl<'g, D: Borrow<Domain<'g>>> Slots<'g, D> {
    // Goes to the next page; false at the end.
    fn turn(&mut self) -> bool {
        let next = if self.is_descending { self.page.checked_sub(1) } else { Some(self.page + 1) };
        let Some(next) = next.filter(|next| *next < self.pages) else { return false };
        self.page = next;
        self.words = self.domain.borrow().words(next);
        self.word = first_word(self.is_descending);
        true
    }
}

impl<'g, D: Borrow<Domain<'g>>> Iterator for Slots<'g, D> {
    type Item = u32;

    #[inline]
    fn next(&mut self) -> Option<u32> {
        loop {
            // In this direction the words before the present one are empty.
            let found = if self.is_descending {
                self.words[..=self.word].iter().rposition(|bits| *bits != 0)
            } else {
                self.words[self.word..].iter().position(|bits| *bits != 0).map(|at| self.word + at)
            };
            if let Some(word) = found {
                self.word = word;
                let bits = self.words[word];
                let bit = if self.is_descending {
                    u64::BITS - 1 - bits.leading_zeros()
                } else {
                    bits.trailing_zeros()
                };
                self.words[word] &= !(1 << bit);
                return Some(narrow::<u32, usize>(self.page * PAGE_WORDS + word) * u64::BITS + bit);
            }
            if !self.turn() {
                return None;
            }
        }
    }
}
