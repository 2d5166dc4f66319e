//! Id maps behave as the maps of the standard library, and clones do not disturb each other.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use proptest::prelude::*;

use super::leaf::LEAF_ENTRIES_MAX;
use super::{IdMap, Node, Twig, run};

// A map and the name of each slot, as a table has them. The key of a name is narrow where names are to collide; where it is
// not, it is all of the name, and the map may vouch.
#[derive(Clone)]
struct Keyed {
    map: IdMap,
    names: Vec<Option<u32>>,
    keys: u32,
}

impl Keyed {
    fn new(keys: u32) -> Keyed {
        Keyed { map: IdMap::new(), names: Vec::new(), keys }
    }

    fn key_at(&self, slot: u32) -> Option<u128> {
        self.names.get(slot as usize).copied().flatten().map(|name| key(name % self.keys))
    }

    fn push(&mut self, name: u32) {
        let slot = self.names.len() as u32;
        let mut map = std::mem::take(&mut self.map);
        map.insert(key(name % self.keys), slot, |slot| self.key_at(slot));
        self.map = map;
        self.names.push(Some(name));
    }

    fn find(&self, name: u32) -> Option<u32> {
        let has_it = |slot: u32| self.names.get(slot as usize) == Some(&Some(name));
        let vouches = |slot: u32| self.keys == u32::MAX && self.map.vouches(slot);
        let found = self.map.get(key(name % self.keys), |slot| vouches(slot) || has_it(slot));
        if self.keys == u32::MAX {
            // What is found at once is what is found.
            let own = self.map.get_own(key(name % self.keys));
            assert!(own.is_none() || own == found, "{own:?} at once, {found:?} by looking on");
        }
        found
    }

    fn remove(&mut self, name: u32) {
        let Some(slot) = self.find(name) else { return };
        self.map.remove(key(name % self.keys), slot);
        self.names[slot as usize] = None;
    }

    fn rename(&mut self, name: u32, other: u32) {
        let Some(slot) = self.find(name) else { return };
        let mut map = std::mem::take(&mut self.map);
        map.remove(key(name % self.keys), slot);
        map.insert(key(other % self.keys), slot, |slot| self.key_at(slot));
        self.map = map;
        self.names[slot as usize] = Some(other);
    }

    fn go_on_after(&mut self, lost: &Keyed) {
        let mut map = std::mem::take(&mut self.map);
        let end = self.names.len() as u32;
        map.go_on_after(&lost.map, end, |slot| lost.key_at(slot), |slot| self.key_at(slot));
        self.map = map;
    }

    fn check(&self, names: u32) {
        check(&self.map);
        let named = (0..).zip(&self.names).filter_map(|(slot, name)| Some(((*name)?, slot)));
        let slots: HashMap<u32, u32> = named.collect();
        for name in 0..names {
            assert_eq!(self.find(name), slots.get(&name).copied(), "name {name}");
        }
    }
}

// Checks the runs of every node and counts the entries.
fn check(map: &IdMap) -> usize {
    map.surplus.len() + check_node(&map.root)
}

fn check_node(node: &Node) -> usize {
    match node {
        Node::Branch(children) => children.iter().map(check_node).sum(),
        Node::Twig(leaves) => check_runs(leaves),
    }
}

fn check_runs(leaves: &Twig) -> usize {
    let mut count = 0;
    let mut at = 0;
    assert!(leaves.len().is_power_of_two());
    while at < leaves.len() {
        let (start, run_len) = run(leaves, at);
        assert!(start == at && run_len.is_power_of_two() && at % run_len == 0, "run of {run_len} at {at}");
        let leaf_count = leaves[at].iter().count();
        assert!(leaf_count <= LEAF_ENTRIES_MAX);
        count += leaf_count;
        at += run_len;
    }
    count
}

fn key(number: u32) -> u128 {
    number.into()
}

fn find(map: &IdMap, number: u32) -> Option<u32> {
    map.get(key(number), |slot| slot == number)
}

