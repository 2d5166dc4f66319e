//! Results: a table for a terminal, a page in Markdown, or one JSON object per line.

use std::path::Path;

use serde_json::json;

use super::catalogue::Mark;
use super::machine::{self, Machine};
use super::measured::{Figures, Measured};
use super::page;
use super::size::Size;
use super::summary::Summary;
use crate::outcome::Outcome;

const QUICK: &str = "a quick run: it shows that all lines run and answer right; no bar is judged";

/// The text before the figures on the page.
const ABOUT: &str = "\
Each line is measured beside a limit: what this machine takes for the same work with a plain structure, a plain loop or a plain \
file. *Ours* and *limit* are medians, in the unit of the line. *Ratio* is the median of ours divided by the limit, of pairs that \
were measured in turn in fresh processes; its 95 % confidence interval, from the rounds of this run, is in parentheses. *Bar* is what \
must hold. docs/performance.md says what each line measures.";

/// Notes for readers of the figures.
const UNFAIR: &[&str] = &[
    "The limits do less than Annals. A hash map, a packed array or a loop of writes keeps no history, checks no types and knows no \
     transactions. Lines that end in *-same-work* say what a general structure takes for the same questions.",
    "The authors of Annals chose the lines and wrote both sides, and they look at these lines when they change Annals. No ratio \
     compares Annals with another database.",
    "The data are generated: random ids, instances of one shape, and mostly few relationships for each entity. Your data differ.",
    "Everything is in memory, and each side reads its data before the clock starts. A first read after a start takes longer. \
     `annals-lab run larger` measures more data than memory.",
    "Each thread waits for its answer before it asks again. Where requests come at their own pace, those behind a slow one wait \
     longer than the 99th percentiles here say.",
    "Over HTTP, the program that makes the load takes time on the same cores as the server.",
    "Where the limit is Annals itself in an easier case, the ratio says nothing of the machine.",
    "Other machines may share cores, caches and disk with this one, and a virtual disk may acknowledge writes that a power cut \
     takes back. Ours and the limit run in turn, so ratios suffer less from that than rates. Another machine or another hour gives \
     other figures; compare two builds in turn, on one machine.",
];

/// How figures are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A table for a terminal.
    Text,
    /// One JSON object per line.
    Json,
    /// A page.
    Markdown,
}

/// One line of the report.
pub struct Row {
    pub name: String,
    pub unit: &'static str,
    pub limit_name: &'static str,
    /// The result, or the reason why there is none.
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

/// Prints each line when it is ready, and counts.
pub struct Report {
    form: Form,
    size: Size,
    missed: usize,
    judged: usize,
}

impl Report {
    /// Nothing yet.
    pub fn new(form: Form, size: Size) -> Report {
        Report { form, size, missed: 0, judged: 0 }
    }

    /// Prints the machine. With JSON it prints to the other stream, so that each line stays an object.
    ///
    /// Errors: those of looking at the machine; `folder` is on the measured disk.
    pub fn begin(&self, folder: &Path) -> Outcome<()> {
        match self.form {
            Form::Json => eprintln!("{}", machine::describe()),
            Form::Text => {
                println!("{}", machine::describe());
                if self.size.quick {
                    println!("{QUICK}");
                }
                println!(
                    "{:<34} {:>14} {:<10} {:>14} {:>8} {:<15} {:<34} {:<27} {:<27} holds?",
                    "what", "ours", "unit", "limit", "ratio", "95 %", "limit is", "bar", "goal"
                );
            }
            Form::Markdown => {
                let mut machine = Machine::look(folder)?;
                machine.add_program("nginx", "-v");
                machine.add_program("wrk", "-v");
                let mut doubts = machine.doubts();
                doubts.extend(self.size.quick.then(|| QUICK.to_owned()));
                let columns = [
                    "what",
                    "unit",
                    "ours",
                    "limit",
                    "ratio (95 %)",
                    "bar",
                    "holds",
                    "the limit is",
                    "distrust",
                ];
                println!("{}", page::head("Annals beside the limits of a machine", ABOUT, &machine, &doubts));
                println!("## Lines\n\n{}", page::columns(columns));
            }
        }
        Ok(())
    }

    /// Adds a line of the table.
    pub fn add(&mut self, measured: &Measured) {
        self.row(Row::of(measured, self.size.scale));
    }

    /// Adds a line.
    pub fn row(&mut self, row: Row) {
        let is_judged = !self.size.quick && !row.bar.is_empty();
        let holds = row.summary.as_ref().ok().filter(|_| is_judged).map(|found| found.holds(&row.bar));
        self.judged += usize::from(holds.is_some());
        self.missed += usize::from(holds == Some(false));
        match self.form {
            Form::Json => println!("{}", json(&row, holds, &self.distrust(&row))),
            Form::Markdown => println!("{}", markdown(&row, holds, &self.distrust(&row))),
            Form::Text => self.print(&row, holds),
        }
    }

