//! The plain model of a repository: full images of every version in ordinary maps, searched from end to end.

use annals::action;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use annals::*;

use super::operations::{Operation, Timed};
use super::plain_merge::Merges;
use super::plain_patch::{apply_patch, entries, map_of};

pub type Properties = BTreeMap<String, Value>;

#[derive(Clone, Debug, PartialEq)]
pub struct Classified {
    pub version: u32,
    pub created: (i64, String),
    pub updated: (i64, String),
    pub properties: Properties,
    pub provenance: Option<Provenance>,
}

/// The whole content of a version.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Image {
    pub properties: Properties,
    pub classifications: BTreeMap<String, Classified>,
}

#[derive(Clone, Debug)]
pub struct Version {
    pub number: u32,
    pub base: u32,
    pub position: u64,
    pub change: usize,
    /// When and by whom the record was written; a copy has the times of its home beside that.
    pub written: (i64, String),
    pub created: (i64, String),
    pub updated: (i64, String),
    pub valid_from: i64,
    pub status: Status,
    pub verb: &'static str,
    pub image: Image,
    pub shape: Shape,
}

/// The parts of a version beside its content.
#[derive(Clone, Debug, PartialEq)]
pub struct Shape {
    pub id: Id,
    pub type_name: String,
    /// Beside being deleted or not.
    pub status_name: String,
    /// Ages of the entities.
    pub ends: Option<(u64, u64)>,
    pub provenance: Option<Provenance>,
    pub home_version: u64,
    pub is_proxy: bool,
    pub reidentified_from: Option<Id>,
}

impl Shape {
    pub fn home(&self) -> Option<&Arc<str>> {
        self.provenance.as_ref()?.home.as_ref()
    }
}

#[derive(Clone, Debug)]
pub struct Known {
    pub age: u64,
    pub live_from: i64,
    /// In the order they were written.
    pub versions: Vec<Version>,
}

/// Transaction time and valid time of a read; `i64::MAX` valid means "as it stood then".
#[derive(Clone, Copy, Debug)]
pub struct View {
    pub position: u64,
    pub valid: i64,
}

pub const PRESENT: View = View { position: u64::MAX, valid: i64::MAX };

impl Known {
    /// The bitemporal rule: the greatest valid time admitted, among equals the latest written.
    pub fn seen(&self, view: View) -> Option<&Version> {
        let admitted =
            self.versions.iter().filter(|v| v.position <= view.position && v.valid_from <= view.valid);
        admitted.max_by_key(|version| (version.valid_from, version.number))
    }

    /// The version seen, if it is one of a live instance, be it a proxy.
    pub fn live(&self, view: View) -> Option<&Version> {
        self.seen(view).filter(|version| version.status == Status::Active)
    }

    /// The same without proxies.
    pub fn whole(&self, view: View) -> Option<&Version> {
        self.live(view).filter(|version| !version.shape.is_proxy)
    }

    pub fn in_force(&self) -> &Version {
        self.seen(PRESENT).expect("every instance has a version")
    }

    pub fn version(&self, number: u32) -> Option<&Version> {
        self.versions.iter().find(|version| version.number == number)
    }

    /// The id it has now.
    pub fn id(&self) -> &Id {
        &self.in_force().shape.id
    }

    /// Every id it has, or had.
    pub fn ids(&self) -> BTreeSet<&Id> {
        self.versions.iter().map(|version| &version.shape.id).collect()
    }
}

#[derive(Clone, Default)]
pub struct Reference {
    pub position: u64,
    pub instants: Vec<i64>,
    pub collection: Option<Arc<str>>,
    /// By age, because ids change.
    pub entities: BTreeMap<u64, Known>,
    pub relationships: BTreeMap<u64, Known>,
    pub definitions: Vec<(u64, TypeDefinition)>,
    pub messages: Vec<String>,
    ages: [u64; 2],
}

/// Which instance, whatever it is called.
pub type Key = (TypeKind, u64);

/// One transaction as it was committed.
pub struct Committed<'o> {
    pub operations: &'o [Timed],
    pub instant: i64,
    pub author: &'o str,
    pub message: &'o str,
    /// True if changes that change nothing are kept, too.
    pub is_always: bool,
}

