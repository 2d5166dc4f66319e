//! The instances that an action takes along, told before it happens.

use foldhash::{HashSet, HashSetExt};

use super::along::Along;
use super::{Action, Delete, Purge, PurgeCopy, Restore};
use crate::graph::{Graph, kind_of};
use crate::model::InstanceId;

impl Action {
    /// True if the action may change instances that it does not name: those with it in a container, and relationships.
    pub(crate) fn takes_along(&self) -> bool {
        match self {
            Action::Delete(Delete { instance })
            | Action::Restore(Restore { instance, .. })
            | Action::Purge(Purge { instance })
            | Action::PurgeCopy(PurgeCopy { instance, .. }) => matches!(instance, InstanceId::Entity(_)),
            Action::DeleteTaken(_) | Action::RestoreTaken(_) => true,
            _ => false,
        }
    }

    /// True if the action, of those that take others along, writes versions.
    pub(crate) fn writes_along(&self) -> bool {
        self.takes_along() && !matches!(self, Action::Purge(_) | Action::PurgeCopy(_))
    }
}

impl Graph {
    /// The instances that `action` would take along now, which may be refused for other reasons. Lists of a compaction
    /// name all their instances, so they take none along.
    ///
    /// Shape: empty for an instance that does not exist, and for actions that take nothing along.
    pub(crate) fn taken_along(&self, action: &Action) -> Along {
        let slot_of = |instance: &InstanceId| {
            if !action.takes_along() { None } else { self.table(kind_of(instance)).slot(instance.id()) }
        };
        let along = match action {
            Action::Delete(Delete { instance }) => slot_of(instance).map(|slot| self.deleted_along(slot)),
            Action::Restore(Restore { instance, with_relationships }) => {
                slot_of(instance).map(|slot| self.restored_along(slot, *with_relationships, i64::MAX))
            }
            Action::Purge(Purge { instance }) | Action::PurgeCopy(PurgeCopy { instance, .. }) => {
                slot_of(instance).map(|slot| self.purged_along(slot))
            }
            _ => None,
        };
        along.unwrap_or_default()
    }

    /// How many instances these actions would take along now, together, those of lists included: each counts once.
    pub(crate) fn taken_along_count<'a>(&self, actions: impl Iterator<Item = &'a Action>) -> usize {
        let (mut met, mut listed, mut named_count) = (HashSet::new(), 0, 0);
        for action in actions.filter(|action| action.takes_along()) {
            listed += action.listed_instances().map_or(0, <[InstanceId]>::len);
            let named = action.instance().and_then(|instance| {
                Some((kind_of(&instance), self.table(kind_of(&instance)).slot(instance.id())?))
            });
            // An earlier action took it along.
            if named.is_some_and(|named| met.insert(named)) {
                named_count += 1;
                met.extend(self.taken_along(action).slots());
            }
        }
        listed + met.len() - named_count
    }
}
