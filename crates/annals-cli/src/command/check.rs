//! `annals check`: rebuilds the graph from the log and compares it with the one in use.

use annals_exchange::text::count;
use clap::Args;
use serde_json::json;

use crate::context::Context;
use crate::progress::Progress;
use crate::stop::{DAMAGED, Outcome, Stop};

/// Rebuild the graph from the log and compare it with the one in use
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  annals check
  annals -r /backup/monday check
It changes nothing and may run beside a writer. Exit code 5 if anything is wrong.")]
pub struct Arguments {}

/// Checks, and prints what differs.
pub fn run(context: &mut Context, _: &Arguments) -> Outcome {
    let repository = context.open_to_read()?;
    let progress = Progress::new("check", "records");
    let report = repository.check_with(|at, tail| progress.set(at.0, Some(tail.0)));
    progress.finish();
    let report = report?;
    let warnings = repository.warnings();
    if context.output.is_json() {
        context.output.json(&json!({
            "position": report.position.0,
            "records": report.records_count,
            "entities": report.entities_count,
            "relationships": report.relationships_count,
            "differences": &report.differences,
            "warnings": &warnings,
        }))?;
    } else {
        for difference in &report.differences {
            context.output.line(difference)?;
        }
        for warning in &warnings {
            context.output.line(format!("warning: {warning}"))?;
        }
        context.output.line(format!(
            "checked {} records, {} entities, {} relationships at position {}: {}",
            count(report.records_count),
            count(report.entities_count),
            count(report.relationships_count),
            report.position,
            verdict(report.differences.len(), warnings.len())
        ))?;
    }
    if report.is_clean() { Ok(()) } else { Err(Stop::Silent(DAMAGED)) }
}

fn verdict(differences: usize, warnings: usize) -> String {
    let number = |count: usize, one: &str| match count {
        0 => format!("no {one}s"),
        1 => format!("1 {one}"),
        _ => format!("{count} {one}s"),
    };
    match (differences, warnings) {
        (0, 0) => "all is well".to_owned(),
        (_, 0) => number(differences, "difference"),
        _ => format!("{}, {}", number(differences, "difference"), number(warnings, "warning")),
    }
}
