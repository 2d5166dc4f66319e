//! The figures of the rows and their bars: a table for a terminal, a page in Markdown, or one JSON object per row.

use std::path::Path;
use std::time::Duration;

use serde_json::json;

use super::record::{Part, Record, Sample, Samples, quantile};
use super::row::{Bar, PUBLISHED_COUNT, ROWS, Row};
use super::volume::Volume;
use crate::outcome::Outcome;
use crate::run::page::{self, Form};
use crate::run::{Machine, figure};

/// Times one durable write's fdatasync.
const WRITE_TIMES_MAX: f64 = 3.0;
/// Units: nanoseconds, of the median.
const READ_NS_MAX: f64 = 5_000.0;
const HISTORY_NS_MAX: f64 = 20_000.0;
const PAGE_NS_MAX: f64 = 200_000.0;
/// The greatest growth of pages at larger volumes, compared with the smallest.
const PAGE_TIMES_MAX: f64 = 2.0;
const ELEMENT_NS_MAX: f64 = 1_000.0;
const LINKING_NS_MAX: f64 = 5_000_000.0;
const HUB_NS_MAX: f64 = 50_000_000.0;
/// The greatest time that the HTTP door may add to a median.
const HTTP_NS_MAX: f64 = 150_000.0;
/// Of a whole run.
const RUN_SECONDS_MAX: f64 = 1_800.0;
const RESIDENT_BYTES_MAX: u64 = 8 << 30;
/// Volumes up to this one count as the smallest for the bars of pages.
const SMALL_INSTANCES_MAX: usize = 5;

/// The text before the figures on the page.
const ABOUT: &str = "\
Every method of a metadata repository, with the calls and the data of a published performance suite: one call after the other, \
each write durable before the next, each answer checked. *Median* and *p99* (the 99th percentile) are of all samples of a row. \
*Write + fdatasync* is the median of a plain durable write between the calls of that row. *Bar* tells what must hold and what was \
found. docs/metadata-methods.md says what each row is.";

/// Notes for readers of the figures.
const UNFAIR: &[&str] = &[
    "One run made these figures. No interval says how far another run may differ.",
    "The engine is in the process that calls it, except in tables over HTTP. A repository behind a network answers later.",
    "One caller waits for each answer. The rows say nothing of many callers at a time.",
    "The published figures come from another machine and another program: no figure here compares with one there.",
    "Searches list what other rows need, too, in pages of another size. Those samples count to the medians, as in the original, and \
     not to the bars of pages.",
    "The data are generated, and everything is in memory. Your data differ.",
    "Other machines may share cores, caches and disk with this one, and a virtual disk may acknowledge writes that a power cut \
     takes back. Only the bars of writes are ratios to the same machine.",
];

/// The totals of a whole run.
pub struct Total {
    pub elapsed: Duration,
    /// Largest resident memory of this process. Units: bytes.
    pub resident_bytes: u64,
}

/// Prints rows, and counts missed bars.
pub struct Report {
    form: Form,
    only: Vec<String>,
    judged: usize,
    missed: Vec<String>,
}

/// The bar of a row and its figure, in the same unit.
pub struct Judged {
    /// The bar's name in the issue.
    pub line: &'static str,
    pub what: &'static str,
    pub value: f64,
    pub bar: f64,
}

impl Judged {
    fn holds(&self) -> bool {
        self.value <= self.bar
    }
}

impl Report {
    /// Nothing yet.
    ///
    /// Errors: if `only` names no row.
    pub fn new(form: Form, only: Vec<String>) -> Outcome<Report> {
        for part in &only {
            if !ROWS.iter().any(|row| row.name().contains(part.as_str())) {
                let names: Vec<String> = ROWS.iter().map(Row::name).collect();
                return Err(format!("--rows {part}: expected a part of one of {}", names.join(", ")).into());
            }
        }
        Ok(Report { form, only, judged: 0, missed: Vec::new() })
    }

    /// Begins a page; prints nothing in other forms.
    ///
    /// Errors: those of looking at the machine; `folder` is on the disk that is measured.
    pub fn begin(&self, folder: &Path) -> Outcome<()> {
        if self.form == Form::Markdown {
            let machine = Machine::look(folder)?;
            let title = "The methods of a metadata repository";
            print!("{}", page::head(title, ABOUT, &machine, &machine.doubts()));
        }
        Ok(())
    }

