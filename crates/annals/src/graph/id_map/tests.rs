//! Id maps behave as the maps of the standard library, and share what they do not change.

use std::collections::HashMap;

use proptest::prelude::*;

use super::{FAN, IdMap, LEAF_ENTRIES_MAX, Node, Twig};

// Checks the runs and the counts of every node and counts the entries.
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
        let leaf = twig.leaf(head);
        assert_eq!((twig.count(head), leaf.count()), (leaf.iter().count(), leaf.iter().count()));
        assert!(leaf.count() <= LEAF_ENTRIES_MAX);
        count += leaf.count();
        head += run_len;
    }
    count
}

fn is_one_empty_leaf(map: &IdMap) -> bool {
    map.surplus.is_empty() && matches!(&*map.root, Node::Twig(twig) if twig.starts == 1 && twig.count(0) == 0)
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
    assert!(!map.remove(0, 0) && map.is_empty());
}

#[test]
fn every_inserted_slot_is_found_and_no_other() {
    let mut map = IdMap::new();
    (0..50_000).for_each(|number| map.insert(hash(number), number));
    assert_eq!(check(&map), 50_000);
    assert!((0..50_000).all(|number| find(&map, number) == Some(number)));
    assert!((50_000..60_000).all(|number| find(&map, number).is_none()));
}

#[test]
fn bulk_building_gives_the_same_answers_as_inserting() {
    for count in [0, 1, 56, 57, 1_000, 50_000] {
        let map = IdMap::from_hashed((0..count).map(|number| (hash(number), number)));
        assert_eq!((check(&map), map.len()), (count as usize, count as usize));
        assert!((0..count).all(|number| find(&map, number) == Some(number)), "count {count}");
        assert_eq!(find(&map, count), None);
    }
}

#[test]
fn slots_with_one_hash_are_told_apart() {
    let mut map = IdMap::new();
    (0..1_000).for_each(|slot| map.insert(42, slot));
    assert!((0..1_000).all(|wanted| map.get(42, |slot| slot == wanted) == Some(wanted)));
    assert_eq!(map.get(42, |_| false), None);
    let bulk = IdMap::from_hashed((0..1_000).map(|slot| (42, slot)));
    assert_eq!(check(&bulk), 1_000);
    assert!((0..1_000).all(|slot| map.remove(42, slot)));
    assert!(is_one_empty_leaf(&map), "the tree shrinks to one leaf");
}

#[test]
fn weak_hashes_are_spread() {
    let mut map = IdMap::new();
    (0..100_000_u32).for_each(|number| map.insert(u64::from(number), number));
    assert_eq!(check(&map), 100_000);
    assert!((0..100_000).all(|number| map.get(u64::from(number), |slot| slot == number) == Some(number)));
}

#[test]
fn removing_everything_shrinks_to_one_leaf_that_can_be_filled_again() {
    let mut map = IdMap::new();
    for _ in 0..2 {
        (0..20_000).for_each(|number| map.insert(hash(number), number));
        for number in 0..20_000 {
            assert!(map.remove(hash(number), number));
            assert_eq!(find(&map, number), None);
            if number % 1_000 == 0 {
                assert_eq!(check(&map), 19_999 - number as usize);
            }
        }
        assert!(is_one_empty_leaf(&map));
    }
}

#[test]
fn change_after_a_clone_leaves_the_clone_alone() {
    let mut map = IdMap::from_hashed((0..5_000).map(|number| (hash(number), number)));
    let snapshot = map.clone();
    (5_000..10_000).for_each(|number| map.insert(hash(number), number));
    (0..5_000).for_each(|number| assert!(map.remove(hash(number), number)));
    assert!((0..5_000).all(|number| find(&snapshot, number) == Some(number) && find(&map, number).is_none()));
    assert!((5_000..10_000).all(|number| find(&snapshot, number).is_none()));
}

proptest! {
    // Few numbers and few hashes, so that steps meet. A narrow hash makes collisions in the whole tag.
    #[test]
    fn map_and_its_snapshots_agree_with_a_hash_map(
        steps in prop::collection::vec((0..400_u32, prop::bool::weighted(0.6), prop::bool::weighted(0.02)), 0..1_500),
        hashes in prop_oneof![Just(1_u32), Just(3), Just(100), Just(400)],
    ) {
        let (mut map, mut model) = (IdMap::new(), HashMap::new());
        let mut kept = Vec::new();
        for (number, inserts, keeps) in steps {
            let hash = hash(number % hashes);
            if inserts && !model.contains_key(&number) {
                map.insert(hash, number);
                model.insert(number, hash);
            } else {
                prop_assert_eq!(map.remove(hash, number), model.remove(&number).is_some());
            }
            if keeps {
                kept.push((map.clone(), model.clone()));
            }
        }
        kept.push((map, model));
        for (map, model) in kept {
            prop_assert_eq!(check(&map), model.len());
            prop_assert_eq!(map.len(), model.len());
            for number in 0..400 {
                let found = map.get(hash(number % hashes), |slot| slot == number);
                prop_assert_eq!(found, model.contains_key(&number).then_some(number));
            }
        }
    }
}
