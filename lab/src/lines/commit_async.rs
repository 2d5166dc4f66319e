//! commit-async: one thread that waits for tickets only when 10,000 commits are in progress.

use std::path::Path;

use annals::{Id, Repository};

use super::commit::{bytes_per_commit, entities_before};
use crate::graph::{InFlight, Standard, load, settle, vertex_id};
use crate::outcome::Outcome;
use crate::run::{Job, RawFile, Sample, Timed, agree, in_turn};

const IN_FLIGHT: usize = 10_000;
/// Units: bytes.
const BLOCK_BYTES: usize = 256 << 10;

/// One round.
pub fn round(job: &Job) -> Outcome<Vec<Sample>> {
    let commits = job.size.operations(400_000, 12_000);
    let bytes = commits * bytes_per_commit(&job.folder.join("sample"))?;
    let (ours, limit) = in_turn(
        job.round,
        || commit(&job.folder.join("repository"), entities_before(job), commits),
        || write_blocks(&job.folder.join("raw"), bytes),
    )?;
    Ok(vec![Sample::new("commit-async", ours.rate(commits), limit.rate(commits))])
}

/// One chain: each entity is linked from the one before, whose commit may still be in progress.
fn commit(folder: &Path, entities: usize, commits: usize) -> Outcome<Timed<()>> {
    let repository = Repository::open(folder)?;
    load(&repository, entities, &[])?;
    let standard = Standard::new();
    let timed = Timed::of(|| {
        let mut in_flight = InFlight::new(IN_FLIGHT);
        let mut before = vertex_id(0);
        for number in 0..commits {
            let mut transaction = repository.transaction();
            let id = transaction.create_entity(standard.entity_with(Id::random(), number))?;
            let edge = standard.relationship_with(Id::random(), number, before, id.clone());
            transaction.create_relationship(edge)?;
            in_flight.submit(transaction)?;
            before = id;
        }
        in_flight.finish()?;
        settle(&repository)
    })?;
    let snapshot = repository.snapshot();
    let there = (snapshot.entities_count(), snapshot.relationships_count());
    agree("elements after the commits", there, ((entities + commits) as u64, commits as u64))?;
    Ok(timed)
}

fn write_blocks(path: &Path, bytes: usize) -> Outcome<Timed<()>> {
    let mut file = RawFile::create(path)?;
    let block = vec![7u8; BLOCK_BYTES];
    Timed::of(|| {
        let mut left = bytes;
        while left > 0 {
            let now = left.min(BLOCK_BYTES);
            file.append(&block[..now])?;
            left -= now;
        }
        Ok(())
    })
}
