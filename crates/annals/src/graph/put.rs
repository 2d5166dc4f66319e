//! The only functions that change instances; they make the events for indexes.

use std::sync::Arc;

use super::index::event::{Correct, Event, Known, Purge, Put, Reindex, Told};
use super::instance::headers::{HeaderNumber, PLAIN};
use super::instance::past::PastVersion;
use super::instance::patch::ValueChange;
use super::instance::unpacked::Instance;
use super::integrity::types::Types;
use super::purges::PurgedInstance;
use super::structures::child::Child;
use super::structures::symbols::Symbol;
use super::{Graph, PurgedVersion, instance_id};
use crate::model::{TypeKind, Value};
use crate::structures::vector::Vector;
use crate::{Position, Result};

/// Number of instances that are put together: their data then stays in the caches of a processor.
const PUT_TOGETHER: usize = 1_024;

/// Values and classifications that a version written into the past may have, for searches of the past.
pub(crate) struct Corrected {
    /// The instant when it was written. Units: microseconds since 1970.
    pub(crate) written: i64,
    pub(crate) values: Vec<(Symbol, Value)>,
    pub(crate) classified: Vec<Symbol>,
}

/// The next version of an instance.
pub(crate) struct Later {
    pub(crate) slot: u32,
    pub(crate) before: Arc<Instance>,
    pub(crate) after: Arc<Instance>,
}

/// The events of both tables since the indexes took them the last time.
#[derive(Clone, Default)]
pub(crate) struct EventBatch {
    /// The position of its last record.
    pub(crate) position: Position,
    pub(crate) entities: Vector<Told>,
    pub(crate) relationships: Vector<Told>,
    /// Number of its events. Instances that were deleted or purged together count once.
    pub(crate) events_count: usize,
    /// Length of its records; 0 if not counted. Units: bytes.
    pub(crate) bytes: usize,
}

impl Graph {
    /// Adds a new entity.
    pub(crate) fn create_entity(&mut self, entity: Instance) {
        self.links.push();
        self.create(TypeKind::Entity, entity, None);
    }

    /// Adds a new relationship with its links. `child` is the place that [`Graph::check_contained`] found.
    pub(crate) fn create_relationship(&mut self, relationship: Instance, child: Option<Child>) {
        let (type_name, ends) = (relationship.type_name, relationship.ends);
        let slot = self.create(TypeKind::Relationship, relationship, child.map(Box::new));
        self.links.insert(slot, type_name, ends);
    }

    fn create(&mut self, kind: TypeKind, instance: Instance, child: Option<Box<Child>>) -> u32 {
        let after = self.known_at(kind, Arc::new(instance), &[], child);
        let slot = self.table_mut(kind).push(&after.instance);
        self.tell(kind, Event::Put(Put { slot, before: None, after, changes: Vec::new() }));
        slot
    }

    /// Replaces `before` by the next version of an instance. `changes` are the differences of the values.
    ///
    /// Errors: those of reading spilled values.
    pub(crate) fn put(
        &mut self,
        kind: TypeKind,
        slot: u32,
        before: &Arc<Instance>,
        after: Instance,
        changes: Vec<ValueChange>,
    ) -> Result<()> {
        if kind == TypeKind::Entity && self.may_rename(before, &after) {
            self.rename_child(slot, &after)?;
        }
        let before = Some(self.known_as(kind, Arc::clone(before), &changes)?);
        let after = self.known_as(kind, Arc::new(after), &changes)?;
        let table = self.table_mut(kind);
        for name in changes.iter().map(ValueChange::name) {
            table.columns.put(name, slot, after.instance.properties.get(name));
        }
        table.replace(slot, &after.instance);
        self.tell(kind, Event::Put(Put { slot, before, after, changes }));
        Ok(())
    }

    /// Replaces several instances by their next versions, with unchanged values.
    ///
    /// Shape: slots ascending, each once; no instance is renamed.
    /// Errors: those of reading spilled values.
    pub(crate) fn put_sorted(&mut self, kind: TypeKind, later: &[Later]) -> Result<()> {
        for later in later.chunks(PUT_TOGETHER) {
            let mut events = Vec::with_capacity(later.len());
            for Later { slot, before, after } in later {
                let before = Some(self.known_as(kind, Arc::clone(before), &[])?);
                let after = self.known_as(kind, Arc::clone(after), &[])?;
                events.push(Event::Put(Put { slot: *slot, before, after, changes: Vec::new() }));
            }
            let table = self.table_mut(kind);
            table.replace_sorted(later.iter().map(|later| (later.slot, &*later.after)));
            table.lists.update(&events.iter().collect::<Vec<_>>());
            events.into_iter().for_each(|event| table.events.push(Told::One(event)));
        }
        Ok(())
    }

    /// Stores an instance with one more version in its past: the version in force stays.
    pub(crate) fn correct(&mut self, kind: TypeKind, slot: u32, after: &Instance, corrected: Corrected) {
        let Corrected { written, mut values, classified } = corrected;
        values.retain(|(name, _)| self.types.is_indexed(kind, after.type_name, *name));
        self.table_mut(kind).replace(slot, after);
        self.tell(kind, Event::Correct(Correct { slot, written, values, classified }));
    }

