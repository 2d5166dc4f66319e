//! Compares lines with the repository, so that only differences are written.

use annals::action;
use std::collections::{BTreeSet, HashSet};
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use annals::{
    Action, ClassificationContent, Direction, Error, ErrorKind, Id, InstanceId, NewEntity, NewRelationship,
    Relationship, Result, Snapshot, TypeKind, TypeMatch, Value,
};

use super::operation::Operation;

/// Most instances that lines in progress may write; when there are more, the import waits for them.
const PENDING_MAX: usize = 1 << 18;

/// The comparison of lines, and the instances that they named.
#[derive(Debug, Default)]
pub struct Merge {
    /// Properties that distinguish relationships of one type between the same ends.
    keys: Vec<String>,
    hasher: RandomState,
    /// Hashes of instances whose lines may not be committed yet. Two instances with one hash only cost a wait.
    pending: HashSet<u64>,
    /// The instances that the files name, if the others must be deleted.
    named: Option<Named>,
}

/// The instances that the files of an import name. Units: some 20 bytes for each instance that they do not change.
#[derive(Debug, Default)]
pub struct Named {
    /// The types of instances.
    pub types: BTreeSet<(TypeKind, Arc<str>)>,
    hasher: RandomState,
    /// Hashes of named instances that do not change; a changed instance has a newer version than the import. Among a
    /// million instances, two have the same hash once in forty million imports; then one missing instance stays until
    /// the next import.
    unchanged: HashSet<u64>,
}

impl Named {
    /// True if a line named it and did not change it.
    pub fn is_unchanged(&self, instance: &InstanceId) -> bool {
        self.unchanged.contains(&self.hasher.hash_one(instance))
    }
}

type Properties = Vec<(Arc<str>, Value)>;

impl Merge {
    /// A merge with these keys of relationships; with `is_deleting` it notes the named instances.
    pub fn new(keys: Vec<String>, is_deleting: bool) -> Merge {
        Merge { keys, named: is_deleting.then(Named::default), ..Merge::default() }
    }

    /// The named instances, if they were noted.
    pub fn take_named(&mut self) -> Option<Named> {
        self.named.take()
    }

    /// True if earlier lines must be visible before this line is compared: one of them may name the same instance.
    pub fn must_see(&self, operations: &[Operation]) -> bool {
        self.pending.len() >= PENDING_MAX
            || self.hash(operations).is_some_and(|hash| self.pending.contains(&hash))
    }

    /// Notes that all earlier lines are committed.
    pub fn settle(&mut self) {
        self.pending.clear();
    }

    /// The hash of the instance that a line names.
    fn hash(&self, operations: &[Operation]) -> Option<u64> {
        let operation = operations.first()?;
        match &operation.action {
            Action::CreateEntity(new) => Some(self.hasher.hash_one(("entity", &new.id))),
            Action::CreateRelationship(new) if operation.has_fresh_id => {
                let key = format!("{:?}", self.key(&new.properties));
                Some(self.hasher.hash_one((&new.type_name, &new.from, &new.to, key)))
            }
            Action::CreateRelationship(new) => Some(self.hasher.hash_one(("relationship", &new.id))),
            _ => None,
        }
    }

    /// The operations that make the line true; none if it is true already.
    ///
    /// Errors: `WrongType` if the instance has another type; `InvalidArgument` for copies, proxies and renamed
    /// instances, which are not compared.
    pub fn compare(&mut self, snapshot: &Snapshot, operations: Vec<Operation>) -> Result<Vec<Operation>> {
        let hash = self.hash(&operations);
        if let (Some(named), Some(operation)) = (&mut self.named, operations.first()) {
            named.types.extend(type_of(&operation.action));
        }
        let (operations, found) = self.differing(snapshot, operations)?;
        if !operations.is_empty() {
            self.pending.extend(hash);
        } else if let (Some(named), Some(found)) = (&mut self.named, found) {
            named.unchanged.insert(named.hasher.hash_one(found));
        }
        Ok(operations)
    }

