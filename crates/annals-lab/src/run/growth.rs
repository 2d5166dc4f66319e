//! Growth: what one operation costs with ten times the elements, beside what it costs at the first size.

use super::catalogue::{Growth, Line, Mark};
use super::limits::{Figures, Measured};
use super::report::{Report, Row};
use super::size::Size;
use super::summary::{Summary, interval_of_medians};

const BAR: &[Mark] = &[Mark::RatioAtMost(1.5)];
const GOAL: &[Mark] = &[Mark::RatioAtMost(1.2)];

/// True for lines whose cost can be compared between sizes.
pub fn is_compared(line: &Line) -> bool {
    line.growth != Growth::Apart
}

/// Reports for each line what an operation costs at the second size, beside the first.
pub fn compare(first: &[Measured], size: Size, second: &[Measured], grown: Size, report: &mut Report) {
    for large in second {
        let Some(small) = first.iter().find(|small| small.line.name == large.line.name) else { continue };
        let row = match (&large.figures, &small.figures) {
            (Ok(many), Ok(few)) => {
                row(large.line, &costs(large.line, grown, many), &costs(large.line, size, few))
            }
            (Err(error), _) | (_, Err(error)) => Row::not_measured(name(large.line), unit(large.line), error),
        };
        report.row(row);
    }
}

fn row(line: &Line, many: &[f64], few: &[f64]) -> Row {
    let (above, below) = (Summary::of(many, many), Summary::of(few, few));
    let distrust = [("ten times the size", &above), ("the first size", &below)]
        .into_iter()
        .flat_map(|(which, summary)| {
            let own = summary.distrust.iter().filter(|reason| reason.starts_with("ours"));
            own.map(move |reason| format!("{which}: {reason}"))
        })
        .collect();
    let summary = Summary {
        ours: above.ours,
        limit: below.ours,
        ratio: above.ours / below.ours,
        interval: interval_of_medians(many, few),
        distrust,
    };
    Row {
        name: name(line),
        unit: unit(line),
        limit_name: "itself at the first size",
        summary: Ok(summary),
        bar: BAR.to_vec(),
        goal: GOAL.to_vec(),
    }
}

fn name(line: &Line) -> String {
    format!("growth-{}", line.name)
}

fn unit(line: &Line) -> &'static str {
    if line.growth == Growth::Rate { "µs" } else { line.unit }
}

/// What one operation, or the elements of the first size, cost in each round.
fn costs(line: &Line, size: Size, figures: &Figures) -> Vec<f64> {
    let cost = |value: &f64| match line.growth {
        Growth::Rate => 1e6 / value,
        Growth::Total => value / size.scale as f64,
        Growth::Cost | Growth::Apart => *value,
    };
    figures.ours.iter().map(cost).collect()
}
