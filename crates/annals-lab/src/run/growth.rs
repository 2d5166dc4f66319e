//! Growth: what the cost of one operation grows by with ten times the elements, beside what that of the limit grows by.

use super::catalogue::{Growth, Line, Mark, SAME_WORK};
use super::limits::Measured;
use super::report::{Report, Row};
use super::size::Size;
use super::summary::{Pair, Summary};

const BAR: &[Mark] = &[Mark::RatioAtMost(1.5)];
const GOAL: &[Mark] = &[Mark::RatioAtMost(1.2)];

/// True for lines whose cost can be compared between sizes.
pub fn is_compared(line: &Line) -> bool {
    line.growth != Growth::Apart
}

/// Reports what the cost of an operation of a line grows by from the first size to the second. Each size has all lines that
/// were measured.
pub fn compare(large: &Measured, sizes: [(Size, &[Measured]); 2], report: &mut Report) {
    let line = large.line;
    if !sizes[0].1.iter().any(|small| small.line.name == line.name) {
        return;
    }
    let costs = sizes.map(|(size, all)| costs(line, size, all));
    let summary = match (&costs[1], &costs[0], &large.figures) {
        (Ok(many), Ok(few), Ok(figures)) => {
            let mut summary = Summary::of_growth(many, few);
            summary.distrust.extend(figures.distrust());
            Ok(summary)
        }
        (Err(error), ..) | (_, Err(error), _) | (.., Err(error)) => Err(error.clone()),
    };
    // What a plain structure takes is measured, not judged.
    let marks = |marks: &[Mark]| if line.name.ends_with(SAME_WORK) { Vec::new() } else { marks.to_vec() };
    report.row(Row {
        name: format!("growth-{}", line.name),
        unit: "times",
        limit_name: "growth of the limit",
        summary,
        bar: marks(BAR),
        goal: marks(GOAL),
    });
}

/// What one operation, or the elements of the first size, cost in each turn. A limit that is Annals itself must not excuse
/// us: what a plain structure takes for the same work stands in its place, or, where that was not measured, one that does not
/// grow.
fn costs(line: &Line, size: Size, all: &[Measured]) -> Result<Vec<Vec<Pair>>, String> {
    let named = |name: &str| all.iter().find(|measured| measured.line.name == name);
    let figures = named(line.name).map_or(Err("it was not measured".into()), Measured::turns)?;
    let same_work = named(&format!("{}{SAME_WORK}", line.name)).map(Measured::turns).transpose()?;
    let cost = |value: f64| match line.growth {
        Growth::Rate => 1.0 / value,
        Growth::Total => value / size.scale as f64,
        Growth::Cost | Growth::Apart => value,
    };
    let limit = |round: usize, turn: usize, pair: &Pair| match same_work {
        _ if !line.is_beside_itself() => cost(pair.limit),
        Some(same_work) => cost(same_work[round][turn].ours),
        None => 1.0,
    };
    let costs = |(round, turns): (usize, &Vec<Pair>)| {
        let costs =
            |(turn, pair): (usize, &Pair)| Pair { ours: cost(pair.ours), limit: limit(round, turn, pair) };
        turns.iter().enumerate().map(costs).collect()
    };
    Ok(figures.iter().enumerate().map(costs).collect())
}

#[cfg(test)]
mod tests {
    use super::super::limits::Figures;
    use super::*;

    #[test]
    fn a_limit_that_is_annals_itself_gives_way_to_a_plain_structure_or_does_not_grow() {
        let measured = |name, ours| {
            let figures = Figures { rounds: vec![vec![Pair { ours, limit: 8.0 }]], others: 0.0 };
            Measured { line: Line::named(name).unwrap(), figures: Ok(figures) }
        };
        let all =
            ["as-of-10", "wide-add", "get-1", "get-1-same-work", "memory"].map(|name| measured(name, 4.0));
        let all: Vec<Measured> = all.into_iter().chain([measured("as-of-10-same-work", 2.0)]).collect();
        let size = Size { scale: 10, quick: false };
        let limit = |name| costs(Line::named(name).unwrap(), size, &all).unwrap()[0][0].limit;
        assert_eq!(["as-of-10", "wide-add", "get-1", "memory"].map(limit), [2.0, 1.0, 0.125, 0.8]);
    }
}