    /// All rows of one volume.
    pub fn volume(&mut self, volume: Volume, record: &Record, total: &Total) {
        let (seconds, gibibytes) =
            (total.elapsed.as_secs_f64(), total.resident_bytes as f64 / f64::from(1 << 30));
        match self.form {
            Form::Json => {}
            Form::Markdown => println!(
                "\n## {volume}\n\nAll of it took {seconds:.1} s and at most {gibibytes:.2} GiB.\n\n{}",
                page::columns([
                    "what",
                    "unit",
                    "median",
                    "p99",
                    "samples",
                    "write + fdatasync",
                    "bar",
                    "holds",
                    "refused"
                ])
            ),
            Form::Text => println!(
                "{volume}: {seconds:.1} s, {gibibytes:.2} GiB\n{:<62} {:>8} {:>10} {:>10} {:>10} {:>10}  bar",
                "µs", "samples", "median", "p90", "p99", "max"
            ),
        }
        for (number, row) in ROWS.iter().enumerate() {
            let is_meant =
                self.only.is_empty() || self.only.iter().any(|part| row.name().contains(part.as_str()));
            if is_meant {
                self.row(volume, number, row, record.at(number));
            }
        }
        self.judge(volume, "whole run: seconds", total.elapsed.as_secs_f64() <= RUN_SECONDS_MAX);
        self.judge(volume, "whole run: resident memory", total.resident_bytes <= RESIDENT_BYTES_MAX);
    }

    /// The time that the HTTP door adds to the rows of a volume.
    pub fn http(&mut self, volume: Volume, engine: &Record, http: &Record) {
        match self.form {
            Form::Json => {}
            Form::Markdown => println!(
                "\n## {volume} over HTTP\n\n*Added* is what the median has more than in process.\n\n{}",
                page::columns(["what", "unit", "median", "p99", "samples", "added", "bar", "holds"])
            ),
            Form::Text => println!(
                "{:<62} {:>8} {:>10} {:>10} {:>10}",
                "µs over HTTP", "samples", "median", "p99", "added"
            ),
        }
        for (number, row) in ROWS.iter().enumerate().filter(|(_, row)| row.bar != Bar::Free) {
            // As for the bars of rows: look-ups for other rows may have pages of any length.
            let [ours, door] = [engine, http]
                .map(|record| record.at(number).sorted_ns(|sample| sample.part != Part::LookUp));
            let (Some(ours), Some(median)) = (quantile(&ours, 0.5), quantile(&door, 0.5)) else { continue };
            let added = median as f64 - ours as f64;
            let p99 = quantile(&door, 0.99).unwrap_or(median) as f64;
            self.judge(
                volume,
                &format!("{}, added over HTTP: {added:.0} ns", row.title()),
                added <= HTTP_NS_MAX,
            );
            let (count, holds) = (door.len(), added <= HTTP_NS_MAX);
            let [median, p99, added, bar] = [median as f64, p99, added, HTTP_NS_MAX].map(|ns| ns / 1e3);
            match self.form {
                Form::Json => println!(
                    "{}",
                    json!({
                        "volume": volume.to_string(), "name": format!("http-{}", row.name()), "unit": "µs",
                        "samples": count, "median": median, "p99": p99, "added": added, "bar": bar, "holds": holds,
                    })
                ),
                Form::Markdown => {
                    let figures = [median, p99, added].map(figure);
                    let (count, bar) = (count.to_string(), format!("added <= {}", figure(bar)));
                    let [median, p99, added] = &figures;
                    println!(
                        "{}",
                        page::row([&row.title(), "µs", median, p99, &count, added, &bar, yes_or_no(holds)])
                    );
                }
                Form::Text => {
                    println!("{:<62} {count:>8} {median:>10.1} {p99:>10.1} {added:>10.1}", row.title());
                }
            }
        }
    }

    /// Prints the missed bars.
    pub fn finish(&self) {
        let missed = format!("{} of {} bars missed", self.missed.len(), self.judged);
        match self.form {
            Form::Json => {}
            Form::Markdown => {
                println!("\n## Missed\n\n{missed}\n");
                self.missed.iter().for_each(|missed| println!("- {missed}"));
                print!("{}", page::foot(UNFAIR));
            }
            Form::Text => {
                println!("{missed}");
                self.missed.iter().for_each(|missed| println!("  {missed}"));
            }
        }
    }

    fn judge(&mut self, volume: Volume, what: &str, holds: bool) {
        self.judged += 1;
        if !holds {
            self.missed.push(format!("{volume} {what}"));
        }
    }

    fn row(&mut self, volume: Volume, number: usize, row: &Row, samples: &Samples) {
        let judged = judge(row, volume, samples);
        for one in &judged {
            self.judge(
                volume,
                &format!("{}, {}: {:.1}, bar {:.1}", row.title(), one.what, one.value, one.bar),
                one.holds(),
            );
        }
        let sorted = samples.sorted_ns(|_| true);
        let quantiles = [0.5, 0.9, 0.99, 1.0].map(|share| quantile(&sorted, share));
        match self.form {
            Form::Json => println!("{}", json(volume, number, row, samples, quantiles, &judged)),
            Form::Markdown => println!("{}", markdown(row, samples, quantiles, &judged)),
            Form::Text => self.print(number, row, samples, quantiles, &judged),
        }
    }

