//! Commits from many threads, at their peak and below it, and the walks along the chains that they grew.

use serde_json::json;

use super::answer::ANSWER_MAX;
use super::systems::{open, start};
use super::volume::threads;
use super::warm::{SECONDS, ask, warm_first, warmed_loop};
use crate::harness::{Answered, Cell, Figure, System};
use crate::outcome::Outcome;
use crate::run::agree;

/// Shares of the peak at which latencies are measured in an open loop.
const SHARES: &[(&str, f64)] =
    &[("commit-25", 0.25), ("commit-50", 0.5), ("commit-75", 0.75), ("commit-90", 0.9)];
/// Numbers of threads at which they are measured.
const OPEN_LOOP_THREADS: &[usize] = &[10, 100];
/// Failures after which the numbers of threads that are left are not tried.
const FAILURES_MAX: usize = 3;

/// Measures each number of threads on an empty graph.
pub fn run(cell: &mut Cell) -> Outcome<()> {
    let mut failures = 0;
    let mut running = None;
    for volume in cell.arguments.volumes.clone() {
        if failures == FAILURES_MAX {
            cell.tell(&volume, "commit", Figure::state("SKIP(failed at three smaller numbers)"))?;
            continue;
        }
        let threads = threads(&volume)?;
        let is_first = running.is_none();
        let mut system = match running.take() {
            Some(system) => system,
            None => start(cell)?,
        };
        match measure(cell, &mut *system, &volume, threads, is_first) {
            Ok(()) => running = Some(system),
            Err(error) => {
                let text = error.to_string();
                if text.contains(crate::run::WRONG_ANSWER) {
                    return Err(error);
                }
                failures += 1;
                cell.tell(&volume, "commit", Figure::state(state(&text)))?;
            }
        }
    }
    Ok(())
}

/// What stands in the place of a figure after this error.
pub fn state(error: &str) -> String {
    if error.starts_with("DNF(") { error.to_owned() } else { format!("ERR({error})") }
}

fn measure(
    cell: &mut Cell,
    system: &mut dyn System,
    volume: &str,
    threads: usize,
    is_first: bool,
) -> Outcome<()> {
    open(system, cell, &format!("commits-{threads}"))?;
    let request = json!({ "do": "commits", "threads": threads });
    if is_first {
        warm_first(cell, system, &request)?;
    }
    let warmed = match warmed_loop(cell, system, &request)? {
        Answered::Answer(warmed) => warmed,
        Answered::Skip(reason) => return cell.skip(&["commit"], &reason),
    };
    cell.tell(volume, "commit", warmed.figure(None)?)?;
    chains(cell, system, volume, threads, warmed.answer.operations)?;
    if OPEN_LOOP_THREADS.contains(&threads) {
        let peak = warmed.answer.rate();
        for (row, share) in SHARES {
            let rate = peak * share;
            let mut request = request.clone();
            request["rate"] = rate.into();
            if let Answered::Answer(answer) = ask(system, &request, cell.size(SECONDS, 0.2))? {
                cell.tell(volume, row, answer.figure(Some(rate))?)?;
            }
        }
    }
    let _: serde_json::Value = system.must(&json!({ "do": "close" }), ANSWER_MAX)?;
    Ok(())
}

/// Walks the chains that the last commits grew. `commits` is how many those were.
fn chains(
    cell: &mut Cell,
    system: &mut dyn System,
    volume: &str,
    threads: usize,
    commits: u64,
) -> Outcome<()> {
    match warmed_loop(cell, system, &json!({ "do": "chains", "threads": threads }))? {
        Answered::Skip(reason) => cell.skip(&["chain"], &reason),
        Answered::Answer(warmed) => {
            // The first commit of a thread adds no edge.
            let steps: u64 = warmed.answer.steps.iter().map(|steps| steps + 1).sum();
            agree("vertices of all chains", steps, commits)?;
            cell.tell(volume, "chain", warmed.figure(None)?)
        }
    }
}
