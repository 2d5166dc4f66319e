//! Results: a table for people, or one JSON object per line.

use std::time::{Duration, Instant};

use serde_json::json;

/// One measured line.
pub struct Line {
    pub name: String,
    /// What was measured, in `unit`.
    pub value: f64,
    pub unit: &'static str,
    /// What the machine could do, measured in the same run; `None` where there is nothing to compare with.
    pub limit: Option<f64>,
    /// What the limit is.
    pub limit_name: &'static str,
    /// The least that must hold, as the issue says it, and whether it does.
    pub bar: Option<(String, bool)>,
}

/// Collects lines and prints each as it comes.
pub struct Report {
    is_json: bool,
    missed: usize,
}

impl Report {
    pub fn new(is_json: bool) -> Report {
        if !is_json {
            println!(
                "{:<28} {:>14} {:<16} {:>14} {:>7}  {:<32} bar",
                "what", "ours", "unit", "limit", "ratio", "limit is"
            );
        }
        Report { is_json, missed: 0 }
    }

    pub fn add(&mut self, line: Line) {
        let ratio = line.limit.map(|limit| line.value / limit);
        self.missed += usize::from(line.bar.as_ref().is_some_and(|(_, holds)| !holds));
        if self.is_json {
            println!(
                "{}",
                json!({
                    "name": line.name, "value": line.value, "unit": line.unit, "limit": line.limit,
                    "limitName": line.limit_name, "ratio": ratio,
                    "bar": line.bar.as_ref().map(|bar| &bar.0), "holds": line.bar.as_ref().map(|bar| bar.1),
                })
            );
            return;
        }
        let limit = line.limit.map_or(String::new(), number);
        let ratio = ratio.map_or(String::new(), |ratio| format!("{ratio:.2}"));
        let bar = line.bar.map_or(String::new(), |(bar, holds)| {
            format!("{bar}: {}", if holds { "holds" } else { "MISSED" })
        });
        println!(
            "{:<28} {:>14} {:<16} {:>14} {:>7}  {:<32} {bar}",
            line.name,
            number(line.value),
            line.unit,
            limit,
            ratio,
            line.limit_name
        );
    }

    pub fn finish(&self) {
        if !self.is_json && self.missed > 0 {
            println!("{} bars missed", self.missed);
        }
    }
}

/// A number with its thousands apart, or with two decimals below 100.
fn number(value: f64) -> String {
    if value.abs() < 100.0 {
        return format!("{value:.2}");
    }
    let digits = format!("{value:.0}");
    let mut grouped = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// The middle one.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

pub fn time<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let start = Instant::now();
    let result = work();
    (result, start.elapsed())
}

/// Resident memory of this process. Units: bytes; 0 where the system does not tell.
pub fn resident_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()).unwrap_or(0) * 1024
}
