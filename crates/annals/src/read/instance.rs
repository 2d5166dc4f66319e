//! Entities and relationships for callers.

use super::past::held::Held;
use std::fmt;

use super::snapshot::Snapshot;
use crate::graph::instance::classified::Classified;
use crate::graph::instance::headers::RowHeader;
use crate::graph::instance::row::Row;
use crate::graph::instance::unpacked::RowStamp;
use crate::graph::structures::symbols::Symbol;
use crate::model::{
    ClassificationCopy, Id, InstanceId, Instant, Provenance, Revision, StampRef, Status, TypeKind, Value,
    ValueRef,
};
use crate::{Position, Result};

/// A property name looked up by [`Snapshot::name`]: saves the look-up when many entities are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Name(Symbol);

impl Name {
    pub(super) fn symbol(self) -> Symbol {
        self.0
    }
}

impl Snapshot {
    /// Looks a property name up, for [`Entity::value`]; `None` if no instance ever had a property of this name. The
    /// result is valid for all snapshots of one repository until its log is compacted.
    pub fn name(&self, name: &str) -> Option<Name> {
        self.graph().names.find(name).map(Name)
    }
}

macro_rules! instance_methods {
    ($name:ident, $variant:ident) => {
        impl<'s> $name<'s> {
            #[inline]
            pub(super) fn new(snapshot: &'s Snapshot, slot: u32, held: Held) -> $name<'s> {
                $name { snapshot, slot: slot.into(), held }
            }

            #[inline]
            #[expect(clippy::cast_possible_truncation, reason = "it was made from a slot of 32 bits")]
            pub(super) fn slot(&self) -> u32 {
                self.slot as u32
            }

            /// Its id.
            #[inline]
            pub fn id(&self) -> &'s Id {
                let graph = self.snapshot.graph();
                match &self.held {
                    Held::InForce => graph.table(TypeKind::$variant).id(self.slot()),
                    Held::Read(_) if self.only_leads() => {
                        self.snapshot.id_of(TypeKind::$variant, self.slot())
                    }
                    Held::Read(version) => {
                        graph.id_in(TypeKind::$variant, self.slot(), version.row().header())
                    }
                }
            }

            // Nothing of its table may be told then.
            fn only_leads(&self) -> bool {
                self.snapshot.only_leads(TypeKind::$variant, self.slot())
            }

            fn header(&self) -> &'s RowHeader {
                self.snapshot.graph().headers.get(self.row().header())
            }

            /// Name of its status: `deleted`, or a status of its type, by default `active`.
            pub fn status_name(&self) -> &'s str {
                if self.status() == Status::Deleted {
                    Status::Deleted.name()
                } else {
                    self.status_beside_deletion()
                }
            }

            /// The status it had before it was deleted; `None` if it is not deleted.
            pub fn status_on_delete(&self) -> Option<&'s str> {
                (self.status() == Status::Deleted).then(|| self.status_beside_deletion())
            }

            fn status_beside_deletion(&self) -> &'s str {
                self.header().status.as_deref().unwrap_or(Status::Active.name())
            }

            /// Its provenance; `None` if it has none, and is this repository's own.
            pub fn provenance(&self) -> Option<&'s Provenance> {
                self.header().provenance.as_deref()
            }

            /// Name of the collection that it belongs to; `None` for this repository's own.
            pub fn home(&self) -> Option<&'s str> {
                self.header().home().map(|home| &**home)
            }

            /// Its version number at its home; differs from [`version`](Self::version) for copies.
            pub fn home_version(&self) -> u64 {
                let version = i64::from(self.version()) + self.header().version_offset;
                u64::try_from(version).unwrap_or_default()
            }

            /// Number of the version without those that changed only classifications, as far as they have records of their
            /// own; the first is 1.
            pub fn content_version(&self) -> u32 {
                self.header().content_version(self.version())
            }

            /// Its former id; `None` if the id never changed.
            pub fn reidentified_from(&self) -> Option<&'s Id> {
                self.header().reidentified_from.as_ref()
            }

            #[inline]
            fn row(&self) -> Row<'_> {
                self.snapshot.row(TypeKind::$variant, self.slot(), &self.held)
            }

            /// Its id, with its kind.
            pub fn instance_id(&self) -> InstanceId {
                InstanceId::$variant(self.id().clone())
            }

            /// Name of its type.
            pub fn type_name(&self) -> &'s str {
                self.snapshot.graph().names.name(self.row().type_name())
            }

            /// Number of this version; the first is 1.
            pub fn version(&self) -> u32 {
                self.row().version()
            }

            /// Number of the latest version that this snapshot knows.
            pub fn latest_version(&self) -> u32 {
                match self.only_leads() {
                    true => self.version(),
                    false => self.snapshot.latest_version_at(TypeKind::$variant, self.slot()),
                }
            }

            /// Position of the record that created it; zero before it is committed. Two instances that had one id at
            /// different times have different births.
            pub fn birth(&self) -> Position {
                match self.only_leads() {
                    true => Position::ZERO,
                    false => self.snapshot.birth_at(TypeKind::$variant, self.slot()),
                }
            }

            /// Its birth, its latest version and its log, for entity tags and optimistic writers.
            pub fn revision(&self) -> Revision {
                match self.only_leads() {
                    true => Revision::default(),
                    false => self.snapshot.revision_at(TypeKind::$variant, self.slot()),
                }
            }

            /// Whether it is live.
            pub fn status(&self) -> Status {
                self.row().status()
            }

            /// Instant and author of its creation.
            pub fn created(&self) -> StampRef<'s> {
                self.stamp(self.row().created())
            }

            fn stamp(&self, stamp: RowStamp) -> StampRef<'s> {
                let told = self.snapshot.stamp(stamp);
                if self.only_leads() { StampRef { author: "", ..told } } else { told }
            }

            /// Instant and author of this version.
            pub fn updated(&self) -> StampRef<'s> {
                self.stamp(self.row().updated())
            }

            /// The valid time of this version.
            pub fn valid_from(&self) -> Instant {
                Instant::from_checked_micros(self.row().valid_from())
            }

            /// Position of the record that wrote this version.
            pub fn position(&self) -> Position {
                Position(self.row().place().position)
            }

            /// The value of a property.
            #[inline]
            pub fn property(&self, name: &str) -> Option<Value> {
                self.value(self.snapshot.name(name)?)
            }

            /// The value of a property whose name was looked up.
            #[inline]
            pub fn value(&self, name: Name) -> Option<Value> {
                self.snapshot.value(TypeKind::$variant, self.slot(), &self.held, name.0)
            }

            /// All properties, each with its name.
            pub fn properties(&self) -> impl Iterator<Item = (&'s str, Value)> + use<'_, 's> {
                self.property_refs().map(|(name, value)| (name, value.into_value()))
            }

            /// The same without copies of texts, for callers that write them elsewhere.
            pub fn property_refs(&self) -> impl Iterator<Item = (&'s str, ValueRef<'_>)> + use<'_, 's> {
                let names = &self.snapshot.graph().names;
                self.row().each_property().map(|(name, value)| (&**names.name(name), value))
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
    // As wide as a register: a handle with padding would be written and read again through memory, which takes twice as
    // long.
    slot: u64,
    pub(super) held: Held,
}

