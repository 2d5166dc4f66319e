//! Applies records to the graph, checking each change against all earlier ones.
//!
//! The same code runs at commit, in a transaction's own view, at recovery and in a follower, so the graph is a function
//! of the log. After an error the graph is half changed, and the caller drops that copy.

use super::context::Context;
use std::sync::Arc;

use crate::graph::instance::past::ChangePlace;
use crate::graph::instance::properties::Properties;
use crate::graph::instance::row::Row;
use crate::graph::instance::unpacked::{Instance, RowStamp};
use crate::graph::structures::child::Child;
use crate::graph::structures::symbols::Symbol;
use crate::graph::{Graph, kind_of};
use crate::model::{
    Action, Change, Id, InstanceId, Instant, NAMES_MAX, PROPERTIES_MAX, Record, TypeKind, Value, check_name,
};
use crate::{Error, ErrorKind, Position, Result};

use crate::model::time::display_micros;
use crate::structures::number::narrow;

/// For a record with more changes, the names that are found are cached.
const FEW_CHANGES_MAX: usize = 32;
/// Most instances of one kind in a graph, including purged ones.
pub(super) const SLOTS_MAX: usize = u32::MAX as usize - 1;

/// The error of one of several changes, with its number and its instance.
fn named(error: Error, record: &Record, number: u32) -> Error {
    let change = record.changes.get(number as usize).filter(|_| record.changes.len() > 1);
    let Some(change) = change else { return error };
    // An id that the engine made says nothing to those who did not see it yet.
    let is_made =
        change.action.is_create() && change.action.instance().is_some_and(|new| new.id().text().is_none());
    let instance = change.action.instance().filter(|_| !is_made).map(|instance| instance.to_string());
    let error = error.with("change", number);
    match instance.filter(|instance| !error.text().contains(instance)) {
        Some(instance) => error.with("instance", instance),
        None => error,
    }
}

/// The error of an instance at the end of a record, with the number of its last change.
pub(crate) fn named_at_end(error: Error, record: &Record) -> Error {
    let context = error.context();
    let instance = context.iter().find(|(name, _)| *name == "instance").map(|(_, instance)| instance);
    let is_of = |change: &Change| {
        let named = change.action.instance();
        named.is_some_and(|named| Some(&named.to_string()) == instance)
    };
    let number = match instance.is_some() && record.changes.len() > 1 {
        true => record.changes.iter().rposition(is_of),
        false => None,
    };
    match number {
        Some(number) => error.with("change", number),
        None => error,
    }
}

impl Graph {
    /// As [`Graph::apply`] for a new record, which must keep the bounds of names, too.
    pub(crate) fn apply_new(&mut self, position: Position, record: &Record) -> Result<()> {
        self.within_bounds(|graph| graph.apply(position, record))
    }

    /// As [`Graph::apply_changes`] for a new record.
    pub(crate) fn apply_new_changes(
        &mut self,
        position: Position,
        record: &Record,
        applied: u32,
    ) -> Result<()> {
        self.within_bounds(|graph| graph.apply_changes(position, record, applied))
    }

    /// Applies an action that belongs to the change `number`, which was applied before: the version of that change gets
    /// the content. A transaction's own graph uses this.
    ///
    /// Errors: as [`Graph::apply`].
    pub(crate) fn amend(&mut self, number: u32, action: &Action, stamp: (Instant, &Arc<str>)) -> Result<()> {
        let (micros, author) = (stamp.0.micros(), stamp.1);
        self.within_bounds(|graph| {
            let place = ChangePlace { position: graph.position.0, change: number };
            let stamp = RowStamp { micros, author: graph.authors.intern(author) };
            let context = Context { place, stamp, valid_from: micros, is_anchored: false, is_amending: true };
            action.apply(graph, context)
        })
    }

