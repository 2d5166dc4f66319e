//! Looks up single instances, and counts the relationships of one.

use super::held::Held;
use super::instance::{Entity, Relationship};
use super::link_types::LinkTypes;
use super::snapshot::Snapshot;
use crate::model::{Direction, Id, TypeKind};
use crate::{Error, ErrorKind, Result};

impl Snapshot {
    /// The entity with this id; `None` if there is none, or it is deleted, in this snapshot.
    ///
    /// Errors: `ProxyOnly` if only a proxy of it is here: [`Snapshot::entity_summary`] has that.
    #[inline]
    pub fn entity(&self, id: &Id) -> Result<Option<Entity<'_>>> {
        if !self.is_plain() {
            return Ok(self.entity_among_others(id)?.map(Entity::remade));
        }
        let slot = self.graph().entities.slot(id);
        Ok(slot.map(|slot| Entity::new(self, slot, Held::InForce)))
    }

    #[inline(never)]
    fn entity_among_others(&self, id: &Id) -> Result<Option<Entity<'_>>> {
        let found = self.entity_summary(id)?;
        if self.graph().headers.has_proxy()
            && found.as_ref().is_some_and(Entity::is_proxy)
        {
            let text = format!("entity {id}: only a proxy of it is here; read its summary");
            return Err(Error::new(ErrorKind::ProxyOnly, text));
        }
        Ok(found)
    }

    /// The same, also if only a proxy of it is here: then it has its id, type, unique properties and classifications.
    #[inline]
    pub fn entity_summary(&self, id: &Id) -> Result<Option<Entity<'_>>> {
        match self.slot_of(TypeKind::Entity, id) {
            Some(slot) => self.entity_at(slot),
            None => Ok(None),
        }
    }

    /// The relationship with this id; `None` if there is none, or it is deleted, in this snapshot.
    pub fn relationship(&self, id: &Id) -> Result<Option<Relationship<'_>>> {
        self.slot_of(TypeKind::Relationship, id).map_or(Ok(None), |slot| self.relationship_at(slot))
    }

    #[inline]
    pub(crate) fn entity_at(&self, slot: u32) -> Result<Option<Entity<'_>>> {
        let held = self.seen(TypeKind::Entity, slot, false)?;
        Ok(held.map(|held| Entity::new(self, slot, held)))
    }

    #[inline]
    pub(crate) fn relationship_at(&self, slot: u32) -> Result<Option<Relationship<'_>>> {
        let held = self.seen(TypeKind::Relationship, slot, false)?;
        Ok(held.map(|held| Relationship::new(self, slot, held)))
    }

    /// Number of relationships of an entity in one direction, of one type (with subtypes) or of all.
    ///
    /// Units: relationships. Now it is O(1); as of an earlier time every relationship is looked at.
    /// Errors: `NotFound` if this snapshot does not see the entity, or for a type that is neither declared nor used.
    pub fn degree(&self, id: &Id, direction: Direction, type_name: Option<&str>) -> Result<usize> {
        if self.view().is_some() {
            let mut neighbors = self.neighbors(id, direction, type_name)?;
            return Ok(std::iter::from_fn(|| neighbors.next_link()).count());
        }
        let slot = self.live_slot(id)?;
        let neighbors = self.graph().neighbors(slot, direction);
        Ok(match self.known_relationship_types(type_name)? {
            LinkTypes::All => neighbors.degree(None),
            LinkTypes::One(name) => neighbors.degree(Some(name)),
            LinkTypes::Several(types) => types.into_iter().map(|name| neighbors.degree(Some(name))).sum(),
        })
    }

    /// A relationship type and its subtypes; all types for `None`.
    ///
    /// Errors: `NotFound` for a type that is neither declared nor used.
    pub(crate) fn known_relationship_types(&self, type_name: Option<&str>) -> Result<LinkTypes> {
        if let Some(name) = type_name {
            self.check_type_known(TypeKind::Relationship, name)?;
        }
        Ok(self.relationship_types(type_name))
    }

    /// The same; none for an unknown one.
    #[inline]
    pub(crate) fn relationship_types(&self, type_name: Option<&str>) -> LinkTypes {
        let Some(name) = type_name else { return LinkTypes::All };
        match self.graph().names.find(name) {
            None => LinkTypes::Several(Vec::new()),
            Some(symbol) if self.graph().types.is_empty() => LinkTypes::One(symbol),
            Some(_) => LinkTypes::Several(self.types_named(TypeKind::Relationship, name).into_vec()),
        }
    }
}
