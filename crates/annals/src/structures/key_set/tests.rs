//! Key sets behave as the sets of the standard library, and stay within their bounds.

use std::collections::BTreeSet;
use std::ops::Bound;

use proptest::prelude::*;

use super::leaf::{KEY_BYTES_MAX, LEAF_BYTES_MAX, LEAF_KEYS_MAX};
use super::{Key, KeySet, Node};

// Checks the order, the separators and the heights of the whole tree and returns its leaves as (keys, bytes).
fn check(set: &KeySet) -> Vec<(usize, usize)> {
    let mut leaves = Vec::new();
    assert_eq!(set.root.is_none(), set.is_empty(), "an empty set takes no memory");
    if let Some(root) = &set.root {
        check_node(root, Key::from(&[][..]), None, &mut leaves);
    }
    assert_eq!(leaves.iter().map(|(keys, _)| keys).sum::<usize>(), set.len());
    assert!(set.iter().is_sorted_by(|left, right| left < right));
    assert!(leaves.iter().all(|(keys, _)| *keys > 0), "an empty leaf stayed");
    leaves
}

fn check_node(node: &Node, from: Key, to: Option<Key>, leaves: &mut Vec<(usize, usize)>) -> usize {
    match node {
        Node::Leaf(leaf) => {
            leaf.check();
            let keys = leaf.keys();
            assert!(keys.iter().all(|key| key >= from && to.is_none_or(|to| key < to)));
            let bytes_len = keys.common().len() + keys.rests_len();
            assert!(keys.len() <= LEAF_KEYS_MAX && bytes_len <= LEAF_BYTES_MAX + KEY_BYTES_MAX);
            leaves.push((keys.len(), bytes_len));
            0
        }
        inner => {
            let branch = inner.branch();
            if let Node::Patched(patched) = inner {
                assert!(
                    patched.patches_count() * 8 <= branch.children_len(),
                    "many replaced children stay alive"
                );
            }
            branch.separators.check();
            let children_len = branch.children_len();
            let below: usize = (0..children_len).map(|index| inner.child(index).keys_count()).sum();
            assert_eq!(inner.keys_count(), below);
            assert!(children_len > 0 && branch.children[children_len..].iter().all(Option::is_none));
            let mut heights = (0..children_len).map(|index| {
                let from = if index == 0 { from } else { branch.separators.keys().get(index - 1) };
                let to =
                    if index + 1 == children_len { to } else { Some(branch.separators.keys().get(index)) };
                check_node(inner.child(index), from, to, leaves)
            });
            let height = heights.next().expect("a branch has a child");
            assert!(heights.all(|other| other == height));
            height + 1
        }
    }
}

fn key(number: u32) -> [u8; 4] {
    number.to_be_bytes()
}

fn numbers(keys: impl Iterator<Item = u32>) -> KeySet {
    let mut set = KeySet::new();
    keys.for_each(|number| assert!(set.insert(&key(number))));
    check(&set);
    set
}

fn contents(set: &KeySet) -> Vec<Vec<u8>> {
    set.iter().map(Key::to_vec).collect()
}

fn first(set: &KeySet) -> Option<Vec<u8>> {
    set.first().map(Key::to_vec)
}

// Visits every number below `count` once in a pseudo-random order; `count` is a power of two.
fn shuffled(count: u32) -> impl Iterator<Item = u32> {
    (0..count).map(move |number| number.wrapping_mul(0x9E37_79B1) % count)
}

#[test]
fn empty_set_has_no_key() {
    let mut set = KeySet::new();
    assert!(!set.contains(b"") && !set.remove(b"") && set.is_empty());
    assert!(set.first().is_none() && set.last().is_none() && set.prefix(b"").next().is_none());
}

