//! Deletes resources. A resource that others refer to leaves a placeholder, so that their statements stay.

use std::collections::HashSet;

use annals::{Direction, Entity, Id, Value};

use super::ldp_types::{CONTAINS, NODE, PART, PLACEHOLDER, TOMBSTONE, is_predicate};
use super::path::{PATH_PROPERTY, Path};
use super::view::Found;
use super::writer::Writer;
use crate::problem::Problem;

impl Writer<'_> {
    /// Deletes a resource and everything that it contains.
    pub fn delete(&mut self, resource: &Entity<'_>) -> Result<(), Problem> {
        // Order: before the deletions, because an update first applies all that the transaction has so far, and the commit
        // applies it again.
        if let Some(container) = self.view().container(resource)? {
            self.touch(&container)?;
        }
        let mut below = vec![resource.clone()];
        let mut index = 0;
        while let Some(entity) = below.get(index).cloned() {
            for child in entity.neighbors(Direction::Out, Some(CONTAINS)).entities() {
                below.push(child?);
            }
            index += 1;
        }
        let ids: HashSet<Id> = below.iter().map(|entity| entity.id().clone()).collect();
        let mut kept = HashSet::new();
        for entity in &below {
            if self.is_referred_to(entity, &ids)? {
                kept.insert(entity.id().clone());
            }
        }
        // Order: first, because deletions of containers would delete some of them.
        for entity in below.iter().filter(|entity| kept.contains(entity.id())) {
            self.delete_links(entity, Direction::Out)?;
            self.delete_nodes(entity, |_| true)?;
        }
        // Order: from the deepest up, so that a kept resource has left its container before that is deleted.
        for entity in below.iter().rev().filter(|entity| kept.contains(entity.id())) {
            self.leave_placeholder(entity, &kept)?;
        }
        if !kept.contains(resource.id()) {
            self.transaction.delete(&resource.instance_id())?;
        }
        Ok(())
    }

    /// True if a resource outside of a set refers to this one.
    fn is_referred_to(&self, entity: &Entity<'_>, ids: &HashSet<Id>) -> Result<bool, Problem> {
        for neighbor in entity.neighbors(Direction::In, None) {
            let neighbor = neighbor?;
            if !is_predicate(neighbor.relationship.type_name()) {
                continue;
            }
            let from = neighbor.entity;
            let owner = if from.type_name() == NODE {
                from.neighbors(Direction::In, Some(PART)).entities().next().transpose()?.unwrap_or(from)
            } else {
                from
            };
            if !ids.contains(owner.id()) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Turns a resource into a placeholder with a tombstone, and deletes what it contains.
    fn leave_placeholder(&mut self, entity: &Entity<'_>, kept: &HashSet<Id>) -> Result<(), Problem> {
        for child in entity.neighbors(Direction::Out, Some(CONTAINS)).entities() {
            let child = child?;
            if !kept.contains(child.id()) {
                self.transaction.delete(&child.instance_id())?;
            }
        }
        for link in entity.neighbors(Direction::In, Some(CONTAINS)) {
            self.transaction.delete(&link?.relationship.instance_id())?;
        }
        let instance = entity.instance_id();
        let mut properties = vec![(TOMBSTONE.into(), Value::from(true))];
        if let Some(path) = entity.property(PATH_PROPERTY) {
            properties.push((PATH_PROPERTY.into(), path));
        }
        self.transaction.retype(&instance, PLACEHOLDER)?;
        self.transaction.replace(&instance, properties)?;
        Ok(())
    }

    /// Frees the address of a deleted resource.
    ///
    /// Errors: `not-found` if no deleted resource is there.
    pub fn bury(&mut self, path: &Path) -> Result<(), Problem> {
        match self.view().find(path)? {
            Found::Gone(None) => Ok(self.transaction.purge(&annals::InstanceId::Entity(path.id()))?),
            Found::Gone(Some(entity)) => {
                let kept = entity.property(PATH_PROPERTY).map(|path| (PATH_PROPERTY.into(), path));
                Ok(self.transaction.replace(&entity.instance_id(), kept.into_iter().collect())?)
            }
            Found::Live(..) | Found::Placeholder | Found::Missing => {
                let iri = self.base.iri(path);
                Err(Problem::not_found(format!(
                    "{iri}: no deleted resource is there, so it has no tombstone"
                )))
            }
        }
    }
}
