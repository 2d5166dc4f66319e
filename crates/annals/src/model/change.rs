//! A record: who changed what, when and why. The log holds nothing else.

use super::stamp::Stamp;
use std::sync::Arc;

use super::{
    ClassificationContent, ClassificationCopy, EntityCopy, EntityProxy, Id, InstanceId, Instant, NewEntity,
    NewRelationship, Provenance, RelationshipCopy, TypeDefinition, Value,
};

/// One committed transaction.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// When it was committed; never earlier than the record before.
    pub instant: Instant,
    /// Who committed it; may be empty.
    pub author: Arc<str>,
    /// Why; may be empty.
    pub message: Arc<str>,
    /// From when its changes are true; the commit instant if `None`.
    pub valid_from: Option<Instant>,
    /// What it changed, in order.
    pub changes: Vec<Change>,
}

/// One change of one instance, or of one type.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// What is done.
    pub action: Action,
    /// From when it is true, if that differs from the record's.
    pub valid_from: Option<Instant>,
    /// The whole content after the change, now and then, so that reading history never walks far.
    pub anchor: Option<Anchor>,
}

/// The whole content of an instance.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Anchor {
    /// All properties by name.
    pub properties: Vec<(Arc<str>, Value)>,
    /// All classifications (entities only).
    pub classifications: Vec<AnchoredClassification>,
}

/// A classification with its whole header.
#[derive(Clone, Debug, PartialEq)]
pub struct AnchoredClassification {
    /// Name and properties.
    pub content: ClassificationContent,
    /// The version number it has reached.
    pub version: u32,
    /// When and by whom it was attached.
    pub created: Stamp,
    /// When and by whom it was changed last.
    pub updated: Stamp,
}

/// What a change does.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Action {
    /// Creates an entity.
    CreateEntity(NewEntity),
    /// Creates a relationship between two entities that exist.
    CreateRelationship(NewRelationship),
    /// Changes some properties.
    Update(InstanceId, Patch),
    /// Puts another whole content in place: all properties and, for entities, all classifications.
    Replace(InstanceId, Vec<(Arc<str>, Value)>, Option<Vec<ClassificationContent>>),
    /// Sets the status to deleted; an entity takes its live relationships along.
    Delete(InstanceId),
    /// Brings back what `Delete` took. For an entity, `true` also brings back the relationships that went with
    /// it, as far as their other ends are live.
    Restore(InstanceId, bool),
    /// Removes an instance with its history; an entity takes all its relationships along.
    Purge(InstanceId),
    /// Attaches a classification to an entity.
    Classify(Id, ClassificationContent),
    /// Changes some properties of a classification.
    Reclassify(Id, Arc<str>, Patch),
    /// Takes a classification off an entity.
    Declassify(Id, Arc<str>),
    /// Gives an instance another status.
    SetStatus(InstanceId, Arc<str>),
    /// Says anew where an instance comes from, all but its home.
    SetProvenance(InstanceId, Box<Provenance>),
    /// Makes an instance of the named home one of this repository.
    Rehome(InstanceId, Arc<str>),
    /// Gives an instance another id; its history goes on under it.
    Reidentify(InstanceId, Id),
    /// Makes an instance one of another type.
    Retype(InstanceId, Arc<str>),
    /// Moves the start, the end, or both, of a relationship to other entities.
    Relink(Id, Option<Id>, Option<Id>),
    /// Keeps an entity of another collection as it is there, in the place of an older copy or a proxy.
    SaveEntity(Box<EntityCopy>),
    /// Keeps what is known of an entity of another collection, so that relationships can lead to it.
    SaveProxy(Box<EntityProxy>),
    /// Keeps a relationship of another collection as it is there.
    SaveRelationship(Box<RelationshipCopy>),
    /// Keeps a classification of another collection on an entity.
    SaveClassification(Id, Box<ClassificationCopy>),
    /// Removes what is kept of an instance of the named home, with its history.
    PurgeCopy(InstanceId, Arc<str>),
    /// Takes a classification of the named home off an entity.
    PurgeClassificationCopy(Id, Arc<str>, Arc<str>),
    /// Names the collection that this repository is; once.
    NameCollection(Arc<str>),
    /// Declares a type, or extends one.
    DefineType(Box<TypeDefinition>),
    /// Nothing: stands where a purged change stood before the log was compacted.
    Void,
}

