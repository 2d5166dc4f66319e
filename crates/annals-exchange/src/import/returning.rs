//! Restores the deleted entities that the lines of a batch name: alone, and each in its former container if that is
//! there. The order of the lines has no influence.
//!
//! Restoring a container also restores everything that it contained. Lines of an import say which children return, so
//! this restores entities one by one, all of the batch first, and then the relationships between containers and
//! children that were deleted with one of them.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use annals::action;
use annals::{
    Action, AsOf, Direction, ErrorKind, Id, InstanceId, Position, Result, Snapshot, Transaction, TypeKind,
};

use super::merge::last_version;
use super::operation::Operation;

/// The entity that this operation restores.
fn returning(operation: &Operation) -> Option<&Id> {
    match &operation.action {
        Action::Restore(action::Restore { instance: InstanceId::Entity(id), .. }) => Some(id),
        _ => None,
    }
}

/// True if one of these operations restores an entity.
pub fn restores(operations: &[Operation]) -> bool {
    operations.iter().any(|operation| returning(operation).is_some())
}

/// Adds the restorations of these operations to a transaction. Returns the relationships that return, too: their own
/// restoration is done.
///
/// Errors: those of reading history, and of the restorations.
pub fn restore(operations: &[Operation], transaction: &mut Transaction) -> Result<HashSet<Id>> {
    let base = transaction.base().clone();
    let returning: Vec<(&Operation, &Id)> =
        operations.iter().filter_map(|operation| Some((operation, returning(operation)?))).collect();
    let ids: HashSet<&Id> = returning.iter().map(|(_, id)| *id).collect();
    let mut links = HashSet::new();
    if ids.is_empty() {
        return Ok(links);
    }
    let mut former = Former { base: &base, types: containing_types(&base), views: BTreeMap::new() };
    let mut all = Vec::with_capacity(returning.len());
    for (_, id) in &returning {
        let instance = InstanceId::Entity((*id).clone());
        let restore = Action::from(action::Restore { instance: instance.clone(), with_relationships: false });
        // Restoring a container by its name would also restore its contents. Order: asked before anything is restored.
        let is_alone = transaction.taken_along(&restore)?.is_empty();
        let taken = || action::RestoreTaken { instances: vec![instance] }.into();
        all.push((if is_alone { restore } else { taken() }, former.links(id)?));
    }
    for ((operation, _), (restore, _)) in returning.iter().zip(&all) {
        transaction.valid_from(operation.valid_from);
        transaction.push_action(restore.clone())?;
    }
    for ((operation, _), (_, found)) in returning.iter().zip(all) {
        for link in found {
            let [from, to] = &link.ends;
            let is_live =
                |end: &Id| Ok::<_, annals::Error>(ids.contains(end) || base.entity_summary(end)?.is_some());
            if links.contains(&link.id) || !is_live(from)? || !is_live(to)? || former.has_container(to)? {
                continue;
            }
            transaction.valid_from(operation.valid_from);
            let instance = InstanceId::Relationship(link.id.clone());
            transaction.push_action(action::Restore { instance, with_relationships: false })?;
            links.insert(link.id);
        }
    }
    Ok(links)
}

/// True if the operation restores an entity, one of these relationships, or a relationship that an earlier batch has
/// restored: then it is done already.
///
/// Errors: those of reading.
pub fn is_done(operation: &Operation, links: &HashSet<Id>, base: &Snapshot) -> Result<bool> {
    match &operation.action {
        Action::Restore(action::Restore { instance: InstanceId::Relationship(id), .. }) => {
            Ok(links.contains(id) || base.relationship(id)?.is_some())
        }
        _ => Ok(returning(operation).is_some()),
    }
}

/// A deleted relationship between a container and a child.
struct FormerLink {
    id: Id,
    ends: [Id; 2],
}

/// The relationships of deleted entities right before their deletion.
struct Former<'b> {
    base: &'b Snapshot,
    types: Vec<Arc<str>>,
    /// The state of the repository as of a position. Entities are often deleted together, so views are kept.
    views: BTreeMap<Position, Snapshot>,
}

impl Former<'_> {
    /// The relationships to its container and to its children that the entity had until it was deleted, and that are
    /// still deleted.
    fn links(&mut self, id: &Id) -> Result<Vec<FormerLink>> {
        let instance = InstanceId::Entity(id.clone());
        let last = match last_version(self.base, &instance)? {
            Some(version) => self.base.entity_version(id, version)?,
            None => None,
        };
        let before = last.and_then(|last| last.position().0.checked_sub(1)).filter(|before| *before > 0);
        let Some(before) = before.map(Position).filter(|_| !self.types.is_empty()) else {
            return Ok(Vec::new());
        };
        if !self.views.contains_key(&before) {
            let view = self.base.as_of(AsOf { position: Some(before), ..AsOf::default() })?;
            self.views.insert(before, view);
        }
        let view = &self.views[&before];
        let mut links = Vec::new();
        for type_name in &self.types {
            for direction in [Direction::In, Direction::Out] {
                let neighbors = match view.neighbors(id, direction, Some(type_name)) {
                    Err(error) if error.kind() == ErrorKind::NotFound => continue,
                    neighbors => neighbors?,
                };
                for neighbor in neighbors {
                    let link = neighbor?.relationship;
                    if self.base.relationship(link.id())?.is_none() {
                        let ends = [link.from().clone(), link.to().clone()];
                        links.push(FormerLink { id: link.id().clone(), ends });
                    }
                }
            }
        }
        Ok(links)
    }

    /// True if the live entity is contained in another one by now.
    fn has_container(&self, id: &Id) -> Result<bool> {
        if self.base.entity_summary(id)?.is_none() {
            return Ok(false);
        }
        for type_name in &self.types {
            if self.base.degree(id, Direction::In, Some(type_name))? > 0 {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// The relationship types that lead from containers to children, those that inherit it included.
pub fn containing_types(snapshot: &Snapshot) -> Vec<Arc<str>> {
    let all = snapshot.types_of(TypeKind::Relationship);
    let mut found: Vec<Arc<str>> = Vec::new();
    loop {
        let count = found.len();
        for definition in &all {
            let is_one = definition.containment.is_some()
                || definition.supertypes.iter().any(|supertype| found.contains(supertype));
            if is_one && !found.contains(&definition.name) {
                found.push(Arc::clone(&definition.name));
            }
        }
        if found.len() == count {
            return found;
        }
    }
}
