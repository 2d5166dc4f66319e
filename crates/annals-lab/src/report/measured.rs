//! The figures of a run: medians of the repeats with their intervals, and the percentiles of latencies.

use std::collections::BTreeMap;

use hdrhistogram::Histogram;

use super::statistics::interval_of_median;
use crate::harness::{Figure, Kind, Record, Results, Row, TargetName, TargetRecord};
use crate::latencies::decode;
use crate::outcome::Outcome;
use crate::run::median;

/// Least share of the offered rate that a system must reach.
const KEPT_UP_MIN: f64 = 0.95;

/// Row, volume and target.
pub type Key = (String, String, String);

/// A run, ready for tables.
pub struct Measured {
    pub results: Results,
    cells: BTreeMap<Key, CellFigures>,
}

/// All repeats of one figure.
#[derive(Default)]
pub struct CellFigures {
    /// By repeat.
    pub values: BTreeMap<usize, f64>,
    /// What stands in the place of a value: the last one.
    pub state: Option<String>,
    pub latencies: Option<Latencies>,
    /// Repeats that never got steady.
    pub unsteady: usize,
    pub late: Option<f64>,
    /// The rate at which operations were due, of an open loop. Units: operations per second.
    pub offered: Option<f64>,
    pub retries: u64,
    /// Counts in each tenth of a second, of the first repeat.
    pub ticks: Vec<u64>,
}

/// Latencies of all repeats together. Units: nanoseconds.
pub struct Latencies(Histogram<u64>);

/// How a figure is shown.
#[derive(Clone, Debug, PartialEq)]
pub enum Shown {
    /// The median, and its interval where there are repeats.
    Value { median: f64, interval: [f64; 2] },
    /// `DNF(…)`, `OOM`, `ERR(…)` or `SKIP(…)`.
    State(String),
}

impl Measured {
    /// Of the records of a run.
    ///
    /// Errors: if a histogram cannot be read.
    pub fn of(results: Results) -> Outcome<Measured> {
        let mut cells: BTreeMap<Key, CellFigures> = BTreeMap::new();
        for record in &results.records {
            if let Record::Figure(figure) = record {
                let key = (figure.row.clone(), figure.volume.clone(), figure.target.clone());
                cells.entry(key).or_default().add(figure)?;
            }
        }
        Ok(Measured { results, cells })
    }

    /// The rows that have figures of any target, in the order of the suite.
    pub fn rows(&self) -> Vec<&Row> {
        let is_measured = |row: &&Row| self.cells.keys().any(|(name, _, _)| *name == row.name);
        self.results.run.rows.iter().filter(is_measured).collect()
    }

    /// The targets that have figures, in the order of the run.
    pub fn targets(&self) -> Vec<&TargetName> {
        let is_measured = |target: &&TargetName| self.cells.keys().any(|(_, _, name)| *name == target.name);
        self.results.run.targets.iter().filter(is_measured).collect()
    }

    /// The volumes of a row, in the order of the run and then as numbers.
    pub fn volumes(&self, row: &str) -> Vec<&str> {
        let mut volumes: Vec<&str> = self
            .cells
            .keys()
            .filter(|(name, _, _)| name == row)
            .map(|(_, volume, _)| volume.as_str())
            .collect();
        volumes.sort_unstable();
        volumes.dedup();
        let place = |volume: &str| {
            let order = &self.results.run.volumes;
            (
                order.iter().position(|known| known == volume).unwrap_or(order.len()),
                volume.parse().unwrap_or(0u64),
            )
        };
        volumes.sort_by_key(|volume| place(volume));
        volumes
    }

    /// The figures of a cell of the table.
    pub fn cell(&self, row: &str, volume: &str, target: &str) -> Option<&CellFigures> {
        self.cells.get(&(row.to_owned(), volume.to_owned(), target.to_owned()))
    }

    /// What the table shows. Where a target has no figure, the reason: never nothing.
    pub fn shown(&self, row: &str, volume: &str, target: &str) -> Shown {
        let missing = || Shown::State(self.reason(row, target));
        self.cell(row, volume, target).map_or_else(missing, CellFigures::shown)
    }

