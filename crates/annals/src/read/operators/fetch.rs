//! Fetch: the instance at a slot, in the version that a snapshot sees.

use crate::model::TypeKind;
use crate::read::instance::{Entity, Relationship};
use crate::read::past::held::Held;
use crate::read::snapshot::Snapshot;
use crate::{Error, ErrorKind, Result};

impl Snapshot {
    /// The version at a slot from a link or a list of this snapshot, deleted or not.
    ///
    /// Errors: those of reading history; `Corrupted` if there is none.
    #[inline]
    pub(crate) fn fetch(&self, kind: TypeKind, slot: u32) -> Result<Held> {
        if self.is_plain_held(kind, slot) {
            return Ok(Held::InForce);
        }
        self.fetch_seen(kind, slot)
    }

    #[inline(never)]
    fn fetch_seen(&self, kind: TypeKind, slot: u32) -> Result<Held> {
        self.seen(kind, slot, true)?.ok_or_else(|| nothing_at(kind, slot))
    }

    /// The entity there. Errors: as [`Snapshot::fetch`].
    #[inline]
    pub(in crate::read) fn fetch_entity(&self, slot: u32) -> Result<Entity<'_>> {
        Ok(Entity::new(self, slot, self.fetch(TypeKind::Entity, slot)?))
    }

    /// The relationship there. Errors: as [`Snapshot::fetch`].
    #[inline]
    pub(in crate::read) fn fetch_relationship(&self, slot: u32) -> Result<Relationship<'_>> {
        Ok(Relationship::new(self, slot, self.fetch(TypeKind::Relationship, slot)?))
    }

    /// The entity at `slot`; `None` if this snapshot does not see it live.
    #[inline]
    pub(crate) fn entity_at(&self, slot: u32) -> Result<Option<Entity<'_>>> {
        let held = self.seen(TypeKind::Entity, slot, false)?;
        Ok(held.map(|held| Entity::new(self, slot, held)))
    }

    /// The relationship at `slot`; `None` if this snapshot does not see it live.
    #[inline]
    pub(crate) fn relationship_at(&self, slot: u32) -> Result<Option<Relationship<'_>>> {
        let held = self.seen(TypeKind::Relationship, slot, false)?;
        Ok(held.map(|held| Relationship::new(self, slot, held)))
    }

    /// As [`Snapshot::entity_at`], also for ways.
    pub(in crate::read) fn entity_walked(&self, slot: u32) -> Result<Option<Entity<'_>>> {
        Ok(self.walked(TypeKind::Entity, slot)?.map(|held| Entity::new(self, slot, held)))
    }

    /// As [`Snapshot::relationship_at`], also for ways.
    pub(in crate::read) fn relationship_walked(&self, slot: u32) -> Result<Option<Relationship<'_>>> {
        Ok(self.walked(TypeKind::Relationship, slot)?.map(|held| Relationship::new(self, slot, held)))
    }
}

/// Appends a handle of a fetched instance to a list. That of a version in force is built in place: building it first and
/// moving it would write it in parts and read it as a whole, for which the processor waits longer than for the rest of a
/// step.
#[inline]
pub(in crate::read) fn push_handle<T>(list: &mut Vec<T>, held: Held, make: impl Fn(Held) -> T) {
    match held {
        Held::InForce => list.push(make(Held::InForce)),
        read => list.push(make(read)),
    }
}

#[cold]
fn nothing_at(kind: TypeKind, slot: u32) -> Error {
    let text = format!(
        "slot {slot}: expected the {} that a link or a list leads to; run `annals check`",
        kind.name()
    );
    Error::new(ErrorKind::Corrupted, text)
}