#[derive(Clone, Copy)]
pub(super) struct Context<'c> {
    pub(super) position: u64,
    pub(super) change: usize,
    pub(super) instant: i64,
    pub(super) author: &'c str,
    pub(super) valid: i64,
}

impl Context<'_> {
    pub(super) fn stamp(&self) -> (i64, String) {
        (self.instant, self.author.to_string())
    }
}

pub type Outcome = std::result::Result<(), ErrorKind>;

impl Reference {
    /// The state after a transaction; an error leaves it as it was.
    pub fn commit(&mut self, committed: &Committed<'_>) -> Outcome {
        let mut next = self.clone();
        next.position += 1;
        next.instants.push(committed.instant);
        next.messages.push(committed.message.to_string());
        let mut change = 0;
        let mut merges = Merges::new(committed.is_always);
        for (valid_from, operation) in committed.operations {
            let (actions, is_kept) = match operation {
                Operation::Act(action) => (vec![action.clone()], committed.is_always || valid_from.is_some()),
                Operation::Undo(instance) => (next.undo(instance)?, true),
            };
            let valid = valid_from.map_or(committed.instant, Instant::micros);
            if valid > committed.instant {
                return Err(ErrorKind::FutureInstant);
            }
            let author = committed.author;
            for action in &actions {
                let context =
                    Context { position: next.position, change, instant: committed.instant, author, valid };
                let before = next.is_declared(action);
                next.act(context, action)?;
                let is_idle = !is_kept && next.take_back_idle(action, before);
                if !is_idle && !merges.fold(&mut next, action, is_kept, valid_from.is_some()) {
                    change += 1;
                }
            }
        }
        if change > 0 {
            *self = next;
        }
        Ok(())
    }

    pub fn table(&self, kind: TypeKind) -> &BTreeMap<u64, Known> {
        if kind == TypeKind::Relationship { &self.relationships } else { &self.entities }
    }

    pub(super) fn at(&self, (kind, age): Key) -> &Known {
        self.table(kind).get(&age).expect("it was found")
    }

    pub(super) fn at_mut(&mut self, (kind, age): Key) -> &mut Known {
        let table = if kind == TypeKind::Relationship { &mut self.relationships } else { &mut self.entities };
        table.get_mut(&age).expect("it was found")
    }

    /// The id of an entity in a view; the present one if the view does not see it.
    pub fn entity_id(&self, age: u64, view: View) -> &Id {
        let known = &self.entities[&age];
        known.seen(view).map_or(known.id(), |version| &version.shape.id)
    }

    /// The instance that has the id now, live or not.
    pub(super) fn find(&self, instance: &InstanceId) -> std::result::Result<Key, ErrorKind> {
        let kind = kind_of(instance);
        let table = self.table(kind);
        if let Some((age, _)) = table.iter().find(|(_, known)| known.id() == instance.id()) {
            return Ok((kind, *age));
        }
        let is_former = table.values().any(|known| known.ids().contains(instance.id()));
        Err(if is_former { ErrorKind::Deleted } else { ErrorKind::NotFound })
    }

    pub(super) fn live(&self, instance: &InstanceId) -> std::result::Result<Key, ErrorKind> {
        let key = self.find(instance)?;
        if self.at(key).in_force().status == Status::Deleted {
            return Err(ErrorKind::Deleted);
        }
        Ok(key)
    }

    pub(super) fn check_new(&self, kind: TypeKind, id: &Id) -> Outcome {
        let is_taken = self.table(kind).values().any(|known| known.ids().contains(id));
        if is_taken { Err(ErrorKind::AlreadyExists) } else { Ok(()) }
    }

    pub(super) fn is_own(&self, provenance: Option<&Provenance>) -> bool {
        let Some(provenance) = provenance else { return true };
        match provenance.kind {
            ProvenanceKind::Local | ProvenanceKind::Unknown => provenance.home.is_none(),
            ProvenanceKind::ExternalSource => {
                provenance.replicated_by.is_some() && provenance.replicated_by == self.collection
            }
            _ => false,
        }
    }

    pub(super) fn check_own(&self, provenance: Option<&Provenance>) -> Outcome {
        if self.is_own(provenance) { Ok(()) } else { Err(ErrorKind::NotHome) }
    }

