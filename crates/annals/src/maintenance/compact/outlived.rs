//! Replaces a removed change that also wrote versions of instances that still exist.
//!
//! Deleting a container also deletes its children; restoring it restores them. If a child is then moved elsewhere, and
//! the container purged, or only the relationship to it, the child keeps these versions. Then a change that names the
//! child writes them instead, at the same place.

use std::collections::HashMap;

use super::stop::Stop;
use crate::Result;
use crate::graph::actions as action;
use crate::graph::instance::past::ChangePlace;
use crate::graph::report::UNASKED;
use crate::graph::{Graph, instance_id};
use crate::model::{Action, Change, InstanceId, TypeKind};

fn is_delete(action: &Action) -> bool {
    matches!(action, Action::Delete(_) | Action::DeleteTaken(_))
}

/// The replacements of removed changes; a change without an entry becomes a void.
#[derive(Default)]
pub(super) struct Outlived(HashMap<ChangePlace, Action>);

impl Outlived {
    /// The versions that remain of the changes in `taking`. `graph` is the one after the last record.
    pub(super) fn collect(
        graph: &Graph,
        taking: HashMap<ChangePlace, Action>,
        stop: Stop<'_>,
    ) -> Result<Outlived> {
        let mut lists: HashMap<ChangePlace, [Vec<InstanceId>; 2]> = HashMap::new();
        if taking.is_empty() {
            return Ok(Outlived::default());
        }
        for (at, kind) in [TypeKind::Entity, TypeKind::Relationship].into_iter().enumerate() {
            let table = graph.table(kind);
            for slot in 0..u32::try_from(table.slots_count()).unwrap_or(u32::MAX) {
                if slot.is_multiple_of(UNASKED) {
                    stop.check()?;
                }
                let Some(instance) = table.get(slot)? else { continue };
                for version in instance.all_versions() {
                    if taking.contains_key(&version.place) {
                        let id = graph.shape_of(&instance, version.header).id;
                        lists.entry(version.place).or_default()[at].push(instance_id(kind, id));
                    }
                }
            }
        }
        let instead = lists.into_iter().map(|(place, [entities, relationships])| {
            // Order: a deletion lists relationships first, a restoration lists entities first, so that each
            // relationship has both ends at every moment.
            let action = match is_delete(&taking[&place]) {
                true => action::DeleteTaken { instances: [relationships, entities].concat() }.into(),
                false => action::RestoreTaken { instances: [entities, relationships].concat() }.into(),
            };
            (place, action)
        });
        Ok(Outlived(instead.collect()))
    }

    /// The replacement of a change.
    pub(super) fn instead(&self, place: ChangePlace, change: &Change) -> Change {
        match self.0.get(&place) {
            Some(action) => Change { valid_from: change.valid_from, ..Change::from(action.clone()) },
            None => Change::from(Action::Void(action::Void)),
        }
    }
}
