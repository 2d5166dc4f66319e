//! Reads of a bipartite graph from many threads.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};

use super::answer::{ANSWER_MAX, Degrees, Took};
use super::commits::state;
use super::systems::{open, start};
use super::volume::threads;
use super::warm::{warm_first, warmed_loop};
use crate::harness::{Answered, Cell, Figure};
use crate::outcome::Outcome;
use crate::run::agree;

/// Longest time to load the graph.
const LOAD_MAX: Duration = Duration::from_secs(300);

/// Loads the graph, checks it, and lets each number of threads read it.
pub fn run(cell: &mut Cell) -> Outcome<()> {
    let vertices: u64 = cell.size(1_000_000, 1_000);
    let mut system = start(cell)?;
    let system = &mut *system;
    open(system, cell, "bipartite")?;
    let request = json!({ "do": "bipartite-load", "vertices": vertices });
    if let Answered::Skip(reason) = system.answer::<Took>(&request, LOAD_MAX)? {
        return cell.skip(&["bipartite"], &reason);
    }
    let degrees: Degrees = system.must(&json!({ "do": "bipartite-check" }), LOAD_MAX)?;
    agree("the bipartite graph", degrees, expected(vertices))?;
    warm_first(cell, system, &json!({ "do": "bipartite", "threads": 1 }))?;
    for volume in cell.arguments.volumes.clone() {
        let threads = threads(&volume)?;
        match warmed_loop(cell, system, &json!({ "do": "bipartite", "threads": threads })) {
            Ok(Answered::Answer(warmed)) => cell.tell(&volume, "bipartite", warmed.figure(None)?)?,
            Ok(Answered::Skip(reason)) => return cell.skip(&["bipartite"], &reason),
            Err(error) => {
                // An adapter that did not answer in time is gone.
                cell.tell(&volume, "bipartite", Figure::state(state(&error.to_string())))?;
                return Err(error);
            }
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
