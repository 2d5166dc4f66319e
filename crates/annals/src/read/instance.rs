//! Entities and relationships as a caller sees them.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use super::snapshot::Snapshot;
use crate::graph::instance::{Classification, Instance};
use crate::graph::properties::Properties;
use crate::graph::symbols::Symbol;
use crate::model::{Id, InstanceId, Instant, Stamp, Status, Value};
use crate::{Position, Result};

/// An instance in the version that the snapshot sees: borrowed from it, or read from the log.
#[derive(Clone)]
pub(crate) enum Held<'s> {
    Borrowed(&'s Instance),
    Owned(Arc<Instance>),
}

impl Deref for Held<'_> {
    type Target = Instance;

    #[inline]
    fn deref(&self) -> &Instance {
        match self {
            Held::Borrowed(instance) => instance,
            Held::Owned(instance) => instance,
        }
    }
}

/// A property name looked up by [`Snapshot::name`]: spares the look-up when many entities are asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Name(Symbol);

impl Snapshot {
    /// Looks a property name up, for [`Entity::value`]; `None` if nothing ever had a property of this name. The result
    /// serves all snapshots of one repository until its log is compacted.
    pub fn name(&self, name: &str) -> Option<Name> {
        self.graph().names.find(name).map(Name)
    }
}

macro_rules! instance_methods {
    ($name:ident, $variant:ident) => {
        impl<'s> $name<'s> {
            /// Its id.
            pub fn id(&self) -> &Id {
                &self.held.id
            }

            /// Its id, with its kind.
            pub fn instance_id(&self) -> InstanceId {
                InstanceId::$variant(self.held.id.clone())
            }

            /// Name of its type.
            pub fn type_name(&self) -> &'s str {
                self.snapshot.graph().names.name(self.held.type_name)
            }

            /// Number of this version; the first is 1.
            pub fn version(&self) -> u32 {
                self.held.version
            }

            /// Number of the version written last: what `If-Match` and optimistic writers compare.
            pub fn latest_version(&self) -> u32 {
                self.held.versions
            }

            /// Whether it is live.
            pub fn status(&self) -> Status {
                self.held.status
            }

            /// When and by whom it was created.
            pub fn created(&self) -> Stamp {
                self.snapshot.stamp(self.held.created)
            }

            /// When and by whom this version was written.
            pub fn updated(&self) -> Stamp {
                self.snapshot.stamp(self.held.updated)
            }

            /// From when this version is true.
            pub fn valid_from(&self) -> Instant {
                Instant::from_checked_micros(self.held.valid_from)
            }

            /// Position of the record that wrote this version.
            pub fn position(&self) -> Position {
                Position(self.held.place.position)
            }

            /// The value of a property.
            #[inline]
            pub fn property(&self, name: &str) -> Option<&Value> {
                self.held.properties.get(self.snapshot.graph().names.find(name)?)
            }

            /// The value of a property whose name was looked up before.
            #[inline]
            pub fn value(&self, name: Name) -> Option<&Value> {
                self.held.properties.get(name.0)
            }

            /// All properties, each with its name.
            pub fn properties(&self) -> impl Iterator<Item = (&'s str, &Value)> {
                named(self.snapshot, &self.held.properties)
            }
        }

        impl fmt::Debug for $name<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{} {} v{} ", self.type_name(), self.id(), self.version())?;
                f.debug_map().entries(self.properties()).finish()
            }
        }
    };
}

/// An entity in one version.
#[derive(Clone)]
pub struct Entity<'s> {
    pub(super) snapshot: &'s Snapshot,
    pub(super) slot: u32,
    pub(super) held: Held<'s>,
}

/// A relationship in one version.
#[derive(Clone)]
pub struct Relationship<'s> {
    pub(super) snapshot: &'s Snapshot,
    pub(super) held: Held<'s>,
}

instance_methods!(Entity, Entity);
instance_methods!(Relationship, Relationship);

impl<'s> Entity<'s> {
    /// The classifications it carries.
    pub fn classifications(&self) -> impl Iterator<Item = ClassificationRef<'_>> {
        let snapshot = self.snapshot;
        self.held
            .classifications()
            .iter()
            .map(move |classification| ClassificationRef { snapshot, classification })
    }

    /// The classification with this name.
    pub fn classification(&self, name: &str) -> Option<ClassificationRef<'_>> {
        self.classifications().find(|classification| classification.name() == name)
    }

    pub(crate) fn held(&self) -> &Instance {
        &self.held
    }
}

impl<'s> Relationship<'s> {
    /// Id of the entity it starts at.
    pub fn from(&self) -> &'s Id {
        self.end(0)
    }

    /// Id of the entity it ends at.
    pub fn to(&self) -> &'s Id {
        self.end(1)
    }

    /// The entity it starts at.
    pub fn from_entity(&self) -> Result<Option<Entity<'s>>> {
        self.snapshot.entity_at(self.held.ends[0])
    }

    /// The entity it ends at.
    pub fn to_entity(&self) -> Result<Option<Entity<'s>>> {
        self.snapshot.entity_at(self.held.ends[1])
    }

    fn end(&self, side: usize) -> &'s Id {
        &self
            .snapshot
            .graph()
            .entities
            .get(self.held.ends[side])
            .expect("purging an end purges the relationship")
            .id
    }
}

/// A classification that an entity carries.
#[derive(Clone, Copy)]
pub struct ClassificationRef<'e> {
    snapshot: &'e Snapshot,
    classification: &'e Classification,
}

impl<'e> ClassificationRef<'e> {
    /// Its name.
    pub fn name(&self) -> &'e str {
        self.snapshot.graph().names.name(self.classification.name)
    }

    /// How often it was changed since it was attached, counted from 1.
    pub fn version(&self) -> u32 {
        self.classification.version
    }

    /// When and by whom it was attached.
    pub fn created(&self) -> Stamp {
        self.snapshot.stamp(self.classification.created)
    }

    /// When and by whom it was changed last.
    pub fn updated(&self) -> Stamp {
        self.snapshot.stamp(self.classification.updated)
    }

    /// The value of a property.
    pub fn property(&self, name: &str) -> Option<&'e Value> {
        self.classification.properties.get(self.snapshot.graph().names.find(name)?)
    }

    /// All properties, each with its name.
    pub fn properties(&self) -> impl Iterator<Item = (&'e str, &'e Value)> {
        named(self.snapshot, &self.classification.properties)
    }
}

pub(super) fn named<'s, 'p>(
    snapshot: &'s Snapshot,
    properties: &'p Properties,
) -> impl Iterator<Item = (&'s str, &'p Value)> {
    properties.iter().map(|(name, value)| (&**snapshot.graph().names.name(name), value))
}
