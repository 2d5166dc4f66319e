//! commit-T: durable commits of one entity and one relationship each, from many threads.

use std::path::Path;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use annals::{Id, Repository};

use super::hand_over::hand_over;
use crate::Outcome;
use crate::graph::{Standard, load, vertex_id};
use crate::run::{Job, Latencies, Sample, agree, in_turn, per_second, together};

/// Enough to know how many bytes a commit takes.
const SAMPLE_COMMITS: usize = 100;

/// Latencies that all threads together have room for at first.
const LATENCIES_ROOM: usize = 500_000;

/// Commits of several threads while all of them were at it, and how long each took.
pub struct Commits {
    pub count: u64,
    pub elapsed: Duration,
    pub latencies: Latencies,
    /// With those before that, which are not counted.
    made: u64,
}

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

/// Entities that are there before the first commit.
pub fn entities_before(job: &Job) -> usize {
    job.size.elements(100_000, 2_000)
}

/// Each thread grows its own chain, from an entity that is there.
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

/// Lets each thread do `work` again and again for `length`. Each has a state of its own.
///
/// What begins in a quarter of `length` before that is not counted: thousands that begin at once queue for the processor, and
/// some of them wait for their first turn for many times what a commit takes.
///
/// Errors: the first one of any thread.
pub fn count_commits<S: Default>(
    threads: usize,
    length: Duration,
    work: impl Fn(usize, &mut S) -> Outcome<()> + Sync,
) -> Outcome<Commits> {
    let before = length / 4;
    let first = OnceLock::new();
    let (results, elapsed) = together(threads, |thread| {
        let mut state = S::default();
        // Room that was written before: the system hands out memory that is new page by page, and that takes its time.
        let mut own: Vec<u64> = vec![1; LATENCIES_ROOM / threads];
        own.clear();
        let mut made = 0;
        let mut start = Instant::now();
        let counted_from = *first.get_or_init(|| start) + before;
        // Where a commit takes longer than all that, one of each thread is counted.
        while start < counted_from + length || own.is_empty() {
            work(thread, &mut state)?;
            let end = Instant::now();
            made += 1;
            if start >= counted_from {
                own.push(u64::try_from((end - start).as_nanos()).unwrap_or(u64::MAX));
            }
            start = end;
        }
        Ok((own, made))
    })?;
    let mut latencies = Latencies::new()?;
    let made = results.iter().map(|(_, made)| made).sum();
    let all = results.into_iter().flat_map(|(own, _)| own);
    all.for_each(|nanos| latencies.record(Duration::from_nanos(nanos)));
    Ok(Commits { count: latencies.count(), elapsed: elapsed - before, latencies, made })
}
