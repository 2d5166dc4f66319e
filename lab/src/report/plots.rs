//! The plots of a run.

use super::document::Plot;
use super::figures::{time_unit, value_text};
use super::measured::{CellFigures, Measured, Shown};
use super::numbers::{seconds, volumes as text_of};
use super::plot::{Axis, BarChart, BarRow, Line, LineChart, Scale, Series, Value};
use crate::harness::{Kind, Row, TargetName};

/// A row with fewer volumes gets bars instead of lines.
const LINE_VOLUMES_MIN: usize = 3;
/// Shares of the operations in the plot of percentiles.
const SHARES: &[f64] = &[0.0, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.995, 0.999, 0.9995, 0.9999];
const TICK_SECONDS: f64 = 0.1;

/// Every plot, in the order of the rows.
pub fn plots(measured: &Measured) -> Vec<Plot> {
    let mut plots: Vec<Plot> = bars_of_loads(measured);
    let rows = measured.rows();
    for row in rows.iter().filter(|row| !measured.is_open_loop(&row.name)) {
        let volumes = measured.volumes(&row.name);
        if volumes.len() >= LINE_VOLUMES_MIN {
            plots.extend(by_volume(measured, row));
            plots.extend(tail_by_volume(measured, row));
        } else {
            plots.extend(bars(measured, row));
        }
        if let Some(volume) = volumes.last() {
            plots.extend(percentiles(measured, row, volume));
            plots.extend(stalls(measured, row, volume));
        }
    }
    plots.extend(under_load(measured));
    plots
}

fn plot(measured: &Measured, name: &str, text: String, svg: String) -> Plot {
    // A row may be named in words; a file is easier to use without them.
    let plain = |letter: char| if letter.is_ascii_alphanumeric() { letter } else { '-' };
    let name: String = format!("{}-{name}", measured.page).chars().map(plain).collect();
    Plot { name, text, svg, notes: Vec::new() }
}

/// The systems of the plots. The disk alone would flatten every axis beside other systems, and no work beside anything.
fn drawn(measured: &Measured) -> Vec<&TargetName> {
    let systems = measured.of_kind(&[Kind::Ours, Kind::Peer, Kind::Tuned]);
    let has_peers = systems.iter().any(|target| target.target_kind != Kind::Ours);
    if has_peers { systems } else { measured.of_kind(&[Kind::Ours, Kind::Limit]) }
}

/// Each target keeps its colour and its shape in all plots of a page.
fn series(measured: &Measured, target: &TargetName) -> Series {
    let place = drawn(measured).iter().position(|other| other.name == target.name).unwrap_or(0);
    let is_bold = measured.subject().is_some_and(|subject| subject.name == target.name);
    Series { is_bold, ..Series::nth(place, target.title.as_str()) }
}

/// The cell of a figure that was steady: others are wrong, as the mark `~` of the tables says, and no plot of medians has
/// them.
fn steady<'m>(
    measured: &'m Measured,
    row: &Row,
    volume: &str,
    target: &TargetName,
) -> Option<&'m CellFigures> {
    measured.cell(&row.name, volume, &target.name).filter(|cell| cell.unsteady == 0)
}

/// The figures that a plot of medians of a row leaves out: limits, and figures that never got steady.
fn left_out(measured: &Measured, row: &Row) -> Vec<String> {
    let drawn = drawn(measured);
    let volumes = measured.volumes(&row.name);
    let has_value = |volume: &str, target: &TargetName| {
        measured.cell(&row.name, volume, &target.name).is_some_and(|cell| !cell.values.is_empty())
    };
    let is_limit = |target: &&&TargetName| {
        !drawn.iter().any(|other| other.name == target.name)
            && volumes.iter().any(|volume| has_value(volume, target))
    };
    let targets = measured.targets();
    let limits: Vec<&str> = targets.iter().filter(is_limit).map(|target| target.title.as_str()).collect();
    let of = |target: &&TargetName| {
        let is_wrong = |volume: &&&str| {
            measured.cell(&row.name, volume, &target.name).is_some_and(|cell| cell.unsteady > 0)
        };
        let wrong: Vec<&str> = volumes.iter().filter(is_wrong).copied().collect();
        (!wrong.is_empty()).then(|| format!("{} at {}", target.title, text_of(&wrong, row.counts.as_deref())))
    };
    let unsteady: Vec<String> = drawn.iter().filter_map(of).collect();
    let mut notes = Vec::new();
    if !unsteady.is_empty() {
        notes.push(format!(
            "Left out, because they never got steady (`~` in the table): {}.",
            unsteady.join("; ")
        ));
    }
    if !limits.is_empty() {
        notes.push(format!(
            "Not drawn, because they are limits and would press the systems together: {}. The table has them.",
            limits.join(", ")
        ));
    }
    notes
}