/// A change of some properties, in steps.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Patch {
    /// The steps, applied in order.
    pub steps: Vec<PatchStep>,
}

/// One step of a patch.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum PatchStep {
    /// Gives the property this value.
    Set(Arc<str>, Value),
    /// Removes the property.
    Unset(Arc<str>),
    /// Adds a value to a multi-valued property.
    Add(Arc<str>, Value),
    /// Removes a value from a multi-valued property; the last one removes the property.
    Remove(Arc<str>, Value),
    /// Removes all properties.
    Clear,
}

impl PatchStep {
    /// The property it is about; `None` if it is about all.
    pub fn name(&self) -> Option<&Arc<str>> {
        match self {
            PatchStep::Set(name, _)
            | PatchStep::Unset(name)
            | PatchStep::Add(name, _)
            | PatchStep::Remove(name, _) => Some(name),
            PatchStep::Clear => None,
        }
    }
}

impl Patch {
    /// A patch that changes nothing.
    pub fn new() -> Patch {
        Patch::default()
    }

    /// The same, giving a property a value.
    #[must_use]
    pub fn set(mut self, name: &str, value: impl Into<Value>) -> Patch {
        self.steps.push(PatchStep::Set(name.into(), value.into()));
        self
    }

    /// The same, removing a property.
    #[must_use]
    pub fn unset(mut self, name: &str) -> Patch {
        self.steps.push(PatchStep::Unset(name.into()));
        self
    }

    /// The same, adding a value to a multi-valued property.
    #[must_use]
    pub fn add(mut self, name: &str, value: impl Into<Value>) -> Patch {
        self.steps.push(PatchStep::Add(name.into(), value.into()));
        self
    }

    /// The same, removing a value from a multi-valued property.
    #[must_use]
    pub fn remove(mut self, name: &str, value: impl Into<Value>) -> Patch {
        self.steps.push(PatchStep::Remove(name.into(), value.into()));
        self
    }

    /// The same, removing all properties.
    #[must_use]
    pub fn clear(mut self) -> Patch {
        self.steps.push(PatchStep::Clear);
        self
    }
}

impl Action {
    /// The instance this action is about; `None` for types and voids.
    pub fn instance(&self) -> Option<InstanceId> {
        match self {
            Action::CreateEntity(entity) => Some(InstanceId::Entity(entity.id.clone())),
            Action::CreateRelationship(new) => Some(InstanceId::Relationship(new.id.clone())),
            Action::Update(instance, _)
            | Action::Replace(instance, _, _)
            | Action::Delete(instance)
            | Action::Restore(instance, _)
            | Action::Purge(instance)
            | Action::SetStatus(instance, _)
            | Action::SetProvenance(instance, _)
            | Action::Rehome(instance, _)
            | Action::Reidentify(instance, _)
            | Action::Retype(instance, _)
            | Action::PurgeCopy(instance, _) => Some(instance.clone()),
            Action::Classify(id, _)
            | Action::Reclassify(id, _, _)
            | Action::Declassify(id, _)
            | Action::SaveClassification(id, _)
            | Action::PurgeClassificationCopy(id, _, _) => Some(InstanceId::Entity(id.clone())),
            Action::Relink(id, _, _) => Some(InstanceId::Relationship(id.clone())),
            Action::SaveEntity(copy) => Some(InstanceId::Entity(copy.id.clone())),
            Action::SaveProxy(proxy) => Some(InstanceId::Entity(proxy.id.clone())),
            Action::SaveRelationship(copy) => Some(InstanceId::Relationship(copy.id.clone())),
            Action::DefineType(_) | Action::NameCollection(_) | Action::Void => None,
        }
    }

