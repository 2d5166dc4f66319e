//! find-one, find-eq, find-range, find-order: the first page of 50 from a property index, compared with a BTreeMap.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::time::Duration;

use annals::{Find, Id, Operator, Snapshot};

use crate::graph::{PersistentIndexes, Random, StandardGraph, Uuid, size, uuid, vertex_id, weight};
use crate::outcome::Outcome;
use crate::run::{Job, Sample, Timed, agree, in_turn, per_second};

const PAGE: usize = 50;
/// This many searches are made together and then run, as programs do: making thousands of searches in advance would
/// push the searched data out of the cache.
const TOGETHER: usize = 100;
/// Entities in the range that is searched: more than a page.
const RANGE: usize = 300;

/// The limit: from value to ids, ascending. Weights are not negative, so their bits are in the same order.
struct Trees {
    sizes: BTreeMap<i64, Vec<Uuid>>,
    weights: BTreeMap<u64, Vec<Uuid>>,
}

/// A search, the same for both sides.
#[derive(Clone, Copy)]
enum Question {
    One(f64),
    Equal(i64),
    Range(f64, f64),
    Smallest,
    Largest,
}

/// One round of the four lines.
pub fn round(job: &Job, graph: &StandardGraph) -> Outcome<Vec<Sample>> {
    let trees = Trees::new(graph.entities);
    let shared = PersistentIndexes::new(graph.entities);
    let snapshot = graph.repository.snapshot();
    let mut samples = Vec::new();
    for line in ["find-one", "find-eq", "find-range", "find-order"] {
        if !job.wants(line) {
            continue;
        }
        for turn in job.turns(3) {
            let questions = questions(line, turn, graph.entities, job.size.operations(20_000, 500));
            for question in questions.iter().take(100) {
                check(line, *question, &snapshot, &trees)?;
            }
            let (ours, limit) = in_turn(
                turn,
                || ask(&snapshot, &questions),
                || {
                    Timed::of(|| {
                        Ok(questions.iter().map(|question| fold(&trees.page(*question))).sum::<u64>())
                    })
                },
            )?;
            let same_work = Timed::of(|| {
                Ok(questions.iter().map(|question| fold(&question.page_of(&shared))).sum::<u64>())
            })?;
            agree("pages of the shared indexes", same_work.result, limit.result)?;
            black_box(limit.result);
            let [ours, limit, same_work] =
                [ours, limit.elapsed, same_work.elapsed].map(|time| per_second(questions.len() as u64, time));
            samples.push(Sample::new(line, ours, limit));
            samples.push(Sample::new(format!("{line}-same-work"), same_work, limit));
        }
    }
    Ok(samples)
}

fn questions(line: &str, turn: usize, entities: usize, count: usize) -> Vec<Question> {
    let mut random = Random::new(turn as u64);
    let mut question = |number: usize| match line {
        "find-one" => Question::One(weight(random.below(entities))),
        "find-eq" => Question::Equal(size(random.below(entities))),
        "find-range" => {
            let first = random.below(entities - RANGE);
            Question::Range(weight(first), weight(first + RANGE))
        }
        _ if number.is_multiple_of(2) => Question::Smallest,
        _ => Question::Largest,
    };
    (0..count).map(&mut question).collect()
}

/// Time for all pages, with every id read; making the searches is not counted.
fn ask(snapshot: &Snapshot, questions: &[Question]) -> Outcome<Duration> {
    let mut elapsed = Duration::ZERO;
    for questions in questions.chunks(TOGETHER) {
        let finds: Vec<Find> = questions.iter().map(|question| question.find()).collect();
        let asked = Timed::of(|| {
            finds.iter().try_fold(0u64, |sum, find| {
                let page = snapshot.find_entities(find)?;
                let last = |id: &Id| id.uuid_bytes().map_or(0, |bytes| u64::from(bytes[15]));
                Ok(page.items.iter().fold(sum, |sum, found| sum.wrapping_add(last(found.id()))))
            })
        })?;
        black_box(asked.result);
        elapsed += asked.elapsed;
    }
    Ok(elapsed)
}

