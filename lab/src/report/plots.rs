//! The plots of a run.

use super::document::Plot;
use super::measured::{CellFigures, Measured, Shown};
use super::plot::{Axis, Line, LineChart, PointPlot, PointRow, Scale, Series, Value};
use super::pressure::over_rate;
use crate::harness::{Kind, Row, TargetName};

/// A row with fewer volumes gets a plot of points instead of lines.
const LINE_VOLUMES_MIN: usize = 3;
/// Shares of the operations in the plot of percentiles.
const SHARES: &[f64] = &[0.0, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.995, 0.999, 0.9995, 0.9999];
const TICK_SECONDS: f64 = 0.1;

/// Every plot, in the order of the rows.
pub fn plots(measured: &Measured) -> Vec<Plot> {
    let mut plots = Vec::new();
    let rows = measured.rows();
    for row in rows.iter().filter(|row| !measured.is_open_loop(&row.name)) {
        let volumes = measured.volumes(&row.name);
        if volumes.len() >= LINE_VOLUMES_MIN {
            plots.extend(by_volume(measured, row));
            plots.extend(tail_by_volume(measured, row));
        } else {
            plots.push(points(measured, row));
        }
        if let Some(volume) = volumes.last() {
            plots.extend(percentiles(measured, row, volume));
            plots.extend(stalls(measured, row, volume));
        }
    }
    plots.extend(under_load(measured));
    plots.extend(over_rate(measured));
    plots
}

fn plot(measured: &Measured, name: &str, text: String, svg: String) -> Plot {
    // A row may be named in words; a file is easier to use without them.
    let plain = |letter: char| if letter.is_ascii_alphanumeric() { letter } else { '-' };
    let name: String = format!("{}-{name}", measured.results.run.suite).chars().map(plain).collect();
    Plot { name, text, svg }
}

/// The systems of the plots. The disk alone and no work would flatten every axis beside other systems.
fn drawn(measured: &Measured) -> Vec<&TargetName> {
    let systems = measured.of_kind(&[Kind::Ours, Kind::Peer, Kind::Tuned]);
    let has_peers = systems.iter().any(|target| target.target_kind != Kind::Ours);
    if has_peers { systems } else { measured.targets() }
}

/// Each target keeps its colour and its shape in all plots of a page.
fn series(measured: &Measured, target: &TargetName) -> Series {
    let place = drawn(measured).iter().position(|other| other.name == target.name).unwrap_or(0);
    Series::nth(place, target.title.as_str())
}

/// A line for each target that has points.
fn lines(measured: &Measured, points: impl Fn(&TargetName) -> Vec<(f64, Value)>) -> Vec<Line> {
    let line = |target: &TargetName| Line { series: series(measured, target), points: points(target) };
    drawn(measured).into_iter().map(line).filter(|line| !line.points.is_empty()).collect()
}

fn value(cell: &CellFigures) -> Option<Value> {
    match cell.shown() {
        Shown::Value { median, interval } => Some(Value { at: median, interval: Some(interval) }),
        Shown::State(_) => None,
    }
}

fn intervals(measured: &Measured) -> &'static str {
    if measured.is_once() { "" } else { " with intervals of 95 %" }
}

fn plain(at: f64) -> Value {
    Value { at, interval: None }
}

/// A chart of lines, unless there is none. `[x, y]` are its axes.
fn chart(measured: &Measured, name: &str, text: String, [x, y]: [Axis; 2], lines: Vec<Line>) -> Option<Plot> {
    let chart = LineChart { title: text.clone(), description: text.clone(), x, y, lines };
    (!chart.lines.is_empty()).then(|| plot(measured, name, text, chart.svg()))
}

/// The points of a target.
pub type Points<'m> = Box<dyn Fn(&TargetName) -> Vec<(f64, Value)> + 'm>;

/// A chart over the arrival rate, unless there are no points.
pub fn chart_over_rate(
    measured: &Measured,
    name: &str,
    text: String,
    unit: &str,
    points: &Points,
) -> Option<Plot> {
    let axes = [Axis::new("arrival rate, requests/s", Scale::Log), Axis::new(unit, Scale::Log)];
    chart(measured, name, text, axes, lines(measured, points))
}

/// The row against its volume.
fn by_volume(measured: &Measured, row: &Row) -> Option<Plot> {
    let lines = lines(measured, |target| {
        let point = |volume: &&str| {
            let cell = measured.cell(&row.name, volume, &target.name)?;
            Some((volume.parse().ok()?, value(cell)?))
        };
        measured.volumes(&row.name).iter().filter_map(point).collect()
    });
    let text = format!("{}: medians{}, by volume", row.title, intervals(measured));
    let axes = [Axis::new("volume", Scale::Log), Axis::new(row.unit.as_str(), Scale::Log)];
    chart(measured, &row.name, text, axes, lines)
}

