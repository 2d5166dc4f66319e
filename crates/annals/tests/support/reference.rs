//! The plain model of a repository: full images of every version in ordinary maps, searched from end to end.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use annals::*;

use super::operations::{Operation, Timed};
use super::plain_patch::{apply_patch, entries, map_of};

pub type Properties = BTreeMap<String, Value>;

#[derive(Clone, Debug, PartialEq)]
pub struct Classified {
    pub version: u32,
    pub created: (i64, String),
    pub updated: (i64, String),
    pub properties: Properties,
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
    pub updated: (i64, String),
    pub valid_from: i64,
    pub status: Status,
    pub verb: &'static str,
    pub image: Image,
    pub shape: Shape,
}

/// What a version has beside its content.
#[derive(Clone, Debug, PartialEq)]
pub struct Shape {
    pub type_name: String,
    /// Beside being deleted or not.
    pub status_name: String,
    pub ends: Option<(Id, Id)>,
    /// True once its type or its ends were given anew, be it as they were.
    pub is_reshaped: bool,
}

#[derive(Clone, Debug)]
pub struct Known {
    pub age: u64,
    pub created: (i64, String),
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

    pub fn live(&self, view: View) -> Option<&Version> {
        self.seen(view).filter(|version| version.status == Status::Active)
    }

    pub fn in_force(&self) -> &Version {
        self.seen(PRESENT).expect("every instance has a version")
    }

    pub fn version(&self, number: u32) -> Option<&Version> {
        self.versions.iter().find(|version| version.number == number)
    }
}

#[derive(Clone, Default)]
pub struct Reference {
    pub position: u64,
    pub instants: Vec<i64>,
    pub entities: BTreeMap<Id, Known>,
    pub relationships: BTreeMap<Id, Known>,
    pub definitions: Vec<(u64, TypeDefinition)>,
    pub messages: Vec<String>,
    ages: [u64; 2],
}

/// One transaction as it was committed.
pub struct Committed<'o> {
    pub operations: &'o [Timed],
    pub instant: i64,
    pub author: &'o str,
    pub message: &'o str,
}

#[derive(Clone, Copy)]
struct Context<'c> {
    position: u64,
    change: usize,
    instant: i64,
    author: &'c str,
    valid: i64,
}

