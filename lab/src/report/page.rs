//! The page of a run: what it found, the figures, the ratios, the latencies, the cost, and what readers must know.

use super::beside::beside;
use super::comparison::Apart;
use super::document::{Block, Cell, Document, Mark, Table};
use super::figures::{figures, kind_of, missing, value_text};
use super::lead::{faster, findings, quotes, unlike};
use super::measured::{Measured, Shown};
use super::numbers::{bytes, figure, seconds};
use super::peak::peaks;
use super::percentiles::{latencies, slowest};
use super::plots::plots;
use super::pressure::{ceiling, loads};
use super::statistics::{Ratio, geometric_mean};
use crate::harness::{Bar, Height, Kind, Record, Row, Suite, TargetName};

/// How much a page says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    Whole,
    /// To be kept beside sources: the latencies of each row at its last volume only.
    Short,
}

/// The page of a run. Its suite has the reasons why others are faster and the lines to quote; a run of a suite that is no
/// more has neither.
pub fn page(measured: &Measured, suite: Option<&Suite>, extent: Extent) -> Document {
    let run = &measured.results.run;
    let mut document = Document { title: title(measured), finding: findings(measured), blocks: Vec::new() };
    let mut plots = plots(measured);
    if !plots.is_empty() {
        document.blocks.push(Block::Plot(plots.remove(0)));
    }
    let (reasons, quoted) = suite.map_or((&[][..], &[][..]), |suite| (suite.reasons, suite.quotes));
    document.section("Where another system is faster", faster(measured, reasons));
    for (heading, blocks) in unlike(measured) {
        document.section(&heading, blocks);
    }
    let quoted = quotes::lines(measured, quoted);
    let about = "How many times better or worse Annals is: of a few figures the one that is worst for it, of many the range.";
    let quoted = (!quoted.is_empty()).then(|| [Block::Text(about.into()), Block::List(quoted)]);
    document.section("To quote", quoted.into_iter().flatten());
    document.blocks.push(Block::Heading("How to read this page".into()));
    document.blocks.push(Block::Text(format!("{} {}", run.text, states(measured))));
    // The first lines say so if every figure was measured once.
    let repeats = if measured.is_once() {
        ""
    } else {
        "Figures are medians of the repeats, with their 95 % confidence intervals in parentheses; figures without one were \
         measured once. "
    };
    document.blocks.push(Block::Text(format!(
        "{repeats}All were measured on one machine, in one run, in turn: *ours here* is Annals, *peer measured here* is every other system. The figures of the original page \
         (*published there*) were measured on another machine: `annals-lab report published` shows all of them, and no ratio uses \
         them. Run of {}.",
        run.started
    )));
    if !run.doubts.is_empty() {
        let doubts = run.doubts.iter().map(|doubt| format!("All figures: {doubt}.")).collect();
        document.section("Distrust", [Block::List(doubts)]);
    }
    document.section("Figures", figures(measured));
    document.section("Bars", bars(measured));
    document.section("Annals beside each system", ratios(measured));
    document.section("How many threads", peaks(measured));
    document.section("Published there", beside(measured));
    document.section("Plots", plots.into_iter().map(Block::Plot));
    document.section("Where a figure is missing", missing(measured));
    document.section("Loads", ceiling(measured).into_iter().chain(loads(measured, extent)));
    document.section("Latencies", [Block::Table(latencies(measured, extent))]);
    document.section("Slowest operations", [Block::Table(slowest(measured))]);
    document.section("Cost", [Block::Table(cost(measured))]);
    document.section("Systems", systems(measured));
    let facts = run
        .environment
        .iter()
        .map(|(name, found)| vec![Cell::plain(name.as_str()), Cell::plain(found.as_str())]);
    let environment = Table::new("The machine of this run", ["what", "found"], facts.collect());
    document.section("Environment", [Block::Table(environment)]);
    document.section("Limits of the comparison", [Block::List(run.unfair.clone())]);
    document.section(
        "Run it again",
        [
            Block::Text("In a checkout of the commit above, on a machine that does nothing else:".into()),
            Block::Code(format!("{}\nannals-lab report", run.command)),
        ],
    );
    document
}