    /// Prints how many bars were missed, and on a page the notes for readers.
    pub fn finish(&self) {
        let is_markdown = self.form == Form::Markdown;
        if self.form != Form::Json && self.judged > 0 {
            let blank = if is_markdown { "\n" } else { "" };
            println!("{blank}{} of {} bars missed", self.missed, self.judged);
        }
        if is_markdown {
            print!("{}", page::foot(UNFAIR));
        }
    }

    fn distrust(&self, row: &Row) -> Vec<String> {
        match &row.summary {
            Err(reason) => vec![format!("not measured: {reason}")],
            Ok(_) if self.size.quick => vec!["a quick run".into()],
            Ok(summary) => {
                let close = summary.is_close(&row.bar).then(|| "the bar is within the interval".to_owned());
                summary.distrust.iter().cloned().chain(close).collect()
            }
        }
    }

    fn print(&self, row: &Row, holds: Option<bool>) {
        let summary = match &row.summary {
            Err(reason) => return println!("{:<34} not measured: {reason}", row.name),
            Ok(summary) => summary,
        };
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
            figure(summary.ours),
            row.unit,
            figure(summary.limit),
            figure(summary.ratio),
            format!("{}..{}", figure(low), figure(high)),
            row.limit_name,
            texts(&row.bar),
            texts(&row.goal),
        );
        let reasons = if self.size.quick { Vec::new() } else { self.distrust(row) };
        if !reasons.is_empty() {
            println!("{:<34} distrust: {}", "", reasons.join("; "));
        }
    }
}

fn json(row: &Row, holds: Option<bool>, distrust: &[String]) -> serde_json::Value {
    let summary = row.summary.as_ref().ok();
    let marks = |marks: &[Mark]| summary.filter(|_| !marks.is_empty()).map(|_| texts(marks));
    json!({
        "name": row.name, "value": summary.map(|found| found.ours), "unit": row.unit,
        "limit": summary.map(|found| found.limit), "ratio": summary.map(|found| found.ratio),
        "bar": marks(&row.bar), "goal": marks(&row.goal), "interval": summary.map(|found| found.interval),
        "holds": holds, "distrust": distrust,
    })
}

fn markdown(row: &Row, holds: Option<bool>, distrust: &[String]) -> String {
    let [ours, limit, ratio] = row.summary.as_ref().map_or_else(
        |_| [const { String::new() }; 3],
        |found| {
            let [low, high] = found.interval.map(figure);
            [figure(found.ours), figure(found.limit), format!("{} ({low}–{high})", figure(found.ratio))]
        },
    );
    page::row([
        &row.name,
        row.unit,
        &ours,
        &limit,
        &ratio,
        &texts(&row.bar),
        match holds {
            Some(true) => "yes",
            Some(false) => "NO",
            None => "",
        },
        row.limit_name,
        &distrust.join("; "),
    ])
}

fn texts(marks: &[Mark]) -> String {
    let text = |mark: &Mark| match mark {
        Mark::RatioAtLeast(ratio) => format!("ratio >= {ratio:.2}"),
        Mark::RatioAtMost(ratio) => format!("ratio <= {ratio:.1}"),
        Mark::AtLeast(value) => format!(">= {}", figure(*value)),
        Mark::AtMost(value) => format!("<= {}", figure(*value)),
    };
    marks.iter().map(text).collect::<Vec<_>>().join(", ")
}

/// A number with separated thousands, or with two or three decimals if it is small.
pub fn figure(value: f64) -> String {
    if value < 0.0 {
        return format!("-{}", figure(-value));
    }
    if value < 1.0 {
        return format!("{value:.3}");
    }
    if value < 100.0 {
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
    fn figures_are_grouped_or_have_decimals() {
        let figures = [0.1234, 5.0, 99.994, 1_234_567.8, -413.0].map(figure);
        assert_eq!(figures, ["0.123", "5.00", "99.99", "1,234,568", "-413"]);
    }

    #[test]
    fn an_object_has_the_fields_that_others_read() {
        let summary = Summary::of(&[vec![Pair { ours: 2.0, limit: 4.0 }]]);
        let row = Row {
            name: "get-1".into(),
            unit: "gets/s",
            limit_name: "a map",
            summary: Ok(summary),
            bar: vec![Mark::RatioAtLeast(0.4)],
            goal: Vec::new(),
        };
        let expected = json!({
            "name": "get-1", "value": 2.0, "unit": "gets/s", "limit": 4.0, "ratio": 0.5,
            "bar": "ratio >= 0.40", "goal": null, "interval": [0.5, 0.5], "holds": true, "distrust": ["x"],
        });
        assert_eq!(json(&row, Some(true), &["x".into()]), expected);
    }
}
