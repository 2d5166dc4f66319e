//! Changes the type and the id of instances.

use annals::{Find, Id, InstanceId, TypeKind};

use crate::methods::call::Call;
use crate::methods::row::Method;
use crate::methods::run::Run;
use crate::outcome::Outcome;

use super::update::{instance, look_up_by_home, of_kind};

/// Greatest number of relationships counted when an entity gets another id.
const COUNTED_MAX: usize = 1_000;

/// Removes the properties, changes entities of each type to a subtype, and others back to the type.
pub fn retype_entities(run: &mut Run) -> Outcome<()> {
    let archive = run.archive;
    for one in &archive.entities {
        let find = Find::of(&one.name).filter(run.own());
        let found = run.look_up(Method::FindEntitiesByProperty, TypeKind::Entity, find, None)?;
        let ids: Vec<InstanceId> = found.into_iter().map(InstanceId::Entity).collect();
        if let Some(subtype) = one.subtypes.first() {
            for id in &ids {
                run.done(Method::NullProperties, Call::Replace(id.clone(), Vec::new()))?;
            }
            for id in &ids {
                run.retype(Method::RetypeToSubtype, id, &archive.entities[*subtype].name)?;
            }
        }
        if one.supertype.is_some() {
            for id in &ids {
                run.retype(Method::RetypeToSupertype, id, &one.name)?;
            }
        }
    }
    Ok(())
}

/// Gives instances of each type another id.
pub fn reidentify(run: &mut Run, kind: TypeKind) -> Outcome<()> {
    run.archive.types(kind).try_for_each(|(name, _)| run.reidentify(kind, name))
}

impl Run<'_> {
    /// Refused if a relationship or a classification does not fit the type; the original checks neither.
    fn retype(&mut self, method: Method, id: &InstanceId, type_name: &str) -> Outcome<()> {
        if self.ask(method, Call::Retype(id.clone(), type_name.into()))?.is_some() {
            let found = self.look(id)?.type_name;
            if found != type_name {
                return Err(format!("retype {id}: wrong answer: expected {type_name}, found {found}").into());
            }
        }
        Ok(())
    }

    fn reidentify(&mut self, kind: TypeKind, type_name: &str) -> Outcome<()> {
        let method = of_kind(kind, [Method::ReidentifyEntity, Method::ReidentifyRelationship]);
        let find = Find::of(type_name).filter(self.own());
        for id in self.look_up(look_up_by_home(kind), kind, find, None)? {
            let new = self.values.id();
            let (old_id, new_id) = (instance(kind, id.clone()), instance(kind, new.clone()));
            let before = (self.look(&old_id)?, self.degree(kind, &id)?);
            self.done(method, Call::Reidentify(old_id.clone(), new.clone()))?;
            self.check_gone(&old_id)?;
            let mut after = (self.look(&new_id)?, self.degree(kind, &new)?);
            after.0.version -= 1;
            if after != before {
                return Err(
                    format!("reidentify {id}: wrong answer: it was {before:?}, and is {after:?}").into()
                );
            }
        }
        Ok(())
    }

    /// How many relationships an entity has, up to a bound.
    fn degree(&mut self, kind: TypeKind, id: &Id) -> Outcome<usize> {
        if kind == TypeKind::Relationship {
            return Ok(0);
        }
        let timed = self.target.call(Call::RelationshipsOf(id.clone(), COUNTED_MAX), None)?;
        Ok(timed.answer?.elements)
    }
}