/// The title of the suite, and the form of Annals that the page is about if that is not the usual one.
fn title(measured: &Measured) -> String {
    let run = &measured.results.run;
    match measured.subject() {
        Some(subject) if run.subject.is_some() => format!("{}: {}", run.title, subject.title),
        _ => run.title.clone(),
    }
}

/// The meaning of the marks that stand for, or beside, a figure of this page.
fn states(measured: &Measured) -> String {
    let marks = [
        ("SKIP", "not measured, for a reason that the page gives"),
        ("DNF", "not finished in the time of its part"),
        ("OOM", "out of memory"),
        ("ERR", "failed"),
        ("SAT", "reached less than 95 % of the rate that was offered"),
        ("~", "never got steady"),
    ];
    let shown: Vec<String> =
        figures(measured).iter().flat_map(Block::cells).map(|cell| cell.text.clone()).collect();
    let used = marks.iter().filter(|(mark, _)| shown.iter().any(|text| text.contains(mark)));
    let used: Vec<String> = used.map(|(mark, meaning)| format!("`{mark}`: {meaning}")).collect();
    if used.is_empty() { String::new() } else { format!("Marks: {}.", used.join("; ")) }
}

/// The figures that have a bar, unless they say nothing.
fn bars(measured: &Measured) -> Option<Block> {
    if measured.results.run.is_quick {
        return None;
    }
    let lines: Vec<String> = measured
        .rows()
        .into_iter()
        .flat_map(|row| row.bars.iter().filter_map(|bar| bar_line(measured, row, bar)))
        .collect();
    (!lines.is_empty()).then_some(Block::List(lines))
}

/// A bar and whether it holds; none if one of its targets took no part in the run, or the first one has no figure.
fn bar_line(measured: &Measured, row: &Row, Bar { target, volume, height }: &Bar) -> Option<String> {
    let Shown::Value { median, .. } = measured.shown(&row.name, volume, target) else { return None };
    let (found, is_reached) = match height {
        Height::AtMost(most) => {
            let [found, bar] = [median, *most].map(|value| value_text(row, value));
            (format!("{found} <= {bar}"), median <= *most)
        }
        Height::Syncs { times, more } => {
            let most = times * measured.results.run.sync_us? / 1_000.0 + more;
            let [found, bar, more] = [median, most, *more].map(|value| value_text(row, value));
            (format!("{found} <= {bar}, {} fdatasync + {more}", figure(*times)), median <= most)
        }
        Height::AtLeast(least) => {
            let [found, bar] = [median, *least].map(|value| value_text(row, value));
            (format!("{found} >= {bar}"), median >= *least)
        }
        Height::TimesOf { target: other, times } => {
            let alike = measured.times_of(row, volume, target, other).ok();
            let less =
                alike.is_none().then(|| measured.times_of_unsynced(row, volume, target, other)).flatten();
            let note = if less.is_some() { ", which does not sync" } else { "" };
            let Some(Ratio { ratio, .. }) = alike.or(less) else {
                let took_part = measured.targets().iter().any(|known| known.name == *other);
                let text = || {
                    format!(
                        "{} at {volume}, {target}: not judged, for want of a figure of {other}",
                        row.title
                    )
                };
                return took_part.then(text);
            };
            (format!("{} >= {} times {other}{note}", figure(ratio), figure(*times)), ratio >= *times)
        }
    };
    let holds = if is_reached { "holds" } else { "MISSED" };
    Some(format!("{} at {volume}, {target}: {found}: {holds}", row.title))
}

