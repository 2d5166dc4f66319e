//! The entries of actions, in the form for records and doors: a bag of optional entries.

use std::sync::Arc;

use crate::graph::{instance_id, kind_of};
use crate::model::{
    ClassificationContent, ClassificationCopy, CopyHeader, Id, InstanceId, Patch, Provenance, Stamp,
    TypeDefinition, TypeKind, Value,
};

/// An entry of the bag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Key {
    /// The id of the instance.
    Id,
    /// The name of a type or a classification.
    Name,
    /// All properties.
    Properties,
    /// The entity at which a relationship starts.
    From,
    /// The entity at which a relationship ends.
    To,
    /// A change of some properties.
    Patch,
    /// All classifications.
    Classifications,
    /// Whether relationships are included.
    WithRelationships,
    /// The declaration of a type.
    Type,
    /// A status.
    Status,
    /// A provenance.
    Provenance,
    /// Another id.
    NewId,
    /// The name of a home or a collection.
    Text,
    /// Version and stamps of a copy: instants and authors of its creation and its latest change.
    Origin,
    /// Classifications of other collections.
    Copied,
    /// One of them. Doors write its members beside its name.
    CopiedOne,
    /// Several instances.
    Instances,
}

/// An entry that an action has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its key.
    pub key: Key,
    /// Its name at doors. [`Key::Provenance`] and [`Key::Origin`] have several members, which their own forms name.
    pub name: &'static str,
    /// True if the action requires it. For creations, doors make an id if none is given.
    pub is_required: bool,
}

impl Field {
    pub(super) const fn required(key: Key, name: &'static str) -> Field {
        Field { key, name, is_required: true }
    }

    pub(super) const fn optional(key: Key, name: &'static str) -> Field {
        Field { key, name, is_required: false }
    }
}

/// The entries of an action, to be written.
#[derive(Debug, Default)]
pub struct BagRef<'a> {
    /// The kind of its instance; `None` without an instance.
    pub kind: Option<TypeKind>,
    /// The id of the instance.
    pub id: Option<&'a Id>,
    /// The name of a type or a classification.
    pub name: Option<&'a Arc<str>>,
    /// All properties.
    pub properties: Option<&'a [(Arc<str>, Value)]>,
    /// The entity at which a relationship starts.
    pub from: Option<&'a Id>,
    /// The entity at which a relationship ends.
    pub to: Option<&'a Id>,
    /// A change of some properties.
    pub patch: Option<&'a Patch>,
    /// All classifications.
    pub classifications: Option<&'a [ClassificationContent]>,
    /// Whether relationships are included.
    pub with_relationships: Option<bool>,
    /// The declaration of a type.
    pub definition: Option<&'a TypeDefinition>,
    /// A status.
    pub status: Option<&'a Arc<str>>,
    /// A provenance.
    pub provenance: Option<&'a Provenance>,
    /// Another id.
    pub new_id: Option<&'a Id>,
    /// The name of a home or a collection.
    pub text: Option<&'a Arc<str>>,
    /// Version and stamps of a copy: instants and authors of its creation and its latest change.
    pub origin: Option<(u32, &'a Stamp, &'a Stamp)>,
    /// Classifications of other collections.
    pub copied: Option<&'a [ClassificationCopy]>,
    /// Several instances.
    pub instances: Option<&'a [InstanceId]>,
}

impl<'a> BagRef<'a> {
    /// The bag of an action on this instance.
    pub(super) fn of(instance: &'a InstanceId) -> BagRef<'a> {
        BagRef { kind: Some(kind_of(instance)), id: Some(instance.id()), ..BagRef::default() }
    }

    /// The bag of an action on an entity.
    pub(super) fn of_entity(id: &'a Id) -> BagRef<'a> {
        BagRef { kind: Some(TypeKind::Entity), id: Some(id), ..BagRef::default() }
    }

    /// The bag of an action on a relationship.
    pub(super) fn of_relationship(id: &'a Id) -> BagRef<'a> {
        BagRef { kind: Some(TypeKind::Relationship), id: Some(id), ..BagRef::default() }
    }

    /// The same, with the header of a copy.
    pub(super) fn with_header(self, header: &'a CopyHeader) -> BagRef<'a> {
        BagRef {
            status: header.status.as_ref(),
            provenance: Some(&header.provenance),
            origin: Some((header.version, &header.created, &header.updated)),
            ..self
        }
    }

    /// The instance of the action.
    pub(crate) fn instance(&self) -> Option<InstanceId> {
        Some(instance_id(self.kind?, self.id?.clone()))
    }

    /// True if it has an entry for this key.
    pub(crate) fn has(&self, key: Key) -> bool {
        match key {
            Key::Id => self.id.is_some(),
            Key::Name => self.name.is_some(),
            Key::Properties => self.properties.is_some(),
            Key::From => self.from.is_some(),
            Key::To => self.to.is_some(),
            Key::Patch => self.patch.is_some(),
            Key::Classifications => self.classifications.is_some(),
            Key::WithRelationships => self.with_relationships.is_some(),
            Key::Type => self.definition.is_some(),
            Key::Status => self.status.is_some(),
            Key::Provenance => self.provenance.is_some(),
            Key::NewId => self.new_id.is_some(),
            Key::Text => self.text.is_some(),
            Key::Origin => self.origin.is_some(),
            Key::Copied | Key::CopiedOne => self.copied.is_some(),
            Key::Instances => self.instances.is_some(),
        }
    }
}

/// The entries of an action, as they were read.
#[derive(Debug, Default)]
pub struct Bag {
    /// The kind of its instance; `None` without an instance.
    pub kind: Option<TypeKind>,
    /// The id of the instance.
    pub id: Option<Id>,
    /// The name of a type or a classification.
    pub name: Option<Arc<str>>,
    /// All properties.
    pub properties: Option<Vec<(Arc<str>, Value)>>,
    /// The entity at which a relationship starts.
    pub from: Option<Id>,
    /// The entity at which a relationship ends.
    pub to: Option<Id>,
    /// A change of some properties.
    pub patch: Option<Patch>,
    /// All classifications.
    pub classifications: Option<Vec<ClassificationContent>>,
    /// Whether relationships are included.
    pub with_relationships: Option<bool>,
    /// The declaration of a type.
    pub definition: Option<TypeDefinition>,
    /// A status.
    pub status: Option<Arc<str>>,
    /// A provenance.
    pub provenance: Option<Provenance>,
    /// Another id.
    pub new_id: Option<Id>,
    /// The name of a home or a collection.
    pub text: Option<Arc<str>>,
    /// Version and stamps of a copy: instants and authors of its creation and its latest change.
    pub origin: Option<(u32, Stamp, Stamp)>,
    /// Classifications of other collections.
    pub copied: Option<Vec<ClassificationCopy>>,
    /// Several instances.
    pub instances: Option<Vec<InstanceId>>,
}

impl Bag {
    /// The instance of the action.
    pub(super) fn instance(&self) -> Option<InstanceId> {
        Some(instance_id(self.kind?, self.id.clone()?))
    }

    /// Takes out the header of a copy.
    pub(super) fn copy_header(&mut self) -> Option<CopyHeader> {
        let (version, created, updated) = self.origin.take()?;
        let (provenance, status) = (self.provenance.take()?, self.status.take());
        Some(CopyHeader { provenance, version, status, created, updated })
    }
}

/// The list, unless it is empty.
pub(super) fn filled<T>(list: &[T]) -> Option<&[T]> {
    (!list.is_empty()).then_some(list)
}