    /// The id that it may bring into the repository.
    pub(crate) fn new_id(&self) -> Option<&Id> {
        match self {
            Action::CreateEntity(new) => Some(&new.id),
            Action::CreateRelationship(new) => Some(&new.id),
            Action::SaveEntity(copy) => Some(&copy.id),
            Action::SaveRelationship(copy) => Some(&copy.id),
            Action::SaveProxy(proxy) => Some(&proxy.id),
            Action::Reidentify(_, id) => Some(id),
            _ => None,
        }
    }

    /// True if it may find an instance, or a type, that is already as it would leave it, and then need not be done.
    pub(crate) fn may_change_nothing(&self) -> bool {
        matches!(
            self,
            Action::Update(..)
                | Action::Replace(..)
                | Action::Reclassify(..)
                | Action::SetStatus(..)
                | Action::SetProvenance(..)
                | Action::Retype(..)
                | Action::Relink(..)
                | Action::DefineType(_)
                | Action::NameCollection(_)
        )
    }

    /// True if it changes one instance, the one that it names, and not its id.
    pub(crate) fn is_of_one_instance(&self) -> bool {
        matches!(
            self,
            Action::CreateEntity(_)
                | Action::CreateRelationship(_)
                | Action::Update(..)
                | Action::Replace(..)
                | Action::Classify(..)
                | Action::Reclassify(..)
                | Action::Declassify(..)
                | Action::SetStatus(..)
                | Action::SetProvenance(..)
                | Action::Retype(..)
                | Action::Relink(..)
                | Action::Rehome(..)
        )
    }

    /// True if it makes a new instance.
    pub(crate) fn is_create(&self) -> bool {
        matches!(self, Action::CreateEntity(_) | Action::CreateRelationship(_) | Action::SaveProxy(_))
    }

    /// The classification that it is about, if it is about one.
    pub fn classification(&self) -> Option<&str> {
        match self {
            Action::Classify(_, content) => Some(&content.name),
            Action::SaveClassification(_, copy) => Some(&copy.name),
            Action::Reclassify(_, name, _)
            | Action::Declassify(_, name)
            | Action::PurgeClassificationCopy(_, name, _) => Some(name),
            _ => None,
        }
    }

    /// The verbs of changes that the log shows.
    pub const VERBS: [&str; 20] = [
        "create",
        "update",
        "replace",
        "delete",
        "restore",
        "classify",
        "reclassify",
        "declassify",
        "set-status",
        "set-provenance",
        "rehome",
        "reidentify",
        "retype",
        "relink",
        "save-copy",
        "save-proxy",
        "save-classification-copy",
        "purge-classification-copy",
        "define-type",
        "name-collection",
    ];

    /// The verb used by every door, e.g. `"create"`.
    pub fn verb(&self) -> &'static str {
        match self {
            Action::CreateEntity(_) | Action::CreateRelationship(_) => "create",
            Action::Update(..) => "update",
            Action::Replace(..) => "replace",
            Action::Delete(_) => "delete",
            Action::Restore(..) => "restore",
            Action::Purge(_) => "purge",
            Action::Classify(..) => "classify",
            Action::Reclassify(..) => "reclassify",
            Action::Declassify(..) => "declassify",
            Action::SetStatus(..) => "set-status",
            Action::SetProvenance(..) => "set-provenance",
            Action::Rehome(..) => "rehome",
            Action::Reidentify(..) => "reidentify",
            Action::Retype(..) => "retype",
            Action::Relink(..) => "relink",
            Action::SaveEntity(_) | Action::SaveRelationship(_) => "save-copy",
            Action::SaveProxy(_) => "save-proxy",
            Action::SaveClassification(..) => "save-classification-copy",
            Action::PurgeCopy(..) => "purge-copy",
            Action::PurgeClassificationCopy(..) => "purge-classification-copy",
            Action::NameCollection(_) => "name-collection",
            Action::DefineType(_) => "define-type",
            Action::Void => "void",
        }
    }
}

impl From<Action> for Change {
    fn from(action: Action) -> Change {
        Change { action, valid_from: None, anchor: None }
    }
}
