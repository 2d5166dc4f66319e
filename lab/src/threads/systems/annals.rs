//! Annals as a system of the suite, on files or in memory.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use annals::{Direction, History, Id, InstanceId, NewEntity, NewRelationship, Patch, Repository, Snapshot};
use serde_json::{Value, json};

use super::chain::{Chain, Walks};
use super::closed_and_open::repeat;
use super::request::{Loop, Request};
use crate::graph::{Random, prepare, vertex_id};
use crate::harness::System;
use crate::outcome::Outcome;
use crate::run::{Timed, resident_bytes};
use crate::threads::answer::{Count, Degrees, Memory, Numbers, Opened, Took};
use crate::threads::bulk_graph::ends;

/// A repository and the chains of the last commits.
pub struct Annals {
    is_on_files: bool,
    folder: PathBuf,
    repository: Option<Repository>,
    chains: Vec<Chain>,
    /// Vertices of the bipartite or the bulk graph.
    vertices: usize,
    /// The entity of the last `history-put`.
    entity: Option<Id>,
    /// Resident memory before the repository was opened. Units: bytes.
    resident_before: u64,
}

/// So many reads share a snapshot, as those of the peers share a transaction.
pub const READS_PER_SNAPSHOT: usize = 1_000;

/// The state of the reads of a thread.
struct Reads {
    random: Random,
    snapshot: Snapshot,
    /// Reads of this snapshot so far.
    count: usize,
}

impl Reads {
    fn new(thread: usize, repository: &Repository) -> Reads {
        Reads { random: Random::new(thread as u64), snapshot: repository.snapshot(), count: 0 }
    }

    /// Counts a read, which may take a new snapshot.
    fn next(&mut self, repository: &Repository) -> &mut Reads {
        if self.count == READS_PER_SNAPSHOT {
            self.snapshot = repository.snapshot();
            self.count = 0;
        }
        self.count += 1;
        self
    }
}

impl Annals {
    /// Every commit is durable.
    pub fn on_files() -> Annals {
        Annals {
            is_on_files: true,
            folder: PathBuf::new(),
            repository: None,
            chains: Vec::new(),
            vertices: 0,
            entity: None,
            resident_before: 0,
        }
    }

    /// Everything ends with the process.
    pub fn in_memory() -> Annals {
        Annals { is_on_files: false, ..Annals::on_files() }
    }

    fn repository(&self) -> Outcome<&Repository> {
        Ok(self.repository.as_ref().ok_or("nothing is open")?)
    }

    fn open(&mut self) -> Outcome<()> {
        self.repository =
            Some(if self.is_on_files { Repository::open(&self.folder)? } else { Repository::in_memory() });
        Ok(())
    }

    fn close(&mut self) -> Outcome<()> {
        if let Some(repository) = self.repository.take() {
            repository.close()?;
        }
        Ok(())
    }

    fn commits(&mut self, wanted: Loop) -> Outcome<Value> {
        let repository = self.repository()?;
        let (answer, chains) = repeat(
            wanted,
            |_| Ok(Chain::default()),
            |_, chain| {
                let mut transaction = repository.transaction();
                let id = transaction.create_entity(NewEntity::new("vertex"))?;
                if let Some(before) = &chain.last {
                    transaction.create_relationship(NewRelationship::new(
                        "test",
                        before.clone(),
                        id.clone(),
                    ))?;
                }
                transaction.commit()?;
                chain.first.get_or_insert_with(|| id.clone());
                chain.last = Some(id);
                Ok(1)
            },
        )?;
        self.chains = chains;
        Ok(serde_json::to_value(answer)?)
    }

    fn chains(&self, wanted: Loop) -> Outcome<Value> {
        let repository = self.repository()?;
        let make = |thread| {
            let chain = self.chains.get(thread).ok_or("fewer threads than that have committed")?;
            Walks::new(repository, chain)
        };
        let (mut answer, walks) =
            repeat(wanted, make, |_, walks: &mut Walks| Ok(2 * walks.next(repository)?))?;
        answer.steps = walks.into_iter().map(|walks| walks.length).collect();
        Ok(serde_json::to_value(answer)?)
    }