#[test]
fn empty_key_is_a_key_like_any_other() {
    let mut set = numbers(0..1_000);
    assert!(set.insert(b"") && !set.insert(b""));
    assert_eq!((first(&set), set.len()), (Some(Vec::new()), 1_001));
    assert!(set.remove(b"") && !set.contains(b""));
}

#[test]
fn keys_inserted_in_any_order_come_back_sorted() {
    let sorted: Vec<Vec<u8>> = (0..16_384).map(|number| key(number).to_vec()).collect();
    assert_eq!(contents(&numbers(0..16_384)), sorted);
    assert_eq!(contents(&numbers((0..16_384).rev())), sorted);
    assert_eq!(contents(&numbers(shuffled(16_384))), sorted);
}

#[test]
fn ascending_inserts_leave_full_leaves() {
    let leaves = check(&numbers(0..10_000));
    assert!(leaves[..leaves.len() - 1].iter().all(|(keys, _)| *keys == LEAF_KEYS_MAX));
}

#[test]
fn bulk_building_leaves_full_leaves_and_counts_doubles_once() {
    for count in [0, 1, 128, 129, 5_000, 200_000] {
        let set = KeySet::from_sorted((0..count).flat_map(|number| [key(number), key(number)]));
        let leaves = check(&set);
        assert_eq!(leaves.len(), (count as usize).div_ceil(LEAF_KEYS_MAX));
        assert!((0..count).all(|number| set.contains(&key(number))));
    }
}

#[test]
fn a_key_and_its_place_lead_to_each_other() {
    for count in [0u32, 1, 7, 8, 129, 40_000] {
        let set = numbers((0..count).map(|number| number * 2));
        for place in (0..count).step_by(usize::try_from(count / 500).unwrap_or(0) + 1) {
            let found = set.nth(place as usize).unwrap();
            assert_eq!(
                (found.to_vec(), set.rank(&found.to_vec())),
                (key(place * 2).to_vec(), place as usize)
            );
            assert_eq!(set.rank(&key(place * 2 + 1)), place as usize + 1);
        }
        assert!(set.nth(count as usize).is_none());
        assert_eq!(set.count_prefix(&[0, 0, 0]), count.min(128) as usize);
        assert_eq!(set.count_prefix(b""), count as usize);
        assert_eq!(set.count_prefix(&[0xFF]), 0);
    }
}

#[test]
fn bulk_built_set_can_be_changed() {
    let mut set = KeySet::from_sorted((0..10_000).map(|number| key(number * 2)));
    assert!((0..10_000).all(|number| set.insert(&key(number * 2 + 1))));
    check(&set);
    assert!((0..20_000).all(|number| set.remove(&key(number))));
    assert_eq!(check(&set), []);
}

#[test]
fn longest_keys_with_a_long_common_prefix_are_kept_apart() {
    let long = |number: u32| [vec![b'x'; KEY_BYTES_MAX - 4], key(number).to_vec()].concat();
    let mut set = KeySet::new();
    assert!(shuffled(2_048).all(|number| set.insert(&long(number))));
    // The last leaf may have been split off with only one key.
    let leaves = check(&set);
    assert!(leaves[..leaves.len() - 1].iter().all(|(keys, _)| *keys >= 2), "{leaves:?}");
    assert!(contents(&set).into_iter().eq((0..2_048).map(long)));
    assert!(shuffled(2_048).all(|number| set.remove(&long(number))));
    assert!(set.is_empty());
}

#[test]
fn a_long_common_prefix_is_stored_once_until_a_key_lacks_it() {
    let long = |number: u32| [vec![b'x'; KEY_BYTES_MAX - 4], key(number).to_vec()].concat();
    let mut set = KeySet::from_sorted((0..1_024).map(long));
    assert_eq!(check(&set).len(), 1_024 / LEAF_KEYS_MAX);
    let others = [vec![b'w'], vec![b'x'; KEY_BYTES_MAX - 5], vec![b'x'; KEY_BYTES_MAX], vec![b'y']];
    assert!(others.iter().all(|other| set.insert(other)));
    assert!(check(&set).len() <= 1_024 / LEAF_KEYS_MAX + others.len());
    let mut all: Vec<Vec<u8>> = (0..1_024).map(long).chain(others.clone()).collect();
    all.sort();
    assert_eq!(contents(&set), all);
    assert!(others.iter().all(|other| set.remove(other)));
    check(&set);
    assert!(contents(&set).into_iter().eq((0..1_024).map(long)));
}

