//! Id maps behave as the maps of the standard library, and clones do not disturb each other.

use std::collections::HashSet;

use proptest::prelude::*;

use super::leaf::LEAF_ENTRIES_MAX;
use super::{FAN, IdMap, Node, Twig};

// A map and the key of each slot, as a table has them. The hash of a key is narrow where keys are to collide.
#[derive(Clone)]
struct Keyed {
    map: IdMap,
    keys: Vec<Option<u32>>,
    hashes: u32,
}

impl Keyed {
    fn new(hashes: u32) -> Keyed {
        Keyed { map: IdMap::new(), keys: Vec::new(), hashes }
    }

    fn hash(&self, key: u32) -> u64 {
        hash(key % self.hashes)
    }

    fn push(&mut self, key: u32) {
        let (slot, hashes) = (self.keys.len() as u32, self.hashes);
        let hash_of =
            |slot: u32| self.keys.get(slot as usize).copied().flatten().map(|key| hash(key % hashes));
        self.map.insert(hash(key % hashes), slot, hash_of);
        self.keys.push(Some(key));
    }

    fn find(&self, key: u32) -> Option<u32> {
        self.map.get(self.hash(key), |slot| self.keys.get(slot as usize) == Some(&Some(key)))
    }

    fn remove(&mut self, key: u32) {
        let Some(slot) = self.find(key) else { return };
        self.map.remove(self.hash(key), slot);
        self.keys[slot as usize] = None;
    }

    fn check(&self, keys: u32) {
        check(&self.map);
        for key in 0..keys {
            let slot = self.keys.iter().position(|known| *known == Some(key)).map(|slot| slot as u32);
            assert_eq!(self.find(key), slot, "key {key}");
        }
    }
}

// Checks the runs of every node and counts the entries.
fn check(map: &IdMap) -> usize {
    map.surplus.len() + check_node(&map.root)
}

fn check_node(node: &Node) -> usize {
    match node {
        Node::Branch(children) => children.iter().map(|child| check_node(child)).sum(),
        Node::Twig(twig) => check_runs(twig),
    }
}

fn check_runs(twig: &Twig) -> usize {
    let mut count = 0;
    let mut head = 0;
    while head < FAN {
        let run_len = twig.run_len(head);
        assert!(run_len.is_power_of_two() && head % run_len == 0, "run of {run_len} at {head}");
        assert!(twig.leaves[head + 1..head + run_len].iter().all(Option::is_none));
        let leaf_count = twig.leaf(head).iter().count();
        assert!(leaf_count <= LEAF_ENTRIES_MAX);
        count += leaf_count;
        head += run_len;
    }
    count
}

