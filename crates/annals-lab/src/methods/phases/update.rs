//! Updates: properties put anew, taken away, and taken back.

use std::sync::Arc;

use annals::{Expression, Find, Header, Id, InstanceId, Operator, TypeKind};

use crate::Outcome;
use crate::methods::call::Call;
use crate::methods::row::Method;
use crate::methods::run::Run;

/// Puts all properties of the first entities of each type anew.
pub fn entities(run: &mut Run) -> Outcome<()> {
    let archive = run.archive;
    for one in archive.entities.iter().filter(|one| !one.attributes.is_empty()) {
        let find = Find::of(&one.name).filter(run.own());
        let found = run.look_up(Method::FindEntitiesByProperty, TypeKind::Entity, find, None)?;
        for (number, id) in found.into_iter().map(InstanceId::Entity).enumerate() {
            let before = run.look(&id)?;
            let properties = run.values.all(&one.attributes, number);
            run.ask(Method::UpdateEntity, Call::Replace(id.clone(), properties.clone()))?;
            run.check_content(&id, &before.type_name, before.version + 1, &properties)?;
        }
    }
    Ok(())
}

/// The same of relationships.
pub fn relationships(run: &mut Run) -> Outcome<()> {
    let archive = run.archive;
    for one in archive.relationships.iter().filter(|one| !one.attributes.is_empty()) {
        let find = Find::of(&one.name).filter(run.own());
        let found = run.look_up(Method::FindRelationshipsByProperty, TypeKind::Relationship, find, None)?;
        for (number, id) in found.into_iter().map(InstanceId::Relationship).enumerate() {
            let before = run.look(&id)?;
            let properties = run.values.all(&one.attributes, number);
            run.ask(Method::UpdateRelationship, Call::Replace(id.clone(), properties.clone()))?;
            run.check_content(&id, &before.type_name, before.version + 1, &properties)?;
        }
    }
    Ok(())
}

/// Takes the last update of entities of each type back.
pub fn undo_entities(run: &mut Run) -> Outcome<()> {
    let archive = run.archive;
    for one in &archive.entities {
        run.undo(Method::FindEntities, Method::UndoEntity, TypeKind::Entity, &one.name)?;
    }
    Ok(())
}

/// The same of relationships.
pub fn undo_relationships(run: &mut Run) -> Outcome<()> {
    let archive = run.archive;
    for one in &archive.relationships {
        run.undo(Method::FindRelationships, Method::UndoRelationship, TypeKind::Relationship, &one.name)?;
    }
    Ok(())
}

impl Run<'_> {
    fn undo(&mut self, look_up: Method, method: Method, kind: TypeKind, type_name: &Arc<str>) -> Outcome<()> {
        let changed = Expression::header(Header::Version, Operator::Greater, 1);
        let find = Find::of(type_name).filter(changed.and(self.own()));
        for id in self.look_up(look_up, kind, find, None)? {
            let id = instance(kind, id);
            let before = self.look(&id)?.version;
            self.ask(method, Call::Undo(id.clone()))?;
            let after = self.look(&id)?.version;
            if after != before + 1 {
                return Err(format!(
                    "undo {id}: wrong answer: expected version {}, found {after}",
                    before + 1
                )
                .into());
            }
        }
        Ok(())
    }
}

/// The id with its kind.
pub fn instance(kind: TypeKind, id: Id) -> InstanceId {
    match kind {
        TypeKind::Relationship => InstanceId::Relationship(id),
        _ => InstanceId::Entity(id),
    }
}
