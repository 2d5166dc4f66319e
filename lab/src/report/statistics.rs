//! Medians, intervals and ratios of repeats.

use std::collections::BTreeMap;

use super::numbers::figure;
use crate::graph::Random;
use crate::harness::{Better, Row};
use crate::run::{bootstrap, median};

/// Fewer repeats have no interval.
const REPEATS_MIN: usize = 3;

/// The 95 % confidence interval of the median, computed from the repeats.
pub fn interval_of_median(values: &[f64]) -> [f64; 2] {
    bootstrap(|random| median(drawn(values, random)))
}

/// How many times one figure is another one: once if both are zero, such as losses.
fn times(one: f64, other: f64) -> f64 {
    if one == other { 1.0 } else { one / other }
}

/// How many times one figure is another one, with the interval of 95 %.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    pub ratio: f64,
    pub interval: [f64; 2],
    /// Repeats of the side that has fewer.
    pub repeats: usize,
}

impl Ratio {
    /// Of figures by repeat. Repeats that both have are compared with each other, because they ran in turn; otherwise
    /// the medians are compared.
    pub fn of(ours: &BTreeMap<usize, f64>, theirs: &BTreeMap<usize, f64>) -> Option<Ratio> {
        let pairs: Vec<f64> =
            ours.iter().filter_map(|(repeat, ours)| Some(times(*ours, *theirs.get(repeat)?))).collect();
        if pairs.len() == ours.len().max(theirs.len()) && !pairs.is_empty() {
            let interval = interval_of_median(&pairs);
            return Some(Ratio { ratio: median(pairs.clone()), interval, repeats: pairs.len() });
        }
        Ratio::of_runs(ours, theirs)
    }

    /// The same of figures that were not measured in turn.
    pub fn of_runs(ours: &BTreeMap<usize, f64>, theirs: &BTreeMap<usize, f64>) -> Option<Ratio> {
        let [ours, theirs] = [ours, theirs].map(|values| values.values().copied().collect::<Vec<f64>>());
        if ours.is_empty() || theirs.is_empty() {
            return None;
        }
        let interval =
            bootstrap(|random| times(median(drawn(&ours, random)), median(drawn(&theirs, random))));
        let repeats = ours.len().min(theirs.len());
        Some(Ratio { ratio: times(median(ours), median(theirs)), interval, repeats })
    }

    /// The same seen from the other side.
    pub fn inverse(self) -> Ratio {
        let [low, high] = self.interval;
        Ratio { ratio: 1.0 / self.ratio, interval: [1.0 / high, 1.0 / low], ..self }
    }

    /// The interval in words; `None` of a single measurement.
    pub fn interval_text(self) -> Option<String> {
        let [low, high] = self.interval.map(figure);
        match self.repeats {
            1 => None,
            repeats if repeats < REPEATS_MIN => Some(format!("of {repeats} repeats")),
            _ => Some(format!("{low}–{high}")),
        }
    }

    /// The cells of a line about two builds or runs: how many times better the second one is, its interval, and the verdict.
    pub fn cells(self, worse: &str) -> [String; 3] {
        let verdict = match self {
            ratio if ratio.is_no_difference() => "no difference",
            ratio if ratio.ratio > 1.0 => "better",
            _ => worse,
        };
        [
            crate::run::figure(self.ratio),
            self.interval_text().unwrap_or_else(|| "measured once".into()),
            verdict.into(),
        ]
    }

    /// The same, seen so that above 1 is better.
    pub fn for_row(self, row: &Row) -> Ratio {
        if row.better == Better::More { self } else { self.inverse() }
    }

    /// True if the interval leaves open which figure is larger.
    pub fn is_no_difference(self) -> bool {
        let [low, high] = self.interval;
        low <= 1.0 && 1.0 <= high
    }
}

/// The geometric mean, of ratios; none of none.
pub fn geometric_mean(ratios: &[f64]) -> Option<f64> {
    let sum: f64 = ratios.iter().map(|ratio| ratio.ln()).sum();
    (!ratios.is_empty()).then(|| (sum / ratios.len() as f64).exp())
}

fn drawn(values: &[f64], random: &mut Random) -> Vec<f64> {
    (0..values.len()).map(|_| values[random.below(values.len())]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn by_repeat(values: &[f64]) -> BTreeMap<usize, f64> {
        values.iter().copied().enumerate().collect()
    }

    #[test]
    fn repeats_that_ran_in_turn_are_compared_with_each_other() {
        let (ours, theirs) = (by_repeat(&[10.0, 200.0, 3.0]), by_repeat(&[5.0, 100.0, 1.5]));
        let ratio = Ratio::of(&ours, &theirs).unwrap();
        assert_eq!(ratio, Ratio { ratio: 2.0, interval: [2.0, 2.0], repeats: 3 });
        assert!(!ratio.is_no_difference());
        assert_eq!(ratio.inverse().ratio, 0.5);
    }

    #[test]
    fn zeros_are_equal() {
        let ratio = Ratio::of(&by_repeat(&[0.0, 0.0, 0.0]), &by_repeat(&[0.0, 0.0, 0.0])).unwrap();
        assert_eq!((ratio.ratio, ratio.interval), (1.0, [1.0, 1.0]));
        assert_eq!(Ratio::of_runs(&by_repeat(&[0.0]), &by_repeat(&[0.0, 0.0])).unwrap().ratio, 1.0);
    }

    #[test]
    fn medians_are_compared_where_repeats_are_missing() {
        let ratio = Ratio::of(&by_repeat(&[10.0, 30.0, 20.0]), &by_repeat(&[10.0])).unwrap();
        assert_eq!(ratio.ratio, 2.0);
        assert_eq!(ratio.interval, [1.0, 3.0]);
        assert!(ratio.is_no_difference());
        assert_eq!(Ratio::of(&by_repeat(&[]), &by_repeat(&[1.0])), None);
    }

    #[test]
    fn the_geometric_mean_treats_twice_and_half_alike() {
        assert_eq!(geometric_mean(&[2.0, 0.5]), Some(1.0));
        assert_eq!(geometric_mean(&[]), None);
    }
}
