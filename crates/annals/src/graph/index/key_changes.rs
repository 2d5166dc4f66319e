//! Keys to add to sets and to remove from them: collected first, then applied together, which costs less than one by
//! one.

use crate::graph::structures::symbols::Symbol;
use crate::structures::key_set::KeySet;
use crate::structures::key_set::leaf::KEY_BYTES_MAX;
use crate::structures::number::narrow;
use crate::structures::vector::Vector;

/// Added and removed keys, in order.
#[derive(Default)]
pub(crate) struct KeyChanges {
    keys: Vec<u8>,
    list: Vec<Change>,
}

struct Change {
    set: Symbol,
    // Length of the key. The keys are stored one after the other.
    length: u16,
    is_added: bool,
}

struct KeyChange<'k> {
    head: u64,
    key: &'k [u8],
    is_added: bool,
}

const _: () = assert!(KEY_BYTES_MAX <= u16::MAX as usize);

impl KeyChanges {
    /// Adds the key that `append` writes to the additions to a set, or to the removals.
    pub(crate) fn push(&mut self, set: Symbol, append: impl FnOnce(&mut Vec<u8>), is_added: bool) {
        let start = self.keys.len();
        append(&mut self.keys);
        let length = narrow(self.keys.len() - start);
        self.list.push(Change { set, length, is_added });
    }

    /// Applies all of it. Calls `tell` with each key that was added and was missing before.
    pub(crate) fn apply_to(&self, sets: &mut Vector<KeySet>, mut tell: impl FnMut(Symbol, &[u8])) {
        let mut list = self.changes();
        // By set first: the keys of one set often come in order, so that there is little to sort.
        list.sort_by_key(|(set, _)| *set);
        for of_one in list.chunk_by_mut(|(set, _), next| *set == next.0) {
            let name = of_one[0].0;
            apply(of_one, set_of(sets, name), &mut |key| tell(name, key));
        }
    }

    /// Applies all of it to one set.
    pub(crate) fn apply_to_one(&self, set: &mut KeySet) {
        apply(&mut self.changes(), set, &mut |_| {});
    }

    fn changes(&self) -> Vec<(Symbol, KeyChange<'_>)> {
        let mut keys = &self.keys[..];
        let split = |change: &Change| {
            let (key, rest) = keys.split_at(usize::from(change.length));
            keys = rest;
            (change.set, KeyChange { head: head(key), key, is_added: change.is_added })
        };
        self.list.iter().map(split).collect()
    }
}

/// Applies the changes of one set.
fn apply(changes: &mut [(Symbol, KeyChange)], set: &mut KeySet, tell: &mut impl FnMut(&[u8])) {
    // Stable: for one key the last change counts.
    changes.sort_by_key(|(_, change)| (change.head, change.key));
    let (mut added, mut removed) = (Vec::new(), Vec::new());
    for same in changes.chunk_by(|(_, change), (_, next)| change.key == next.key) {
        let (_, last) = &same[same.len() - 1];
        if last.is_added { added.push(last.key) } else { removed.push(last.key) }
    }
    set.remove_sorted(&removed);
    set.insert_sorted(&added, tell);
}

/// The first bytes of a key as a number: they usually decide the order of two keys.
fn head(key: &[u8]) -> u64 {
    let mut head = [0; 8];
    let length = key.len().min(8);
    head[..length].copy_from_slice(&key[..length]);
    u64::from_be_bytes(head)
}

/// The set with this number, mutable.
pub(crate) fn set_of(sets: &mut Vector<KeySet>, number: Symbol) -> &mut KeySet {
    sets.grown_to(number.index(), KeySet::new)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_becomes_of_a_key_last_counts(
            steps in proptest::collection::vec((0u32..3, 0u32..40, any::<bool>()), 0..300),
            parts in 1usize..5,
        ) {
            let mut sets = Vector::new();
            let mut model: BTreeSet<(u32, u32)> = BTreeSet::new();
            for part in steps.chunks(steps.len() / parts + 1) {
                let before = model.clone();
                let mut changes = KeyChanges::default();
                for (set, number, is_added) in part {
                    let append = |key: &mut Vec<u8>| key.extend_from_slice(&number.to_be_bytes());
                    changes.push(Symbol(*set), append, *is_added);
                    if *is_added { model.insert((*set, *number)); } else { model.remove(&(*set, *number)); }
                }
                let mut told = BTreeSet::new();
                changes.apply_to(&mut sets, |set, key| {
                    told.insert((set.0, u32::from_be_bytes(key.try_into().unwrap())));
                });
                prop_assert_eq!(told, model.difference(&before).copied().collect::<BTreeSet<_>>());
            }
            let found: Vec<(u32, u32)> = (0..)
                .zip(sets.iter())
                .flat_map(|(set, keys): (u32, &KeySet)| {
                    keys.iter().map(move |key| (set, key.last_u32()))
                })
                .collect();
            prop_assert_eq!(found, model.into_iter().collect::<Vec<_>>());
        }
    }
}
