//! Loads the entities, reads them at random, and updates a part of them for a while.

use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use annals::{InstanceId, Patch, Repository};

use super::disk::{drop_cached, raw_file, spill_files};
use super::documents::{PAYLOAD, budget, create, entity, id, options, payload};
use crate::graph::{Random, prepare};
use crate::harness::{Cell, Figure};
use crate::outcome::Outcome;
use crate::run::{agree, resident_bytes, resident_bytes_max};

/// Entities of the warm reads.
const WARM: usize = 1_000;
/// Entities that are updated meanwhile, and updates per second.
const UPDATED: usize = 10_000;
const UPDATES: u64 = 50;

/// All rows of this part for Annals.
pub fn annals(cell: &mut Cell, elements: usize) -> Outcome<()> {
    let path = cell.arguments.folder.join("graph");
    let options = options(cell, elements)?;
    let repository = create(&path, options.clone())?;
    let volume = elements.to_string();
    let tell = |cell: &mut Cell, row: &str, value: f64| cell.tell(&volume, row, Figure::of(value));
    let start = Instant::now();
    prepare(&repository, elements, 1, |transaction, number| {
        transaction.create_entity(entity(number)?)?;
        Ok(())
    })?;
    tell(cell, "load", elements as f64 / start.elapsed().as_secs_f64())?;
    let start = Instant::now();
    repository.checkpoint()?;
    tell(cell, "checkpoint", start.elapsed().as_secs_f64())?;
    repository.close()?;
    let start = Instant::now();
    let repository = Repository::open_with(&path, options)?;
    tell(cell, "open", start.elapsed().as_secs_f64())?;
    agree("entities after the start", repository.snapshot().entities_count(), elements as u64)?;
    let seconds = cell.size(5.0, 0.2);
    let mut random = Random::new(7);
    spill_files()?.iter().try_for_each(drop_cached)?;
    let cold = rate(seconds, || get(&repository, random.below(elements)))?;
    tell(cell, "get-cold", cold)?;
    let warm = rate(seconds, || get(&repository, random.below(WARM.min(elements))))?;
    tell(cell, "get-warm", warm)?;
    let growth = soak(&repository, elements, Duration::from_secs_f64(cell.size(120.0, 1.0)))?;
    tell(cell, "growth", growth)?;
    tell(cell, "resident", resident_bytes_max() as f64 / budget(elements) as f64)?;
    Ok(repository.close()?)
}

/// Random reads of a file that is as large as all payloads.
pub fn disk(cell: &mut Cell, elements: usize) -> Outcome<()> {
    let rows = super::GRAPH_ROWS.iter().copied().filter(|row| *row != "get-cold");
    cell.skip(&rows.collect::<Vec<_>>(), "the file is only read")?;
    let file = raw_file(&cell.arguments.folder.join("raw"), elements * PAYLOAD)?;
    drop_cached(&file)?;
    let (mut buffer, mut random) = (vec![0; PAYLOAD], Random::new(7));
    let read = || Ok(file.read_exact_at(&mut buffer, (random.below(elements) * PAYLOAD) as u64)?);
    let found = rate(cell.size(5.0, 0.2), read)?;
    cell.tell(&elements.to_string(), "get-cold", Figure::of(found))
}

/// Gets an entity and checks its payload.
fn get(repository: &Repository, number: usize) -> Outcome<()> {
    let snapshot = repository.snapshot();
    let found = snapshot.entity(&id(number)?)?.ok_or("an entity is missing")?;
    let text = found.property("payload").ok_or("a payload is missing")?;
    agree("bytes of a payload", text.as_str().map(str::len), Some(PAYLOAD))
}

/// How often `work` runs per second.
fn rate(seconds: f64, mut work: impl FnMut() -> Outcome<()>) -> Outcome<f64> {
    let (start, mut count) = (Instant::now(), 0u32);
    while start.elapsed().as_secs_f64() < seconds {
        work()?;
        count += 1;
    }
    Ok(f64::from(count) / start.elapsed().as_secs_f64())
}

/// Random gets of all entities on one thread, updates of the payloads of a part on another. Each update makes one more
/// version, whose author, time and place stay in memory.
///
/// Shape: bytes of resident memory for each version, after the first tenth, which warms up.
fn soak(repository: &Repository, elements: usize, length: Duration) -> Outcome<f64> {
    let (is_over, updates) = (AtomicBool::new(false), AtomicU64::new(0));
    let update = || -> annals::Result<()> {
        let mut random = Random::new(9);
        while !is_over.load(Ordering::SeqCst) {
            let number = random.below(elements.min(UPDATED));
            let patch = Patch::new().set("payload", payload(random.below(1 << 40)));
            repository.transact(|t| t.update(&InstanceId::Entity(id(number)?), patch.clone()))?;
            updates.fetch_add(1, Ordering::Relaxed);
            std::thread::sleep(Duration::from_micros(1_000_000 / UPDATES));
        }
        Ok(())
    };
    let read = || -> Outcome<f64> {
        let (start, mut random) = (Instant::now(), Random::new(8));
        let mut warm = None;
        while start.elapsed() < length {
            get(repository, random.below(elements))?;
            if warm.is_none() && start.elapsed() > length / 10 {
                warm = Some((resident_bytes(), updates.load(Ordering::Relaxed)));
            }
        }
        let (bytes, versions) = warm.ok_or("the soak ended in its first tenth")?;
        let more = updates.load(Ordering::Relaxed) - versions;
        Ok((resident_bytes() as f64 - bytes as f64).max(0.0) / more.max(1) as f64)
    };
    std::thread::scope(|scope| {
        let updating = scope.spawn(update);
        let found = read();
        is_over.store(true, Ordering::SeqCst);
        updating.join().map_err(|_| "the thread that updates panicked")??;
        found
    })
}
