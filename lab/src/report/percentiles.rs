//! The tables of latencies: percentiles, and the slowest operations.

use super::document::{Cell, Mark, Table};
use super::measured::Measured;
use super::numbers::seconds;
use super::page::Extent;
use crate::harness::{Row, TargetName};

/// How many of the slowest operations of each target a page lists.
const SLOWEST: usize = 10;

/// Percentiles of all rows that have them.
pub fn latencies(measured: &Measured, extent: Extent) -> Table {
    let head = ["row", "volume", "system", "p50", "p90", "p99", "p99.9", "longest", "late", "retries"];
    let mut rows = Vec::new();
    for (row, volume, target) in each(measured) {
        let Some(cell) = measured.cell(&row.name, volume, &target.name) else { continue };
        let Some(latencies) = &cell.latencies else { continue };
        if extent == Extent::Short && measured.volumes(&row.name).last() != Some(&volume) {
            continue;
        }
        let mut cells =
            vec![Cell::plain(row.title.as_str()), Cell::plain(volume), Cell::plain(target.title.as_str())];
        if cell.is_saturated() {
            cells.extend((0..5).map(|_| Cell::marked("SAT", Mark::State)));
        } else {
            cells
                .extend([0.5, 0.9, 0.99, 0.999].map(|share| Cell::plain(seconds(latencies.quantile(share)))));
            cells.push(Cell::plain(seconds(latencies.max())));
        }
        let late = cell.late.map_or(String::new(), |late| format!("{:.1} %", 100.0 * late));
        cells.extend([Cell::plain(late), Cell::plain(cell.retries.to_string())]);
        rows.push(cells);
    }
    let mut caption =
        "Latencies of all repeats together. In an open loop they count from the time at which an operation was due".to_owned();
    if extent == Extent::Short {
        caption +=
            ". This page has each row at its last volume; the page that `annals-lab report` writes has all";
    }
    Table::new(caption, head, rows)
}

/// The longest latencies of each target.
pub fn slowest(measured: &Measured) -> Table {
    let mut rows = Vec::new();
    for target in measured.targets() {
        let mut longest: Vec<(f64, u64, &Row, &str)> = Vec::new();
        for (row, volume, own) in each(measured).filter(|(_, _, own)| own.name == target.name) {
            let cell = measured.cell(&row.name, volume, &own.name);
            let cell = cell.filter(|cell| !cell.is_saturated());
            let Some(latencies) = cell.and_then(|cell| cell.latencies.as_ref()) else { continue };
            let own = latencies.counts().into_iter().rev().take(SLOWEST);
            longest.extend(own.map(|(ns, count)| (ns as f64 / 1e9, count, row, volume)));
        }
        longest.sort_by(|one, other| other.0.total_cmp(&one.0));
        for (time, count, row, volume) in longest.into_iter().take(SLOWEST) {
            rows.push(vec![
                Cell::plain(target.title.as_str()),
                Cell::plain(row.title.as_str()),
                Cell::plain(volume),
                Cell::plain(seconds(time)),
                Cell::plain(count.to_string()),
            ]);
        }
    }
    let head = ["system", "row", "volume", "time", "operations"];
    Table::new(format!("The {SLOWEST} longest latencies of each system"), head, rows)
}

/// Every row, volume and target.
fn each(measured: &Measured) -> impl Iterator<Item = (&Row, &str, &TargetName)> {
    measured.rows().into_iter().flat_map(move |row| {
        measured
            .volumes(&row.name)
            .into_iter()
            .flat_map(move |volume| measured.targets().into_iter().map(move |target| (row, volume, target)))
    })
}
