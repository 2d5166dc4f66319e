//! The instances of earlier records on which later records built: they cannot be set back without undoing these, too.

use std::collections::HashSet;

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
    for &(kind, slot) in touched.iter().filter(|slot| Some(**slot) != own) {
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
    let known: HashSet<Slot> = touched.iter().copied().collect();
    find_placed_elsewhere(&mut found, then, last, touched, &known);
    find_homeless(&mut found, then, touched, &known)?;
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

/// Finds instances that cannot return because others deleted, or took, the place where they were: an end of a
/// relationship, the container of an item, the name of an item. Such an instance may be the place of another one.
fn find_homeless(
    found: &mut Found<'_>,
    then: &Snapshot,
    touched: &[Slot],
    known: &HashSet<Slot>,
) -> Result<()> {
    let graph = found.graph;
    let were: Vec<Slot> = touched.iter().copied().filter(|&(kind, slot)| then.sees(kind, slot)).collect();
    let mut is_more = true;
    while is_more {
        let count = found.all.len();
        for &(kind, slot) in were.iter().filter(|(kind, _)| *kind == TypeKind::Relationship) {
            then.check_cancelled()?;
            let held = then.seen(kind, slot, false)?.expect("it is seen");
            let was = then.instance(kind, slot, held)?;
            let is_as_it_was =
                graph.relationships.row(slot).is_some_and(|row| row.is_live() && row.ends() == was.ends);
            if is_as_it_was {
                continue;
            }
            let returns = |end: u32| {
                let entity = (TypeKind::Entity, end);
                let is_restored =
                    known.contains(&entity) && then.sees(entity.0, end) && !found.stay.contains(&entity);
                graph.entities.is_live(end) || is_restored
            };
            let gone = was.ends.into_iter().find(|end| !returns(*end));
            if graph.containment(was.type_name).is_none() {
                if let Some(end) = gone {
                    found.add((kind, slot), &format!("its end {} is deleted", graph.entities.id(end)));
                }
                continue;
            }
            let child = was.ends[1];
            // It needs no place if it does not return.
            let reason = match gone {
                _ if !returns(child) => continue,
                Some(end) => format!("its container {} is deleted", graph.entities.id(end)),
                None => match place_taken(graph, then, &was, known)? {
                    Some(other) => format!("another item has its place, {}", graph.entities.id(other)),
                    None => continue,
                },
            };
            found.add((TypeKind::Entity, child), &reason);
            found.add((kind, slot), &reason);
        }
        is_more = found.all.len() > count;
    }
    Ok(())
}

/// The live item with the name that the child of `was` had, unless these records touched it.
fn place_taken(graph: &Graph, then: &Snapshot, was: &Instance, known: &HashSet<Slot>) -> Result<Option<u32>> {
    let [parent, child] = was.ends;
    let Some(held) = then.seen(TypeKind::Entity, child, false)? else { return Ok(None) };
    let entity = then.instance(TypeKind::Entity, child, held)?;
    let Some(place) = graph.child_of(was, Some(&entity))? else { return Ok(None) };
    let named = graph.relationships.lists.children.named(parent, place.group, &place.name);
    let others = named.filter_map(|other| graph.relationships.row(other).map(|row| row.ends()[1]));
    Ok(others.into_iter().find(|other| *other != child && !known.contains(&(TypeKind::Entity, *other))))
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
