//! hop2: two hops out from random entities, reading a property of every end, one walk at a time or many together.

use std::hint::black_box;

use annals::{Direction, Entity, Id, Name, Snapshot, Value};

use crate::graph::{
    FastMap, Packed, Persistent, Plain, Random, StandardGraph, Uuid, map_of_numbers, uuid, vertex_id,
};
use crate::outcome::Outcome;
use crate::run::{Job, Sample, Timed, agree, in_turn};

/// Walks that start together in the line `hop2-frontier`.
const FRONTIER: usize = 64;

/// The limit: a map from ids to numbers, packed neighbours and a vector of property records.
struct Limit {
    numbers: FastMap<Uuid, u32>,
    packed: Packed,
    records: Vec<Plain>,
}

/// Relationships walked along, and the sum of the property of all ends.
type Walked = (usize, i64);

/// One round of both lines.
pub fn round(job: &Job, graph: &StandardGraph) -> Outcome<Vec<Sample>> {
    let limit = Limit {
        numbers: map_of_numbers(graph.entities, |number| number as u32),
        packed: Packed::new(graph.entities, &graph.edges),
        records: (0..graph.entities).map(Plain::new).collect(),
    };
    let shared = Persistent::new(graph.entities, &graph.edges);
    let operations = job.size.operations(200_000, 2_000);
    let snapshot = graph.repository.snapshot();
    let size = snapshot.name("size").ok_or("no entity has a size")?;
    let mut samples = Vec::new();
    for turn in job.turns(3) {
        let mut random = Random::new(turn as u64);
        let ids: Vec<Id> = (0..operations).map(|_| vertex_id(random.below(graph.entities))).collect();
        let uuids: Vec<Uuid> = ids.iter().map(uuid).collect();
        for (line, together) in [("hop2", 1), ("hop2-frontier", FRONTIER)] {
            if !job.lines.iter().any(|wanted| wanted == line) {
                continue;
            }
            let (ours, limit) = in_turn(
                turn,
                || Timed::of(|| walk(&snapshot, size, &ids, together)),
                || {
                    Timed::of(
                        || if together == 1 { limit.walk(&uuids) } else { limit.walk_frontiers(&uuids) },
                    )
                },
            )?;
            let same_work = Timed::of(|| walk_shared(&shared, &uuids, together))?;
            agree(line, ours.result, limit.result)?;
            agree(line, same_work.result, limit.result)?;
            let visits = limit.result.0;
            samples.push(Sample::new(line, ours.rate(visits), limit.rate(visits)));
            let same_work = same_work.rate(visits);
            samples.push(Sample::new(format!("{line}-same-work"), same_work, limit.rate(visits)));
        }
    }
    Ok(samples)
}

fn walk(snapshot: &Snapshot, size: Name, ids: &[Id], together: usize) -> Outcome<Walked> {
    let (mut visits, mut sum) = (0, 0);
    let mut frontier: Vec<Entity<'_>> = Vec::with_capacity(together);
    for ids in ids.chunks(together) {
        frontier.clear();
        for entity in snapshot.entities(ids)? {
            frontier.push(entity.ok_or("an entity is not there")?);
        }
        let first = snapshot.expand(&frontier, Direction::Out, Some("edge"))?;
        visits += first.len();
        let mut missing = 0;
        snapshot.each_expanded_value(&first, Direction::Out, Some("edge"), size, |value| {
            visits += 1;
            match value.and_then(Value::as_integer) {
                Some(size) => sum += size,
                None => missing += 1,
            }
        })?;
        agree("entities without a size", missing, 0)?;
    }
    Ok((visits, sum))
}

impl Limit {
    fn walk(&self, uuids: &[Uuid]) -> Outcome<Walked> {
        let (mut visits, mut sum) = (0, 0);
        for uuid in uuids {
            let start = *self.numbers.get(uuid).ok_or("an entity is not there")?;
            for first in self.packed.out(start) {
                visits += 1;
                for second in self.packed.out(*first) {
                    visits += 1;
                    sum += self.records[*second as usize].size;
                }
            }
        }
        Ok(black_box((visits, sum)))
    }

    fn walk_frontiers(&self, uuids: &[Uuid]) -> Outcome<Walked> {
        let (mut visits, mut sum) = (0, 0);
        let (mut starts, mut firsts, mut seconds) = (Vec::new(), Vec::new(), Vec::new());
        for uuids in uuids.chunks(FRONTIER) {
            starts.clear();
            for uuid in uuids {
                starts.push(*self.numbers.get(uuid).ok_or("an entity is not there")?);
            }
            self.expand(&starts, &mut firsts);
            self.expand(&firsts, &mut seconds);
            visits += firsts.len() + seconds.len();
            sum += seconds.iter().map(|end| self.records[*end as usize].size).sum::<i64>();
        }
        Ok(black_box((visits, sum)))
    }

    fn expand(&self, from: &[u32], to: &mut Vec<u32>) {
        to.clear();
        from.iter().for_each(|from| to.extend_from_slice(self.packed.out(*from)));
    }
}

/// The walks of the limit in structures that can be shared at any time.
fn walk_shared(graph: &Persistent, uuids: &[Uuid], together: usize) -> Outcome<Walked> {
    let (mut visits, mut sum) = (0, 0);
    let (mut starts, mut firsts, mut seconds) = (Vec::new(), Vec::new(), Vec::new());
    let expand = |from: &[u32], to: &mut Vec<u32>| {
        to.clear();
        from.iter().for_each(|from| to.extend(graph.out(*from).iter().map(|(_, end)| *end)));
    };
    for uuids in uuids.chunks(together) {
        starts.clear();
        for uuid in uuids {
            starts.push(*graph.numbers.get(uuid).ok_or("an entity is not there")?);
        }
        expand(&starts, &mut firsts);
        expand(&firsts, &mut seconds);
        visits += firsts.len() + seconds.len();
        sum += seconds.iter().map(|end| graph.records[*end as usize].size).sum::<i64>();
    }
    Ok(black_box((visits, sum)))
}
