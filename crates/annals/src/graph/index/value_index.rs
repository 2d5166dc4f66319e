//! The values held now, by property.

mod notes;

use super::staged::Staged;
use crate::graph::structures::symbols::Symbol;
use crate::structures::key_set::KeySet;
use crate::structures::vector::Vector;
pub(crate) use notes::KeyNotes;
use notes::change;
pub(crate) use notes::set_of;

/// Keys by property. Shape of a key: value key, slot (4).
pub(crate) type ValueIndex = Staged<KeyNotes>;

impl ValueIndex {
    /// All sets, by symbol.
    #[inline]
    pub(crate) fn sets(&self) -> &Vector<KeySet> {
        self.part()
    }

    /// The keys of the property with this number.
    #[inline]
    pub(crate) fn get(&self, property: usize) -> Option<&KeySet> {
        self.sets().get(property)
    }

    /// Adds the key that `append` appends.
    pub(crate) fn insert(&mut self, name: Symbol, append: &impl Fn(&mut Vec<u8>)) {
        self.set(name, append, true);
    }

    pub(crate) fn remove(&mut self, name: Symbol, append: &impl Fn(&mut Vec<u8>)) {
        self.set(name, append, false);
    }

    fn set(&mut self, name: Symbol, append: &impl Fn(&mut Vec<u8>), is_added: bool) {
        let change_now = |sets: &mut Vector<KeySet>| {
            let mut key = Vec::with_capacity(32);
            append(&mut key);
            change(sets, name, &[&key], is_added);
        };
        self.change(change_now, |notes| notes.push(name, append, is_added));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::index::staged::{Behind, Indexer, LAG_MAX};
    use proptest::prelude::*;
    use std::sync::Arc;

    #[derive(Clone, Copy, Debug)]
    enum Step {
        Defer,
        HandOver,
        /// A clone stays, as a snapshot does.
        Share,
        /// The clone before the last goes, as a snapshot does.
        Forget,
        /// Somebody looks at the clone with this number.
        Look(usize),
        Change(Symbol, u32, bool),
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            1 => Just(Step::Defer),
            1 => Just(Step::HandOver),
            1 => Just(Step::Share),
            1 => Just(Step::Forget),
            1 => (0usize..10).prop_map(Step::Look),
            20 => (0u32..3, 0u32..300, any::<bool>())
                .prop_map(|(name, number, is_added)| Step::Change(Symbol(name), number, is_added)),
        ]
    }

    // By property. A key that came and went between may leave an empty set, or none.
    fn keys(index: &ValueIndex) -> Vec<(usize, Vec<Vec<u8>>)> {
        let sets = index.sets().iter().enumerate().filter(|(_, set)| !set.is_empty());
        sets.map(|(property, set)| (property, set.iter().map(<[u8]>::to_vec).collect())).collect()
    }

    fn change_both(index: &mut ValueIndex, direct: &mut Vector<KeySet>, step: Step) {
        let Step::Change(name, number, is_added) = step else { return };
        // Long keys, so that leaves are divided.
        let mut key = vec![7; 200];
        key.extend_from_slice(&number.to_be_bytes());
        index.set(name, &|out| out.extend_from_slice(&key), is_added);
        change(direct, name, &[&key], is_added);
    }

    proptest! {
        #[test]
        fn each_clone_has_the_keys_of_its_time(steps in proptest::collection::vec(step(), 0..600)) {
            let indexer = Arc::<Indexer>::default();
            let (mut index, mut direct) = (ValueIndex::new(Vector::new()), Vector::new());
            let mut shared: Vec<(ValueIndex, Vector<KeySet>)> = Vec::new();
            for step in steps {
                match step {
                    Step::Defer => index.defer(),
                    Step::HandOver | Step::Share => {
                        index.hand_over();
                        Behind::new(&indexer, vec![index.lagging()]).catch_up();
                        if matches!(step, Step::Share) {
                            shared.push((index.clone(), direct.clone()));
                        }
                    }
                    Step::Forget => drop(shared.len().checked_sub(2).map(|at| shared.remove(at))),
                    Step::Look(at) => {
                        if let Some((index, direct)) = shared.get(at) {
                            prop_assert_eq!(keys(index), keys(&ValueIndex::new(direct.clone())));
                        }
                    }
                    Step::Change(..) => change_both(&mut index, &mut direct, step),
                }
            }
            index.hand_over();
            shared.push((index, direct));
            for (index, direct) in shared {
                prop_assert_eq!(keys(&index), keys(&ValueIndex::new(direct)));
            }
        }
    }

    #[test]
    fn very_much_is_done_by_whoever_hands_it_over() {
        let mut index = ValueIndex::new(Vector::new());
        for batch in 0u32..20 {
            index.defer();
            for number in 0u32..20_000 {
                index.insert(Symbol(0), &|key| key.extend([batch, number].map(u32::to_be_bytes).concat()));
            }
            index.hand_over();
            assert!(index.lag() <= LAG_MAX);
        }
        assert_eq!(index.get(0).map(KeySet::len), Some(400_000));
    }

    #[test]
    fn whoever_settles_what_he_tries_settles_nothing_for_those_who_commit() {
        let add = |index: &mut ValueIndex, number: u32| {
            index.defer();
            index.insert(Symbol(0), &|key| key.extend(number.to_be_bytes()));
            index.hand_over();
        };
        let mut index = ValueIndex::new(Vector::new());
        for number in 0u32..20 {
            let mut view = index.clone();
            view.fork();
            add(&mut view, 1_000 + number);
            assert_eq!(view.get(0).map(KeySet::len), Some(number as usize + 1));
            let before = index.lag();
            add(&mut index, number);
            assert!(index.lag() > before, "the thread of the index is to know of it");
        }
    }

    #[test]
    fn many_small_stages_need_no_deep_stack() {
        let mut index = ValueIndex::new(Vector::new());
        let mut shared = Vec::new();
        for number in 0u32..3_000 {
            index.defer();
            index.insert(Symbol(0), &|key| key.extend(number.to_be_bytes()));
            index.hand_over();
            shared.push(index.clone());
        }
        assert!(index.lag() > 0, "nobody has asked yet");
        let looked_at = shared.swap_remove(1_999);
        let run = move || {
            drop(shared);
            drop(index);
            assert_eq!(looked_at.get(0).map(KeySet::len), Some(2_000));
        };
        std::thread::Builder::new().stack_size(128 << 10).spawn(run).unwrap().join().unwrap();
    }
}
