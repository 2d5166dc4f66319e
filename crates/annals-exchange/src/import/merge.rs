//! Compares lines with the repository, so that only differences are written.

use annals::action;
use std::collections::{BTreeSet, HashSet};
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use annals::{
    Action, ClassificationContent, Direction, Error, ErrorKind, Id, InstanceId, Instant, NewEntity,
    NewRelationship, Patch, PatchStep, Relationship, Result, Snapshot, Status, TypeKind, TypeMatch, Value,
    ValueType,
};

use super::csv::Samples;
use super::operation::Operation;

/// Most instances that lines in progress may write; when there are more, the import waits for them.
const PENDING_MAX: usize = 1 << 18;

/// Options of a merge.
#[derive(Clone, Debug, Default)]
pub struct MergeOptions {
    /// Properties that distinguish relationships of one type between the same ends.
    pub keys: Vec<String>,
    /// True if instances that no line names are deleted at the end.
    pub is_deleting: bool,
    /// True if a line holds all properties of its instance: others are removed.
    pub is_replacing: bool,
    /// True if the valid time of a line counts for an instance that exists already.
    pub has_valid_times: bool,
    /// The valid time of changes of instances that exist already; the commit instant if `None`.
    pub valid_from: Option<Instant>,
}

/// The comparison of lines, and the instances that they named.
#[derive(Debug, Default)]
pub struct Merge {
    options: MergeOptions,
    hasher: RandomState,
    /// Hashes of instances whose lines may not be committed yet. Two instances with one hash only cost a wait.
    pending: HashSet<u64>,
    /// The instances that the files name, if the others must be deleted.
    named: Option<Named>,
    /// The kinds that properties have in the repository.
    samples: Samples,
    /// The properties of which texts were read as the repository has them.
    read_as_there: BTreeSet<Arc<str>>,
}

/// The instances that the files of an import name. Units: some 20 bytes for each.
#[derive(Debug, Default)]
pub struct Named {
    /// The types of instances.
    pub types: BTreeSet<(TypeKind, Arc<str>)>,
    hasher: RandomState,
    /// Hashes of named instances. Among a million instances, two have the same hash once in forty million imports; then
    /// one missing instance stays until the next import.
    instances: HashSet<u64>,
}

impl Named {
    /// True if a line named it.
    pub fn has(&self, instance: &InstanceId) -> bool {
        self.instances.contains(&self.hasher.hash_one(instance))
    }

    fn note(&mut self, instance: &InstanceId) {
        self.instances.insert(self.hasher.hash_one(instance));
    }
}

type Properties = Vec<(Arc<str>, Value)>;

/// The comparison of one line.
struct Compared {
    /// The operations that make the line true.
    operations: Vec<Operation>,
    /// The instance that it names.
    instance: Option<InstanceId>,
}

/// The part of a line that says which properties its instance has.
struct Content<'l> {
    kind: TypeKind,
    type_name: &'l str,
    given: &'l Properties,
    removed: &'l [Arc<str>],
}

impl Merge {
    /// A merge; with [`MergeOptions::is_deleting`] it notes the named instances.
    pub fn new(options: MergeOptions) -> Merge {
        let named = options.is_deleting.then(Named::default);
        Merge { options, named, ..Merge::default() }
    }

    /// The named instances, if they were noted.
    pub fn take_named(&mut self) -> Option<Named> {
        self.named.take()
    }

    /// The properties of which texts were read as the repository has them.
    pub fn read_as_there(&self) -> impl Iterator<Item = &Arc<str>> {
        self.read_as_there.iter()
    }

    /// True if earlier lines must be visible before this line is compared: one of them may name the same instance.
    pub fn must_see(&self, snapshot: &Snapshot, operations: &[Operation]) -> bool {
        self.pending.len() >= PENDING_MAX
            || self.hash(snapshot, operations).is_some_and(|hash| self.pending.contains(&hash))
    }

    /// Notes that all earlier lines are committed.
    pub fn settle(&mut self) {
        self.pending.clear();
    }

