//! Removes: deletes, brings back, and purges.

use annals::{Deleted, Find, InstanceId, TypeKind};

use crate::Outcome;
use crate::methods::call::Call;
use crate::methods::row::Method;
use crate::methods::run::Run;

use super::update::instance;

/// Deletes relationships of each type.
pub fn delete_relationships(run: &mut Run) -> Outcome<()> {
    let archive = run.archive;
    for one in &archive.relationships {
        run.delete(TypeKind::Relationship, &one.name)?;
    }
    Ok(())
}

/// Deletes entities of each type.
pub fn delete_entities(run: &mut Run) -> Outcome<()> {
    let archive = run.archive;
    for one in &archive.entities {
        run.delete(TypeKind::Entity, &one.name)?;
    }
    Ok(())
}

/// Brings deleted entities of each type back.
pub fn restore_entities(run: &mut Run) -> Outcome<()> {
    let archive = run.archive;
    for one in &archive.entities {
        run.restore(TypeKind::Entity, &one.name)?;
    }
    Ok(())
}

/// The same of relationships.
pub fn restore_relationships(run: &mut Run) -> Outcome<()> {
    let archive = run.archive;
    for one in &archive.relationships {
        run.restore(TypeKind::Relationship, &one.name)?;
    }
    Ok(())
}

/// Deletes relationships of each type and purges them, and then copies.
pub fn purge_relationships(run: &mut Run) -> Outcome<()> {
    let archive = run.archive;
    for one in &archive.relationships {
        run.purge(TypeKind::Relationship, &one.name)?;
    }
    Ok(())
}

/// The same of entities.
pub fn purge_entities(run: &mut Run) -> Outcome<()> {
    let archive = run.archive;
    for one in &archive.entities {
        run.purge(TypeKind::Entity, &one.name)?;
    }
    Ok(())
}

/// The row of each kind.
fn of_kind(kind: TypeKind, [entity, relationship]: [Method; 2]) -> Method {
    if kind == TypeKind::Relationship { relationship } else { entity }
}

/// The row that look-ups by home are filed under.
fn look_up(kind: TypeKind) -> Method {
    of_kind(kind, [Method::FindEntitiesByProperty, Method::FindRelationshipsByProperty])
}

impl Run<'_> {
    /// Shape: what was deleted.
    fn delete(&mut self, kind: TypeKind, type_name: &str) -> Outcome<Vec<InstanceId>> {
        let find = Find::of(type_name).filter(self.own());
        let method = of_kind(kind, [Method::DeleteEntity, Method::DeleteRelationship]);
        let mut deleted = Vec::new();
        for id in self.look_up(look_up(kind), kind, find, None)? {
            let id = instance(kind, id);
            if !self.has_initial_status(&id)? {
                continue;
            }
            let call = Call::Delete(id.clone(), type_name.into());
            if self.ask(method, call)?.is_some() {
                self.check_gone(&id)?;
                deleted.push(id);
            }
        }
        Ok(deleted)
    }

    fn restore(&mut self, kind: TypeKind, type_name: &str) -> Outcome<()> {
        let find = Find::of(type_name).deleted(Deleted::Only);
        let method = of_kind(kind, [Method::RestoreEntity, Method::RestoreRelationship]);
        for id in self.look_up(look_up(kind), kind, find, None)? {
            let id = instance(kind, id);
            if self.ask(method, Call::Restore(id.clone()))?.is_some() {
                self.look(&id)?;
            }
        }
        Ok(())
    }

    fn purge(&mut self, kind: TypeKind, type_name: &str) -> Outcome<()> {
        let method = of_kind(kind, [Method::PurgeEntity, Method::PurgeRelationship]);
        for id in self.delete(kind, type_name)? {
            self.ask(method, Call::Purge(id))?;
        }
        let method = of_kind(kind, [Method::PurgeEntityCopy, Method::PurgeRelationshipCopy]);
        self.purge_copies(look_up(kind), method, kind, type_name)
    }

    /// Entities are deleted only in the status that they begin with.
    fn has_initial_status(&mut self, id: &InstanceId) -> Outcome<bool> {
        if matches!(id, InstanceId::Relationship(_)) {
            return Ok(true);
        }
        let looked = self.look(id)?;
        let initial = self.archive.entities.iter().find(|one| *one.name == *looked.type_name);
        Ok(initial.is_some_and(|one| *one.initial_status == *looked.status))
    }

    /// Errors: if it is still there.
    pub fn check_gone(&mut self, id: &InstanceId) -> Outcome<()> {
        match self.target.look(id, None)? {
            None => Ok(()),
            Some(_) => Err(format!("delete {id}: wrong answer: it is still there").into()),
        }
    }
}
