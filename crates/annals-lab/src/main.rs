//! The lab: measures Annals beside the limit of the machine, in one run.
#![forbid(unsafe_code)]

mod random;
mod report;
mod commit;
mod dataset;
mod read;
mod reopen;
mod larger;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use report::Report;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Measures Annals beside the physical limit of this machine.
#[derive(Parser)]
#[command(version, about)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Commits, reads, bulk load, reopening and bytes, each beside its limit.
    Limits(Limits),
    /// More payload than memory: stays within a budget, beside the disk and a repository without one.
    Larger(larger::Larger),
}

/// Settings of `limits`.
#[derive(Args)]
pub struct Limits {
    /// Run only the lines whose name starts with this.
    #[arg(long)]
    only: Option<String>,
    /// One JSON object per line.
    #[arg(long)]
    json: bool,
    /// Small sizes: shows that everything runs and answers right, not the figures.
    #[arg(long)]
    quick: bool,
    /// Entities of the graph, in thousands; three times as many relationships.
    #[arg(long, default_value_t = 1_000)]
    thousands: usize,
    /// Folder to write in; a temporary one in the present folder unless given.
    #[arg(long)]
    folder: Option<PathBuf>,
}

impl Limits {
    fn wants(&self, name: &str) -> bool {
        self.only.as_deref().is_none_or(|only| name.starts_with(only))
    }

    fn entities(&self) -> usize {
        if self.quick { 20_000 } else { self.thousands * 1_000 }
    }
}

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

fn main() -> Outcome<()> {
    let limits = match Arguments::parse().command {
        Command::Limits(limits) => limits,
        Command::Larger(larger) => return larger.run(),
    };
    let parent = limits.folder.clone().unwrap_or_else(|| PathBuf::from("."));
    let folder = tempfile::Builder::new().prefix("annals-lab-").tempdir_in(parent)?;
    let mut report = Report::new(limits.json);
    commit::measure(&limits, folder.path(), &mut report)?;
    if ["bulk", "get", "hop2", "memory", "disk", "reopen"].iter().any(|name| limits.wants(name)) {
        let dataset = dataset::load(&limits, folder.path(), &mut report)?;
        read::measure(&limits, &dataset, &mut report)?;
        reopen::measure(&limits, dataset, &mut report)?;
    }
    report.finish();
    Ok(())
}
