//! The live relationships of all entities, in both directions.

use smallvec::SmallVec;

use super::staged::{Notes, Staged, in_parts};
use crate::graph::structures::adjacency::Adjacency;
use crate::graph::structures::link::Link;
use crate::graph::structures::symbols::Symbol;
use crate::model::Direction;

/// How many links are looked up at once.
const AHEAD: usize = 32;

/// What starts at entities, and what ends at them.
pub(crate) type Links = Staged<LinkNotes>;

/// Entities and links that come and go.
#[derive(Default)]
pub(crate) struct LinkNotes {
    // None of them ever goes, so they may come before all links.
    entities_count: usize,
    list: Vec<Note>,
}

#[derive(Clone, Copy)]
struct Note {
    relationship: u32,
    type_name: Symbol,
    ends: [u32; 2],
    is_added: bool,
}

impl Links {
    #[inline]
    pub(crate) fn in_direction(&self, direction: Direction) -> &Adjacency {
        &self.part()[direction as usize]
    }

    /// Makes room for one more entity, without links.
    pub(crate) fn push(&mut self) {
        self.change(|both| push(both, 1), |notes| notes.entities_count += 1);
    }

    /// Adds the links of a relationship that is not there yet.
    pub(crate) fn insert(&mut self, relationship: u32, type_name: Symbol, ends: [u32; 2]) {
        self.set(Note { relationship, type_name, ends, is_added: true });
    }

    /// Takes away those of one that is there.
    pub(crate) fn remove(&mut self, relationship: u32, type_name: Symbol, ends: [u32; 2]) {
        self.set(Note { relationship, type_name, ends, is_added: false });
    }

    fn set(&mut self, note: Note) {
        self.change(|both| note.apply_to(both), |notes| notes.list.push(note));
    }
}

impl Notes for LinkNotes {
    type Part = [Adjacency; 2];

    // Walks are short: entering the links of each commit would be a good part of them.
    const PROMPT: u8 = 64;

    fn is_empty(&self) -> bool {
        self.entities_count == 0 && self.list.is_empty()
    }

    fn size(&self) -> usize {
        self.list.len() * size_of::<Note>()
    }

    fn apply_to(notes: &[&LinkNotes], both: &mut [Adjacency; 2]) {
        for notes in notes {
            push(both, notes.entities_count);
            in_parts(&notes.list, |notes| {
                for notes in notes.chunks(AHEAD) {
                    for (side, adjacency) in both.iter().enumerate() {
                        let slots: SmallVec<[u32; AHEAD]> =
                            notes.iter().map(|note| note.ends[side]).collect();
                        adjacency.look_ahead(&slots);
                    }
                    notes.iter().for_each(|note| note.apply_to(both));
                }
            });
        }
    }
}

impl Note {
    fn apply_to(self, [out, into]: &mut [Adjacency; 2]) {
        let Note { relationship, type_name, ends: [from, to], is_added } = self;
        for (adjacency, own, other) in [(out, from, to), (into, to, from)] {
            let link = Link { type_name, relationship, other };
            if is_added {
                adjacency.insert(own, link);
            } else {
                adjacency.remove(own, link);
            }
        }
    }
}

fn push(both: &mut [Adjacency; 2], count: usize) {
    for adjacency in both {
        (0..count).for_each(|_| adjacency.push());
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
        Push,
        /// A relationship, between the entities with these numbers, comes, or goes if it is there.
        Toggle(u32, [usize; 2]),
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            1 => Just(Step::Defer),
            1 => Just(Step::HandOver),
            1 => Just(Step::Share),
            4 => Just(Step::Push),
            40 => (0u32..60, [0usize..10, 0..1_000]).prop_map(|(number, ends)| Step::Toggle(number, ends)),
        ]
    }

    fn all(links: &Links) -> Vec<Vec<Link>> {
        let links_of = |adjacency: &Adjacency| -> Vec<Vec<Link>> {
            (0..adjacency.len() as u32).map(|slot| adjacency.get(slot).iter(None).collect()).collect()
        };
        links.part().iter().flat_map(links_of).collect()
    }

    proptest! {
        #[test]
        fn each_clone_has_the_links_of_its_time(steps in proptest::collection::vec(step(), 0..600)) {
            let new = || Links::new([Adjacency::new(), Adjacency::new()]);
            let (mut links, mut direct) = (new(), new());
            let mut entities_count = 0;
            let mut known = std::collections::BTreeMap::new();
            let mut shared = Vec::new();
            for step in steps {
                match step {
                    Step::Defer => links.defer(),
                    Step::HandOver => links.hand_over(),
                    Step::Share => {
                        links.hand_over();
                        shared.push((links.clone(), all(&direct)));
                    }
                    Step::Push => {
                        entities_count += 1;
                        [&mut links, &mut direct].into_iter().for_each(Links::push);
                    }
                    Step::Toggle(..) if entities_count == 0 => {}
                    Step::Toggle(number, ends) => {
                        let ends = ends.map(|end| (end % entities_count) as u32);
                        let type_name = Symbol(number % 2);
                        let gone: Option<[u32; 2]> = known.remove(&number);
                        for links in [&mut links, &mut direct] {
                            match gone {
                                Some(ends) => links.remove(number, type_name, ends),
                                None => links.insert(number, type_name, ends),
                            }
                        }
                        if gone.is_none() {
                            known.insert(number, ends);
                        }
                    }
                }
            }
            links.hand_over();
            shared.push((links, all(&direct)));
            for (links, expected) in shared.iter().rev().step_by(2).chain(&shared) {
                prop_assert_eq!(&all(links), expected);
            }
        }
    }

    #[test]
    fn readers_of_neighbouring_versions_wait_for_each_other_and_not_for_ever() {
        const ROUNDS: u32 = 6_000;
        let mut links = Links::new([Adjacency::new(), Adjacency::new()]);
        links.push();
        let (versions, received): (Vec<_>, Vec<_>) = (0..3).map(|_| std::sync::mpsc::sync_channel(1)).unzip();
        std::thread::scope(|scope| {
            for received in received {
                scope.spawn(move || {
                    for (number, links) in (1u32..).zip(received) {
                        let links: Links = links;
                        assert_eq!(links.in_direction(Direction::In).get(0).degree(None), number as usize);
                    }
                });
            }
            for number in 0..ROUNDS {
                links.defer();
                links.insert(number, Symbol(0), [0, 0]);
                links.hand_over();
                versions.iter().for_each(|version| version.send(links.clone()).unwrap());
            }
            drop(versions);
        });
    }
}
