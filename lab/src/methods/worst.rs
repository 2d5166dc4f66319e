//! The worst row of each kind at the smallest volume, for the table of limits.

use std::path::Path;

use super::archive::Archive;
use super::in_process;
use super::record::{Part, Sample, Samples};
use super::row::{Bar, ROWS, Row};
use super::volume::Volume;
use crate::outcome::Outcome;

/// One run.
///
/// Shape: for each line, the figure of its worst row, and the median of all its rows.
/// Units: durable writes for writes, nanoseconds for all other rows.
pub fn worst_of_smallest(folder: &Path) -> Outcome<Vec<(&'static str, f64, f64)>> {
    let record = in_process(&Archive::new()?, Volume { instances: 5, page: 2 }, folder)?;
    let mut lines: Vec<(&'static str, Vec<f64>)> = Vec::new();
    for (number, row) in ROWS.iter().enumerate() {
        let found = figures(row, record.at(number));
        match lines.iter_mut().find(|(line, _)| *line == row.bar.line()) {
            Some((_, values)) => values.extend(found),
            None => lines.push((row.bar.line(), found)),
        }
    }
    lines.retain(|(_, values)| !values.is_empty());
    let worst_and_median = |(line, mut values): (&'static str, Vec<f64>)| {
        values.sort_by(f64::total_cmp);
        (line, values[values.len() - 1], values[values.len() / 2])
    };
    Ok(lines.into_iter().map(worst_and_median).collect())
}

/// The figures of a row that its bar judges.
fn figures(row: &Row, samples: &Samples) -> Vec<f64> {
    let all = |_: &Sample| true;
    let found = match row.bar {
        Bar::Write => {
            let sync = samples.median_sync_ns().filter(|sync| *sync > 0.0);
            vec![samples.median_ns(all).zip(sync).map(|(median, sync)| median / sync)]
        }
        Bar::Page => vec![
            samples.median_ns(|sample| matches!(sample.part, Part::First | Part::Whole)),
            samples.median_ns(|sample| sample.part != Part::LookUp),
            samples.median_ns(|sample| sample.part == Part::Last),
        ],
        Bar::Visits | Bar::Component => vec![samples.median_ns_each()],
        Bar::Read | Bar::History | Bar::Linking | Bar::Free => vec![samples.median_ns(all)],
    };
    found.into_iter().flatten().collect()
}
