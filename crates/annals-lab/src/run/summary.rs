//! What many rounds say together: medians, an interval, and reasons to distrust them.

use super::catalogue::Mark;
use crate::graph::Random;

/// Samples that the interval is drawn from.
const RESAMPLES: usize = 2_000;
/// Spread between the quartiles, as a share of the median, beyond which figures scatter.
const SCATTER_MAX: f64 = 0.15;
/// Fewer rounds say little.
const ROUNDS_MIN: usize = 5;

/// What many rounds of one line say.
#[derive(Clone, Debug)]
pub struct Summary {
    /// Medians.
    pub ours: f64,
    pub limit: f64,
    pub ratio: f64,
    /// Where the median of the ratios lies with 95 % confidence.
    pub interval: [f64; 2],
    /// Why the figures may mislead.
    pub distrust: Vec<String>,
}

impl Summary {
    /// Of the figures of all rounds: ours, and the limit measured in turn with each.
    pub fn of(ours: &[f64], limits: &[f64]) -> Summary {
        let ratios: Vec<f64> = ours.iter().zip(limits).map(|(ours, limit)| ours / limit).collect();
        let interval = bootstrap(|random| median(resampled(&ratios, random)));
        let mut distrust = Vec::new();
        if ratios.len() < ROUNDS_MIN {
            distrust.push(format!("only {} rounds", ratios.len()));
        }
        for (name, values) in [("ours", ours), ("the limit", limits), ("the ratio", &ratios)] {
            let scatter = scatter(values);
            if scatter > SCATTER_MAX {
                distrust.push(format!("{name} scatters by {:.0} %", 100.0 * scatter));
            }
        }
        let ours = median(ours.to_vec());
        Summary { ours, limit: median(limits.to_vec()), ratio: median(ratios), interval, distrust }
    }

    /// True if all marks are reached.
    pub fn holds(&self, marks: &[Mark]) -> bool {
        marks.iter().all(|mark| mark.holds(self.ours, self.ratio))
    }

    /// True if the interval leaves open whether the marks on the ratio are reached.
    pub fn is_close(&self, marks: &[Mark]) -> bool {
        let [low, high] = self.interval;
        marks.iter().filter_map(|mark| mark.ratio()).any(|mark| low < mark && mark < high)
    }
}

/// Where the ratio of two medians lies, with 95 % confidence.
pub fn interval_of_medians(above: &[f64], below: &[f64]) -> [f64; 2] {
    bootstrap(|random| median(resampled(above, random)) / median(resampled(below, random)))
}

/// The middle one; between the two in the middle if their number is even.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    quantile(&values, 0.5)
}

/// The value below which this share of `sorted` lies. Not a number if there is none.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else { return f64::NAN };
    let place = share * last as f64;
    let (below, above) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
    below + (above - below) * place.fract()
}

/// Spread between the quartiles, as a share of the median.
fn scatter(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    (quantile(&sorted, 0.75) - quantile(&sorted, 0.25)) / quantile(&sorted, 0.5)
}

/// Source: B. Efron, "Bootstrap methods: another look at the jackknife", 1979 (percentile interval).
fn bootstrap(draw: impl Fn(&mut Random) -> f64) -> [f64; 2] {
    let mut random = Random::new(95);
    let mut drawn: Vec<f64> = (0..RESAMPLES).map(|_| draw(&mut random)).collect();
    drawn.sort_by(f64::total_cmp);
    [quantile(&drawn, 0.025), quantile(&drawn, 0.975)]
}

fn resampled(values: &[f64], random: &mut Random) -> Vec<f64> {
    values.iter().map(|_| values[random.below(values.len())]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ratio_is_the_median_of_the_ratios() {
        let summary = Summary::of(&[1.0, 4.0, 9.0], &[1.0, 2.0, 3.0]);
        assert_eq!((summary.ours, summary.limit, summary.ratio), (4.0, 2.0, 2.0));
        assert_eq!(summary.interval, [1.0, 3.0]);
    }

    #[test]
    fn steady_rounds_are_trusted_and_others_are_not() {
        let steady = Summary::of(&[10.0, 10.1, 10.2, 10.0, 10.1], &[20.0; 5]);
        assert_eq!(steady.distrust, Vec::<String>::new());
        let wild = Summary::of(&[10.0, 20.0, 10.0, 20.0, 10.0], &[20.0; 5]);
        assert_eq!(wild.distrust, ["ours scatters by 100 %", "the ratio scatters by 100 %"]);
    }

    #[test]
    fn a_mark_within_the_interval_is_close() {
        let summary = Summary::of(&[1.0, 4.0, 9.0], &[1.0, 2.0, 3.0]);
        assert!(summary.is_close(&[Mark::RatioAtLeast(1.5)]) && summary.holds(&[Mark::RatioAtLeast(1.5)]));
        assert!(!summary.is_close(&[Mark::RatioAtLeast(3.5)]) && !summary.holds(&[Mark::AtLeast(4.5)]));
    }
}
