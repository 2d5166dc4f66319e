//! The volume at which each system is at its best: for rates of threads, how many threads a pool needs.

use super::document::{Block, Cell, Table};
use super::measured::{Measured, Shown};
use super::numbers::{figure, seconds};
use crate::harness::{Better, Form, Row, TargetName};

/// Rows with fewer volumes have no peak.
const VOLUMES_MIN: usize = 4;
/// Share of the best figure that is nearly as good.
const NEARLY: f64 = 0.9;

/// A table for each row of rates with enough volumes.
pub fn peaks(measured: &Measured) -> Vec<Block> {
    if measured.results.run.form != Form::VolumesDown {
        return Vec::new();
    }
    let is_rate = |row: &&Row| row.better == Better::More && !measured.is_open_loop(&row.name);
    let rows = measured.rows().into_iter().filter(is_rate);
    let tables: Vec<Block> = rows
        .filter(|row| measured.volumes(&row.name).len() >= VOLUMES_MIN)
        .map(|row| Block::Table(table(measured, row)))
        .collect();
    if tables.is_empty() {
        return tables;
    }
    let text = "How large a pool of threads should be: the number with the highest rate, and the smallest number that reaches 90 % of it. \
                Between the two, more threads buy little and cost latency.";
    std::iter::once(Block::Text(text.into())).chain(tables).collect()
}

fn table(measured: &Measured, row: &Row) -> Table {
    let line = |target: &TargetName| -> Option<Vec<Cell>> {
        let figures: Vec<(&str, f64)> = measured
            .volumes(&row.name)
            .into_iter()
            .filter_map(|volume| match measured.shown(&row.name, volume, &target.name) {
                Shown::Value { median, .. } => Some((volume, median)),
                Shown::State(_) => None,
            })
            .collect();
        let [best, nearly] = best_and_nearly(&figures)?;
        let tail = |volume: &str| {
            let latencies = measured.cell(&row.name, volume, &target.name)?.latencies.as_ref()?;
            Some(seconds(latencies.quantile(0.99)))
        };
        let texts = [
            target.title.clone(),
            best.0.to_owned(),
            figure(best.1),
            tail(best.0).unwrap_or_default(),
            nearly.0.to_owned(),
            figure(nearly.1),
            tail(nearly.0).unwrap_or_default(),
        ];
        Some(texts.map(Cell::plain).to_vec())
    };
    let head = [
        "system",
        "best at",
        row.unit.as_str(),
        "99th percentile",
        "90 % from",
        &row.unit,
        "99th percentile",
    ];
    Table::new(row.title.as_str(), head, measured.targets().into_iter().filter_map(line).collect())
}

/// A volume and its figure.
type At<'v> = (&'v str, f64);

/// The best of the figures, and the first that is nearly as good.
fn best_and_nearly<'v>(figures: &[At<'v>]) -> Option<[At<'v>; 2]> {
    let best = *figures.iter().max_by(|one, other| one.1.total_cmp(&other.1))?;
    let nearly = *figures.iter().find(|(_, value)| *value >= NEARLY * best.1)?;
    Some([best, nearly])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fewer_threads_that_are_nearly_as_good_are_named() {
        let figures = [("1", 10.0), ("10", 85.0), ("100", 92.0), ("750", 100.0), ("3000", 95.0)];
        assert_eq!(best_and_nearly(&figures), Some([("750", 100.0), ("100", 92.0)]));
        assert_eq!(best_and_nearly(&figures[..1]), Some([("1", 10.0), ("1", 10.0)]));
        assert_eq!(best_and_nearly(&[]), None);
    }
}
