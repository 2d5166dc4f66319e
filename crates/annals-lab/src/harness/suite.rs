//! What a suite consists of.

use super::cell::Cell;
use super::install::Peer;
use super::record::Row;
use crate::outcome::Outcome;
use crate::{datastore, members, methods, threads};

/// Every suite.
pub const SUITES: &[&Suite] = &[&threads::SUITE, &methods::SUITE, &datastore::SUITE, &members::SUITE];

/// A published page that can be measured again on any of the targets.
pub struct Suite {
    pub name: &'static str,
    pub title: &'static str,
    /// What the suite measures, in a sentence or two.
    pub text: &'static str,
    pub rows: fn() -> Vec<Row>,
    pub volumes: &'static [&'static str],
    pub quick_volumes: &'static [&'static str],
    /// Repeats of each part [in a full run].
    pub repeats: usize,
    pub parts: &'static [Part],
    pub targets: &'static [Target],
    /// Why the comparison may be unfair, and to whom.
    pub unfair: &'static [&'static str],
}

/// Rows that are measured together, in one process.
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

/// A system that a suite measures.
#[derive(Clone, Copy)]
pub struct Target {
    pub name: &'static str,
    pub title: &'static str,
    pub kind: Kind,
    /// What has to be installed first; `None` if the target is a part of this program.
    pub peer: Option<Peer>,
}

/// What a target stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Annals.
    Ours,
    /// Another system, as its makers deliver it.
    Peer,
    /// Another system, with the settings that its makers recommend for such use.
    Tuned,
    /// The best that this machine can do.
    Limit,
    /// Nothing at all: what remains is the harness.
    Floor,
}

/// The suite of this name.
///
/// Errors: names those that exist.
pub fn suite(name: &str) -> Outcome<&'static Suite> {
    let names: Vec<&str> = SUITES.iter().map(|suite| suite.name).collect();
    let found = SUITES.iter().find(|suite| suite.name == name);
    Ok(*found.ok_or_else(|| format!("suite {name:?}: expected one of {}", names.join(", ")))?)
}

impl Suite {
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

impl std::str::FromStr for Target {
    type Err = String;

    /// A system of the user's own: `NAME=COMMAND`. Its name lives as long as the process.
    fn from_str(text: &str) -> Result<Target, String> {
        let expected = || format!("{text:?}: expected NAME=COMMAND, the name of letters, digits and hyphens");
        let (name, command) = text.split_once('=').ok_or_else(expected)?;
        let is_name = |name: &str| {
            !name.is_empty() && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '-')
        };
        if !is_name(name) || command.trim().is_empty() {
            return Err(expected());
        }
        let [name, command]: [&'static str; 2] =
            [name, command].map(|text| &*Box::leak(text.to_owned().into_boxed_str()));
        Ok(Target { name, title: name, kind: Kind::Peer, peer: Some(Peer::Command(command)) })
    }
}

impl std::fmt::Display for Target {
    /// The form that [`Target::from_str`] reads, of a system of the user's own.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let command = if let Some(Peer::Command(command)) = self.peer { command } else { "" };
        write!(f, "{}={command}", self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_system_of_the_users_own_is_a_name_and_a_command() {
        let target: Target = "mine=python3 adapter.py --x=1".parse().unwrap();
        assert_eq!(target.name, "mine");
        assert_eq!(target.to_string(), "mine=python3 adapter.py --x=1");
        for text in ["", "mine", "=x", "a/b=x", "mine= "] {
            assert!(text.parse::<Target>().is_err(), "{text}");
        }
    }

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
