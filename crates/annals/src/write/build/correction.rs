//! Corrections of the past: finds them in a transaction and checks them against the past state.

use crate::graph::actions as action;
use std::collections::HashMap;

use crate::graph::Graph;
use crate::graph::instance::unpacked::Instance;
use crate::graph::{kind_of, too_many_properties};
use crate::model::{Action, Change, InstanceId, PROPERTIES_MAX, Status};
use crate::read::Snapshot;
use crate::{Error, ErrorKind, Result};

/// Instances with a change that may claim an earlier valid time than the version in force.
pub(super) fn find(base: &Graph, changes: &[Change]) -> Vec<InstanceId> {
    let mut latest: HashMap<InstanceId, i64> = HashMap::new();
    let mut found = Vec::new();
    // Most transactions claim no valid time, and so correct nothing.
    if changes.iter().all(|change| change.valid_from.is_none()) {
        return found;
    }
    for change in changes {
        let Some(instance) = change.action.instance() else { continue };
        let table = base.table(kind_of(&instance));
        let known = || Some(table.row(table.slot(instance.id())?)?.valid_from());
        let before = latest.get(&instance).copied().or_else(known);
        // Without a claim it is the commit instant, the latest possible time.
        let valid_from = change.valid_from.map_or(i64::MAX, crate::model::Instant::micros);
        if let Action::Reidentify(action::Reidentify { id, .. }) = &change.action {
            let now = match &instance {
                InstanceId::Entity(_) => InstanceId::Entity(id.clone()),
                InstanceId::Relationship(_) => InstanceId::Relationship(id.clone()),
            };
            latest.insert(now.clone(), valid_from);
            found.iter_mut().filter(|known| **known == instance).for_each(|known| *known = now.clone());
        } else if before.is_some_and(|before| valid_from < before) {
            if !found.contains(&instance) {
                found.push(instance);
            }
        } else {
            latest.insert(instance, valid_from);
        }
    }
    found
}

/// Reads every correction of `instance` in the transaction behind `snapshot`, and checks its content.
///
/// Errors: `InvalidArgument` if a patch cannot be applied to the past content; `InvalidProperty`; `NotHome` for a
/// classification that another collection attached.
pub(in crate::write) fn check(snapshot: &Snapshot, instance: &InstanceId) -> Result<()> {
    let (kind, known) = (kind_of(instance), snapshot.known(instance));
    // The same transaction may have purged it.
    let Ok((slot, known)) = known else { return Ok(()) };
    let position = snapshot.position().0;
    let versions = known.all_versions();
    let corrections = versions.iter().filter(|version| {
        version.place.position == position
            && version.version != known.version
            && version.status != Status::Deleted
    });
    for correction in corrections {
        let after = snapshot.instance(kind, slot, snapshot.content(kind, slot, *correction)?)?;
        snapshot.graph().check_content(kind, &after)?;
        if let Some(base) = known.version_numbered(correction.base) {
            let before = snapshot.instance(kind, slot, snapshot.content(kind, slot, base)?)?;
            let count = after.properties.len();
            if count > PROPERTIES_MAX.max(before.properties.len()) {
                return Err(too_many_properties(instance, count));
            }
            check_foreign(snapshot, instance, &before, &after)?;
        }
    }
    Ok(())
}

/// Refuses to change a classification that another collection had attached at the corrected time.
fn check_foreign(
    snapshot: &Snapshot,
    instance: &InstanceId,
    before: &Instance,
    after: &Instance,
) -> Result<()> {
    let graph = snapshot.graph();
    let mut foreign = before.classifications().iter().filter(|known| !graph.is_own(known.header));
    match foreign.find(|known| after.classification(known.name) != Some(known)) {
        None => Ok(()),
        Some(known) => {
            let name = graph.names.name(known.name);
            let text = format!(
                "correct {instance}: classification {name} belonged to another collection then; leave it as it was"
            );
            Err(Error::new(ErrorKind::NotHome, text))
        }
    }
}
