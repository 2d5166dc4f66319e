//! Describes a suite: rows, volumes, parts and targets.

use std::ops::RangeInclusive;

use super::cell::Cell;
use super::record::{Form, Row};
use super::target::Target;
use crate::outcome::Outcome;

/// A published page that can be measured again on any of the targets.
pub struct Suite {
    pub name: &'static str,
    pub title: &'static str,
    /// The work that the suite measures, in a sentence or two.
    pub text: &'static str,
    pub rows: fn() -> Vec<Row>,
    pub form: Form,
    pub volumes: &'static [&'static str],
    /// Errors: if the text is no volume of the suite.
    pub check_volume: fn(&str) -> Outcome<()>,
    pub quick_volumes: &'static [&'static str],
    /// Repeats of each part [in a full run].
    pub repeats: usize,
    pub parts: &'static [Part],
    pub targets: &'static [Target],
    /// Why the comparison may be unfair, and to whom.
    pub unfair: &'static [&'static str],
    /// Why other systems are faster, where they are.
    pub reasons: &'static [Reason],
    /// Systems that are compared with another form of Annals than the subject of the page, and that form: both are asked
    /// in the same way, such as over HTTP.
    pub against: &'static [(&'static str, &'static str)],
    /// The lines of its page that others quote.
    pub quotes: &'static [Quote],
}

/// Why systems are faster than Annals in some rows.
pub struct Reason {
    /// Their names.
    pub targets: &'static [&'static str],
    /// How the names of these rows begin.
    pub rows: &'static [&'static str],
    pub text: &'static str,
}

/// Figures that other pages quote in one line.
pub struct Quote {
    /// The work that they measure: the line begins with it.
    pub text: &'static str,
    /// The first words of the names of their rows; all rows if empty.
    pub rows: &'static [&'static str],
    /// Their volumes; all if empty.
    pub volumes: &'static [&'static str],
}

/// Rows that are measured together, in one process.
#[derive(Clone, Copy)]
pub struct Part {
    pub name: &'static str,
    /// Their names; all rows of the suite if it has no other part that measures.
    pub rows: &'static [&'static str],
    /// Longest time of a cell in a full run. Units: seconds.
    pub seconds_max: u64,
    /// Measured once instead of in each repeat, with the calls of the system that sync counted.
    pub counts_syncs: bool,
    pub run: fn(&mut Cell) -> Outcome<()>,
}

/// Longest time of a cell in a quick run. Units: seconds.
const QUICK_SECONDS_MAX: u64 = 120;

/// The number in a volume.
///
/// Errors: unless it is in `range`; `what` names what it counts.
pub fn whole(volume: &str, what: &str, range: RangeInclusive<u32>) -> Outcome<u32> {
    let number = volume.parse().ok().filter(|number| range.contains(number));
    let expected = || format!("volume {volume:?}: expected {} to {} {what}", range.start(), range.end());
    Ok(number.ok_or_else(expected)?)
}

impl Quote {
    /// True if this figure is one of them.
    pub fn has(&self, row: &str, volume: &str) -> bool {
        let begins = |words: &&str| {
            row.strip_prefix(*words).is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
        };
        (self.rows.is_empty() || self.rows.iter().any(begins))
            && (self.volumes.is_empty() || self.volumes.contains(&volume))
    }
}

impl Part {
    /// Longest time of a cell. Units: seconds.
    pub fn seconds_max(&self, is_quick: bool) -> u64 {
        if is_quick { QUICK_SECONDS_MAX } else { self.seconds_max }
    }
}

impl Suite {
    /// The suite of this name.
    ///
    /// Errors: names those that exist.
    pub fn named(suites: &[&'static Suite], name: &str) -> Outcome<&'static Suite> {
        let names: Vec<&str> = suites.iter().map(|suite| suite.name).collect();
        let found = suites.iter().find(|suite| suite.name == name);
        Ok(*found.ok_or_else(|| format!("suite {name:?}: expected one of {}", names.join(", ")))?)
    }

    /// The target of this name, or the system that an option of this name adds.
    ///
    /// Errors: names those that exist.
    pub fn target(&self, name: &str, added: &[Target]) -> Outcome<Target> {
        let names: Vec<&str> = self.targets.iter().chain(added).map(|target| target.name).collect();
        let found = self.targets.iter().chain(added).find(|target| target.name == name).copied();
        let missing =
            || format!("target {name:?} of suite {}: expected one of {}", self.name, names.join(", "));
        Ok(found.ok_or_else(missing)?)
    }

    /// The rows that a part measures.
    pub fn rows_of(&self, part: &Part) -> Vec<String> {
        let measures = |part: &&Part| !part.counts_syncs;
        if part.rows.is_empty() && !part.counts_syncs && self.parts.iter().filter(measures).count() == 1 {
            return (self.rows)().into_iter().map(|row| row.name).collect();
        }
        part.rows.iter().map(|row| (*row).to_owned()).collect()
    }

    /// The part of this name.
    ///
    /// Errors: if there is none.
    pub fn part(&self, name: &str) -> Outcome<&'static Part> {
        let found = self.parts.iter().find(|part| part.name == name);
        Ok(found.ok_or_else(|| format!("suite {} has no part {name:?}", self.name))?)
    }
}