    fn within_bounds(&mut self, apply: impl FnOnce(&mut Graph) -> Result<()>) -> Result<()> {
        let names_before = self.names.len();
        self.is_bounded = true;
        let outcome = apply(self);
        self.is_bounded = false;
        outcome?;
        // Names of attributes and homes are not checked one by one.
        if self.names.len() > NAMES_MAX.max(names_before) {
            return Err(too_many_names(self.names.name(Symbol(narrow(names_before)))));
        }
        Ok(())
    }

    /// Applies the record at `position`, the next one.
    ///
    /// Errors: those of all checks; the graph must then be dropped.
    pub(crate) fn apply(&mut self, position: Position, record: &Record) -> Result<()> {
        assert_eq!(position, self.position.next(), "records are applied in order, without gaps");
        let micros = record.instant.micros();
        if micros < self.last_instant() {
            return Err(Error::new(
                ErrorKind::Corrupted,
                format!("record {position}: its instant {} is before its predecessor's", record.instant),
            ));
        }
        self.instants.push(micros);
        self.apply_changes(position, record, 0)?;
        if let Some(key) = &record.idempotency_key {
            self.repeats.add(position, key);
        }
        self.position = position;
        Ok(())
    }

    /// Applies the changes of a record except the first `applied` ones, which were applied before. A transaction's own
    /// graph uses this for changes added later.
    ///
    /// Errors: as [`Graph::apply`].
    pub(crate) fn apply_changes(&mut self, position: Position, record: &Record, applied: u32) -> Result<()> {
        let micros = record.instant.micros();
        let stamp = RowStamp { micros, author: self.authors.intern(&record.author) };
        let is_remembering = record.changes.len() > FEW_CHANGES_MAX && self.names.remember();
        let context_of = |number: u32, change: &Change| {
            let valid_from = change.valid_from.or(record.valid_from).map_or(micros, Instant::micros);
            let place = ChangePlace { position: position.0, change: number };
            Context { place, stamp, valid_from, is_anchored: change.anchor.is_some(), is_amending: false }
        };
        let mut number = applied;
        for mut run in record.changes.chunk_by(are_alike) {
            while !run.is_empty() {
                let context_at = |index: usize| context_of(number + narrow::<u32, usize>(index), &run[index]);
                let Done { together, single } = self.apply_together(run, context_at)?;
                for (index, change) in run.iter().enumerate().skip(together).take(single) {
                    let context = context_at(index);
                    let applied = check_not_later(&context).and_then(|()| change.action.apply(self, context));
                    applied.map_err(|error| named(error, record, context.place.change))?;
                }
                number += narrow::<u32, usize>(together + single);
                run = &run[together + single..];
            }
        }
        if is_remembering {
            self.names.forget();
        }
        Ok(())
    }

    /// Applies the first of `run`, adjacent changes of one kind, together if that is possible.
    ///
    /// Errors: those of reading spilled values.
    fn apply_together(&mut self, run: &[Change], context_at: impl Fn(usize) -> Context) -> Result<Done> {
        let all_single = Done { together: 0, single: run.len() };
        match &run[0].action {
            Action::Delete(_) => {
                let named = run.iter().enumerate().filter_map(|(index, change)| match &change.action {
                    Action::Delete(delete) => Some((context_at(index), &delete.instance)),
                    _ => None,
                });
                let is_done = self.delete_together(&named.collect::<Vec<_>>())?;
                Ok(if is_done { Done { together: run.len(), single: 0 } } else { all_single })
            }
            action if action.is_create() => Ok(self.create_together(run, context_at)),
            _ => Ok(all_single),
        }
    }

    /// The symbol of a name; a new name is checked.
    pub(crate) fn symbol(&mut self, what: &str, name: &Arc<str>) -> Result<Symbol> {
        if let Some(symbol) = self.names.find_again(name) {
            return Ok(symbol);
        }
        check_name(what, name)?;
        if self.is_bounded && self.names.len() >= NAMES_MAX {
            return Err(too_many_names(name));
        }
        Ok(self.names.intern(name))
    }