    /// Why a target has no figure in a row.
    fn reason(&self, row: &str, target: &str) -> String {
        let skips = self.results.records.iter().filter_map(|record| match record {
            Record::Skip(skip) if skip.target == target => Some(skip),
            _ => None,
        });
        for skip in skips {
            if skip.rows.is_empty() || skip.rows.iter().any(|name| name == row) {
                return format!("SKIP({})", skip.reason);
            }
        }
        let part = self.results.run.parts.iter().find(|part| part.rows.iter().any(|name| name == row));
        let failed = self.results.records.iter().find_map(|record| match record {
            Record::Cell(cell)
                if cell.target == target
                    && part.is_some_and(|part| part.name == cell.part)
                    && cell.outcome != "ok" =>
            {
                Some(cell.outcome.clone())
            }
            _ => None,
        });
        failed.unwrap_or_else(|| "SKIP(not measured in this run)".to_owned())
    }

    /// What a target said of itself, if it was asked.
    pub fn introduction(&self, target: &str) -> Option<&TargetRecord> {
        self.results.records.iter().find_map(|record| match record {
            Record::Target(told) if told.target == target => Some(told),
            _ => None,
        })
    }

    /// The targets of a kind that have figures.
    pub fn of_kind(&self, kinds: &[Kind]) -> Vec<&TargetName> {
        self.targets().into_iter().filter(|target| kinds.contains(&target.target_kind)).collect()
    }
}

impl CellFigures {
    fn add(&mut self, figure: &Figure) -> Outcome<()> {
        match (&figure.value, &figure.state) {
            (Some(value), _) => {
                self.values.insert(figure.repeat, *value);
            }
            (None, state) => self.state.clone_from(state),
        }
        if figure.value.is_some() && figure.state.is_some() {
            self.state.clone_from(&figure.state);
        }
        if let Some(text) = &figure.histogram {
            let own = Latencies::decode(text)?;
            match &mut self.latencies {
                None => self.latencies = Some(own),
                Some(all) => all.0.add(&own.0)?,
            }
        }
        self.unsteady += usize::from(figure.never_steady);
        self.retries += figure.retries;
        self.offered = self.offered.or(figure.offered);
        if let Some(late) = figure.late {
            self.late = Some(self.late.map_or(late, |before| before.max(late)));
        }
        if self.ticks.is_empty() {
            self.ticks.clone_from(&figure.ticks);
        }
        Ok(())
    }

    /// The median, or the state if there is no value.
    pub fn shown(&self) -> Shown {
        let values: Vec<f64> = self.values.values().copied().collect();
        if values.is_empty() {
            return Shown::State(self.state.clone().unwrap_or_else(|| "SKIP(no figure)".to_owned()));
        }
        let interval = interval_of_median(&values);
        Shown::Value { median: median(values), interval }
    }

    /// True if the system kept up with so little of an open loop that its latencies say nothing but that.
    pub fn is_saturated(&self) -> bool {
        let values: Vec<f64> = self.values.values().copied().collect();
        !values.is_empty() && self.offered.is_some_and(|offered| median(values) < KEPT_UP_MIN * offered)
    }
}

impl Latencies {
    /// Of an encoded histogram.
    pub fn decode(text: &str) -> Outcome<Latencies> {
        Ok(Latencies(decode(text)?))
    }

    /// The latency that this share of the operations does not exceed. Units: seconds.
    pub fn quantile(&self, share: f64) -> f64 {
        self.0.value_at_quantile(share) as f64 / 1e9
    }

    /// The longest. Units: seconds.
    pub fn max(&self) -> f64 {
        self.0.max() as f64 / 1e9
    }

    /// Every latency that occurred, with its count, ascending. Units: nanoseconds.
    pub fn counts(&self) -> Vec<(u64, u64)> {
        self.0.iter_recorded().map(|value| (value.value_iterated_to(), value.count_at_value())).collect()
    }

    /// The longest ones, with their counts, at most `limit`, the longest first. Units: seconds.
    pub fn longest(&self, limit: usize) -> Vec<(f64, u64)> {
        let longest = self.counts().into_iter().rev().take(limit);
        longest.map(|(latency, count)| (latency as f64 / 1e9, count)).collect()
    }
}