    fn print(
        &self,
        number: usize,
        row: &Row,
        samples: &Samples,
        quantiles: [Option<u64>; 4],
        judged: &[Judged],
    ) {
        let micros = |ns: Option<u64>| ns.map_or("-".into(), |ns| format!("{:.1}", ns as f64 / 1e3));
        let texts: Vec<String> = judged.iter().map(text).collect();
        let [median, p90, p99, max] = quantiles.map(micros);
        let refused =
            if samples.refused > 0 { format!("; {} refused", samples.refused) } else { String::new() };
        let mark = if number < PUBLISHED_COUNT { "" } else { "+ " };
        println!(
            "{:<62} {:>8} {median:>10} {p90:>10} {p99:>10} {max:>10}  {}{refused}",
            format!("{mark}{}", row.title()),
            samples.all.len(),
            texts.join("; "),
        );
        if !self.only.is_empty() {
            samples.slowest.iter().for_each(|(ns, what)| println!("    {:>12} {what}", micros(Some(*ns))));
            samples.first_refusal.iter().for_each(|error| println!("    refused: {error}"));
        }
    }
}

/// The bars of a row.
pub fn judge(row: &Row, volume: Volume, samples: &Samples) -> Vec<Judged> {
    let median =
        |is_meant: &dyn Fn(&Sample) -> bool| quantile(&samples.sorted_ns(is_meant), 0.5).map(|ns| ns as f64);
    let line = row.bar.line();
    let one = |what: &'static str, value: Option<f64>, bar: f64| {
        value.map(|value| Judged { line, what, value, bar })
    };
    let is_small = volume.instances <= SMALL_INSTANCES_MAX;
    let page_bar = if is_small { PAGE_NS_MAX } else { PAGE_NS_MAX * PAGE_TIMES_MAX };
    let is_page = |sample: &Sample| sample.part != Part::LookUp;
    let judged = match row.bar {
        Bar::Write => {
            let sync = samples.median_sync_ns().filter(|sync| *sync > 0);
            let ratio = median(&|_| true).zip(sync).map(|(median, sync)| median / sync as f64);
            vec![one("times one fdatasync", ratio, WRITE_TIMES_MAX)]
        }
        Bar::Read => vec![one("ns", median(&|_| true), READ_NS_MAX)],
        Bar::History => vec![one("ns", median(&|_| true), HISTORY_NS_MAX)],
        Bar::Page => vec![
            one(
                "ns, first page",
                median(&|sample| matches!(sample.part, Part::First | Part::Whole)),
                page_bar,
            ),
            one("ns, any page", median(&is_page), page_bar),
            one("ns, last page", median(&|sample| sample.part == Part::Last), page_bar),
        ],
        Bar::Visits | Bar::Component => {
            vec![one("ns for each element", samples.median_ns_each(), ELEMENT_NS_MAX)]
        }
        Bar::Linking => vec![one("ns", median(&|_| true), LINKING_NS_MAX)],
        Bar::Free => vec![one("ns", median(&|_| true), HUB_NS_MAX)],
    };
    judged.into_iter().flatten().collect()
}

fn text(judged: &Judged) -> String {
    let holds = if judged.holds() { "" } else { " MISSED" };
    format!("{:.1} {} <= {}{holds}", judged.value, judged.what, judged.bar)
}

fn markdown(row: &Row, samples: &Samples, quantiles: [Option<u64>; 4], judged: &[Judged]) -> String {
    let micros = |ns: Option<u64>| ns.map_or(String::new(), |ns| figure(ns as f64 / 1e3));
    let bars = judged.iter().map(|one| format!("{} {} <= {}", figure(one.value), one.what, figure(one.bar)));
    let [median, _, p99, _] = quantiles.map(micros);
    page::row([
        &row.title(),
        "µs",
        &median,
        &p99,
        &samples.all.len().to_string(),
        &micros(samples.median_sync_ns()),
        &bars.collect::<Vec<_>>().join("; "),
        if judged.is_empty() { "" } else { yes_or_no(judged.iter().all(Judged::holds)) },
        &samples.refused.to_string(),
    ])
}

fn yes_or_no(holds: bool) -> &'static str {
    if holds { "yes" } else { "NO" }
}

fn json(
    volume: Volume,
    number: usize,
    row: &Row,
    samples: &Samples,
    quantiles: [Option<u64>; 4],
    judged: &[Judged],
) -> serde_json::Value {
    let micros = |ns: Option<u64>| ns.map(|ns| ns as f64 / 1e3);
    let [median, p90, p99, max] = quantiles.map(micros);
    let bars =
        |one: &Judged| json!({ "what": one.what, "value": one.value, "bar": one.bar, "holds": one.holds() });
    let slowest = |(ns, what): &(u64, String)| json!({ "us": *ns as f64 / 1e3, "what": what });
    json!({
        "volume": volume.to_string(), "name": row.name(), "row": row.title(),
        "isPublished": number < PUBLISHED_COUNT, "unit": "µs", "samples": samples.all.len(),
        "publishedSamples": row.published, "median": median, "p90": p90, "p99": p99, "max": max,
        "fdatasync": micros(samples.median_sync_ns()), "bars": judged.iter().map(bars).collect::<Vec<_>>(),
        "refused": samples.refused, "firstRefusal": samples.first_refusal,
        "slowest": samples.slowest.iter().map(slowest).collect::<Vec<_>>(),
    })
}
