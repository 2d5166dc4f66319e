//! The summary of many rounds: medians, an interval, and reasons to distrust them.

use super::catalogue::Mark;
use crate::graph::Random;

/// Number of samples for the interval.
const RESAMPLES: usize = 2_000;
/// Spread between the quartiles, as a share of the median, beyond which figures scatter.
const SCATTER_MAX: f64 = 0.15;
/// Fewer rounds are not enough.
const ROUNDS_MIN: usize = 5;

/// Annals and the limit, measured in turn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pair {
    pub ours: f64,
    pub limit: f64,
}

/// The turns of each round. Turns of one round run in the same processes, so they count less than as many rounds.
pub type Rounds = [Vec<Pair>];

/// The summary of many rounds of one line.
#[derive(Clone, Debug)]
pub struct Summary {
    /// Medians.
    pub ours: f64,
    pub limit: f64,
    pub ratio: f64,
    /// The 95 % confidence interval of the median of the ratios.
    pub interval: [f64; 2],
    /// Reasons why the figures may mislead.
    pub distrust: Vec<String>,
}

impl Summary {
    /// Of all rounds; each has at least one turn.
    pub fn of(rounds: &Rounds) -> Summary {
        let all = |value: fn(&Pair) -> f64| -> Vec<f64> { rounds.iter().flatten().map(value).collect() };
        let (ours, limits, ratios) = (all(|pair| pair.ours), all(|pair| pair.limit), all(ratio));
        let mut distrust = Vec::new();
        if rounds.len() < ROUNDS_MIN {
            distrust.push(format!("rounds: {} of {ROUNDS_MIN}", rounds.len()));
        }
        for (name, values) in [("ours", &ours), ("the limit", &limits), ("the ratio", &ratios)] {
            distrust.extend(scatter_of(name, values));
        }
        let interval = bootstrap(|random| median(resampled(rounds, ratio, random)));
        Summary { ours: median(ours), limit: median(limits), ratio: median(ratios), interval, distrust }
    }

    /// The summary of the growth of costs between two sizes, as a factor; that of the limit as far as it grows. The
    /// sizes were measured one after the other.
    pub fn of_growth(many: &Rounds, few: &Rounds) -> Summary {
        let [ours, limit]: [fn(&Pair) -> f64; 2] = [|pair| pair.ours, |pair| pair.limit];
        let all = |rounds: &Rounds, cost| -> Vec<f64> { rounds.iter().flatten().map(cost).collect() };
        let growth = |cost| median(all(many, cost)) / median(all(few, cost));
        let mut distrust = Vec::new();
        distrust.extend(scatter_of("ten times the size", &all(many, ours)));
        distrust.extend(scatter_of("the first size", &all(few, ours)));
        let interval = bootstrap(|random| {
            let mut growth = |cost: fn(&Pair) -> f64| {
                median(resampled(many, cost, random)) / median(resampled(few, cost, random))
            };
            growth(ours) / growth(limit).max(1.0)
        });
        let (ours, limit) = (growth(ours), growth(limit));
        Summary { ours, limit, ratio: ours / limit.max(1.0), interval, distrust }
    }

    /// True if all marks are reached.
    pub fn holds(&self, marks: &[Mark]) -> bool {
        marks.iter().all(|mark| mark.holds(self.ours, self.ratio))
    }

    /// True if the interval does not decide whether the marks on the ratio are reached.
    pub fn is_close(&self, marks: &[Mark]) -> bool {
        let [low, high] = self.interval;
        marks.iter().filter_map(|mark| mark.ratio()).any(|mark| low < mark && mark < high)
    }
}

fn ratio(pair: &Pair) -> f64 {
    pair.ours / pair.limit
}

/// Why values scatter too much, if they do.
fn scatter_of(name: &str, values: &[f64]) -> Option<String> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let scatter = (quantile(&sorted, 0.75) - quantile(&sorted, 0.25)) / quantile(&sorted, 0.5);
    (scatter > SCATTER_MAX).then(|| format!("{name} scatters by {:.0} %", 100.0 * scatter))
}