    pub(super) fn check_own_at(&self, key: Key) -> Outcome {
        self.check_own(self.at(key).in_force().shape.provenance.as_ref())
    }

    /// The provenance to store for something that is created here.
    pub(super) fn own_provenance(
        &self,
        given: Option<&Provenance>,
    ) -> std::result::Result<Option<Provenance>, ErrorKind> {
        let Some(given) = given else { return Ok(None) };
        let is_own = given.home.is_none() || given.home == self.collection;
        let mut kept = given.clone();
        if given.kind == ProvenanceKind::ExternalSource {
            kept.replicated_by = given.replicated_by.clone().or_else(|| self.collection.clone());
            if kept.replicated_by.is_none() || kept.replicated_by != self.collection {
                return Err(ErrorKind::NotHome);
            }
        } else if !is_own {
            return Err(ErrorKind::NotHome);
        }
        if is_own {
            kept.home = None;
        }
        Ok(something(kept))
    }

    pub(super) fn foreign_home(&self, provenance: &Provenance) -> std::result::Result<Arc<str>, ErrorKind> {
        match &provenance.home {
            None => Err(ErrorKind::InvalidArgument),
            Some(home) if Some(home) == self.collection.as_ref() => Err(ErrorKind::HomeConflict),
            Some(home) => Ok(Arc::clone(home)),
        }
    }

    pub(super) fn act(&mut self, context: Context<'_>, action: &Action) -> Outcome {
        match action {
            Action::CreateEntity(new) => self.create_entity(context, new),
            Action::CreateRelationship(new) => self.create_relationship(context, new),
            Action::Update(action::Update { instance, patch, provenance }) => {
                let key = self.live(instance)?;
                self.check_own_at(key)?;
                let stated = self.stated(context, key, provenance.as_deref())?;
                self.change(context, key, "update", |image, _| apply_patch(&mut image.properties, patch))?;
                self.state(key, stated);
                Ok(())
            }
            Action::Replace(replace) => self.replace(context, replace),
            Action::Delete(action::Delete { instance }) => self.delete(context, instance),
            Action::Restore(action::Restore { instance, with_relationships: with }) => {
                self.restore(context, instance, *with)
            }
            Action::Purge(action::Purge { instance }) => {
                let key = self.find(instance)?;
                self.check_own_at(key)?;
                self.purge(key);
                Ok(())
            }
            Action::Classify(action::Classify { entity: id, content }) => self.classify(context, id, content),
            Action::Reclassify(action::Reclassify { entity: id, name, patch, provenance }) => {
                let key = self.live(&InstanceId::Entity(id.clone()))?;
                self.check_classification(context, key, name)?;
                if provenance.is_some() && context.valid < self.at(key).in_force().valid_from {
                    return Err(ErrorKind::InvalidArgument);
                }
                let stated =
                    provenance.as_deref().map(|given| self.own_provenance(Some(given))).transpose()?;
                self.change(context, key, "reclassify", |image, is_correction| {
                    let Some(known) = image.classifications.get_mut(&**name) else {
                        return if is_correction { Ok(()) } else { Err(ErrorKind::NotFound) };
                    };
                    apply_patch(&mut known.properties, patch)?;
                    if let Some(stated) = stated {
                        known.provenance = stated;
                    }
                    known.version += 1;
                    known.updated = context.stamp();
                    Ok(())
                })
            }
            Action::Declassify(action::Declassify { entity: id, name }) => {
                let key = self.live(&InstanceId::Entity(id.clone()))?;
                self.check_classification(context, key, name)?;
                self.change(context, key, "declassify", |image, is_correction| {
                    let was_there = image.classifications.remove(&**name).is_some();
                    if was_there || is_correction { Ok(()) } else { Err(ErrorKind::NotFound) }
                })
            }
            Action::DefineType(definition) => self.define(definition, context.position),
            Action::SetStatus(action::SetStatus { instance, status }) => {
                let key = self.own_live(context, instance)?;
                self.reshape(context, key, "set-status", |shape| shape.status_name = status.to_string());
                Ok(())
            }
            Action::SetProvenance(action::SetProvenance { instance, provenance: given }) => {
                self.set_provenance(context, instance, given)
            }
            Action::Rehome(action::Rehome { instance, home }) => self.rehome(context, instance, home),
            Action::Reidentify(action::Reidentify { instance, id }) => {
                let key = self.own_live(context, instance)?;
                let is_again = self.at(key).id() != id && self.at(key).ids().contains(id);
                if !is_again {
                    self.check_new(key.0, id)?;
                }
                self.reshape(context, key, "reidentify", |shape| {
                    shape.reidentified_from = Some(std::mem::replace(&mut shape.id, id.clone()));
                });
                Ok(())
            }
            Action::Retype(action::Retype { instance, type_name: name }) => {
                let key = self.own_live(context, instance)?;
                self.reshape(context, key, "retype", |shape| shape.type_name = name.to_string());
                Ok(())
            }
            Action::Relink(action::Relink { id, from, to }) => {
                self.relink(context, id, from.as_ref(), to.as_ref())
            }
            Action::SaveEntity(copy) => self.save_entity(context, copy),
            Action::SaveProxy(proxy) => self.save_proxy(context, proxy),
            Action::SaveRelationship(copy) => self.save_relationship(context, copy),
            Action::SaveClassification(action::SaveClassification { entity: id, copy }) => {
                self.save_classification(context, id, copy)
            }
            Action::PurgeCopy(action::PurgeCopy { instance, home }) => {
                let key = self.find(instance)?;
                if self.at(key).in_force().shape.home() != Some(home) {
                    return Err(ErrorKind::HomeConflict);
                }
                self.purge(key);
                Ok(())
            }
            Action::PurgeClassificationCopy(action::PurgeClassificationCopy { entity: id, name, home }) => {
                let key = self.live(&InstanceId::Entity(id.clone()))?;
                let now = self.at(key).in_force();
                if context.valid < now.valid_from {
                    return Err(ErrorKind::InvalidArgument);
                }
                let known = now.image.classifications.get(&**name).ok_or(ErrorKind::NotFound)?;
                if known.provenance.as_ref().and_then(|known| known.home.as_ref()) != Some(home) {
                    return Err(ErrorKind::HomeConflict);
                }
                self.next(context, key, "purge-classification-copy", |image| {
                    image.classifications.remove(&**name);
                });
                Ok(())
            }
            Action::NameCollection(action::NameCollection { name }) => {
                if self.collection.as_ref().is_some_and(|known| known != name) {
                    return Err(ErrorKind::AlreadyExists);
                }
                let mut all = self.entities.values().chain(self.relationships.values());
                if all.any(|known| known.versions.iter().any(|version| version.shape.home() == Some(name))) {
                    return Err(ErrorKind::HomeConflict);
                }
                self.collection = Some(Arc::clone(name));
                Ok(())
            }
            _ => unreachable!("the generator makes no other action"),
        }
    }

