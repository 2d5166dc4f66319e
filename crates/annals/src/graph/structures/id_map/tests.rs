//! Id maps behave as the maps of the standard library, and clones do not affect each other.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use proptest::prelude::*;

use super::{FAN_BITS, IdMap, LEAF_ENTRIES_MAX, Node, RECENT_ENTRIES_MAX};

const FULL: u32 = LEAF_ENTRIES_MAX as u32;

// Checks the order and the bounds of the leaves, and returns all entries as (key, slot).
fn entries(map: &IdMap) -> BTreeSet<(u128, u32)> {
    let mut found = BTreeSet::new();
    collect(&map.root, 0, 0, &mut found);
    found
}

fn collect(node: &Node, path: u64, bits: u32, found: &mut BTreeSet<(u128, u32)>) {
    match node {
        Node::Branch(children) => {
            for (digit, child) in (0..).zip(children.iter()) {
                collect(child, path << FAN_BITS | digit, bits + FAN_BITS, found);
            }
        }
        Node::Leaf(leaf) => {
            let tags: BTreeSet<u32> = leaf.settled.iter().map(|entry| entry.tag).collect();
            let is_one_tag = tags.len() <= 1;
            assert!(leaf.settled.len() <= LEAF_ENTRIES_MAX || is_one_tag);
            assert!(leaf.recent.len() <= RECENT_ENTRIES_MAX);
            for entries in [&leaf.settled, &leaf.recent] {
                assert!(entries.iter().is_sorted_by_key(|entry| entry.tag));
            }
            for entry in leaf.settled.iter().chain(leaf.recent.iter()) {
                assert_eq!(u64::from(entry.tag) << 31 >> (63 - bits), path, "in the leaf of its tag");
                let key = entry.key.iter().rev().fold(0, |key, word| key << 32 | u128::from(*word));
                assert!(found.insert((key, entry.slot)), "once");
            }
        }
    }
}

fn find(map: &IdMap, number: u32) -> Option<u32> {
    map.get(number.into(), |_| true)
}

#[test]
fn empty_map_finds_nothing() {
    let mut map = IdMap::new();
    assert_eq!(map.get(0, |_| true), None);
    map.remove(0, 0);
    assert_eq!(entries(&map), BTreeSet::new());
}

#[test]
fn every_inserted_slot_is_found_and_no_other() {
    let mut map = IdMap::new();
    (0..50_000).for_each(|number| map.insert(number.into(), number));
    assert_eq!(entries(&map), (0..50_000).map(|number| (number.into(), number)).collect());
    assert!((0..50_000).all(|number| find(&map, number) == Some(number)));
    assert!((50_000..60_000).all(|number| find(&map, number).is_none()));
}

#[test]
fn bulk_building_gives_the_same_answers_as_inserting() {
    for count in [0, 1, FULL, FULL + 1, 3 * FULL, 50_000] {
        let map = IdMap::of((0..count).map(|number| (number.into(), number)));
        assert_eq!(entries(&map), (0..count).map(|number| (number.into(), number)).collect());
        assert!((0..count).all(|number| find(&map, number) == Some(number)), "count {count}");
        assert_eq!(find(&map, count), None);
    }
}

#[test]
fn slots_with_one_key_are_told_apart() {
    let mut map = IdMap::new();
    (0..1_000).for_each(|slot| map.insert(42, slot));
    assert!((0..1_000).all(|wanted| map.get(42, |slot| slot == wanted) == Some(wanted)));
    assert_eq!(map.get(42, |_| false), None);
    let bulk = IdMap::of((0..1_000).map(|slot| (42, slot)));
    assert_eq!(entries(&bulk), entries(&map));
    (0..1_000).for_each(|slot| map.remove(42, slot));
    assert_eq!(entries(&map), BTreeSet::new());
}

