//! The lab: measures Annals and the limit of the machine, in one run.
#![forbid(unsafe_code)]

// In the order a newcomer should read them: runs, the measured graph, and the lines.
mod outcome;
mod run;
mod report;
mod graph;
mod lines;
mod larger;
mod methods;
mod datastore;
mod members;
mod published;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

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
    /// More payload than memory: whether Annals keeps a budget, compared with the disk and a repository without a
    /// budget.
    Larger(larger::Larger),
    /// Every method of a metadata repository, with the data and in the order of the published runs.
    Methods(methods::Methods),
    /// Every row of a published benchmark of a configuration datastore, on Annals and on a JSON file.
    Datastore(datastore::Datastore),
    /// Every script of a published page on repositories with many members, against any LDP server.
    Members(members::Members),
    /// Writes the published performance pages of five other projects again, from their data.
    Published(published::Published),
    /// One round of one experiment, in a separate process. Prints the samples as JSON.
    #[command(hide = true)]
    Round(run::Job),
}

fn main() -> ExitCode {
    let outcome = match Arguments::parse().command {
        Command::Limits(limits) => limits.run(),
        Command::Larger(larger) => larger.run(),
        Command::Methods(methods) => methods.run(),
        Command::Datastore(datastore) => datastore.run(),
        Command::Members(members) => members.run(),
        Command::Published(published) => published.run(),
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
