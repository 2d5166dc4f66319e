//! Finds the changes that a compaction removes: those that wrote versions of instances that were purged later.
//!
//! Applying the records decides it, as it decides everything about history: [`Graph`] reports the places of the
//! versions that a purge removes.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use super::outlived::Outlived;
use super::stop::Stop;
use crate::graph::indexed::Indexed;
use crate::graph::instance::past::ChangePlace;
use crate::graph::{Graph, PurgedVersion};
use crate::log::Log;
use crate::maintenance::records::for_each_record;
use crate::maintenance::recover;
use crate::memory::Memory;
use crate::model::{Action, Change, InstanceId, Record};
use crate::read::without_earlier_edits;
use crate::record::{decode_record, replace_changes};
use crate::{Position, Result};

/// The changes that a compaction removes.
#[derive(Default)]
pub(crate) struct Purged {
    /// The changes that wrote versions of purged instances, with the ids of these instances at that time; and the
    /// purges.
    changes: BTreeMap<ChangePlace, Written>,
    /// The replacements of changes that also wrote versions of existing instances.
    outlived: Outlived,
    /// The changes that only lose edits that their candidates have no more, without these edits.
    emptied: BTreeMap<ChangePlace, Change>,
    changes_count: u64,
}

enum Written {
    /// Versions of purged instances, and of existing children that were contained by purged relationships.
    Versions { purged: Vec<InstanceId>, left: Vec<InstanceId> },
    /// The change removed an instance.
    Purge,
}

impl Purged {
    /// The instances that purges in the records up to `last` removed. The replaying graph puts long values where `like`
    /// does.
    ///
    /// Errors: those of the log; `Corrupted` if a record does not fit those before it; `Closed`.
    pub(super) fn collect(log: &dyn Log, last: Position, like: &Graph, stop: Stop<'_>) -> Result<Purged> {
        let mut purged = Purged::default();
        for_each_record(log, Position(1), last, |position, record| {
            for (place, change) in numbered(position, &record) {
                purged.emptied.extend(without_earlier_edits(like, change)?.map(|emptied| (place, emptied)));
            }
            let purges = numbered(position, &record).filter(|(_, change)| is_purge(&change.action));
            purged.changes.extend(purges.map(|(place, _)| (place, Written::Purge)));
            Ok(())
        })?;
        if purged.changes.is_empty() {
            return Ok(purged);
        }
        let mut indexed = Indexed::new(like.rebuilt_from_nothing(), Arc::default());
        indexed.graph.purged = Some(Vec::new());
        recover::replay_to(log, &mut indexed, last, &Memory::new(None), |_| {})?;
        for PurgedVersion { place, instance, child } in indexed.graph.purged.take().unwrap_or_default() {
            let child = child.map_or(Ok(None), |child| left_at(&indexed.graph, child, place))?;
            let none = || Written::Versions { purged: Vec::new(), left: Vec::new() };
            if let Written::Versions { purged, left } = purged.changes.entry(place).or_insert_with(none) {
                purged.push(instance);
                left.extend(child);
            }
        }
        // Only now is it known which changes name a purged instance.
        let (mut count, mut taking) = (0, HashMap::new());
        for_each_record(log, Position(1), last, |position, record| {
            for (place, change) in purged.taken(position, &record) {
                count += 1;
                if change.action.writes_along() {
                    taking.insert(place, change.action.clone());
                }
            }
            Ok(())
        })?;
        purged.changes_count = count;
        purged.outlived = Outlived::collect(&indexed.graph, taking, stop)?;
        Ok(purged)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.changes_count == 0 && self.emptied.is_empty()
    }

    /// How many changes are removed.
    pub(crate) fn changes_count(&self) -> u64 {
        self.changes_count
    }

    /// The changes of a record that are removed.
    fn taken<'p>(
        &'p self,
        position: Position,
        record: &'p Record,
    ) -> impl Iterator<Item = (ChangePlace, &'p Change)> + 'p {
        numbered(position, record).filter(|(place, change)| self.is_taken(*place, &change.action))
    }

    fn is_taken(&self, place: ChangePlace, action: &Action) -> bool {
        let (purged, left) = match self.changes.get(&place) {
            None => return false,
            Some(Written::Purge) => return true,
            Some(Written::Versions { purged, left }) => (purged, left),
        };
        match (action.listed_instances(), action.instance()) {
            (Some(listed), _) => {
                let listed: HashSet<&InstanceId> = listed.iter().collect();
                purged.iter().any(|purged| listed.contains(purged))
            }
            // A purge of an instance that the change did not name leaves the change, unless the change reached other
            // instances through it.
            (None, Some(named)) if action.writes_along() => {
                purged.contains(&named) || left.iter().any(|child| *child != named)
            }
            (None, named) => named.is_some(),
        }
    }

    /// The record without the changes of purged instances. A void replaces each of them, or its effect on existing
    /// instances, so that the other changes keep their numbers. `None` if the record has no such change.
    pub(crate) fn take_out(&self, position: Position, bytes: &[u8]) -> Result<Option<Vec<u8>>> {
        let first = |position: u64| ChangePlace { position, change: 0 };
        let places = first(position.0)..first(position.0 + 1);
        let (mut changes, mut emptied) = (self.changes.range(places.clone()), self.emptied.range(places));
        if changes.next().is_none() && emptied.next().is_none() {
            return Ok(None);
        }
        let record = decode_record(position, bytes)?;
        let instead = |(place, change): (ChangePlace, &Change)| {
            if self.is_taken(place, &change.action) {
                return Some((place.change, self.outlived.instead(place, change)));
            }
            self.emptied.get(&place).map(|emptied| (place.change, emptied.clone()))
        };
        let taken: Vec<(u32, Change)> = numbered(position, &record).filter_map(instead).collect();
        if taken.is_empty() {
            return Ok(None);
        }
        replace_changes(position, bytes, &taken).map(Some)
    }
}

/// The id of an existing child in the version that the change at `place` wrote of it.
fn left_at(graph: &Graph, child: u32, place: ChangePlace) -> Result<Option<InstanceId>> {
    let Some(instance) = graph.entities.get(child)? else { return Ok(None) };
    let version = instance.written_at(place);
    Ok(version.map(|version| InstanceId::Entity(graph.shape_of(&instance, version.header).id)))
}

fn numbered(position: Position, record: &Record) -> impl Iterator<Item = (ChangePlace, &Change)> {
    let places = (0..).map(move |number| ChangePlace { position: position.0, change: number });
    places.zip(&record.changes)
}

/// True if the action removes an instance, or the copy of one.
fn is_purge(action: &Action) -> bool {
    matches!(action, Action::Purge(_) | Action::PurgeCopy(_))
}