/// The middle value; the mean of the two middle ones if their number is even.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    quantile(&values, 0.5)
}

/// The value below which this share of `sorted` lies. Not a number if there is none.
pub fn quantile(sorted: &[f64], share: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else { return f64::NAN };
    let place = share * last as f64;
    let (below, above) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
    below + (above - below) * place.fract()
}

/// The interval in which 95 of 100 drawn values lie.
///
/// Source: B. Efron, "Bootstrap methods: another look at the jackknife", 1979 (percentile interval).
pub fn bootstrap(draw: impl Fn(&mut Random) -> f64) -> [f64; 2] {
    let mut random = Random::new(95);
    let mut drawn: Vec<f64> = (0..RESAMPLES).map(|_| draw(&mut random)).collect();
    drawn.sort_by(f64::total_cmp);
    [quantile(&drawn, 0.025), quantile(&drawn, 0.975)]
}

/// Values of as many rounds, drawn with replacement: whole rounds, because the turns of one depend on each other.
fn resampled(rounds: &Rounds, value: impl Fn(&Pair) -> f64, random: &mut Random) -> Vec<f64> {
    (0..rounds.len()).flat_map(|_| rounds[random.below(rounds.len())].iter().map(&value)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A round for each pair.
    fn rounds(ours: &[f64], limits: &[f64]) -> Vec<Vec<Pair>> {
        ours.iter().zip(limits).map(|(ours, limit)| vec![Pair { ours: *ours, limit: *limit }]).collect()
    }

    #[test]
    fn the_ratio_is_the_median_of_the_ratios() {
        let summary = Summary::of(&rounds(&[1.0, 4.0, 9.0], &[1.0, 2.0, 3.0]));
        assert_eq!((summary.ours, summary.limit, summary.ratio), (4.0, 2.0, 2.0));
        assert_eq!(summary.interval, [1.0, 3.0]);
    }

    #[test]
    fn turns_of_one_round_do_not_narrow_the_interval() {
        let many_turns: Vec<Vec<Pair>> =
            rounds(&[1.0, 4.0, 9.0], &[1.0, 2.0, 3.0]).into_iter().map(|turns| turns.repeat(20)).collect();
        assert_eq!(Summary::of(&many_turns).interval, [1.0, 3.0]);
    }

    #[test]
    fn steady_rounds_are_trusted_and_others_are_not() {
        let steady = Summary::of(&rounds(&[10.0, 10.1, 10.2, 10.0, 10.1], &[20.0; 5]));
        assert_eq!(steady.distrust, Vec::<String>::new());
        let wild = Summary::of(&rounds(&[10.0, 20.0, 10.0, 20.0], &[20.0; 4]));
        assert_eq!(wild.distrust, ["rounds: 4 of 5", "ours scatters by 67 %", "the ratio scatters by 67 %"]);
    }

    #[test]
    fn a_mark_within_the_interval_is_close() {
        let summary = Summary::of(&rounds(&[1.0, 4.0, 9.0], &[1.0, 2.0, 3.0]));
        assert!(summary.is_close(&[Mark::RatioAtLeast(1.5)]) && summary.holds(&[Mark::RatioAtLeast(1.5)]));
        assert!(!summary.is_close(&[Mark::RatioAtLeast(3.5)]) && !summary.holds(&[Mark::AtLeast(4.5)]));
    }

    #[test]
    fn growth_is_judged_beside_that_of_the_limit_where_the_limit_grows() {
        let [few, many, cheaper] =
            [[2.0, 4.0], [6.0, 8.0], [6.0, 1.0]].map(|[ours, limit]| rounds(&[ours; 3], &[limit; 3]));
        let summary = Summary::of_growth(&many, &few);
        assert_eq!((summary.ours, summary.limit, summary.ratio), (3.0, 2.0, 1.5));
        assert_eq!(summary.interval, [1.5, 1.5]);
        let summary = Summary::of_growth(&cheaper, &few);
        assert_eq!((summary.limit, summary.ratio, summary.interval), (0.25, 3.0, [3.0, 3.0]));
    }
}
