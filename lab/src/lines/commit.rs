//! commit-T: durable commits of one entity and one relationship each, from many threads.

use std::path::Path;
use std::time::Duration;

use annals::{Id, Repository};

use super::count_commits::{Commits, count_commits};
use super::hand_over::hand_over;
use crate::graph::{Standard, load, vertex_id};
use crate::outcome::Outcome;
use crate::run::{Job, Sample, agree, in_turn, per_second};

/// Enough to know how many bytes a commit takes.
const SAMPLE_COMMITS: usize = 100;

/// One round with `job.number` threads.
pub fn round(job: &Job) -> Outcome<Vec<Sample>> {
    let threads = usize::try_from(job.number)?;
    let length = Duration::from_secs_f64(job.size.seconds(2.0, 0.2));
    let entities = entities_before(job);
    let bytes = bytes_per_commit(&job.folder.join("sample"))?;
    let (ours, limit) = in_turn(
        job.round,
        || commit(&job.folder.join("repository"), entities.max(threads), threads, length),
        || hand_over(&job.folder.join("raw"), threads, bytes, length),
    )?;
    let rate = |commits: &Commits| per_second(commits.count, commits.elapsed);
    let p99 = |commits: &Commits| commits.latencies.quantile_us(0.99);
    let name = format!("commit-{threads}");
    Ok(vec![
        Sample::new(&name, rate(&ours), rate(&limit)),
        Sample::new(format!("{name}-p99"), p99(&ours), p99(&limit)),
    ])
}

/// Entities that exist before the first commit.
pub fn entities_before(job: &Job) -> usize {
    job.size.elements(100_000, 2_000)
}

/// Each thread grows its own chain, from an existing entity.
fn commit(folder: &Path, entities: usize, threads: usize, length: Duration) -> Outcome<Commits> {
    let repository = Repository::open(folder)?;
    load(&repository, entities, &[])?;
    let standard = Standard::new();
    let commits = count_commits(threads, length, |thread, before: &mut Option<Id>| {
        let from = before.take().unwrap_or_else(|| vertex_id(thread));
        *before = Some(commit_one(&repository, &standard, thread, from)?);
        Ok(())
    })?;
    let snapshot = repository.snapshot();
    let there = (snapshot.entities_count(), snapshot.relationships_count());
    agree("elements after the commits", there, (entities as u64 + commits.made, commits.made))?;
    Ok(commits)
}

/// One entity, and one relationship that leads to it.
fn commit_one(repository: &Repository, standard: &Standard, number: usize, from: Id) -> annals::Result<Id> {
    let mut transaction = repository.transaction();
    let id = transaction.create_entity(standard.entity_with(Id::random(), number))?;
    transaction.create_relationship(standard.relationship_with(Id::random(), number, from, id.clone()))?;
    transaction.commit()?;
    Ok(id)
}

/// Log bytes that one commit takes.
pub fn bytes_per_commit(folder: &Path) -> Outcome<usize> {
    let repository = Repository::open(folder)?;
    load(&repository, 1, &[])?;
    let before = repository.log_bytes();
    let standard = Standard::new();
    for number in 0..SAMPLE_COMMITS {
        commit_one(&repository, &standard, number, vertex_id(0))?;
    }
    Ok(usize::try_from(repository.log_bytes() - before)? / SAMPLE_COMMITS)
}
