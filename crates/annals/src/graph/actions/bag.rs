//! What actions hold, as records and doors write it: a bag of entries, of which each action has some.

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
    /// Whether relationships come along.
    WithRelationships,
    /// The declaration of a type.
    Type,
    /// A status.
    Status,
    /// Where something comes from.
    Provenance,
    /// Another id.
    NewId,
    /// The name of a home or a collection.
    Text,
    /// Version and stamps of a copy: when and by whom it was created and changed last.
    Origin,
    /// Classifications of other collections.
    Copied,
    /// One of them. Doors write what it holds beside its name.
    CopiedOne,
    /// Several instances.
    Instances,
}

/// An entry that an action has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// Which.
    pub key: Key,
    /// Its name at doors. Those of [`Key::Provenance`] and [`Key::Origin`] are several, which their own forms name.
    pub name: &'static str,
    /// True if the action is none without it. Of what is created, doors make the id if none is given.
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

/// What an action holds, to be written.
#[derive(Debug, Default)]
pub struct BagRef<'a> {
    /// The kind of instance that it is about; `None` if it is about none.
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
    /// Whether relationships come along.
    pub with_relationships: Option<bool>,
    /// The declaration of a type.
    pub definition: Option<&'a TypeDefinition>,
    /// A status.
    pub status: Option<&'a Arc<str>>,
    /// Where something comes from.
    pub provenance: Option<&'a Provenance>,
    /// Another id.
    pub new_id: Option<&'a Id>,
    /// The name of a home or a collection.
    pub text: Option<&'a Arc<str>>,
    /// Version and stamps of a copy: when and by whom it was created and changed last.
    pub origin: Option<(u32, &'a Stamp, &'a Stamp)>,
    /// Classifications of other collections.
    pub copied: Option<&'a [ClassificationCopy]>,
    /// Several instances.
    pub instances: Option<&'a [InstanceId]>,
}

impl<'a> BagRef<'a> {
    /// The bag of an action about this instance.
    pub(super) fn of(instance: &'a InstanceId) -> BagRef<'a> {
        BagRef { kind: Some(kind_of(instance)), id: Some(instance.id()), ..BagRef::default() }
    }

    /// The bag of an action about an entity.
    pub(super) fn of_entity(id: &'a Id) -> BagRef<'a> {
        BagRef { kind: Some(TypeKind::Entity), id: Some(id), ..BagRef::default() }
    }

    /// The bag of an action about a relationship.
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

    /// The instance that the action is about.
    pub(crate) fn instance(&self) -> Option<InstanceId> {
        Some(instance_id(self.kind?, self.id?.clone()))
    }

    /// True if it holds an entry for this key.
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

/// What an action holds, as it was read.
#[derive(Debug, Default)]
pub struct Bag {
    /// The kind of instance that it is about; `None` if it is about none.
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
    /// Whether relationships come along.
    pub with_relationships: Option<bool>,
    /// The declaration of a type.
    pub definition: Option<TypeDefinition>,
    /// A status.
    pub status: Option<Arc<str>>,
    /// Where something comes from.
    pub provenance: Option<Provenance>,
    /// Another id.
    pub new_id: Option<Id>,
    /// The name of a home or a collection.
    pub text: Option<Arc<str>>,
    /// Version and stamps of a copy: when and by whom it was created and changed last.
    pub origin: Option<(u32, Stamp, Stamp)>,
    /// Classifications of other collections.
    pub copied: Option<Vec<ClassificationCopy>>,
    /// Several instances.
    pub instances: Option<Vec<InstanceId>>,
}

impl Bag {
    /// The instance that the action is about.
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

/// The list, if there is something in it.
pub(super) fn filled<T>(list: &[T]) -> Option<&[T]> {
    (!list.is_empty()).then_some(list)
}
