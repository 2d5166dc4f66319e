//! Updates: replaces properties, removes them, and undoes this.

use annals::{Expression, Find, Header, Id, InstanceId, Operator, TypeKind};

use crate::methods::call::Call;
use crate::methods::row::Method;
use crate::methods::run::Run;
use crate::outcome::Outcome;

/// Replaces all properties of the first instances of each type.
pub fn properties(run: &mut Run, kind: TypeKind) -> Outcome<()> {
    let method = of_kind(kind, [Method::UpdateEntity, Method::UpdateRelationship]);
    for (name, attributes) in run.archive.types(kind).filter(|(_, attributes)| !attributes.is_empty()) {
        let find = Find::of(name).filter(run.own());
        for (number, id) in run.look_up(look_up_by_home(kind), kind, find, None)?.into_iter().enumerate() {
            let id = instance(kind, id);
            let before = run.look(&id)?;
            let properties = run.values.all(attributes, number);
            run.ask(method, Call::Replace(id.clone(), properties.clone()))?;
            run.check_content(&id, &before.type_name, before.version + 1, &properties)?;
        }
    }
    Ok(())
}

/// Undoes the last update of instances of each type.
pub fn undo(run: &mut Run, kind: TypeKind) -> Outcome<()> {
    run.archive.types(kind).try_for_each(|(name, _)| run.undo(kind, name))
}

impl Run<'_> {
    fn undo(&mut self, kind: TypeKind, type_name: &str) -> Outcome<()> {
        let method = of_kind(kind, [Method::UndoEntity, Method::UndoRelationship]);
        let look_up = of_kind(kind, [Method::FindEntities, Method::FindRelationships]);
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

/// The row of each kind.
pub fn of_kind(kind: TypeKind, [entity, relationship]: [Method; 2]) -> Method {
    if kind == TypeKind::Relationship { relationship } else { entity }
}

/// The row for look-ups by home.
pub fn look_up_by_home(kind: TypeKind) -> Method {
    of_kind(kind, [Method::FindEntitiesByProperty, Method::FindRelationshipsByProperty])
}

/// The id with its kind.
pub fn instance(kind: TypeKind, id: Id) -> InstanceId {
    match kind {
        TypeKind::Relationship => InstanceId::Relationship(id),
        _ => InstanceId::Entity(id),
    }
}