    /// The hash of the instance that a line names.
    fn hash(&self, snapshot: &Snapshot, operations: &[Operation]) -> Option<u64> {
        let operation = operations.first()?;
        match &operation.action {
            Action::CreateEntity(new) => Some(self.hasher.hash_one(("entity", &new.id))),
            Action::CreateRelationship(new) if operation.has_fresh_id => {
                // As the comparison sees them: 1 and 1.0 are one value of an attribute that is a float.
                let content = Content::of(TypeKind::Relationship, &new.type_name, &new.properties, operation);
                let key = format!("{:?}", self.key(&content.properties(snapshot)));
                Some(self.hasher.hash_one((&new.type_name, &new.from, &new.to, key)))
            }
            Action::CreateRelationship(new) => Some(self.hasher.hash_one(("relationship", &new.id))),
            _ => None,
        }
    }

    /// The operations that make the line true; none if it is true already.
    ///
    /// Errors: `WrongType` if the instance has another type; `InvalidArgument` for copies, proxies and renamed
    /// instances, which are not compared, and for a valid time before the version in force.
    pub fn compare(&mut self, snapshot: &Snapshot, mut operations: Vec<Operation>) -> Result<Vec<Operation>> {
        let hash = self.hash(snapshot, &operations);
        self.read_untyped(snapshot, &mut operations)?;
        if let (Some(named), Some(operation)) = (&mut self.named, operations.first()) {
            named.types.extend(type_of(&operation.action));
        }
        let Compared { operations, instance } = self.differing(snapshot, operations)?;
        if !operations.is_empty() {
            self.pending.extend(hash);
        }
        if let (Some(named), Some(instance)) = (&mut self.named, instance) {
            named.note(&instance);
        }
        Ok(operations)
    }

    /// Reads the cells of columns without a type as the instance has them, or else as the first instances of its type:
    /// otherwise a number would become a text.
    fn read_untyped(&mut self, snapshot: &Snapshot, operations: &mut [Operation]) -> Result<()> {
        let [operation] = operations else { return Ok(()) };
        let Some(untyped) = operation.untyped.clone() else { return Ok(()) };
        let has_id = !operation.has_fresh_id;
        let (kind, type_name, properties, there) = match &mut operation.action {
            Action::CreateEntity(new) => {
                let there = snapshot.entity(&new.id)?.map(|there| owned(there.properties()));
                (TypeKind::Entity, &new.type_name, &mut new.properties, there)
            }
            Action::CreateRelationship(new) => {
                let there = if has_id { snapshot.relationship(&new.id)? } else { None };
                let there = there.map(|there| owned(there.properties()));
                (TypeKind::Relationship, &new.type_name, &mut new.properties, there)
            }
            _ => return Ok(()),
        };
        for (name, value) in properties.iter_mut().filter(|(name, _)| untyped.names.contains(name)) {
            let Value::String(cell) = value else { continue };
            let own = there.as_ref().and_then(|there| value_of(there, name));
            let other = match own {
                Some(own) => Some(own),
                None => self.samples.value(snapshot, kind, type_name, name)?,
            };
            let read = other.and_then(|other| untyped.read_like(other, cell));
            if let Some(read) = read.filter(|read| read.value_type() != ValueType::String) {
                *value = read;
                self.read_as_there.insert(Arc::clone(name));
            }
        }
        Ok(())
    }

    fn differing(&self, snapshot: &Snapshot, mut operations: Vec<Operation>) -> Result<Compared> {
        let [operation] = &mut operations[..] else { return Err(incomparable()) };
        let found = match &operation.action {
            Action::DefineType(definition) => {
                let is_equal = snapshot.verify_type(definition).0 == TypeMatch::Equal;
                let operations = if is_equal { Vec::new() } else { operations };
                return Ok(Compared { operations, instance: None });
            }
            Action::NameCollection(action::NameCollection { name }) => {
                let is_named = snapshot.collection() == Some(&**name);
                let operations = if is_named { Vec::new() } else { operations };
                return Ok(Compared { operations, instance: None });
            }
            Action::CreateEntity(new) => self.entity(snapshot, new, operation)?,
            Action::CreateRelationship(new) => self.relationship(snapshot, new, operation)?,
            _ => return Err(incomparable()),
        };
        let Some(Found { instance, in_force, actions }) = found else {
            let instance = operation.action.instance();
            return Ok(Compared { operations, instance });
        };
        let valid_from = match self.options.has_valid_times {
            true => operation.valid_from,
            false => self.options.valid_from,
        };
        if let Some(valid_from) = valid_from.filter(|from| *from < in_force && !actions.is_empty()) {
            let text = format!(
                "expected a valid time from {in_force} on, because the version in force became valid then, found \
                 {valid_from}; give a later one, or none so that the change is valid from now"
            );
            return Err(Error::new(ErrorKind::InvalidArgument, text));
        }
        let operations = actions.into_iter().map(|action| Operation::new(action, valid_from)).collect();
        Ok(Compared { operations, instance: Some(instance) })
    }

