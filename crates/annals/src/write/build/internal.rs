//! Grants, candidates and all else that the repository stores about itself, where it goes along with other instances.

use super::own_graph::OwnGraph;
use super::transaction::Transaction;
use crate::Result;
use crate::graph::structures::slot_set::SlotSet;
use crate::graph::{Graph, past_link_prefix};
use crate::model::{Direction, InstanceId, Instant};
pub(in crate::write) use crate::record::CANDIDATE;
use crate::write::commit::clock::commit_instant;

/// True if the id is that of an entity that holds a candidate.
pub(in crate::write) fn is_candidate(instance: &InstanceId) -> bool {
    let InstanceId::Entity(id) = instance else { return false };
    id.text().and_then(|text| text.strip_prefix(CANDIDATE)).is_some_and(|rest| rest.starts_with(':'))
}

impl Transaction {
    /// True if this transaction deletes, restores or purges an entity of what the repository stores about itself because the
    /// entity goes along with another one: the name of its type, or of a supertype, begins with `annals.` or `annals-`.
    ///
    /// Cost: a few look-ups, if no such entity is or was in a container.
    /// Errors: those of the changes so far.
    pub fn takes_internal_along(&self) -> Result<bool> {
        if !self.record.changes.iter().any(|change| change.action.takes_along()) {
            return Ok(false);
        }
        let before = &self.base.indexed().graph;
        let contained = internal_in_containers(before);
        if contained.is_empty() {
            return Ok(false);
        }
        let last = Instant::from_checked_micros(before.last_instant());
        let instant = commit_instant(&self.committer.clock, last, last, None)?;
        let mut own = OwnGraph::new(self.base.indexed(), instant);
        own.go_on(&self.record, self.base.source().memory())?;
        let is_live = |graph: &Graph, slot: u32| graph.entities.row(slot).map(|row| row.is_live());
        Ok(contained.into_iter().any(|slot| is_live(before, slot) != is_live(own.graph(), slot)))
    }
}

/// The entities of what the repository stores about itself that another one contains, or may have contained.
fn internal_in_containers(graph: &Graph) -> Vec<u32> {
    let lists = &graph.entities.lists.by_type;
    let extents = |name| [lists.extents.of(name), lists.past_extents.of(name)];
    let slots = graph.internal_types().into_iter().flat_map(extents).flatten().flat_map(SlotSet::iter);
    let was_linked =
        |slot: u32| graph.past_links.prefix(&past_link_prefix(slot, Direction::In)).next().is_some();
    slots.filter(|slot| graph.container_link(*slot).is_some() || was_linked(*slot)).collect()
}