#[test]
fn keys_that_are_prefixes_of_each_other_are_kept_apart() {
    let mut set = KeySet::new();
    assert!((0..=KEY_BYTES_MAX).rev().all(|len| set.insert(&vec![0; len])));
    check(&set);
    assert!(set.iter().map(Key::len).eq(0..=KEY_BYTES_MAX));
    assert!((0..=KEY_BYTES_MAX).all(|len| set.remove(&vec![0; len])));
}

#[test]
#[should_panic(expected = "a key has 513 bytes, at most 512 are allowed")]
fn longer_key_is_refused() {
    KeySet::new().insert(&[0; KEY_BYTES_MAX + 1]);
}

#[test]
fn removing_everything_leaves_nothing_that_can_be_filled_again() {
    let mut set = KeySet::new();
    for _ in 0..2 {
        assert!(shuffled(16_384).all(|number| set.insert(&key(number))));
        assert!(shuffled(16_384).all(|number| set.remove(&key(number.wrapping_add(77) % 16_384))));
        assert_eq!(check(&set), []);
    }
}

#[test]
fn sets_made_in_any_way_are_equal_and_clones_keep_theirs() {
    for count in (0..=14).chain([127, 128, 129]) {
        let set = numbers(shuffled(256).filter(|number| *number < count));
        let mut built = KeySet::new();
        let keys: Vec<[u8; 4]> = (0..count).map(key).collect();
        built.insert_sorted(&keys, &mut |_| {});
        let from_sorted = KeySet::from_sorted(&keys);
        for other in [&built, &from_sorted] {
            check(other);
            assert_eq!(contents(other), contents(&set));
        }
        for from in 0..=count {
            let (low, high) = (key(from), key(count.saturating_sub(1)));
            let range = || set.range(Bound::Excluded(&low), Bound::Included(&high)).map(Key::last_u32);
            assert!(range().eq(from + 1..count));
            let about = set.count_about(Bound::Included(&low), Bound::Unbounded);
            assert!(count > 128 || about == (count - from) as usize);
        }
        let mut changed = set.clone();
        (0..count).for_each(|number| assert!(changed.remove(&key(number)) && !changed.remove(&key(number))));
        assert_eq!(check(&changed), []);
        assert_eq!(contents(&set), (0..count).map(|number| key(number).to_vec()).collect::<Vec<_>>());
    }
}

#[test]
fn removing_most_keys_keeps_leaves_filled() {
    let mut set = numbers(0..65_536);
    (0..65_536).filter(|number| number % 64 != 0).for_each(|number| assert!(set.remove(&key(number))));
    let leaves = check(&set).len();
    assert!(leaves <= 2 * 1_024 / (LEAF_KEYS_MAX / 2) + 1, "{leaves} leaves for 1024 keys");
}

#[test]
fn prefix_finds_what_starts_with_it_and_nothing_else() {
    let mut set = KeySet::new();
    for key in
        [&b""[..], b"a", b"ab", b"ab\0", b"ab\xff", b"ab\xff\xff", b"ac", b"\xff", b"\xff\xff", b"\xff\xffz"]
    {
        set.insert(key);
    }
    let found = |prefix| set.prefix(prefix).map(Key::to_vec).collect::<Vec<_>>();
    assert_eq!(found(b"ab"), [&b"ab"[..], b"ab\0", b"ab\xff", b"ab\xff\xff"]);
    assert_eq!(found(b"ab\xff"), [&b"ab\xff"[..], b"ab\xff\xff"]);
    assert_eq!(found(b"\xff\xff"), [&b"\xff\xff"[..], b"\xff\xffz"]);
    assert_eq!(found(b"b"), [&b""[..]; 0]);
    assert_eq!(found(b"").len(), 10);
}

