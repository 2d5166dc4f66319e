//! The bulk graph: loading it, reopening it, walking it, and what it costs.

use std::time::Duration;

use serde_json::{Value, json};

use super::answer::{ANSWER_MAX, Count, Memory, Numbers, Took};
use super::bulk_graph::ends;
use super::pending::Pending;
use super::systems::{open, start};
use super::warm::{warm_first, warmed_loop};
use crate::harness::{Answered, Cell, Figure, System, bytes_in};
use crate::outcome::Outcome;
use crate::run::agree;

/// Longest time to load or to open the graph.
pub const LOAD_MAX: Duration = Duration::from_secs(300);
/// Vertices whose ends of two hops are checked.
const LOOKED_AT: u64 = 50;
/// Numbers of threads that walk.
const WALKERS: &[usize] = &[1, 2];

/// Loads, reopens, checks and walks.
pub fn run(cell: &mut Cell) -> Outcome<()> {
    let vertices: u64 = cell.size(1_000_000, 2_000);
    let volume = vertices.to_string();
    let loaded = ["bulk", "reopen", "disk", "memory"].map(|row| (volume.clone(), row));
    let walked = WALKERS.iter().map(|threads| (threads.to_string(), "two-hops"));
    let mut pending = Pending::new(loaded.into_iter().chain(walked));
    let measured = measure(cell, vertices, &mut pending);
    pending.end(cell, measured)
}

fn measure(cell: &mut Cell, vertices: u64, pending: &mut Pending) -> Outcome<()> {
    let elements = (4 * vertices) as f64;
    let volume = vertices.to_string();
    let mut system = start(cell)?;
    let system = &mut *system;
    open(system, cell, "bulk")?;
    // Some systems allocate logs before they write to them.
    let empty_bytes = bytes_in(&cell.arguments.folder);
    match system.answer::<Took>(&json!({ "do": "bulk", "vertices": vertices }), LOAD_MAX)? {
        Answered::Skip(reason) => {
            return pending.skip(cell, &["bulk", "reopen", "disk", "memory", "two-hops"], &reason);
        }
        Answered::Answer(took) => {
            check(system, vertices)?;
            pending.tell(cell, &volume, "bulk", Figure::of(elements / took.seconds))?;
        }
    }
    match system.answer::<Took>(&json!({ "do": "reopen" }), LOAD_MAX)? {
        Answered::Skip(reason) => pending.skip(cell, &["reopen", "disk"], &reason)?,
        Answered::Answer(took) => {
            check(system, vertices)?;
            pending.tell(cell, &volume, "reopen", Figure::of(took.seconds))?;
            let disk = match bytes_in(&cell.arguments.folder).checked_sub(empty_bytes) {
                Some(bytes) if bytes > 0 => Figure::of(bytes as f64 / elements),
                _ => Figure::state("SKIP(the graph fits into what an empty system has allocated)"),
            };
            pending.tell(cell, &volume, "disk", disk)?;
        }
    }
    match system.answer::<Memory>(&json!({ "do": "memory" }), LOAD_MAX)? {
        Answered::Skip(reason) => pending.skip(cell, &["memory"], &reason)?,
        Answered::Answer(memory) => {
            let figure = Figure::of(memory.live_bytes as f64 / elements);
            pending.tell(cell, &volume, "memory", figure)?;
        }
    }
    warm_first(cell, system, &json!({ "do": "two-hops" }), u64::MAX)?;
    for threads in WALKERS {
        let volume = threads.to_string();
        match warmed_loop(cell, system, &json!({ "do": "two-hops", "threads": threads }))? {
            Answered::Answer(warmed) => pending.tell(cell, &volume, "two-hops", warmed.figure(None)?)?,
            Answered::Skip(reason) => pending.skip(cell, &["two-hops"], &reason)?,
        }
    }
    let _: Value = system.must(&json!({ "do": "close" }), ANSWER_MAX)?;
    Ok(())
}

/// Counts the bulk graph, and reads some ends of two hops.
///
/// Errors: if there are others.
pub fn check(system: &mut dyn System, vertices: u64) -> Outcome<()> {
    let count: Count = system.must(&json!({ "do": "count" }), LOAD_MAX)?;
    agree("the bulk graph", count, Count { vertices, edges: 3 * vertices })?;
    for place in 0..LOOKED_AT {
        let from = place * vertices / LOOKED_AT;
        let found: Numbers = system.must(&json!({ "do": "two-hops-of", "number": from }), ANSWER_MAX)?;
        let mut numbers: Vec<u64> =
            ends(vertices, from).into_iter().flat_map(|middle| ends(vertices, middle)).collect();
        numbers.sort_unstable();
        agree(&format!("two hops from vertex {from}"), found, Numbers { numbers })?;
    }
    Ok(())
}
