//! Which changes of the log were of instances that were purged since, and records without them.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ops::RangeInclusive;
use std::sync::Arc;

use super::earlier_edits::without_earlier_edits;
use crate::graph::actions as action;
use crate::graph::instance::past::{ChangePlace, PastVersion};
use crate::graph::instance::unpacked::Instance;
use crate::graph::{instance_id, kind_of};
use crate::model::{Action, Change, InstanceId, Record, TypeKind};
use crate::read::snapshot::Snapshot;
use crate::read::taken_along::Slot;
use crate::{Position, Result};

/// The version of an instance that a change wrote.
pub(in crate::read) struct WrittenVersion {
    pub(in crate::read) slot: Slot,
    pub(in crate::read) instance: Arc<Instance>,
    pub(in crate::read) version: PastVersion,
}

/// The instances that still exist of those that changes wrote which reach further ones.
///
/// Shape: by the place of the change; relationships before entities.
type Remaining = BTreeMap<ChangePlace, Vec<(Slot, InstanceId)>>;

/// Leaves the changes of purged instances out of consecutive records of the log.
#[derive(Default)]
pub(crate) struct WithoutPurged {
    // Of which state of the graph it is, and of which records.
    remaining: Option<((u64, Position), RangeInclusive<u64>, Remaining)>,
}

impl Snapshot {
    /// The version that the change of `id` at `place` wrote; `None` if its instance was purged since, even if another
    /// one has its id now, and if the sight hides it.
    ///
    /// Every reader of the log asks this before it shows a change.
    pub(in crate::read) fn written_version(
        &self,
        id: &InstanceId,
        place: ChangePlace,
    ) -> Result<Option<WrittenVersion>> {
        let kind = kind_of(id);
        let Some(slot) = self.slot_ever(kind, id.id()) else { return Ok(None) };
        let Some(instance) = self.graph().table(kind).get(slot)? else { return Ok(None) };
        let version = instance.written_at(place);
        Ok(version.map(|version| WrittenVersion { slot: (kind, slot), instance, version }))
    }
}

impl WithoutPurged {
    /// The record as a compaction would leave it, but with its purges: a void is in place of each change of a purged
    /// instance, or the effect of the change on instances that still exist; candidates have no edits that they lost. `following` are the records from this one
    /// on that will be asked for next; it is called only if a container was purged.
    ///
    /// Errors: those of `following`, and of reading long values.
    pub(crate) fn record(
        &mut self,
        snapshot: &Snapshot,
        position: Position,
        mut record: Record,
        following: impl Fn() -> Result<Vec<Record>>,
    ) -> Result<Record> {
        let graph = snapshot.graph();
        let is_purged_since = position <= graph.purges.last;
        for (number, change) in (0..).zip(&mut record.changes) {
            if !is_purged_since {
                // Also without a purge: a repository that began with a checkpoint does not know when the last one was, and
                // all those of a log tell the same.
                if let Some(emptied) = without_earlier_edits(graph, change)? {
                    *change = emptied;
                }
                continue;
            }
            let place = ChangePlace { position: position.0, change: number };
            let instead = match &change.action {
                action if action.listed_instances().is_some() => listed(snapshot, action, place)?,
                action if action.writes_along() => {
                    let Some(id) = action.instance() else { continue };
                    let named = snapshot.written_version(&id, place)?;
                    if named.is_some() && !graph.has_purged_containment_since(position.0) {
                        continue;
                    }
                    if named.is_none() && !graph.types.has_containment {
                        // Its relationships were purged with it.
                        Some(action::Void.into())
                    } else {
                        let remaining = self.remaining(snapshot, position, &following)?;
                        let remaining = remaining.get(&place).map_or(&[][..], Vec::as_slice);
                        reached(snapshot, action, place, named.map(|named| named.slot), remaining)?
                    }
                }
                Action::Purge(_) | Action::PurgeCopy(_) => None,
                action => match action.instance() {
                    Some(id) if snapshot.written_version(&id, place)?.is_none() => Some(action::Void.into()),
                    _ => {
                        if let Some(emptied) = without_earlier_edits(graph, change)? {
                            *change = emptied;
                        }
                        None
                    }
                },
            };
            match instead {
                None => {}
                Some(void @ Action::Void(_)) => *change = Change::from(void),
                Some(action) => *change = Change { valid_from: change.valid_from, ..Change::from(action) },
            }
        }
        Ok(record)
    }

