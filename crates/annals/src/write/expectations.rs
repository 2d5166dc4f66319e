//! The versions that a transaction expects of instances, including instances that it only reads.

use crate::graph::{Graph, kind_of};
use crate::model::InstanceId;
use crate::record::CHANGES_MAX;
use crate::{Error, ErrorKind, Result};

/// Most expectations of one transaction: as many as it may have changes.
const EXPECTATIONS_MAX: usize = CHANGES_MAX;

/// Instances, each with the number of its latest version; 0 for an instance that does not exist.
#[derive(Clone, Debug, Default)]
pub(super) struct Expectations(Vec<(InstanceId, u32)>);

impl Expectations {
    pub(super) fn add(&mut self, instance: &InstanceId, version: u32) -> Result<()> {
        if self.0.len() >= EXPECTATIONS_MAX {
            let text =
                format!("transaction: it expects at most {EXPECTATIONS_MAX} versions; commit in parts");
            return Err(Error::new(ErrorKind::TooLarge, text));
        }
        self.0.push((instance.clone(), version));
        Ok(())
    }

    /// Checks them against a graph without the changes of the transaction.
    ///
    /// Errors: `PreconditionFailed`, naming the first mismatch.
    pub(super) fn check(&self, graph: &Graph) -> Result<()> {
        self.0.iter().try_for_each(|(instance, expected)| check_one(graph, instance, *expected))
    }
}

fn check_one(graph: &Graph, instance: &InstanceId, expected: u32) -> Result<()> {
    let table = graph.table(kind_of(instance));
    // An earlier id still names its instance here, as it does in the history.
    let slot = table.slot(instance.id()).or_else(|| table.former_ids.slot(instance.id()));
    let found = slot.and_then(|slot| table.row(slot)).map_or(0, |row| row.versions());
    if found == expected {
        return Ok(());
    }
    let told = |version: u32| match version {
        0 => "none".to_owned(),
        version => format!("version {version}"),
    };
    let (wanted, found_text) = (told(expected), told(found));
    let text = format!("{instance}: expected {wanted}, found {found_text}; read it again and decide again");
    let error = Error::new(ErrorKind::PreconditionFailed, text);
    Err(if found == 0 { error } else { error.with("latestVersion", found) })
}