    /// Refuses changes that give an instance, or a classification, more properties than allowed. One that had more
    /// before may keep them.
    pub(crate) fn check_growth(
        &self,
        what: impl std::fmt::Display,
        before: &Properties,
        after: &Properties,
    ) -> Result<()> {
        let is_grown = || after.len() > PROPERTIES_MAX.max(before.len());
        if self.is_bounded && is_grown() { Err(too_many_properties(what, after.len())) } else { Ok(()) }
    }

    pub(crate) fn properties(&mut self, entries: &[(Arc<str>, Value)]) -> Result<Properties> {
        let mut known = Vec::with_capacity(entries.len());
        for (name, value) in entries {
            value.check(name)?;
            known.push((self.symbol("property", name)?, value.clone()));
        }
        Ok(Properties::from_entries(known))
    }

    /// The slot and the live instance.
    ///
    /// Errors: `NotFound`, `Deleted`.
    pub(crate) fn live(&self, instance: &InstanceId) -> Result<(u32, Arc<Instance>)> {
        let (slot, found) = self.known(instance)?;
        if found.is_live() {
            return Ok((slot, found));
        }
        Err(Error::new(ErrorKind::Deleted, format!("{instance} is deleted; restore it first")))
    }

    pub(crate) fn known(&self, instance: &InstanceId) -> Result<(u32, Arc<Instance>)> {
        let table = self.table(kind_of(instance));
        if let Some(found) = table.find(instance.id())? {
            return Ok(found);
        }
        Err(match table.former_ids.slot(instance.id()) {
            Some(slot) => reidentified(instance, table.id(slot)),
            None => Error::new(ErrorKind::NotFound, format!("{instance} does not exist")),
        })
    }

    pub(crate) fn check_new(&self, kind: TypeKind, id: &Id) -> Result<()> {
        let table = self.table(kind);
        if !table.is_later(id)
            && let Some(slot) = table.slot(id)
        {
            let is_live = table.row(slot).is_some_and(Row::is_live);
            let remedy = if is_live { "update it" } else { "it is deleted: restore or purge it" };
            return Err(Error::new(
                ErrorKind::AlreadyExists,
                format!("{} {id} already exists; {remedy}, or choose another id", kind.name()),
            ));
        }
        if let Some(slot) = table.former_ids.slot(id) {
            let now = table.id(slot);
            let text = format!("{} {id} was given the id {now}; choose another id", kind.name());
            return Err(Error::new(ErrorKind::AlreadyExists, text));
        }
        if table.slots_count() >= SLOTS_MAX {
            return Err(Error::new(
                ErrorKind::TooLarge,
                format!("expected at most {SLOTS_MAX} instances of a kind"),
            ));
        }
        Ok(())
    }

    /// Checks all properties of an instance that becomes live. The end of the record checks unique values.
    pub(crate) fn check_instance(
        &self,
        kind: TypeKind,
        instance: &Instance,
        slot: Option<u32>,
    ) -> Result<()> {
        match (kind, slot) {
            _ if self.types.is_empty() => Ok(()),
            (TypeKind::Relationship, _) => self.check_relationship(instance, slot).map(drop),
            (_, Some(slot)) => {
                self.check_all_properties(kind, instance)?;
                self.check_renamed(slot, instance)
            }
            _ => self.check_all_properties(kind, instance),
        }
    }

    /// The same for a relationship. Returns the place of the child that it contains.
    pub(crate) fn check_relationship(
        &self,
        relationship: &Instance,
        slot: Option<u32>,
    ) -> Result<Option<Child>> {
        if self.types.is_empty() {
            return Ok(None);
        }
        self.check_all_properties(TypeKind::Relationship, relationship)?;
        self.check_contained(relationship, slot)
    }

    fn check_all_properties(&self, kind: TypeKind, instance: &Instance) -> Result<()> {
        let names = instance.properties.iter().map(|(name, _)| name);
        self.check_properties(kind, instance.type_name, &instance.properties, names)
    }
}

/// The outcome for the first of adjacent changes of one kind.
pub(super) struct Done {
    /// This many are applied.
    pub(super) together: usize,
    /// This many more need the checks of a single one, or fail: they are applied one by one.
    pub(super) single: usize,
}

