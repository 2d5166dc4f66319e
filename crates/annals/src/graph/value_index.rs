//! The values held now, by property; whoever commits only notes what becomes of them.

use std::sync::Arc;

mod indexer;
mod notes;
mod stage;

use super::key_set::KeySet;
use super::symbols::Symbol;
use super::vector::Vector;
pub(crate) use indexer::{Behind, Indexer};
use notes::{Notes, change};
use stage::Stage;

/// Keys by property. Shape of a key: value key, slot (4).
///
/// Whoever applies many records may have the changes noted. [`ValueIndex::hand_over`] ends that; until then nothing may be
/// asked. What was noted is done by another thread ([`Indexer`]), or by the first who asks.
pub(crate) struct ValueIndex {
    stage: Arc<Stage>,
    // What comes after the stage, while changes are noted.
    notes: Option<Box<Notes>>,
}

impl ValueIndex {
    pub(crate) fn new(sets: Vector<KeySet>) -> ValueIndex {
        ValueIndex { stage: Arc::new(Stage::settled(sets)), notes: None }
    }

    /// All sets, by symbol.
    #[inline]
    pub(crate) fn sets(&self) -> &Vector<KeySet> {
        assert!(self.notes.is_none(), "what was noted is handed over before keys are read");
        self.stage.sets()
    }

    /// The keys of the property with this number.
    #[inline]
    pub(crate) fn get(&self, property: usize) -> Option<&KeySet> {
        self.sets().get(property)
    }

    /// From now on changes are noted.
    pub(crate) fn defer(&mut self) {
        self.notes.get_or_insert_default();
    }

    /// Ends that; returns at once unless very much is noted that nobody has done.
    pub(crate) fn hand_over(&mut self) {
        if let Some(notes) = self.notes.take()
            && !notes.is_empty()
        {
            self.stage = Arc::new(Stage::after(&self.stage, *notes));
        }
    }

    pub(super) fn insert(&mut self, name: Symbol, key: &[u8]) {
        self.change(name, key, true);
    }

    pub(super) fn remove(&mut self, name: Symbol, key: &[u8]) {
        self.change(name, key, false);
    }

    fn change(&mut self, name: Symbol, key: &[u8], is_added: bool) {
        match &mut self.notes {
            Some(notes) => notes.push(name, key, is_added),
            None => change(self.own_sets(), name, key, is_added),
        }
    }

    // The sets for changing them: in place, unless a clone shares them.
    fn own_sets(&mut self) -> &mut Vector<KeySet> {
        if Arc::get_mut(&mut self.stage).is_none_or(|stage| stage.sets_mut().is_none()) {
            self.stage = Arc::new(Stage::settled(self.stage.sets().clone()));
        }
        Arc::get_mut(&mut self.stage).and_then(Stage::sets_mut).expect("made its own above")
    }
}

impl Clone for ValueIndex {
    fn clone(&self) -> ValueIndex {
        assert!(self.notes.is_none(), "what was noted is handed over before a graph is shared");
        ValueIndex { stage: Arc::clone(&self.stage), notes: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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

    type Keys = Vec<Vec<Vec<u8>>>;

    fn keys(index: &ValueIndex) -> Keys {
        index.sets().iter().map(|set| set.iter().map(<[u8]>::to_vec).collect()).collect()
    }

    fn change_both(index: &mut ValueIndex, direct: &mut Vector<KeySet>, step: Step) {
        let Step::Change(name, number, is_added) = step else { return };
        // Long keys, so that leaves are divided.
        let mut key = vec![7; 200];
        key.extend_from_slice(&number.to_be_bytes());
        index.change(name, &key, is_added);
        change(direct, name, &key, is_added);
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
                        Behind::of(&indexer, [&index, &index]).into_iter().for_each(Behind::catch_up);
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
                index.insert(Symbol(0), &[batch.to_be_bytes(), number.to_be_bytes()].concat());
            }
            index.hand_over();
            assert!(index.stage.lag() <= stage::LAG_MAX);
        }
        assert_eq!(index.get(0).map(KeySet::len), Some(400_000));
    }

    #[test]
    fn many_small_stages_need_no_deep_stack() {
        let mut index = ValueIndex::new(Vector::new());
        let mut shared = Vec::new();
        for number in 0u32..3_000 {
            index.defer();
            index.insert(Symbol(0), &number.to_be_bytes());
            index.hand_over();
            shared.push(index.clone());
        }
        assert!(index.stage.lag() > 0, "nobody has asked yet");
        let looked_at = shared.swap_remove(1_999);
        let run = move || {
            drop(shared);
            drop(index);
            assert_eq!(looked_at.get(0).map(KeySet::len), Some(2_000));
        };
        std::thread::Builder::new().stack_size(128 << 10).spawn(run).unwrap().join().unwrap();
    }
}
