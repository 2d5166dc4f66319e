//! The command `compare`: the figures of two runs of one suite, row by row.

use std::path::PathBuf;

use clap::Args;

use super::measured::Measured;
use super::statistics::Ratio;
use crate::harness::Results;
use crate::outcome::Outcome;
use crate::run::table;

/// Options of `compare`.
#[derive(Args)]
pub struct Compare {
    /// The folder of a run.
    one: PathBuf,
    /// The folder of another run of the same suite.
    other: PathBuf,
}

impl Compare {
    /// Prints how many times better the other run is, for every figure that both have.
    ///
    /// Errors: if the runs are of different suites, or have no figure in common.
    pub fn run(&self) -> Outcome<()> {
        let read = |path: &PathBuf| Measured::of(Results::read(path)?);
        let (one, other) = (read(&self.one)?, read(&self.other)?);
        let [first, second] = [&one, &other].map(|measured| &measured.results.run.suite);
        if first != second {
            return Err(format!("expected two runs of one suite, found {first} and {second}").into());
        }
        let head = ["row", "volume", "system", "other / one", "95 %", ""].map(str::to_owned).to_vec();
        let mut lines = vec![head];
        // Rates of an open loop say nothing: each target is offered a share of its own peak.
        for row in one.rows().into_iter().filter(|row| !one.is_open_loop(&row.name)) {
            for volume in one.volumes(&row.name) {
                for target in one.targets() {
                    let values = |measured: &Measured| {
                        measured.cell(&row.name, volume, &target.name).map(|cell| cell.values.clone())
                    };
                    let (Some(before), Some(after)) = (values(&one), values(&other)) else { continue };
                    let Some(ratio) = Ratio::of_runs(&after, &before) else { continue };
                    let names = [&row.name, volume, &target.name].map(str::to_owned);
                    lines.push([names, ratio.for_row(row).cells("worse")].concat());
                }
            }
        }
        if lines.len() == 1 {
            return Err("the two runs have no figure in common".into());
        }
        print!("{}", table::aligned(&lines));
        Ok(())
    }
}
