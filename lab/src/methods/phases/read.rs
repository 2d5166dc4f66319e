//! Reads by id: existence, header, whole instance, versions; now and as of the time before updates.

use annals::{Find, InstanceId, TypeKind};

use crate::methods::call::Call;
use crate::methods::record::Part;
use crate::methods::row::Method;
use crate::methods::run::Run;
use crate::outcome::Outcome;

use super::update::{instance, of_kind};

/// Versions on a page of a history.
const VERSIONS_MAX: usize = 50;

/// The first instances of each type, as they are.
pub fn now(run: &mut Run, kind: TypeKind) -> Outcome<()> {
    let look_up = of_kind(kind, [Method::FindEntities, Method::FindRelationships]);
    let known = of_kind(kind, [Method::KnownEntity, Method::KnownRelationship]);
    let get = of_kind(kind, [Method::GetEntity, Method::GetRelationship]);
    for (name, _) in run.archive.types(kind) {
        let found = run.look_up(look_up, kind, Find::of(name), None)?;
        for id in &found {
            run.one(known, Call::Known(instance(kind, id.clone())), false)?;
        }
        for id in found.iter().filter(|_| kind == TypeKind::Entity) {
            run.one(Method::EntitySummary, Call::Summary(id.clone()), false)?;
        }
        for id in found {
            run.one(get, Call::Get(instance(kind, id)), false)?;
        }
    }
    Ok(())
}

/// The same as of the earlier time, and their versions.
pub fn then(run: &mut Run, kind: TypeKind) -> Outcome<()> {
    let look_up = of_kind(kind, [Method::FindEntitiesThen, Method::FindRelationshipsThen]);
    let get = of_kind(kind, [Method::GetEntityThen, Method::GetRelationshipThen]);
    let history = of_kind(kind, [Method::EntityHistory, Method::RelationshipHistory]);
    let then = run.mark;
    for (name, _) in run.archive.types(kind) {
        for id in run.look_up(look_up, kind, Find::of(name), then)? {
            let id = instance(kind, id);
            run.one(get, Call::Get(id.clone()), true)?;
            run.versions(history, id)?;
        }
    }
    Ok(())
}

impl Run<'_> {
    /// One instance, which must exist.
    fn one(&mut self, method: Method, call: Call, is_then: bool) -> Outcome<()> {
        let then = if is_then { self.mark } else { None };
        let what = call.describe();
        let answer = self.ask_part(method, Part::Whole, call, then)?;
        if answer.is_none_or(|answer| answer.ids.len() != 1) {
            return Err(format!("{}: {what}: wrong answer: it is not there", method.row().title()).into());
        }
        Ok(())
    }

    /// All versions of one instance; their number equals its version number.
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
