//! read-under-write: get, hop2 and pages of a search on one thread while another thread commits continuously, compared
//! with the same reads without a writer. The reader has the core that syncs disturb least, the writer the other cores.
//! The reads repeat, so that their data stays in the cache, as far as it fits. The cost of the machine itself is the
//! same reads beside a thread that writes and syncs as many bytes. The time of two dependent reads of memory, of packed
//! neighbours and of an ordered map beside the committing thread is the basis for judging growth.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use annals::{Direction, Find, Id, Operator, Repository, Snapshot};

use super::commit::bytes_per_commit;
use super::get::Memory;
use crate::graph::{
    FastMap, Packed, Plain, Random, Standard, StandardGraph, Uuid, map_of_numbers, size, uuid, vertex_id,
};
use crate::latencies::Latencies;
use crate::outcome::Outcome;
use crate::run::{Cores, Job, MEMORY, RawFile, SAME_WORK, Sample, agree};

/// The sides take turns in as many parts: each is first in one part, and last in one. The order of the others is not
/// balanced, so everything is read once before the measurement.
const SIDES: usize = 4;
/// Entities on a page. At least this many are loaded for each size, and the writer's entities come after them.
const PAGE: usize = 10;

/// An entity, and the right answer for it.
struct Question {
    id: Id,
    number: usize,
    answer: i64,
}

/// A kind of read.
#[derive(Clone, Copy)]
enum Read {
    Get,
    Hop2,
    /// The first page of entities with the size of an entity.
    Find,
}

/// The graph in the form of a program that only reads, and the least work of a get.
struct PlainGraph {
    numbers: FastMap<Uuid, u32>,
    packed: Packed,
    records: Vec<Plain>,
    numbers_by_size: BTreeMap<i64, Vec<u32>>,
    memory: Memory,
}

/// One round: all kinds of reads, alone and beside the writer.
pub fn round(job: &Job, graph: &StandardGraph) -> Outcome<Vec<Sample>> {
    let mut numbers_by_size: BTreeMap<i64, Vec<u32>> = BTreeMap::new();
    for number in 0..graph.entities {
        numbers_by_size.entry(size(number)).or_default().push(number as u32);
    }
    let plain = PlainGraph {
        numbers: map_of_numbers(graph.entities, |number| number as u32),
        packed: Packed::new(graph.entities, &graph.edges),
        records: (0..graph.entities).map(Plain::new).collect(),
        numbers_by_size,
        memory: Memory::new(graph.entities),
    };
    let length = Duration::from_secs_f64(job.size.seconds(1.0, 0.1));
    let payload = vec![7; bytes_per_commit(&job.folder.join("bytes"))?];
    let mut file = RawFile::create(&job.folder.join("raw"))?;
    let mut samples = Vec::new();
    let cores = Cores::apart_from(|| Ok(file.append(&payload)?))?;
    for turn in job.turns(3) {
        for (line, kind) in [
            ("read-under-write-get", Read::Get),
            ("read-under-write-hop2", Read::Hop2),
            ("read-under-write-find", Read::Find),
        ] {
            if !job.wants(line) {
                continue;
            }
            let mut random = Random::new(turn as u64);
            let questions: Vec<Question> = (0..job.size.operations(50_000, 2_000))
                .map(|_| random.below(graph.entities))
                .map(|number| kind.question(&plain.packed, number))
                .collect();
            let part_length = length / SIDES as u32;
            // Each time the newest snapshot.
            let ask =
                || read(&questions, part_length, |asked| kind.ask(&graph.repository.snapshot(), &asked.id));
            let ask_plain = || read(&questions, part_length, |asked| kind.ask_plain(&plain, asked));
            let mut sides = Sides::new()?;
            for part in 0..SIDES {
                for step in 0..SIDES {
                    let writer = committing(&graph.repository);
                    match (turn + part + step) % SIDES {
                        0 => sides.ours.add(&cores.beside(writer, ask)?)?,
                        1 => sides.limit.add(&cores.alone(ask)?)?,
                        2 => sides.raw.add(&cores.beside(|_| Ok(file.append(&payload)?), ask)?)?,
                        _ => sides.plain.add(&cores.beside(writer, ask_plain)?)?,
                    }
                }
            }
            let rate = |reads: &Latencies| reads.count() as f64 / length.as_secs_f64();
            let p999 = |reads: &Latencies| reads.quantile_us(0.999);
            let limit = rate(&sides.limit);
            samples.push(Sample::new(line, rate(&sides.ours), limit));
            samples.push(Sample::new(format!("{line}-p99.9"), p999(&sides.ours), p999(&sides.limit)));
            samples.push(Sample::new(format!("{line}-raw"), rate(&sides.raw), limit));
            samples.push(Sample::new(format!("{line}{}", kind.plain_name()), rate(&sides.plain), limit));
        }
    }
    Ok(samples)
}

/// The samples of all parts together.
struct Sides {
    ours: Latencies,
    limit: Latencies,
    raw: Latencies,
    plain: Latencies,
}