#[test]
fn a_slot_that_is_not_there_is_removed_without_a_copy() {
    let mut map = IdMap::of([(7, 7)]);
    let Node::Leaf(before) = map.root.clone() else { panic!("one entry fits a leaf") };
    map.remove(7, 8);
    map.remove(8, 7);
    assert!(matches!(&map.root, Node::Leaf(after) if Arc::ptr_eq(&after.settled.0, &before.settled.0)));
}

#[test]
fn a_map_that_was_emptied_can_be_filled_again() {
    let mut map = IdMap::new();
    for start in [0, 20_000] {
        (start..start + 20_000).for_each(|number| map.insert(number.into(), number));
        for number in start..start + 20_000 {
            map.remove(number.into(), number);
            assert_eq!(find(&map, number), None);
        }
        assert_eq!(entries(&map), BTreeSet::new());
    }
}

// A map, and its expected content. Several slots by key, because some keys are hashes of several names.
#[derive(Clone, Default)]
struct Known {
    map: IdMap,
    model: BTreeMap<u128, BTreeSet<u32>>,
}

impl Known {
    fn insert(&mut self, key: u128, slot: u32) {
        if self.model.entry(key).or_default().insert(slot) {
            self.map.insert(key, slot);
        }
    }

    fn insert_all(&mut self, entries: impl Iterator<Item = (u128, u32)>) {
        let is_new = |(key, slot): &(u128, u32)| self.model.entry(*key).or_default().insert(*slot);
        self.map.insert_all(entries.filter(is_new).collect::<Vec<_>>());
    }

    fn remove_all(&mut self, entries: impl Iterator<Item = (u128, u32)> + Clone) {
        for (key, slot) in entries.clone() {
            self.model.entry(key).or_default().remove(&slot);
        }
        self.map.remove_all(entries);
    }

    fn remove(&mut self, key: u128, slot: u32) {
        self.model.entry(key).or_default().remove(&slot);
        self.map.remove(key, slot);
    }

    fn check(&self) {
        let slots = |(key, slots): (&u128, &BTreeSet<u32>)| -> Vec<(u128, u32)> {
            slots.iter().map(|slot| (*key, *slot)).collect()
        };
        assert_eq!(entries(&self.map), self.model.iter().flat_map(slots).collect());
        for (key, slots) in &self.model {
            assert!(slots.iter().all(|wanted| self.map.get(*key, |slot| slot == *wanted) == Some(*wanted)));
            assert_eq!(self.map.get(*key, |slot| !slots.contains(&slot)), None);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if std::env::var_os("ANNALS_TEST_ALL").is_some() { 48 } else { 16 }))]

    // Few keys, so that steps meet, or many, so that leaves split; several versions that diverge.
    #[test]
    fn each_version_finds_what_it_has(
        steps in prop::collection::vec((0..400_u32, 0..400_u32, 0..8_usize, 0..100_u8), 0..1_500),
        keys in prop_oneof![Just(1), Just(3), Just(100), Just(u32::MAX)],
        first_count in prop_oneof![Just(0), Just(FULL), Just(10 * FULL)],
    ) {
        let first = (0..first_count).map(|number| (u128::from(number % keys), number));
        let mut versions = vec![Known { map: IdMap::of(first.clone()), ..Known::default() }];
        first.for_each(|(key, slot)| { versions[0].model.entry(key).or_default().insert(slot); });
        for (number, slot, version, what) in steps {
            let count = versions.len();
            let version = version % count;
            let key = (number % keys).into();
            match what {
                0..55 => versions[version].insert(key, slot),
                55..60 => {
                    let many = (slot..slot + number).map(|slot| (u128::from((number + slot) % keys), slot));
                    versions[version].insert_all(many);
                }
                60..87 => versions[version].remove(key, slot),
                87..90 => {
                    let many = (slot..slot + number).map(|slot| (u128::from((number + slot) % keys), slot));
                    versions[version].remove_all(many);
                }
                90..95 if count > 1 => drop(versions.swap_remove(version)),
                _ => versions.push(versions[version].clone()),
            }
        }
        versions.iter().for_each(Known::check);
    }
}