#[test]
fn empty_map_finds_nothing() {
    let mut map = IdMap::new();
    assert_eq!(map.get(0, |slot| slot != u32::MAX), None);
    map.remove(0, 0);
    assert_eq!(check(&map), 0);
}

#[test]
fn every_inserted_slot_is_found_and_no_other() {
    let mut map = IdMap::new();
    (0..50_000).for_each(|number| map.insert(key(number), number, |slot| Some(key(slot))));
    assert_eq!(check(&map), 50_000);
    assert!((0..50_000).all(|number| find(&map, number) == Some(number) && map.vouches(number)));
    assert!((50_000..60_000).all(|number| find(&map, number).is_none() && !map.vouches(number)));
}

#[test]
fn bulk_building_gives_the_same_answers_as_inserting() {
    const FULL: u32 = LEAF_ENTRIES_MAX as u32;
    for count in [0, 1, FULL, FULL + 1, 3 * FULL, 50_000] {
        let map = IdMap::of((0..count).map(|number| (key(number), number)));
        assert_eq!(check(&map), count as usize);
        assert!((0..count).all(|number| find(&map, number) == Some(number)), "count {count}");
        assert_eq!(find(&map, count), None);
    }
}

#[test]
fn slots_with_one_key_are_told_apart() {
    let mut map = IdMap::new();
    (0..1_000).for_each(|slot| map.insert(42, slot, |_| Some(42)));
    assert!((0..1_000).all(|wanted| map.get(42, |slot| slot == wanted) == Some(wanted)));
    assert_eq!(map.get(42, |_| false), None);
    let bulk = IdMap::of((0..1_000).map(|slot| (42, slot)));
    assert_eq!(check(&bulk), 1_000);
    (0..1_000).for_each(|slot| map.remove(42, slot));
    assert_eq!(check(&map), 0);
}

#[test]
fn a_map_that_was_emptied_can_be_filled_again() {
    let mut map = IdMap::new();
    for start in [0, 20_000] {
        (start..start + 20_000).for_each(|number| map.insert(key(number), number, |slot| Some(key(slot))));
        for number in start..start + 20_000 {
            map.remove(key(number), number);
            assert_eq!(find(&map, number), None);
        }
        assert_eq!(check(&map), 0);
    }
}

#[test]
fn a_removal_leaves_clones_alone() {
    let mut map = IdMap::of((0..5_000).map(|number| (key(number), number)));
    let snapshot = map.clone();
    (0..5_000).for_each(|number| map.remove(key(number), number));
    assert!((0..5_000).all(|number| find(&snapshot, number) == Some(number) && find(&map, number).is_none()));
}

#[test]
fn whoever_goes_on_after_a_loss_puts_in_place_again_and_vouches() {
    let mut kept = Keyed::new(u32::MAX);
    (0..1_000).for_each(|name| kept.push(name));
    for attempt in 1..200 {
        let mut lost = kept.clone();
        (0..1_000).for_each(|name| lost.push(attempt * 1_000 + name));
        let mut next = kept.clone();
        next.go_on_after(&lost);
        assert_eq!(check(&next.map), kept.names.len(), "nothing that was lost is left");
        next.push(1_000_000 + attempt);
        assert!(!next.map.is_fork && next.map.vouches(next.names.len() as u32 - 1));
        assert!(
            kept.find(1_000_000 + attempt).is_none() && (0..1_000).all(|name| next.find(name) == Some(name))
        );
        kept = next;
    }
}

#[test]
fn what_was_lost_after_it_was_put_in_and_removed_is_never_found() {
    for renames in [false, true] {
        let mut kept = Keyed::new(u32::MAX);
        (0..100).for_each(|name| kept.push(name));
        let mut lost = kept.clone();
        lost.push(500);
        if renames {
            lost.rename(500, 501)
        } else {
            lost.remove(500)
        }
        kept.go_on_after(&lost);
        kept.push(600);
        assert_eq!((kept.find(500), kept.find(501), kept.find(600)), (None, None, Some(100)));
    }
}

