//! The measurements: every sample, by row.

use std::time::Duration;

use super::row::{Method, ROWS};
use crate::run::median;

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
    /// The error of the first refused call. Refused calls are not recorded, as in the original.
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
    /// Adds a sample.
    pub fn add(&mut self, elapsed: Duration, elements: usize, part: Part) {
        let elapsed_ns = u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX);
        self.all.push(Sample { elapsed_ns, elements: u32::try_from(elements).unwrap_or(u32::MAX), part });
    }

    /// Adds a refused call.
    pub fn refuse(&mut self, error: String) {
        self.first_refusal.get_or_insert(error);
    }

    /// The median time of the samples for which `is_meant` is true. Units: nanoseconds; `None` if there are none.
    pub fn median_ns(&self, is_meant: impl Fn(&Sample) -> bool) -> Option<f64> {
        middle(self.all.iter().filter(|sample| is_meant(sample)).map(|sample| sample.elapsed_ns as f64))
    }

    /// Median time of the durable writes for the samples. Units: nanoseconds; `None` if there are none.
    pub fn median_sync_ns(&self) -> Option<f64> {
        middle(self.syncs_ns.iter().map(|ns| *ns as f64))
    }

    /// Median time of one element of a sample. Units: nanoseconds; `None` without samples.
    pub fn median_ns_each(&self) -> Option<f64> {
        middle(self.all.iter().map(|sample| sample.elapsed_ns as f64 / f64::from(sample.elements.max(1))))
    }
}

fn middle(values: impl Iterator<Item = f64>) -> Option<f64> {
    let values: Vec<f64> = values.collect();
    (!values.is_empty()).then(|| median(values))
}
