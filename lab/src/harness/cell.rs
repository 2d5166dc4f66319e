//! A cell: one repeat of one part on one target, in a process of its own, which prints its records.

use std::path::PathBuf;

use clap::Args;

use super::adapter::{Adapter, System};
use super::peer::Peer;
use super::process::end_with_run;
use super::record::{Figure, Record, Skip, TargetRecord};
use super::suite::Suite;
use super::target::Target;
use crate::latencies::encode;
use crate::outcome::Outcome;
use crate::run::median;

/// The options of a cell's process.
#[derive(Args, Clone)]
pub struct CellArguments {
    #[arg(long)]
    pub suite: String,
    #[arg(long)]
    pub part: String,
    #[arg(long)]
    pub target: String,
    #[arg(long, default_value_t = 0)]
    pub repeat: usize,
    #[arg(long, value_delimiter = ',')]
    pub volumes: Vec<String>,
    #[arg(long)]
    pub quick: bool,
    /// Longest time of the cell.
    #[arg(long)]
    pub seconds_max: u64,
    /// An empty folder, which is removed when the cell has ended.
    #[arg(long)]
    pub folder: PathBuf,
    /// Where peers are installed.
    #[arg(long)]
    pub peers: PathBuf,
    /// A system of the user's own.
    #[arg(long)]
    pub adapter: Vec<Target>,
    /// Only these rows; all if empty.
    #[arg(long)]
    pub row: Vec<String>,
    /// Length of the steps of the suite `pressure`. Units: seconds.
    #[arg(long)]
    pub step: Option<u64>,
}

/// The cell that this process measures.
pub struct Cell {
    pub arguments: CellArguments,
    pub target: Target,
}

impl CellArguments {
    /// Measures, and prints each record as it comes.
    ///
    /// Errors: whatever stopped the part; what was printed before stands.
    pub fn run(self, suites: &[&'static Suite]) -> Outcome<()> {
        end_with_run();
        let suite = Suite::named(suites, &self.suite)?;
        let (target, part) = (suite.target(&self.target, &self.adapter)?, suite.part(&self.part)?);
        (part.run)(&mut Cell { arguments: self, target })
    }

    /// The same as options of a command.
    pub fn options(&self) -> Vec<String> {
        let CellArguments {
            suite,
            part,
            target,
            repeat,
            volumes,
            quick,
            seconds_max,
            folder,
            peers,
            adapter,
            row,
            step,
        } = self;
        let mut options: Vec<String> = vec!["cell".into()];
        let text = |path: &PathBuf| path.display().to_string();
        let named = [
            ("--suite", suite.clone()),
            ("--part", part.clone()),
            ("--target", target.clone()),
            ("--repeat", repeat.to_string()),
            ("--volumes", volumes.join(",")),
            ("--seconds-max", seconds_max.to_string()),
            ("--folder", text(folder)),
            ("--peers", text(peers)),
        ];
        options.extend(named.into_iter().flat_map(|(name, value)| [name.to_owned(), value]));
        options.extend(adapter.iter().flat_map(|target| ["--adapter".to_owned(), target.to_string()]));
        options.extend(row.iter().flat_map(|row| ["--row".to_owned(), row.clone()]));
        options.extend(step.iter().flat_map(|step| ["--step".to_owned(), step.to_string()]));
        options.extend(quick.then(|| "--quick".to_owned()));
        options
    }
}

impl Cell {
    /// One of two sizes, by the length of the run.
    pub fn size<T>(&self, full: T, quick: T) -> T {
        if self.arguments.quick { quick } else { full }
    }

    /// True if the run measures the row of this name.
    pub fn wants(&self, row: &str) -> bool {
        self.arguments.row.is_empty() || self.arguments.row.iter().any(|name| name == row)
    }

    /// Starts the adapter of the cell's peer.
    ///
    /// Errors: if the target has none, or it is not installed.
    pub fn adapter(&self) -> Outcome<Box<dyn System>> {
        let peer = self.target.peer.as_ref();
        let peer = peer.ok_or_else(|| format!("target {}: has no adapter", self.target.name))?;
        let mut command = peer.command(&self.arguments.peers)?;
        // Some systems write logs where they start.
        if matches!(peer, Peer::Scripts { .. }) {
            command.current_dir(&self.arguments.folder);
        }
        Ok(Box::new(Adapter::start(self.target.name, &mut command)?))
    }

    /// Prints what a target says of itself: the one of this cell, unless it names another that is measured beside it.
    pub fn introduce(&mut self, mut target: TargetRecord) -> Outcome<()> {
        if target.target.is_empty() {
            self.target.name.clone_into(&mut target.target);
        }
        print(&Record::Target(target))
    }

    /// Prints a figure of this cell.
    pub fn tell(&mut self, volume: &str, row: &str, figure: Figure) -> Outcome<()> {
        self.tell_of(self.target.name, volume, row, figure)
    }

    /// Prints a figure of a target that is measured beside the one of this cell.
    pub fn tell_of(&mut self, target: &str, volume: &str, row: &str, figure: Figure) -> Outcome<()> {
        if !self.wants(row) {
            return Ok(());
        }
        let CellArguments { part, repeat, .. } = &self.arguments;
        print(&Record::Figure(Box::new(Figure {
            target: target.to_owned(),
            part: part.clone(),
            repeat: *repeat,
            volume: volume.to_owned(),
            row: row.to_owned(),
            ..figure
        })))
    }

    /// Prints why the target cannot do what some rows measure.
    pub fn skip(&mut self, rows: &[&str], reason: &str) -> Outcome<()> {
        let rows = rows.iter().map(|row| (*row).to_owned()).collect();
        print(&Record::Skip(Skip { target: self.target.name.to_owned(), rows, reason: reason.to_owned() }))
    }
}

impl Figure {
    /// A plain figure.
    pub fn of(value: f64) -> Figure {
        Figure { value: Some(value), ..Figure::default() }
    }

    /// The median of calls, in units of so many nanoseconds, with all their times.
    pub fn of_calls(ns: &[u64], unit: f64) -> Outcome<Figure> {
        Ok(Figure {
            operations: Some(ns.len() as u64),
            histogram: Some(encode(ns.iter().copied())?),
            ..Figure::of(median(ns.iter().map(|ns| *ns as f64 / unit).collect()))
        })
    }

    /// A state instead of a figure.
    pub fn state(state: impl Into<String>) -> Figure {
        Figure { state: Some(state.into()), ..Figure::default() }
    }
}

fn print(record: &Record) -> Outcome<()> {
    // Standard output flushes at each end of a line.
    println!("{}", serde_json::to_string(record)?);
    Ok(())
}