fn fold(page: &[Uuid]) -> u64 {
    page.iter().map(|uuid| u64::from(uuid[15])).sum()
}

/// Both give the same page; among equal values any 50, because two threads loaded the elements.
fn check(line: &str, question: Question, snapshot: &Snapshot, trees: &Trees) -> Outcome<()> {
    let page = snapshot.find_entities(&question.find())?;
    let mut found: Vec<Uuid> = page.items.iter().map(|found| uuid(found.id())).collect();
    let expected = trees.page(question);
    let Question::Equal(value) = question else { return agree(line, found, expected) };
    let all = &trees.sizes[&value];
    found.sort_unstable();
    found.dedup();
    found.retain(|uuid| all.binary_search(uuid).is_ok());
    agree(line, found.len(), expected.len())
}

impl Question {
    fn find(self) -> Find {
        let find = Find::of("vertex").limit(PAGE);
        match self {
            Question::One(weight) => find.matching("weight", Operator::Equal, weight),
            Question::Equal(size) => find.matching("size", Operator::Equal, size),
            Question::Range(from, to) => find
                .matching("weight", Operator::GreaterOrEqual, from)
                .matching("weight", Operator::Less, to)
                .order_by("weight"),
            Question::Smallest => find.order_by("weight"),
            Question::Largest => find.order_by_descending("weight"),
        }
    }

    /// The page of the limit, from indexes that can be shared at any time and lead to ids by numbers.
    fn page_of(self, indexes: &PersistentIndexes) -> Vec<Uuid> {
        let id = |number: u32| indexes.ids[number as usize];
        let weights = &indexes.weights;
        match self {
            Question::One(weight) => {
                let found = weights.range((weight.to_bits(), 0)..(weight.to_bits() + 1, 0));
                found.take(PAGE).map(|(_, number)| id(*number)).collect()
            }
            Question::Equal(size) => {
                let found = indexes.sizes.range((size, 0)..(size + 1, 0));
                found.take(PAGE).map(|(_, number)| id(*number)).collect()
            }
            Question::Range(from, to) => {
                let found = weights.range((from.to_bits(), 0)..(to.to_bits(), 0));
                found.take(PAGE).map(|(_, number)| id(*number)).collect()
            }
            Question::Smallest => weights.iter().take(PAGE).map(|(_, number)| id(*number)).collect(),
            Question::Largest => weights.iter().rev().take(PAGE).map(|(_, number)| id(*number)).collect(),
        }
    }
}

impl Trees {
    fn new(entities: usize) -> Trees {
        let mut trees = Trees { sizes: BTreeMap::new(), weights: BTreeMap::new() };
        for number in 0..entities {
            let uuid = uuid(&vertex_id(number));
            trees.sizes.entry(size(number)).or_default().push(uuid);
            trees.weights.entry(weight(number).to_bits()).or_default().push(uuid);
        }
        trees
    }

    fn page(&self, question: Question) -> Vec<Uuid> {
        let page = |ids: Option<&Vec<Uuid>>| ids.into_iter().flatten().take(PAGE).copied().collect();
        match question {
            Question::One(weight) => page(self.weights.get(&weight.to_bits())),
            Question::Equal(size) => page(self.sizes.get(&size)),
            Question::Range(from, to) => {
                first_page(self.weights.range(from.to_bits()..to.to_bits()).map(|(_, ids)| ids))
            }
            Question::Smallest => first_page(self.weights.values()),
            Question::Largest => first_page(self.weights.values().rev()),
        }
    }
}

/// The first page of these lists. A loop, because the code that the compiler makes of `flatten` and `take` depends on
/// the rest of the program, so that the same source runs at very different speeds.
fn first_page<'t>(lists: impl Iterator<Item = &'t Vec<Uuid>>) -> Vec<Uuid> {
    let mut page = Vec::with_capacity(PAGE);
    for ids in lists {
        for id in ids {
            if page.len() == PAGE {
                return page;
            }
            page.push(*id);
        }
    }
    page
}
