//! Deletes, restores, and purges.

use annals::{Deleted, Find, InstanceId, TypeKind};

use crate::methods::call::Call;
use crate::methods::row::Method;
use crate::methods::run::Run;
use crate::outcome::Outcome;

use super::update::{instance, look_up_by_home, of_kind};

/// Deletes instances of each type.
pub fn delete(run: &mut Run, kind: TypeKind) -> Outcome<()> {
    run.archive.types(kind).try_for_each(|(name, _)| run.delete(kind, name).map(drop))
}

/// Restores deleted instances of each type.
pub fn restore(run: &mut Run, kind: TypeKind) -> Outcome<()> {
    run.archive.types(kind).try_for_each(|(name, _)| run.restore(kind, name))
}

/// Deletes instances of each type and purges them, and then copies.
pub fn purge(run: &mut Run, kind: TypeKind) -> Outcome<()> {
    run.archive.types(kind).try_for_each(|(name, _)| run.purge(kind, name))
}

impl Run<'_> {
    /// Shape: the deleted instances.
    fn delete(&mut self, kind: TypeKind, type_name: &str) -> Outcome<Vec<InstanceId>> {
        let find = Find::of(type_name).filter(self.own());
        let method = of_kind(kind, [Method::DeleteEntity, Method::DeleteRelationship]);
        let mut deleted = Vec::new();
        for id in self.look_up(look_up_by_home(kind), kind, find, None)? {
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
        for id in self.look_up(look_up_by_home(kind), kind, find, None)? {
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
        self.purge_copies(kind, type_name)
    }

    /// Entities are deleted only in their initial status.
    fn has_initial_status(&mut self, id: &InstanceId) -> Outcome<bool> {
        if matches!(id, InstanceId::Relationship(_)) {
            return Ok(true);
        }
        let looked = self.look(id)?;
        let initial = self.archive.entities.iter().find(|one| *one.name == *looked.type_name);
        Ok(initial.is_some_and(|one| *one.initial_status == *looked.status))
    }

    /// Errors: if it still exists.
    pub fn check_gone(&mut self, id: &InstanceId) -> Outcome<()> {
        match self.target.look(id, None)? {
            None => Ok(()),
            Some(_) => Err(format!("delete {id}: wrong answer: it is still there").into()),
        }
    }
}
