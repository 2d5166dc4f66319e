//! Commits from many threads, at their peak and below it, and the walks along the chains that they grew.

use serde_json::json;

use super::answer::ANSWER_MAX;
use super::pending::Pending;
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
/// Most commits of a warm-up, whose graph is in the memory of some systems.
const WARMING_COMMITS_MAX: u64 = 2_000_000;
/// Failures after which the numbers of threads that are left are not tried.
const FAILURES_MAX: usize = 3;

/// One number of threads.
struct Step<'v> {
    volume: &'v str,
    threads: usize,
    /// True if the process of the system has measured nothing yet.
    is_first: bool,
}

/// Measures each number of threads on an empty graph.
pub fn run(cell: &mut Cell) -> Outcome<()> {
    let mut failures = 0;
    let mut running = None;
    for volume in cell.arguments.volumes.clone() {
        let threads = threads(&volume)?;
        let mut pending = Pending::new(rows(threads).into_iter().map(|row| (volume.clone(), row)));
        if failures == FAILURES_MAX {
            pending.tell_all(cell, "SKIP(failed at three smaller numbers)")?;
            continue;
        }
        let step = Step { volume: &volume, threads, is_first: running.is_none() };
        let system = running.take().map_or_else(|| start(cell), Ok);
        let measured = system.and_then(|mut system| {
            measure(cell, &mut *system, &step, &mut pending)?;
            Ok(system)
        });
        match measured {
            Ok(system) => running = Some(system),
            Err(error) => {
                let text = error.to_string();
                pending.fail(cell, &text)?;
                if text.contains(crate::run::WRONG_ANSWER) {
                    return Err(error);
                }
                // The log has it too: a system that cannot be closed fails after its last row.
                eprintln!("{volume} threads: {text}");
                failures += 1;
            }
        }
    }
    Ok(())
}

/// The rows of a number of threads, in the order in which they are measured.
fn rows(threads: usize) -> Vec<&'static str> {
    let shares = if OPEN_LOOP_THREADS.contains(&threads) { SHARES } else { &[] };
    ["commit", "chain"].into_iter().chain(shares.iter().map(|(row, _)| *row)).collect()
}

fn measure(cell: &mut Cell, system: &mut dyn System, step: &Step<'_>, pending: &mut Pending) -> Outcome<()> {
    if step.is_first {
        warm(cell, system, step.threads)?;
    }
    open(system, cell, &format!("commits-{}", step.threads))?;
    let request = json!({ "do": "commits", "threads": step.threads });
    match warmed_loop(cell, system, &request)? {
        Answered::Skip(reason) => pending.skip(cell, &rows(step.threads), &reason)?,
        Answered::Answer(warmed) => {
            pending.tell(cell, step.volume, "commit", warmed.figure(None)?)?;
            chains(cell, system, step, warmed.answer.operations, pending)?;
            if OPEN_LOOP_THREADS.contains(&step.threads) {
                below_the_peak(cell, system, step, warmed.answer.rate(), pending)?;
            }
        }
    }
    let _: serde_json::Value = system.must(&json!({ "do": "close" }), ANSWER_MAX)?;
    Ok(())
}

/// Warms a process that has just started, on a graph of its own. A failure here comes again during the measurement, and
/// is reported in its row. `threads` is the first number of threads that this process measures.
fn warm(cell: &mut Cell, system: &mut dyn System, threads: usize) -> Outcome<()> {
    open(system, cell, &format!("warm-{threads}"))?;
    let warmed = warm_first(cell, system, &json!({ "do": "commits" }), WARMING_COMMITS_MAX)
        .and_then(|()| warm_first(cell, system, &json!({ "do": "chains" }), u64::MAX));
    if let Err(error) = warmed {
        eprintln!("warm-up: {error}");
    }
    let _: serde_json::Value = system.must(&json!({ "do": "close" }), ANSWER_MAX)?;
    Ok(())
}

/// Walks the chains that the last commits grew. `commits` is how many those were.
fn chains(
    cell: &mut Cell,
    system: &mut dyn System,
    step: &Step<'_>,
    commits: u64,
    pending: &mut Pending,
) -> Outcome<()> {
    let request = json!({ "do": "chains", "threads": step.threads });
    match warmed_loop(cell, system, &request)? {
        Answered::Skip(reason) => pending.skip(cell, &["chain"], &reason),
        Answered::Answer(warmed) => {
            // The first commit of a thread adds no edge.
            let steps: u64 = warmed.answer.steps.iter().map(|steps| steps + 1).sum();
            agree("vertices of all chains", steps, commits)?;
            let figure = match warmed.answer.steps.iter().all(|steps| *steps == 0) {
                true => Figure::state("SKIP(each thread committed once, so that no chain has an edge)"),
                false => warmed.figure(None)?,
            };
            pending.tell(cell, step.volume, "chain", figure)
        }
    }
}

/// Commits at shares of the peak, in open loops.
fn below_the_peak(
    cell: &mut Cell,
    system: &mut dyn System,
    step: &Step<'_>,
    peak: f64,
    pending: &mut Pending,
) -> Outcome<()> {
    for (row, share) in SHARES {
        let rate = peak * share;
        let request = json!({ "do": "commits", "threads": step.threads, "rate": rate });
        match ask(system, &request, cell.size(SECONDS, 0.2))? {
            Answered::Skip(reason) => pending.skip(cell, &[row], &reason)?,
            Answered::Answer(answer) => {
                pending.tell(cell, step.volume, row, answer.figure(Some(rate))?)?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn open_loops_are_rows_of_the_numbers_of_threads_that_have_them() {
        assert_eq!(rows(1), ["commit", "chain"]);
        assert_eq!(rows(10), ["commit", "chain", "commit-25", "commit-50", "commit-75", "commit-90"]);
    }
}