    fn remaining(
        &mut self,
        snapshot: &Snapshot,
        position: Position,
        following: impl Fn() -> Result<Vec<Record>>,
    ) -> Result<&Remaining> {
        let state = (snapshot.graph().generation, snapshot.graph().purges.last);
        let is_known = |(of, positions, _): &(_, RangeInclusive<u64>, _)| {
            *of == state && positions.contains(&position.0)
        };
        if !self.remaining.as_ref().is_some_and(is_known) {
            let records = following()?;
            let numbered = (position.0..).zip(&records);
            let places = numbered.flat_map(|(position, record)| {
                let changes = (0..).zip(&record.changes);
                let along = changes.filter(|(_, change)| change.action.writes_along());
                along.map(move |(number, _)| ChangePlace { position, change: number })
            });
            let remaining = remaining_of(snapshot, &places.collect())?;
            let last = position.0.saturating_add(records.len() as u64);
            self.remaining = Some((state, position.0..=last.saturating_sub(1), remaining));
        }
        static NONE: Remaining = Remaining::new();
        Ok(self.remaining.as_ref().map_or(&NONE, |(_, _, remaining)| remaining))
    }
}

/// The list of a compaction without the instances that were purged since; `None` if it has none.
fn listed(snapshot: &Snapshot, action: &Action, place: ChangePlace) -> Result<Option<Action>> {
    let all = action.listed_instances().unwrap_or_default();
    let mut left = Vec::new();
    for id in all {
        if snapshot.written_version(id, place)?.is_some() {
            left.push(id.clone());
        }
    }
    if left.len() == all.len() {
        return Ok(None);
    }
    Ok(Some(match action {
        _ if left.is_empty() => action::Void.into(),
        Action::DeleteTaken(_) => action::DeleteTaken { instances: left }.into(),
        _ => action::RestoreTaken { instances: left }.into(),
    }))
}

/// A list of what a change wrote of the instances that still exist; `None` if the change leads to all of them.
fn reached(
    snapshot: &Snapshot,
    action: &Action,
    place: ChangePlace,
    named: Option<Slot>,
    remaining: &[(Slot, InstanceId)],
) -> Result<Option<Action>> {
    if let Some((kind, slot)) = named {
        let along = match kind {
            TypeKind::Entity => snapshot.taken_along(slot, place, usize::MAX)?,
            _ => Vec::new(),
        };
        let along: HashSet<Slot> = along.into_iter().chain(named).collect();
        if remaining.iter().all(|(slot, _)| along.contains(slot)) {
            return Ok(None);
        }
    }
    let ids = |kind| remaining.iter().filter(move |((of, _), _)| *of == kind).map(|(_, id)| id.clone());
    let [entities, relationships] = [TypeKind::Entity, TypeKind::Relationship];
    // Order: as a compaction lists them, so that each relationship has both ends at every moment.
    Ok(Some(match action {
        _ if remaining.is_empty() => action::Void.into(),
        Action::Delete(_) => {
            action::DeleteTaken { instances: ids(relationships).chain(ids(entities)).collect() }.into()
        }
        _ => action::RestoreTaken { instances: ids(entities).chain(ids(relationships)).collect() }.into(),
    }))
}

fn remaining_of(snapshot: &Snapshot, places: &BTreeSet<ChangePlace>) -> Result<Remaining> {
    let graph = snapshot.graph();
    let mut remaining = Remaining::new();
    for (kind, slot) in snapshot.written_by(places)? {
        let Some(instance) = graph.table(kind).get(slot)? else { continue };
        for version in instance.all_versions() {
            if places.contains(&version.place) {
                let id = instance_id(kind, graph.shape_of(&instance, version.header).id);
                remaining.entry(version.place).or_default().push(((kind, slot), id));
            }
        }
    }
    Ok(remaining)
}
