//! Finds in a series of counts when a system was warm.

use crate::graph::Random;

/// Shuffles of the series that a change is compared with.
const SHUFFLES: usize = 200;
/// A change is believed if at most this share of the shuffled series shows as large a one.
const CHANCE_MAX: f64 = 0.01;
/// Changes of the mean below this share do not matter.
const DIFFERENCE_MIN: f64 = 0.05;
/// Shortest part of a series between two changes.
const PART_MIN: usize = 3;

/// The place from which the series stays at one level; `None` if it has not done so for its last half.
///
/// Source: binary segmentation on cumulative sums, with a permutation test for each change; the rule for the last level
/// follows E. Barrett et al., "Virtual machine warmup blows hot and cold", 2017.
pub fn steady_from(series: &[u64]) -> Option<usize> {
    let values: Vec<f64> = series.iter().map(|count| *count as f64).collect();
    let mut changes = vec![0];
    find_changes(&values, 0, &mut Random::new(7), &mut changes);
    changes.sort_unstable();
    changes.push(values.len());
    let parts: Vec<(usize, f64)> =
        changes.windows(2).map(|ends| (ends[0], mean(&values[ends[0]..ends[1]]))).collect();
    let (mut start, level) = *parts.last()?;
    for (earlier, mean) in parts.iter().rev().skip(1) {
        if (mean - level).abs() > DIFFERENCE_MIN * level.abs() {
            break;
        }
        start = *earlier;
    }
    (start * 2 <= values.len() && !values.is_empty()).then_some(start)
}

/// Adds the places at which the level of `values`, which begin at `offset`, changes.
fn find_changes(values: &[f64], offset: usize, random: &mut Random, changes: &mut Vec<usize>) {
    if values.len() < 2 * PART_MIN {
        return;
    }
    let (place, found) = largest_change(values);
    let mut shuffled = values.to_vec();
    let mut by_chance = 0;
    for _ in 0..SHUFFLES {
        for last in (1..shuffled.len()).rev() {
            shuffled.swap(last, random.below(last + 1));
        }
        by_chance += usize::from(largest_change(&shuffled).1 >= found);
    }
    if by_chance as f64 > CHANCE_MAX * SHUFFLES as f64 {
        return;
    }
    changes.push(offset + place);
    find_changes(&values[..place], offset, random, changes);
    find_changes(&values[place..], offset + place, random, changes);
}

/// The place that divides the values into the two most different parts, and how different: the weighted squared
/// difference of their means.
fn largest_change(values: &[f64]) -> (usize, f64) {
    let total: f64 = values.iter().sum();
    let (mut sum, mut best) = (0.0, (0, -1.0));
    for (place, value) in values.iter().enumerate() {
        let (before, after) = (place as f64, (values.len() - place) as f64);
        if place >= PART_MIN && values.len() - place >= PART_MIN {
            let difference = sum / before - (total - sum) / after;
            let weighted = difference * difference * before * after;
            if weighted > best.1 {
                best = (place, weighted);
            }
        }
        sum += value;
    }
    best
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts that scatter by a few percent.
    fn noisy(level: u64, count: usize, seed: u64) -> Vec<u64> {
        let mut random = Random::new(seed);
        (0..count).map(|_| level + random.below(1 + level as usize / 20) as u64).collect()
    }

    #[test]
    fn a_level_series_is_steady_from_its_start() {
        for seed in 0..20 {
            assert_eq!(steady_from(&noisy(1_000, 30, seed)), Some(0), "seed {seed}");
        }
    }

    #[test]
    fn a_slow_start_is_left_out() {
        for seed in 0..20 {
            let series = [noisy(200, 5, seed), noisy(1_000, 25, seed + 100)].concat();
            assert_eq!(steady_from(&series), Some(5), "seed {seed}");
        }
    }

    #[test]
    fn a_series_that_changes_late_never_got_steady() {
        let series = [noisy(1_000, 20, 1), noisy(300, 10, 2)].concat();
        assert_eq!(steady_from(&series), None);
        assert_eq!(steady_from(&[]), None);
    }
}