// Stands for a good hash: neighbouring numbers get unrelated results.
fn hash(number: u32) -> u64 {
    let mixed = (u64::from(number) + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (mixed ^ mixed >> 29).wrapping_mul(0xBF58_476D_1CE4_E5B9)
}

fn find(map: &IdMap, number: u32) -> Option<u32> {
    map.get(hash(number), |slot| slot == number)
}

#[test]
fn empty_map_finds_nothing() {
    let mut map = IdMap::new();
    assert_eq!(map.get(0, |_| true), None);
    map.remove(0, 0);
    assert_eq!(check(&map), 0);
}

#[test]
fn every_inserted_slot_is_found_and_no_other() {
    let mut map = IdMap::new();
    (0..50_000).for_each(|number| map.insert(hash(number), number, |slot| Some(hash(slot))));
    assert_eq!(check(&map), 50_000);
    assert!((0..50_000).all(|number| find(&map, number) == Some(number)));
    assert!((50_000..60_000).all(|number| find(&map, number).is_none()));
}

#[test]
fn bulk_building_gives_the_same_answers_as_inserting() {
    for count in [0, 1, 56, 57, 1_000, 50_000] {
        let map = IdMap::from_hashed((0..count).map(|number| (hash(number), number)));
        assert_eq!(check(&map), count as usize);
        assert!((0..count).all(|number| find(&map, number) == Some(number)), "count {count}");
        assert_eq!(find(&map, count), None);
    }
}

#[test]
fn slots_with_one_hash_are_told_apart() {
    let mut map = IdMap::new();
    (0..1_000).for_each(|slot| map.insert(42, slot, |_| Some(42)));
    assert!((0..1_000).all(|wanted| map.get(42, |slot| slot == wanted) == Some(wanted)));
    assert_eq!(map.get(42, |_| false), None);
    let bulk = IdMap::from_hashed((0..1_000).map(|slot| (42, slot)));
    assert_eq!(check(&bulk), 1_000);
    (0..1_000).for_each(|slot| map.remove(42, slot));
    assert_eq!(check(&map), 0);
}

#[test]
fn weak_hashes_are_spread() {
    let mut map = IdMap::new();
    (0..100_000_u32).for_each(|number| map.insert(number.into(), number, |slot| Some(slot.into())));
    assert_eq!(check(&map), 100_000);
    assert!((0..100_000).all(|number| map.get(u64::from(number), |slot| slot == number) == Some(number)));
}

#[test]
fn a_map_that_was_emptied_can_be_filled_again() {
    let mut map = IdMap::new();
    for _ in 0..2 {
        (0..20_000).for_each(|number| map.insert(hash(number), number, |slot| Some(hash(slot))));
        for number in 0..20_000 {
            map.remove(hash(number), number);
            assert_eq!(find(&map, number), None);
        }
        assert_eq!(check(&map), 0);
    }
}

#[test]
fn a_removal_leaves_clones_alone() {
    let mut map = IdMap::from_hashed((0..5_000).map(|number| (hash(number), number)));
    let snapshot = map.clone();
    (0..5_000).for_each(|number| map.remove(hash(number), number));
    assert!((0..5_000).all(|number| find(&snapshot, number) == Some(number) && find(&map, number).is_none()));
}

#[test]
fn what_was_thrown_away_does_not_pile_up() {
    let mut kept = Keyed::new(u32::MAX);
    (0..1_000).for_each(|key| kept.push(key));
    for attempt in 1..200 {
        let mut tried = kept.clone();
        (0..1_000).for_each(|key| tried.push(attempt * 1_000 + key));
        kept.push(1_000_000 + attempt);
    }
    let entries = check(&kept.map);
    assert!(entries < 4_000, "{entries} entries for {} keys", kept.keys.len());
    assert!((0..1_000).all(|key| kept.find(key) == Some(key)) && kept.find(2_000).is_none());
}

#[test]
fn clones_are_filled_from_several_threads() {
    const KEYS: u32 = 30_000;
    let base = Keyed::new(u32::MAX);
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let mut own = base.clone();
            scope.spawn(move || {
                let keys = thread * KEYS..(thread + 1) * KEYS;
                keys.clone().for_each(|key| own.push(key));
                assert!(keys.clone().all(|key| own.find(key) == Some(key - keys.start)));
                assert!((0..4 * KEYS).filter(|key| own.find(*key).is_some()).count() == KEYS as usize);
            });
        }
    });
}

proptest! {
    // Few keys and few hashes, so that steps meet: collisions in the whole tag, and clones that have different keys in
    // the same slots.
    #[test]
    fn each_version_finds_its_own_keys(
        steps in prop::collection::vec((0..400_u32, 0..8_usize, 0..100_u8), 0..1_500),
        hashes in prop_oneof![Just(1_u32), Just(3), Just(100), Just(400)],
    ) {
        let mut versions = vec![Keyed::new(hashes)];
        for (key, version, what) in steps {
            let version = version % versions.len();
            let count = versions.len();
            let keyed = &mut versions[version];
            match what {
                0..60 if keyed.find(key).is_none() => keyed.push(key),
                0..96 => keyed.remove(key),
                96..98 if count > 1 => drop(versions.swap_remove(version)),
                _ => {
                    let clone = keyed.clone();
                    versions.push(clone);
                }
            }
        }
        for keyed in &versions {
            let keys: HashSet<u32> = keyed.keys.iter().flatten().copied().collect();
            prop_assert_eq!(keys.len(), keyed.keys.iter().flatten().count());
            keyed.check(400);
        }
    }
}