#[test]
fn crossed_bounds_give_nothing() {
    let set = numbers(0..1_000);
    let (low, high) = (key(10), key(20));
    assert!(set.range(Bound::Included(&high), Bound::Included(&low)).next().is_none());
    assert!(set.range(Bound::Excluded(&low), Bound::Excluded(&low)).next_back().is_none());
    assert_eq!(set.range(Bound::Included(&low), Bound::Included(&low)).count(), 1);
}

#[test]
fn a_range_can_be_eaten_from_both_ends() {
    let set = numbers(0..5_000);
    let mut range = set.iter();
    for number in 0..2_500 {
        assert_eq!(range.next().map(Key::last_u32), Some(number));
        assert_eq!(range.next_back().map(Key::last_u32), Some(4_999 - number));
    }
    assert!(range.next().is_none() && range.next_back().is_none());
}

#[test]
fn change_after_a_clone_leaves_the_clone_alone() {
    let mut set = numbers((0..10_000).map(|number| number * 2));
    let snapshot = set.clone();
    let before = contents(&snapshot);
    (0..10_000).for_each(|number| assert!(set.insert(&key(number * 2 + 1))));
    (0..15_000).for_each(|number| assert!(set.remove(&key(number))));
    check(&set);
    check(&snapshot);
    assert_eq!(contents(&snapshot), before);
}

#[test]
fn no_old_tree_stays_alive_below_a_root_with_few_children() {
    let mut set = numbers(0..10_000);
    for number in (0..10_000).step_by(100) {
        let snapshot = set.clone();
        assert!(set.remove(&key(number)));
        check(&set);
        drop(snapshot);
    }
}

// Keys from few letters are often equal or prefixes of each other; long ones make leaves and branches split early.
fn any_key() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        3 => prop::collection::vec(prop_oneof![Just(0_u8), Just(1), Just(255)], 0..6),
        3 => (0..3_000_u32).prop_map(|number| number.to_be_bytes().to_vec()),
        2 => (0..100_u8, 250..300_usize).prop_map(|(number, len)| [vec![7; len], vec![number]].concat()),
        // As the keys of an index: a long common beginning, a short value, a slot.
        2 => (0..4_u8, 0..40_u32).prop_map(|(value, slot)| [&[9; 120][..], &[value], &key(slot)].concat()),
        1 => (0..30_u8).prop_map(|number| [vec![8; KEY_BYTES_MAX - 1], vec![number]].concat()),
    ]
}

fn any_bound() -> impl Strategy<Value = Bound<Vec<u8>>> {
    prop_oneof![
        3 => any_key().prop_map(Bound::Included),
        3 => any_key().prop_map(Bound::Excluded),
        1 => Just(Bound::Unbounded),
    ]
}

#[derive(Debug, Clone)]
enum Step {
    Insert(Vec<u8>),
    Remove(Vec<u8>),
    RemoveFrom(Vec<u8>, usize),
    Keep,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        60 => any_key().prop_map(Step::Insert),
        20 => any_key().prop_map(Step::Remove),
        2 => (any_key(), 0..300_usize).prop_map(|(key, count)| Step::RemoveFrom(key, count)),
        1 => Just(Step::Keep),
    ]
}

fn take_step(step: &Step, set: &mut KeySet, model: &mut BTreeSet<Vec<u8>>) {
    match step {
        Step::Insert(key) => assert_eq!(set.insert(key), model.insert(key.clone())),
        Step::Remove(key) => assert_eq!(set.remove(key), model.remove(key)),
        Step::RemoveFrom(key, count) => {
            let gone: Vec<_> = model.range(key.clone()..).take(*count).cloned().collect();
            gone.iter().for_each(|key| assert!(set.remove(key) && model.remove(key)));
        }
        Step::Keep => {}
    }
}

