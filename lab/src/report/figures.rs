//! The tables of figures, in the form of the published page, and the reasons where there is none.

use std::collections::BTreeMap;

use super::document::{Block, Cell, Mark, Table};
use super::measured::{CellFigures, Measured, Shown};
use super::numbers::{figure, seconds, volumes};
use crate::harness::{Form, Row, TargetName};

/// A table shows only the kind of a state that is longer than this. Units: characters.
const STATE_LENGTH_MAX: usize = 16;

/// All tables of figures.
pub fn figures(measured: &Measured) -> Vec<Block> {
    let rows = measured.rows();
    match measured.results.run.form {
        Form::VolumesDown => rows.into_iter().map(|row| Block::Table(by_volume(measured, row))).collect(),
        Form::RowsDown => {
            let mut volumes: Vec<&str> = Vec::new();
            for volume in rows.iter().flat_map(|row| measured.volumes(&row.name)) {
                if !volumes.contains(&volume) {
                    volumes.push(volume);
                }
            }
            volumes.into_iter().map(|volume| Block::Table(by_row(measured, &rows, volume))).collect()
        }
    }
}

/// Volumes down.
fn by_volume(measured: &Measured, row: &Row) -> Table {
    let line = |volume: &&str| line(measured, row, volume, volume);
    let rows = measured.volumes(&row.name).iter().map(line).collect();
    let first = row.counts.as_deref().unwrap_or("volume");
    let mut caption = label(row);
    if measured.is_open_loop(&row.name) {
        caption += ". Each system is offered a share of its own peak: compare the latencies, not these rates";
    }
    Table { caption, head: head(measured, first), rows, ..Table::default() }
}

/// Rows down.
fn by_row(measured: &Measured, rows: &[&Row], volume: &str) -> Table {
    let has = |row: &&&Row| measured.volumes(&row.name).contains(&volume);
    let line = |row: &&Row| line(measured, row, volume, &label(row));
    let counts = rows.iter().find(|row| has(row)).and_then(|row| row.counts.as_deref());
    let caption = format!("At {}", volumes(&[volume], counts));
    let rows = rows.iter().filter(has).map(line).collect();
    Table { caption, head: head(measured, "row"), rows, ..Table::default() }
}

/// The title of a row, with its unit if its figures have none of their own.
pub fn label(row: &Row) -> String {
    match time_unit(row) {
        Some(_) => row.title.clone(),
        None => format!("{}, {}", row.title, row.unit),
    }
}

fn head(measured: &Measured, first: &str) -> Vec<String> {
    let titles = measured.targets().into_iter().map(|target| target.title.clone());
    std::iter::once(first.to_owned()).chain(titles).collect()
}

fn line(measured: &Measured, row: &Row, volume: &str, label: &str) -> Vec<Cell> {
    let figures = measured.targets().into_iter().map(|target| shown(measured, row, volume, target));
    std::iter::once(Cell::plain(label)).chain(figures).collect()
}

/// The unit of a row of times, which are shown with units of their own. Units: seconds.
pub fn time_unit(row: &Row) -> Option<f64> {
    match row.unit.as_str() {
        "s" => Some(1.0),
        "ms" => Some(1e-3),
        _ => None,
    }
}

/// A value in the unit of a row.
pub fn value_text(row: &Row, value: f64) -> String {
    time_unit(row).map_or_else(|| figure(value), |unit| seconds(value * unit))
}

fn shown(measured: &Measured, row: &Row, volume: &str, target: &TargetName) -> Cell {
    let cell = measured.cell(&row.name, volume, &target.name);
    match measured.shown(&row.name, volume, &target.name) {
        Shown::State(state) if state.chars().count() > STATE_LENGTH_MAX => {
            Cell::marked(kind_of(&state), Mark::State)
        }
        Shown::State(state) => Cell::marked(state, Mark::State),
        Shown::Value { median, interval: [low, high] } => {
            let text_of = |value: f64| value_text(row, value);
            let mut text = text_of(median);
            if cell.is_some_and(|cell| cell.values.len() > 1) {
                text += &format!(" ({}–{})", text_of(low), text_of(high));
            }
            if let Some(state) = cell.and_then(|cell| cell.state.as_ref()) {
                text += &format!(" {}", kind_of(state));
            }
            if cell.is_some_and(CellFigures::is_saturated) {
                text += " SAT";
            }
            if cell.is_some_and(|cell| cell.unsteady > 0) {
                text += " ~";
            }
            Cell::plain(text)
        }
    }
}

/// `ERR` of `ERR(…)`.
pub fn kind_of(state: &str) -> &str {
    state.split('(').next().unwrap_or(state)
}

/// Every system and reason without a figure, with the rows.
pub fn missing(measured: &Measured) -> Vec<Block> {
    let mut reasons: BTreeMap<(usize, String), Vec<String>> = BTreeMap::new();
    for (place, target) in measured.targets().into_iter().enumerate() {
        for row in measured.rows() {
            for volume in measured.volumes(&row.name) {
                let state = match measured.shown(&row.name, volume, &target.name) {
                    Shown::State(state) => state,
                    Shown::Value { .. } => {
                        let cell = measured.cell(&row.name, volume, &target.name);
                        let Some(state) = cell.and_then(|cell| cell.state.as_ref()) else { continue };
                        format!("{state}, in a repeat")
                    }
                };
                reasons.entry((place, state)).or_default().push(format!("{} at {volume}", row.title));
            }
        }
    }
    let targets = measured.targets();
    let line = |((place, state), rows): ((usize, String), Vec<String>)| {
        let title = Cell::plain(targets[place].title.as_str());
        vec![title, Cell::marked(state, Mark::State), Cell::plain(shortened(&rows))]
    };
    let rows: Vec<Vec<Cell>> = reasons.into_iter().map(line).collect();
    if rows.is_empty() {
        return Vec::new();
    }
    let head = ["system", "state", "of"];
    vec![Block::Table(Table::new("Reasons for missing figures", head, rows))]
}

/// The first few, and how many there are besides.
fn shortened(rows: &[String]) -> String {
    const SHOWN: usize = 4;
    match rows.len().checked_sub(SHOWN) {
        None | Some(0) => rows.join(", "),
        Some(more) => format!("{}, and {more} more", rows[..SHOWN].join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::measured::tests::{figure, measured};
    use super::*;

    #[test]
    fn the_first_column_is_headed_by_what_the_volumes_count_and_the_caption_has_the_unit() {
        let mut found =
            measured(json!([figure("annals", "read", 0, 8.0), figure("annals", "write", 0, 8.0)]));
        found.results.run.rows[0] = found.results.run.rows[0].clone().over("threads");
        let tables = figures(&found);
        let heads: Vec<(&str, &str)> = tables
            .iter()
            .map(|block| match block {
                Block::Table(table) => (table.caption.as_str(), table.head[0].as_str()),
                _ => panic!("a table"),
            })
            .collect();
        assert_eq!(heads, [("read, 1/s", "threads"), ("write, 1/s", "volume")]);
        found.results.run.form = Form::RowsDown;
        let Block::Table(table) = &figures(&found)[0] else { panic!("a table") };
        assert_eq!((table.caption.as_str(), table.head[0].as_str()), ("At 1 thread", "row"));
    }
}
