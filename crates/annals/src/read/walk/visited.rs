//! Sets and numbers of slots for walks: very few in an array, few in hash tables, many as bits and lists.

use std::collections::{HashMap, HashSet};

/// Up to this many slots are searched one by one: most walks visit no more.
const LISTED_MAX: usize = 8;
/// Number of slots that a hash table holds for a graph of any size; walks of so few need no bits.
const HASHED_MIN: usize = 64;
/// A walk uses a bit for every slot of the graph once it has visited one of this many slots.
const SLOTS_PER_HASHED: usize = 512;
/// A walk uses a number for every slot of the graph once it has numbered one of this many slots.
const SLOTS_PER_NUMBER: usize = 32;
/// Means no number.
const NO_NUMBER: u32 = u32::MAX;

/// A set of slots below a bound that is known from the start.
pub(super) struct Visited {
    slots_count: usize,
    form: Form,
}

enum Form {
    /// Shape: the slots, and their number.
    Listed([u32; LISTED_MAX], usize),
    Hashed(HashSet<u32, foldhash::fast::FixedState>),
    Bits(Vec<u64>),
}

impl Visited {
    pub(super) fn new(slots_count: usize) -> Visited {
        Visited { slots_count, form: Form::Listed([0; LISTED_MAX], 0) }
    }

    /// Adds `slot`; false if it was there already.
    #[inline]
    pub(super) fn insert(&mut self, slot: u32) -> bool {
        match &mut self.form {
            Form::Listed(slots, count) => {
                if slots[..*count].contains(&slot) {
                    return false;
                }
                if *count < LISTED_MAX {
                    slots[*count] = slot;
                    *count += 1;
                } else {
                    let hashed = slots.iter().copied().chain([slot]).collect();
                    self.form = Form::Hashed(hashed);
                }
                true
            }
            Form::Bits(words) => {
                let (word, bit) = (&mut words[slot as usize / 64], 1 << (slot % 64));
                let is_added = *word & bit == 0;
                *word |= bit;
                is_added
            }
            Form::Hashed(hashed) => {
                let is_added = hashed.insert(slot);
                if hashed.len() > HASHED_MIN.max(self.slots_count / SLOTS_PER_HASHED) {
                    self.spread();
                }
                is_added
            }
        }
    }

    #[inline]
    pub(super) fn contains(&self, slot: u32) -> bool {
        match &self.form {
            Form::Listed(slots, count) => slots[..*count].contains(&slot),
            Form::Bits(words) => words[slot as usize / 64] & (1 << (slot % 64)) != 0,
            Form::Hashed(hashed) => hashed.contains(&slot),
        }
    }

    /// Units: bytes, approximate size.
    pub(super) fn bytes_count(&self) -> usize {
        match &self.form {
            Form::Listed(..) => 0,
            Form::Bits(words) => 8 * words.len(),
            Form::Hashed(hashed) => 8 * hashed.capacity(),
        }
    }

    #[cold]
    fn spread(&mut self) {
        let Form::Hashed(hashed) = &self.form else { return };
        let mut words = vec![0u64; self.slots_count.div_ceil(64)];
        hashed.iter().for_each(|slot| words[*slot as usize / 64] |= 1 << (slot % 64));
        self.form = Form::Bits(words);
    }
}

/// Numbers of slots below a bound that is known from the start.
#[derive(Clone)]
pub(super) struct Numbers {
    slots_count: usize,
    len: usize,
    form: NumbersForm,
}

#[derive(Clone)]
enum NumbersForm {
    Hashed(HashMap<u32, u32, foldhash::fast::FixedState>),
    Listed(Vec<u32>),
}

impl Numbers {
    pub(super) fn new(slots_count: usize) -> Numbers {
        Numbers { slots_count, len: 0, form: NumbersForm::Hashed(HashMap::default()) }
    }

    #[inline]
    pub(super) fn get(&self, slot: u32) -> Option<u32> {
        match &self.form {
            NumbersForm::Listed(numbers) => {
                Some(numbers[slot as usize]).filter(|number| *number != NO_NUMBER)
            }
            NumbersForm::Hashed(hashed) => hashed.get(&slot).copied(),
        }
    }

    /// Stores a number below 2^32 - 1 for a slot without one.
    #[inline]
    pub(super) fn insert(&mut self, slot: u32, number: u32) {
        self.len += 1;
        match &mut self.form {
            NumbersForm::Listed(numbers) => numbers[slot as usize] = number,
            NumbersForm::Hashed(hashed) => {
                hashed.insert(slot, number);
                if self.len > HASHED_MIN.max(self.slots_count / SLOTS_PER_NUMBER) {
                    self.spread();
                }
            }
        }
    }

    #[cold]
    fn spread(&mut self) {
        let NumbersForm::Hashed(hashed) = &self.form else { return };
        let mut numbers = vec![NO_NUMBER; self.slots_count];
        hashed.iter().for_each(|(slot, number)| numbers[*slot as usize] = *number);
        self.form = NumbersForm::Listed(numbers);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn visited_is_a_set(slots in proptest::collection::vec(0u32..500, 0..400)) {
            let (mut visited, mut model) = (Visited::new(500), std::collections::BTreeSet::new());
            for slot in slots {
                prop_assert_eq!(visited.contains(slot), model.contains(&slot));
                prop_assert_eq!(visited.insert(slot), model.insert(slot));
            }
            (0..500).for_each(|slot| assert_eq!(visited.contains(slot), model.contains(&slot)));
        }

        #[test]
        fn numbers_are_a_map(slots in proptest::collection::vec(0u32..300, 0..200)) {
            let (mut numbers, mut model) = (Numbers::new(300), std::collections::BTreeMap::new());
            for (number, slot) in (0u32..).zip(slots) {
                prop_assert_eq!(numbers.get(slot), model.get(&slot).copied());
                if model.insert(slot, number).is_none() {
                    numbers.insert(slot, number);
                } else {
                    model.insert(slot, numbers.get(slot).unwrap());
                }
            }
            (0..300).for_each(|slot| assert_eq!(numbers.get(slot), model.get(&slot).copied()));
        }
    }
}