proptest! {
    #[test]
    fn set_and_its_snapshots_agree_with_a_sorted_set(steps in prop::collection::vec(step(), 0..2_000)) {
        let (mut set, mut model) = (KeySet::new(), BTreeSet::new());
        let mut kept = Vec::new();
        for step in &steps {
            take_step(step, &mut set, &mut model);
            if let Step::Keep = step {
                kept.push((set.clone(), model.clone()));
            }
        }
        kept.push((set, model));
        for (set, model) in kept {
            check(&set);
            prop_assert!(set.iter().map(Key::to_vec).eq(model.iter().cloned()));
            prop_assert!(set.iter().rev().map(Key::to_vec).eq(model.iter().rev().cloned()));
            prop_assert_eq!(first(&set), model.first().cloned());
            prop_assert_eq!(set.last().map(Key::to_vec), model.last().cloned());
        }
    }

    #[test]
    fn ranges_agree_with_a_sorted_set(
        keys in prop::collection::btree_set(any_key(), 0..1_500),
        bounds in prop::collection::vec((any_bound(), any_bound()), 20),
        turns in prop::collection::vec(any::<bool>(), 40),
    ) {
        let set = KeySet::from_sorted(&keys);
        for (from, to) in bounds {
            let is_inside = |key: &&Vec<u8>| {
                (match &from { Bound::Included(from) => *key >= from, Bound::Excluded(from) => *key > from, _ => true })
                    && (match &to { Bound::Included(to) => *key <= to, Bound::Excluded(to) => *key < to, _ => true })
            };
            let expected: Vec<&Vec<u8>> = keys.iter().filter(is_inside).collect();
            let range = set.range(from.as_ref().map(Vec::as_slice), to.as_ref().map(Vec::as_slice));
            let wanted = expected.iter().map(|key| key.to_vec());
            prop_assert!(range.clone().map(Key::to_vec).eq(wanted.clone()));
            prop_assert!(range.clone().rev().map(Key::to_vec).eq(wanted.rev()));
            let (mut range, mut expected) = (range, expected.into_iter());
            for from_front in &turns {
                let (found, wanted) =
                    if *from_front { (range.next(), expected.next()) } else { (range.next_back(), expected.next_back()) };
                prop_assert_eq!(found.map(Key::to_vec), wanted.cloned());
            }
            // The keys left between both ends are folded, a leaf at a time.
            let left: Vec<Vec<u8>> = expected.cloned().collect();
            let mut folded = Vec::new();
            range.clone().for_each(|key| folded.push(key.to_vec()));
            prop_assert_eq!(&folded, &left);
            // And some of a leaf at a time.
            for (is_back, count) in [(false, 7), (true, 7), (false, usize::MAX), (true, usize::MAX)] {
                let (mut range, mut taken) = (range.clone(), Vec::new());
                while let Some(piece) = range.ahead(is_back) {
                    let piece = piece.some(count, is_back);
                    range.pass(piece.len(), is_back);
                    let keys = piece.keys().map(Key::to_vec);
                    if is_back { taken.extend(keys.rev()) } else { taken.extend(keys) }
                }
                if is_back {
                    taken.reverse();
                }
                prop_assert_eq!(&taken, &left);
            }
        }
    }

    #[test]
    fn a_piece_ends_where_its_keys_do(
        keys in prop::collection::btree_set(prop::collection::vec(0u8..3, 0..6), 1..60),
        at in prop::collection::vec(0u8..3, 0..4),
    ) {
        let set = KeySet::from_sorted(&keys);
        let piece = set.iter().ahead(false).unwrap();
        let of = |piece: super::Piece| piece.keys().map(Key::to_vec).collect::<Vec<_>>();
        let those = |is_there: &dyn Fn(&Vec<u8>) -> bool| keys.iter().filter(|key| is_there(key)).cloned().collect::<Vec<_>>();
        prop_assert_eq!(of(piece.before(&at)), those(&|key| *key < at));
        prop_assert_eq!(of(piece.not_before(&at)), those(&|key| *key >= at));
        let begins = |key: &Vec<u8>| key.starts_with(&at);
        let is_none = !keys.iter().any(begins);
        prop_assert_eq!(of(piece.up_to_prefix(&at, false)), those(&|key| is_none || *key < at));
        prop_assert_eq!(of(piece.up_to_prefix(&at, true)), those(&|key| is_none || *key > at && !begins(key)));
    }
}