/// The 99th percentile of the latency against the volume.
fn tail_by_volume(measured: &Measured, row: &Row) -> Option<Plot> {
    let lines = lines(measured, |target| {
        let point = |volume: &&str| {
            let latencies = measured.cell(&row.name, volume, &target.name)?.latencies.as_ref()?;
            Some((volume.parse().ok()?, plain(latencies.quantile(0.99) * 1e3)))
        };
        measured.volumes(&row.name).iter().filter_map(point).collect()
    });
    let text = format!("{}: 99th percentile of the latency, by volume", row.title);
    let axes = [Axis::new("volume", Scale::Log), Axis::new("99th percentile, ms", Scale::Log)];
    chart(measured, &format!("{}-p99", row.name), text, axes, lines)
}

/// Medians of a row with few volumes.
fn points(measured: &Measured, row: &Row) -> Plot {
    let targets = drawn(measured);
    let text = format!("{}: medians{}", row.title, intervals(measured));
    let point = |volume: &&str| PointRow {
        label: (*volume).to_owned(),
        values: targets
            .iter()
            .map(|target| measured.cell(&row.name, volume, &target.name).and_then(value))
            .collect(),
    };
    let chart = PointPlot {
        title: row.title.clone(),
        description: text.clone(),
        axis: Axis::new(row.unit.as_str(), Scale::Log),
        series: targets.iter().map(|target| series(measured, target)).collect(),
        rows: measured.volumes(&row.name).iter().map(point).collect(),
    };
    plot(measured, &row.name, text, chart.svg())
}

/// Latencies by the share of operations that they cover, at one volume.
fn percentiles(measured: &Measured, row: &Row, volume: &str) -> Option<Plot> {
    let lines = lines(measured, |target| {
        let cell = measured.cell(&row.name, volume, &target.name);
        let Some(latencies) = cell.and_then(|cell| cell.latencies.as_ref()) else { return Vec::new() };
        SHARES.iter().map(|share| (*share, plain(latencies.quantile(*share) * 1e3))).collect()
    });
    let text = format!("{}: latency by percentile, at {volume}", row.title);
    let axes =
        [Axis::new("share of the operations", Scale::Percentile), Axis::new("latency, ms", Scale::Log)];
    chart(measured, &format!("{}-percentiles", row.name), text, axes, lines)
}

/// Operations in each tenth of a second, which shows when a system stands still.
fn stalls(measured: &Measured, row: &Row, volume: &str) -> Option<Plot> {
    let lines = lines(measured, |target| {
        let Some(cell) = measured.cell(&row.name, volume, &target.name) else { return Vec::new() };
        let place = |tick: usize| tick as f64 * TICK_SECONDS;
        let rate = |count: u64| plain(count as f64 / TICK_SECONDS);
        cell.ticks.iter().enumerate().map(|(tick, count)| (place(tick), rate(*count))).collect()
    });
    let text = format!("{}: rate over time, at {volume}, of the first repeat", row.title);
    let axes = [Axis::new("seconds", Scale::Linear), Axis::new(row.unit.as_str(), Scale::Linear)];
    chart(measured, &format!("{}-time", row.name), text, axes, lines)
}

/// Latency against the offered rate, of the rows of open loops: a plot for each volume.
fn under_load(measured: &Measured) -> Vec<Plot> {
    let rows = measured.rows();
    let open: Vec<&&Row> = rows.iter().filter(|row| measured.is_open_loop(&row.name)).collect();
    let mut volumes: Vec<&str> = open.iter().flat_map(|row| measured.volumes(&row.name)).collect();
    volumes.sort_unstable();
    volumes.dedup();
    let at = |volume: &str| {
        let lines = lines(measured, |target| {
            let point = |row: &&&Row| {
                let cell = measured.cell(&row.name, volume, &target.name)?;
                let latencies = cell.latencies.as_ref().filter(|_| !cell.is_saturated())?;
                Some((value(cell)?.at, plain(latencies.quantile(0.99) * 1e3)))
            };
            open.iter().filter_map(point).collect()
        });
        let text = format!("Latency from the due time against throughput, open loop, at {volume}");
        let axes = [Axis::new("operations/s", Scale::Log), Axis::new("99th percentile, ms", Scale::Log)];
        chart(measured, &format!("load-{volume}"), text, axes, lines)
    };
    volumes.into_iter().filter_map(at).collect()
}
