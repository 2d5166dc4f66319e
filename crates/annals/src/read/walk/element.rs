//! Elements of walks: entities and relationships, whose content is read on demand.

use crate::Result;
use crate::model::{Id, TypeKind};
use crate::read::instance::{Entity, Relationship};
use crate::read::snapshot::Snapshot;

/// An entity that a walk reached. Its content is read on demand.
#[derive(Clone, Copy)]
pub struct Reached<'s> {
    pub(super) snapshot: &'s Snapshot,
    pub(super) slot: u32,
    /// Its distance from the start. Units: steps.
    pub distance: usize,
}

/// A relationship on a walk. Its content is read on demand.
#[derive(Clone, Copy)]
pub struct Crossed<'s> {
    pub(super) snapshot: &'s Snapshot,
    pub(super) slot: u32,
}

/// The next element of a walk.
#[derive(Clone, Copy, Debug)]
pub enum Element<'s> {
    /// An entity, for the first and only time.
    Entity(Reached<'s>),
    /// A relationship, for the first and only time.
    Relationship(Crossed<'s>),
}

/// A part of the graph: entities, and relationships between them.
pub struct Subgraph<'s> {
    pub(super) snapshot: &'s Snapshot,
    // Shape: slot, distance from the start.
    pub(super) entities: Vec<(u32, u32)>,
    pub(super) relationships: Vec<u32>,
}

impl<'s> Reached<'s> {
    /// Its id.
    pub fn id(&self) -> &'s Id {
        self.snapshot.id_of(TypeKind::Entity, self.slot)
    }

    /// The entity, in the version that the snapshot sees; also a deleted one, if the walk enters these.
    ///
    /// Errors: those of reading history.
    pub fn entity(&self) -> Result<Entity<'s>> {
        self.snapshot.fetch_entity(self.slot)
    }
}

impl<'s> Crossed<'s> {
    /// Its id.
    pub fn id(&self) -> &'s Id {
        self.snapshot.id_of(TypeKind::Relationship, self.slot)
    }

    /// The relationship, in the version that the snapshot sees; also a deleted one, if the walk enters these.
    ///
    /// Errors: those of reading history.
    pub fn relationship(&self) -> Result<Relationship<'s>> {
        self.snapshot.fetch_relationship(self.slot)
    }
}

impl<'s> Subgraph<'s> {
    /// The entities, each once, nearest to the start first.
    pub fn entities(&self) -> impl ExactSizeIterator<Item = Reached<'s>> + use<'_, 's> {
        let snapshot = self.snapshot;
        self.entities.iter().map(move |&(slot, distance)| Reached {
            snapshot,
            slot,
            distance: distance as usize,
        })
    }

    /// The relationships between them, each once.
    pub fn relationships(&self) -> impl ExactSizeIterator<Item = Crossed<'s>> + use<'_, 's> {
        let snapshot = self.snapshot;
        self.relationships.iter().map(move |&slot| Crossed { snapshot, slot })
    }
}

impl std::fmt::Debug for Reached<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} at {}", self.id(), self.distance)
    }
}

impl std::fmt::Debug for Crossed<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.id())
    }
}

impl std::fmt::Debug for Subgraph<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.entities()).entries(self.relationships()).finish()
    }
}
