//! The lab: measures Annals and the limit of the machine, in one run.
#![forbid(unsafe_code)]

// In the order a newcomer should read them: runs, the measured graph, and the lines.
mod outcome;
mod latencies;
mod run;
mod report;
mod threads;
mod gremlin_server;
mod pressure;
mod graph;
mod harness;
mod lines;
mod larger;
mod methods;
mod datastore;
mod members;
mod suites;
mod published;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use outcome::Outcome;
use suites::SUITES;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Measures Annals, and compares it with the physical limits of this machine.
#[derive(Parser)]
#[command(version, about)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Every line of the table of limits: Annals, the limit measured in turn with it, and the bar.
    Limits(run::Limits),
    /// Every suite with its targets and volumes.
    List(harness::List),
    /// Fetches and builds the systems that suites are run against, once, from public package registries.
    Install(harness::Install),
    /// Measures a suite on any set of targets, and keeps what it measured.
    Run(harness::RunSuite),
    /// Pages from what runs have kept.
    Report(report::Report),
    /// A run with its summary and its raw samples as one file, for others to check.
    Bundle(report::Bundle),
    /// A run as one small file beside the sources, from which its page can be written again.
    Keep(report::Keep),
    /// The figures of two runs, row by row.
    Compare(report::Compare),
    /// Two builds of this program in turn: fails if the new one is slower.
    Gate(report::Gate),
    /// One part of a suite on one target, in a separate process. Prints its records as JSON.
    #[command(hide = true)]
    Cell(harness::CellArguments),
    /// One round of one experiment, in a separate process. Prints the samples as JSON.
    #[command(hide = true)]
    Round(run::Job),
    /// Any other word: a suite has been a command of its own.
    #[command(external_subcommand)]
    Other(Vec<String>),
}

/// Errors: always; of a suite it names the command that measures it.
fn refuse(word: &str) -> Outcome<()> {
    Err(match SUITES.iter().find(|suite| suite.name == word) {
        Some(_) => format!(
            "{word} is a suite: `annals-lab run {word}` measures it, and `annals-lab report` makes its page"
        ),
        None => format!("{word}: no command has this name; `annals-lab help` lists them"),
    }
    .into())
}

fn main() -> ExitCode {
    let outcome = match Arguments::parse().command {
        Command::Limits(limits) => limits.run(),
        Command::List(list) => list.run(SUITES),
        Command::Install(install) => install.run(SUITES),
        Command::Run(run) => run.run(SUITES),
        Command::Report(report) => report.run(SUITES),
        Command::Bundle(bundle) => bundle.run(SUITES),
        Command::Keep(keep) => keep.run(),
        Command::Compare(compare) => compare.run(),
        Command::Gate(gate) => gate.run(SUITES),
        Command::Cell(cell) => cell.run(SUITES),
        Command::Round(job) => lines::run_round(&job),
        Command::Other(words) => refuse(&words[0]),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("annals-lab: {error}");
            ExitCode::FAILURE
        }
    }
}
