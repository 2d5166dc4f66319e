//! The instances of earlier records on which later records built: they cannot be set back without undoing these, too.

use std::collections::HashSet;
use std::sync::Arc;

use crate::graph::Graph;
use crate::graph::instance::unpacked::Instance;
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
    find_changed(&mut found, last, touched.iter().copied().filter(|slot| Some(*slot) != own), is_new);
    let known: HashSet<Slot> = touched.iter().copied().collect();
    find_placed_elsewhere(&mut found, then, last, touched, &known);
    let lost = lost(now, then, touched)?;
    find_homeless(&mut found, then, &lost, &known)?;
    let new: Vec<Slot> = touched.iter().copied().filter(is_new).collect();
    let (mut new_entities, mut new_relationships) = (SlotSet::new(), SlotSet::new());
    for &(kind, slot) in &new {
        match kind {
            TypeKind::Relationship => new_relationships.insert(slot),
            _ => new_entities.insert(slot),
        };
    }
    find_linked(&mut found, &new, &known);
    let is_copy = |&(kind, slot): &Slot| {
        graph.table(kind).row(slot).is_some_and(|row| row.is_live() && !graph.is_own(row.header()))
    };
    let copies: Vec<Slot> = new.iter().copied().filter(is_copy).collect();
    // An instance that stays keeps its place, so its new container stays, too; others may then have no place.
    let mut next = 0;
    loop {
        let Some(&(kind, slot)) = found.all.get(next).map(|built| &built.slot) else {
            find_homeless(&mut found, then, &lost, &known)?;
            find_staying_copies(&mut found, &copies, &new_entities);
            if next == found.all.len() {
                break;
            }
            continue;
        };
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

/// Finds instances with a version after `last`.
fn find_changed(
    found: &mut Found<'_>,
    last: Position,
    touched: impl Iterator<Item = Slot>,
    is_new: impl Fn(&Slot) -> bool,
) {
    let graph = found.graph;
    for (kind, slot) in touched {
        let table = graph.table(kind);
        let Some(row) = table.row(slot) else { continue };
        let is_containing = kind == TypeKind::Relationship && graph.containment(row.type_name()).is_some();
        let child = (TypeKind::Entity, row.ends()[1]);
        // A later record has already deleted a new instance, and so has no child that was elsewhere lost its place.
        let is_moved = is_containing && !is_new(&child) && graph.entities.is_live(child.1);
        let is_gone = is_new(&(kind, slot)) && !row.is_live() && !is_moved;
        if row.changed() > last.0 && !is_gone {
            let text = format!("it was changed at position {}", row.changed());
            found.add((kind, slot), &text);
            // The place of a child is set back with the child.
            if is_containing {
                found.add(child, &text);
            }
        }
    }
}

/// Finds new entities to which others have linked instances since.
fn find_linked(found: &mut Found<'_>, new: &[Slot], known: &HashSet<Slot>) {
    let graph = found.graph;
    // To delete a new entity deletes its relationships, and everything that it contains. Those that these records linked to it
    // leave it first.
    for &(kind, slot) in new.iter().filter(|(kind, _)| *kind == TypeKind::Entity) {
        let stranger = graph
            .live_relationships(slot)
            .into_iter()
            .find(|relationship| !known.contains(&(TypeKind::Relationship, *relationship)));
        if let Some(stranger) = stranger {
            let changed = graph.relationships.row(stranger).map_or(0, |row| row.changed());
            let id = graph.relationships.id(stranger);
            found.add((kind, slot), &format!("relationship {id} was added to it at position {changed}"));
        }
    }
}

/// Finds new copies of another collection that no container, or end, takes along any more when it is deleted: by
/// themselves only their home deletes them.
fn find_staying_copies(found: &mut Found<'_>, copies: &[Slot], new_entities: &SlotSet) {
    let graph = found.graph;
    let mut is_more = true;
    while is_more {
        let count = found.all.len();
        for &(kind, slot) in copies {
            let goes = |entity: u32| {
                new_entities.contains(entity) && !found.stay.contains(&(TypeKind::Entity, entity))
            };
            let goes_along = match kind {
                TypeKind::Relationship => {
                    graph.relationships.row(slot).is_some_and(|row| row.ends().into_iter().any(goes))
                }
                _ => graph.container_link(slot).is_some_and(|link| goes(link.other)),
            };
            if !goes_along {
                found.add((kind, slot), "it is a copy, and nothing that is deleted contains it any more");
            }
        }
        is_more = found.all.len() > count;
    }
}

/// Finds children that a later record placed in a container, among those whose place earlier records changed.
fn find_placed_elsewhere(
    found: &mut Found<'_>,
    then: &Snapshot,
    last: Position,
    touched: &[Slot],
    known: &HashSet<Slot>,
) {
    let graph = found.graph;
    for &(_, slot) in touched.iter().filter(|(kind, _)| *kind == TypeKind::Relationship) {
        let Some(row) = graph.relationships.row(slot) else { continue };
        let child = row.ends()[1];
        if graph.containment(row.type_name()).is_none() || !then.sees(TypeKind::Entity, child) {
            continue;
        }
        let Some(link) = graph.container_link(child) else { continue };
        let placed = graph.relationships.row(link.relationship).map_or(0, |row| row.changed());
        if placed > last.0 && !known.contains(&(TypeKind::Relationship, link.relationship)) {
            let id = graph.relationships.id(link.relationship);
            let text = format!("relationship {id} placed it in another container at position {placed}");
            found.add((TypeKind::Entity, child), &text);
            found.add(
                (TypeKind::Relationship, slot),
                "it contained an instance that stays in another container",
            );
        }
    }
}

/// A relationship as it was before the records, if it is not so now.
struct Lost {
    slot: u32,
    was: Arc<Instance>,
}

/// The relationships among `touched` that must return.
fn lost(now: &Snapshot, then: &Snapshot, touched: &[Slot]) -> Result<Vec<Lost>> {
    let graph = now.graph();
    let mut lost = Vec::new();
    for &(kind, slot) in touched.iter().filter(|(kind, _)| *kind == TypeKind::Relationship) {
        now.check_cancelled()?;
        let Some(held) = then.seen(kind, slot, false)? else { continue };
        let row = then.row(kind, slot, &held);
        let is_as_it_was = graph.relationships.row(slot).is_some_and(|now| {
            now.is_live() && now.ends() == row.ends() && now.type_name() == row.type_name()
        });
        if is_as_it_was {
            continue;
        }
        lost.push(Lost { slot, was: then.instance(kind, slot, held)? });
    }
    Ok(lost)
}

/// Finds relationships that cannot return because others deleted, or took, their place: an end, the container of an
/// item, the name of an item. Such a relationship, or its item, may be the place of another one.
fn find_homeless(found: &mut Found<'_>, then: &Snapshot, lost: &[Lost], known: &HashSet<Slot>) -> Result<()> {
    let graph = found.graph;
    let mut is_more = true;
    while is_more {
        let count = found.all.len();
        for Lost { slot, was } in lost {
            then.check_cancelled()?;
            let returns = |end: u32| {
                let entity = (TypeKind::Entity, end);
                let is_restored =
                    known.contains(&entity) && then.sees(entity.0, end) && !found.stay.contains(&entity);
                graph.entities.is_live(end) || is_restored
            };
            let gone = was.ends.into_iter().find(|end| !returns(*end));
            if graph.containment(was.type_name).is_none() {
                if let Some(end) = gone {
                    let text = format!("its end {} is deleted", graph.entities.id(end));
                    found.add((TypeKind::Relationship, *slot), &text);
                }
                continue;
            }
            let child = was.ends[1];
            // It needs no place if it does not return.
            let reason = match gone {
                _ if !returns(child) => continue,
                Some(end) => format!("its container {} is deleted", graph.entities.id(end)),
                None => match holder(found, then, known, was)? {
                    Some(holder) => {
                        let id = graph.relationships.id(holder);
                        format!("relationship {id} puts another item into its place")
                    }
                    None => continue,
                },
            };
            found.add((TypeKind::Entity, child), &reason);
            found.add((TypeKind::Relationship, *slot), &reason);
        }
        is_more = found.all.len() > count;
    }
    Ok(())
}

/// The relationship that holds the place of the child of `was` also after these records are taken back.
fn holder(found: &Found<'_>, then: &Snapshot, known: &HashSet<Slot>, was: &Instance) -> Result<Option<u32>> {
    let (graph, [parent, child]) = (found.graph, was.ends);
    // The state after it: that of then if these records changed it, and `None` if it does not exist.
    let after = |kind: TypeKind, slot: u32| {
        if known.contains(&(kind, slot)) && !found.stay.contains(&(kind, slot)) {
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
