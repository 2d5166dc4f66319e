//! Loads on servers: the columns of the published page and more.

use super::document::{Block, Cell, Mark, Table};
use super::measured::{CellFigures, Measured};
use super::numbers::{bytes, figure, seconds};
use super::page::Extent;
use crate::harness::{LoadRecord, Row, TargetName};
use crate::latencies::Latencies;

/// The table of loads; none if the run has no load.
pub fn loads(measured: &Measured, extent: Extent) -> Option<Block> {
    let head = [
        "row",
        "volume",
        "system",
        "samples",
        "average",
        "median",
        "90 % line",
        "min",
        "max",
        "error",
        "throughput",
        "KB/s",
        "p99",
        "p99.9",
        "syncs",
        "callers",
        "server's cores",
        "server's memory",
        "client's core",
    ];
    let rows: Vec<Vec<Cell>> = each(measured, extent)
        .into_iter()
        .map(|(row, volume, target, cell, load)| line(row, volume, target, cell, load))
        .collect();
    let caption = "The loads behind the figures, with the columns of the published page. Throughput counts requests per second, a batch \
                   once. `LIMIT` marks loads for which the client was itself the limit; callers are connections";
    (!rows.is_empty()).then(|| Block::Table(Table::new(caption, head, rows)))
}

/// Requests that nginx answers to the same client; none if the run has no load.
pub fn ceiling(measured: &Measured) -> Option<Block> {
    let found = each(measured, Extent::Whole).into_iter();
    let found: Vec<f64> = found.filter_map(|(.., load)| load.generator_ceiling).collect();
    let least = found.iter().copied().reduce(f64::min)?;
    let most = found.iter().copied().fold(least, f64::max);
    let text = format!(
        "The client is one thread, and shares the processor with the server. Before each volume of each system it read a file from \
         nginx: {} to {} requests a second. A system that comes near that may be faster than the client.",
        figure(least),
        figure(most)
    );
    Some(Block::Text(text))
}

/// Every load in the order of the rows.
fn each(measured: &Measured, extent: Extent) -> Vec<(&Row, &str, &TargetName, &CellFigures, &LoadRecord)> {
    let mut found = Vec::new();
    for row in measured.rows() {
        let volumes = measured.volumes(&row.name);
        let skipped = if extent == Extent::Short { volumes.len().saturating_sub(1) } else { 0 };
        for volume in volumes.into_iter().skip(skipped) {
            for target in measured.targets() {
                let Some(cell) = measured.cell(&row.name, volume, &target.name) else { continue };
                if let Some(load) = &cell.load {
                    found.push((row, volume, target, cell, load));
                }
            }
        }
    }
    found
}

fn line(row: &Row, volume: &str, target: &TargetName, cell: &CellFigures, load: &LoadRecord) -> Vec<Cell> {
    let mut cells =
        vec![Cell::plain(row.title.as_str()), Cell::plain(volume), Cell::plain(target.title.as_str())];
    let length = load.seconds;
    let per_second = |value: f64| if length > 0.0 { value / length } else { 0.0 };
    let requests = load.errors + load.right;
    let errors = 100.0 * load.errors as f64 / requests.max(1) as f64;
    let time = |of: fn(&Latencies) -> f64| {
        Cell::plain(cell.latencies.as_ref().map_or(String::new(), |latencies| seconds(of(latencies))))
    };
    cells.push(Cell::plain(figure(requests as f64)));
    cells.extend([
        time(Latencies::mean),
        time(|latencies| latencies.quantile(0.5)),
        time(|latencies| latencies.quantile(0.9)),
        time(Latencies::min),
        time(Latencies::max),
    ]);
    cells.push(Cell::plain(format!("{errors:.2} %")));
    let limit = if load.is_generator_limit { " LIMIT" } else { "" };
    let throughput = format!("{}{limit}", figure(load.throughput));
    cells.push(if load.is_generator_limit {
        Cell::marked(throughput, Mark::State)
    } else {
        Cell::plain(throughput)
    });
    cells.push(Cell::plain(figure(per_second(load.bytes as f64) / 1e3)));
    cells.extend([time(|latencies| latencies.quantile(0.99)), time(|latencies| latencies.quantile(0.999))]);
    cells.push(Cell::plain(load.syncs.map_or("not counted".to_owned(), |syncs| figure(syncs as f64))));
    cells.push(Cell::plain(load.callers.to_string()));
    cells.push(Cell::plain(format!("{:.2}", per_second(load.server_cpu_seconds))));
    cells.push(Cell::plain(bytes(load.server_memory_bytes as f64)));
    cells.push(Cell::plain(format!("{:.2}", per_second(load.generator_cpu_seconds))));
    cells
}

#[cfg(test)]
mod tests {
    use serde_json::{Value as Json, json};

    use super::super::measured::tests::{figure as figure_of, measured};
    use super::*;

    fn with_load() -> Json {
        let mut figure = figure_of("annals", "read", 0, 50.0);
        figure["load"] = json!({
            "callers": 60, "seconds": 2.0, "right": 150, "throughput": 75.0, "errors": 50, "refused": 50, "bytes": 4_000,
            "syncs": 7, "server_cpu_seconds": 1.0, "server_memory_bytes": 2_097_152, "generator_cpu_seconds": 1.9,
            "late": 0.02, "is_generator_limit": true, "generator_ceiling": 80_000.0,
            "steps": [
                {"callers": 50, "offered": 50.0, "reached": 50.0, "p99": 0.001, "errors": 0, "is_held": true},
                {"callers": 60, "offered": 100.0, "reached": 75.0, "p99": 0.5, "errors": 50, "is_held": false},
            ],
        });
        figure
    }

    #[test]
    fn the_table_has_the_columns_of_the_page_and_marks_the_limit() {
        let found = measured(json!([with_load()]));
        let Some(Block::Table(table)) = loads(&found, Extent::Whole) else { panic!("no table") };
        let column = |name: &str| {
            let place = table.head.iter().position(|head| head == name).unwrap();
            table.rows[0][place].text.clone()
        };
        let found_here = ["samples", "error", "throughput", "KB/s", "syncs", "callers"].map(column);
        assert_eq!(found_here, ["200", "25.00 %", "75.00 LIMIT", "2.00", "7.00", "60"]);
        let cost = ["server's cores", "server's memory", "client's core"].map(column);
        assert_eq!(cost, ["0.50", "2.0 MiB", "0.95"]);
        let Some(Block::Text(text)) = ceiling(&found) else { panic!("no text") };
        assert!(text.contains("80,000 to 80,000 requests a second"), "{text}");
    }
}
