//! many-values: adding the 10,000th value of one property, compared with adding the 10th; and the log bytes of an
//! addition. The time of adding the value to an ordered set is the basis for judging growth.

use std::collections::BTreeSet;
use std::hint::black_box;

use annals::{InstanceId, Patch, Repository, Value};

use crate::graph::{InFlight, Standard, load, vertex_id};
use crate::outcome::Outcome;
use crate::run::{Job, Sample, Timed, agree, in_turn};

/// Values of an entity with few, before the measured additions.
const FEW: usize = 7;
/// Values added to an entity with few: the 8th to the 12th.
const FEW_ADDED: usize = 5;
/// Commits in progress while entities are created.
const CREATED_AHEAD: usize = 8;

/// Entities with equal numbers of values.
#[derive(Clone, Copy)]
struct Group {
    /// Number of the first entity.
    first: usize,
    entities: usize,
    /// Number of values of each at first.
    values: usize,
    /// Number of values added to each.
    added: usize,
}

/// One round of both lines.
pub fn round(job: &Job) -> Outcome<Vec<Sample>> {
    let values = job.size.elements(10_000, 500);
    let entities = job.size.operations(100, 20);
    let added = job.size.operations(100, 20);
    let many = Group { first: 0, entities, values: values - added, added };
    let few =
        Group { first: entities, entities: entities * added / FEW_ADDED, values: FEW, added: FEW_ADDED };
    let repository = Repository::open(job.folder.join("repository"))?;
    load(&repository, 1, &[])?;
    create(&repository, many)?;
    create(&repository, few)?;
    let in_flight = entities / 2;
    let (ours, limit) =
        in_turn(job.round, || add(&repository, many, in_flight), || add(&repository, few, in_flight))?;
    let same_work = add_to_sets(many)?;
    let bytes =
        |timed: &Timed<u64>, group: Group| timed.result as f64 / (group.entities * group.added) as f64;
    let micros = |timed: &Timed<u64>, group: Group| timed.micros_each(group.entities * group.added);
    Ok(vec![
        Sample::new("many-values-add", micros(&ours, many), micros(&limit, few)),
        Sample::new("many-values-add-same-work", micros(&same_work, many), micros(&limit, few)),
        Sample::new("many-values-bytes", bytes(&ours, many), bytes(&limit, few)),
    ])
}

fn create(repository: &Repository, group: Group) -> Outcome<()> {
    let standard = Standard::new();
    let mut in_flight = InFlight::new(CREATED_AHEAD);
    for number in 0..group.entities {
        let tags = Value::set((0..group.values).map(tag))?;
        // Numbered from 1: the entity 0 exists so that the type is known.
        let entity = standard.entity(1 + group.first + number);
        // One in a commit: with many values, several would exceed a record.
        let mut transaction = repository.transaction();
        transaction.create_entity(entity.property("tags", tags))?;
        in_flight.submit(transaction)?;
    }
    in_flight.finish()
}

/// Adds values one by one, each in a separate commit, to all entities in turn. Returns the log bytes.
fn add(repository: &Repository, group: Group, in_flight: usize) -> Outcome<Timed<u64>> {
    let before = repository.log_bytes();
    let timed = Timed::of(|| {
        let mut in_flight = InFlight::new(in_flight);
        for value in group.values..group.values + group.added {
            for entity in 0..group.entities {
                let id = InstanceId::Entity(vertex_id(1 + group.first + entity));
                let mut transaction = repository.transaction();
                transaction.update(&id, Patch::new().add("tags", tag(value)))?;
                in_flight.submit(transaction)?;
            }
        }
        in_flight.finish()
    })?;
    let snapshot = repository.snapshot();
    for entity in 0..group.entities {
        let entity =
            snapshot.entity(&vertex_id(1 + group.first + entity))?.ok_or("an entity is not there")?;
        let count = entity.property("tags").map(|tags| match &tags {
            Value::Set(tags) => tags.len(),
            _ => 1,
        });
        agree("the number of values", count, Some(group.values + group.added))?;
    }
    Ok(Timed { result: repository.log_bytes() - before, elapsed: timed.elapsed })
}

/// Adds the same values in the same order to ordered sets. Returns no log bytes.
fn add_to_sets(group: Group) -> Outcome<Timed<u64>> {
    let set = |_| (0..group.values).map(tag).collect();
    let mut sets: Vec<BTreeSet<Value>> = (0..group.entities).map(set).collect();
    let added: Vec<Value> = (group.values..group.values + group.added).map(tag).collect();
    let timed = Timed::of(|| {
        for value in &added {
            for set in &mut sets {
                agree("a value is new", set.insert(value.clone()), true)?;
            }
        }
        Ok(0)
    })?;
    black_box(sets);
    Ok(timed)
}

fn tag(number: usize) -> Value {
    Value::from(format!("tag {number:07}"))
}