    /// The remaining operations, and the existing instance.
    fn differing(
        &self,
        snapshot: &Snapshot,
        mut operations: Vec<Operation>,
    ) -> Result<(Vec<Operation>, Option<InstanceId>)> {
        let [operation] = &mut operations[..] else { return Err(incomparable()) };
        let (found, actions) = match &operation.action {
            Action::DefineType(definition) => {
                let is_equal = snapshot.verify_type(definition).0 == TypeMatch::Equal;
                return Ok((if is_equal { Vec::new() } else { operations }, None));
            }
            Action::NameCollection(action::NameCollection { name }) => {
                let is_named = snapshot.collection() == Some(&**name);
                return Ok((if is_named { Vec::new() } else { operations }, None));
            }
            Action::CreateEntity(new) => match entity(snapshot, new, operation.states_classifications)? {
                None => return Ok((operations, None)),
                Some(actions) => (InstanceId::Entity(new.id.clone()), actions),
            },
            Action::CreateRelationship(new) => {
                match self.relationship(snapshot, new, operation.has_fresh_id)? {
                    None => return Ok((operations, None)),
                    Some((id, actions)) => (InstanceId::Relationship(id), actions),
                }
            }
            _ => return Err(incomparable()),
        };
        let valid_from = operation.valid_from;
        let operations = actions.into_iter().map(|action| Operation::new(action, valid_from)).collect();
        Ok((operations, Some(found)))
    }

    fn relationship(
        &self,
        snapshot: &Snapshot,
        new: &NewRelationship,
        has_fresh_id: bool,
    ) -> Result<Option<(Id, Vec<Action>)>> {
        let wanted = with_defaults(snapshot, TypeKind::Relationship, &new.type_name, &new.properties);
        let there =
            if has_fresh_id { self.like(snapshot, new, &wanted)? } else { snapshot.relationship(&new.id)? };
        let Some(there) = there else {
            let instance = InstanceId::Relationship(new.id.clone());
            let is_known = !has_fresh_id && last_version(snapshot, &instance)?.is_some();
            let again = || {
                vec![
                    Action::Restore(action::Restore {
                        instance: instance.clone(),
                        with_relationships: false,
                    }),
                    Action::Replace(action::Replace { instance, properties: wanted, classifications: None }),
                ]
            };
            return Ok(is_known.then(|| (new.id.clone(), again())));
        };
        check_type(there.type_name(), &new.type_name)?;
        let id = there.id();
        let mut actions = Vec::new();
        if (there.from(), there.to()) != (&new.from, &new.to) {
            actions.push(Action::Relink(action::Relink {
                id: id.clone(),
                from: Some(new.from.clone()),
                to: Some(new.to.clone()),
            }));
        }
        let instance = InstanceId::Relationship(id.clone());
        if !is_equal(there.properties(), &wanted) {
            actions.push(Action::Replace(action::Replace {
                instance: instance.clone(),
                properties: wanted,
                classifications: None,
            }));
        }
        if let Some(status) = new.status.as_ref().filter(|status| ***status != *there.status_name()) {
            actions.push(Action::SetStatus(action::SetStatus { instance, status: Arc::clone(status) }));
        }
        Ok(Some((id.clone(), actions)))
    }

    /// The relationship of this type between these ends, with these values of the keys.
    fn like<'s>(
        &self,
        snapshot: &'s Snapshot,
        new: &NewRelationship,
        wanted: &Properties,
    ) -> Result<Option<Relationship<'s>>> {
        let degree = |id: &Id, direction| match snapshot.entity_summary(id) {
            Ok(Some(_)) => snapshot.degree(id, direction, Some(&new.type_name)),
            Ok(None) => Ok(0),
            Err(error) => Err(error),
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
                && self.keys.iter().all(|key| there.property(key).as_ref() == value_of(wanted, key))
            {
                return Ok(Some(there));
            }
        }
        Ok(None)
    }

    fn key<'p>(&self, properties: &'p Properties) -> Vec<Option<&'p Value>> {
        self.keys.iter().map(|key| value_of(properties, key)).collect()
    }
}

