//! Which slots a walk has visited: few in a hash table, many as bits.

use std::collections::HashSet;

/// Slots that a hash table holds whatever the graph's size; walks of so few need no bits.
const HASHED_MIN: usize = 64;
/// A walk gets a bit for every slot of the graph once it has visited one in so many.
const SLOTS_PER_HASHED: usize = 512;

/// A set of slots below a bound that is known from the start.
pub(super) struct Visited {
    slots_count: usize,
    form: Form,
}

enum Form {
    Hashed(HashSet<u32, foldhash::fast::FixedState>),
    Bits(Vec<u64>),
}

impl Visited {
    pub(super) fn new(slots_count: usize) -> Visited {
        Visited { slots_count, form: Form::Hashed(HashSet::default()) }
    }

    /// Adds `slot`; false if it was there.
    #[inline]
    pub(super) fn insert(&mut self, slot: u32) -> bool {
        match &mut self.form {
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
            Form::Bits(words) => words[slot as usize / 64] & (1 << (slot % 64)) != 0,
            Form::Hashed(hashed) => hashed.contains(&slot),
        }
    }

    /// Units: bytes it takes, about.
    pub(super) fn bytes_count(&self) -> usize {
        match &self.form {
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
    }
}