impl Sides {
    fn new() -> Outcome<Sides> {
        let none = Latencies::new;
        Ok(Sides { ours: none()?, limit: none()?, raw: none()?, plain: none()? })
    }
}

/// Reads everything once, then for `length`, and checks every answer. Only the latter counts, because the cache holds
/// the latest reads, and that differs from side to side.
fn read(
    questions: &[Question],
    length: Duration,
    ask: impl Fn(&Question) -> Outcome<i64>,
) -> Outcome<Latencies> {
    for asked in questions {
        agree("a read beside a writer", ask(asked)?, asked.answer)?;
    }
    let mut latencies = Latencies::new()?;
    let begin = Instant::now();
    let mut start = begin;
    for asked in questions.iter().cycle() {
        let found = ask(asked)?;
        let end = Instant::now();
        latencies.record(end - start);
        start = end;
        agree("a read beside a writer", found, asked.answer)?;
        if end - begin >= length {
            break;
        }
    }
    Ok(latencies)
}

impl Read {
    fn ask(self, snapshot: &Snapshot, id: &Id) -> Outcome<i64> {
        match self {
            Read::Get => get(snapshot, id),
            Read::Hop2 => hop2(snapshot, id),
            Read::Find => find(snapshot, id),
        }
    }

    fn ask_plain(self, plain: &PlainGraph, asked: &Question) -> Outcome<i64> {
        match self {
            Read::Get => Ok(plain.memory.look_up(asked.number)),
            Read::Hop2 => plain.hop2(&asked.id),
            Read::Find => plain.find(&asked.id),
        }
    }

    /// The suffix of the line with the comparison figure.
    fn plain_name(self) -> &'static str {
        match self {
            Read::Get => MEMORY,
            Read::Hop2 | Read::Find => SAME_WORK,
        }
    }

    /// The right answer for the entity with this number.
    fn question(self, packed: &Packed, number: usize) -> Question {
        let answer = match self {
            Read::Get => size(number),
            Read::Find => PAGE as i64 * size(number),
            Read::Hop2 => ends(packed, number as u32).map(|end| size(end as usize)).sum(),
        };
        Question { id: vertex_id(number), number, answer }
    }
}

impl PlainGraph {
    fn number(&self, id: &Id) -> Outcome<u32> {
        Ok(*self.numbers.get(&uuid(id)).ok_or("an entity is not there")?)
    }

    fn hop2(&self, id: &Id) -> Outcome<i64> {
        let ends = ends(&self.packed, self.number(id)?);
        Ok(ends.map(|end| self.records[end as usize].size).sum())
    }

    /// The first page of entities with the same size.
    fn find(&self, id: &Id) -> Outcome<i64> {
        let size = self.records[self.number(id)? as usize].size;
        let found = self.numbers_by_size.get(&size).ok_or("no entity has this size")?;
        Ok(found.iter().take(PAGE).map(|number| self.records[*number as usize].size).sum())
    }
}

/// The ends two hops out.
fn ends(packed: &Packed, number: u32) -> impl Iterator<Item = u32> {
    packed.out(number).iter().flat_map(|first| packed.out(*first)).copied()
}

fn get(snapshot: &Snapshot, id: &Id) -> Outcome<i64> {
    let entity = snapshot.entity(id)?.ok_or("an entity is not there")?;
    let size = entity.property("size").and_then(|value| value.as_integer());
    Ok(size.ok_or("an entity has no size")?)
}

/// The sum of the sizes on the page.
fn find(snapshot: &Snapshot, id: &Id) -> Outcome<i64> {
    let wanted = get(snapshot, id)?;
    let page =
        snapshot.find_entities(&Find::of("vertex").matching("size", Operator::Equal, wanted).limit(PAGE))?;
    let sizes = page.items.iter().map(|found| found.property("size").and_then(|value| value.as_integer()));
    Ok(sizes.sum::<Option<i64>>().ok_or("an entity has no size")?)
}

fn hop2(snapshot: &Snapshot, id: &Id) -> Outcome<i64> {
    let entity = snapshot.entity(id)?.ok_or("an entity is not there")?;
    let first = snapshot.expand(&[entity], Direction::Out, Some("edge"))?;
    let second = snapshot.expand(&first, Direction::Out, Some("edge"))?;
    let mut sum = 0;
    for end in &second {
        sum += end.property("size").and_then(|value| value.as_integer()).ok_or("an entity has no size")?;
    }
    Ok(sum)
}

/// Commits one entity and one relationship that leads to an existing entity, and waits until they are durable. No
/// existing entity gets another out-neighbour, so the answers stay the same.
fn committing(repository: &Repository) -> impl FnMut(usize) -> Outcome<()> + Send {
    let standard = Standard::new();
    move |number| {
        let mut transaction = repository.transaction();
        let from = transaction.create_entity(standard.entity_with(Id::random(), number))?;
        let edge = standard.relationship_with(Id::random(), number, from, vertex_id(0));
        transaction.create_relationship(edge)?;
        transaction.commit()?;
        Ok(())
    }
}