    /// The change of the existing entity; `None` if it does not exist. Classifications that the line does not state stay:
    /// a crawl does not know which ones people attached.
    fn entity(&self, snapshot: &Snapshot, new: &NewEntity, operation: &Operation) -> Result<Option<Found>> {
        let instance = InstanceId::Entity(new.id.clone());
        let of_line = |one: &ClassificationContent| {
            let content = Content::whole(TypeKind::Classification, &one.name, &one.properties);
            ClassificationContent { properties: content.properties(snapshot), ..one.clone() }
        };
        let classifications: Option<Vec<ClassificationContent>> =
            operation.states_classifications.then(|| new.classifications.iter().map(of_line).collect());
        let (there, mut actions) = match snapshot.entity(&new.id)? {
            Some(there) => (there, Vec::new()),
            None => {
                let Some(version) = last_version(snapshot, &instance)? else { return Ok(None) };
                let Some(deleted) = snapshot.entity_version(&new.id, version)? else { return Ok(None) };
                (deleted, vec![restored(&instance)])
            }
        };
        let is_restored = !actions.is_empty();
        check_type(&instance, there.type_name(), &new.type_name, is_restored)?;
        let were = owned(there.properties());
        let content = Content::of(TypeKind::Entity, &new.type_name, &new.properties, operation);
        let wanted = self.wanted(snapshot, &content, &were);
        let other = classifications.filter(|wanted| {
            let is_there = |one: &ClassificationContent| {
                let known = there.classification(&one.name);
                known.is_some_and(|known| is_equal(&owned(known.properties()), &one.properties))
            };
            there.classifications().count() != wanted.len() || !wanted.iter().all(is_there)
        });
        actions.extend(self.change(&instance, &were, wanted, other));
        actions.extend(status(&instance, new.status.as_ref(), there.status_name(), is_restored));
        Ok(Some(Found { instance, in_force: there.valid_from(), actions }))
    }

    /// The change of the existing relationship; `None` if it does not exist.
    fn relationship(
        &self,
        snapshot: &Snapshot,
        new: &NewRelationship,
        operation: &Operation,
    ) -> Result<Option<Found>> {
        let content = Content::of(TypeKind::Relationship, &new.type_name, &new.properties, operation);
        let has_fresh_id = operation.has_fresh_id;
        let there = match has_fresh_id {
            true => self.like(snapshot, new, &content.properties(snapshot))?,
            false => snapshot.relationship(&new.id)?,
        };
        let mut actions = Vec::new();
        let there = match there {
            Some(there) => {
                check_type(&there.instance_id(), there.type_name(), &new.type_name, false)?;
                there
            }
            None if has_fresh_id => return Ok(None),
            None => {
                let instance = InstanceId::Relationship(new.id.clone());
                let Some(version) = last_version(snapshot, &instance)? else { return Ok(None) };
                let Some(deleted) = snapshot.relationship_version(&new.id, version)? else { return Ok(None) };
                actions.push(restored(&instance));
                if *deleted.type_name() != *new.type_name {
                    let type_name = Arc::clone(&new.type_name);
                    actions.push(Action::Retype(action::Retype { instance, type_name }));
                }
                deleted
            }
        };
        let is_restored = !actions.is_empty();
        let id = there.id();
        let instance = InstanceId::Relationship(id.clone());
        if (there.from(), there.to()) != (&new.from, &new.to) {
            let (from, to) = (Some(new.from.clone()), Some(new.to.clone()));
            actions.push(Action::Relink(action::Relink { id: id.clone(), from, to }));
        }
        let were = owned(there.properties());
        let wanted = self.wanted(snapshot, &content, &were);
        actions.extend(self.change(&instance, &were, wanted, None));
        actions.extend(status(&instance, new.status.as_ref(), there.status_name(), is_restored));
        Ok(Some(Found { instance, in_force: there.valid_from(), actions }))
    }

