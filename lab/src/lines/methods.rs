//! methods-…: the rows of a metadata repository with 4,920 instances; each line is the worst row of its kind.

use crate::methods::worst_of_smallest;
use crate::outcome::Outcome;
use crate::run::{Job, Sample};

/// Units of the suite per unit of the line: writes are multiples, all other rows are in nanoseconds.
fn unit(line: &str) -> f64 {
    match line {
        "methods-write" => 1.0,
        "methods-walk" => 1.0,
        _ => 1e3,
    }
}

/// One round of all lines.
pub fn round(job: &Job) -> Outcome<Vec<Sample>> {
    let lines = worst_of_smallest(&job.folder)?;
    Ok(lines
        .into_iter()
        .map(|(line, worst, median)| Sample::new(line, worst / unit(line), median / unit(line)))
        .collect())
}
