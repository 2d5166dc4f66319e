//! The instances of earlier records on which later records built: they cannot be set back without undoing these, too.

use std::collections::HashSet;

use crate::graph::Graph;
use crate::graph::structures::slot_set::SlotSet;
use crate::graph::{instance_id, kind_of};
use crate::model::{InstanceId, TypeKind};
use crate::read::Snapshot;
use crate::read::taken_along::Slot;
use crate::{Error, ErrorKind, Position, Result};

/// An instance on which later records built.
#[derive(Debug)]
pub struct BuiltOn {
    /// The instance.
    pub instance: InstanceId,
    /// How: a later record changed it, or put something into an instance that is to be deleted, or linked to it.
    pub reason: Error,
    pub(super) slot: Slot,
}

/// Finds the instances on which records after `last` built, among those that earlier records touched. `then` is the
/// snapshot before those records. Changes of the instance `own` do not count.
///
/// Shape: in the order of `touched`, then containers of instances that must stay.
pub(super) fn built_on(
    now: &Snapshot,
    then: &Snapshot,
    last: Position,
    touched: &[Slot],
    own: Option<&InstanceId>,
) -> Result<Vec<BuiltOn>> {
    let graph = now.graph();
    let own = own.and_then(|own| Some((kind_of(own), graph.table(kind_of(own)).slot(own.id())?)));
    let mut found = Found { graph, stay: HashSet::new(), all: Vec::new() };
    let is_new = |&(kind, slot): &Slot| !then.sees(kind, slot);
    for &(kind, slot) in touched.iter().filter(|slot| Some(**slot) != own) {
        let table = graph.table(kind);
        let Some(row) = table.row(slot) else { continue };
        // A later record has already deleted a new instance.
        let is_gone = is_new(&(kind, slot)) && !row.is_live();
        if row.changed() > last.0 && !is_gone {
            let text = format!("it was changed at position {}", row.changed());
            found.add((kind, slot), &text);
            // The place of a child is set back with the child.
            if kind == TypeKind::Relationship && graph.containment(row.type_name()).is_some() {
                found.add((TypeKind::Entity, row.ends()[1]), &text);
            }
        }
    }
    let new: Vec<Slot> = touched.iter().copied().filter(is_new).collect();
    let (mut new_entities, mut new_relationships) = (SlotSet::new(), SlotSet::new());
    for &(kind, slot) in &new {
        match kind {
            TypeKind::Relationship => new_relationships.insert(slot),
            _ => new_entities.insert(slot),
        };
    }
    // To delete a new entity deletes its relationships, and everything that it contains.
    for &(kind, slot) in new.iter().filter(|(kind, _)| *kind == TypeKind::Entity) {
        let stranger = graph
            .live_relationships(slot)
            .into_iter()
            .find(|relationship| !new_relationships.contains(*relationship));
        if let Some(stranger) = stranger {
            let changed = graph.relationships.row(stranger).map_or(0, |row| row.changed());
            let id = graph.relationships.id(stranger);
            found.add((kind, slot), &format!("relationship {id} was added to it at position {changed}"));
        }
    }
    // An instance that stays keeps its place, so its new container stays, too.
    let mut next = 0;
    while let Some(&(kind, slot)) = found.all.get(next).map(|built| &built.slot) {
        now.check_cancelled()?;
        next += 1;
        let ends = match kind {
            TypeKind::Relationship => graph.relationships.row(slot).map(|row| row.ends().to_vec()),
            _ => graph.container_link(slot).map(|link| {
                if new_relationships.contains(link.relationship) {
                    found.add(
                        (TypeKind::Relationship, link.relationship),
                        "it contains an instance that stays",
                    );
                }
                vec![link.other]
            }),
        };
        for end in ends.unwrap_or_default() {
            if new_entities.contains(end) && graph.entities.is_live(end) {
                found.add((TypeKind::Entity, end), "it belongs to an instance that stays");
            }
        }
    }
    Ok(found.all)
}

/// The instances found so far, each once.
struct Found<'g> {
    graph: &'g Graph,
    stay: HashSet<Slot>,
    all: Vec<BuiltOn>,
}

impl Found<'_> {
    fn add(&mut self, (kind, slot): Slot, how: &str) {
        if self.stay.insert((kind, slot)) {
            let instance = instance_id(kind, self.graph.table(kind).id(slot).clone());
            let reason = Error::new(ErrorKind::Conflict, format!("{instance}: {how}"));
            self.all.push(BuiltOn { instance, reason, slot: (kind, slot) });
        }
    }
}
