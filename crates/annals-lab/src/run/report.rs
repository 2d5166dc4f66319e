//! Results: a table for people, or one JSON object per line.

use serde_json::json;

use super::catalogue::Mark;
use super::measured::{Figures, Measured};
use super::size::Size;
use super::summary::Summary;

/// Processes that wanted a core before the run, on average, from which on the figures are doubtful.
const LOAD_MAX: f64 = 0.5;

/// One line of the report.
pub struct Row {
    pub name: String,
    pub unit: &'static str,
    pub limit_name: &'static str,
    /// What was measured, or why nothing was.
    pub summary: Result<Summary, String>,
    pub bar: Vec<Mark>,
    pub goal: Vec<Mark>,
}

impl Row {
    /// A line of the table, measured at this scale.
    pub fn of(measured: &Measured, scale: u64) -> Row {
        let line = measured.line;
        Row {
            name: line.name.into(),
            unit: line.unit,
            limit_name: line.limit,
            summary: measured.figures.as_ref().map(Figures::summary).map_err(String::clone),
            bar: line.at_scale(line.bar, scale),
            goal: line.at_scale(line.goal, scale),
        }
    }
}

/// Prints each line as it comes, and counts.
pub struct Report {
    is_json: bool,
    size: Size,
    missed: usize,
    judged: usize,
}

impl Report {
    /// Nothing yet.
    pub fn new(is_json: bool, size: Size) -> Report {
        Report { is_json, size, missed: 0, judged: 0 }
    }

    /// Says where this runs. With JSON on the other stream, so that each line stays an object.
    pub fn begin(&self, machine: &str, load: f64) {
        let busy = if load > LOAD_MAX { "; it was busy before: distrust all figures" } else { "" };
        let text = format!("{machine}; load {load:.2}{busy}");
        if self.is_json {
            eprintln!("{text}");
            return;
        }
        println!("{text}");
        if self.size.quick {
            println!("a quick run: it shows that all lines run and answer right; no bar is judged");
        }
        println!(
            "{:<34} {:>14} {:<10} {:>14} {:>8} {:<15} {:<34} {:<27} {:<27} holds?",
            "what", "ours", "unit", "limit", "ratio", "95 %", "limit is", "bar", "goal"
        );
    }

    /// Adds a line of the table.
    pub fn add(&mut self, measured: &Measured) {
        self.row(Row::of(measured, self.size.scale));
    }

    /// Adds a line.
    pub fn row(&mut self, row: Row) {
        match &row.summary {
            Err(reason) if self.is_json => println!("{}", json_without_figures(&row, reason)),
            Err(reason) => println!("{:<34} not measured: {reason}", row.name),
            Ok(summary) => {
                let is_judged = !self.size.quick && !row.bar.is_empty();
                let holds = is_judged.then(|| summary.holds(&row.bar));
                self.judged += usize::from(holds.is_some());
                self.missed += usize::from(holds == Some(false));
                if self.is_json {
                    println!("{}", json(&row, summary, holds, &self.distrust(&row, summary)));
                } else {
                    self.print(&row, summary, holds);
                }
            }
        }
    }

    /// Says how many bars were missed.
    pub fn finish(&self) {
        if !self.is_json && self.judged > 0 {
            println!("{} of {} bars missed", self.missed, self.judged);
        }
    }

    fn distrust(&self, row: &Row, summary: &Summary) -> Vec<String> {
        if self.size.quick {
            return vec!["a quick run".into()];
        }
        let mut reasons = summary.distrust.clone();
        if summary.is_close(&row.bar) {
            reasons.push("the bar is within the interval".into());
        }
        reasons
    }

    fn print(&self, row: &Row, summary: &Summary, holds: Option<bool>) {
        let reaches_goal = !row.goal.is_empty() && summary.holds(&row.goal);
        let holds = match holds {
            None => "-",
            Some(false) => "NO",
            Some(true) if reaches_goal => "yes, goal too",
            Some(true) => "yes",
        };
        let [low, high] = summary.interval;
        println!(
            "{:<34} {:>14} {:<10} {:>14} {:>8} {:<15} {:<34} {:<27} {:<27} {holds}",
            row.name,
            number(summary.ours),
            row.unit,
            number(summary.limit),
            number(summary.ratio),
            format!("{}..{}", number(low), number(high)),
            row.limit_name,
            texts(&row.bar),
            texts(&row.goal),
        );
        if !self.size.quick {
            let reasons = self.distrust(row, summary);
            if !reasons.is_empty() {
                println!("{:<34} distrust: {}", "", reasons.join("; "));
            }
        }
    }
}

fn json(row: &Row, summary: &Summary, holds: Option<bool>, distrust: &[String]) -> serde_json::Value {
    let marks = |marks: &[Mark]| if marks.is_empty() { None } else { Some(texts(marks)) };
    json!({
        "name": row.name, "value": summary.ours, "unit": row.unit, "limit": summary.limit,
        "ratio": summary.ratio, "bar": marks(&row.bar), "goal": marks(&row.goal),
        "interval": summary.interval, "holds": holds, "distrust": distrust,
    })
}

fn json_without_figures(row: &Row, reason: &str) -> serde_json::Value {
    json!({
        "name": row.name, "value": null, "unit": row.unit, "limit": null, "ratio": null, "bar": null,
        "goal": null, "interval": null, "holds": null, "distrust": [format!("not measured: {reason}")],
    })
}

fn texts(marks: &[Mark]) -> String {
    let text = |mark: &Mark| match mark {
        Mark::RatioAtLeast(ratio) => format!("ratio >= {ratio:.2}"),
        Mark::RatioAtMost(ratio) => format!("ratio <= {ratio:.1}"),
        Mark::AtLeast(value) => format!(">= {}", number(*value)),
        Mark::AtMost(value) => format!("<= {}", number(*value)),
    };
    marks.iter().map(text).collect::<Vec<_>>().join(", ")
}

/// A number with its thousands apart, or with two or three decimals if it is small.
fn number(value: f64) -> String {
    if value.abs() < 1.0 {
        return format!("{value:.3}");
    }
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

#[cfg(test)]
mod tests {
    use super::super::summary::Pair;
    use super::*;

    #[test]
    fn numbers_are_grouped_or_have_decimals() {
        assert_eq!([0.1234, 5.0, 99.994, 1_234_567.8].map(number), ["0.123", "5.00", "99.99", "1,234,568"]);
    }

    #[test]
    fn an_object_has_the_fields_that_others_read() {
        let summary = Summary::of(&[vec![Pair { ours: 2.0, limit: 4.0 }]]);
        let row = Row {
            name: "get-1".into(),
            unit: "gets/s",
            limit_name: "a map",
            summary: Ok(summary.clone()),
            bar: vec![Mark::RatioAtLeast(0.4)],
            goal: Vec::new(),
        };
        let expected = json!({
            "name": "get-1", "value": 2.0, "unit": "gets/s", "limit": 4.0, "ratio": 0.5,
            "bar": "ratio >= 0.40", "goal": null, "interval": [0.5, 0.5], "holds": true, "distrust": ["x"],
        });
        assert_eq!(json(&row, &summary, Some(true), &["x".into()]), expected);
    }
}