    /// The properties that the instance of a line has afterwards.
    fn wanted(&self, snapshot: &Snapshot, content: &Content<'_>, were: &Properties) -> Properties {
        if self.options.is_replacing {
            return content.properties(snapshot);
        }
        let mut given = content.given(snapshot);
        let is_named = |name: &Arc<str>| value_of(&given, name).is_some() || content.removed.contains(name);
        let kept: Properties = were.iter().filter(|(name, _)| !is_named(name)).cloned().collect();
        // An empty value of an attribute with a default is the default, as at a creation.
        content.add_defaults(snapshot, &mut given, |name| content.removed.contains(name));
        kept.into_iter().chain(given).collect()
    }

    /// The change from these properties to others, and to these classifications.
    fn change(
        &self,
        instance: &InstanceId,
        were: &Properties,
        wanted: Properties,
        classifications: Option<Vec<ClassificationContent>>,
    ) -> Option<Action> {
        let is_equal = is_equal(were, &wanted);
        let instance = instance.clone();
        if self.options.is_replacing || classifications.is_some() {
            let is_other = !is_equal || classifications.is_some();
            let replace = action::Replace { instance, properties: wanted, classifications, provenance: None };
            return is_other.then_some(Action::Replace(replace));
        }
        let gone = were.iter().filter(|(name, _)| value_of(&wanted, name).is_none());
        let mut steps: Vec<PatchStep> = gone.map(|(name, _)| PatchStep::Unset(Arc::clone(name))).collect();
        let new = wanted.into_iter().filter(|(name, value)| value_of(were, name) != Some(value));
        steps.extend(new.map(|(name, value)| PatchStep::Set(name, value)));
        (!is_equal)
            .then(|| Action::Update(action::Update { instance, patch: Patch { steps }, provenance: None }))
    }

    /// The relationship of this type between these ends, with these values of the keys.
    fn like<'s>(
        &self,
        snapshot: &'s Snapshot,
        new: &NewRelationship,
        wanted: &Properties,
    ) -> Result<Option<Relationship<'s>>> {
        // Before the line, neither an end nor another relationship of its type need be there.
        let degree = |id: &Id, direction| match snapshot.degree(id, direction, Some(&new.type_name)) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(0),
            counted => counted,
        };
        let (out, incoming) = (degree(&new.from, Direction::Out)?, degree(&new.to, Direction::In)?);
        if out == 0 || incoming == 0 {
            return Ok(None);
        }
        // The end with fewer relationships: the other end may have very many.
        let (start, direction) =
            if out <= incoming { (&new.from, Direction::Out) } else { (&new.to, Direction::In) };
        for neighbor in snapshot.neighbors(start, direction, Some(&new.type_name))? {
            let there = neighbor?.relationship;
            if (there.type_name(), there.from(), there.to()) == (&*new.type_name, &new.from, &new.to)
                && self.options.keys.iter().all(|key| there.property(key).as_ref() == value_of(wanted, key))
            {
                return Ok(Some(there));
            }
        }
        Ok(None)
    }

    fn key<'p>(&self, properties: &'p Properties) -> Vec<Option<&'p Value>> {
        self.options.keys.iter().map(|key| value_of(properties, key)).collect()
    }
}

/// An existing instance, live or deleted, and the actions that make a line true.
struct Found {
    instance: InstanceId,
    /// The valid time of its last version.
    in_force: Instant,
    actions: Vec<Action>,
}

