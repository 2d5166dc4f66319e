//! The content of entities, relationships and classifications to create.

use std::fmt;
use std::sync::Arc;

use super::{Id, Provenance, Value};
use crate::Result;

/// Whether an instance is live.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Status {
    /// Every read sees it.
    #[default]
    Active,
    /// Only history, reads as of an earlier time, and `restore` see it.
    Deleted,
}

impl Status {
    /// The lower-case name used by every door.
    pub fn name(self) -> &'static str {
        match self {
            Status::Active => "active",
            Status::Deleted => "deleted",
        }
    }
}

/// Relationships of an entity by direction: those that start at it, or those that end at it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// From the entity.
    Out,
    /// To the entity.
    In,
}

/// Names an entity or a relationship.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum InstanceId {
    /// The entity with this id.
    Entity(Id),
    /// The relationship with this id.
    Relationship(Id),
}

impl InstanceId {
    /// The id without its kind.
    pub fn id(&self) -> &Id {
        match self {
            InstanceId::Entity(id) | InstanceId::Relationship(id) => id,
        }
    }
}

impl fmt::Display for InstanceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            InstanceId::Entity(id) => write!(f, "entity {id}"),
            InstanceId::Relationship(id) => write!(f, "relationship {id}"),
        }
    }
}

impl fmt::Debug for InstanceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// An entity to be created.
///
/// ```
/// let entity = annals::NewEntity::new("package").id("bash").unwrap().property("version", "5.2");
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct NewEntity {
    /// Its id; by default a new one.
    pub id: Id,
    /// Name of its type.
    pub type_name: Arc<str>,
    /// Its properties by name.
    pub properties: Vec<(Arc<str>, Value)>,
    /// Its first classifications.
    pub classifications: Vec<ClassificationContent>,
    /// Its status; the initial one of its type if `None`.
    pub status: Option<Arc<str>>,
    /// Its provenance, if known.
    pub provenance: Option<Arc<Provenance>>,
}

/// A relationship to be created.
#[derive(Clone, Debug, PartialEq)]
pub struct NewRelationship {
    /// Its id; by default a new one.
    pub id: Id,
    /// Name of its type.
    pub type_name: Arc<str>,
    /// The entity where it starts.
    pub from: Id,
    /// The entity where it ends.
    pub to: Id,
    /// Its properties by name.
    pub properties: Vec<(Arc<str>, Value)>,
    /// Its status; the initial one of its type if `None`.
    pub status: Option<Arc<str>>,
    /// Its provenance, if known.
    pub provenance: Option<Arc<Provenance>>,
}

/// A classification with its properties.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassificationContent {
    /// Name of the classification.
    pub name: Arc<str>,
    /// Its properties by name.
    pub properties: Vec<(Arc<str>, Value)>,
    /// Its provenance, if known.
    pub provenance: Option<Arc<Provenance>>,
}

impl NewEntity {
    /// An entity of this type with a new id.
    pub fn new(type_name: &str) -> NewEntity {
        NewEntity {
            id: Id::random(),
            type_name: type_name.into(),
            properties: Vec::new(),
            classifications: Vec::new(),
            status: None,
            provenance: None,
        }
    }

    /// The same with this status.
    #[must_use]
    pub fn status(mut self, status: &str) -> NewEntity {
        self.status = Some(status.into());
        self
    }

    /// The same with this provenance.
    #[must_use]
    pub fn from_provenance(mut self, provenance: Provenance) -> NewEntity {
        self.provenance = Some(Arc::new(provenance));
        self
    }

    /// The same with this id. Errors: as [`Id::new`].
    pub fn id(mut self, id: &str) -> Result<NewEntity> {
        self.id = Id::new(id)?;
        Ok(self)
    }

    /// The same with another property.
    #[must_use]
    pub fn property(mut self, name: &str, value: impl Into<Value>) -> NewEntity {
        self.properties.push((name.into(), value.into()));
        self
    }

    /// The same with another classification.
    #[must_use]
    pub fn classified(mut self, classification: ClassificationContent) -> NewEntity {
        self.classifications.push(classification);
        self
    }
}

impl NewRelationship {
    /// A relationship of this type between two entities, with a new id.
    pub fn new(type_name: &str, from: Id, to: Id) -> NewRelationship {
        NewRelationship {
            id: Id::random(),
            type_name: type_name.into(),
            from,
            to,
            properties: Vec::new(),
            status: None,
            provenance: None,
        }
    }

    /// The same with this status.
    #[must_use]
    pub fn status(mut self, status: &str) -> NewRelationship {
        self.status = Some(status.into());
        self
    }

    /// The same with this provenance.
    #[must_use]
    pub fn from_provenance(mut self, provenance: Provenance) -> NewRelationship {
        self.provenance = Some(Arc::new(provenance));
        self
    }

    /// The same with this id. Errors: as [`Id::new`].
    pub fn id(mut self, id: &str) -> Result<NewRelationship> {
        self.id = Id::new(id)?;
        Ok(self)
    }

    /// The same with another property.
    #[must_use]
    pub fn property(mut self, name: &str, value: impl Into<Value>) -> NewRelationship {
        self.properties.push((name.into(), value.into()));
        self
    }
}

impl ClassificationContent {
    /// A classification without properties.
    pub fn new(name: &str) -> ClassificationContent {
        ClassificationContent { name: name.into(), properties: Vec::new(), provenance: None }
    }

    /// The same with another property.
    #[must_use]
    pub fn property(mut self, name: &str, value: impl Into<Value>) -> ClassificationContent {
        self.properties.push((name.into(), value.into()));
        self
    }
}
