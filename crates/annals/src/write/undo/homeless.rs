//! Relationships that cannot return to their places, because later records deleted or took these.

use std::sync::Arc;

use super::found::{Extent, Found};
use crate::Result;
use crate::graph::instance::unpacked::Instance;
use crate::model::TypeKind;
use crate::read::Snapshot;
use crate::read::taken_along::Slot;

/// A relationship as it was before the records, if it is not so now.
pub(super) struct Lost {
    slot: u32,
    was: Arc<Instance>,
}

/// The relationships among `touched` that must return.
pub(super) fn lost(
    found: &Found<'_>,
    now: &Snapshot,
    then: &Snapshot,
    touched: &[Slot],
) -> Result<Vec<Lost>> {
    let graph = now.graph();
    let mut lost = Vec::new();
    for &(kind, slot) in touched.iter().filter(|(kind, _)| *kind == TypeKind::Relationship) {
        now.check_cancelled()?;
        let Some(held) = then.seen(kind, slot, false)?.filter(|_| !found.stay.contains(&(kind, slot))) else {
            continue;
        };
        let row = then.row(kind, slot, &held);
        let merged = found.merged.get(&(kind, slot));
        let (ends, type_name) =
            merged.map_or((row.ends(), row.type_name()), |merged| (merged.ends, merged.type_name));
        let is_as_it_was = graph
            .relationships
            .row(slot)
            .is_some_and(|now| now.is_live() && now.ends() == ends && now.type_name() == type_name);
        if is_as_it_was {
            continue;
        }
        let was = merged.map_or_else(|| then.instance(kind, slot, held), |merged| Ok(Arc::clone(merged)))?;
        lost.push(Lost { slot, was });
    }
    Ok(lost)
}

/// Finds relationships that cannot return because others deleted, or took, their place: an end, the container of an
/// item, the name of an item. Such a relationship, or its item, may be the place of another one.
pub(super) fn find_homeless(found: &mut Found<'_>, then: &Snapshot, lost: &[Lost]) -> Result<()> {
    let graph = found.graph;
    let mut is_more = true;
    while is_more {
        let count = found.all.len();
        for Lost { slot, was } in lost {
            then.check_cancelled()?;
            let returns = |end: u32| {
                let entity = (TypeKind::Entity, end);
                let is_restored = found.known.contains(&entity)
                    && then.sees(entity.0, end)
                    && !found.stay.contains(&entity);
                graph.entities.is_live(end) || is_restored
            };
            let gone = was.ends.into_iter().find(|end| !returns(*end));
            if graph.containment(was.type_name).is_none() {
                if let Some(end) = gone {
                    let text = format!("its end {} is deleted", graph.entities.id(end));
                    found.add((TypeKind::Relationship, *slot), Extent::Whole, &text);
                }
                continue;
            }
            let child = was.ends[1];
            // It needs no place if it does not return.
            let reason = match gone {
                _ if !returns(child) => continue,
                Some(end) => format!("its container {} is deleted", graph.entities.id(end)),
                None => match holder(found, then, was)? {
                    Some(holder) => {
                        let id = graph.relationships.id(holder);
                        format!("relationship {id} puts another item into its place")
                    }
                    None => continue,
                },
            };
            // One that is there keeps its place only.
            let extent = if graph.entities.is_live(child) { Extent::Place } else { Extent::Whole };
            found.add((TypeKind::Entity, child), extent, &reason);
            found.add((TypeKind::Relationship, *slot), Extent::Whole, &reason);
        }
        is_more = found.all.len() > count;
    }
    Ok(())
}

/// The relationship that holds the place of the child of `was` also after these records are taken back.
fn holder(found: &Found<'_>, then: &Snapshot, was: &Instance) -> Result<Option<u32>> {
    let (graph, [parent, child]) = (found.graph, was.ends);
    // The state after it: that of then if these records changed it, and `None` if it does not exist.
    let after = |kind: TypeKind, slot: u32| {
        if found.known.contains(&(kind, slot)) && !found.stay.contains(&(kind, slot)) {
            if let Some(merged) = found.merged.get(&(kind, slot)) {
                return Ok(Some(Arc::clone(merged)));
            }
            let held = then.seen(kind, slot, false)?;
            return held.map(|held| then.instance(kind, slot, held)).transpose();
        }
        graph.table(kind).get(slot)
    };
    // Others may have given the child another key.
    let Some(item) = after(TypeKind::Entity, child)? else { return Ok(None) };
    let Some(place) = graph.child_of(was, Some(&item))? else { return Ok(None) };
    for other in graph.relationships.lists.children.named(parent, place.group, &place.name) {
        let Some(link) = after(TypeKind::Relationship, other)? else { continue };
        let Some(item) = after(TypeKind::Entity, link.ends[1])? else { continue };
        if link.ends[0] != parent || link.ends[1] == child {
            continue;
        }
        let found = graph.child_of(&link, Some(&item))?;
        if found.is_some_and(|found| (found.group, &found.name) == (place.group, &place.name)) {
            return Ok(Some(other));
        }
    }
    Ok(None)
}