    /// The live instance, if it may be written here and the change is not one of the past.
    pub(super) fn own_live(
        &self,
        context: Context<'_>,
        instance: &InstanceId,
    ) -> std::result::Result<Key, ErrorKind> {
        let key = self.live(instance)?;
        self.check_own_at(key)?;
        if context.valid < self.at(key).in_force().valid_from {
            return Err(ErrorKind::InvalidArgument);
        }
        Ok(key)
    }

    pub(super) fn define(&mut self, definition: &TypeDefinition, position: u64) -> Outcome {
        let before = self.definition(definition.kind, &definition.name, u64::MAX);
        if let Some(before) = before {
            let keeps_supertypes =
                before.supertypes.iter().all(|known| definition.supertypes.contains(known));
            let keeps_attributes = before
                .attributes
                .iter()
                .all(|known| definition.attributes.iter().any(|attribute| attribute.name == known.name));
            if !keeps_supertypes || !keeps_attributes {
                return Err(ErrorKind::TypeViolation);
            }
        }
        self.definitions.push((position, definition.clone()));
        Ok(())
    }

    pub fn definition(&self, kind: TypeKind, name: &str, position: u64) -> Option<&TypeDefinition> {
        let known = self.definitions.iter().rev().filter(|(defined, _)| *defined <= position);
        known.map(|(_, definition)| definition).find(|known| known.kind == kind && *known.name == *name)
    }

