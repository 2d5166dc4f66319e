//! The entities that changes move: those put elsewhere, or given another id, and everything below them.

use std::collections::BTreeSet;

use super::resolved_grants::below;
use crate::Result;
use crate::graph::structures::slot_set::SlotSet;
use crate::model::TypeKind;
use crate::read::snapshot::Snapshot;
use crate::read::taken_along::Slot;

/// The entities that are live in both snapshots, which have no sight, and are elsewhere in the second: their container is
/// another one, or a container above them is, or has another id. Between the two only the instances `touched` differ.
pub(super) fn displaced(before: &Snapshot, after: &Snapshot, touched: &[Slot]) -> Result<SlotSet> {
    let mut moved = BTreeSet::new();
    for &(kind, slot) in touched {
        let snapshots = [before, after];
        if kind != TypeKind::Relationship {
            let [was, is] =
                snapshots.map(|it| it.graph().entities.row(slot).map(|_| it.graph().entities.id(slot)));
            if was != is {
                moved.insert(slot);
            }
            continue;
        }
        for graph in snapshots.map(Snapshot::graph) {
            let row = graph.relationships.row(slot).filter(|row| row.is_live());
            let placed =
                row.filter(|row| graph.containment(row.type_name()).is_some()).map(|row| row.ends()[1]);
            moved.extend(placed.filter(|child| container(before, *child) != container(after, *child)));
        }
    }
    let is_live = |slot: u32| before.sees(TypeKind::Entity, slot) && after.sees(TypeKind::Entity, slot);
    let moved: Vec<u32> = moved.into_iter().filter(|slot| is_live(*slot)).collect();
    let mut all = SlotSet::new();
    for snapshot in [before, after] {
        below(snapshot, moved.clone())?.iter().filter(|slot| is_live(*slot)).for_each(|slot| {
            all.insert(slot);
        });
    }
    Ok(all)
}

fn container(snapshot: &Snapshot, child: u32) -> Option<u32> {
    let graph = snapshot.graph();
    graph.entities.row(child).and_then(|_| graph.container_link(child)).map(|link| link.other)
}