    fn load(
        &mut self,
        vertices: usize,
        vertex: impl Fn(usize) -> NewEntity + Sync,
        targets: impl Fn(usize) -> Vec<usize> + Sync,
    ) -> Outcome<Took> {
        self.vertices = vertices;
        let repository = self.repository()?;
        let timed = Timed::of(|| {
            prepare(repository, vertices, 2, |transaction, number| {
                transaction.create_entity(NewEntity { id: vertex_id(number), ..vertex(number) })?;
                Ok(())
            })?;
            prepare(repository, vertices, 2, |transaction, number| {
                for to in targets(number) {
                    let edge = NewRelationship::new("test", vertex_id(number), vertex_id(to));
                    transaction.create_relationship(edge)?;
                }
                Ok(())
            })
        })?;
        Ok(Took { seconds: timed.seconds(), values: Vec::new() })
    }

    fn degrees(&self, count: usize, stride: usize) -> Outcome<Degrees> {
        let snapshot = self.repository()?.snapshot();
        let half = self.vertices / 2;
        let degrees = |first: usize, direction| -> Outcome<BTreeMap<String, u64>> {
            let mut counts = BTreeMap::new();
            for place in 0..count {
                let id = vertex_id(first + place * stride);
                let degree = snapshot.neighbors(&id, direction, None)?.count();
                *counts.entry(degree.to_string()).or_default() += 1;
            }
            Ok(counts)
        };
        Ok(Degrees {
            vertices: Some(snapshot.entities_count()),
            edges: Some(snapshot.relationships_count()),
            out_degree: degrees(0, Direction::Out)?,
            in_degree: degrees(half, Direction::In)?,
        })
    }

    fn bipartite(&self, wanted: Loop) -> Outcome<Value> {
        let repository = self.repository()?;
        let half = self.vertices / 2;
        let make = |thread| {
            let mut reads = Reads::new(thread, repository);
            let at = vertex_id(reads.random.below(half));
            Ok((reads, at))
        };
        let (answer, _) = repeat(wanted, make, |_, (reads, at)| {
            let Reads { snapshot, random, .. } = reads.next(repository);
            let target = any(snapshot, at, Direction::Out, random)?;
            *at = any(snapshot, &target, Direction::In, random)?;
            Ok(8)
        })?;
        Ok(serde_json::to_value(answer)?)
    }

    fn two_hops(&self, wanted: Loop) -> Outcome<Value> {
        let repository = self.repository()?;
        let make = |thread| Ok(Reads::new(thread, repository));
        let (answer, _) = repeat(wanted, make, |_, reads| {
            let Reads { snapshot, random, .. } = reads.next(repository);
            let mut visits = 0;
            for middle in snapshot.neighbors(&vertex_id(random.below(self.vertices)), Direction::Out, None)? {
                visits += 1;
                for end in snapshot.neighbors(middle?.entity.id(), Direction::Out, None)? {
                    end?;
                    visits += 1;
                }
            }
            Ok(visits)
        })?;
        Ok(serde_json::to_value(answer)?)
    }

    fn two_hops_of(&self, number: usize) -> Outcome<Numbers> {
        let snapshot = self.repository()?.snapshot();
        let mut numbers = Vec::new();
        for middle in snapshot.neighbors(&vertex_id(number), Direction::Out, None)? {
            for end in snapshot.neighbors(middle?.entity.id(), Direction::Out, None)? {
                let number = end?.entity.property("number").and_then(|value| value.as_integer());
                numbers.push(u64::try_from(number.ok_or("a vertex has no number")?)?);
            }
        }
        numbers.sort_unstable();
        Ok(Numbers { numbers })
    }

    fn history_put(&mut self, versions: i64) -> Outcome<Took> {
        let repository = self.repository()?;
        let (entity, _) =
            repository.transact(|transaction| transaction.create_entity(NewEntity::new("vertex")))?;
        let id = InstanceId::Entity(entity.clone());
        let timed = Timed::of(|| {
            for version in 1..=versions {
                repository.transact(|transaction| transaction.update(&id, Patch::new().set("n", version)))?;
            }
            Ok(())
        })?;
        self.entity = Some(entity);
        Ok(Took { seconds: timed.seconds(), values: Vec::new() })
    }

