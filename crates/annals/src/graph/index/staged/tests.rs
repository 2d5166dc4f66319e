//! What a panic over an index leaves behind.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant as Clock};

use super::*;
use crate::graph::Graph;
use crate::graph::structures::symbols::Symbol;
use crate::search::Operator;
use crate::{Direction, ErrorKind, Find, InstanceId, NewEntity, Repository};

/// Settling this number panics.
const MISTAKE: u32 = 13;

#[derive(Default)]
struct Numbers(Vec<u32>);

impl Notes for Numbers {
    type Part = Vec<u32>;

    const PROMPT: u8 = 0;

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn size(&self) -> usize {
        size_of_val(&self.0[..])
    }

    fn apply_to(notes: &[&Numbers], part: &mut Vec<u32>) {
        for number in notes.iter().flat_map(|notes| &notes.0) {
            assert_ne!(*number, MISTAKE, "a mistake of ours, for a test");
            part.push(*number);
        }
    }
}

fn add(numbers: &mut Staged<Numbers>, number: u32) {
    numbers.defer();
    numbers.change(|part| part.push(number), |notes| notes.0.push(number));
    numbers.hand_over();
}

fn tell(indexer: &Arc<Indexer>, numbers: &Staged<Numbers>) {
    Behind::new(indexer, vec![numbers.lagging()]).catch_up();
}

fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let start = Clock::now();
    while !is_so() {
        assert!(start.elapsed() < Duration::from_secs(20), "waited in vain until {what}");
        std::thread::yield_now();
    }
}

#[test]
fn the_thread_of_the_index_outlives_a_panic() {
    let indexer = Arc::<Indexer>::default();
    let (mut bad, mut good) = (Staged::new(Vec::new()), Staged::new(Vec::new()));
    add(&mut bad, MISTAKE);
    tell(&indexer, &bad);
    wait_until("the index is lost", || bad.check().is_err());
    add(&mut good, 1);
    tell(&indexer, &good);
    wait_until("the thread has entered the number", || good.lag() == 0);
    assert_eq!(good.part(), &[1]);
}

#[test]
fn versions_from_a_panic_on_are_lost_and_those_before_are_not() {
    let mut numbers = Staged::<Numbers>::new(Vec::new());
    add(&mut numbers, 1);
    numbers.catch_up();
    let before = numbers.clone();
    add(&mut numbers, MISTAKE);
    let mistaken = numbers.clone();
    add(&mut numbers, 2);
    let mut tried = numbers.clone();
    tried.fork();

    assert!(catch_unwind(AssertUnwindSafe(|| mistaken.part().len())).is_err(), "one reader finds it");
    add(&mut tried, 3);
    for lost in [&mistaken, &numbers, &tried] {
        lost.catch_up();
        assert_eq!(lost.check().unwrap_err().kind(), ErrorKind::Unavailable);
    }
    assert!(before.check().is_ok());
    assert_eq!(before.part(), &[1]);
}

#[test]
fn a_lost_index_refuses_what_needs_it_and_a_rebuilt_graph_has_it_again() -> Result<()> {
    let repository = Repository::in_memory();
    let (id, _) = repository.transact(|t| t.create_entity(NewEntity::new("person").property("age", 3)))?;
    let mut broken = Graph::clone(repository.snapshot().graph());
    broken.links.defer();
    // No entity has these slots.
    broken.links.insert(0, Symbol(0), [900, 901]);
    broken.links.hand_over();
    assert!(catch_unwind(AssertUnwindSafe(|| broken.links.catch_up())).is_err());
    let committer = &repository.inner().committer;
    committer.replace_graph(broken)?;

    let snapshot = repository.snapshot();
    assert_eq!(snapshot.entity(&id)?.map(|entity| entity.property("age")), Some(Some(3.into())));
    let find = Find::all().matching("age", Operator::Equal, 3);
    let refusals = [
        snapshot.neighbors(&id, Direction::Out, None).map(drop),
        snapshot.degree(&id, Direction::Out, None).map(drop),
        snapshot.find_entities(&find).map(drop),
        repository.transact(|t| t.delete(&InstanceId::Entity(id.clone()))).map(drop),
        repository.transact(|t| t.create_entity(NewEntity::new("person"))).map(drop),
    ];
    for refusal in refusals {
        assert_eq!(refusal.unwrap_err().kind(), ErrorKind::Unavailable);
    }

    let mut rebuilt = Graph::with_spill(None);
    let memory = crate::memory::Memory::new(None);
    crate::maintenance::recover::replay(&**committer.source().log(), &mut rebuilt, &memory, None)?;
    committer.replace_graph(rebuilt)?;
    assert_eq!(repository.snapshot().degree(&id, Direction::Out, None)?, 0);
    repository.transact(|t| t.delete(&InstanceId::Entity(id.clone()))).map(drop)
}
