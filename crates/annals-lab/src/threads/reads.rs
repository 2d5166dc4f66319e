//! Reads of a bipartite graph from many threads.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};

use super::answer::{ANSWER_MAX, Degrees, Took};
use super::pending::Pending;
use super::systems::{open, start};
use super::volume::threads;
use super::warm::{warm_first, warmed_loop};
use crate::harness::{Answered, Cell};
use crate::outcome::Outcome;
use crate::run::agree;

/// Longest time to load the graph.
const LOAD_MAX: Duration = Duration::from_secs(300);
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
    let degrees: Degrees = system.must(&json!({ "do": "bipartite-check" }), LOAD_MAX)?;
    agree("the bipartite graph", degrees, expected(vertices))?;
    warm_first(cell, system, &json!({ "do": "bipartite", "threads": 1 }))?;
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

/// Each out-vertex has 3 edges; 5i+1, 5i+4 and 5i+7 meet 3 of 5 in-vertices, each 5 times, if 5 divides their number.
fn expected(vertices: u64) -> Degrees {
    let half = vertices / 2;
    let counts = |counts: &[(&str, u64)]| -> BTreeMap<String, u64> {
        counts.iter().map(|(degree, count)| ((*degree).to_owned(), *count)).collect()
    };
    Degrees {
        vertices,
        edges: 3 * half,
        out_degree: counts(&[("3", half)]),
        in_degree: counts(&[("0", half * 2 / 5), ("5", half * 3 / 5)]),
    }
}