/// A line for each target that has points.
fn lines(measured: &Measured, points: impl Fn(&TargetName) -> Vec<(f64, Value)>) -> Vec<Line> {
    let line = |target: &TargetName| Line { series: series(measured, target), points: points(target) };
    drawn(measured).into_iter().map(line).filter(|line| !line.points.is_empty()).collect()
}

fn value(cell: &CellFigures) -> Option<Value> {
    match cell.shown() {
        Shown::Value { median, interval: [low, high] } => {
            Some(Value { at: median, interval: (low < high).then_some([low, high]) })
        }
        Shown::State(_) => None,
    }
}

fn intervals(measured: &Measured) -> &'static str {
    if measured.is_once() { "" } else { " with intervals of 95 %" }
}

fn plain(at: f64) -> Value {
    Value { at, interval: None }
}

/// The things on the axis of the volumes of a row.
fn things(row: &Row) -> &str {
    row.counts.as_deref().unwrap_or("volume")
}

/// A chart of lines, unless there is none. `[x, y]` are its axes.
fn chart(measured: &Measured, name: &str, text: String, [x, y]: [Axis; 2], lines: Vec<Line>) -> Option<Plot> {
    let chart = LineChart { title: text.clone(), description: text.clone(), x, y, lines };
    (!chart.lines.is_empty()).then(|| plot(measured, name, text, chart.svg()))
}

/// The unit of an axis on which this value is easy to read, and the factor from the unit of the row.
fn unit_for(row: &Row, value: f64) -> (f64, String) {
    let Some(seconds) = time_unit(row) else { return (1.0, row.unit.clone()) };
    let (unit, name) = match value * seconds {
        time if time < 1e-3 => (1e-6, "µs"),
        time if time < 1.0 => (1e-3, "ms"),
        _ => (1.0, "s"),
    };
    (seconds / unit, format!("time, {name}"))
}

fn scaled(value: Value, factor: f64) -> Value {
    Value { at: value.at * factor, interval: value.interval.map(|ends| ends.map(|end| end * factor)) }
}

/// The row against its volume.
fn by_volume(measured: &Measured, row: &Row) -> Option<Plot> {
    let mut lines = lines(measured, |target| {
        let point =
            |volume: &&str| Some((volume.parse().ok()?, value(steady(measured, row, volume, target)?)?));
        measured.volumes(&row.name).iter().filter_map(point).collect()
    });
    let least =
        lines.iter().flat_map(|line| &line.points).map(|(_, value)| value.at).fold(f64::MAX, f64::min);
    let (factor, unit) = unit_for(row, least);
    for (_, value) in lines.iter_mut().flat_map(|line| &mut line.points) {
        *value = scaled(*value, factor);
    }
    let text = format!("{}: medians{}, by {}", row.title, intervals(measured), things(row));
    let axes = [Axis::new(things(row), Scale::Log), Axis::new(unit, Scale::Log)];
    let plot = chart(measured, &row.name, text, axes, lines)?;
    Some(Plot { notes: left_out(measured, row), ..plot })
}

/// The 99th percentile of the latency against the volume.
fn tail_by_volume(measured: &Measured, row: &Row) -> Option<Plot> {
    let lines = lines(measured, |target| {
        let point = |volume: &&str| {
            let latencies = steady(measured, row, volume, target)?.latencies.as_ref()?;
            Some((volume.parse().ok()?, plain(latencies.quantile(0.99) * 1e3)))
        };
        measured.volumes(&row.name).iter().filter_map(point).collect()
    });
    let text = format!("{}: 99th percentile of the latency, by {}", row.title, things(row));
    let axes = [Axis::new(things(row), Scale::Log), Axis::new("99th percentile, ms", Scale::Log)];
    let plot = chart(measured, &format!("{}-p99", row.name), text, axes, lines)?;
    Some(Plot { notes: left_out(measured, row), ..plot })
}

/// A chart of bars, unless there are none. `bar` has the value of a row for a target.
fn bar_chart(
    measured: &Measured,
    name: &str,
    [text, unit]: [String; 2],
    labels: &[String],
    bar: impl Fn(usize, &TargetName) -> Option<(Value, String)>,
) -> Option<Plot> {
    let drawn = drawn(measured);
    let of = |(place, label): (usize, &String)| BarRow {
        label: label.clone(),
        values: drawn.iter().map(|target| bar(place, target)).collect(),
    };
    let rows: Vec<BarRow> = labels.iter().enumerate().map(of).collect();
    if rows.iter().all(|row| row.values.iter().all(Option::is_none)) {
        return None;
    }
    let chart = BarChart {
        title: text.clone(),
        description: text.clone(),
        axis: Axis::new(unit, Scale::Linear),
        series: drawn.iter().map(|target| series(measured, target)).collect(),
        rows,
    };
    Some(plot(measured, name, text, chart.svg()))
}