proptest! {
    #[test]
    fn keys_added_together_are_those_added_one_by_one(
        batches in proptest::collection::vec(
            (
                0u32..1_000,
                proptest::collection::vec((0u32..3_000, 0usize..40), 0..400),
                proptest::collection::vec(any_key(), 0..100),
                0u32..9_000,
            ),
            1..8,
        ),
    ) {
        let (mut set, mut direct) = (KeySet::new(), BTreeSet::new());
        let mut shared = Vec::new();
        for (first, numbers, others, run) in batches {
            // Many adjacent keys, like counters, keys of several lengths, and sometimes as many as need new branches.
            let mut keys: Vec<Vec<u8>> = numbers
                .iter()
                .map(|(number, more)| [&key(first + number)[..], &vec![b'x'; more % 3 * more]].concat())
                .chain(others)
                .chain((0..run.saturating_sub(6_000)).map(|number| key(first + number).to_vec()))
                .collect();
            keys.sort_unstable();
            let mut told = Vec::new();
            set.insert_sorted(&keys, &mut |key| told.push(key.to_vec()));
            let missing: BTreeSet<Vec<u8>> = keys.into_iter().filter(|key| !direct.contains(key)).collect();
            prop_assert!(told.iter().eq(&missing));
            direct.extend(missing);
            check(&set);
            shared.push((set.clone(), direct.clone()));
        }
        for (set, direct) in shared {
            prop_assert!(set.iter().map(Key::to_vec).eq(direct));
        }
    }
}

#[test]
fn adding_keys_that_are_there_copies_nothing() {
    let set = numbers(0..20_000);
    let mut other = set.clone();
    let keys: Vec<[u8; 4]> = (0..20_000).map(key).collect();
    other.insert_sorted(&keys, &mut |_| {});
    let (Some(Node::Branch(old)), Some(Node::Branch(new))) = (&set.root, &other.root) else {
        panic!("the roots are branches, and not patched");
    };
    assert!(std::sync::Arc::ptr_eq(old, new));
}

proptest! {
    #[test]
    fn keys_removed_together_are_those_removed_one_by_one(
        keys in prop::collection::btree_set(any_key(), 0..1_500),
        batches in prop::collection::vec((any_key(), 0..400_usize, 1..4_usize), 1..8),
    ) {
        let (mut set, mut model) = (KeySet::from_sorted(&keys), keys.clone());
        for (first, count, step) in batches {
            // Adjacent keys, some of them removed before.
            let gone: Vec<&Vec<u8>> = keys.range(first..).take(count).step_by(step).collect();
            let (before, expected) = (set.clone(), model.clone());
            set.remove_sorted(&gone);
            model.retain(|key| gone.binary_search(&key).is_err());
            check(&set);
            prop_assert!(set.iter().map(Key::to_vec).eq(model.iter().cloned()));
            prop_assert!(before.iter().map(Key::to_vec).eq(expected.iter().cloned()));
        }
        set.remove_sorted(&keys.iter().collect::<Vec<_>>());
        prop_assert!(set.is_empty() && set.root.is_none());
    }
}
