//! The graph that reads and reopening are measured on: entities with four properties, three relationships each.

use std::path::{Path, PathBuf};

use annals::{Id, NewEntity, NewRelationship, Repository, Ticket};

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
    let (outcome, elapsed) = time(|| fill(&repository, &ids, &edges));
    outcome?;
    let elements = (entities + relationships) as f64;
    let add = |report: &mut Report, name: &str, value: f64, unit| {
        report.add(Line { name: name.into(), value, unit, limit: None, limit_name: "", bar: None });
    };
    let snapshot = repository.snapshot();
    assert_eq!(snapshot.entities_count(), entities as u64);
    assert_eq!(snapshot.relationships_count(), relationships as u64);
    if limits.wants("bulk") {
        add(report, "bulk", elements / elapsed.as_secs_f64(), "elements/s");
    }
    if limits.wants("memory") {
        let used = resident_bytes().saturating_sub(memory_before + own_memory);
        add(report, "memory", used as f64 / elements, "bytes/element");
    }
    if limits.wants("disk") {
        add(report, "disk", repository.log_bytes() as f64 / elements, "bytes/element");
    }
    Ok(Dataset { repository, path, ids, edges })
}

fn fill(repository: &Repository, ids: &[Id], edges: &[(u32, u32)]) -> Outcome<()> {
    let mut tickets: std::collections::VecDeque<Ticket> = std::collections::VecDeque::new();
    let mut submit = |transaction: annals::Transaction| -> Outcome<()> {
        tickets.push_back(transaction.submit()?);
        if tickets.len() > IN_FLIGHT
            && let Some(oldest) = tickets.pop_front()
        {
            oldest.wait()?;
        }
        Ok(())
    };
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
        submit(transaction)?;
    }
    // Ends must be there before the relationships: wait for the entities.
    for ticket in std::mem::take(&mut tickets) {
        ticket.wait()?;
    }
    for (batch, edges) in edges.chunks(BATCH).enumerate() {
        let mut transaction = repository.transaction();
        for (offset, (from, to)) in edges.iter().enumerate() {
            let number = (batch * BATCH + offset) as i64;
            let (from, to) = (ids[*from as usize].clone(), ids[*to as usize].clone());
            transaction
                .create_relationship(NewRelationship::new("edge", from, to).property("number", number))?;
        }
        tickets.push_back(transaction.submit()?);
        if tickets.len() > IN_FLIGHT
            && let Some(oldest) = tickets.pop_front()
        {
            oldest.wait()?;
        }
    }
    for ticket in tickets {
        ticket.wait()?;
    }
    Ok(())
}
