//! The versions that a transaction expects of instances, including instances that it only reads.

use crate::graph::actions::along::Along;
use crate::graph::{Graph, kind_of};
use crate::model::{Action, InstanceId, LogTag, Revision};
use crate::read::Snapshot;
use crate::record::CHANGES_MAX;
use crate::{Error, ErrorKind, Position, Result};

/// Most expectations of one transaction: as many as it may have changes.
const EXPECTATIONS_MAX: usize = CHANGES_MAX;

/// The expectation of a transaction about an instance.
#[derive(Clone, Debug)]
pub(in crate::write) enum Expected {
    /// The number of its latest version; 0 if it must not exist.
    Version(u32),
    /// Its birth, its latest version and its log.
    Revision(Revision),
    /// The further instances that an action on it takes along.
    Along(Box<(Action, Along)>),
}

/// Instances, each with what is expected of it.
#[derive(Clone, Debug, Default)]
pub(in crate::write) struct Expectations(Vec<(InstanceId, Expected)>);

impl Expectations {
    pub(in crate::write) fn add(&mut self, instance: &InstanceId, expected: Expected) -> Result<()> {
        if self.0.len() >= EXPECTATIONS_MAX {
            let text =
                format!("transaction: it expects at most {EXPECTATIONS_MAX} versions; commit in parts");
            return Err(Error::new(ErrorKind::TooLarge, text));
        }
        self.0.push((instance.clone(), expected));
        Ok(())
    }

    /// Checks them against a graph of `log` without the changes of the transaction.
    ///
    /// Errors: `PreconditionFailed`, naming the first mismatch; `Conflict` if an action takes other instances along.
    pub(in crate::write) fn check(&self, graph: &Graph, log: LogTag) -> Result<()> {
        self.0.iter().try_for_each(|(instance, expected)| {
            // An earlier id still names its instance here, as it does in the history.
            let table = graph.table(kind_of(instance));
            let slot = table.slot(instance.id()).or_else(|| table.former_ids.slot(instance.id()));
            let found = slot.and_then(|slot| {
                let (birth, version) = (Position(table.birth(slot)?), table.row(slot)?.versions());
                Some(Revision { birth, version, base: Position::ZERO, log })
            });
            check_one(graph, instance, expected, found)
        })
    }

    /// The same for edits of a candidate. `before` shows the earlier edits, and is of the same commits as the base of the
    /// transaction, on which it decided what an action takes along.
    pub(in crate::write) fn check_edits(&self, base: &Graph, before: &Snapshot) -> Result<()> {
        self.0.iter().try_for_each(|(instance, expected)| {
            check_one(base, instance, expected, before.revision(instance))
        })
    }
}

impl Expected {
    /// Errors: `PreconditionFailed` unless it expects that `instance` does not exist.
    pub(in crate::write) fn check_absent(&self, graph: &Graph, instance: &InstanceId) -> Result<()> {
        check_one(graph, instance, self, None)
    }
}

fn check_one(
    graph: &Graph,
    instance: &InstanceId,
    expected: &Expected,
    found: Option<Revision>,
) -> Result<()> {
    if let Expected::Along(along) = expected {
        let (action, expected) = &**along;
        if graph.taken_along(action) == *expected {
            return Ok(());
        }
        let verb = action.verb();
        let text = format!("{instance}: to {verb} it now takes other instances along than before; retry");
        return Err(Error::new(ErrorKind::Conflict, text));
    }
    let version = found.map_or(0, |found| found.version);
    let is_it = match expected {
        Expected::Version(expected) => version == *expected,
        Expected::Revision(expected) => found == Some(*expected),
        Expected::Along(_) => unreachable!("it was checked above"),
    };
    if is_it {
        return Ok(());
    }
    let told = |version: u32| match version {
        0 => "none".to_owned(),
        version => format!("version {version}"),
    };
    let (wanted, found_text) = match (expected, found) {
        (Expected::Revision(expected), Some(found)) => {
            let why = found.log.why_not(expected.log).map(|why| format!(", because {expected} {why}"));
            (format!("revision {expected}"), format!("revision {found}{}", why.unwrap_or_default()))
        }
        (Expected::Revision(expected), None) => (format!("revision {expected}"), told(0)),
        (Expected::Version(expected), _) => (told(*expected), told(version)),
        (Expected::Along(_), _) => unreachable!("it was checked above"),
    };
    let text = format!("{instance}: expected {wanted}, found {found_text}; read it again and decide again");
    let error = Error::new(ErrorKind::PreconditionFailed, text);
    Err(match found {
        Some(found) => error.with("latestVersion", found.version).with("revision", found),
        None => error,
    })
}
