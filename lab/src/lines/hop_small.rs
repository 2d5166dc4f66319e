//! hop-small: a graph that fits the cache: vertex by id, its out relationships, their ends.
//!
//! A visit is a relationship or an end that is read by its id: six for each start. The start does not count.

use std::hint::black_box;

use annals::{Direction, Id, Repository, Snapshot};

use crate::graph::{
    FastMap, Packed, Persistent, Random, Uuid, edge_ids, load, map_of_numbers, random_edges, uuid, vertex_id,
};
use crate::outcome::Outcome;
use crate::run::{Job, Sample, agree, in_turn, per_second, together};

const VERTICES: usize = 1_000;
const VISITS: usize = 6;

/// Packed neighbours, and the ids of both kinds.
struct Limit {
    numbers: FastMap<Uuid, u32>,
    packed: Packed,
    vertices: Vec<Uuid>,
    edges: Vec<Uuid>,
}

/// One round: one thread and two.
pub fn round(job: &Job) -> Outcome<Vec<Sample>> {
    let vertices = VERTICES * job.size.scale as usize;
    let edges = random_edges(vertices);
    let repository = Repository::open(job.folder.join("graph"))?;
    load(&repository, vertices, &edges)?;
    let limit = Limit {
        numbers: map_of_numbers(vertices, |number| number as u32),
        packed: Packed::new(vertices, &edges),
        vertices: (0..vertices).map(|number| uuid(&vertex_id(number))).collect(),
        edges: edge_ids(edges.len()),
    };
    let shared = Persistent::new(vertices, &edges);
    let snapshot = repository.snapshot();
    let starts = job.size.operations(1_000_000, 30_000);
    let mut samples = Vec::new();
    for turn in job.turns(5) {
        let mut random = Random::new(turn as u64);
        let ids: Vec<Id> = (0..starts).map(|_| vertex_id(random.below(vertices))).collect();
        let uuids: Vec<Uuid> = ids.iter().map(uuid).collect();
        let mut rates = Vec::new();
        for threads in [1, 2] {
            let (ours, limit) = in_turn(
                turn,
                || together(threads, |_| hop(&snapshot, &ids)),
                || together(threads, |_| limit.hop(&uuids)),
            )?;
            let same_work = together(threads, |_| hop_shared(&shared, &uuids))?;
            agree("the sums of ids", &ours.0, &limit.0)?;
            agree("the sums of ids in shared structures", same_work.0, limit.0)?;
            let visits = (threads * starts * VISITS) as u64;
            let [ours, limit, same_work] =
                [ours.1, limit.1, same_work.1].map(|time| per_second(visits, time));
            samples.push(Sample::new(format!("hop-small-{threads}-same-work"), same_work, limit));
            rates.push((ours, limit));
            samples.push(Sample::new(format!("hop-small-{threads}"), ours, limit));
        }
        samples.push(Sample::new("hop-small-2-to-1", rates[1].0 / rates[0].0, rates[1].1 / rates[0].1));
    }
    Ok(samples)
}

fn hop(snapshot: &Snapshot, ids: &[Id]) -> Outcome<u64> {
    let mut sum = 0;
    for id in ids {
        for neighbor in snapshot.neighbors(id, Direction::Out, None)? {
            let neighbor = neighbor?;
            sum = add(sum, neighbor.relationship.id().uuid_bytes());
            sum = add(sum, neighbor.entity.id().uuid_bytes());
        }
    }
    Ok(sum)
}

impl Limit {
    fn hop(&self, uuids: &[Uuid]) -> Outcome<u64> {
        let mut sum = 0;
        for uuid in uuids {
            let start = *self.numbers.get(uuid).ok_or("an entity is not there")?;
            for (edge, end) in self.packed.links(start) {
                sum = add(sum, Some(&self.edges[edge as usize]));
                sum = add(sum, Some(&self.vertices[end as usize]));
            }
        }
        Ok(black_box(sum))
    }
}

/// The walk of the limit in structures that can be shared at any time.
fn hop_shared(graph: &Persistent, uuids: &[Uuid]) -> Outcome<u64> {
    let mut sum = 0;
    for uuid in uuids {
        let start = *graph.numbers.get(uuid).ok_or("an entity is not there")?;
        for (edge, end) in graph.out(start) {
            sum = add(sum, Some(&graph.edges[*edge as usize]));
            sum = add(sum, Some(&graph.vertices[*end as usize]));
        }
    }
    Ok(black_box(sum))
}

/// Adds an id to a checksum.
#[inline]
fn add(sum: u64, uuid: Option<&Uuid>) -> u64 {
    let random = uuid.map_or(0, |bytes| u64::from(bytes[15]) << 8 | u64::from(bytes[14]));
    sum.wrapping_add(random)
}
