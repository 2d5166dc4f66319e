//! as-of: get of a random version of an entity with many versions, warm, compared with get of the current one.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use annals::log::{FileLog, Log, MemoryLog, ReadLimit};
use annals::{AsOf, Id, InstanceId, Options, Patch, Position, Repository, Snapshot};
use foldhash::fast::FixedState;

use crate::graph::{FastMap, Plain, Random, Standard, Uuid, size, uuid, vertex_id};
use crate::latencies::Latencies;
use crate::outcome::Outcome;
use crate::run::{Job, Sample, agree, in_turn};

/// Least number of versions of all entities together: a single entity would stay in the processor's cache.
const VERSIONS_MIN: usize = 20_000;

/// One round; `job.number` is how many versions an entity has.
pub fn round(job: &Job) -> Outcome<Vec<Sample>> {
    let line = format!("as-of-{}", job.number);
    let versions = usize::try_from(job.number)?.min(job.size.operations(usize::MAX, 1_000));
    let entities = (job.size.elements(VERSIONS_MIN, 1_000) / versions).max(job.size.scale as usize);
    let folder = job.folder.join("repository");
    build(&folder, entities, versions)?;
    let repository = Repository::open(&folder)?;
    let snapshot = repository.snapshot();
    let reads = job.size.operations(50_000, 1_000);
    // Every version once, so that all are warm.
    for entity in 0..entities {
        for version in 1..=versions {
            read(&snapshot, &vertex_id(entity), entities, entity, version)?;
        }
    }
    let map = map_of_versions(entities, versions);
    let mut samples = Vec::new();
    for turn in job.turns(3) {
        let mut random = Random::new(turn as u64);
        let mut pick = || {
            let entity = random.below(entities);
            (vertex_id(entity), entity, 1 + random.below(versions))
        };
        let picks: Vec<(Id, usize, usize)> = (0..reads).map(|_| pick()).collect();
        let (ours, limit) = in_turn(
            turn,
            || time_each(&picks, |(id, entity, version)| read(&snapshot, id, entities, *entity, *version)),
            || time_each(&picks, |(id, _, _)| get(&snapshot, id, versions)),
        )?;
        let same_work = time_each(&picks, |(id, entity, version)| {
            let found = map.get(&(uuid(id), *version as u32)).map(|plain| plain.size);
            agree("the size in the map", found, Some(size(*entity)))
        })?;
        let [ours, limit, same_work] = [ours, limit, same_work].map(|latencies| latencies.quantile_us(0.5));
        samples.push(Sample::new(&line, ours, limit));
        samples.push(Sample::new(format!("{line}-same-work"), same_work, limit));
    }
    Ok(samples)
}

/// Every version of every entity, in the form of a program that keeps all in memory.
fn map_of_versions(entities: usize, versions: usize) -> FastMap<(Uuid, u32), Arc<Plain>> {
    let mut map = FastMap::with_capacity_and_hasher(entities * versions, FixedState::default());
    for version in 1..=versions as u32 {
        map.extend(
            (0..entities).map(|entity| ((uuid(&vertex_id(entity)), version), Arc::new(Plain::new(entity)))),
        );
    }
    map
}

/// Position of the record that wrote a version: all entities get their first, then all their second, and so on.
fn position(entities: usize, entity: usize, version: usize) -> Position {
    Position((entities * (version - 1) + entity + 1) as u64)
}

/// Reads one version, whose `size` is its number.
fn read(snapshot: &Snapshot, id: &Id, entities: usize, entity: usize, version: usize) -> Outcome<()> {
    let as_of = AsOf { position: Some(position(entities, entity, version)), ..AsOf::default() };
    get(&snapshot.as_of(as_of)?, id, version)
}

fn get(snapshot: &Snapshot, id: &Id, version: usize) -> Outcome<()> {
    let entity = snapshot.entity(id)?.ok_or("an entity is not there")?;
    let found = entity.property("size").and_then(|value| value.as_integer());
    agree("the number of the version", found, Some(version as i64))
}

fn time_each<T>(items: &[T], work: impl Fn(&T) -> Outcome<()>) -> Outcome<Latencies> {
    let mut latencies = Latencies::new()?;
    for item in items {
        let start = Instant::now();
        work(item)?;
        latencies.record(start.elapsed());
    }
    Ok(latencies)
}

/// Each version is a separate commit. Made in memory and then copied to disk, because a sync for each would take
/// minutes.
fn build(folder: &Path, entities: usize, versions: usize) -> Outcome<()> {
    let memory = Arc::new(MemoryLog::new());
    let repository = Repository::with_log(Arc::clone(&memory) as Arc<dyn Log>, Options::default())?;
    let standard = Standard::new();
    for version in 1..=versions {
        for entity in 0..entities {
            let mut transaction = repository.transaction();
            if version == 1 {
                let mut new = standard.entity(entity);
                new.properties.retain(|(name, _)| **name != *"size");
                transaction.create_entity(new.property("size", 1))?;
            } else {
                let id = InstanceId::Entity(vertex_id(entity));
                transaction.update(&id, Patch::new().set("size", version as i64))?;
            }
            let receipt = transaction.commit()?;
            agree("the position of a version", receipt.position, position(entities, entity, version))?;
        }
    }
    repository.close()?;
    let file = FileLog::open(folder.join("log"))?;
    let mut next = Position(1);
    loop {
        let records = memory.read(next, ReadLimit::default())?;
        if records.is_empty() {
            return Ok(file.close()?);
        }
        let bytes: Vec<&[u8]> = records.iter().map(Vec::as_slice).collect();
        file.append(next, &bytes)?;
        next = Position(next.0 + records.len() as u64);
    }
}
