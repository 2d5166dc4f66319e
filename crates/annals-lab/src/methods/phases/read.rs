//! Reads by id: what is there, its header, all of it, its versions; now and as of the time before updates.

use annals::{Find, InstanceId, TypeKind};

use crate::Outcome;
use crate::methods::call::Call;
use crate::methods::record::Part;
use crate::methods::row::Method;
use crate::methods::run::Run;

/// Versions on a page of a history.
const VERSIONS_MAX: usize = 50;

/// The first entities of each type, as they are.
pub fn entities(run: &mut Run) -> Outcome<()> {
    let archive = run.archive;
    for one in &archive.entities {
        let found = run.look_up(Method::FindEntities, TypeKind::Entity, Find::of(&one.name), None)?;
        for id in &found {
            run.one(Method::KnownEntity, Call::Known(InstanceId::Entity(id.clone())), false)?;
        }
        for id in &found {
            run.one(Method::EntitySummary, Call::Summary(id.clone()), false)?;
        }
        for id in found {
            run.one(Method::GetEntity, Call::Get(InstanceId::Entity(id)), false)?;
        }
    }
    Ok(())
}

/// The same as they were, and their versions.
pub fn entities_then(run: &mut Run) -> Outcome<()> {
    let (archive, then) = (run.archive, run.mark);
    for one in &archive.entities {
        let found = run.look_up(Method::FindEntitiesThen, TypeKind::Entity, Find::of(&one.name), then)?;
        for id in found.into_iter().map(InstanceId::Entity) {
            run.one(Method::GetEntityThen, Call::Get(id.clone()), true)?;
            run.versions(Method::EntityHistory, id)?;
        }
    }
    Ok(())
}

/// The first relationships of each type, as they are.
pub fn relationships(run: &mut Run) -> Outcome<()> {
    let archive = run.archive;
    for one in &archive.relationships {
        let find = Find::of(&one.name);
        let found = run.look_up(Method::FindRelationships, TypeKind::Relationship, find, None)?;
        for id in &found {
            run.one(Method::KnownRelationship, Call::Known(InstanceId::Relationship(id.clone())), false)?;
        }
        for id in found {
            run.one(Method::GetRelationship, Call::Get(InstanceId::Relationship(id)), false)?;
        }
    }
    Ok(())
}

/// The same as they were, and their versions.
pub fn relationships_then(run: &mut Run) -> Outcome<()> {
    let (archive, then) = (run.archive, run.mark);
    for one in &archive.relationships {
        let find = Find::of(&one.name);
        let found = run.look_up(Method::FindRelationshipsThen, TypeKind::Relationship, find, then)?;
        for id in found.into_iter().map(InstanceId::Relationship) {
            run.one(Method::GetRelationshipThen, Call::Get(id.clone()), true)?;
            run.versions(Method::RelationshipHistory, id)?;
        }
    }
    Ok(())
}

impl Run<'_> {
    /// One instance, which must be there.
    fn one(&mut self, method: Method, call: Call, is_then: bool) -> Outcome<()> {
        let then = if is_then { self.mark } else { None };
        let what = call.describe();
        let answer = self.ask_part(method, Part::Whole, call, then)?;
        if answer.is_none_or(|answer| answer.ids.len() != 1) {
            return Err(format!("{}: {what}: wrong answer: it is not there", method.row().title()).into());
        }
        Ok(())
    }

    /// All versions of one instance, which are as many as its number says.
    fn versions(&mut self, method: Method, id: InstanceId) -> Outcome<()> {
        let expected = usize::try_from(self.look(&id)?.version)?.min(VERSIONS_MAX);
        let answer = self.ask_part(method, Part::Whole, Call::Versions(id.clone(), VERSIONS_MAX), None)?;
        let found = answer.map_or(0, |answer| answer.elements);
        if found != expected {
            return Err(format!(
                "history of {id}: wrong answer: expected {expected} versions, found {found}"
            )
            .into());
        }
        Ok(())
    }
}
