//! The bootstrap interval of a median, computed instead of drawn.

/// Shares of the drawn medians that lie below the interval, and not above it.
const SHARES: [f64; 2] = [0.025, 0.975];
/// The mean and so many standard deviations around it hold all draws that matter.
const DEVIATIONS_MAX: f64 = 12.0;

/// The interval in which 95 % of the medians lie if the values are drawn again, as many, with replacement. It is the limit of
/// the drawn one for ever more draws, so that every report of the same values has the same interval.
///
/// Shape: both ends are values; `sorted` is ascending and not empty. Of an even number of values the upper one of the two in the
/// middle counts.
/// Source: B. Efron, "Bootstrap methods: another look at the jackknife", 1979, section 3: the bootstrap distribution of the
/// median is a binomial one.
pub fn median_interval(sorted: &[f64]) -> [f64; 2] {
    let draws = Draws::new(sorted.len());
    SHARES.map(|share| {
        // The first place whose value is the median, or above it, in more than this share of the draws.
        let (mut below, mut within) = (0, sorted.len());
        while within - below > 1 {
            let place = below.midpoint(within);
            if draws.share_with_median_within(place) < share { below = place } else { within = place }
        }
        sorted[within - 1]
    })
}

/// Draws of `count` values from as many.
struct Draws {
    count: usize,
    /// Shape: the logarithm of the factorial of each number up to `count`.
    ln_factorials: Vec<f64>,
}

impl Draws {
    fn new(count: usize) -> Draws {
        let mut ln_factorials = vec![0.0];
        ln_factorials.extend((1..=count).scan(0.0, |sum: &mut f64, number| {
            *sum += (number as f64).ln();
            Some(*sum)
        }));
        Draws { count, ln_factorials }
    }

    /// The share of the draws whose median is among the first `place` values: of which more than half of the draws are.
    fn share_with_median_within(&self, place: usize) -> f64 {
        let count = self.count;
        if place >= count {
            return 1.0;
        }
        let [within, beyond] = [place, count - place].map(|part| (part as f64 / count as f64).ln());
        let share_of = |drawn: usize| {
            let ln_ways =
                self.ln_factorials[count] - self.ln_factorials[drawn] - self.ln_factorials[count - drawn];
            (ln_ways + drawn as f64 * within + (count - drawn) as f64 * beyond).exp()
        };
        // Numbers of draws that are further from the mean have no weight.
        let mean = place as f64;
        let far = DEVIATIONS_MAX * (mean * (1.0 - mean / count as f64)).sqrt() + 1.0;
        let [first, last] = [(mean - far).max(0.0), mean + far].map(|drawn| drawn as usize);
        (first.max(count / 2 + 1)..=last.min(count)).map(share_of).sum()
    }
}
