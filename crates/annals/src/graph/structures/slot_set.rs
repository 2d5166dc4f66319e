//! Sets of slots, as bits in pages that are shared between snapshots.

use std::sync::Arc;

use super::symbols::Symbol;
use crate::structures::number::narrow;
use crate::structures::vector::Vector;

const WORD_BITS: u32 = u64::BITS;
/// How many words a page of a set has.
pub(crate) const PAGE_WORDS: usize = 32;
/// Number of slots in a page of a set.
#[expect(clippy::cast_possible_truncation, reason = "a constant of a few thousand")]
pub(crate) const PAGE_SLOTS: u32 = WORD_BITS * PAGE_WORDS as u32;

type Page = Arc<[u64; PAGE_WORDS]>;

/// Most slots of a set without pages. There may be as many sets as names of types, most of them with few slots, and the
/// list of pages is as long as the greatest slot requires.
const FEW_MAX: usize = 6;

/// A persistent set of slots. Pages without slots take no memory.
#[derive(Clone)]
pub(crate) struct SlotSet {
    len: usize,
    slots: Slots,
}

#[derive(Clone)]
enum Slots {
    // Ascending; `len` of them.
    Few([u32; FEW_MAX]),
    // A set that lost its slots keeps its pages.
    Many(Vector<Option<Page>>),
}

fn place(slot: u32) -> (usize, usize, u64) {
    let in_page = slot % PAGE_SLOTS;
    ((slot / PAGE_SLOTS) as usize, (in_page / WORD_BITS) as usize, 1 << (in_page % WORD_BITS))
}

impl Default for SlotSet {
    fn default() -> SlotSet {
        SlotSet::new()
    }
}

impl SlotSet {
    pub(crate) fn new() -> SlotSet {
        SlotSet { len: 0, slots: Slots::Few([0; FEW_MAX]) }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    #[inline]
    pub(crate) fn contains(&self, slot: u32) -> bool {
        match &self.slots {
            Slots::Many(pages) => {
                let (page, word, bit) = place(slot);
                matches!(pages.get(page), Some(Some(page)) if page[word] & bit != 0)
            }
            Slots::Few(few) => few[..self.len].contains(&slot),
        }
    }

    /// Adds `slot`; false if it was there already.
    pub(crate) fn insert(&mut self, slot: u32) -> bool {
        if self.contains(slot) {
            return false;
        }
        match &mut self.slots {
            Slots::Many(pages) => set_in(pages, slot),
            Slots::Few(few) if self.len < FEW_MAX => {
                few[self.len] = slot;
                few[..=self.len].sort_unstable();
            }
            Slots::Few(few) => {
                let mut pages = Vector::new();
                few.iter().chain([&slot]).for_each(|slot| set_in(&mut pages, *slot));
                self.slots = Slots::Many(pages);
            }
        }
        self.len += 1;
        true
    }

    /// Removes `slot`; false if it was missing.
    pub(crate) fn remove(&mut self, slot: u32) -> bool {
        if !self.contains(slot) {
            return false;
        }
        match &mut self.slots {
            Slots::Many(pages) => {
                let (page, word, bit) = place(slot);
                let page = &mut pages[page];
                let Some(words) = page.as_mut().map(Arc::make_mut) else { return false };
                words[word] &= !bit;
                if words.iter().all(|word| *word == 0) {
                    *page = None;
                }
            }
            Slots::Few(few) => {
                let Some(at) = few[..self.len].iter().position(|known| *known == slot) else { return false };
                few[at..self.len].rotate_left(1);
            }
        }
        self.len -= 1;
        true
    }

    /// Adds slots; returns how many of them were missing.
    ///
    /// Shape: ascending.
    pub(crate) fn insert_sorted(&mut self, slots: &[u32]) -> usize {
        self.change_sorted(slots, |set, slot| set.insert(slot), |word, bits| word | bits)
    }

    /// Removes slots; returns how many of them were there.
    ///
    /// Shape: ascending.
    pub(crate) fn remove_sorted(&mut self, slots: &[u32]) -> usize {
        self.change_sorted(slots, |set, slot| set.remove(slot), |word, bits| word & !bits)
    }

    // Changes whole words of the slots in one page, and single slots with `one`.
    fn change_sorted(
        &mut self,
        slots: &[u32],
        one: impl Fn(&mut SlotSet, u32) -> bool,
        of_word: impl Fn(u64, u64) -> u64,
    ) -> usize {
        let len_before = self.len;
        for together in slots.chunk_by(|one, next| place(*one).0 == place(*next).0) {
            let pages = match &mut self.slots {
                Slots::Many(pages) if together.len() > 1 => pages,
                _ => {
                    for slot in together {
                        one(self, *slot);
                    }
                    continue;
                }
            };
            let page = pages.grown_to(place(together[0]).0, || None);
            let words = Arc::make_mut(page.get_or_insert_with(|| Arc::new([0; PAGE_WORDS])));
            for of_one in together.chunk_by(|one, next| place(*one).1 == place(*next).1) {
                let bits = of_one.iter().fold(0, |bits, slot| bits | place(*slot).2);
                let word = &mut words[place(of_one[0]).1];
                let changed = of_word(*word, bits);
                self.len = self.len + changed.count_ones() as usize - word.count_ones() as usize;
                *word = changed;
            }
            if words.iter().all(|word| *word == 0) {
                *page = None;
            }
        }
        self.len.abs_diff(len_before)
    }

    /// Adds the slots of one page to `words`, as bits.
    #[inline]
    pub(crate) fn add_page_to(&self, index: usize, words: &mut [u64; PAGE_WORDS]) {
        match &self.slots {
            Slots::Many(pages) => {
                if let Some(Some(page)) = pages.get(index) {
                    words.iter_mut().zip(page.iter()).for_each(|(words, more)| *words |= more);
                }
            }
            Slots::Few(few) => {
                let places = few[..self.len].iter().map(|slot| place(*slot));
                places.filter(|(page, ..)| *page == index).for_each(|(_, word, bit)| words[word] |= bit);
            }
        }
    }

    /// The slots, ascending.
    pub(crate) fn iter(&self) -> Iter<'_> {
        Iter { set: self, word: 0, first: 0, bits: 0 }
    }
}

