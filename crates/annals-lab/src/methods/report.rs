//! What the rows came to, beside their bars: a table for people, or one JSON object per row.

use std::time::Duration;

use serde_json::json;

use super::record::{Part, Record, Sample, Samples, quantile};
use super::row::{Bar, PUBLISHED_COUNT, ROWS, Row};
use super::volume::Volume;
use crate::outcome::Outcome;

/// Times one durable write's fdatasync.
const WRITE_TIMES_MAX: f64 = 3.0;
/// Units: nanoseconds, of the median.
const READ_NS_MAX: f64 = 5_000.0;
const HISTORY_NS_MAX: f64 = 20_000.0;
const PAGE_NS_MAX: f64 = 200_000.0;
/// What pages may take at larger volumes, compared with the smallest.
const PAGE_TIMES_MAX: f64 = 2.0;
const ELEMENT_NS_MAX: f64 = 1_000.0;
const LINKING_NS_MAX: f64 = 5_000_000.0;
const HUB_NS_MAX: f64 = 50_000_000.0;
/// What the HTTP door may add to a median.
const HTTP_NS_MAX: f64 = 150_000.0;
/// Of a whole run.
const RUN_SECONDS_MAX: f64 = 1_800.0;
const RESIDENT_BYTES_MAX: u64 = 8 << 30;
/// Volumes up to this one are the smallest that the bars of pages know.
const SMALL_INSTANCES_MAX: usize = 5;

/// How a whole run went.
pub struct Total {
    pub elapsed: Duration,
    /// Largest resident memory of this process. Units: bytes.
    pub resident_bytes: u64,
}

/// Prints rows, and counts what they missed.
pub struct Report {
    is_json: bool,
    only: Vec<String>,
    judged: usize,
    missed: Vec<String>,
}

/// What must hold for a row, and what it came to. In the same unit.
pub struct Judged {
    /// Which bar of the issue it is.
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
    pub fn new(is_json: bool, only: Vec<String>) -> Outcome<Report> {
        for part in &only {
            if !ROWS.iter().any(|row| row.name().contains(part.as_str())) {
                let names: Vec<String> = ROWS.iter().map(Row::name).collect();
                return Err(format!("--rows {part}: expected a part of one of {}", names.join(", ")).into());
            }
        }
        Ok(Report { is_json, only, judged: 0, missed: Vec::new() })
    }

    /// All rows of one volume.
    pub fn volume(&mut self, volume: Volume, record: &Record, total: &Total) {
        if !self.is_json {
            println!(
                "{volume}: {:.1} s, {:.2} GiB\n{:<62} {:>8} {:>10} {:>10} {:>10} {:>10}  bar",
                total.elapsed.as_secs_f64(),
                total.resident_bytes as f64 / f64::from(1 << 30),
                "µs",
                "samples",
                "median",
                "p90",
                "p99",
                "max"
            );
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

    /// What the HTTP door adds to the rows of a volume.
    pub fn http(&mut self, volume: Volume, engine: &Record, http: &Record) {
        if !self.is_json {
            println!(
                "{:<62} {:>8} {:>10} {:>10} {:>10}",
                "µs over HTTP", "samples", "median", "p99", "added"
            );
        }
        for (number, row) in ROWS.iter().enumerate().filter(|(_, row)| row.bar != Bar::Free) {
            // As the bars of the rows: what is only looked up for other rows may come in pages of any length.
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
            if self.is_json {
                let json = json!({
                    "volume": volume.to_string(), "name": format!("http-{}", row.name()), "unit": "µs",
                    "samples": door.len(), "median": median as f64 / 1e3, "p99": p99 / 1e3, "added": added / 1e3,
                    "bar": HTTP_NS_MAX / 1e3, "holds": added <= HTTP_NS_MAX,
                });
                println!("{json}");
            } else {
                let (count, micros) = (door.len(), [median as f64, p99, added].map(|ns| ns / 1e3));
                let [median, p99, added] = micros;
                println!("{:<62} {count:>8} {median:>10.1} {p99:>10.1} {added:>10.1}", row.title());
            }
        }
    }

    /// Says what was missed.
    pub fn finish(&self) {
        if !self.is_json {
            println!("{} of {} bars missed", self.missed.len(), self.judged);
            self.missed.iter().for_each(|missed| println!("  {missed}"));
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
        if self.is_json {
            println!("{}", json(volume, number, row, samples, quantiles, &judged));
            return;
        }
        let micros = |ns: Option<u64>| ns.map_or("-".into(), |ns| format!("{:.1}", ns as f64 / 1e3));
        let texts: Vec<String> = judged.iter().map(text).collect();
        let [median, p90, p99, max] = quantiles.map(micros);
        let refused =
            if samples.refused > 0 { format!("; {} refused", samples.refused) } else { String::new() };
        let mark = if number < PUBLISHED_COUNT { "" } else { "+ " };
        println!(
            "{:<62} {:>8} {median:>10} {p90:>10} {p99:>10} {max:>10}  {}{refused}",
            format!("{mark}{}", row.title()),
            sorted.len(),
            texts.join("; "),
        );
        if !self.only.is_empty() {
            samples.slowest.iter().for_each(|(ns, what)| println!("    {:>12} {what}", micros(Some(*ns))));
            samples.first_refusal.iter().for_each(|error| println!("    refused: {error}"));
        }
    }
}

/// What a row must reach.
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
            let mut syncs = samples.syncs_ns.clone();
            syncs.sort_unstable();
            let sync = quantile(&syncs, 0.5).filter(|sync| *sync > 0);
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
    let mut syncs = samples.syncs_ns.clone();
    syncs.sort_unstable();
    json!({
        "volume": volume.to_string(), "name": row.name(), "row": row.title(),
        "isPublished": number < PUBLISHED_COUNT, "unit": "µs", "samples": samples.all.len(),
        "publishedSamples": row.published, "median": median, "p90": p90, "p99": p99, "max": max,
        "fdatasync": micros(quantile(&syncs, 0.5)), "bars": judged.iter().map(bars).collect::<Vec<_>>(),
        "refused": samples.refused, "firstRefusal": samples.first_refusal,
        "slowest": samples.slowest.iter().map(slowest).collect::<Vec<_>>(),
    })
}