/// Medians of a row with few volumes.
fn bars(measured: &Measured, row: &Row) -> Option<Plot> {
    let volumes = measured.volumes(&row.name);
    let label = |volume: &&str| format!("at {}", text_of(&[volume], row.counts.as_deref()));
    let labels: Vec<String> = volumes.iter().map(label).collect();
    let text = format!("{}: medians{}", row.title, intervals(measured));
    let found = |place: usize, target: &TargetName| value(steady(measured, row, volumes[place], target)?);
    let drawn = drawn(measured);
    let all =
        (0..volumes.len()).flat_map(|place| drawn.iter().filter_map(move |target| found(place, target)));
    let (factor, unit) = unit_for(row, all.map(|value| value.at).fold(0.0, f64::max));
    let bar = |place: usize, target: &TargetName| {
        let value = found(place, target)?;
        Some((scaled(value, factor), value_text(row, value.at)))
    };
    let plot = bar_chart(measured, &row.name, [text, unit], &labels, bar)?;
    Some(Plot { notes: left_out(measured, row), ..plot })
}

/// The highest rate that each server holds, and the 99th percentile at half of it, at the last volume of each row that has
/// one.
fn bars_of_loads(measured: &Measured) -> Vec<Plot> {
    let has_half = |row: &&&Row| {
        let volumes = measured.volumes(&row.name);
        let last = volumes.last().copied().unwrap_or_default();
        measured.targets().iter().any(|target| {
            let cell = measured.cell(&row.name, last, &target.name);
            cell.and_then(|cell| cell.load.as_ref()).is_some_and(|load| load.half.is_some())
        })
    };
    let rows = measured.rows();
    let rows: Vec<&Row> = rows.iter().filter(has_half).copied().collect();
    let lasts: Vec<&str> =
        rows.iter().map(|row| measured.volumes(&row.name).last().copied().unwrap_or_default()).collect();
    let labels: Vec<String> = std::iter::zip(&rows, &lasts)
        .map(|(row, last)| format!("{} at {}", row.title, text_of(&[*last], row.counts.as_deref())))
        .collect();
    let cell =
        |place: usize, target: &TargetName| measured.cell(&rows[place].name, lasts[place], &target.name);
    let rate = |place: usize, target: &TargetName| {
        let value = value(cell(place, target)?)?;
        Some((value, value_text(rows[place], value.at)))
    };
    let half = |place: usize, target: &TargetName| {
        let half = cell(place, target)?.load.as_ref()?.half.as_ref()?;
        Some((plain(half.p99 * 1e3), seconds(half.p99)))
    };
    let texts = [
        ["The highest arrival rate that is held: more is better", "requests/s"],
        ["99th percentile of the latency at half of that rate: less is better", "99th percentile, ms"],
    ]
    .map(|texts| texts.map(str::to_owned));
    let [rates, halves] = texts;
    [
        bar_chart(measured, "rates", rates, &labels, rate),
        bar_chart(measured, "half-p99", halves, &labels, half),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Latencies by the share of operations that they cover, at one volume.
fn percentiles(measured: &Measured, row: &Row, volume: &str) -> Option<Plot> {
    let lines = lines(measured, |target| {
        let cell = measured.cell(&row.name, volume, &target.name);
        let Some(latencies) = cell.and_then(|cell| cell.latencies.as_ref()) else { return Vec::new() };
        SHARES.iter().map(|share| (*share, plain(latencies.quantile(*share) * 1e3))).collect()
    });
    let text =
        format!("{}: latency by percentile, at {}", row.title, text_of(&[volume], row.counts.as_deref()));
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
    let volume = text_of(&[volume], row.counts.as_deref());
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
        let counts = open.first().and_then(|row| row.counts.as_deref());
        let text = format!(
            "Latency from the due time against throughput, open loop, at {}",
            text_of(&[volume], counts)
        );
        let axes = [Axis::new("operations/s", Scale::Log), Axis::new("99th percentile, ms", Scale::Log)];
        chart(measured, &format!("load-{volume}"), text, axes, lines)
    };
    volumes.into_iter().filter_map(at).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value as Json, json};

    use super::super::measured::tests::{figure, measured};
    use super::*;

    /// Figures of `read` at three numbers of threads.
    fn by_threads(more: impl Fn(&str, &str, &mut Json)) -> Measured {
        let mut records = Vec::new();
        for (target, factor) in [("annals", 1.0), ("null", 1e6), ("other", 0.5)] {
            for volume in ["1", "10", "100"] {
                let mut record = figure(target, "read", 0, factor * volume.parse::<f64>().unwrap());
                record["volume"] = volume.into();
                more(target, volume, &mut record);
                records.push(record);
            }
        }
        let mut found = measured(json!(records));
        found.results.run.volumes = ["1", "10", "100"].map(str::to_owned).to_vec();
        found.results.run.rows[0] = found.results.run.rows[0].clone().over("threads");
        found
    }

    #[test]
    fn a_plot_names_its_axes_and_says_which_figures_and_limits_it_leaves_out() {
        let found = by_threads(|target, volume, record| {
            if (target, volume) == ("other", "10") {
                record["never_steady"] = true.into();
            }
        });
        let plots = plots(&found);
        let plot = &plots[0];
        assert_eq!(plot.name, "s-read");
        for text in [">read: medians, by threads<", ">threads<", ">1/s<", "other, 1: 0.5<"] {
            assert!(plot.svg.contains(text), "{text}: {}", plot.svg);
        }
        assert!(!plot.svg.contains("other, 10:") && !plot.svg.contains("null"), "{}", plot.svg);
        let expected = [
            "Left out, because they never got steady (`~` in the table): other at 10 threads.",
            "Not drawn, because they are limits and would press the systems together: null. The table has them.",
        ];
        assert_eq!(plot.notes, expected);
        assert!(plots[0].svg.contains("class=\"c0 bold\""), "the subject of the page stands out");
    }

    #[test]
    fn a_row_with_few_volumes_has_bars_that_name_what_the_volumes_count() {
        let mut found = measured(json!([figure("annals", "read", 0, 1.0), figure("other", "read", 0, 2.0)]));
        found.results.run.rows[0] = found.results.run.rows[0].clone().over("threads");
        let plots = plots(&found);
        for text in [">at 1 thread<", ">1/s<", "other: 2.00<", "class=\"bar\""] {
            assert!(plots[0].svg.contains(text), "{text}: {}", plots[0].svg);
        }
    }

    #[test]
    fn times_have_a_unit_in_which_they_are_easy_to_read() {
        let mut found =
            by_threads(|_, _, record| record["value"] = (record["value"].as_f64().unwrap() / 1e6).into());
        found.results.run.rows[0].unit = "s".into();
        let lines = &plots(&found)[0];
        assert!(lines.svg.contains(">time, µs<") && lines.svg.contains("other, 1: 0.5<"), "{}", lines.svg);
        let mut found =
            measured(json!([figure("annals", "read", 0, 0.25), figure("other", "read", 0, 0.002)]));
        found.results.run.rows[0].unit = "s".into();
        let bars = &plots(&found)[0];
        assert!(bars.svg.contains(">time, ms<") && bars.svg.contains("annals: 250 ms<"), "{}", bars.svg);
    }

    #[test]
    fn no_work_is_drawn_beside_nothing() {
        let found = measured(json!([figure("annals", "read", 0, 1.0), figure("null", "read", 0, 1e6)]));
        let plots = plots(&found);
        assert!(plots[0].svg.contains("annals: 1.00<") && !plots[0].svg.contains("null"), "{}", plots[0].svg);
        assert!(plots[0].notes[0].ends_with("null. The table has them."), "{:?}", plots[0].notes);
    }

    #[test]
    fn servers_have_bars_of_the_rate_that_they_hold_and_of_the_latency_at_half_of_it() {
        let mut held = figure("annals", "read", 0, 5_000.0);
        held["load"] = json!({"half": {"callers": 9, "offered": 2_500.0, "reached": 2_500.0, "p99": 0.0125, "errors": 0, "is_held": true}});
        let mut peer = figure("other", "read", 0, 1_000.0);
        peer["load"] = json!({"half": {"callers": 9, "offered": 500.0, "reached": 500.0, "p99": 0.25, "errors": 0, "is_held": true}});
        let plots = plots(&measured(json!([held, peer, figure("annals", "write", 0, 1.0)])));
        let names: Vec<&str> = plots.iter().map(|plot| plot.name.as_str()).collect();
        assert_eq!(names, ["s-rates", "s-half-p99", "s-read", "s-write"]);
        assert!(plots[0].svg.contains("annals: 5,000<") && plots[0].svg.contains(">requests/s<"));
        assert!(plots[1].svg.contains("other: 250 ms<") && plots[1].svg.contains(">99th percentile, ms<"));
    }
}
