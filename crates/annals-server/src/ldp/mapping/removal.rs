//! Deletes resources. A resource that others refer to leaves a placeholder, so that their statements stay.

use std::collections::HashSet;

use annals::{Direction, Entity, Id, InstanceId, Relationship, RelationshipsOf, Snapshot, Status, Value};

use super::path::{PATH_PROPERTY, Path};
use super::stored_names::is_predicate;
use super::view::Found;
use super::writer::Writer;
use crate::ldp_types::{ACL, CONTAINS, NODE, PART, PLACEHOLDER, TOMBSTONE};
use crate::protocol::problem::Problem;

impl Writer<'_> {
    /// Deletes a resource and everything that it contains.
    pub fn delete(&mut self, resource: &Entity<'_>) -> Result<(), Problem> {
        // Order: before the deletions, because an update first applies all that the transaction has so far, and the commit
        // applies it again.
        if let Some(container) = self.view().container(resource)? {
            self.touch(&container)?;
        }
        let below = with_contained(resource)?;
        let ids: HashSet<Id> = below.iter().map(|entity| entity.id().clone()).collect();
        let mut kept = HashSet::new();
        for entity in &below {
            if self.is_referred_to(entity, &ids)? {
                kept.insert(entity.id().clone());
            }
        }
        self.remove_all(&below, &kept)
    }

    /// Deletes a resource, the first one, with everything that it contains; those in `kept` leave placeholders.
    fn remove_all(&mut self, below: &[Entity<'_>], kept: &HashSet<Id>) -> Result<(), Problem> {
        // Order: first, because deletions of containers would delete some of them.
        for entity in below.iter().filter(|entity| kept.contains(entity.id())) {
            self.delete_links(entity, Direction::Out)?;
            self.delete_nodes(entity, |_| true)?;
        }
        // Order: from the deepest up, so that a kept resource has left its container before that is deleted.
        for entity in below.iter().rev().filter(|entity| kept.contains(entity.id())) {
            self.leave_placeholder(entity, kept)?;
        }
        match below.first().filter(|resource| !kept.contains(resource.id())) {
            Some(resource) => Ok(self.transaction.delete(&resource.instance_id())?),
            None => Ok(()),
        }
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
        // A resource that is made here later has no ACL.
        for acl in entity.neighbors(Direction::Out, Some(ACL)).entities() {
            self.transaction.delete(&acl?.instance_id())?;
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
            Found::Gone(None) => self.bury_with_history(path),
            Found::Gone(Some(entity)) => self.free(entity.id(), entity.property(PATH_PROPERTY)),
            Found::Live(..) | Found::Placeholder | Found::Missing => {
                let iri = self.base.iri(path);
                Err(Problem::not_found(format!(
                    "{iri}: no deleted resource is there, so it has no tombstone"
                )))
            }
        }
    }

    /// Purges a deleted resource; those that others referred to at some time stay as placeholders, because mementos of
    /// these others have the statements.
    fn bury_with_history(&mut self, path: &Path) -> Result<(), Problem> {
        let id = path.id();
        let instance = InstanceId::Entity(id.clone());
        let kept = self.once_referred_to(&id)?;
        if kept.is_empty() {
            return Ok(self.transaction.purge(&instance)?);
        }
        self.transaction.restore_alone(&id)?;
        let restored = self.transaction.view()?.clone();
        let Some(resource) = restored.entity(&id)? else { return Ok(()) };
        self.remove_all(&with_contained(&resource)?, &kept)?;
        match kept.contains(&id) {
            true => self.free(&id, resource.property(PATH_PROPERTY)),
            false => Ok(self.transaction.purge(&instance)?),
        }
    }

    /// Takes the tombstone from a placeholder.
    fn free(&mut self, id: &Id, path: Option<Value>) -> Result<(), Problem> {
        let kept = path.map(|path| (PATH_PROPERTY.into(), path));
        Ok(self.transaction.replace(&InstanceId::Entity(id.clone()), kept.into_iter().collect())?)
    }

    /// A deleted resource, and those that it contained, to which others referred at some time.
    fn once_referred_to(&self, id: &Id) -> Result<HashSet<Id>, Problem> {
        let snapshot = self.snapshot;
        let mut below = vec![id.clone()];
        let mut index = 0;
        while let Some(found) = below.get(index).cloned() {
            let contained = RelationshipsOf::out().of_types([CONTAINS]);
            for_each_ever(snapshot, &found, contained, |link| {
                if snapshot.entity(link.to())?.is_none() && !below.contains(link.to()) {
                    below.push(link.to().clone());
                }
                Ok(())
            })?;
            index += 1;
        }
        let all: HashSet<Id> = below.into_iter().collect();
        let mut kept = HashSet::new();
        for id in &all {
            for_each_ever(snapshot, id, RelationshipsOf::incoming(), |link| {
                if is_predicate(link.type_name()) && !all.contains(&owner_ever(snapshot, link.from())?) {
                    kept.insert(id.clone());
                }
                Ok(())
            })?;
        }
        Ok(kept)
    }
}

/// A resource and everything that it contains, each container before its children.
fn with_contained<'s>(resource: &Entity<'s>) -> annals::Result<Vec<Entity<'s>>> {
    let mut below = vec![resource.clone()];
    let mut index = 0;
    while let Some(entity) = below.get(index).cloned() {
        for child in entity.neighbors(Direction::Out, Some(CONTAINS)).entities() {
            below.push(child?);
        }
        index += 1;
    }
    Ok(below)
}

/// Visits relationships of an entity, deleted ones too.
fn for_each_ever<'s>(
    snapshot: &'s Snapshot,
    id: &Id,
    mut of: RelationshipsOf,
    mut visit: impl FnMut(&Relationship<'s>) -> annals::Result<()>,
) -> annals::Result<()> {
    of.statuses = [Status::Active, Status::Deleted].map(|status| status.name().to_owned()).to_vec();
    loop {
        let page = snapshot.relationships_of(id, &of)?;
        page.items.iter().try_for_each(&mut visit)?;
        match page.next {
            Some(next) => of.after = Some(next),
            None => return Ok(()),
        }
    }
}

/// The resource of a node, deleted or not; the entity itself if it is no node.
fn owner_ever(snapshot: &Snapshot, id: &Id) -> annals::Result<Id> {
    let mut owner = id.clone();
    for_each_ever(snapshot, id, RelationshipsOf::incoming().of_types([PART]), |part| {
        owner = part.from().clone();
        Ok(())
    })?;
    Ok(owner)
}
