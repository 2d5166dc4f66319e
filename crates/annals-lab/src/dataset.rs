//! The graph that reads and reopening are measured on: entities with four properties, three relationships each.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use annals::{Id, NewEntity, NewRelationship, Repository, Ticket, Transaction};

use crate::random::Random;
use crate::report::{Line, Report, resident_bytes, time};
use crate::{Limits, Outcome};

/// Changes in one transaction, and transactions on their way at a time.
const BATCH: usize = 5_000;
const IN_FLIGHT: usize = 16;

pub struct Dataset {
    pub repository: Repository,
    pub path: PathBuf,
    pub ids: Vec<Id>,
    /// Ends by relationship, as indexes into `ids`.
    pub edges: Vec<(u32, u32)>,
}

pub fn load(limits: &Limits, folder: &Path, report: &mut Report) -> Outcome<Dataset> {
    let path = folder.join("graph");
    let (entities, relationships) = (limits.entities(), 3 * limits.entities());
    let memory_before = resident_bytes();
    let repository = Repository::open(&path)?;
    let mut random = Random::new(42);
    let ids: Vec<Id> = (0..entities).map(|_| Id::random()).collect();
    let edges: Vec<(u32, u32)> =
        (0..relationships).map(|number| ((number / 3) as u32, random.below(entities) as u32)).collect();
    let own_memory = resident_bytes().saturating_sub(memory_before);
    let used = || resident_bytes().saturating_sub(memory_before + own_memory) as f64;
    let (outcome, entities_time) = time(|| fill_entities(&repository, &ids));
    outcome?;
    let (entities_memory, entities_disk) = (used(), repository.log_bytes() as f64);
    let (outcome, relationships_time) = time(|| fill_relationships(&repository, &ids, &edges));
    outcome?;
    let (memory, disk) = (used(), repository.log_bytes() as f64);
    let snapshot = repository.snapshot();
    assert_eq!(snapshot.entities_count(), entities as u64);
    assert_eq!(snapshot.relationships_count(), relationships as u64);
    let (entities, relationships) = (entities as f64, relationships as f64);
    let elements = entities + relationships;
    for (name, value, unit) in [
        ("bulk", elements / (entities_time + relationships_time).as_secs_f64(), "elements/s"),
        ("bulk-entities", entities / entities_time.as_secs_f64(), "entities/s"),
        ("bulk-relationships", relationships / relationships_time.as_secs_f64(), "relationships/s"),
        ("memory", memory / (1 << 30) as f64, "GiB"),
        ("memory-entity", entities_memory / entities, "bytes"),
        ("memory-relationship", (memory - entities_memory) / relationships, "bytes"),
        ("disk", disk / (1 << 30) as f64, "GiB"),
        ("disk-entity", entities_disk / entities, "bytes"),
        ("disk-relationship", (disk - entities_disk) / relationships, "bytes"),
    ] {
        if limits.wants(name) {
            report.add(Line { name: name.into(), value, unit, limit: None, limit_name: "", bar: None });
        }
    }
    Ok(Dataset { repository, path, ids, edges })
}

/// Transactions on their way, a bounded number of them.
#[derive(Default)]
struct InFlight {
    tickets: VecDeque<Ticket>,
}

impl InFlight {
    fn submit(&mut self, transaction: Transaction) -> Outcome<()> {
        self.tickets.push_back(transaction.submit()?);
        if self.tickets.len() > IN_FLIGHT
            && let Some(oldest) = self.tickets.pop_front()
        {
            oldest.wait()?;
        }
        Ok(())
    }

    fn finish(self) -> Outcome<()> {
        for ticket in self.tickets {
            ticket.wait()?;
        }
        Ok(())
    }
}

fn fill_entities(repository: &Repository, ids: &[Id]) -> Outcome<()> {
    let mut in_flight = InFlight::default();
    for (batch, ids) in ids.chunks(BATCH).enumerate() {
        let mut transaction = repository.transaction();
        for (offset, id) in ids.iter().enumerate() {
            let number = (batch * BATCH + offset) as i64;
            let entity = NewEntity::new("vertex")
                .property("name", format!("vertex number {number}"))
                .property("size", number % 1_000)
                .property("weight", number as f64 / 3.0)
                .property("is_even", number % 2 == 0);
            transaction.create_entity(NewEntity { id: id.clone(), ..entity })?;
        }
        in_flight.submit(transaction)?;
    }
    in_flight.finish()
}

fn fill_relationships(repository: &Repository, ids: &[Id], edges: &[(u32, u32)]) -> Outcome<()> {
    let mut in_flight = InFlight::default();
    for (batch, edges) in edges.chunks(BATCH).enumerate() {
        let mut transaction = repository.transaction();
        for (offset, (from, to)) in edges.iter().enumerate() {
            let number = (batch * BATCH + offset) as i64;
            let (from, to) = (ids[*from as usize].clone(), ids[*to as usize].clone());
            transaction
                .create_relationship(NewRelationship::new("edge", from, to).property("number", number))?;
        }
        in_flight.submit(transaction)?;
    }
    in_flight.finish()
}
