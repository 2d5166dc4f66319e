//! The end of a record: checks unique values and the rules of trees, for the instances that the record changed and for
//! those that depend on them.
//!
//! The check is for new records, and not for records of a log: a compaction removes purged instances from records in
//! which others needed them. So does an export of a history: when it is imported, the rules of trees are not checked.

use std::cell::Cell;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::Graph;
use super::index::event::{Event, Known, Put, Told};
use super::index::key::for_each_indexed;
use super::instance::patch::ValueChange;
use super::integrity::constraints::Constraints;
use super::integrity::types::{DeclaredType, Types};
use super::structures::child::{Child, NAMED_GROUP, append_name, group_of_type};
use super::structures::slot_set::SlotSet;
use super::structures::symbols::Symbol;
use crate::model::{TypeKind, Value};
use crate::{Error, ErrorKind, Result};

/// The start of a record.
#[derive(Clone)]
pub(crate) struct RecordStart {
    /// Number of events of each table.
    events: [usize; 2],
    types: Arc<Types>,
}

/// The instances to check.
struct Concerned<'g> {
    graph: &'g Graph,
    /// Slots of entities, possibly repeated.
    entities: Vec<u32>,
    /// Values that entities no longer have, and that references may lead to.
    lost: Vec<(u32, Symbol, Value)>,
    /// Entities with a new place, and whether they had one before.
    moved: Vec<(u32, bool)>,
    /// The containers of such entities at the start of the record.
    former: HashMap<u32, Option<u32>>,
}

impl Graph {
    /// The start of the next record.
    pub(crate) fn record_start(&self) -> RecordStart {
        RecordStart {
            events: [self.entities.events.len(), self.relationships.events.len()],
            types: Arc::clone(&self.types),
        }
    }

    /// Checks the rules at the end of the record that began at `start`: unique values, required children, values that
    /// are unique together, references; of a record of a history only unique values.
    ///
    /// Errors: `Cardinality`, `NotUnique`, `MissingEnd`.
    pub(crate) fn check_record(&self, start: &RecordStart, is_of_history: bool) -> Result<()> {
        self.check_unique_of_record(start)?;
        if !self.types.has_constraints || is_of_history {
            return Ok(());
        }
        let mut concerned = Concerned {
            graph: self,
            entities: Vec::new(),
            lost: Vec::new(),
            moved: Vec::new(),
            former: HashMap::new(),
        };
        let [entities, relationships] = start.events;
        // With such rules, nothing is changed together, unless the record declared them after that.
        for told in self.entities.events.iter_from(entities) {
            match told {
                Told::One(event) => concerned.note_entity(event),
                Told::Created(together) | Told::Restored(together) => {
                    concerned.entities.extend(&together.slots)
                }
                Told::Deleted(_) | Told::Purged(_) => {}
            }
        }
        for event in self.relationships.events.iter_from(relationships).filter_map(Told::one) {
            concerned.note_relationship(event);
        }
        if !self.types.referring.is_empty() {
            concerned.follow_moved()?;
            concerned.follow_lost()?;
        }
        let mut entities = concerned.entities;
        entities.sort_unstable();
        entities.dedup();
        entities.into_iter().try_for_each(|slot| self.check_constraints(slot))?;
        match Arc::ptr_eq(&start.types, &self.types) {
            true => Ok(()),
            false => self.check_declared(&start.types, self.has_together(start)),
        }
    }

    /// Unique values: two instances may exchange theirs within a record.
    ///
    /// Errors: `NotUnique`.
    fn check_unique_of_record(&self, start: &RecordStart) -> Result<()> {
        self.each_not_unique(start, |_, _, error| Err(error))
    }