/// A table of ratios for each row of the suite.
fn ratios(measured: &Measured) -> Vec<Block> {
    let others = measured.of_kind(&[Kind::Peer, Kind::Tuned, Kind::Limit, Kind::Floor]);
    let rows: Vec<&Row> =
        measured.rows().into_iter().filter(|row| !measured.is_open_loop(&row.name)).collect();
    if others.is_empty() || rows.is_empty() || measured.of_kind(&[Kind::Ours]).is_empty() {
        return Vec::new();
    }
    let subject = measured.subject().map_or("", |subject| subject.name.as_str());
    let mut head = vec!["row".to_owned(), "volume".to_owned()];
    head.extend(others.iter().map(|target| target.title.clone()));
    let mut lines = Vec::new();
    for row in rows {
        for volume in measured.volumes(&row.name) {
            let mut cells = vec![Cell::plain(row.title.as_str()), Cell::plain(volume)];
            cells.extend(others.iter().map(|target| ratio(measured, row, volume, target)));
            lines.push(cells);
        }
    }
    let text = "How many times better Annals is: ▲ better, ▼ worse, = no difference within the interval. Figures of writes are compared \
                only between systems that promise the same durability; where another form of Annals takes its place, its name follows the \
                ratio. Rows of open loops are not here: each system is offered a \
                share of its own peak.";
    let table = Table {
        caption: format!("{} divided by the other system", measured.target_title(subject)),
        head,
        rows: lines,
        ..Table::default()
    };
    vec![Block::Text(text.into()), Block::Table(table), Block::Text(means(measured))]
}

/// The geometric means below the table of ratios.
fn means(measured: &Measured) -> String {
    let comparisons = measured.comparisons();
    let mean = |target: &&TargetName| {
        let ratios: Vec<f64> = comparisons
            .iter()
            .filter(|found| found.target == target.name)
            .map(|found| found.ratio.ratio)
            .collect();
        geometric_mean(&ratios).map(|mean| format!("{} {mean:.1} (of {})", target.title, ratios.len()))
    };
    let means: Vec<String> = measured.of_kind(&[Kind::Peer, Kind::Tuned]).iter().filter_map(mean).collect();
    format!(
        "Geometric means of the ratios above, of the rows that both have; a row that a system could not finish is missing there: {}.",
        if means.is_empty() { "none".to_owned() } else { means.join("; ") }
    )
}

fn ratio(measured: &Measured, row: &Row, volume: &str, target: &TargetName) -> Cell {
    match measured.compare(row, volume, target) {
        // A limit is no rival: that it is faster is no finding.
        Ok(found) if matches!(target.target_kind, Kind::Limit | Kind::Floor) => {
            Cell::plain(ratio_cell(found.ratio).text.trim_start_matches(['▲', '▼', '=', ' ']))
        }
        Ok(found) => {
            let cell = ratio_cell(found.ratio);
            let is_subject = measured.subject().is_some_and(|subject| subject.name == found.ours);
            let stand_in = if is_subject { String::new() } else { format!(" {}", found.ours) };
            Cell::marked(cell.text + &stand_in, cell.mark)
        }
        Err(Apart::Durability) => Cell::marked("other durability", Mark::State),
        Err(Apart::NoFigure) => match measured.shown(&row.name, volume, &target.name) {
            Shown::State(state) => Cell::marked(kind_of(&state), Mark::State),
            Shown::Value { .. } => Cell::marked("no figure of Annals", Mark::State),
        },
    }
}

/// A ratio with its sign.
pub fn ratio_cell(ratio: Ratio) -> Cell {
    let value = ratio.ratio;
    let (sign, mark) = match value {
        _ if ratio.is_no_difference() => ("=", Mark::None),
        value if value > 1.0 => ("▲", Mark::Better),
        _ => ("▼", Mark::Worse),
    };
    let interval = ratio.interval_text().map_or(String::new(), |interval| format!(" ({interval})"));
    Cell::marked(format!("{sign} {}{interval}", figure(value)), mark)
}

