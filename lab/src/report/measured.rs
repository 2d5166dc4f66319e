//! The figures of a run: medians of the repeats with their intervals, and the percentiles of latencies.

use std::collections::BTreeMap;

use super::statistics::interval_of_median;
use crate::harness::{Figure, Kind, LoadRecord, Record, Results, Row, TargetName, TargetRecord};
use crate::latencies::Latencies;
use crate::outcome::Outcome;
use crate::run::{WRONG_ANSWER, median};

/// Least share of the offered rate that a system must reach.
const KEPT_UP_MIN: f64 = 0.95;

/// Row, volume and target.
pub type Key = (String, String, String);

/// A run, ready for tables.
pub struct Measured {
    pub results: Results,
    /// The name of the page and how the names of its plots begin: that of the suite, unless a kept run has another.
    pub page: String,
    cells: BTreeMap<Key, CellFigures>,
}

/// All repeats of one figure.
#[derive(Default)]
pub struct CellFigures {
    /// By repeat.
    pub values: BTreeMap<usize, f64>,
    /// The last state that was reported instead of a value.
    pub state: Option<String>,
    /// Of all repeats together.
    pub latencies: Option<Latencies>,
    /// Repeats that never got steady.
    pub unsteady: usize,
    pub late: Option<f64>,
    /// Of an open loop, the rate that each repeat reached, divided by the rate at which operations were due.
    pub kept_up: Vec<f64>,
    pub retries: u64,
    /// Counts in each tenth of a second, of the first repeat.
    pub ticks: Vec<u64>,
    /// The counts of the load of the last repeat.
    pub load: Option<LoadRecord>,
}

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
        let page = results.run.suite.clone();
        let mut measured = Measured { results, page, cells };
        measured.add_failures();
        measured.drop_wrong();
        Ok(measured)
    }

    /// A repeat that failed before a row leaves its outcome beside the figures of the other repeats.
    fn add_failures(&mut self) {
        let failed = self.results.cells().filter(|cell| cell.outcome != "ok");
        for cell in failed {
            let parts = &self.results.run.parts;
            let Some(part) = parts.iter().find(|part| part.name == cell.part) else { continue };
            for ((row, _, target), figures) in &mut self.cells {
                let is_open = part.rows.contains(row) && !figures.values.contains_key(&cell.repeat);
                if *target == cell.target && is_open {
                    figures.state.get_or_insert_with(|| cell.outcome.clone());
                }
            }
        }
    }

    /// A target with a wrong answer has no figures: whatever it measured, it did not do the work.
    fn drop_wrong(&mut self) {
        for target in self.results.wrong() {
            for ((_, _, name), figures) in &mut self.cells {
                if *name == target {
                    let state = figures.state.take().filter(|state| state.contains(WRONG_ANSWER));
                    let state = state.unwrap_or_else(|| format!("ERR({WRONG_ANSWER} in another row)"));
                    *figures = CellFigures { state: Some(state), ..CellFigures::default() };
                }
            }
        }
    }

    /// The rows that any target has measured or tried to, in the order of the suite.
    pub fn rows(&self) -> Vec<&Row> {
        let has_figures = |row: &Row| self.cells.keys().any(|(name, _, _)| *name == row.name);
        let was_tried = |row: &Row| {
            let mut parts = self.results.run.parts.iter().filter(|part| part.rows.contains(&row.name));
            parts.any(|part| self.results.cells().any(|cell| cell.part == part.name))
        };
        self.results.run.rows.iter().filter(|row| has_figures(row) || was_tried(row)).collect()
    }

    /// The targets that have figures, or failed, in the order of the run: first systems, then the disk and no work.
    pub fn targets(&self) -> Vec<&TargetName> {
        let has_figures = |target: &TargetName| self.cells.keys().any(|(_, _, name)| *name == target.name);
        let was_tried = |target: &TargetName| self.results.cells().any(|cell| cell.target == target.name);
        let targets = self.results.run.targets.iter();
        let mut found: Vec<&TargetName> =
            targets.filter(|target| has_figures(target) || was_tried(target)).collect();
        found.sort_by_key(|target| match target.target_kind {
            Kind::Ours | Kind::Peer | Kind::Tuned => 0,
            Kind::Limit => 1,
            Kind::Floor => 2,
        });
        found
    }

    /// The volumes of a row, in the order of the run and then as numbers; a row without any figure has one, of all.
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
        if volumes.is_empty() { vec!["all"] } else { volumes }
    }

    /// The sentence of a row.
    pub fn title<'m>(&'m self, row: &'m str) -> &'m str {
        let found = self.results.run.rows.iter().find(|known| known.name == row);
        found.map_or(row, |row| row.title.as_str())
    }

    /// The things that the volumes of a row count; none if they are only names.
    pub fn counts(&self, row: &str) -> Option<&str> {
        self.results.run.rows.iter().find(|known| known.name == row)?.counts.as_deref()
    }

    /// True if no figure has a second repeat.
    pub fn is_once(&self) -> bool {
        self.cells.values().all(|cell| cell.values.len() <= 1)
    }

    /// The figures of a cell of the table.
    pub fn cell(&self, row: &str, volume: &str, target: &str) -> Option<&CellFigures> {
        self.cells.get(&(row.to_owned(), volume.to_owned(), target.to_owned()))
    }

    /// The entry of the table. If a target has no figure, this is the reason.
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
        let failed = self
            .results
            .cells()
            .find(|cell| {
                let is_of_row = part.is_some_and(|part| part.name == cell.part);
                cell.target == target && is_of_row && cell.outcome != "ok"
            })
            .map(|cell| cell.outcome.clone());
        if failed.is_none() && self.results.wrong().contains(target) {
            return format!("ERR({WRONG_ANSWER} in another row)");
        }
        failed.unwrap_or_else(|| "SKIP(not measured in this run)".to_owned())
    }

    /// The version, durability and settings that a target stated, if it was asked.
    pub fn introduction(&self, target: &str) -> Option<&TargetRecord> {
        self.results.records.iter().find_map(|record| match record {
            Record::Target(told) if told.target == target => Some(told),
            _ => None,
        })
    }

    /// The forms of Annals that have figures: first the one that the page is about.
    pub fn ours(&self) -> Vec<&TargetName> {
        let mut ours = self.of_kind(&[Kind::Ours]);
        let is_other = |target: &&TargetName| self.results.run.subject.as_ref() != Some(&target.name);
        ours.sort_by_key(is_other);
        ours
    }

    /// The form of Annals that the page is about.
    pub fn subject(&self) -> Option<&TargetName> {
        self.ours().first().copied()
    }

    /// The head of the column of a target.
    pub fn target_title<'m>(&'m self, name: &'m str) -> &'m str {
        let found = self.results.run.targets.iter().find(|known| known.name == name);
        found.map_or(name, |target| target.title.as_str())
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
                Some(all) => all.add(&own)?,
            }
        }
        self.unsteady += usize::from(figure.never_steady);
        self.retries += figure.retries;
        if let (Some(value), Some(offered)) = (figure.value, figure.offered) {
            self.kept_up.push(value / offered);
        }
        if let Some(late) = figure.late {
            self.late = Some(self.late.map_or(late, |before| before.max(late)));
        }
        if self.ticks.is_empty() {
            self.ticks.clone_from(&figure.ticks);
        }
        if figure.load.is_some() {
            self.load.clone_from(&figure.load);
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
        !self.kept_up.is_empty() && median(self.kept_up.clone()) < KEPT_UP_MIN
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// A run of the rows `read` and `write`, in parts of the same names, on `annals` and `other`.
    pub(crate) fn measured(records: Value) -> Measured {
        let row = |name: &str| json!({"name": name, "title": name, "unit": "1/s", "better": "more", "is_write": false});
        let target = |name: &str, kind: &str| json!({"name": name, "title": name, "target_kind": kind});
        let part = |name: &str| json!({"name": name, "rows": [name]});
        let run = json!({
            "suite": "s", "title": "", "text": "", "rows": [row("read"), row("write")],
            "targets": [target("annals", "ours"), target("null", "floor"), target("other", "peer")], "volumes": ["1"],
            "parts": [part("read"), part("write")], "repeats": 3, "is_quick": false, "started": "", "command": "",
            "environment": [], "doubts": [], "unfair": [],
        });
        let results = Results {
            folder: "nowhere".into(),
            run: serde_json::from_value(run).unwrap(),
            records: serde_json::from_value(records).unwrap(),
        };
        Measured::of(results).unwrap()
    }

    pub(crate) fn figure(target: &str, row: &str, repeat: usize, value: f64) -> Value {
        json!({"kind": "figure", "target": target, "part": row, "row": row, "volume": "1", "repeat": repeat, "value": value})
    }

    fn cell(target: &str, part: &str, repeat: usize, outcome: &str) -> Value {
        json!({"kind": "cell", "target": target, "part": part, "repeat": repeat, "outcome": outcome, "seconds": 1.0,
               "cpu_seconds": 1.0, "memory_bytes_max": 1, "disk_bytes": 1})
    }

    fn names<'m>(targets: &[&'m TargetName]) -> Vec<&'m str> {
        targets.iter().map(|target| target.name.as_str()).collect()
    }

    #[test]
    fn a_target_that_failed_everywhere_is_on_the_page_and_so_is_a_row_that_nobody_finished() {
        let found = measured(json!([
            figure("annals", "read", 0, 1.0),
            cell("annals", "read", 0, "ok"),
            cell("other", "read", 0, "DNF(9 s)"),
            cell("annals", "write", 0, "OOM"),
        ]));
        assert_eq!(names(&found.targets()), ["annals", "other"]);
        assert_eq!(found.rows().len(), 2);
        assert_eq!(found.shown("read", "1", "other"), Shown::State("DNF(9 s)".into()));
        assert_eq!(found.volumes("write"), ["all"]);
        assert_eq!(found.shown("write", "all", "annals"), Shown::State("OOM".into()));
    }

    #[test]
    fn no_work_is_the_last_column() {
        let targets = ["null", "annals", "other"].map(|target| figure(target, "read", 0, 1.0));
        assert_eq!(names(&measured(json!(targets)).targets()), ["annals", "other", "null"]);
    }

    #[test]
    fn a_repeat_that_failed_stays_beside_the_figure_of_another() {
        let found = measured(json!([
            figure("annals", "read", 0, 1.0),
            cell("annals", "read", 0, "ok"),
            cell("annals", "read", 1, "OOM"),
        ]));
        let cell = found.cell("read", "1", "annals").unwrap();
        assert_eq!((cell.values.len(), cell.state.as_deref()), (1, Some("OOM")));
    }

    #[test]
    fn a_wrong_answer_leaves_a_target_without_figures() {
        for wrong in [
            cell("other", "write", 0, "ERR(sum: wrong answer: expected 1, found 2)"),
            json!({"kind": "figure", "target": "other", "part": "write", "row": "write", "volume": "1", "repeat": 0,
                   "state": "ERR(sum: wrong answer: expected 1, found 2)"}),
        ] {
            let found =
                measured(json!([figure("annals", "read", 0, 1.0), figure("other", "read", 0, 9.0), wrong]));
            let states = ["read", "write"].map(|row| found.shown(row, "1", "other"));
            assert!(
                states
                    .iter()
                    .all(|shown| matches!(shown, Shown::State(state) if state.contains(WRONG_ANSWER))),
                "{states:?}"
            );
            assert!(found.comparisons().is_empty());
            assert!(matches!(found.shown("read", "1", "annals"), Shown::Value { .. }));
        }
    }

    #[test]
    fn a_loop_is_saturated_by_what_each_repeat_was_offered() {
        let repeat = |number: usize, offered: f64, value: f64| {
            let mut figure = figure("annals", "read", number, value);
            figure["offered"] = offered.into();
            figure
        };
        let is_saturated = |repeats: [(f64, f64); 3]| {
            let records: Vec<Value> = repeats
                .iter()
                .enumerate()
                .map(|(number, (offered, value))| repeat(number, *offered, *value))
                .collect();
            measured(json!(records)).cell("read", "1", "annals").unwrap().is_saturated()
        };
        assert!(!is_saturated([(900.0, 900.0), (720.0, 720.0), (720.0, 720.0)]));
        assert!(is_saturated([(500.0, 500.0), (900.0, 600.0), (900.0, 600.0)]));
    }
}