    /// Calls `found` for each instance that the record gave a value that others have: with its table and slot, the
    /// property, and the error.
    ///
    /// Errors: those of `found`, and of reading values.
    pub(crate) fn each_not_unique(
        &self,
        start: &RecordStart,
        mut found: impl FnMut((TypeKind, u32), Symbol, Error) -> Result<()>,
    ) -> Result<()> {
        if !self.types.has_unique {
            return Ok(());
        }
        let mut check = |kind: TypeKind, slot: u32, is_wanted: &dyn Fn(Symbol) -> bool| {
            let checked = Cell::new(None);
            let is_wanted = |name| {
                checked.set(Some(name));
                is_wanted(name)
            };
            match (self.check_unique_values_of(kind, slot, is_wanted), checked.get()) {
                (Err(error), Some(name)) if error.kind() == ErrorKind::NotUnique => {
                    found((kind, slot), name, error)
                }
                (outcome, _) => outcome,
            }
        };
        for (kind, first) in [TypeKind::Entity, TypeKind::Relationship].into_iter().zip(start.events) {
            for told in self.table(kind).events.iter_from(first) {
                let event = match told {
                    Told::One(event) => event,
                    Told::Created(together) | Told::Restored(together) => {
                        together.slots.iter().try_for_each(|slot| check(kind, *slot, &|_| true))?;
                        continue;
                    }
                    // It gives no value.
                    Told::Deleted(_) | Told::Purged(_) => continue,
                };
                let Event::Put(Put { slot, before, after, changes }) = event else { continue };
                let type_name = after.instance.type_name;
                let was_checked = before.as_ref().is_some_and(|before| {
                    before.is_listed() && before.home.is_none() && before.instance.type_name == type_name
                });
                check(kind, *slot, &|name| {
                    let is_changed = |change: &ValueChange| matches!(change, ValueChange::Added(known, _) if *known == name);
                    !was_checked || changes.iter().any(is_changed)
                })?;
            }
        }
        Ok(())
    }

    /// True if the record that began at `start` changed instances together.
    fn has_together(&self, start: &RecordStart) -> bool {
        let mut tables = [&self.entities, &self.relationships].into_iter().zip(start.events);
        tables.any(|(table, first)| table.events.iter_from(first).any(|told| told.one().is_none()))
    }

    /// The same for the instances of types whose rules differ from those in `before`, or of all types.
    fn check_declared(&self, before: &Types, is_all: bool) -> Result<()> {
        let types = &self.types;
        let keys_before = |step: &Arc<str>| before.list_keys(step, &self.names);
        let is_other_path = |constraints: &Constraints| {
            let steps = constraints.references.iter().flat_map(|(_, reference)| &reference.steps);
            steps.into_iter().any(|step| keys_before(step) != types.list_keys(step, &self.names))
        };
        for (name, declared) in types.of_kind(TypeKind::Entity) {
            let DeclaredType { constraints, .. } = &**declared;
            let known = before.get(TypeKind::Entity, name).map(|known| &known.constraints);
            let is_known = !is_all && known == Some(constraints) && !is_other_path(constraints);
            if constraints.is_empty() || is_known {
                continue;
            }
            let slots = self.entities.lists.by_type.extents.of(name).into_iter().flat_map(SlotSet::iter);
            for slot in slots {
                let outcome = self.check_constraints(slot);
                outcome.map_err(|error| error.with("already there", self.entities.id(slot)))?;
            }
        }
        Ok(())
    }

    /// Copies have the state of their home, and a proxy has few fields: neither is checked.
    fn check_constraints(&self, slot: u32) -> Result<()> {
        let Some(row) = self.entities.row(slot).filter(|row| row.is_live()) else { return Ok(()) };
        let Some(declared) = self.types.get(TypeKind::Entity, row.type_name()) else { return Ok(()) };
        if declared.constraints.is_empty() || !self.is_own(row.header()) {
            return Ok(());
        }
        self.check_required_children(slot, declared)?;
        self.check_together(slot, &declared.constraints)?;
        self.check_references(slot, &declared.constraints)
    }

    fn check_required_children(&self, slot: u32, declared: &DeclaredType) -> Result<()> {
        let children = &self.relationships.lists.children;
        for required in &declared.constraints.required_children {
            let mut name = Vec::with_capacity(required.len() + 1);
            append_name(required, &mut name);
            let has_item = |list| children.of_group(slot, group_of_type(list)).next().is_some();
            let is_there = children.named(slot, NAMED_GROUP, &name).next().is_some()
                || self.list_type(required).is_some_and(has_item);
            if !is_there {
                let text = format!(
                    "entity {}: type {} requires a child, or an item of a list, called {required}, found none; create or keep one",
                    self.entities.id(slot),
                    declared.definition.name
                );
                return Err(Error::new(ErrorKind::Cardinality, text));
            }
        }
        Ok(())
    }
}

