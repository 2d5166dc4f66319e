//! Declared types: the properties, ends and statuses that instances of a type may have.

use std::sync::Arc;

use super::AttributeDefinition;

/// The kind of thing that a type describes. Each kind has its own names: an entity type and a classification may share
/// one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TypeKind {
    /// A type of entities.
    Entity,
    /// A type of relationships.
    Relationship,
    /// A classification that entities may carry.
    Classification,
    /// An enumeration: a list of named values for attributes. It has no instances.
    Enum,
}

impl TypeKind {
    /// All kinds, in the order of their codes in records.
    pub const ALL: [TypeKind; 4] =
        [TypeKind::Entity, TypeKind::Relationship, TypeKind::Classification, TypeKind::Enum];

    /// The lower-case name used by every door.
    pub fn name(self) -> &'static str {
        match self {
            TypeKind::Entity => "entity",
            TypeKind::Relationship => "relationship",
            TypeKind::Classification => "classification",
            TypeKind::Enum => "enum",
        }
    }
}

/// Declares a type. Build it with [`TypeDefinition::entity`] and its siblings, then set the public fields.
#[derive(Clone, Debug, PartialEq)]
pub struct TypeDefinition {
    /// The kind of thing that it describes.
    pub kind: TypeKind,
    /// Its name, unique within its kind.
    pub name: Arc<str>,
    /// Its purpose, for people.
    pub description: Arc<str>,
    /// Names of the types whose attributes it inherits; all of the same kind.
    pub supertypes: Vec<Arc<str>>,
    /// True if it refuses properties that no attribute declares.
    pub is_closed: bool,
    /// Its own attributes, without the inherited ones.
    pub attributes: Vec<AttributeDefinition>,
    /// Relationship types: the entities allowed at the start and at the end.
    pub ends: Option<[EndDefinition; 2]>,
    /// Classifications: names of the entity types (with subtypes) it fits; empty means any.
    pub applies_to: Vec<Arc<str>>,
    /// Classifications: true if it is meant to propagate along relationships. Annals only stores this flag for programs
    /// that propagate it.
    pub is_propagatable: bool,
    /// Statuses that instances may have besides deleted. Empty: the statuses of the supertypes; any if no supertype has
    /// them.
    pub statuses: Vec<Arc<str>>,
    /// The initial status of instances. `None`: that of the nearest supertype; `active` if no supertype has one.
    pub initial_status: Option<Arc<str>>,
    /// Enum types: the values, each with its name.
    pub elements: Vec<EnumElement>,
    /// Marks it as deprecated. Instances keep working.
    pub deprecation: Option<Deprecation>,
    /// Its id in another system, such as a GUID; unique among all types.
    pub external_id: Option<Arc<str>>,
    /// A number that its maintainers count; by default 1.
    pub version: u32,
    /// True if the engine reports uniqueness, cardinalities, required children, statuses, types of ends, and to which
    /// types a classification applies, but does not enforce them: for models whose users check these elsewhere.
    pub is_advisory: bool,
    /// Relationship types: the entity at the start contains the one at the end.
    pub containment: Option<Containment>,
    /// Entity types: names of children, or of lists with at least one item, that an instance must have at the end of each
    /// transaction.
    pub required_children: Vec<Arc<str>>,
    /// Entity types: each set of attributes is unique among the children of one entity that have this type or a
    /// subtype, at the end of each transaction. An instance without one of the values is not compared.
    pub unique_together: Vec<Vec<Arc<str>>>,
}

/// Makes relationships lead from a container to its children: an entity has at most one parent, no entity contains
/// itself, and the names of the children of one parent differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Containment {
    /// True if users order the children. Otherwise they are ordered by their keys, or by their names.
    pub is_ordered: bool,
}

/// One value of an enum type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnumElement {
    /// Its number.
    pub ordinal: u32,
    /// Its name, unique within the enum: the string that properties hold.
    pub name: Arc<str>,
    /// Its meaning, for people.
    pub description: Arc<str>,
}

/// Marks a type or an attribute as deprecated.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Deprecation {
    /// The replacement, if there is one.
    pub replaced_by: Option<Arc<str>>,
}

/// Declares one end of a relationship type.
#[derive(Clone, Debug, PartialEq)]
pub struct EndDefinition {
    /// The entity type (with subtypes) at this end; `None` means any.
    pub type_name: Option<Arc<str>>,
    /// How many such relationships one entity at the *other* end may have: many, or at most one.
    ///
    /// For `ends[1].is_many == false` an entity has at most one outgoing relationship of the type; for
    /// `ends[0].is_many == false` at most one incoming.
    pub is_many: bool,
    /// The name of the entity at this end, seen from the other end.
    pub name: Option<Arc<str>>,
}

