//! scan: the sum of a property of all out-neighbours of all entities, compared with packed neighbours and values.

use std::hint::black_box;

use annals::{Direction, Repository, Snapshot, Value};

use crate::graph::{Packed, load, power_law_edges, size};
use crate::outcome::Outcome;
use crate::run::{Job, Sample, Timed, agree, in_turn};

/// Entities whose neighbours are read together.
const PAGE: usize = 512;
/// With 3 million relationships, the largest degree must be above this.
const LARGEST_DEGREE_MIN: usize = 100_000;

/// One round of scan-power-law, with a graph of its own.
pub fn power_law_round(job: &Job) -> Outcome<Vec<Sample>> {
    let entities = job.size.elements(1_000_000, 10_000);
    let edges = power_law_edges(entities);
    let repository = Repository::open(job.folder.join("graph"))?;
    load(&repository, entities, &edges)?;
    round(job, "scan-power-law", &repository, entities, &edges)
}

/// One round over a graph.
pub fn round(
    job: &Job,
    line: &str,
    repository: &Repository,
    entities: usize,
    edges: &[(u32, u32)],
) -> Outcome<Vec<Sample>> {
    let packed = Packed::new(entities, edges);
    if line == "scan-power-law" && entities >= 1_000_000 {
        let largest = (0..entities as u32).map(|entity| packed.out(entity).len()).max();
        agree("a degree above 100,000", largest > Some(LARGEST_DEGREE_MIN), true)?;
    }
    let sizes: Vec<i64> = (0..entities).map(size).collect();
    let snapshot = repository.snapshot();
    let mut samples = Vec::new();
    for turn in job.turns(3) {
        let (ours, limit) = in_turn(
            turn,
            || Timed::of(|| scan(&snapshot)),
            || Timed::of(|| Ok(scan_packed(&packed, &sizes, entities))),
        )?;
        agree(line, ours.result, limit.result)?;
        samples.push(Sample::new(line, ours.rate(edges.len()), limit.rate(edges.len())));
    }
    Ok(samples)
}

fn scan(snapshot: &Snapshot) -> Outcome<i64> {
    let size = snapshot.name("size").ok_or("no entity has a size")?;
    let mut sum = 0;
    let mut entities = snapshot.entities_of(None);
    let mut page = Vec::with_capacity(PAGE);
    loop {
        page.clear();
        for entity in entities.by_ref().take(PAGE) {
            page.push(entity?);
        }
        if page.is_empty() {
            return Ok(sum);
        }
        let mut missing = 0;
        snapshot.each_expanded_value(&page, Direction::Out, Some("edge"), size, |value| {
            match value.and_then(Value::as_integer) {
                Some(size) => sum += size,
                None => missing += 1,
            }
        })?;
        agree("entities without a size", missing, 0)?;
    }
}

fn scan_packed(packed: &Packed, sizes: &[i64], entities: usize) -> i64 {
    let ends = (0..entities as u32).flat_map(|entity| packed.out(entity));
    black_box(ends.map(|end| sizes[*end as usize]).sum())
}
