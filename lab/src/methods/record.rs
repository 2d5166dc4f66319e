//! The measurements: every sample, by row.

use std::time::Duration;

use super::row::{Method, ROWS};

/// Number of slowest samples that are kept with a description.
const SLOWEST_MAX: usize = 10;

/// The page of a sample, or another kind of sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The whole call, or the only page.
    Whole,
    /// The first of several pages.
    First,
    /// A page between the first and the last.
    Middle,
    /// The last of several pages.
    Last,
    /// A search for input of other rows.
    LookUp,
}

/// One call.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    pub elapsed_ns: u64,
    /// Returned or visited elements.
    pub elements: u32,
    pub part: Part,
}

/// All samples of one row.
#[derive(Default)]
pub struct Samples {
    pub all: Vec<Sample>,
    /// One durable write for some of the samples. Units: nanoseconds.
    pub syncs_ns: Vec<u64>,
    /// The slowest, slowest first. Shape: nanoseconds, description.
    pub slowest: Vec<(u64, String)>,
    /// Refused calls, which are not recorded, as in the original.
    pub refused: usize,
    /// The error of the first of them.
    pub first_refusal: Option<String>,
}

/// All samples of a run.
pub struct Record {
    rows: Vec<Samples>,
    /// The rows that were measured before the present phase.
    earlier: Vec<bool>,
}

impl Record {
    /// Nothing yet.
    pub fn new() -> Record {
        Record { rows: ROWS.iter().map(|_| Samples::default()).collect(), earlier: vec![false; ROWS.len()] }
    }

    /// A phase begins.
    pub fn begin_phase(&mut self) {
        let is_measured = |row: &Samples| row.all.iter().any(|sample| sample.part != Part::LookUp);
        self.earlier = self.rows.iter().map(is_measured).collect();
    }

    /// True if the row with this number was measured before the present phase: later phases may add look-ups to it.
    pub fn is_earlier(&self, number: usize) -> bool {
        self.earlier[number]
    }

    /// The samples of a row, to add to.
    pub fn of_mut(&mut self, method: Method) -> &mut Samples {
        &mut self.rows[method as usize]
    }

    /// The samples of the row with this number.
    pub fn at(&self, number: usize) -> &Samples {
        &self.rows[number]
    }
}

impl Samples {
    /// Adds a sample; `what` is called only if it is among the slowest.
    pub fn add(&mut self, elapsed: Duration, elements: usize, part: Part, what: impl FnOnce() -> String) {
        let elapsed_ns = u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX);
        self.all.push(Sample { elapsed_ns, elements: u32::try_from(elements).unwrap_or(u32::MAX), part });
        let is_slow = self.slowest.len() < SLOWEST_MAX
            || self.slowest.last().is_some_and(|(slowest, _)| elapsed_ns > *slowest);
        if is_slow {
            let at = self.slowest.partition_point(|(slower, _)| *slower >= elapsed_ns);
            self.slowest.insert(at, (elapsed_ns, what()));
            self.slowest.truncate(SLOWEST_MAX);
        }
    }

    /// Adds a refused call.
    pub fn refuse(&mut self, error: String) {
        self.refused += 1;
        self.first_refusal.get_or_insert(error);
    }

    /// The times of the samples for which `is_meant` is true, ascending. Units: nanoseconds.
    pub fn sorted_ns(&self, is_meant: impl Fn(&Sample) -> bool) -> Vec<u64> {
        let mut sorted: Vec<u64> =
            self.all.iter().filter(|sample| is_meant(sample)).map(|sample| sample.elapsed_ns).collect();
        sorted.sort_unstable();
        sorted
    }

    /// Median time of the durable writes for the samples. Units: nanoseconds; `None` if there are none.
    pub fn median_sync_ns(&self) -> Option<u64> {
        let mut sorted = self.syncs_ns.clone();
        sorted.sort_unstable();
        quantile(&sorted, 0.5)
    }

    /// Median time of one element of a sample. Units: nanoseconds; `None` without samples.
    pub fn median_ns_each(&self) -> Option<f64> {
        let each = |sample: &Sample| sample.elapsed_ns as f64 / f64::from(sample.elements.max(1));
        let mut sorted: Vec<f64> = self.all.iter().map(each).collect();
        sorted.sort_by(f64::total_cmp);
        sorted.get(sorted.len() / 2).copied()
    }
}

/// The value that this share of `sorted` does not exceed. `None` if there is none.
pub fn quantile(sorted: &[u64], share: f64) -> Option<u64> {
    let last = sorted.len().checked_sub(1)?;
    Some(sorted[(share * last as f64).round() as usize])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slowest_are_kept_with_what_they_were() {
        let mut samples = Samples::default();
        for number in 0..100u64 {
            samples.add(Duration::from_nanos(number * 7 % 100), 1, Part::Whole, || number.to_string());
        }
        let slowest: Vec<u64> = samples.slowest.iter().map(|(ns, _)| *ns).collect();
        assert_eq!(slowest, (90..100).rev().collect::<Vec<u64>>());
        assert_eq!(samples.slowest[0].1, "57");
        let sorted = samples.sorted_ns(|_| true);
        assert_eq!((quantile(&sorted, 0.5), quantile(&sorted, 1.0)), (Some(50), Some(99)));
        assert_eq!(quantile(&[], 0.5), None);
    }
}
