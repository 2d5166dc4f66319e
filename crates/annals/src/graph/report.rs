//! The report of a check.

use super::structures::slot_set::Extents;
use crate::structures::key_set::KeySet;
use crate::structures::vector::Vector;

/// Most differences in a report.
pub(crate) const DIFFERENCES_MAX: usize = 100;

/// Number of instances that are compared between two questions whether the comparison is to end early.
pub(crate) const UNASKED: u32 = 4_096;

/// Collects differences up to the bound.
#[derive(Default)]
pub(crate) struct Differences {
    differences: Vec<String>,
    // The subject of the next differences, e.g. "entity ".
    about: &'static str,
}

impl Differences {
    pub(crate) fn into_lines(self) -> Vec<String> {
        self.differences
    }

    /// Sets the subject of the next differences.
    pub(crate) fn about(&mut self, what: &'static str) {
        self.about = what;
    }

    pub(crate) fn add(&mut self, text: impl FnOnce() -> String) {
        if self.differences.len() < DIFFERENCES_MAX {
            self.differences.push(format!("{}{}", self.about, text()));
        }
    }

    pub(crate) fn compare_sets(&mut self, what: &str, expected: &Vector<KeySet>, found: &Vector<KeySet>) {
        let none = KeySet::new();
        for at in 0..expected.len().max(found.len()) {
            let (expected, found) = (expected.get(at).unwrap_or(&none), found.get(at).unwrap_or(&none));
            self.compare_keys(&format!("{what}, set {at}"), expected, found);
        }
    }

    pub(crate) fn compare_keys(&mut self, what: &str, expected: &KeySet, found: &KeySet) {
        if expected.len() != found.len() || !expected.iter().eq(found.iter()) {
            self.add(|| format!("{what}: expected {} keys, found {} or others", expected.len(), found.len()));
        }
    }

    pub(crate) fn compare_extents(&mut self, what: &str, expected: &Extents, found: &Extents) {
        if expected != found {
            self.add(|| {
                format!("{what}: expected {} slots, found {} or others", expected.len(), found.len())
            });
        }
    }
}
