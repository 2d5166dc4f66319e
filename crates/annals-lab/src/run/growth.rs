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

/// What one operation, or the elements of the first size, cost in each turn. A limit that is Annals itself must not excuse
/// us: it counts as one that does not grow.
fn costs(line: &Line, size: Size, figures: &Figures) -> Vec<Vec<Pair>> {
    let cost = |value: f64| match line.growth {
        Growth::Rate => 1.0 / value,
        Growth::Total => value / size.scale as f64,
        Growth::Cost | Growth::Apart => value,
    };
    let limit = |pair: &Pair| if line.is_beside_itself() { 1.0 } else { cost(pair.limit) };
    let costs = |pair: &Pair| Pair { ours: cost(pair.ours), limit: limit(pair) };
    figures.rounds.iter().map(|turns| turns.iter().map(costs).collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_that_is_annals_itself_does_not_grow() {
        let figures = Figures { rounds: vec![vec![Pair { ours: 4.0, limit: 8.0 }]], others: 0.0 };
        let size = Size { scale: 10, quick: false };
        let limit = |name| costs(Line::named(name).unwrap(), size, &figures)[0][0].limit;
        assert_eq!(["as-of-10", "wide-add", "get-1", "memory"].map(limit), [1.0, 1.0, 0.125, 0.8]);
    }
}