/// The cost of each part.
fn cost(measured: &Measured) -> Table {
    let mut rows = Vec::new();
    for target in measured.targets() {
        for part in &measured.results.run.parts {
            let cells: Vec<_> = measured
                .results
                .records
                .iter()
                .filter_map(|record| match record {
                    Record::Cell(cell) if cell.target == target.name && cell.part == part.name => Some(cell),
                    _ => None,
                })
                .collect();
            if cells.is_empty() {
                continue;
            }
            let of = |value: fn(&crate::harness::CellRecord) -> f64| {
                let values: Vec<f64> = cells.iter().map(|cell| value(cell)).collect();
                crate::run::median(values)
            };
            let bad = cells.iter().find(|cell| cell.outcome != "ok").map(|cell| cell.outcome.as_str());
            rows.push(vec![
                Cell::plain(target.title.as_str()),
                Cell::plain(part.name.as_str()),
                Cell::plain(cells.len().to_string()),
                Cell::plain(seconds(of(|cell| cell.seconds))),
                Cell::plain(seconds(of(|cell| cell.cpu_seconds))),
                Cell::plain(bytes(of(|cell| cell.memory_bytes_max as f64))),
                Cell::plain(bytes(of(|cell| cell.disk_bytes as f64))),
                bad.map_or(Cell::plain("ok"), |outcome| Cell::marked(outcome, Mark::State)),
            ]);
        }
    }
    let head = ["system", "part", "repeats", "time", "processor time", "peak memory", "files", "outcome"];
    Table::new("Medians of the cells. Memory is that of all processes of a cell together", head, rows)
}

