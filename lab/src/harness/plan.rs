//! The order of the cells of a run.

use crate::graph::Random;

/// One cell of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Planned {
    pub part: &'static str,
    pub target: &'static str,
    pub repeat: usize,
}

/// Every cell: in each repeat all parts, and in each part all targets, in an order drawn anew, so that no target always
/// runs after the same other one. Parts that count syncs come first and once.
pub fn cells(parts: &[(&'static str, bool)], targets: &[&'static str], repeats: usize) -> Vec<Planned> {
    let mut cells = Vec::new();
    for repeat in 0..repeats {
        let mut random = Random::new(repeat as u64);
        for (part, is_once) in parts {
            if *is_once && repeat > 0 {
                continue;
            }
            let mut targets = targets.to_vec();
            for last in (1..targets.len()).rev() {
                targets.swap(last, random.below(last + 1));
            }
            cells.extend(targets.into_iter().map(|target| Planned { part, target, repeat }));
        }
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_take_turns_and_a_part_that_is_measured_once_comes_once() {
        let targets = ["a", "b", "c", "d"];
        let cells = cells(&[("syncs", true), ("work", false)], &targets, 5);
        let of = |part: &str, repeat: usize| -> Vec<&str> {
            let found = cells.iter().filter(|cell| cell.part == part && cell.repeat == repeat);
            found.map(|cell| cell.target).collect()
        };
        assert_eq!(cells.len(), 4 + 5 * 4);
        assert!(of("syncs", 1).is_empty());
        let orders: Vec<Vec<&str>> = (0..5).map(|repeat| of("work", repeat)).collect();
        for order in &orders {
            let mut sorted = order.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, targets);
        }
        assert!(orders.iter().any(|order| order != &orders[0]), "{orders:?}");
    }
}
