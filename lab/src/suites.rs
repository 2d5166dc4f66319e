//! Every suite of the harness.

use crate::harness::Suite;
use crate::{datastore, gremlin_server, larger, lines, members, methods, pressure, threads};

/// In the order in which a newcomer should read their pages.
pub const SUITES: &[&Suite] = &[
    &threads::SUITE,
    &gremlin_server::SUITE,
    &methods::SUITE,
    &datastore::SUITE,
    &members::SUITE,
    &pressure::SUITE,
    &lines::SUITE,
    &larger::SUITE,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_measured_by_one_part_and_no_name_is_used_twice() {
        for suite in SUITES {
            let mut measured: Vec<String> = suite.parts.iter().flat_map(|part| suite.rows_of(part)).collect();
            let mut rows: Vec<String> = (suite.rows)().into_iter().map(|row| row.name).collect();
            measured.sort_unstable();
            rows.sort_unstable();
            assert_eq!(measured, rows, "{}", suite.name);
            rows.dedup();
            assert_eq!(rows, measured, "{}", suite.name);
            let mut names: Vec<&str> = suite.targets.iter().map(|target| target.name).collect();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), suite.targets.len(), "{}", suite.name);
        }
    }
}
