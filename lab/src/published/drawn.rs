//! The plots of a page: those whose images its text lacks, drawn again from its figures and samples, and more of them.

use super::interval::median_interval;
use super::page::{Cell, Page, Table};
use super::samples::{Run, run};
use crate::report::document::Plot;
use crate::report::plot::{Axis, Line, LineChart, PointPlot, PointRow, Scale, Series, Value};
use crate::run::quantile;

/// Plots that belong together.
pub struct Drawn {
    /// That of the chart on the page, or one of its own.
    pub name: &'static str,
    pub heading: &'static str,
    pub about: &'static str,
    pub plots: Vec<Plot>,
}

impl Drawn {
    /// Shape: `plots` are captions and SVG.
    fn new(
        name: &'static str,
        heading: &'static str,
        about: &'static str,
        plots: impl Iterator<Item = (String, String)>,
    ) -> Drawn {
        let plot = |(number, (text, svg)): (usize, (String, String))| Plot {
            name: format!("published-{name}-{}", number + 1),
            text,
            svg,
            notes: Vec::new(),
        };
        Drawn { name, heading, about, plots: plots.enumerate().map(plot).collect() }
    }
}

/// A column of a table and the run whose samples are behind it.
struct Source {
    series: Series,
    column: usize,
    run: Option<&'static Run>,
}

const TIME: &str = "median time, ms";
const BY_VOLUME: &str = "\
The point plot of the page, drawn again: each mark is the median of a method at a volume, and the line through it is the 95 % \
bootstrap interval of that median, from the raw samples. Above 0040-10 the marks are medians of the \
table without their samples, and so without an interval. The axis is logarithmic and the same in all plots.";
const BY_REPOSITORY: &str = "\
The point plot of the page, drawn again from the raw samples: medians with their 95 % bootstrap intervals. On the logarithmic \
axis the figures of both repositories can be read, so the plot without the larger volumes of JanusGraph is not drawn again. \
JanusGraph has no samples above 0020-10, of undo, of history and of most graph queries.";
const PERCENTILES: &str = "\
A median hides slow calls. These charts have all percentiles of the raw samples at 0020-10; they are no charts of the page.";
const BY_SIZE: &str = "\
The times of the tables by size of the data set. Both axes are logarithmic. The page has no such charts.";

const BY_ENTRY: &str = "\
The durations of the tables with 10,000 relations, one mark for each entry, in the order of the page. The page has no such charts.";

/// Methods whose calls differ most in their time.
const SPREAD: [(&str, &str); 6] = [
    ("Entity creation", "addEntity"),
    ("Entity search", "findEntities"),
    ("Classification search", "findEntitiesByClassification"),
    ("Entity retrieval", "getEntityDetail"),
    ("Graph queries", "getEntityNeighborhood"),
    ("Entity purge", "purgeEntity"),
];
/// Percentiles that a chart shows, in parts of a hundred thousand.
const SHARES: [u32; 16] = [
    0, 10_000, 25_000, 50_000, 75_000, 90_000, 95_000, 98_000, 99_000, 99_500, 99_800, 99_900, 99_950,
    99_980, 99_990, 100_000,
];

/// All plots of a page.
pub fn drawn(page: &Page) -> Vec<Drawn> {
    match page.name.as_str() {
        "metadata-repository" => {
            let table = |name: &str| page.table(name).expect("the page has its tables");
            vec![by_volume(table("xtdb-volumes")), by_repository(table("xtdb-janusgraph")), percentiles()]
        }
        "datastore-plugins" => vec![by_size(page)],
        "many-members" => vec![by_entry(page)],
        _ => Vec::new(),
    }
}

fn by_volume(table: &Table) -> Drawn {
    let with_figures = table
        .columns
        .iter()
        .enumerate()
        .filter(|(column, _)| table.rows.iter().any(|row| row[*column].value.is_some()));
    let sources: Vec<Source> = with_figures
        .enumerate()
        .map(|(place, (column, head))| {
            let run = run("XTDB", &head.labels["volume"]);
            Source {
                series: Series { is_hollow: run.is_none(), ..Series::nth(place, &head.text) },
                column,
                run,
            }
        })
        .collect();
    medians("xtdb-volumes", "XTDB by volume", BY_VOLUME, table, &sources)
}

fn by_repository(table: &Table) -> Drawn {
    let volumes = ["0005-02", "0010-05", "0020-10", "0040-10"];
    let sources: Vec<Source> = ["XTDB", "Janus"]
        .into_iter()
        .enumerate()
        .flat_map(|(colour, repository)| {
            volumes.iter().enumerate().map(move |volume| (colour, repository, volume))
        })
        .filter_map(|(colour, repository, (shape, volume))| {
            let run = Some(run(repository, volume)?);
            let column = table.column_with(&[("repository", repository), ("volume", volume)])?;
            let name = format!("{volume} ({repository})");
            let series = Series { name, colour, shape, is_hollow: colour == 1, is_bold: false };
            Some(Source { series, column, run })
        })
        .collect();
    medians("xtdb-janusgraph", "XTDB and JanusGraph", BY_REPOSITORY, table, &sources)
}

