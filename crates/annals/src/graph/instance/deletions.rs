//! Deletions of many instances together: one value says for all of them what else each row would say.

use std::sync::Arc;

use foldhash::{HashMap, HashMapExt};

use super::past::ChangePlace;
use super::unpacked::RowStamp;
use crate::structures::number::narrow;
use crate::structures::vector::Vector;

/// Number of slots in a page.
const PAGE_SLOTS: usize = 1_024;

/// So many deletions that no instance has any more may stay.
const UNUSED_MAX: usize = if cfg!(test) { 3 } else { 1_024 };

/// In a page: the row of the slot says everything.
const NO_DELETION: u32 = u32::MAX;

/// The version that a deletion gave each of its instances, as far as it differs from the version before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Deletion {
    pub(crate) place: ChangePlace,
    pub(crate) stamp: RowStamp,
    /// Units: microseconds since 1970.
    pub(crate) valid_from: i64,
}

/// The deleted instances of one table whose rows still hold the version before, with their deletions.
#[derive(Clone)]
pub(crate) struct Deletions {
    list: Vector<Deletion>,
    pages: Vector<Page>,
    /// How many slots have one.
    len: usize,
}

/// The deletions of adjacent slots.
#[derive(Clone)]
enum Page {
    None,
    /// All slots have the deletion with this number.
    All(u32),
    /// The number of the deletion of each slot.
    Each(Arc<[u32; PAGE_SLOTS]>),
}

/// Adjacent slots with one deletion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SlotRun {
    pub(crate) first: u32,
    pub(crate) len: u32,
    /// The number of the deletion.
    pub(crate) number: u32,
}

impl Deletions {
    pub(crate) fn new() -> Deletions {
        Deletions { list: Vector::new(), pages: Vector::new(), len: 0 }
    }

    /// The deletion of the instance at `slot`, unless its row says everything.
    #[inline]
    pub(crate) fn get(&self, slot: u32) -> Option<&Deletion> {
        if self.len == 0 { None } else { self.find(slot) }
    }

    #[inline(never)]
    fn find(&self, slot: u32) -> Option<&Deletion> {
        let (page, place) = at(slot);
        let number = self.pages.get(page)?.number(place);
        if number == NO_DELETION { None } else { self.list.get(number as usize) }
    }

    /// Forgets the deletions that no instance has any more, once they are most of the list: otherwise a container that is
    /// deleted and restored again and again adds one each time. Numbers that [`Deletions::push`] gave before it change.
    pub(crate) fn forget_unused(&mut self) {
        if self.list.len() <= UNUSED_MAX + 2 * self.len {
            return;
        }
        let mut used = Deletions::new();
        let mut numbers: HashMap<u32, u32> = HashMap::new();
        for SlotRun { first, len, number } in self.runs() {
            let deletion = self.list[number as usize];
            let number = *numbers.entry(number).or_insert_with(|| used.push(deletion));
            let slots: Vec<(u32, u32)> = (first..first + len).map(|slot| (slot, number)).collect();
            used.put_sorted(&slots);
        }
        *self = used;
    }

    /// Adds a deletion; returns its number.
    pub(crate) fn push(&mut self, deletion: Deletion) -> u32 {
        let number = narrow(self.list.len());
        self.list.push(deletion);
        number
    }

    /// Notes that instances were deleted.
    ///
    /// Shape: slots and the numbers of their deletions; slots ascending, each once, without a deletion before.
    pub(crate) fn put_sorted(&mut self, slots: &[(u32, u32)]) {
        for together in slots.chunk_by(|one, next| at(one.0).0 == at(next.0).0) {
            let (first, number) = together[0];
            let page = self.pages.grown_to(at(first).0, || Page::None);
            let is_all = together.len() == PAGE_SLOTS && together.iter().all(|(_, other)| *other == number);
            if is_all {
                *page = Page::All(number);
                continue;
            }
            let numbers = page.numbers_mut();
            together.iter().for_each(|(slot, number)| numbers[at(*slot).1] = *number);
        }
        self.len += slots.len();
    }

    /// Forgets the deletion of the instance at `slot`, if it has one: its row says everything from now on.
    pub(crate) fn remove(&mut self, slot: u32) {
        if self.get(slot).is_none() {
            return;
        }
        let (page, place) = at(slot);
        let page = &mut self.pages[page];
        let numbers = page.numbers_mut();
        numbers[place] = NO_DELETION;
        if numbers.iter().all(|number| *number == NO_DELETION) {
            *page = Page::None;
        }
        self.len -= 1;
        if self.len == 0 {
            *self = Deletions::new();
        }
    }

