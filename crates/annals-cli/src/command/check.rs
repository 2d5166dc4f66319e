//! `annals check`: rebuilds the graph from the log and compares it with the one in use.

use annals_exchange::text::counted;
use clap::Args;

use super::listing::json_of_line;
use crate::context::{Access, Context};
use crate::request::Request;
use crate::shown::Shown;
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
    let progress = context.waiting("check", Access::Read)?;
    let told = context.ask(Request::get("/v1/check").patient()).and_then(|mut answer| answer.whole());
    progress.finish();
    let told = told?;
    let report = json_of_line(&told)?;
    let report = Shown(&report);
    let texts = |name: &str| -> Vec<String> {
        report.all(name).filter_map(|text| text.0.as_str().map(str::to_owned)).collect()
    };
    let (differences, warnings) = (texts("differences"), texts("warnings"));
    if context.output.is_json() {
        context.output.json_line(&told)?;
    } else {
        for difference in &differences {
            context.output.line(difference)?;
        }
        for warning in &warnings {
            context.output.line(format!("warning: {warning}"))?;
        }
        context.output.line(format!(
            "checked {}, {}, {} at position {}: {}",
            counted(report.number("records"), "record"),
            counted(report.number("entities"), "entity"),
            counted(report.number("relationships"), "relationship"),
            report.number("position"),
            verdict(differences.len(), warnings.len())
        ))?;
    }
    if differences.is_empty() { Ok(()) } else { Err(Stop::Silent(DAMAGED)) }
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