impl TypeDefinition {
    fn new(kind: TypeKind, name: &str) -> TypeDefinition {
        TypeDefinition {
            kind,
            name: name.into(),
            description: "".into(),
            supertypes: Vec::new(),
            is_closed: false,
            attributes: Vec::new(),
            ends: None,
            applies_to: Vec::new(),
            is_propagatable: false,
            statuses: Vec::new(),
            initial_status: None,
            elements: Vec::new(),
            deprecation: None,
            external_id: None,
            version: 1,
            is_advisory: false,
            containment: None,
            required_children: Vec::new(),
            unique_together: Vec::new(),
        }
    }

    /// An open entity type without attributes.
    pub fn entity(name: &str) -> TypeDefinition {
        TypeDefinition::new(TypeKind::Entity, name)
    }

    /// An open relationship type between any entities, many on both ends.
    pub fn relationship(name: &str) -> TypeDefinition {
        TypeDefinition::new(TypeKind::Relationship, name)
    }

    /// An open classification that fits any entity.
    pub fn classification(name: &str) -> TypeDefinition {
        TypeDefinition::new(TypeKind::Classification, name)
    }

    /// An enum type without elements.
    pub fn enumeration(name: &str) -> TypeDefinition {
        TypeDefinition::new(TypeKind::Enum, name)
    }

    /// The same (an enum type) with another element.
    #[must_use]
    pub fn element(mut self, ordinal: u32, name: &str) -> TypeDefinition {
        self.elements.push(EnumElement { ordinal, name: name.into(), description: "".into() });
        self
    }

    /// The same with these statuses; the first one is the initial status.
    #[must_use]
    pub fn with_statuses(mut self, statuses: &[&str]) -> TypeDefinition {
        self.statuses = statuses.iter().map(|&status| status.into()).collect();
        self.initial_status = self.statuses.first().cloned();
        self
    }

    /// The same, deprecated.
    #[must_use]
    pub fn deprecated(mut self, replaced_by: Option<&str>) -> TypeDefinition {
        self.deprecation = Some(Deprecation { replaced_by: replaced_by.map(Into::into) });
        self
    }

    /// The same with another supertype.
    #[must_use]
    pub fn supertype(mut self, name: &str) -> TypeDefinition {
        self.supertypes.push(name.into());
        self
    }

    /// The same with another attribute.
    #[must_use]
    pub fn attribute(mut self, attribute: AttributeDefinition) -> TypeDefinition {
        self.attributes.push(attribute);
        self
    }

    /// The same, refusing properties it does not declare.
    #[must_use]
    pub fn closed(mut self) -> TypeDefinition {
        self.is_closed = true;
        self
    }

    /// The same (a relationship type) between entities of these types.
    #[must_use]
    pub fn between(mut self, from: EndDefinition, to: EndDefinition) -> TypeDefinition {
        self.ends = Some([from, to]);
        self
    }

    /// The same (a relationship type), leading from a container to its children, in the order of their keys or names.
    #[must_use]
    pub fn containing(mut self) -> TypeDefinition {
        self.containment = Some(Containment { is_ordered: false });
        self
    }

    /// The same, in the order that users give them.
    #[must_use]
    pub fn containing_in_order(mut self) -> TypeDefinition {
        self.containment = Some(Containment { is_ordered: true });
        self
    }

    /// The same (an entity type), whose instances must have a child with this name.
    #[must_use]
    pub fn requiring_child(mut self, name: &str) -> TypeDefinition {
        self.required_children.push(name.into());
        self
    }

    /// The same (an entity type): one parent has at most one child with the same values of these attributes.
    #[must_use]
    pub fn unique_together(mut self, attributes: &[&str]) -> TypeDefinition {
        self.unique_together.push(attributes.iter().map(|&name| name.into()).collect());
        self
    }

    /// The same (a classification) for entities of another type.
    #[must_use]
    pub fn applicable_to(mut self, entity_type: &str) -> TypeDefinition {
        self.applies_to.push(entity_type.into());
        self
    }
}

impl EndDefinition {
    /// Any number of entities of any type.
    pub const ANY: EndDefinition = EndDefinition { type_name: None, is_many: true, name: None };

    /// The same with this name.
    #[must_use]
    pub fn named(mut self, name: &str) -> EndDefinition {
        self.name = Some(name.into());
        self
    }

    /// Any number of entities of this type.
    pub fn many(type_name: &str) -> EndDefinition {
        EndDefinition { type_name: Some(type_name.into()), ..EndDefinition::ANY }
    }

    /// At most one entity of this type.
    pub fn one(type_name: &str) -> EndDefinition {
        EndDefinition { is_many: false, ..EndDefinition::many(type_name) }
    }
}