/// The slots of a set, ascending. Made by [`SlotSet::iter`].
pub(crate) struct Iter<'g> {
    set: &'g SlotSet,
    // The word after the present one, counted over all pages; for few slots, the slot after the present one.
    word: usize,
    // The remaining bits of the present word, and the slot of its lowest bit.
    first: u32,
    bits: u64,
}

impl Iterator for Iter<'_> {
    type Item = u32;

    #[inline]
    fn next(&mut self) -> Option<u32> {
        if self.bits == 0 && !self.move_to_next_word() {
            return None;
        }
        let bit = self.bits.trailing_zeros();
        self.bits &= self.bits - 1;
        Some(self.first + bit)
    }
}

impl Iter<'_> {
    // False after the last word with a slot.
    fn move_to_next_word(&mut self) -> bool {
        let pages = match &self.set.slots {
            Slots::Many(pages) => pages,
            Slots::Few(_) => return self.move_to_next_of_few(),
        };
        while self.word / PAGE_WORDS < pages.len() {
            let Some(Some(page)) = pages.get(self.word / PAGE_WORDS) else {
                self.word += PAGE_WORDS;
                continue;
            };
            self.first = narrow::<u32, usize>(self.word) * WORD_BITS;
            self.bits = page[self.word % PAGE_WORDS];
            self.word += 1;
            if self.bits != 0 {
                return true;
            }
        }
        false
    }

    // One slot at a time: `word` counts slots then.
    fn move_to_next_of_few(&mut self) -> bool {
        let Slots::Few(few) = &self.set.slots else { return false };
        let Some(slot) = few[..self.set.len].get(self.word) else { return false };
        (self.first, self.bits) = (*slot, 1);
        self.word += 1;
        true
    }
}

fn set_in(pages: &mut Vector<Option<Page>>, slot: u32) {
    let (page, word, bit) = place(slot);
    let page = pages.grown_to(page, || None);
    Arc::make_mut(page.get_or_insert_with(|| Arc::new([0; PAGE_WORDS])))[word] |= bit;
}