    /// A type and its subtypes as of a position.
    pub fn with_subtypes(&self, kind: TypeKind, name: &str, position: u64) -> BTreeSet<String> {
        let mut found = BTreeSet::from([name.to_string()]);
        loop {
            let more: Vec<String> = self
                .definitions
                .iter()
                .filter_map(|(_, known)| self.definition(kind, &known.name, position))
                .filter(|known| known.supertypes.iter().any(|supertype| found.contains(&**supertype)))
                .map(|known| known.name.to_string())
                .filter(|name| !found.contains(name))
                .collect();
            if more.is_empty() {
                return found;
            }
            found.extend(more);
        }
    }

    /// True if some type keeps, or kept, the property out of the index.
    pub fn is_unindexed(&self, property: &str) -> bool {
        let attributes = self.definitions.iter().flat_map(|(_, known)| &known.attributes);
        attributes.filter(|attribute| *attribute.name == *property).any(|attribute| !attribute.is_indexed)
    }

    /// Writes the first version of something new; returns which it is.
    pub(super) fn enter(
        &mut self,
        context: Context<'_>,
        kind: TypeKind,
        verb: &'static str,
        shape: Shape,
        image: Image,
    ) -> Key {
        let ages = &mut self.ages[usize::from(kind == TypeKind::Relationship)];
        *ages += 1;
        let age = *ages;
        let version = Version {
            number: 1,
            base: 0,
            position: context.position,
            change: context.change,
            written: context.stamp(),
            created: context.stamp(),
            updated: context.stamp(),
            valid_from: context.valid,
            status: Status::Active,
            verb,
            image,
            shape,
        };
        let known = Known { age, live_from: context.valid, versions: vec![version] };
        let table = if kind == TypeKind::Relationship { &mut self.relationships } else { &mut self.entities };
        table.insert(age, known);
        (kind, age)
    }

    /// Writes the version after the one in force.
    pub(super) fn next(
        &mut self,
        context: Context<'_>,
        key: Key,
        verb: &'static str,
        edit: impl FnOnce(&mut Image),
    ) {
        let now = self.at(key).in_force();
        let (number, status, mut image) = (now.number, now.status, now.image.clone());
        edit(&mut image);
        self.write(context, key, verb, number, status, image);
    }

    pub(super) fn write(
        &mut self,
        context: Context<'_>,
        key: Key,
        verb: &'static str,
        base: u32,
        status: Status,
        image: Image,
    ) {
        let known = self.at(key);
        let from = known.version(base).expect("versions are made from others");
        let (mut shape, created) = (from.shape.clone(), from.created.clone());
        let number = known.versions.len() as u32 + 1;
        if shape.home().is_none() || self.is_own(shape.provenance.as_ref()) {
            shape.home_version += u64::from(number - base);
        }
        self.at_mut(key).versions.push(Version {
            shape,
            number,
            base,
            position: context.position,
            change: context.change,
            written: context.stamp(),
            created,
            updated: context.stamp(),
            valid_from: context.valid,
            status,
            verb,
            image,
        });
    }
}

pub(super) fn first_shape(id: &Id, type_name: &str, status: &str, provenance: Option<Provenance>) -> Shape {
    Shape {
        id: id.clone(),
        type_name: type_name.to_string(),
        status_name: status.to_string(),
        ends: None,
        provenance,
        home_version: 1,
        is_proxy: false,
        reidentified_from: None,
    }
}

pub(super) fn kind_of(instance: &InstanceId) -> TypeKind {
    match instance {
        InstanceId::Entity(_) => TypeKind::Entity,
        InstanceId::Relationship(_) => TypeKind::Relationship,
    }
}

/// Said of what nobody says anything about.
pub(super) fn something(provenance: Provenance) -> Option<Provenance> {
    (provenance != Provenance::default()).then_some(provenance)
}

pub(super) fn successor(
    known: Option<&Classified>,
    context: Context<'_>,
    properties: Properties,
    provenance: Option<Provenance>,
) -> Classified {
    Classified {
        version: known.map_or(1, |known| known.version + 1),
        created: known.map_or(context.stamp(), |known| known.created.clone()),
        updated: context.stamp(),
        properties,
        provenance,
    }
}
