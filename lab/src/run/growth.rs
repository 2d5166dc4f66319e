//! Growth: the factor of the cost of one operation with ten times the elements, compared with the factor of the limit.
//! A tail value is not a cost of one operation: it must meet the bar of the line at ten times the size, too.

use super::catalogue::{Growth, Line, MEMORY, Mark, SAME_WORK};
use super::measured::Measured;
use super::report::Row;
use super::size::Size;
use super::summary::{Pair, Summary};

const BAR: &[Mark] = &[Mark::RatioAtMost(1.5)];
const GOAL: &[Mark] = &[Mark::RatioAtMost(1.2)];

/// True for lines whose cost can be compared between sizes.
pub fn is_compared(line: &Line) -> bool {
    line.growth != Growth::Apart
}

/// The growth of the cost of an operation from the first size to the second, or the tail value at the second; `None` if
/// the first was not measured. Each size has all measured lines.
pub fn compare(large: &Measured, sizes: [(Size, &[Measured]); 2]) -> Option<Row> {
    let line = large.line;
    if !sizes[0].1.iter().any(|small| small.line.name == line.name) {
        return None;
    }
    if line.growth == Growth::Tail {
        return Some(Row { name: format!("grown-{}", line.name), ..Row::of(large, sizes[1].0.scale) });
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
    // The cost of a plain structure or of memory is measured, not judged.
    let is_judged = ![SAME_WORK, MEMORY].iter().any(|end| line.name.ends_with(end));
    let marks = |marks: &[Mark]| if is_judged { marks.to_vec() } else { Vec::new() };
    Some(Row {
        name: format!("growth-{}", line.name),
        unit: "times",
        limit_name: "growth of the limit",
        summary,
        bar: marks(BAR),
        goal: marks(GOAL),
    })
}

/// The cost of one operation, or of all elements, at the first size in each turn. If reads of memory were measured,
/// they replace the limit. A limit that is Annals itself must not hide growth: the time of a plain structure for the
/// same work replaces it, or, without that, a limit that does not grow.
fn costs(line: &Line, size: Size, all: &[Measured]) -> Result<Vec<Vec<Pair>>, String> {
    let named = |name: &str| all.iter().find(|measured| measured.line.name == name);
    let figures = named(line.name).map_or(Err("it was not measured".into()), Measured::turns)?;
    let beside = |end: &str| named(&format!("{}{end}", line.name)).map(Measured::turns).transpose();
    let instead = match beside(MEMORY)? {
        None if line.is_beside_itself() => beside(SAME_WORK)?,
        memory => memory,
    };
    let cost = |value: f64| match line.growth {
        Growth::Rate => 1.0 / value,
        Growth::Total => value / size.scale as f64,
        Growth::Cost | Growth::Tail | Growth::Apart => value,
    };
    let limit = |round: usize, turn: usize, pair: &Pair| match instead {
        Some(instead) => cost(instead[round][turn].ours),
        None if line.is_beside_itself() => 1.0,
        None => cost(pair.limit),
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
    use super::super::measured::Figures;
    use super::*;

    #[test]
    fn a_cost_must_not_grow_and_a_tail_must_keep_its_bar() {
        let measured = |name, ours| {
            let figures = Figures { rounds: vec![vec![Pair { ours, limit: 2.0 }]], others: 0.0 };
            [Measured { line: Line::named(name).unwrap(), figures: Ok(figures) }]
        };
        let [first, second] = [1, 10].map(|scale| Size { scale, quick: false });
        let row = |name| {
            let (few, many) = (measured(name, 1.0), measured(name, 5.0));
            compare(&many[0], [(first, &few), (second, &many)]).unwrap()
        };
        let (cost, tail) = (row("reopen-log"), row("commit-1-p99"));
        let ratio = |row: &Row| row.summary.as_ref().unwrap().ratio;
        assert_eq!((&*cost.name, ratio(&cost), &cost.bar[..]), ("growth-reopen-log", 0.2, BAR));
        assert_eq!(
            (&*tail.name, ratio(&tail), &tail.bar[..]),
            ("grown-commit-1-p99", 2.5, &[Mark::RatioAtMost(3.0)][..])
        );
        let (few, many) = (measured("commit-1", 1.0), measured("commit-10", 1.0));
        assert!(compare(&many[0], [(first, &few), (second, &many)]).is_none());
    }

    #[test]
    fn a_limit_gives_way_to_memory_and_one_that_is_annals_itself_to_a_plain_structure_or_does_not_grow() {
        let measured = |name, ours| {
            let figures = Figures { rounds: vec![vec![Pair { ours, limit: 8.0 }]], others: 0.0 };
            Measured { line: Line::named(name).unwrap(), figures: Ok(figures) }
        };
        let few = ["as-of-10", "wide-add", "find-eq", "get-1", "memory"];
        let all = few.map(|name| measured(name, 4.0));
        let beside = [("as-of-10-same-work", 2.0), ("find-eq-same-work", 2.0), ("get-1-memory", 5.0)];
        let all: Vec<Measured> =
            all.into_iter().chain(beside.map(|(name, ours)| measured(name, ours))).collect();
        let size = Size { scale: 10, quick: false };
        let limit = |name| costs(Line::named(name).unwrap(), size, &all).unwrap()[0][0].limit;
        assert_eq!(few.map(limit), [2.0, 1.0, 0.125, 0.2, 0.8]);
    }
}