impl PartialEq for SlotSet {
    fn eq(&self, other: &SlotSet) -> bool {
        self.len == other.len && self.iter().eq(other.iter())
    }
}

/// Sets of slots by name: of a type, or of a classification.
#[derive(Clone)]
pub(crate) struct Extents {
    len: usize,
    sets: Vector<SlotSet>,
}

impl Default for Extents {
    fn default() -> Extents {
        Extents::new()
    }
}

impl Extents {
    pub(crate) fn new() -> Extents {
        Extents { len: 0, sets: Vector::new() }
    }

    /// Counts the slots of all names; a slot with two names counts twice.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The slots of one name; `None` if it never had any.
    pub(crate) fn of(&self, name: Symbol) -> Option<&SlotSet> {
        self.sets.get(name.index())
    }

    /// The slots of all names, by symbol.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Symbol, &SlotSet)> {
        (0..).map(Symbol).zip(self.sets.iter())
    }

    pub(crate) fn contains(&self, name: Symbol, slot: u32) -> bool {
        self.of(name).is_some_and(|slots| slots.contains(slot))
    }

    /// Lists `slot` under `name`; false if it was listed already.
    pub(crate) fn insert(&mut self, name: Symbol, slot: u32) -> bool {
        let is_new = self.sets.grown_to(name.index(), SlotSet::new).insert(slot);
        self.len += usize::from(is_new);
        is_new
    }

    /// Lists slots under `name`. Shape: ascending.
    pub(crate) fn insert_sorted(&mut self, name: Symbol, slots: &[u32]) {
        self.len += self.sets.grown_to(name.index(), SlotSet::new).insert_sorted(slots);
    }

    /// Removes slots from `name`. Shape: ascending.
    pub(crate) fn remove_sorted(&mut self, name: Symbol, slots: &[u32]) {
        self.len -= self.sets.get_mut(name.index()).map_or(0, |set| set.remove_sorted(slots));
    }

    /// Removes `slot` from `name`; false if it was missing.
    pub(crate) fn remove(&mut self, name: Symbol, slot: u32) -> bool {
        let was_there = self.contains(name, slot)
            && self.sets.get_mut(name.index()).is_some_and(|slots| slots.remove(slot));
        self.len -= usize::from(was_there);
        was_there
    }
}

impl PartialEq for Extents {
    /// Trailing names without slots make no difference.
    fn eq(&self, other: &Extents) -> bool {
        let used = |extents: &Extents| -> Vec<(Symbol, SlotSet)> {
            let used = extents.iter().filter(|(_, slots)| slots.len() > 0);
            used.map(|(name, slots)| (name, slots.clone())).collect()
        };
        self.len == other.len && used(self) == used(other)
    }
}

#[cfg(test)]
impl std::fmt::Debug for SlotSet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn slot_sets_behave_as_ordered_sets(
            steps in proptest::collection::vec((any::<bool>(), 0u32..5_000), 0..300),
        ) {
            let mut slots = SlotSet::new();
            let mut model = BTreeSet::new();
            let mut earlier = Vec::new();
            for (is_insert, slot) in steps {
                let (found, expected) = if is_insert {
                    (slots.insert(slot), model.insert(slot))
                } else {
                    (slots.remove(slot), model.remove(&slot))
                };
                prop_assert_eq!(found, expected);
                prop_assert_eq!(slots.contains(slot), is_insert);
                // The same for a run of slots.
                let run: Vec<u32> = (slot..slot + slot % 97).step_by(1 + slot as usize % 3).collect();
                let changed = match slot % 5 {
                    0 => (slots.insert_sorted(&run), run.iter().filter(|slot| model.insert(**slot)).count()),
                    1 => (slots.remove_sorted(&run), run.iter().filter(|slot| model.remove(*slot)).count()),
                    _ => (0, 0),
                };
                prop_assert_eq!(changed.0, changed.1);
                if slot % 8 == 0 {
                    earlier.push((slots.clone(), model.clone()));
                }
            }
            earlier.push((slots, model));
            for (slots, model) in &earlier {
                prop_assert_eq!(slots.len(), model.len());
                prop_assert!(slots.iter().eq(model.iter().copied()));
            }
        }
    }
}
