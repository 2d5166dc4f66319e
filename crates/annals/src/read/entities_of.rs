//! All entities, or those of a type, one by one.

use std::vec;

use super::instance::Entity;
use super::operators::scan::domain::{Domain, Reach, Slots};
use super::snapshot::Snapshot;
use crate::Result;
use crate::model::TypeKind;

/// Iterates over entities. Made by [`Snapshot::entities_of`].
pub struct EntitiesOf<'s> {
    snapshot: &'s Snapshot,
    slots: Slots<'s, Domain<'s>>,
    /// The remaining types.
    domains: vec::IntoIter<Domain<'s>>,
}

impl Snapshot {
    /// All entities in the order of their creation, or those of a type and then those of its subtypes.
    ///
    /// Errors: each item may be an error of reading history.
    pub fn entities_of(&self, type_name: Option<&str>) -> EntitiesOf<'_> {
        let table = &self.graph().entities;
        let reach = Reach { live: true, other: self.view().is_some(), proxies: false };
        let domains: Vec<Domain> = match type_name {
            Some(name) => {
                let types = self.types_named(TypeKind::Entity, name);
                types.into_iter().map(|name| Domain::of(table, Some(&[name]), reach)).collect()
            }
            None => vec![Domain::of(table, None, reach)],
        };
        let nothing = Domain::of(table, Some(&[]), reach);
        EntitiesOf { snapshot: self, slots: nothing.into_slots(), domains: domains.into_iter() }
    }
}

impl<'s> Iterator for EntitiesOf<'s> {
    type Item = Result<Entity<'s>>;

    fn next(&mut self) -> Option<Result<Entity<'s>>> {
        loop {
            let Some(slot) = self.slots.next() else {
                self.slots = self.domains.next()?.into_slots();
                continue;
            };
            // As of an earlier time, the lists hold more than this snapshot sees.
            if let Some(entity) = self.snapshot.entity_at(slot).transpose() {
                return Some(entity);
            }
        }
    }
}