/// Refuses a valid time after the commit instant.
fn check_not_later(context: &Context) -> Result<()> {
    let (valid_from, instant) = (context.valid_from, context.stamp.micros);
    if valid_from <= instant {
        return Ok(());
    }
    let [valid_from, instant] = [valid_from, instant].map(display_micros);
    let text = format!("valid from {valid_from}: expected at most the commit instant {instant}");
    Err(Error::new(ErrorKind::FutureInstant, text))
}

/// True if both changes are deletions, or both are creations, or both are neither.
fn are_alike(one: &Change, next: &Change) -> bool {
    match (&one.action, &next.action) {
        (Action::Delete(_), next) => matches!(next, Action::Delete(_)),
        (one, next) => one.is_create() == next.is_create() && !matches!(next, Action::Delete(_)),
    }
}

fn too_many_names(name: &str) -> Error {
    let text = format!(
        "name {name}: expected at most {NAMES_MAX} names of types, properties and classifications in a repository, found one more; \
         use names that are there, and put what differs from instance to instance into values"
    );
    Error::new(ErrorKind::TooLarge, text)
}

/// The error for too many properties of an instance, or of a classification.
pub(crate) fn too_many_properties(what: impl std::fmt::Display, count: usize) -> Error {
    let text = format!(
        "{what}: expected at most {PROPERTIES_MAX} properties, found {count}; put what belongs together into one value, a map or a set, \
         or spread it over several entities"
    );
    Error::new(ErrorKind::TooLarge, text)
}

/// The error for an id that its instance no longer has.
pub(crate) fn reidentified(instance: &InstanceId, now: &Id) -> Error {
    let text = format!("{instance} was given the id {now}; ask for that, or read as of before");
    Error::new(ErrorKind::Deleted, text).with("reidentifiedAs", now)
}

/// Refuses changes of instances that another transaction wrote after `base`. Creations are not checked: applying one
/// fails if the instance exists, and then [`find_conflict`] gives the reason.
///
/// Errors: as [`find_conflict`].
pub(crate) fn check_conflicts(graph: &Graph, base: Position, changes: &[Change]) -> Result<()> {
    let is_new = |change: &&Change| change.action.is_create();
    find_conflict_of(graph, base, changes.iter().filter(|change| !is_new(change)))
}

/// Finds the first of `changes` on an instance that another transaction wrote after `base`.
///
/// Errors: `Conflict`, naming it.
pub(crate) fn find_conflict(graph: &Graph, base: Position, changes: &[Change]) -> Result<()> {
    find_conflict_of(graph, base, changes.iter())
}

fn find_conflict_of<'c>(
    graph: &Graph,
    base: Position,
    changes: impl Iterator<Item = &'c Change>,
) -> Result<()> {
    if graph.position == base {
        return Ok(());
    }
    for change in changes {
        if let Some((what, changed)) = changed_since(graph, base, change) {
            return Err(Error::new(
                ErrorKind::Conflict,
                format!(
                    "{what} was changed at position {changed}, after this transaction's snapshot {base}; retry"
                ),
            ));
        }
    }
    Ok(())
}

/// The instance of a change, and the position where it was written last, if another transaction wrote it after `base`.
pub(crate) fn changed_since(graph: &Graph, base: Position, change: &Change) -> Option<(String, Position)> {
    let (what, changed) = match &change.action {
        Action::DefineType(definition) => {
            let declared =
                graph.names.find(&definition.name).and_then(|name| graph.types.get(definition.kind, name));
            let changed = declared.map_or(0, |declared| declared.changed);
            (changed > base.0).then(|| (format!("type {}", definition.name), changed))
        }
        action => action.named_instances().find_map(|instance| {
            let table = graph.table(kind_of(&instance));
            let slot = table.slot(instance.id()).or_else(|| table.former_ids.slot(instance.id()));
            let changed = slot.and_then(|slot| table.row(slot)).map_or(0, Row::changed);
            (changed > base.0).then(|| (instance.to_string(), changed))
        }),
    }?;
    Some((what, Position(changed)))
}
