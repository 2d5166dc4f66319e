//! Creates entities and relationships of every type, here and as copies of another collection.

use std::sync::Arc;

use annals::{Find, Id, InstanceId, NewEntity, NewRelationship, TypeKind};

use crate::methods::book::Kept;
use crate::methods::call::{Answer, Call};
use crate::methods::row::Method;
use crate::methods::run::Run;
use crate::methods::values::Properties;
use crate::outcome::Outcome;

use super::copies;

/// Entities of each type: a number created here, and then as many copies.
pub fn entities(run: &mut Run) -> Outcome<()> {
    let archive = run.archive;
    for (type_number, one) in archive.entities.iter().enumerate() {
        for number in 0..run.volume.instances {
            let properties = run.values.all(&one.attributes, number);
            let mut entity = NewEntity::new(&one.name);
            entity.properties = properties.clone();
            let answer = run.ask(Method::AddEntity, Call::CreateEntity(entity))?;
            let id = only(answer)?;
            run.created(InstanceId::Entity(id), type_number, properties)?;
        }
        copies::save_entities(run, type_number, one)?;
    }
    Ok(())
}

/// Relationships of each type between the first entities of its end types.
pub fn relationships(run: &mut Run) -> Outcome<()> {
    let archive = run.archive;
    for (type_number, one) in archive.relationships.iter().enumerate() {
        let [from, to] = one.ends.map(|end| Find::of(&archive.entities[end].name));
        let from = run.look_up(Method::FindEntities, TypeKind::Entity, from, None)?;
        let to = run.look_up(Method::FindEntities, TypeKind::Entity, to, None)?;
        for (number, (from, to)) in from.into_iter().zip(to).enumerate() {
            let properties = run.values.all(&one.attributes, number);
            let mut relationship = NewRelationship::new(&one.name, from, to);
            relationship.properties = properties.clone();
            let answer = run.ask(Method::AddRelationship, Call::CreateRelationship(relationship))?;
            let id = only(answer)?;
            run.created(InstanceId::Relationship(id), type_number, properties)?;
        }
        copies::save_relationships(run, type_number, one)?;
    }
    Ok(())
}

/// The id of a created instance.
///
/// Errors: if it was refused.
fn only(answer: Option<Answer>) -> Outcome<Id> {
    let ids = answer.map(|answer| answer.ids).unwrap_or_default();
    ids.into_iter().next().ok_or_else(|| "create: wrong answer: expected an id".into())
}

impl Run<'_> {
    /// Checks a created instance, and notes it.
    pub fn created(&mut self, id: InstanceId, type_number: usize, properties: Properties) -> Outcome<()> {
        let name = match &id {
            InstanceId::Entity(_) => Arc::clone(&self.archive.entities[type_number].name),
            InstanceId::Relationship(_) => Arc::clone(&self.archive.relationships[type_number].name),
        };
        self.check_content(&id, &name, 1, &properties)?;
        if let Some(book) = &mut self.book {
            let kept = Kept { id: id.id().clone(), type_number, properties, classifications: Vec::new() };
            match id {
                InstanceId::Entity(_) => book.entities.push(kept),
                InstanceId::Relationship(_) => book.relationships.push(kept),
            }
        }
        Ok(())
    }

    /// Errors: unless the instance is of this type, in this version, and has these properties and no others.
    pub fn check_content(
        &mut self,
        id: &InstanceId,
        type_name: &str,
        version: u64,
        properties: &Properties,
    ) -> Outcome<()> {
        let mut found = self.look(id)?;
        found.properties.sort_by(|a, b| a.0.cmp(&b.0));
        let mut expected: Vec<_> =
            properties.iter().map(|(name, value)| (name.to_string(), value.clone())).collect();
        expected.sort_by(|a, b| a.0.cmp(&b.0));
        if found.type_name == type_name && found.version == version && found.properties == expected {
            return Ok(());
        }
        Err(format!(
            "{id}: wrong answer: expected a {type_name} in version {version} with {expected:?}, found {found:?}"
        )
        .into())
    }
}
