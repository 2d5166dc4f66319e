//! Looks up single instances, and counts the relationships of one.

use super::instance::{Entity, Relationship};
use super::snapshot::Snapshot;
use crate::model::{Direction, Id, TypeKind};
use crate::read::operators::link_types::LinkTypes;
use crate::{Error, ErrorKind, Result};

impl Snapshot {
    /// The entity with this id; `None` if it does not exist, or is deleted, in this snapshot.
    ///
    /// Errors: `ProxyOnly` if the repository holds only a proxy of it: [`Snapshot::entity_summary`] returns that.
    #[inline]
    pub fn entity(&self, id: &Id) -> Result<Option<Entity<'_>>> {
        let Some(slot) = self.slot_of(TypeKind::Entity, id) else { return Ok(None) };
        if self.has_proxies() && self.is_proxy(TypeKind::Entity, slot) && self.sees(TypeKind::Entity, slot) {
            let text = format!("entity {id}: only a proxy of it is here; read its summary");
            return Err(Error::new(ErrorKind::ProxyOnly, text));
        }
        self.entity_at(slot)
    }

    /// The entities with these ids.
    ///
    /// Shape: for each of `ids`, in order, the result of [`Snapshot::entity`].
    /// Errors: as [`Snapshot::entity`].
    pub fn entities(&self, ids: &[Id]) -> Result<Vec<Option<Entity<'_>>>> {
        ids.iter().map(|id| self.entity(id)).collect()
    }

    /// The same, also for a proxy, which has its id, type, unique properties and classifications.
    #[inline]
    pub fn entity_summary(&self, id: &Id) -> Result<Option<Entity<'_>>> {
        match self.slot_of(TypeKind::Entity, id) {
            Some(slot) => self.entity_at(slot),
            None => Ok(None),
        }
    }

    /// The relationship with this id; `None` if it does not exist, or is deleted, in this snapshot.
    pub fn relationship(&self, id: &Id) -> Result<Option<Relationship<'_>>> {
        self.slot_of(TypeKind::Relationship, id).map_or(Ok(None), |slot| self.relationship_at(slot))
    }

    /// Number of relationships of an entity in one direction, of one type (with subtypes) or of all.
    ///
    /// Units: relationships. In the present it is O(1); as of an earlier time it reads every relationship.
    /// Errors: `NotFound` if this snapshot does not see the entity, or for a type that is neither declared nor used.
    pub fn degree(&self, id: &Id, direction: Direction, type_name: Option<&str>) -> Result<usize> {
        if !self.is_plain() {
            return Ok(self.neighbors(id, direction, type_name)?.links_count());
        }
        let slot = self.live_slot(id)?;
        let types = self.known_relationship_types(type_name)?;
        Ok(types.degree(self.graph().neighbors(slot, direction)))
    }

    /// A relationship type and its subtypes; all types for `None`.
    ///
    /// Errors: `NotFound` for a type that is neither declared nor used.
    pub(super) fn known_relationship_types(&self, type_name: Option<&str>) -> Result<LinkTypes> {
        if let Some(name) = type_name {
            self.check_type_known(TypeKind::Relationship, name)?;
        }
        Ok(self.relationship_types(type_name))
    }

    /// The same; empty for an unknown one.
    #[inline]
    pub(super) fn relationship_types(&self, type_name: Option<&str>) -> LinkTypes {
        let Some(name) = type_name else { return LinkTypes::All };
        match self.graph().names.find(name) {
            None => LinkTypes::Several(Vec::new()),
            Some(symbol) if self.graph().types.is_empty() => LinkTypes::One(symbol),
            Some(_) => LinkTypes::of(Some(self.types_named(TypeKind::Relationship, name).into_vec())),
        }
    }
}
