//! history-tax: get of and commit on entities with 100 versions each, compared with entities that have one version and
//! the few that measuring adds.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use annals::{Id, InstanceId, Patch, Repository};

use super::get::look_up;
use crate::graph::{InFlight, Plain, Random, Uuid, load, map_of_numbers, prepare, settle, uuid, vertex_id};
use crate::outcome::Outcome;
use crate::run::{Job, Sample, Timed, agree, in_turn, per_second};

const VERSIONS: usize = 100;
/// Commits in progress at once: fewer than entities, so that no entity is changed twice at once.
const IN_FLIGHT: usize = 500;
/// Parts in which both sides commit in turn: long enough for the indexes to update in the background, as in a long run.
const PARTS: usize = 2;

/// One round: both graphs have the same entities, and differ in the number of versions.
pub fn round(job: &Job) -> Outcome<Vec<Sample>> {
    let entities = job.size.elements(10_000, 1_000);
    let old = build(&job.folder.join("old"), entities, VERSIONS)?;
    let young = build(&job.folder.join("young"), entities, 1)?;
    let map = map_of_numbers(entities, |number| Arc::new(Plain::new(number)));
    // The graph built last is in the caches, so commit to each once.
    commit(&old, 0..entities, 0)?;
    commit(&young, 0..entities, 0)?;
    let mut samples = Vec::new();
    for turn in job.turns(3) {
        let mut random = Random::new(turn as u64);
        let gets = job.size.operations(500_000, 10_000);
        let ids: Vec<Id> = (0..gets).map(|_| vertex_id(random.below(entities))).collect();
        let (ours, limit) =
            in_turn(turn, || Timed::of(|| get(&old, &ids)), || Timed::of(|| get(&young, &ids)))?;
        agree("changes counted by the entities", ours.result - limit.result, gets * (VERSIONS - 1))?;
        let uuids: Vec<Uuid> = ids.iter().map(uuid).collect();
        let same_work = Timed::of(|| look_up(|uuid| map.get(uuid), &uuids))?;
        samples.push(Sample::new("history-tax-get", ours.rate(gets), limit.rate(gets)));
        samples.push(Sample::new("history-tax-get-same-work", same_work.rate(gets), limit.rate(gets)));
        if job.wants("history-tax-commit") {
            let mut times = [Duration::ZERO; 2];
            // Each side is first once, because the first one is slower.
            for part in 0..PARTS {
                let numbers = entities * part / PARTS..entities * (part + 1) / PARTS;
                let (ours, limit) = in_turn(
                    part,
                    || Timed::of(|| commit(&old, numbers.clone(), turn + 1)),
                    || Timed::of(|| commit(&young, numbers.clone(), turn + 1)),
                )?;
                times[0] += ours.elapsed;
                times[1] += limit.elapsed;
            }
            let [ours, limit] = times.map(|time| per_second(entities as u64, time));
            samples.push(Sample::new("history-tax-commit", ours, limit));
        }
    }
    Ok(samples)
}

/// Each version has its number as `size`.
fn build(folder: &Path, entities: usize, versions: usize) -> Outcome<Repository> {
    let repository = Repository::open(folder)?;
    load(&repository, entities, &[])?;
    set_size(&repository, entities, 1)?;
    for version in 2..=versions {
        set_size(&repository, entities, version)?;
    }
    Ok(repository)
}

fn set_size(repository: &Repository, entities: usize, size: usize) -> Outcome<()> {
    prepare(repository, entities, 1, |transaction, number| {
        let id = InstanceId::Entity(vertex_id(number));
        // An entity may have this size already, but each needs the same number of versions.
        Ok(transaction.always(true).update(&id, Patch::new().set("size", size as i64))?)
    })
}

/// The sum of the sizes.
fn get(repository: &Repository, ids: &[Id]) -> Outcome<usize> {
    let snapshot = repository.snapshot();
    let size = snapshot.name("size").ok_or("no entity has a size")?;
    let mut sum = 0;
    for id in ids {
        let entity = snapshot.entity(id)?.ok_or("an entity is not there")?;
        sum += entity.value(size).and_then(|value| value.as_integer()).ok_or("an entity has no size")?;
    }
    Ok(usize::try_from(sum)?)
}

/// Changes entities once, each in a separate commit. The new value differs in every turn.
fn commit(repository: &Repository, numbers: Range<usize>, turn: usize) -> Outcome<()> {
    let mut in_flight = InFlight::new(IN_FLIGHT);
    for number in numbers {
        let id = InstanceId::Entity(vertex_id(number));
        let mut transaction = repository.transaction();
        transaction.update(&id, Patch::new().set("weight", number as f64 + turn as f64 / 8.0))?;
        in_flight.submit(transaction)?;
    }
    in_flight.finish()?;
    settle(repository)
}