/// The operations that change the existing entity; `None` if it does not exist. Classifications that the line does not
/// state stay: a crawl does not know which ones people attached.
fn entity(snapshot: &Snapshot, new: &NewEntity, states_classifications: bool) -> Result<Option<Vec<Action>>> {
    let instance = InstanceId::Entity(new.id.clone());
    let wanted = with_defaults(snapshot, TypeKind::Entity, &new.type_name, &new.properties);
    let of_line = |one: &ClassificationContent| ClassificationContent {
        properties: with_defaults(snapshot, TypeKind::Classification, &one.name, &one.properties),
        ..one.clone()
    };
    let classifications: Option<Vec<ClassificationContent>> =
        states_classifications.then(|| new.classifications.iter().map(of_line).collect());
    let Some(there) = snapshot.entity(&new.id)? else {
        let Some(version) = last_version(snapshot, &instance)? else { return Ok(None) };
        if let Some(deleted) = snapshot.entity_version(&new.id, version)? {
            check_type(deleted.type_name(), &new.type_name)?;
        }
        let replace = Action::Replace(action::Replace {
            instance: instance.clone(),
            properties: wanted,
            classifications,
        });
        return Ok(Some(vec![
            Action::Restore(action::Restore { instance, with_relationships: false }),
            replace,
        ]));
    };
    check_type(there.type_name(), &new.type_name)?;
    let are_classifications_equal = classifications.as_ref().is_none_or(|wanted| {
        there.classifications().count() == wanted.len()
            && wanted.iter().all(|one| {
                there
                    .classification(&one.name)
                    .is_some_and(|known| is_equal(known.properties(), &one.properties))
            })
    });
    let mut actions = Vec::new();
    if !is_equal(there.properties(), &wanted) || !are_classifications_equal {
        actions.push(Action::Replace(action::Replace {
            instance: instance.clone(),
            properties: wanted,
            classifications,
        }));
    }
    if let Some(status) = new.status.as_ref().filter(|status| ***status != *there.status_name()) {
        actions.push(Action::SetStatus(action::SetStatus { instance, status: Arc::clone(status) }));
    }
    Ok(Some(actions))
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

fn is_equal<'n>(there: impl IntoIterator<Item = (&'n str, Value)>, wanted: &Properties) -> bool {
    let mut count = 0;
    let are_there = there.into_iter().all(|(name, value)| {
        count += 1;
        value_of(wanted, name) == Some(&value)
    });
    are_there && count == wanted.len()
}

/// The properties with the defaults that the type and its supertypes declare.
fn with_defaults(snapshot: &Snapshot, kind: TypeKind, name: &str, given: &Properties) -> Properties {
    let mut properties = given.clone();
    let (mut names, mut next) = (vec![Arc::<str>::from(name)], 0);
    while let Some(name) = names.get(next).cloned() {
        next += 1;
        let Some(definition) = snapshot.type_definition(kind, &name) else { continue };
        for attribute in &definition.attributes {
            if let Some(value) =
                attribute.default.as_ref().filter(|_| value_of(&properties, &attribute.name).is_none())
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
    properties
}

fn check_type(there: &str, wanted: &str) -> Result<()> {
    if there == wanted {
        return Ok(());
    }
    let text =
        format!("expected an instance of type {wanted}, found one of type {there}; change its type first");
    Err(Error::new(ErrorKind::WrongType, text))
}

fn incomparable() -> Error {
    let text = "--merge: expected a type, or an entity or relationship of this repository, found a copy, a proxy or a \
                renamed instance; import it without --merge";
    Error::new(ErrorKind::InvalidArgument, text)
}