    /// The time includes the snapshot and the values that are read from the versions, as that of the peers does.
    fn history_read(&self, versions: usize) -> Outcome<Took> {
        let repository = self.repository()?;
        let entity = self.entity.as_ref().ok_or("no entity has a history")?;
        // The first version has no `n`.
        let history = History { is_oldest_first: true, limit: versions + 1, ..History::default() };
        let timed = Timed::of(|| {
            let snapshot = repository.snapshot();
            let found = snapshot.entity_history(entity, &history)?;
            let value =
                |entity: &annals::Entity<'_>| entity.property("n").and_then(|value| value.as_integer());
            Ok(found.iter().filter_map(|(_, entity)| value(entity)).collect())
        })?;
        Ok(Took { seconds: timed.seconds(), values: timed.result })
    }

    fn reopen(&mut self) -> Outcome<Value> {
        if !self.is_on_files {
            return Ok(json!({ "skip": "is in memory only" }));
        }
        let timed = Timed::of(|| {
            self.close()?;
            self.open()
        })?;
        Ok(json!({ "seconds": timed.seconds() }))
    }
}

impl System for Annals {
    fn ask(&mut self, request: &Value, _: Duration) -> Outcome<Value> {
        match serde_json::from_value(request.clone())? {
            Request::Open { folder } => {
                self.close()?;
                self.folder = folder;
                self.resident_before = resident_bytes();
                self.open()?;
                let durability = if self.is_on_files { "synced-group" } else { "memory" };
                let version = env!("CARGO_PKG_VERSION").to_owned();
                let opened = Opened { version, durability: durability.into(), settings: BTreeMap::new() };
                Ok(serde_json::to_value(opened)?)
            }
            Request::Commits(wanted) => self.commits(wanted),
            Request::Chains(wanted) => self.chains(wanted),
            Request::BipartiteLoad { vertices } => {
                let half = vertices / 2;
                let targets = |number: usize| match number < half {
                    true => [1, 4, 7].map(|more| half + (5 * number + more) % half).to_vec(),
                    false => Vec::new(),
                };
                Ok(serde_json::to_value(self.load(vertices, |_| NewEntity::new("vertex"), targets)?)?)
            }
            Request::BipartiteCheck { count, stride } => {
                Ok(serde_json::to_value(self.degrees(count, stride)?)?)
            }
            Request::Bipartite(wanted) => self.bipartite(wanted),
            Request::Bulk { vertices } => {
                let vertex = |number: usize| NewEntity::new("vertex").property("number", number as i64);
                let targets =
                    |number: usize| ends(vertices as u64, number as u64).map(|to| to as usize).to_vec();
                Ok(serde_json::to_value(self.load(vertices, vertex, targets)?)?)
            }
            Request::TwoHopsOf { number } => Ok(serde_json::to_value(self.two_hops_of(number)?)?),
            Request::TwoHops(wanted) => self.two_hops(wanted),
            Request::HistoryPut { versions } => Ok(serde_json::to_value(self.history_put(versions)?)?),
            Request::HistoryRead { versions } => Ok(serde_json::to_value(self.history_read(versions)?)?),
            Request::Reopen => self.reopen(),
            Request::Count => {
                let snapshot = self.repository()?.snapshot();
                let (vertices, edges) = (snapshot.entities_count(), snapshot.relationships_count());
                Ok(serde_json::to_value(Count { vertices, edges })?)
            }
            Request::Memory => {
                let live_bytes = resident_bytes().saturating_sub(self.resident_before);
                Ok(serde_json::to_value(Memory { live_bytes })?)
            }
            Request::Close => {
                self.close()?;
                Ok(json!({}))
            }
        }
    }
}

/// One of the neighbours of a vertex, all of which are read.
fn any(snapshot: &Snapshot, id: &Id, direction: Direction, random: &mut Random) -> Outcome<Id> {
    let mut ids = Vec::with_capacity(5);
    for neighbor in snapshot.neighbors(id, direction, None)? {
        ids.push(neighbor?.entity.id().clone());
    }
    if ids.is_empty() {
        return Err(format!("{id}: has no neighbours").into());
    }
    Ok(ids.swap_remove(random.below(ids.len())))
}