/// A relationship in one version.
#[derive(Clone)]
pub struct Relationship<'s> {
    pub(super) snapshot: &'s Snapshot,
    slot: u64,
    pub(super) held: Held,
}

instance_methods!(Entity, Entity);
instance_methods!(Relationship, Relationship);

impl<'s> Entity<'s> {
    /// True if the repository holds only a proxy of it: id, type and unique properties.
    pub fn is_proxy(&self) -> bool {
        self.header().is_proxy
    }

    /// True if its type declares an attribute of this name with many values.
    pub fn has_many(&self, name: &str) -> bool {
        let graph = self.snapshot.graph();
        let declared = graph.types.get(TypeKind::Entity, self.row().type_name());
        let attribute = graph.names.find(name).zip(declared);
        let attribute = attribute.and_then(|(name, declared)| declared.attributes.get(&name));
        attribute.is_some_and(|attribute| attribute.definition.is_many)
    }

    /// Its classifications.
    pub fn classifications(&self) -> impl Iterator<Item = ClassificationRef<'_>> {
        let snapshot = self.snapshot;
        self.row().classifications().map(move |classified| ClassificationRef { snapshot, classified })
    }

    /// The classification with this name.
    pub fn classification(&self, name: &str) -> Option<ClassificationRef<'_>> {
        let name = self.snapshot.graph().names.find(name)?;
        self.classifications().find(|known| known.classified.name() == name)
    }
}

impl<'s> Relationship<'s> {
    /// Id of its start entity.
    pub fn from(&self) -> &'s Id {
        self.end(0)
    }

    /// Id of its end entity.
    pub fn to(&self) -> &'s Id {
        self.end(1)
    }

    /// Its start entity.
    pub fn from_entity(&self) -> Result<Option<Entity<'s>>> {
        self.snapshot.entity_at(self.row().ends()[0])
    }

    /// Its end entity.
    pub fn to_entity(&self) -> Result<Option<Entity<'s>>> {
        self.snapshot.entity_at(self.row().ends()[1])
    }

    fn end(&self, side: usize) -> &'s Id {
        self.snapshot.id_seen(self.row().ends()[side])
    }
}

/// A classification of an entity.
#[derive(Clone)]
pub struct ClassificationRef<'s> {
    snapshot: &'s Snapshot,
    classified: Classified<'s>,
}

impl<'s> ClassificationRef<'s> {
    /// Its name.
    pub fn name(&self) -> &'s str {
        self.snapshot.graph().names.name(self.classified.name())
    }

    /// Its version number: 1 plus the number of changes since it was attached.
    pub fn version(&self) -> u32 {
        self.classified.version()
    }

    /// Instant and author of its first version.
    pub fn created(&self) -> StampRef<'s> {
        self.snapshot.stamp(self.classified.created())
    }

    /// Instant and author of its latest version.
    pub fn updated(&self) -> StampRef<'s> {
        self.snapshot.stamp(self.classified.updated())
    }

    pub(crate) fn to_copy(&self) -> ClassificationCopy {
        ClassificationCopy {
            name: self.name().into(),
            properties: self.properties().map(|(name, value)| (name.into(), value)).collect(),
            provenance: self.provenance().cloned().unwrap_or_default(),
            version: self.version(),
            created: self.created().to_stamp(),
            updated: self.updated().to_stamp(),
        }
    }

    /// Its provenance; `None` if it has none, and is this repository's own.
    pub fn provenance(&self) -> Option<&'s Provenance> {
        self.snapshot.graph().headers.get(self.classified.header()).provenance.as_deref()
    }

    /// The value of a property.
    pub fn property(&self, name: &str) -> Option<Value> {
        self.classified.property(self.snapshot.graph().names.find(name)?)
    }

    /// All properties, each with its name.
    pub fn properties(&self) -> impl Iterator<Item = (&'s str, Value)> + use<'s> {
        self.property_refs().map(|(name, value)| (name, value.into_value()))
    }

    /// The same without copies of texts, for callers that write them elsewhere.
    pub fn property_refs(&self) -> impl Iterator<Item = (&'s str, ValueRef<'s>)> + use<'s> {
        let names = &self.snapshot.graph().names;
        self.classified.each_property().map(|(name, value)| (&**names.name(name), value))
    }
}
