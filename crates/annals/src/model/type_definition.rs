//! Declared types: what entities, relationships and classifications of a name may hold.

use std::sync::Arc;

use super::Value;

/// What a type describes. Each kind has its own names: an entity type and a classification may share one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TypeKind {
    /// A type of entities.
    Entity,
    /// A type of relationships.
    Relationship,
    /// A classification that entities may carry.
    Classification,
}

impl TypeKind {
    /// The lower-case name used by every door.
    pub fn name(self) -> &'static str {
        match self {
            TypeKind::Entity => "entity",
            TypeKind::Relationship => "relationship",
            TypeKind::Classification => "classification",
        }
    }
}

/// The type of an attribute's values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ValueType {
    /// Any value.
    #[default]
    Any,
    /// [`Value::Boolean`].
    Boolean,
    /// [`Value::Integer`].
    Integer,
    /// [`Value::Float`].
    Float,
    /// [`Value::Decimal`].
    Decimal,
    /// [`Value::String`].
    String,
    /// [`Value::Bytes`].
    Bytes,
    /// [`Value::Date`].
    Date,
    /// [`Value::Timestamp`].
    Timestamp,
    /// [`Value::Duration`].
    Duration,
    /// [`Value::Uuid`].
    Uuid,
    /// [`Value::Iri`].
    Iri,
    /// [`Value::List`].
    List,
    /// [`Value::Map`].
    Map,
}

impl ValueType {
    /// All value types, in the order of their codes in records.
    pub const ALL: [ValueType; 14] = [
        ValueType::Any,
        ValueType::Boolean,
        ValueType::Integer,
        ValueType::Float,
        ValueType::Decimal,
        ValueType::String,
        ValueType::Bytes,
        ValueType::Date,
        ValueType::Timestamp,
        ValueType::Duration,
        ValueType::Uuid,
        ValueType::Iri,
        ValueType::List,
        ValueType::Map,
    ];

    /// The lower-case name used by every door.
    pub fn name(self) -> &'static str {
        match self {
            ValueType::Any => "any",
            ValueType::Boolean => "boolean",
            ValueType::Integer => "integer",
            ValueType::Float => "float",
            ValueType::Decimal => "decimal",
            ValueType::String => "string",
            ValueType::Bytes => "bytes",
            ValueType::Date => "date",
            ValueType::Timestamp => "timestamp",
            ValueType::Duration => "duration",
            ValueType::Uuid => "uuid",
            ValueType::Iri => "iri",
            ValueType::List => "list",
            ValueType::Map => "map",
        }
    }
}

/// Declares a type. Build it with [`TypeDefinition::entity`] and its siblings, then set the public fields.
#[derive(Clone, Debug, PartialEq)]
pub struct TypeDefinition {
    /// What it describes.
    pub kind: TypeKind,
    /// Its name, unique within its kind.
    pub name: Arc<str>,
    /// What it is for, for people.
    pub description: Arc<str>,
    /// Names of the types whose attributes it inherits; all of the same kind.
    pub supertypes: Vec<Arc<str>>,
    /// True if properties that no attribute declares are refused.
    pub is_closed: bool,
    /// Its own attributes, without the inherited ones.
    pub attributes: Vec<AttributeDefinition>,
    /// Relationship types: what may stand at the start and at the end.
    pub ends: Option<[EndDefinition; 2]>,
    /// Classifications: names of the entity types (with subtypes) it fits; empty means any.
    pub applies_to: Vec<Arc<str>>,
}

/// Declares a property of a type.
#[derive(Clone, Debug, PartialEq)]
pub struct AttributeDefinition {
    /// Name of the property.
    pub name: Arc<str>,
    /// Type of its value, or of each of its values.
    pub value_type: ValueType,
    /// True if the property holds a set of values.
    pub is_many: bool,
    /// True if every instance must have it.
    pub is_required: bool,
    /// True if no two live instances of the declaring type and its subtypes may have the same value.
    pub is_unique: bool,
    /// False to keep it out of the property index.
    pub is_indexed: bool,
    /// The value a new instance gets when none is given.
    pub default: Option<Value>,
}

/// Declares one end of a relationship type.
#[derive(Clone, Debug, PartialEq)]
pub struct EndDefinition {
    /// The entity type (with subtypes) that may stand here; `None` means any.
    pub type_name: Option<Arc<str>>,
    /// How many such relationships one entity at the *other* end may have: many, or at most one.
    ///
    /// For `ends[1].is_many == false` an entity has at most one outgoing relationship of the type; for
    /// `ends[0].is_many == false` at most one incoming.
    pub is_many: bool,
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

    /// The same with one supertype more.
    #[must_use]
    pub fn supertype(mut self, name: &str) -> TypeDefinition {
        self.supertypes.push(name.into());
        self
    }

    /// The same with one attribute more.
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

    /// The same (a classification) for entities of one type more.
    #[must_use]
    pub fn applicable_to(mut self, entity_type: &str) -> TypeDefinition {
        self.applies_to.push(entity_type.into());
        self
    }
}

impl AttributeDefinition {
    /// An optional, single-valued, indexed attribute.
    pub fn new(name: &str, value_type: ValueType) -> AttributeDefinition {
        AttributeDefinition {
            name: name.into(),
            value_type,
            is_many: false,
            is_required: false,
            is_unique: false,
            is_indexed: true,
            default: None,
        }
    }

    /// The same, holding a set of values.
    #[must_use]
    pub fn many(mut self) -> AttributeDefinition {
        self.is_many = true;
        self
    }

    /// The same, required.
    #[must_use]
    pub fn required(mut self) -> AttributeDefinition {
        self.is_required = true;
        self
    }

    /// The same, unique.
    #[must_use]
    pub fn unique(mut self) -> AttributeDefinition {
        self.is_unique = true;
        self
    }

    /// The same, kept out of the property index.
    #[must_use]
    pub fn unindexed(mut self) -> AttributeDefinition {
        self.is_indexed = false;
        self
    }

    /// The same, with a value for new instances that give none.
    #[must_use]
    pub fn default_value(mut self, value: impl Into<Value>) -> AttributeDefinition {
        self.default = Some(value.into());
        self
    }
}

impl EndDefinition {
    /// Any number of entities of this type.
    pub fn many(type_name: &str) -> EndDefinition {
        EndDefinition { type_name: Some(type_name.into()), is_many: true }
    }

    /// At most one entity of this type.
    pub fn one(type_name: &str) -> EndDefinition {
        EndDefinition { type_name: Some(type_name.into()), is_many: false }
    }
}
