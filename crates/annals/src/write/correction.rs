//! Corrections of the past: finds them in a transaction and checks them against what was there.

use std::collections::HashMap;

use crate::Result;
use crate::graph::Graph;
use crate::graph::kind_of;
use crate::model::{Change, InstanceId, Status};
use crate::read::Snapshot;

/// Instances of which some change may claim an earlier valid time than the version in force.
pub(super) fn find(base: &Graph, changes: &[Change]) -> Vec<InstanceId> {
    let mut latest: HashMap<InstanceId, i64> = HashMap::new();
    let mut found = Vec::new();
    // Most transactions claim no valid time, and then correct nothing.
    if changes.iter().all(|change| change.valid_from.is_none()) {
        return found;
    }
    for change in changes {
        let Some(instance) = change.action.instance() else { continue };
        let table = base.table(kind_of(&instance));
        let known = || Some(table.row(table.slot(instance.id())?)?.valid_from());
        let before = latest.get(&instance).copied().or_else(known);
        // Without a claim it is the commit instant, the latest there can be.
        let valid_from = change.valid_from.map_or(i64::MAX, crate::model::Instant::micros);
        if before.is_some_and(|before| valid_from < before) {
            if !found.contains(&instance) {
                found.push(instance);
            }
        } else {
            latest.insert(instance, valid_from);
        }
    }
    found
}

/// Reads every correction of `instance` that the transaction behind `snapshot` makes, and checks its content.
///
/// Errors: `InvalidArgument` if a patch cannot be applied to what was there; `TypeViolation`.
pub(super) fn check(snapshot: &Snapshot, instance: &InstanceId) -> Result<()> {
    let (kind, known) = (kind_of(instance), snapshot.known(instance));
    // It may have been purged by the same transaction.
    let Ok((slot, known)) = known else { return Ok(()) };
    let position = snapshot.position().0;
    let versions = known.all_versions();
    let corrections = versions.iter().filter(|version| {
        version.place.position == position
            && version.version != known.version
            && version.status != Status::Deleted
    });
    for correction in corrections {
        let held = snapshot.content(kind, slot, *correction)?;
        snapshot.graph().check_content(kind, &*snapshot.instance(kind, slot, held)?)?;
    }
    Ok(())
}