#[test]
fn a_fork_and_those_who_go_on_in_place_do_not_see_each_other() {
    let mut main = Keyed::new(u32::MAX);
    (0..500).for_each(|name| main.push(name));
    let mut fork = main.clone();
    fork.map.fork();
    (1_000..3_000).for_each(|name| fork.push(name));
    (3_000..5_000).for_each(|name| main.push(name));
    assert!(!main.map.is_fork && fork.map.is_fork);
    for name in 0..5_000 {
        assert_eq!(fork.find(name).is_some(), name < 500 || (1_000..3_000).contains(&name), "name {name}");
        assert_eq!(main.find(name).is_some(), name < 500 || (3_000..5_000).contains(&name), "name {name}");
    }
    assert_eq!(check(&main.map), 2_500);
}

#[test]
fn clones_are_filled_from_several_threads() {
    const NAMES: u32 = 30_000;
    let base = Keyed::new(u32::MAX);
    let forks = std::thread::scope(|scope| {
        let threads = (0..4).map(|thread| {
            let mut own = base.clone();
            scope.spawn(move || {
                let names = thread * NAMES..(thread + 1) * NAMES;
                names.clone().for_each(|name| own.push(name));
                assert!(names.clone().all(|name| own.find(name) == Some(name - names.start)));
                assert!((0..4 * NAMES).filter(|name| own.find(*name).is_some()).count() == NAMES as usize);
                own.map.is_fork
            })
        });
        let threads: Vec<_> = threads.collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).filter(|is_fork| *is_fork).count()
    });
    assert_eq!(forks, 3, "one of them goes on in place");
}

#[test]
fn readers_find_what_their_version_has_while_another_thread_goes_on() {
    let mut main = Keyed::new(u32::MAX);
    let (sender, receiver) = std::sync::mpsc::sync_channel::<Arc<Keyed>>(4);
    std::thread::scope(|scope| {
        scope.spawn(move || {
            for version in receiver {
                let count = version.names.len() as u32;
                assert!((0..count).all(|name| version.find(name) == Some(name)));
                assert!((count..count + 100).all(|name| version.find(name).is_none()));
            }
        });
        for name in 0..10_000 {
            main.push(name);
            if name % 100 == 99 {
                sender.send(Arc::new(main.clone())).unwrap();
            }
        }
        drop(sender);
    });
}

proptest! {
    // A step may copy a whole leaf.
    #![proptest_config(ProptestConfig::with_cases(48))]

    // Few names and few keys, so that steps meet: collisions in the whole key, and clones that have different names in
    // the same slots. Many that stay while others come and go, so that leaves are full.
    #[test]
    fn each_version_finds_its_own_names(
        steps in prop::collection::vec((0..400_u32, 0..8_usize, 0..100_u8), 0..1_500),
        keys in prop_oneof![Just(1_u32), Just(3), Just(100), Just(u32::MAX)],
        staying in prop_oneof![Just(0), Just(LEAF_ENTRIES_MAX as u32 - 30)],
    ) {
        let mut versions = vec![Keyed::new(keys)];
        (0..staying).for_each(|number| versions[0].push(10_000 + number));
        for (name, version, what) in steps {
            let version = version % versions.len();
            let count = versions.len();
            let keyed = &mut versions[version];
            match what {
                0..60 if keyed.find(name).is_none() => keyed.push(name),
                0..86 => keyed.remove(name),
                86..92 if keyed.find(name + 1).is_none() => keyed.rename(name, name + 1),
                92..94 => {
                    let mut lost = keyed.clone();
                    (0..what - 91).for_each(|more| lost.push(1_000 + u32::from(more)));
                    if name % 4 == 0 {
                        lost.rename(1_000, name % 8 + 2_000);
                    }
                    keyed.go_on_after(&lost);
                }
                94..97 if count > 1 => drop(versions.swap_remove(version)),
                97 => keyed.map.fork(),
                _ => {
                    let clone = keyed.clone();
                    versions.push(clone);
                }
            }
        }
        for keyed in &versions {
            let names: HashSet<u32> = keyed.names.iter().flatten().copied().collect();
            prop_assert_eq!(names.len(), keyed.names.iter().flatten().count());
            keyed.check(402);
        }
    }
}
