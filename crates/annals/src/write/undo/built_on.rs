//! The instances of earlier records on which later records built: they cannot be set back without undoing these, too.

use std::sync::Arc;

use super::found::{Extent, Found, Keep};
use super::homeless::{Lost, find_homeless, lost};
use super::sides::{Sides, Unit, is_equal};
use crate::Result;
use crate::graph::instance::unpacked::Instance;
use crate::graph::structures::slot_set::SlotSet;
use crate::model::TypeKind;
use crate::read::Snapshot;
use crate::read::taken_along::Slot;

/// The records that are taken back, and what is to happen.
pub(super) struct Taken<'s> {
    pub(super) now: &'s Snapshot,
    /// Before the records.
    pub(super) then: &'s Snapshot,
    /// Right after them.
    pub(super) after: &'s Snapshot,
    pub(super) touched: &'s [Slot],
    /// Its changes do not count.
    pub(super) own: Option<Slot>,
    pub(super) keep: Option<Keep>,
    /// True if an instance in conflict stays as a whole.
    pub(super) is_whole: bool,
}

impl Taken<'_> {
    fn last(&self) -> u64 {
        self.after.position().0
    }

    fn is_new(&self, (kind, slot): Slot) -> bool {
        !self.then.sees(kind, slot)
    }

    /// An instance as a snapshot knows it, also if it is deleted there.
    fn state(snapshot: &Snapshot, (kind, slot): Slot) -> Result<Arc<Instance>> {
        snapshot.instance(kind, slot, snapshot.fetch(kind, slot)?)
    }

    /// Where a snapshot sees an entity: the relationship that contains it.
    fn place(snapshot: &Snapshot, entity: u32) -> Result<Option<Arc<Instance>>> {
        if !snapshot.sees(TypeKind::Entity, entity) {
            return Ok(None);
        }
        let link = snapshot.container_seen(entity)?;
        link.map(|link| Self::state(snapshot, (TypeKind::Relationship, link.relationship))).transpose()
    }

    /// The place of an entity as a unit: the relationship that contains it, with its ends, properties and provenance.
    fn place_unit(&self, entity: u32) -> Result<Unit> {
        let [before, after, now] = [self.then, self.after, self.now].map(|at| Self::place(at, entity));
        let places = [before?, after?, now?];
        let is_equal = |one: usize, other: usize| match (&places[one], &places[other]) {
            (Some(one), Some(other)) => is_equal(self.now.graph(), one, other),
            (None, None) => true,
            _ => false,
        };
        Ok(Unit::by(|| is_equal(0, 1), || is_equal(0, 2), || is_equal(1, 2)))
    }

    /// The entities that a relationship contains, or contained before the records.
    fn contained(&self, slot: u32) -> Result<Vec<u32>> {
        let graph = self.now.graph();
        let relationship = (TypeKind::Relationship, slot);
        let mut shapes: Vec<_> =
            graph.relationships.row(slot).map(|row| (row.type_name(), row.ends())).into_iter().collect();
        if !self.is_new(relationship) {
            let held = self.then.fetch(relationship.0, slot)?;
            let row = self.then.row(relationship.0, slot, &held);
            shapes.push((row.type_name(), row.ends()));
        }
        shapes.retain(|(type_name, _)| graph.containment(*type_name).is_some());
        let mut entities: Vec<u32> = shapes.into_iter().map(|(_, ends)| ends[1]).collect();
        entities.dedup();
        Ok(entities)
    }

    /// Finds the instances on which later records built.
    ///
    /// Shape: in the order of `touched`, then containers of instances that must stay.
    pub(super) fn built_on(&self) -> Result<Found<'_>> {
        let mut found = Found::new(self.now.graph(), self.touched, self.keep);
        for &slot in self.touched.iter().filter(|slot| Some(**slot) != self.own) {
            self.now.check_cancelled()?;
            let contained =
                if slot.0 == TypeKind::Relationship { self.contained(slot.1)? } else { Vec::new() };
            match (self.is_new(slot), contained.is_empty()) {
                (_, false) => self.find_place(&mut found, slot, &contained)?,
                (true, true) => self.find_new(&mut found, slot),
                (false, true) => self.find_content(&mut found, slot)?,
            }
        }
        if self.keep == Some(Keep::Mine) {
            return Ok(found);
        }
        let new: Vec<Slot> = self.touched.iter().copied().filter(|slot| self.is_new(*slot)).collect();
        let lost = lost(&found, self.now, self.then, self.touched)?;
        find_homeless(&mut found, self.then, &lost)?;
        find_linked(&mut found, &new);
        self.find_containers(&mut found, &new, &lost)?;
        Ok(found)
    }

    /// The position of the latest version, if a later record wrote it.
    fn changed(&self, (kind, slot): Slot) -> Option<u64> {
        let row = self.now.graph().table(kind).row(slot)?;
        Some(row.changed()).filter(|changed| *changed > self.last())
    }

    /// Finds a new instance that later records changed; one that they deleted is gone.
    fn find_new(&self, found: &mut Found<'_>, slot: Slot) {
        if let Some(changed) = self.changed(slot).filter(|_| self.now.graph().table(slot.0).is_live(slot.1)) {
            found.add(slot, Extent::Whole, &format!("it was changed at position {changed}"));
        }
    }

    /// Finds an instance whose content both sides changed, and merges it.
    fn find_content(&self, found: &mut Found<'_>, slot: Slot) -> Result<()> {
        let Some(changed) = self.changed(slot) else { return Ok(()) };
        let graph = self.now.graph();
        let Some(now) = graph.table(slot.0).get(slot.1)? else { return Ok(()) };
        let (before, after) = (Self::state(self.then, slot)?, Self::state(self.after, slot)?);
        let sides = Sides { kind: slot.0, before: &before, after: &after, now: &now };
        let merged = sides.merged(graph, self.keep);
        let is_deleted_since = !now.is_live() && self.after.sees(slot.0, slot.1);
        if is_deleted_since && !merged.is_changed {
            found.stay.insert(slot);
            return Ok(());
        }
        if is_deleted_since {
            let text = format!("it was changed at position {changed}; it is deleted");
            found.add(slot, Extent::Whole, &text);
        } else if !merged.both.is_empty() {
            let text = format!("it was changed at position {changed}; both changed {}", merged.both_named());
            let is_whole = merged.is_whole || self.is_whole;
            found.add(slot, if is_whole { Extent::Whole } else { Extent::Units }, &text);
        }
        found.merged.insert(slot, Arc::new(merged.instance));
        Ok(())
    }

    /// Finds entities whose places both sides changed: by a relationship that contains them, or did.
    fn find_place(&self, found: &mut Found<'_>, slot: Slot, contained: &[u32]) -> Result<()> {
        let graph = self.now.graph();
        let changed = self.changed(slot);
        let is_live = graph.relationships.is_live(slot.1);
        for &child in contained {
            let entity = (TypeKind::Entity, child);
            let is_child_live = graph.entities.is_live(child);
            // A later record has already deleted a new instance, and so has no child that was elsewhere lost its place.
            if self.is_new(slot) && !is_live && (self.is_new(entity) || !is_child_live) {
                continue;
            }
            if self.is_new(entity) {
                if let Some(changed) = changed {
                    let text = format!("it was changed at position {changed}");
                    found.add(slot, Extent::Whole, &text);
                    found.add(entity, Extent::Whole, &text);
                }
                continue;
            }
            let other = graph.container_link(child).map(|link| (TypeKind::Relationship, link.relationship));
            let other = other.filter(|other| *other != slot && !found.known.contains(other));
            let elsewhere = other.and_then(|other| Some((other.1, self.changed(other)?)));
            if changed.is_none() && elsewhere.is_none() {
                continue;
            }
            let extent = if self.is_whole { Extent::Whole } else { Extent::Place };
            match (self.place_unit(child)?, elsewhere) {
                (Unit::Now | Unit::Again, _) => {
                    found.stay.insert(slot);
                    found.placed.insert(child);
                }
                (Unit::Before, None) => {}
                (_, Some((other, changed))) => {
                    let id = graph.relationships.id(other);
                    let text =
                        format!("relationship {id} placed it in another container at position {changed}");
                    found.add(entity, extent, &text);
                    let text = "it contained an instance that stays in another container";
                    found.add(slot, Extent::Whole, text);
                }
                (Unit::Both, None) => {
                    let changed = changed.unwrap_or_default();
                    found.add(slot, Extent::Whole, &format!("it was changed at position {changed}"));
                    found.add(entity, extent, &format!("its place was changed at position {changed}"));
                }
            }
        }
        Ok(())
    }

    /// Finds what must stay because instances stay: an instance that keeps its place keeps its new container, too; others
    /// may then have no place.
    fn find_containers(&self, found: &mut Found<'_>, new: &[Slot], lost: &[Lost]) -> Result<()> {
        let graph = self.now.graph();
        let (mut new_entities, mut new_relationships) = (SlotSet::new(), SlotSet::new());
        for &(kind, slot) in new {
            match kind {
                TypeKind::Relationship => new_relationships.insert(slot),
                _ => new_entities.insert(slot),
            };
        }
        let is_copy = |&(kind, slot): &Slot| {
            graph.table(kind).row(slot).is_some_and(|row| row.is_live() && !graph.is_own(row.header()))
        };
        let copies: Vec<Slot> = new.iter().copied().filter(is_copy).collect();
        let mut next = 0;
        loop {
            let Some((kind, slot)) = found.all.get(next).map(|built| built.slot) else {
                find_homeless(found, self.then, lost)?;
                find_staying_copies(found, &copies, &new_entities);
                if next == found.all.len() {
                    return Ok(());
                }
                continue;
            };
            self.now.check_cancelled()?;
            next += 1;
            if !found.keeps_place((kind, slot)) {
                continue;
            }
            let ends = match kind {
                TypeKind::Relationship => graph.relationships.row(slot).map(|row| row.ends().to_vec()),
                _ => graph.container_link(slot).map(|link| {
                    if new_relationships.contains(link.relationship) {
                        let text = "it contains an instance that stays";
                        found.add((TypeKind::Relationship, link.relationship), Extent::Whole, text);
                    }
                    vec![link.other]
                }),
            };
            for end in ends.unwrap_or_default() {
                if new_entities.contains(end) && graph.entities.is_live(end) {
                    let text = "it belongs to an instance that stays";
                    found.add((TypeKind::Entity, end), Extent::Whole, text);
                }
            }
        }
    }
}

/// Finds new entities to which others have linked instances since.
fn find_linked(found: &mut Found<'_>, new: &[Slot]) {
    let graph = found.graph;
    // To delete a new entity deletes its relationships, and everything that it contains. Those that these records linked to it
    // leave it first.
    for &(kind, slot) in new.iter().filter(|(kind, _)| *kind == TypeKind::Entity) {
        let stranger = graph
            .live_relationships(slot)
            .into_iter()
            .find(|relationship| !found.known.contains(&(TypeKind::Relationship, *relationship)));
        if let Some(stranger) = stranger {
            let changed = graph.relationships.row(stranger).map_or(0, |row| row.changed());
            let id = graph.relationships.id(stranger);
            let text = format!("relationship {id} was added to it at position {changed}");
            found.add((kind, slot), Extent::Whole, &text);
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
                let text = "it is a copy, and nothing that is deleted contains it any more";
                found.add((kind, slot), Extent::Whole, text);
            }
        }
        is_more = found.all.len() > count;
    }
}