impl Context<'_> {
    fn stamp(&self) -> (i64, String) {
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
        for (change, (valid_from, operation)) in committed.operations.iter().enumerate() {
            let action = match operation {
                Operation::Act(action) => action.clone(),
                Operation::Undo(instance) => next.undo(instance)?,
            };
            let valid = valid_from.map_or(committed.instant, Instant::micros);
            if valid > committed.instant {
                return Err(ErrorKind::FutureInstant);
            }
            let author = committed.author;
            let context =
                Context { position: next.position, change, instant: committed.instant, author, valid };
            next.act(context, &action)?;
        }
        *self = next;
        Ok(())
    }

    pub fn table(&self, instance: &InstanceId) -> &BTreeMap<Id, Known> {
        match instance {
            InstanceId::Entity(_) => &self.entities,
            InstanceId::Relationship(_) => &self.relationships,
        }
    }

    pub fn known(&self, instance: &InstanceId) -> Option<&Known> {
        self.table(instance).get(instance.id())
    }

    fn known_mut(&mut self, instance: &InstanceId) -> &mut Known {
        let table = match instance {
            InstanceId::Entity(_) => &mut self.entities,
            InstanceId::Relationship(_) => &mut self.relationships,
        };
        table.get_mut(instance.id()).expect("it was found")
    }

    fn undo(&self, instance: &InstanceId) -> std::result::Result<Action, ErrorKind> {
        let known = self.known(instance).ok_or(ErrorKind::NotFound)?;
        let now = known.in_force();
        let before = known.version(now.base).ok_or(ErrorKind::InvalidArgument)?;
        Ok(match (now.status, before.status) {
            (Status::Deleted, _) => Action::Restore(instance.clone(), true),
            (_, Status::Deleted) => Action::Delete(instance.clone()),
            _ if now.shape != before.shape => {
                let (was, is) = (&before.shape, &now.shape);
                if was.type_name != is.type_name {
                    return Ok(Action::Retype(instance.clone(), was.type_name.as_str().into()));
                }
                if let (Some(was), Some(is)) = (&was.ends, &is.ends)
                    && was != is
                {
                    let other = |was: &Id, is: &Id| (was != is).then(|| was.clone());
                    let id = instance.id().clone();
                    return Ok(Action::Relink(id, other(&was.0, &is.0), other(&was.1, &is.1)));
                }
                if was.status_name != is.status_name {
                    return Ok(Action::SetStatus(instance.clone(), was.status_name.as_str().into()));
                }
                Action::SetProvenance(instance.clone(), Box::default())
            }
            _ => {
                let classifications =
                    before.image.classifications.iter().map(|(name, known)| ClassificationContent {
                        name: name.as_str().into(),
                        properties: entries(&known.properties),
                        provenance: None,
                    });
                let is_entity = matches!(instance, InstanceId::Entity(_));
                let contents = is_entity.then(|| classifications.collect());
                Action::Replace(instance.clone(), entries(&before.image.properties), contents)
            }
        })
    }

    fn act(&mut self, context: Context<'_>, action: &Action) -> Outcome {
        match action {
            Action::CreateEntity(new) => self.create_entity(context, new),
            Action::CreateRelationship(new) => self.create_relationship(context, new),
            Action::Update(instance, patch) => {
                self.change(context, instance, "update", |image, _| apply_patch(&mut image.properties, patch))
            }
            Action::Replace(instance, properties, contents) => {
                self.change(context, instance, "replace", |image, _| {
                    image.properties = map_of(properties);
                    let Some(contents) = contents else { return Ok(()) };
                    let before = std::mem::take(&mut image.classifications);
                    for content in contents {
                        let name = content.name.to_string();
                        let next = successor(before.get(&name), context, map_of(&content.properties));
                        image.classifications.insert(name, next);
                    }
                    Ok(())
                })
            }
            Action::Delete(instance) => self.delete(context, instance),
            Action::Restore(instance, with) => self.restore(context, instance, *with),
            Action::Purge(instance) => self.purge(instance),
            Action::Classify(id, content) => {
                let name = content.name.to_string();
                self.change(context, &InstanceId::Entity(id.clone()), "classify", |image, is_correction| {
                    let known = image.classifications.get(&name);
                    if known.is_some() && !is_correction {
                        return Err(ErrorKind::AlreadyExists);
                    }
                    let next = successor(known, context, map_of(&content.properties));
                    image.classifications.insert(name, next);
                    Ok(())
                })
            }
            Action::Reclassify(id, name, patch) => {
                self.change(context, &InstanceId::Entity(id.clone()), "reclassify", |image, is_correction| {
                    let Some(known) = image.classifications.get_mut(&**name) else {
                        return if is_correction { Ok(()) } else { Err(ErrorKind::NotFound) };
                    };
                    apply_patch(&mut known.properties, patch)?;
                    known.version += 1;
                    known.updated = context.stamp();
                    Ok(())
                })
            }
            Action::Declassify(id, name) => {
                self.change(context, &InstanceId::Entity(id.clone()), "declassify", |image, is_correction| {
                    let was_there = image.classifications.remove(&**name).is_some();
                    if was_there || is_correction { Ok(()) } else { Err(ErrorKind::NotFound) }
                })
            }
            Action::DefineType(definition) => self.define(definition, context.position),
            Action::SetStatus(instance, status) => {
                self.reshape(context, instance, "set-status", |shape| shape.status_name = status.to_string())
            }
            Action::SetProvenance(instance, _) => self.reshape(context, instance, "set-provenance", |_| ()),
            Action::Retype(instance, name) => self.reshape(context, instance, "retype", |shape| {
                shape.type_name = name.to_string();
                shape.is_reshaped = true;
            }),
            Action::Relink(id, from, to) => self.relink(context, id, from.as_ref(), to.as_ref()),
            _ => unreachable!("the generator makes no other action"),
        }
    }

    /// Writes a version with another shape; never one of the past.
    fn reshape(
        &mut self,
        context: Context<'_>,
        instance: &InstanceId,
        verb: &'static str,
        edit: impl FnOnce(&mut Shape),
    ) -> Outcome {
        let now = self.known(instance).ok_or(ErrorKind::NotFound)?.in_force();
        if now.status == Status::Deleted {
            return Err(ErrorKind::Deleted);
        }
        if context.valid < now.valid_from {
            return Err(ErrorKind::InvalidArgument);
        }
        let (number, image) = (now.number, now.image.clone());
        self.write(context, instance, verb, number, Status::Active, image);
        let version = self.known_mut(instance).versions.last_mut().expect("just written");
        edit(&mut version.shape);
        Ok(())
    }

    fn relink(&mut self, context: Context<'_>, id: &Id, from: Option<&Id>, to: Option<&Id>) -> Outcome {
        let instance = InstanceId::Relationship(id.clone());
        // What is wrong with the relationship comes before what is wrong with its ends.
        let mut tried = self.clone();
        tried.reshape(context, &instance, "relink", |_| ())?;
        if from.is_none() && to.is_none() {
            return Err(ErrorKind::InvalidArgument);
        }
        if [from, to].into_iter().flatten().any(|end| !self.is_end(end, context.valid)) {
            return Err(ErrorKind::MissingEnd);
        }
        self.reshape(context, &instance, "relink", |shape| {
            let (old_from, old_to) = shape.ends.take().expect("a relationship has ends");
            shape.ends = Some((from.cloned().unwrap_or(old_from), to.cloned().unwrap_or(old_to)));
            shape.is_reshaped = true;
        })
    }

    fn define(&mut self, definition: &TypeDefinition, position: u64) -> Outcome {
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

    fn create_entity(&mut self, context: Context<'_>, new: &NewEntity) -> Outcome {
        if self.entities.contains_key(&new.id) {
            return Err(ErrorKind::AlreadyExists);
        }
        let classifications = new
            .classifications
            .iter()
            .map(|content| (content.name.to_string(), successor(None, context, map_of(&content.properties))))
            .collect();
        let image = Image { properties: map_of(&new.properties), classifications };
        self.ages[0] += 1;
        let known = first(context, &new.type_name, self.ages[0], None, image);
        self.entities.insert(new.id.clone(), known);
        Ok(())
    }

    fn create_relationship(&mut self, context: Context<'_>, new: &NewRelationship) -> Outcome {
        if self.relationships.contains_key(&new.id) {
            return Err(ErrorKind::AlreadyExists);
        }
        if !self.is_end(&new.from, context.valid) || !self.is_end(&new.to, context.valid) {
            return Err(ErrorKind::MissingEnd);
        }
        let image = Image { properties: map_of(&new.properties), ..Image::default() };
        self.ages[1] += 1;
        let ends = Some((new.from.clone(), new.to.clone()));
        let known = first(context, &new.type_name, self.ages[1], ends, image);
        self.relationships.insert(new.id.clone(), known);
        Ok(())
    }

    fn is_end(&self, id: &Id, valid: i64) -> bool {
        self.entities
            .get(id)
            .is_some_and(|known| known.in_force().status == Status::Active && known.live_from <= valid)
    }

    /// Writes a new version; before the version in force, as a correction of what was true then.
    fn change(
        &mut self,
        context: Context<'_>,
        instance: &InstanceId,
        verb: &'static str,
        edit: impl FnOnce(&mut Image, bool) -> Outcome,
    ) -> Outcome {
        let known = self.known(instance).ok_or(ErrorKind::NotFound)?;
        let now = known.in_force();
        if now.status == Status::Deleted {
            return Err(ErrorKind::Deleted);
        }
        let is_correction = context.valid < now.valid_from;
        let base = if is_correction {
            let then = View { position: u64::MAX, valid: context.valid };
            known.live(then).ok_or(ErrorKind::Deleted)?
        } else {
            now
        };
        let (number, mut image) = (base.number, base.image.clone());
        edit(&mut image, is_correction)?;
        self.write(context, instance, verb, number, Status::Active, image);
        Ok(())
    }

    fn write(
        &mut self,
        context: Context<'_>,
        instance: &InstanceId,
        verb: &'static str,
        base: u32,
        status: Status,
        image: Image,
    ) {
        let known = self.known_mut(instance);
        let shape = known.version(base).expect("versions are made from others").shape.clone();
        known.versions.push(Version {
            shape,
            number: known.versions.len() as u32 + 1,
            base,
            position: context.position,
            change: context.change,
            updated: context.stamp(),
            valid_from: context.valid,
            status,
            verb,
            image,
        });
    }

    fn relationships_of(&self, id: &Id) -> Vec<InstanceId> {
        self.relationships_in(id, |known| vec![known.in_force()])
    }

    /// Also those that led to or from it in any version.
    fn relationships_ever_of(&self, id: &Id) -> Vec<InstanceId> {
        self.relationships_in(id, |known| known.versions.iter().collect())
    }

    fn relationships_in(&self, id: &Id, versions: impl Fn(&Known) -> Vec<&Version>) -> Vec<InstanceId> {
        let is_end =
            |version: &Version| version.shape.ends.as_ref().is_some_and(|(from, to)| from == id || to == id);
        let found = self.relationships.iter().filter(|(_, known)| versions(known).into_iter().any(is_end));
        found.map(|(id, _)| InstanceId::Relationship(id.clone())).collect()
    }

    fn delete(&mut self, context: Context<'_>, instance: &InstanceId) -> Outcome {
        let known = self.known(instance).ok_or(ErrorKind::NotFound)?;
        if known.in_force().status == Status::Deleted {
            return Err(ErrorKind::Deleted);
        }
        let mut taken = vec![instance.clone()];
        if let InstanceId::Entity(id) = instance {
            taken.extend(self.relationships_ever_of(id));
        }
        // Also relationships that are gone: each was there until its deletion became true.
        if taken.iter().any(|id| self.known(id).expect("listed").in_force().valid_from > context.valid) {
            return Err(ErrorKind::InvalidArgument);
        }
        if let InstanceId::Entity(id) = instance {
            let own = self.relationships_of(id);
            taken.retain(|taken| taken == instance || own.contains(taken));
        }
        taken.retain(|id| self.known(id).expect("listed").in_force().status == Status::Active);
        for id in taken {
            self.set_status(context, &id, "delete", Status::Deleted);
        }
        Ok(())
    }

    fn set_status(&mut self, context: Context<'_>, id: &InstanceId, verb: &'static str, status: Status) {
        let now = self.known(id).expect("listed").in_force();
        let (number, image) = (now.number, now.image.clone());
        self.write(context, id, verb, number, status, image);
        if status == Status::Active {
            self.known_mut(id).live_from = context.valid;
        }
    }

    fn restore(&mut self, context: Context<'_>, instance: &InstanceId, with: bool) -> Outcome {
        let known = self.known(instance).ok_or(ErrorKind::NotFound)?;
        let deleted = known.in_force();
        if deleted.status == Status::Active {
            return Err(ErrorKind::NotDeleted);
        }
        if context.valid < deleted.valid_from {
            return Err(ErrorKind::InvalidArgument);
        }
        if let Some((from, to)) = &deleted.shape.ends
            && (!self.is_end(from, context.valid) || !self.is_end(to, context.valid))
        {
            return Err(ErrorKind::MissingEnd);
        }
        let place = (deleted.position, deleted.change);
        self.set_status(context, instance, "restore", Status::Active);
        if let (InstanceId::Entity(id), true) = (instance, with) {
            for relationship in self.relationships_of(id) {
                let known = self.known(&relationship).expect("listed");
                let now = known.in_force();
                let went_along = now.status == Status::Deleted && (now.position, now.change) == place;
                let (from, to) = now.shape.ends.as_ref().expect("a relationship has ends");
                if went_along && self.is_end(from, context.valid) && self.is_end(to, context.valid) {
                    self.set_status(context, &relationship, "restore", Status::Active);
                }
            }
        }
        Ok(())
    }

    fn purge(&mut self, instance: &InstanceId) -> Outcome {
        self.known(instance).ok_or(ErrorKind::NotFound)?;
        match instance {
            InstanceId::Relationship(id) => {
                self.relationships.remove(id);
            }
            InstanceId::Entity(id) => {
                for relationship in self.relationships_ever_of(id) {
                    self.relationships.remove(relationship.id());
                }
                self.entities.remove(id);
            }
        }
        Ok(())
    }
}

fn first(context: Context<'_>, type_name: &str, age: u64, ends: Option<(Id, Id)>, image: Image) -> Known {
    Known {
        age,
        created: context.stamp(),
        live_from: context.valid,
        versions: vec![Version {
            shape: Shape {
                type_name: type_name.to_string(),
                status_name: "active".into(),
                ends,
                is_reshaped: false,
            },
            number: 1,
            base: 0,
            position: context.position,
            change: context.change,
            updated: context.stamp(),
            valid_from: context.valid,
            status: Status::Active,
            verb: "create",
            image,
        }],
    }
}

fn successor(known: Option<&Classified>, context: Context<'_>, properties: Properties) -> Classified {
    Classified {
        version: known.map_or(1, |known| known.version + 1),
        created: known.map_or(context.stamp(), |known| known.created.clone()),
        updated: context.stamp(),
        properties,
    }
}