/// The medians of a table by profile, with the intervals of their samples.
fn medians(
    name: &'static str,
    heading: &'static str,
    about: &'static str,
    table: &Table,
    sources: &[Source],
) -> Drawn {
    let series: Vec<Series> = sources.iter().map(|source| source.series.clone()).collect();
    let values = |row: &Vec<Cell>| -> Vec<Option<Value>> {
        sources.iter().map(|source| median(row, source)).collect()
    };
    let rows: Vec<(&str, &str, Vec<Option<Value>>)> =
        table.rows.iter().map(|row| (row[0].name(), row[1].text.as_str(), values(row))).collect();
    let all = || rows.iter().flat_map(|(_, _, values)| values.iter().flatten().flat_map(Value::all));
    let (least, most) = (all().fold(f64::INFINITY, f64::min), all().fold(0.0, f64::max));
    let axis = Axis { range: Some([least, most]), ..Axis::new(TIME, Scale::Log) };
    let plots = rows.chunk_by(|one, next| one.0 == next.0).map(|rows| {
        let title = format!("{heading}: {}", rows[0].0);
        let methods: Vec<&str> = rows.iter().map(|(_, method, _)| *method).collect();
        let description =
            format!("{title}: medians in ms for {}. The table has them too.", methods.join(", "));
        let row = |(_, method, values): &(_, &str, Vec<_>)| PointRow {
            label: (*method).to_owned(),
            values: values.clone(),
        };
        let rows = rows.iter().map(row).collect();
        let (axis, series) = (axis.clone(), series.clone());
        (title.clone(), PointPlot { title, description, axis, series, rows }.svg())
    });
    Drawn::new(name, heading, about, plots)
}

/// The median of a cell, with the interval of the samples behind it.
fn median(row: &[Cell], source: &Source) -> Option<Value> {
    let at = row[source.column].value?;
    let calls = source.run.and_then(|run| run.calls(row[0].name(), &row[1].text));
    Some(Value { at, interval: calls.map(|calls| median_interval(&calls.sorted_ms)) })
}

fn percentiles() -> Drawn {
    let series = [Series::nth(0, "XTDB"), Series { is_hollow: true, ..Series::nth(1, "Janus") }];
    let plots = SPREAD.map(|(profile, method)| {
        let caption = format!("{profile}: {method}");
        let line = |series: &Series| {
            let calls = run(&series.name, "0020-10")?.calls(profile, method)?;
            let point = |share: u32| {
                let share = f64::from(share) / 1e5;
                // A call of less than a millisecond is cut off to 0, which has no place on the axis.
                let at = quantile(&calls.sorted_ms, share).max(1.0);
                (share, Value { at, interval: None })
            };
            // Beyond the last call of so many, a percentile is only the slowest call again.
            let is_known = |share: &u32| (1e5 - f64::from(*share)) * calls.sorted_ms.len() as f64 >= 1e5;
            let points = SHARES.iter().copied().filter(is_known).map(point).collect();
            Some(Line { series: series.clone(), points })
        };
        let chart = LineChart {
            title: format!("Percentiles of {caption} at 0020-10"),
            description: "Time in ms by the share of calls that took no longer, for each repository.".into(),
            x: Axis::new("share of calls", Scale::Percentile),
            y: Axis::new("time, ms", Scale::Log),
            lines: series.iter().filter_map(line).collect(),
        };
        (caption, chart.svg())
    });
    Drawn::new("percentiles", "Percentiles of the raw samples", PERCENTILES, plots.into_iter())
}

fn by_size(page: &Page) -> Drawn {
    let label = |table: &Table, name: &str| table.labels.get(name).cloned().unwrap_or_default();
    let mut series: Vec<Series> = Vec::new();
    for table in page.tables() {
        let plugin = label(table, "plugin");
        if series.iter().all(|series| series.name != plugin) {
            series.push(Series::nth(series.len(), plugin));
        }
    }
    let tests = page.tables().next().map_or(0, |table| table.rows.len());
    let plots = (0..tests).map(|test| {
        let line = |series: &Series| {
            let tables = page.tables().filter(|table| label(table, "plugin") == series.name);
            let points = tables.filter_map(|table| {
                let at = table.rows[test][1].value?;
                Some((label(table, "items").parse().ok()?, Value { at, interval: None }))
            });
            Line { series: series.clone(), points: points.collect() }
        };
        let caption = page.tables().next().map_or(String::new(), |table| table.rows[test][0].text.clone());
        let chart = LineChart {
            title: format!("{caption}, by size"),
            description: "Time in seconds by the number of items, for each plugin. The tables have them too."
                .into(),
            x: Axis::new("items", Scale::Log),
            y: Axis::new("mean time, s", Scale::Log),
            lines: series.iter().map(line).collect(),
        };
        (caption, chart.svg())
    });
    Drawn::new("by-size", "Times by size", BY_SIZE, plots)
}

fn by_entry(page: &Page) -> Drawn {
    let series = vec![Series::nth(0, "duration")];
    let plots = page.tables().filter_map(|table| {
        let [size, duration] = ["# of relations", "Test Duration (seconds)"].map(|head| table.column(head));
        let (size, duration) = size.zip(duration)?;
        let label = |row: &[Cell]| {
            let text = |head| table.column(head).map_or("", |place| row[place].text.trim_end_matches('.'));
            let machine = format!("machine {}", text("Environment"));
            let texts = [text("Commit"), text("Modeshape Config"), &machine, text("Notes")];
            let texts: Vec<&str> = texts.into_iter().filter(|text| !text.is_empty()).collect();
            texts.join(", ")
        };
        let rows: Vec<PointRow> = table
            .rows
            .iter()
            .filter(|row| row[size].value == Some(10_000.0))
            .map(|row| {
                let value = row[duration].value.map(|at| Value { at, interval: None });
                PointRow { label: label(row), values: vec![value] }
            })
            .collect();
        let plot = PointPlot {
            title: format!("{}: durations with 10,000 relations", table.name),
            description: "Duration in seconds of each entry. The table has them too.".into(),
            axis: Axis::new("duration, s", Scale::Linear),
            series: series.clone(),
            rows,
        };
        Some((table.name.clone(), plot.svg()))
    });
    Drawn::new("by-entry", "Durations by entry", BY_ENTRY, plots)
}