    /// The same for several instances, each of which has one. Shape: slots ascending, each once.
    pub(crate) fn remove_sorted(&mut self, slots: &[u32]) {
        for together in slots.chunk_by(|one, next| at(*one).0 == at(*next).0) {
            let Some(page) = self.pages.get_mut(at(together[0]).0) else { continue };
            let numbers = page.numbers_mut();
            together.iter().for_each(|slot| numbers[at(*slot).1] = NO_DELETION);
            if numbers.iter().all(|number| *number == NO_DELETION) {
                *page = Page::None;
            }
        }
        self.len -= slots.len();
        if self.len == 0 {
            *self = Deletions::new();
        }
    }

    /// All deletions, by number.
    pub(crate) fn list(&self) -> impl Iterator<Item = &Deletion> {
        self.list.iter()
    }

    /// The slots with a deletion, ascending.
    pub(crate) fn runs(&self) -> impl Iterator<Item = SlotRun> {
        let of_page = |(page, numbers): (usize, &Page)| {
            let first: u32 = narrow(page * PAGE_SLOTS);
            let mut runs = Vec::new();
            match numbers {
                Page::None => {}
                Page::All(number) => runs.push(SlotRun { first, len: narrow(PAGE_SLOTS), number: *number }),
                Page::Each(numbers) => {
                    let mut next = first;
                    for same in numbers.chunk_by(|one, other| one == other) {
                        let len = narrow(same.len());
                        if same[0] != NO_DELETION {
                            runs.push(SlotRun { first: next, len, number: same[0] });
                        }
                        next += len;
                    }
                }
            }
            runs
        };
        self.pages.iter().enumerate().flat_map(of_page)
    }
}

impl Page {
    #[inline]
    fn number(&self, place: usize) -> u32 {
        match self {
            Page::None => NO_DELETION,
            Page::All(number) => *number,
            Page::Each(numbers) => numbers[place],
        }
    }

    fn numbers_mut(&mut self) -> &mut [u32; PAGE_SLOTS] {
        if !matches!(self, Page::Each(_)) {
            *self = Page::Each(Arc::new([self.number(0); PAGE_SLOTS]));
        }
        match self {
            Page::Each(numbers) => Arc::make_mut(numbers),
            Page::None | Page::All(_) => unreachable!("it has a number for each slot now"),
        }
    }
}

// The page of a slot, and the place in it.
#[inline]
fn at(slot: u32) -> (usize, usize) {
    (slot as usize / PAGE_SLOTS, slot as usize % PAGE_SLOTS)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::graph::structures::symbols::Symbol;
    use proptest::prelude::*;

    fn deletion(number: u32) -> Deletion {
        let stamp = RowStamp { author: Symbol(number), micros: 7 };
        Deletion { place: ChangePlace { position: 1, change: number }, stamp, valid_from: 7 }
    }

    proptest! {
        #[test]
        fn deletions_behave_as_a_map_and_clones_keep_what_they_had(
            steps in proptest::collection::vec((0u32..3_000, 1u32..1_500, 1usize..3, any::<bool>()), 0..8),
        ) {
            let mut deletions = Deletions::new();
            let mut model: BTreeMap<u32, Deletion> = BTreeMap::new();
            let mut clones = Vec::new();
            for (first, len, every, is_put) in steps {
                let slots: Vec<u32> = (first..first + len).step_by(every).collect();
                if is_put {
                    deletions.forget_unused();
                    prop_assert!(deletions.list.len() <= UNUSED_MAX + 2 * deletions.len);
                    let number = deletions.push(deletion(first));
                    let free: Vec<(u32, u32)> =
                        slots.into_iter().filter(|slot| !model.contains_key(slot)).map(|slot| (slot, number)).collect();
                    deletions.put_sorted(&free);
                    model.extend(free.iter().map(|(slot, _)| (*slot, deletion(first))));
                } else if first % 2 == 0 {
                    let there: Vec<u32> = slots.into_iter().filter(|slot| model.remove(slot).is_some()).collect();
                    deletions.remove_sorted(&there);
                } else {
                    for slot in slots {
                        deletions.remove(slot);
                        model.remove(&slot);
                    }
                }
                clones.push((deletions.clone(), model.clone()));
            }
            for (deletions, model) in &clones {
                let slots = 0..4_600;
                prop_assert!(slots.clone().all(|slot| deletions.get(slot) == model.get(&slot)));
                let list: Vec<Deletion> = deletions.list().copied().collect();
                let mut loaded = Deletions::new();
                for deletion in &list {
                    loaded.push(*deletion);
                }
                let runs: Vec<SlotRun> = deletions.runs().collect();
                prop_assert!(runs.windows(2).all(|pair| pair[0].first + pair[0].len <= pair[1].first));
                for SlotRun { first, len, number } in runs {
                    let slots: Vec<(u32, u32)> = (first..first + len).map(|slot| (slot, number)).collect();
                    loaded.put_sorted(&slots);
                }
                prop_assert!(slots.into_iter().all(|slot| loaded.get(slot) == model.get(&slot)));
            }
        }
    }
}