impl Concerned<'_> {
    fn note_entity(&mut self, event: &Event) {
        match event {
            Event::Put(put) => {
                self.entities.push(put.slot);
                let Some(before) = put.before.as_ref().filter(|before| before.instance.is_live()) else {
                    return;
                };
                self.lose(put.slot, before, Some(&put.after));
                if before.instance.type_name != put.after.instance.type_name {
                    // It may now be in another list.
                    self.moved.push((put.slot, true));
                    let link = self.graph.container_link(put.slot);
                    self.entities.extend(link.map(|link| link.other));
                }
            }
            Event::Purge(purge) if purge.last.instance.is_live() => {
                self.lose(purge.slot, &purge.last, None);
            }
            Event::Purge(_) | Event::Correct(_) | Event::Reindex(_) => {}
        }
    }

    fn note_relationship(&mut self, event: &Event) {
        match event {
            Event::Put(put) => self.note_child(put),
            Event::Purge(purge) => self.note_left(purge.last.child.as_deref(), &purge.last),
            Event::Correct(_) | Event::Reindex(_) => {}
        }
    }

    fn note_child(&mut self, put: &Put) {
        let (before, after) = (put.before.as_ref(), &put.after);
        let was = before.and_then(|before| before.child.as_deref());
        let is = after.child.as_deref();
        if was == is {
            return;
        }
        let place = |child: &Child| {
            let name = (child.group == NAMED_GROUP).then(|| child.name.clone());
            (child.parent, child.group, name)
        };
        if was.map(place) == is.map(place) {
            return;
        }
        before.into_iter().for_each(|before| self.note_left(was, before));
        if is.is_some() {
            let slot = after.instance.ends[1];
            self.former.entry(slot).or_insert(None);
            self.entities.push(slot);
            self.moved.push((slot, false));
        }
    }

    /// Notes that a child left its place.
    fn note_left(&mut self, child: Option<&Child>, relationship: &Known) {
        let Some(child) = child else { return };
        let slot = relationship.instance.ends[1];
        self.former.entry(slot).or_insert(Some(child.parent));
        self.entities.push(child.parent);
        self.moved.push((slot, true));
    }

    /// Notes former values of an entity that references may lead to.
    fn lose(&mut self, slot: u32, before: &Known, after: Option<&Known>) {
        let (before, after) = (&before.instance, after.map(|after| &after.instance));
        let after = after.filter(|after| after.is_live() && after.type_name == before.type_name);
        for leaf in self.graph.types.referring.keys() {
            let value = before.properties.get(*leaf);
            if value != after.and_then(|after| after.properties.get(*leaf)) {
                value.into_iter().for_each(|value| note(&mut self.lost, slot, *leaf, value));
            }
        }
    }

    /// Finds the items below moved ones: their references start elsewhere. Other items may refer to items that left.
    fn follow_moved(&mut self) -> Result<()> {
        let mut met = HashSet::new();
        // Order: those that left first, because each is visited once.
        self.moved.sort_by_key(|(_, has_left)| !has_left);
        let mut moved = std::mem::take(&mut self.moved);
        moved.reverse();
        while let Some((slot, has_left)) = moved.pop() {
            if !met.insert(slot) {
                continue;
            }
            self.entities.push(slot);
            if has_left {
                for leaf in self.graph.types.referring.keys() {
                    let value = self.graph.entities.read_value(slot, *leaf)?;
                    value.iter().for_each(|value| note(&mut self.lost, slot, *leaf, value));
                }
            }
            moved.extend(self.graph.child_links(slot).map(|link| (link.other, has_left)));
        }
        Ok(())
    }

    /// Finds the items that may refer to lost values.
    fn follow_lost(&mut self) -> Result<()> {
        let container =
            |entity: u32| self.former.get(&entity).copied().unwrap_or_else(|| self.graph.container(entity));
        for (slot, leaf, value) in &self.lost {
            for referring in &self.graph.types.referring[leaf] {
                self.entities.extend(self.graph.referring_to(*slot, referring, value, container)?);
            }
        }
        Ok(())
    }
}

fn note(lost: &mut Vec<(u32, Symbol, Value)>, slot: u32, leaf: Symbol, value: &Value) {
    for_each_indexed(value, |scalar| lost.push((slot, leaf, scalar.clone())));
}