impl<'l> Content<'l> {
    fn of(
        kind: TypeKind,
        type_name: &'l str,
        given: &'l Properties,
        operation: &'l Operation,
    ) -> Content<'l> {
        Content { kind, type_name, given, removed: &operation.removed }
    }

    fn whole(kind: TypeKind, type_name: &'l str, given: &'l Properties) -> Content<'l> {
        Content { kind, type_name, given, removed: &[] }
    }

    /// The given properties, as their type declares them.
    fn given(&self, snapshot: &Snapshot) -> Properties {
        let mut properties = self.given.clone();
        snapshot.read_as_declared(self.kind, self.type_name, &mut properties);
        properties
    }

    /// The same with all defaults.
    fn properties(&self, snapshot: &Snapshot) -> Properties {
        let mut properties = self.given(snapshot);
        self.add_defaults(snapshot, &mut properties, |_| true);
        properties
    }

    /// Adds the defaults that the type and its supertypes declare, for these names.
    fn add_defaults(
        &self,
        snapshot: &Snapshot,
        properties: &mut Properties,
        is_wanted: impl Fn(&Arc<str>) -> bool,
    ) {
        let (mut names, mut next) = (vec![Arc::<str>::from(self.type_name)], 0);
        while let Some(name) = names.get(next).cloned() {
            next += 1;
            let Some(definition) = snapshot.type_definition(self.kind, &name) else { continue };
            for attribute in definition.attributes.iter().filter(|attribute| is_wanted(&attribute.name)) {
                if let Some(value) = &attribute.default
                    && value_of(properties, &attribute.name).is_none()
                {
                    properties.push((Arc::clone(&attribute.name), value.clone()));
                }
            }
            for supertype in &definition.supertypes {
                if !names.contains(supertype) {
                    names.push(Arc::clone(supertype));
                }
            }
        }
    }
}

/// The restoration of an instance alone.
fn restored(instance: &InstanceId) -> Action {
    Action::Restore(action::Restore { instance: instance.clone(), with_relationships: false })
}

/// The change of the status, if the line states one that the instance does not have then. A restored instance is active.
fn status(
    instance: &InstanceId,
    stated: Option<&Arc<str>>,
    there: &str,
    is_restored: bool,
) -> Option<Action> {
    let known = if is_restored { Status::Active.name() } else { there };
    let status = Arc::clone(stated.filter(|status| ***status != *known)?);
    Some(Action::SetStatus(action::SetStatus { instance: instance.clone(), status }))
}

/// The number of the last version of an instance, live or deleted; `None` if it never existed.
pub fn last_version(snapshot: &Snapshot, instance: &InstanceId) -> Result<Option<u32>> {
    match snapshot.versions(instance, 0, 1) {
        Ok(versions) => Ok(versions.first().map(|version| version.version)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// The type of the instance that a line names.
fn type_of(action: &Action) -> Option<(TypeKind, Arc<str>)> {
    match action {
        Action::CreateEntity(new) => Some((TypeKind::Entity, Arc::clone(&new.type_name))),
        Action::CreateRelationship(new) => Some((TypeKind::Relationship, Arc::clone(&new.type_name))),
        _ => None,
    }
}

fn value_of<'p>(properties: &'p Properties, name: &str) -> Option<&'p Value> {
    properties.iter().find(|(known, _)| **known == *name).map(|(_, value)| value)
}

fn owned<'n>(properties: impl IntoIterator<Item = (&'n str, Value)>) -> Properties {
    properties.into_iter().map(|(name, value)| (name.into(), value)).collect()
}

fn is_equal(there: &Properties, wanted: &Properties) -> bool {
    there.len() == wanted.len() && there.iter().all(|(name, value)| value_of(wanted, name) == Some(value))
}

fn check_type(instance: &InstanceId, there: &str, wanted: &str, is_deleted: bool) -> Result<()> {
    if there == wanted {
        return Ok(());
    }
    let text = match is_deleted {
        false => format!("{instance}: expected type {wanted}, found type {there}; change its type first"),
        true => format!(
            "{instance}: expected type {wanted}, found a deleted instance of type {there}; restore it and change its \
             type, or purge it, or give the line another id"
        ),
    };
    Err(Error::new(ErrorKind::WrongType, text))
}

fn incomparable() -> Error {
    let text = "--merge: expected a type, or an entity or relationship of this repository, found a copy, a proxy or a \
                renamed instance; import it without --merge";
    Error::new(ErrorKind::InvalidArgument, text)
}
