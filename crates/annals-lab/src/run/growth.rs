//! Growth: what one operation costs with ten times the elements, beside what it costs at the first size; and the same of the
//! limit, which tells how much of that the machine takes, whatever the structure.

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

/// Reports what an operation of a line costs at the second size, beside the first.
pub fn compare(first: &[Measured], size: Size, large: &Measured, grown: Size, report: &mut Report) {
    let Some(small) = first.iter().find(|small| small.line.name == large.line.name) else { return };
    let unit = if large.line.growth == Growth::Rate { "µs" } else { large.line.unit };
    for (name, bar, goal, of_limit) in [("", BAR, GOAL, false), ("-of-the-limit", &[][..], &[][..], true)] {
        let summary = match (&large.figures, &small.figures) {
            (Ok(many), Ok(few)) => {
                let (many_costs, few_costs) =
                    (costs(large.line, grown, many, of_limit), costs(large.line, size, few, of_limit));
                let mut summary = Summary::of_costs(&many_costs, &few_costs);
                summary.distrust.extend(many.distrust());
                Ok(summary)
            }
            (Err(error), _) | (_, Err(error)) => Err(error.clone()),
        };
        report.row(Row {
            name: format!("growth-{}{name}", large.line.name),
            unit,
            limit_name: "itself at the first size",
            summary,
            bar: bar.to_vec(),
            goal: goal.to_vec(),
        });
    }
}

/// What one operation, or the elements of the first size, cost in each turn: us, or the limit.
fn costs(line: &Line, size: Size, figures: &Figures, of_limit: bool) -> Vec<Vec<Pair>> {
    let cost = |value: f64| match line.growth {
        Growth::Rate => 1e6 / value,
        Growth::Total => value / size.scale as f64,
        Growth::Cost | Growth::Apart => value,
    };
    let costs = |pair: &Pair| {
        let [ours, limit] = [cost(pair.ours), cost(pair.limit)];
        if of_limit { Pair { ours: limit, limit } } else { Pair { ours, limit } }
    };
    figures.rounds.iter().map(|turns| turns.iter().map(costs).collect()).collect()
}
