//! Random gets and two-hop walks, beside a hash map and a packed adjacency.

use std::collections::HashMap;
use std::hint::black_box;

use annals::{Direction, Id};

use crate::dataset::Dataset;
use crate::random::Random;
use crate::report::{Line, Report, median, time};
use crate::{Limits, Outcome};

const ROUNDS: usize = 5;

pub fn measure(limits: &Limits, dataset: &Dataset, report: &mut Report) -> Outcome<()> {
    if limits.wants("get") {
        get(limits, dataset, report);
    }
    if limits.wants("hop2") {
        hop2(limits, dataset, report)?;
    }
    Ok(())
}

fn get(limits: &Limits, dataset: &Dataset, report: &mut Report) {
    let operations = if limits.quick { 20_000 } else { 1_000_000 };
    let snapshot = dataset.repository.snapshot();
    let plain: HashMap<&Id, Box<i64>> =
        dataset.ids.iter().zip(0..).map(|(id, n)| (id, Box::new(n % 1_000))).collect();
    let (mut ours, mut limit) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        let mut random = Random::new(round as u64);
        let picks: Vec<&Id> =
            (0..operations).map(|_| &dataset.ids[random.below(dataset.ids.len())]).collect();
        let (sum, elapsed) = time(|| {
            picks.iter().fold(0, |sum, id| {
                let entity = snapshot.entity(id).expect("reading memory").expect("it is there");
                sum + entity.property("size").and_then(|value| value.as_integer()).expect("it has a size")
            })
        });
        ours.push(operations as f64 / elapsed.as_secs_f64());
        let (expected, elapsed) = time(|| picks.iter().fold(0, |sum, id| sum + *plain[*id]));
        limit.push(operations as f64 / elapsed.as_secs_f64());
        assert_eq!(sum, expected, "the same answers");
    }
    report.add(Line {
        name: "get-1".into(),
        value: median(ours),
        unit: "gets/s",
        limit: Some(median(limit)),
        limit_name: "HashMap<Id, Box>",
        bar: None,
    });
}

/// Adjacency in two vectors.
struct Packed {
    starts: Vec<u32>,
    targets: Vec<u32>,
    sizes: Vec<i64>,
}

impl Packed {
    fn new(dataset: &Dataset) -> Packed {
        let mut starts = vec![0u32; dataset.ids.len() + 1];
        for (from, _) in &dataset.edges {
            starts[*from as usize + 1] += 1;
        }
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        // The edges are ordered by their start already.
        let targets = dataset.edges.iter().map(|(_, to)| *to).collect();
        let sizes = (0..dataset.ids.len() as i64).map(|number| number % 1_000).collect();
        Packed { starts, targets, sizes }
    }

    fn out(&self, vertex: u32) -> &[u32] {
        &self.targets[self.starts[vertex as usize] as usize..self.starts[vertex as usize + 1] as usize]
    }
}

/// Visits: relationships walked; the property of every end of the second hop is read.
fn hop2(limits: &Limits, dataset: &Dataset, report: &mut Report) -> Outcome<()> {
    let operations = if limits.quick { 2_000 } else { 200_000 };
    let snapshot = dataset.repository.snapshot();
    let size = snapshot.name("size").expect("every entity has a size");
    let packed = Packed::new(dataset);
    let (mut ours, mut limit) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        let mut random = Random::new(round as u64);
        let picks: Vec<u32> = (0..operations).map(|_| random.below(dataset.ids.len()) as u32).collect();
        let (found, elapsed) = time(|| -> annals::Result<(usize, i64)> {
            let (mut visits, mut sum) = (0, 0);
            for &start in &picks {
                let entity = snapshot.entity(&dataset.ids[start as usize])?.expect("it is there");
                let first = snapshot.expand(&[entity], Direction::Out, Some("edge"))?;
                let second = snapshot.expand(&first, Direction::Out, Some("edge"))?;
                visits += first.len() + second.len();
                sum += second
                    .iter()
                    .map(|end| end.value(size).and_then(|value| value.as_integer()).unwrap_or(0))
                    .sum::<i64>();
            }
            Ok((visits, sum))
        });
        let (visits, sum) = found?;
        ours.push(visits as f64 / elapsed.as_secs_f64());
        let (expected, elapsed) = time(|| {
            let (mut visits, mut sum) = (0, 0);
            for &start in &picks {
                for &first in packed.out(start) {
                    visits += 1;
                    for &second in packed.out(first) {
                        visits += 1;
                        sum += packed.sizes[second as usize];
                    }
                }
            }
            black_box((visits, sum))
        });
        limit.push(expected.0 as f64 / elapsed.as_secs_f64());
        assert_eq!((visits, sum), expected, "the same answers");
    }
    let value = median(ours);
    report.add(Line {
        name: "hop2".into(),
        value,
        unit: "visits/s",
        limit: Some(median(limit)),
        limit_name: "CSR + vector of values",
        bar: (!limits.quick).then(|| ("5,000,000".into(), value >= 5e6)),
    });
    Ok(())
}
