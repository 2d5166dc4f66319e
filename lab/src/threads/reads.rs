//! Reads of a bipartite graph from many threads.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};

use super::answer::{ANSWER_MAX, Count, Degrees, Took};
use super::pending::Pending;
use super::systems::{open, start};
use super::volume::threads;
use super::warm::{warm_first, warmed_loop};
use crate::harness::{Answered, Cell};
use crate::outcome::Outcome;
use crate::run::agree;

/// Longest time to load the graph.
const LOAD_MAX: Duration = Duration::from_secs(300);
/// Most out-vertices, and most in-vertices, that are checked: reading all of them takes a slow system minutes.
const CHECKED_MAX: u64 = 10_000;

/// The vertices whose degrees are checked: the numbers 0, `stride`, 2 · `stride`, ….
#[derive(Debug, PartialEq)]
struct Checked {
    count: u64,
    stride: u64,
}

/// Loads the graph, checks it, and lets each number of threads read it.
pub fn run(cell: &mut Cell) -> Outcome<()> {
    let volumes = cell.arguments.volumes.clone();
    let mut pending = Pending::new(volumes.iter().map(|volume| (volume.clone(), "bipartite")));
    let measured = measure(cell, &volumes, &mut pending);
    pending.end(cell, measured)
}

fn measure(cell: &mut Cell, volumes: &[String], pending: &mut Pending) -> Outcome<()> {
    let vertices: u64 = cell.size(1_000_000, 1_000);
    let mut system = start(cell)?;
    let system = &mut *system;
    open(system, cell, "bipartite")?;
    let request = json!({ "do": "bipartite-load", "vertices": vertices });
    if let Answered::Skip(reason) = system.answer::<Took>(&request, LOAD_MAX)? {
        return pending.skip(cell, &["bipartite"], &reason);
    }
    let Checked { count, stride } = checked(vertices / 2);
    let request = json!({ "do": "bipartite-check", "count": count, "stride": stride });
    let degrees: Degrees = system.must(&request, LOAD_MAX)?;
    if let Some(counted) = degrees.counted() {
        agree("the bipartite graph", counted, Count { vertices, edges: 3 * (vertices / 2) })?;
    }
    agree("degrees of the bipartite graph", (degrees.out_degree, degrees.in_degree), expected(vertices / 2))?;
    warm_first(cell, system, &json!({ "do": "bipartite" }), u64::MAX)?;
    for volume in volumes {
        let threads = threads(volume)?;
        match warmed_loop(cell, system, &json!({ "do": "bipartite", "threads": threads }))? {
            Answered::Answer(warmed) => pending.tell(cell, volume, "bipartite", warmed.figure(None)?)?,
            Answered::Skip(reason) => return pending.skip(cell, &["bipartite"], &reason),
        }
    }
    let _: Value = system.must(&json!({ "do": "close" }), ANSWER_MAX)?;
    Ok(())
}

/// Evenly spread, and with a stride that is prime to 5: the in-degree of a vertex depends on its number modulo 5.
fn checked(half: u64) -> Checked {
    let count = half.min(CHECKED_MAX);
    let widest = half / count;
    Checked { count, stride: if widest.is_multiple_of(5) { widest - 1 } else { widest } }
}

/// How many of the checked out-vertices and in-vertices have each degree. Each out-vertex has 3 edges; 5i+1, 5i+4 and 5i+7
/// meet the in-vertices whose numbers are 1, 4 and 2 modulo 5, each five times, since 5 divides how many there are.
fn expected(half: u64) -> (BTreeMap<String, u64>, BTreeMap<String, u64>) {
    assert!(half.is_multiple_of(5), "5 divides the in-vertices of every size that the suite has");
    let Checked { count, stride } = checked(half);
    let met = (0..count).filter(|place| [1, 2, 4].contains(&(place * stride % 5))).count() as u64;
    let counts = |counts: &[(&str, u64)]| -> BTreeMap<String, u64> {
        let found = counts.iter().filter(|(_, count)| *count > 0);
        found.map(|(degree, count)| ((*degree).to_owned(), *count)).collect()
    };
    (counts(&[("3", count)]), counts(&[("0", count - met), ("5", met)]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_expected_of_the_checked_vertices_is_what_the_edges_say() {
        for half in [5, 500, 20_000, 50_000, 500_000] {
            let Checked { count, stride } = checked(half);
            assert!(
                count <= CHECKED_MAX && !stride.is_multiple_of(5) && (count - 1) * stride < half,
                "{half}"
            );
            let mut degrees = vec![0u64; half as usize];
            for from in 0..half {
                for more in [1, 4, 7] {
                    degrees[((5 * from + more) % half) as usize] += 1;
                }
            }
            let mut in_degree: BTreeMap<String, u64> = BTreeMap::new();
            for place in 0..count {
                *in_degree.entry(degrees[(place * stride) as usize].to_string()).or_default() += 1;
            }
            assert_eq!(expected(half), (BTreeMap::from([("3".to_owned(), count)]), in_degree), "{half}");
        }
        assert_eq!(checked(500_000), Checked { count: 10_000, stride: 49 });
    }
}
