//! reopen: opening from a checkpoint, and from the log alone, compared with reading the same files.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use annals::Repository;

use crate::graph::{Random, StandardGraph, settle, size, vertex_id};
use crate::outcome::Outcome;
use crate::run::{Job, Sample, Timed, agree, in_turn};

/// Entities that are checked after opening.
const LOOKED_AT: usize = 1_000;

/// Writes a checkpoint, closes, and opens again in fresh processes: with the checkpoint, and without.
pub fn both(job: &Job, graph: StandardGraph) -> Outcome<Vec<Sample>> {
    graph.repository.checkpoint()?;
    let entities = graph.repository.snapshot().entities_count();
    graph.repository.close()?;
    let mut samples = Vec::new();
    for line in ["reopen-checkpoint", "reopen-log"] {
        if !job.wants(line) {
            continue;
        }
        if line == "reopen-log" {
            std::fs::remove_dir_all(checkpoints(&graph.path))?;
        }
        let job =
            Job { experiment: "reopen".into(), lines: vec![line.into()], number: entities, ..job.clone() };
        samples.extend(job.run_fresh()?);
    }
    Ok(samples)
}

/// Opens the repository of [`both`]; `job.number` is its number of entities.
pub fn round(job: &Job) -> Outcome<Vec<Sample>> {
    let path = job.folder.join("graph");
    let is_checkpoint = job.wants("reopen-checkpoint");
    let files = if is_checkpoint { checkpoints(&path) } else { path.join("log") };
    let open = || {
        let repository = Repository::open(&path)?;
        settle(&repository)?;
        Ok(repository)
    };
    let (ours, limit) = in_turn(job.round, || Timed::of(open), || Timed::of(|| read_all(&files)))?;
    let loaded = job.size.elements(1_000_000, 10_000);
    // Each commit beside a reader has added one of both.
    let relationships = 3 * loaded as u64 + (job.number - loaded as u64);
    check(&ours.result, loaded, (job.number, relationships))?;
    let elements = usize::try_from(job.number + relationships)?;
    Ok(vec![if is_checkpoint {
        Sample::new("reopen-checkpoint", ours.seconds(), limit.seconds())
    } else {
        Sample::new("reopen-log", ours.rate(elements), limit.rate(elements))
    }])
}

fn checkpoints(path: &Path) -> std::path::PathBuf {
    path.join("checkpoints")
}

fn check(repository: &Repository, loaded: usize, expected: (u64, u64)) -> Outcome<()> {
    agree("warnings of opening", repository.warnings(), Vec::new())?;
    let snapshot = repository.snapshot();
    agree("elements", (snapshot.entities_count(), snapshot.relationships_count()), expected)?;
    let mut random = Random::new(1);
    for number in (0..LOOKED_AT).map(|_| random.below(loaded)) {
        let entity = snapshot.entity(&vertex_id(number))?;
        let found = entity.and_then(|entity| entity.property("size").and_then(|value| value.as_integer()));
        agree("the size of an entity", found, Some(size(number)))?;
    }
    Ok(())
}

fn read_all(folder: &Path) -> Outcome<usize> {
    const BLOCK: usize = 1 << 20;
    let mut block = Vec::with_capacity(BLOCK);
    let mut bytes = 0;
    for entry in std::fs::read_dir(folder)? {
        let file = File::open(entry?.path())?;
        while (&file).take(BLOCK as u64).read_to_end(&mut block)? > 0 {
            bytes += block.len();
            block.clear();
        }
    }
    Ok(bytes)
}
