//! Vectors behave as those of the standard library, and share unchanged parts.

use std::sync::Arc;

use proptest::prelude::*;

use super::tree::Tree;
use super::{LEAF_LEN, Vector};

fn numbers(len: usize) -> Vector<usize> {
    (0..len).collect()
}

fn contents(vector: &Vector<usize>) -> Vec<usize> {
    vector.iter().copied().collect()
}

#[test]
fn empty_vector_has_no_element() {
    let vector = numbers(0);
    assert_eq!((vector.get(0), vector.iter().next(), vector.len()), (None, None, 0));
}

#[test]
fn elements_are_found_across_every_growth_of_the_root() {
    for len in [31, 32, 33, 1_023, 1_024, 1_025, 1_055, 1_056, 32_768, 32_800, 40_000] {
        let vector = numbers(len);
        assert!((0..len).all(|index| vector.get(index) == Some(&index)), "length {len}");
        assert_eq!(vector.get(len), None, "length {len}");
        assert_eq!(contents(&vector), (0..len).collect::<Vec<_>>(), "length {len}");
    }
}

#[test]
fn a_fifth_level_grows_above_a_million_elements() {
    let len = 1 << 20 | LEAF_LEN;
    let vector: Vector<u32> = (0..len as u32).collect();
    assert!(vector.iter().copied().eq(0..len as u32));
}

#[test]
fn a_tree_grows_to_its_fifth_height_and_leads_to_every_leaf() {
    let mut tree = Tree::new();
    let last = 1 << 25;
    for index in (0..=last).step_by(LEAF_LEN) {
        tree.push(index, Arc::new([(); LEAF_LEN]));
    }
    assert!(
        [0, 31, 1 << 10, 1 << 20, last - 1, last].iter().all(|index| tree.leaf(*index).len() == LEAF_LEN)
    );
}

#[test]
fn iteration_starts_anywhere_and_knows_its_length() {
    let vector = numbers(1_100);
    for from in [0, 1, 31, 32, 33, 1_055, 1_056, 1_087, 1_088, 1_099, 1_100, 5_000] {
        let elements = vector.iter_from(from);
        assert_eq!(elements.len(), 1_100_usize.saturating_sub(from));
        assert_eq!(elements.copied().collect::<Vec<_>>(), (from..1_100).collect::<Vec<_>>());
    }
}

#[test]
fn change_behind_the_end_is_refused() {
    assert_eq!(numbers(40).get_mut(40), None);
    assert_eq!(numbers(64).get_mut(64), None);
}

#[test]
fn change_after_a_clone_leaves_the_clone_alone() {
    let mut vector = numbers(2_000);
    let snapshot = vector.clone();
    vector.set(7, 0);
    vector.set(1_999, 0);
    vector.push(2_000);
    assert_eq!(contents(&snapshot), (0..2_000).collect::<Vec<_>>());
    assert_eq!((vector.get(7), vector.get(1_999), vector.get(2_000)), (Some(&0), Some(&0), Some(&2_000)));
}

#[test]
fn elements_need_not_be_plain_data() {
    let mut vector: Vector<String> = (0..100).map(|number| number.to_string()).collect();
    let snapshot = vector.clone();
    vector.get_mut(3).expect("index 3 of 100").push('!');
    assert_eq!((vector.get(3).unwrap().as_str(), snapshot.get(3).unwrap().as_str()), ("3!", "3"));
}

#[derive(Debug, Clone)]
enum Step {
    Push(usize),
    Extend(usize),
    Set(usize, usize),
    Keep,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => any::<usize>().prop_map(Step::Push),
        1 => (0..200_usize).prop_map(Step::Extend),
        6 => any::<(usize, usize)>().prop_map(|(index, value)| Step::Set(index, value)),
        1 => Just(Step::Keep),
    ]
}

proptest! {
    #[test]
    fn vector_and_its_snapshots_agree_with_a_plain_vector(steps in prop::collection::vec(step(), 0..300)) {
        let (mut vector, mut model) = (Vector::new(), Vec::new());
        let mut kept = Vec::new();
        for step in steps {
            match step {
                Step::Push(value) => {
                    vector.push(value);
                    model.push(value);
                }
                Step::Extend(count) => {
                    vector.extend(0..count);
                    model.extend(0..count);
                }
                Step::Set(index, value) if !model.is_empty() => {
                    vector.set(index % model.len(), value);
                    let len = model.len();
                    model[index % len] = value;
                }
                Step::Set(..) => {}
                Step::Keep => kept.push((vector.clone(), model.clone())),
            }
        }
        kept.push((vector, model));
        for (vector, model) in kept {
            prop_assert_eq!(vector.len(), model.len());
            prop_assert_eq!(contents(&vector), model);
        }
    }
}
