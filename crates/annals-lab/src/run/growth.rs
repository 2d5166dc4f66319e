//! Growth: what the cost of one operation grows by with ten times the elements, beside what that of the limit grows by.

use super::catalogue::{Growth, Line, Mark};
use super::limits::{Figures, Measured};
use super::report::{Report, Row};
use super::size::Size;
use super::summary::{Pair, Summary};

const BAR: &[Mark] = &[Mark::RatioAtMost(1.5)];
const GOAL: &[Mark] = &[Mark::RatioAtMost(1.2)];

/// True for lines whose cost can be compared between sizes.
pub fn is_compared(line: &Line) -> bool {
    line.growth != Growth::Apart
}

/// Reports what the cost of an operation of a line grows by from the first size to the second.
pub fn compare(first: &[Measured], size: Size, large: &Measured, grown: Size, report: &mut Report) {
    let Some(small) = first.iter().find(|small| small.line.name == large.line.name) else { return };
    let summary = match (&large.figures, &small.figures) {
        (Ok(many), Ok(few)) => {
            let mut summary =
                Summary::of_growth(&costs(large.line, grown, many), &costs(large.line, size, few));
            summary.distrust.extend(many.distrust());
            Ok(summary)
        }
        (Err(error), _) | (_, Err(error)) => Err(error.clone()),
    };
    report.row(Row {
        name: format!("growth-{}", large.line.name),
        unit: "times",
        limit_name: "growth of the limit",
        summary,
        bar: BAR.to_vec(),
        goal: GOAL.to_vec(),
    });
}

/// What one operation, or the elements of the first size, cost in each turn.
fn costs(line: &Line, size: Size, figures: &Figures) -> Vec<Vec<Pair>> {
    let cost = |value: f64| match line.growth {
        Growth::Rate => 1.0 / value,
        Growth::Total => value / size.scale as f64,
        Growth::Cost | Growth::Apart => value,
    };
    let costs = |pair: &Pair| Pair { ours: cost(pair.ours), limit: cost(pair.limit) };
    figures.rounds.iter().map(|turns| turns.iter().map(costs).collect()).collect()
}
