//! The lab: measures Annals and the limit of the machine, in one run.
#![forbid(unsafe_code)]

// In the order a newcomer should read them: runs, the measured graph, and the lines.
mod outcome;
mod latencies;
mod run;
mod report;
mod threads;
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
    /// Every method of a metadata repository, with the data and in the order of the published runs.
    Methods(methods::Methods),
    /// Every row of a published benchmark of a configuration datastore, on Annals and on a JSON file.
    Datastore(datastore::Datastore),
    /// Every script of a published page on repositories with many members, against any LDP server.
    Members(members::Members),
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
}

fn main() -> ExitCode {
    let outcome = match Arguments::parse().command {
        Command::Limits(limits) => limits.run(),
        Command::Methods(methods) => methods.run(),
        Command::Datastore(datastore) => datastore.run(),
        Command::Members(members) => members.run(),
        Command::List(list) => list.run(SUITES),
        Command::Install(install) => install.run(SUITES),
        Command::Run(run) => run.run(SUITES),
        Command::Report(report) => report.run(SUITES),
        Command::Bundle(bundle) => bundle.run(SUITES),
        Command::Compare(compare) => compare.run(),
        Command::Gate(gate) => gate.run(SUITES),
        Command::Cell(cell) => cell.run(SUITES),
        Command::Round(job) => lines::run_round(&job),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("annals-lab: {error}");
            ExitCode::FAILURE
        }
    }
}
