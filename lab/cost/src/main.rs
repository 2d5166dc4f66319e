//! Work whose instructions `lab/cost/run` counts under callgrind, line by line: what a read and a commit cost.
#![forbid(unsafe_code)]

#[path = "../../src/outcome.rs"]
mod outcome;
mod graph;
mod reads;
#[cfg(feature = "grants")]
mod granted;
mod versions;
mod commits;
#[cfg(feature = "trees")]
mod lists;

use std::hint::black_box;
use std::path::Path;
use std::process::ExitCode;

use outcome::Outcome;

/// Long enough for a processor that the profiler slows down fifty times.
const SETTLING: std::time::Duration = std::time::Duration::from_secs(3);

/// The profiler writes what it has counted, and counts from zero, each time this is called.
#[inline(never)]
fn mark() {
    black_box(());
}

/// Measures a line of so many operations, once it has run before. Prints what `run` needs to know about it.
pub fn line(name: &str, operations: usize, mut work: impl FnMut() -> Outcome<()>) -> Outcome<()> {
    work()?;
    once(name, operations, work)
}

/// Measures a line that cannot run twice.
pub fn once(name: &str, operations: usize, mut work: impl FnMut() -> Outcome<()>) -> Outcome<()> {
    println!("{name}\t{operations}");
    mark();
    let done = work();
    mark();
    done
}

fn run(folder: &Path) -> Outcome<()> {
    let graph = graph::standard()?;
    // The work that the engine does beside its users, such as indexing, is over by then.
    std::thread::sleep(SETTLING);
    reads::run(&graph)?;
    #[cfg(feature = "grants")]
    granted::run(&graph)?;
    versions::run()?;
    commits::run(&folder.join("commits"))?;
    #[cfg(feature = "trees")]
    lists::run(&folder.join("lists"))?;
    Ok(())
}

fn main() -> ExitCode {
    let Some(folder) = std::env::args_os().nth(1) else {
        eprintln!("annals-cost: expected an empty folder for repositories; lab/annals-lab cost calls it");
        return ExitCode::FAILURE;
    };
    match run(Path::new(&folder)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("annals-cost: {error}");
            ExitCode::FAILURE
        }
    }
}