    /// Removes an instance permanently, with all its versions; its links must be removed before.
    ///
    /// Errors: those of reading spilled values.
    pub(crate) fn remove(&mut self, kind: TypeKind, slot: u32) -> Result<()> {
        let instance = self.table(kind).known(slot)?;
        let versions = instance.all_versions();
        if self.purged.is_some() {
            let removed = |version: &PastVersion| {
                let shape = self.shape_of(&instance, version.header);
                let child = self.containment(shape.type_name).map(|_| shape.ends[1]);
                let child = child.filter(|_| kind == TypeKind::Relationship);
                PurgedVersion { place: version.place, instance: instance_id(kind, shape.id), child }
            };
            let removed: Vec<PurgedVersion> = versions.iter().map(removed).collect();
            self.purged.iter_mut().for_each(|purged| purged.extend_from_slice(&removed));
        }
        let (mut types, mut homes) = (vec![instance.type_name], Vec::new());
        let (mut ids, mut starts) = (vec![instance.id.clone()], vec![instance.ends[0]]);
        if self.headers.len() > 1 {
            for version in versions {
                let shape = self.shape_of(&instance, version.header);
                if !ids.contains(&shape.id) {
                    self.table_mut(kind).former_ids.remove(&shape.id);
                    ids.push(shape.id);
                }
                types.push(shape.type_name);
                starts.push(shape.ends[0]);
                homes.extend(self.home_symbol(version.header));
            }
        }
        starts.retain(|_| kind == TypeKind::Relationship);
        // The position of the graph is still the one before this record.
        let position = self.position.next().0;
        self.purges.add(PurgedInstance { position, kind, slot, ids, types: types.clone(), starts });
        let last = self.known_as(kind, instance, &[])?;
        self.table_mut(kind).remove(slot);
        self.tell(kind, Event::Purge(Purge { slot, last, types, homes }));
        Ok(())
    }

    /// Notes instances of one shape that are purged now, before they are removed.
    pub(super) fn note_purged(&mut self, kind: TypeKind, slots: &[u32]) {
        let table = match kind {
            TypeKind::Relationship => &self.relationships,
            TypeKind::Entity | TypeKind::Classification | TypeKind::Enum => &self.entities,
        };
        // The position of the graph is still the one before this record.
        let position = self.position.next();
        let purged = slots.iter().map(|slot| {
            let row = table.known_row(*slot);
            PurgedInstance {
                position: position.0,
                kind,
                slot: *slot,
                ids: vec![table.id(*slot).clone()],
                types: vec![row.type_name()],
                starts: if kind == TypeKind::Relationship { vec![row.ends()[0]] } else { Vec::new() },
            }
        });
        self.purges.add_together(position, slots.len(), purged);
    }

    /// Updates the indexed values of an instance, after types changed from `before`.
    pub(crate) fn reindex(&mut self, kind: TypeKind, slot: u32, instance: Arc<Instance>, before: &Types) {
        let is_indexed = |types: &Types, name| types.is_indexed(kind, instance.type_name, name);
        let names = instance.properties.iter().map(|(name, _)| (name, is_indexed(&self.types, name)));
        let properties: Vec<_> =
            names.filter(|(name, is_now)| is_indexed(before, *name) != *is_now).collect();
        if !properties.is_empty() {
            self.tell(kind, Event::Reindex(Reindex { slot, instance, properties }));
        }
    }

    /// The events since the last call.
    pub(crate) fn take_events(&mut self) -> EventBatch {
        let [entities, relationships] =
            [&mut self.entities, &mut self.relationships].map(|table| std::mem::take(&mut table.events));
        let events_count = entities.iter().chain(relationships.iter()).map(Told::count).sum();
        EventBatch { position: self.position, entities, relationships, events_count, bytes: 0 }
    }

    fn tell(&mut self, kind: TypeKind, event: Event) {
        let table = self.table_mut(kind);
        table.lists.update(&[&event]);
        table.events.push(Told::One(event));
    }

    /// `changes` may name properties that the instance no longer has, or did not have yet.
    fn known_as(&self, kind: TypeKind, instance: Arc<Instance>, changes: &[ValueChange]) -> Result<Known> {
        let child = match kind {
            TypeKind::Relationship => self.child_of(&instance, None)?.map(Box::new),
            TypeKind::Entity | TypeKind::Classification | TypeKind::Enum => None,
        };
        Ok(self.known_at(kind, instance, changes, child))
    }

    fn known_at(
        &self,
        kind: TypeKind,
        instance: Arc<Instance>,
        changes: &[ValueChange],
        child: Option<Box<Child>>,
    ) -> Known {
        let is_proxy = instance.header != PLAIN && self.headers.get(instance.header).is_proxy;
        let home = self.home_symbol(instance.header);
        let names =
            instance.properties.iter().map(|(name, _)| name).chain(changes.iter().map(ValueChange::name));
        let unindexed = self.types.unindexed_among(kind, instance.type_name, names);
        Known { instance, is_proxy, home, unindexed, child }
    }

    fn home_symbol(&self, header: HeaderNumber) -> Option<Symbol> {
        if header == PLAIN {
            return None;
        }
        self.names.find(self.headers.get(header).home()?)
    }
}
