//! The graph that is read: the elements of the lab, loaded by one thread so that each run makes the same work.

#[path = "../../src/graph/random.rs"]
mod random;
#[path = "../../src/graph/standard.rs"]
#[expect(dead_code, reason = "the lab uses the rest")]
mod standard;

use std::sync::Arc;

use annals::log::MemoryLog;
use annals::{Deleted, Find, Header, Operator, Options, Order, Repository, Transaction};

use crate::outcome::Outcome;

pub use random::Random;
pub use standard::{Standard, random_edges, size, vertex_id, weight};

/// Entities of the standard graph: more than the simulated caches hold.
pub const ENTITIES: usize = 20_000;
/// Entities of the small graph.
pub const SMALL: usize = 1_000;
/// Changes in one transaction.
const BATCH: usize = 1_000;

/// The graphs that are read.
pub struct Graphs {
    pub standard: Repository,
    pub small: Repository,
}

/// The standard graph and the small one, in memory.
pub fn standard() -> Outcome<Graphs> {
    Ok(Graphs { standard: filled(ENTITIES)?, small: filled(SMALL)? })
}

/// A repository in memory.
pub fn in_memory() -> Outcome<Repository> {
    Ok(Repository::with_log(Arc::new(MemoryLog::new()), Options::default())?)
}

fn filled(entities: usize) -> Outcome<Repository> {
    let repository = in_memory()?;
    let standard = Standard::new();
    add(&repository, entities, |transaction, number| {
        transaction.create_entity(standard.entity(number))?;
        Ok(())
    })?;
    let edges = random_edges(entities);
    add(&repository, edges.len(), |transaction, number| {
        let (from, to) = edges[number];
        let (from, to) = (vertex_id(from as usize), vertex_id(to as usize));
        transaction.create_relationship(standard.relationship(number, from, to))?;
        Ok(())
    })?;
    settle(&repository)?;
    Ok(repository)
}

/// Calls `add` for every number below `count`, many numbers per transaction, and commits.
pub fn add(
    repository: &Repository,
    count: usize,
    add: impl Fn(&mut Transaction, usize) -> Outcome<()>,
) -> Outcome<()> {
    for first in (0..count).step_by(BATCH) {
        let mut transaction = repository.transaction();
        (first..count.min(first + BATCH)).try_for_each(|number| add(&mut transaction, number))?;
        transaction.commit()?;
    }
    Ok(())
}

/// Waits until the indexes are complete: a search that needs them waits for this.
fn settle(repository: &Repository) -> Outcome<()> {
    let snapshot = repository.snapshot();
    let all = Find::all().deleted(Deleted::With).limit(1);
    for find in ["size", "number"].map(|name| all.clone().matching(name, Operator::Equal, 0)) {
        snapshot.find_entities(&find)?;
        snapshot.find_relationships(&find)?;
    }
    let by_change = all.order_by_header(Header::UpdatedAt, Order::Descending);
    snapshot.find_entities(&by_change)?;
    snapshot.find_relationships(&by_change)?;
    Ok(())
}