/// The version, durability and settings of each target.
fn systems(measured: &Measured) -> Vec<Block> {
    let mut rows = Vec::new();
    for target in &measured.results.run.targets {
        let told = measured.introduction(&target.name);
        let text = |value: Option<&str>| value.unwrap_or("did not tell").to_owned();
        let settings = told.map(|told| {
            let settings: Vec<String> =
                told.settings.iter().map(|(name, value)| format!("{name} = {value}")).collect();
            if settings.is_empty() { "defaults".to_owned() } else { settings.join("; ") }
        });
        let syncs = told.and_then(|told| told.syncs).map_or("not counted".to_owned(), |counted| {
            format!("{} commits, {} calls that sync", counted.commits, counted.syncs)
        });
        let skip = measured.results.records.iter().find_map(|record| match record {
            Record::Skip(skip) if skip.target == target.name && skip.rows.is_empty() => {
                Some(format!("SKIP({})", skip.reason))
            }
            _ => None,
        });
        let name = format!("{} (`{}`)", target.title, target.name);
        rows.push(match skip {
            Some(skip) => {
                let mut cells = vec![Cell::plain(name), Cell::marked(skip, Mark::State)];
                cells.extend((0..3).map(|_| Cell::plain("")));
                cells
            }
            None => vec![
                Cell::plain(name),
                Cell::plain(text(told.map(|told| told.version.as_str()))),
                Cell::plain(text(told.map(|told| told.durability.as_str()))),
                Cell::plain(syncs),
                Cell::plain(text(settings.as_deref())),
            ],
        });
    }
    let head = ["system", "version", "durability", "commits of a lone thread", "settings"];
    let table = Table::new("The measured systems. Calls that sync were counted by strace", head, rows);
    vec![Block::Table(table)]
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::measured::tests::{figure, measured};
    use super::*;

    #[test]
    fn a_bar_is_judged_at_its_volume_only() {
        let bars_of = |volume: &str, most: f64| {
            let mut found = measured(json!([figure("annals", "read", 0, 8.0)]));
            let row = found.results.run.rows[0].clone();
            found.results.run.rows[0] = row.at_most("annals", volume, most);
            bars(&found)
        };
        let told = |text: &str| Some(Block::List(vec![text.to_owned()]));
        assert_eq!(bars_of("1", 7.0), told("read at 1, annals: 8.00 <= 7.00: MISSED"));
        assert_eq!(bars_of("1", 8.0), told("read at 1, annals: 8.00 <= 8.00: holds"));
        assert_eq!(bars_of("2", 7.0), None);
    }

    #[test]
    fn a_bar_in_durable_writes_of_the_machine_is_judged_if_the_run_measured_them() {
        let bars_of = |sync_us: Option<f64>, more: f64| {
            let mut found = measured(json!([figure("annals", "read", 0, 8.0)]));
            found.results.run.sync_us = sync_us;
            found.results.run.rows[0] = found.results.run.rows[0].clone().syncs("annals", "1", 2.0, more);
            bars(&found)
        };
        let told = |text: &str| Some(Block::List(vec![text.to_owned()]));
        assert_eq!(
            bars_of(Some(3_500.0), 1.0),
            told("read at 1, annals: 8.00 <= 8.00, 2.00 fdatasync + 1.00: holds")
        );
        assert_eq!(
            bars_of(Some(3_500.0), 0.5),
            told("read at 1, annals: 8.00 <= 7.50, 2.00 fdatasync + 0.500: MISSED")
        );
        assert_eq!(bars_of(None, 1.0), None);
    }

    #[test]
    fn a_bar_beside_another_system_is_judged_if_both_have_figures() {
        let figures = [("annals", "read", 8.0), ("other", "read", 4.0), ("null", "write", 1.0)]
            .map(|(target, row, value)| figure(target, row, 0, value));
        let bars_of = |times: f64, other: &str| {
            let mut found = measured(json!(figures));
            let row = found.results.run.rows[0].clone();
            found.results.run.rows[0] = row.times_of("annals", "1", times, other);
            bars(&found)
        };
        let told = |text: &str| Some(Block::List(vec![text.to_owned()]));
        assert_eq!(bars_of(1.0, "other"), told("read at 1, annals: 2.00 >= 1.00 times other: holds"));
        assert_eq!(bars_of(2.1, "other"), told("read at 1, annals: 2.00 >= 2.10 times other: MISSED"));
        assert_eq!(bars_of(1.0, "null"), told("read at 1, annals: not judged, for want of a figure of null"));
        assert_eq!(bars_of(1.0, "absent"), None);
    }

    #[test]
    fn a_bar_of_writes_beside_a_system_that_does_not_sync_says_so() {
        let mut figures = vec![figure("annals", "write", 0, 8.0), figure("other", "write", 0, 4.0)];
        figures.extend([("annals", "synced-group"), ("other", "unsynced")].map(|(target, durability)| {
            json!({"kind": "target", "target": target, "version": "1", "durability": durability, "settings": []})
        }));
        let mut found = measured(json!(figures));
        let mut row = found.results.run.rows[1].clone().of_writes();
        row.bars.clear();
        found.results.run.rows[1] = row.times_of("annals", "1", 1.0, "other");
        let told = "write at 1, annals: 2.00 >= 1.00 times other, which does not sync: holds";
        assert_eq!(bars(&found), Some(Block::List(vec![told.to_owned()])));
        let row = found.results.run.rows[1].clone();
        found.results.run.rows[1] = Row { bars: Vec::new(), ..row }.times_of("other", "1", 1.0, "annals");
        let told = "write at 1, other: not judged, for want of a figure of annals";
        assert_eq!(bars(&found), Some(Block::List(vec![told.to_owned()])));
    }

    #[test]
    fn a_quick_run_judges_no_bar() {
        let mut found = measured(json!([figure("annals", "read", 0, 8.0)]));
        found.results.run.is_quick = true;
        found.results.run.rows[0] = found.results.run.rows[0].clone().at_most("annals", "1", 7.0);
        assert_eq!(bars(&found), None);
    }
}
