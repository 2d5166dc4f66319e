//! get-T: random gets by id, reading one property, compared with a hash map. The time of two dependent reads of memory
//! is the basis for judging growth.

use std::array::from_fn;
use std::hint::black_box;
use std::sync::Arc;

use annals::{Id, Name, Snapshot};

use crate::graph::{
    Plain, Random, StandardGraph, Uuid, map_of_numbers, mix, shared_map_of_numbers, size, uuid, vertex_id,
};
use crate::outcome::Outcome;
use crate::run::{Job, Sample, agree, in_turn, per_second, together};

/// The look-ups of both sides, one list for each thread.
struct Picks {
    ids: Vec<Vec<Id>>,
    uuids: Vec<Vec<Uuid>>,
    /// The sum of the property over all of one list.
    sums: Vec<i64>,
}

/// The least work of a look-up: one line of a table that leads to a place, and the short value there.
pub struct Memory {
    /// One line for two entities: a line has room for three ids with their places, and a part of it stays empty.
    lines: Vec<[u32; 16]>,
    values: Vec<i16>,
}

/// One round: one thread and two.
pub fn round(job: &Job, graph: &StandardGraph) -> Outcome<Vec<Sample>> {
    let operations = job.size.operations(1_000_000, 20_000);
    let map = map_of_numbers(graph.entities, |number| Arc::new(Plain::new(number)));
    let shared = shared_map_of_numbers(graph.entities, |number| Arc::new(Plain::new(number)));
    let memory = Memory::new(graph.entities);
    let snapshot = graph.repository.snapshot();
    let size = snapshot.name("size").ok_or("no entity has a size")?;
    let mut samples = Vec::new();
    for turn in job.turns(3) {
        let picks = Picks::new(graph.entities, operations, turn);
        let mut rates = Vec::new();
        for threads in [1, 2] {
            let (ours, limit) = in_turn(
                turn,
                || together(threads, |thread| get(&snapshot, size, &picks.ids[thread])),
                || together(threads, |thread| look_up(|uuid| map.get(uuid), &picks.uuids[thread])),
            )?;
            let same_work =
                together(threads, |thread| look_up(|uuid| shared.get(uuid), &picks.uuids[thread]))?;
            agree("the sums of sizes", &ours.0[..], &picks.sums[..threads])?;
            agree("the sums of sizes in the map", &limit.0[..], &picks.sums[..threads])?;
            agree("the sums of sizes in the shared map", &same_work.0[..], &picks.sums[..threads])?;
            let chain = together(threads, |thread| Ok(memory.read(2 * turn + thread, operations)))?;
            let [ours, limit, same_work, chain] = [ours.1, limit.1, same_work.1, chain.1]
                .map(|time| per_second((threads * operations) as u64, time));
            rates.push((ours, limit));
            samples.push(Sample::new(format!("get-{threads}-same-work"), same_work, limit));
            samples.push(Sample::new(format!("get-{threads}-memory"), chain, limit));
            samples.push(Sample::new(format!("get-{threads}"), ours, limit));
        }
        samples.push(Sample::new("get-2-to-1", rates[1].0 / rates[0].0, rates[1].1 / rates[0].1));
    }
    Ok(samples)
}

impl Picks {
    fn new(entities: usize, operations: usize, turn: usize) -> Picks {
        let mut picks = Picks { ids: Vec::new(), uuids: Vec::new(), sums: Vec::new() };
        for thread in 0..2 {
            let mut random = Random::new((2 * turn + thread) as u64);
            let numbers: Vec<usize> = (0..operations).map(|_| random.below(entities)).collect();
            let ids: Vec<Id> = numbers.iter().map(|number| vertex_id(*number)).collect();
            picks.uuids.push(ids.iter().map(uuid).collect());
            picks.ids.push(ids);
            picks.sums.push(numbers.into_iter().map(size).sum());
        }
        picks
    }
}

impl Memory {
    /// The memory for this number of entities.
    pub fn new(entities: usize) -> Memory {
        let places: Vec<u32> = (0..entities as u32).collect();
        let line = |pair: &[u32]| from_fn(|at| pair[at % pair.len()]);
        Memory {
            lines: places.chunks(2).map(line).collect(),
            values: (0..entities).map(|number| size(number) as i16).collect(),
        }
    }

    /// The size of the entity with this number.
    #[inline(never)]
    pub fn look_up(&self, number: usize) -> i64 {
        self.values[self.lines[number / 2][number % 2] as usize].into()
    }

    /// Looks up at random; each look-up depends on the value of the one before.
    fn read(&self, seed: usize, operations: usize) -> i64 {
        let mut sum = 0;
        for number in 0..operations {
            let random = mix(sum as u64 ^ mix((seed * operations + number) as u64));
            let [place, ..] = self.lines[(random % self.lines.len() as u64) as usize];
            sum += i64::from(self.values[place as usize]);
        }
        black_box(sum)
    }
}

fn get(snapshot: &Snapshot, size: Name, ids: &[Id]) -> Outcome<i64> {
    let mut sum = 0;
    for id in ids {
        let entity = snapshot.entity(id)?.ok_or("an entity is not there")?;
        sum += entity.value(size).and_then(|value| value.as_integer()).ok_or("an entity has no size")?;
    }
    Ok(sum)
}

/// The sum of the sizes of entities in a map, found with `get`.
pub fn look_up<'m>(get: impl Fn(&Uuid) -> Option<&'m Arc<Plain>>, uuids: &[Uuid]) -> Outcome<i64> {
    let mut sum = 0;
    for uuid in uuids {
        sum += get(uuid).ok_or("an entity is not there")?.size;
    }
    Ok(black_box(sum))
}
