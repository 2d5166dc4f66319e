//! Copies of instances of another collection: saves them, re-homes half of them, and purges the rest.

use std::sync::Arc;

use annals::{
    ClassificationCopy, CopyHeader, EntityCopy, EntityProxy, Find, Id, InstanceId, Instant, Provenance,
    RelationshipCopy, Stamp, TypeKind,
};

use crate::methods::archive::{EntityType, RelationshipType};
use crate::methods::call::{Call, ELSEWHERE};
use crate::methods::row::Method;
use crate::methods::run::Run;
use crate::outcome::Outcome;

use super::update::{instance, look_up_by_home, of_kind};

/// Saves copies of entities of one type.
pub fn save_entities(run: &mut Run, type_number: usize, one: &EntityType) -> Outcome<()> {
    for number in 0..run.volume.instances {
        let (id, properties) = (run.values.id(), run.values.all(&one.attributes, number));
        let copy = EntityCopy {
            id: id.clone(),
            type_name: Arc::clone(&one.name),
            properties: properties.clone(),
            classifications: Vec::new(),
            header: header(),
        };
        run.done(Method::SaveEntity, Call::SaveEntity(copy))?;
        run.created(InstanceId::Entity(id), type_number, properties)?;
    }
    Ok(())
}

/// Saves copies of relationships of one type, each between two entities that are unknown here.
pub fn save_relationships(run: &mut Run, type_number: usize, one: &RelationshipType) -> Outcome<()> {
    let archive = run.archive;
    for number in 0..run.volume.instances {
        let (id, properties) = (run.values.id(), run.values.all(&one.attributes, number));
        let proxies =
            one.ends.map(|end| EntityProxy::new(run.values.id(), &archive.entities[end].name, ELSEWHERE));
        let copy = RelationshipCopy {
            id: id.clone(),
            type_name: Arc::clone(&one.name),
            from: proxies[0].id.clone(),
            to: proxies[1].id.clone(),
            properties: properties.clone(),
            header: header(),
        };
        run.done(Method::SaveRelationship, Call::SaveRelationship(copy, Box::new(proxies)))?;
        run.created(InstanceId::Relationship(id), type_number, properties)?;
    }
    Ok(())
}

/// Saves a copy of each classification on copies of the last type that it fits.
pub fn save_classifications(run: &mut Run) -> Outcome<()> {
    let archive = run.archive;
    for one in &archive.classifications {
        let find = Find::of(&archive.entities[one.entity_type].name).filter(run.copies());
        let found = run.look_up(Method::FindEntitiesByProperty, TypeKind::Entity, find, None)?;
        for (number, id) in found.into_iter().enumerate() {
            let properties = run.values.all(&one.attributes, number);
            let CopyHeader { provenance, version, created, updated, .. } = header();
            let copy = ClassificationCopy {
                name: Arc::clone(&one.name),
                properties: properties.clone(),
                provenance,
                version,
                created,
                updated,
            };
            run.mark = run
                .done(Method::SaveClassification, Call::SaveClassification(id.clone(), copy))?
                .or(run.mark);
            run.classified(&id, &one.name, properties)?;
        }
    }
    Ok(())
}

/// Re-homes half of the copies of each type to this repository.
pub fn rehome(run: &mut Run, kind: TypeKind) -> Outcome<()> {
    run.archive.types(kind).try_for_each(|(name, _)| run.rehome(kind, name))
}

/// Purges the copies of each classification.
pub fn purge_classifications(run: &mut Run) -> Outcome<()> {
    let archive = run.archive;
    for one in &archive.classifications {
        let find = Find::all().filter(run.classification_of(&one.name, Some(ELSEWHERE)));
        for id in run.look_up(Method::FindByClassification, TypeKind::Entity, find, None)? {
            let call = Call::PurgeClassification(id.clone(), Arc::clone(&one.name));
            run.done(Method::PurgeClassification, call)?;
            run.check_classified(&id, &one.name, false)?;
        }
    }
    Ok(())
}

impl Run<'_> {
    fn rehome(&mut self, kind: TypeKind, type_name: &str) -> Outcome<()> {
        let find = Find::of(type_name).filter(self.copies());
        let found = self.look_up(look_up_by_home(kind), kind, find, None)?;
        let method = of_kind(kind, [Method::RehomeEntity, Method::RehomeRelationship]);
        for id in found.into_iter().take(self.volume.instances / 2).map(|id| instance(kind, id)) {
            self.done(method, Call::Rehome(id.clone()))?;
            let looked = self.look(&id)?;
            if let Some(home) = looked.home {
                return Err(format!("rehome {id}: wrong answer: its home is still {home}").into());
            }
        }
        Ok(())
    }

    /// Purges copies of a type.
    pub fn purge_copies(&mut self, kind: TypeKind, type_name: &str) -> Outcome<()> {
        let find = Find::of(type_name).filter(self.copies());
        let method = of_kind(kind, [Method::PurgeEntityCopy, Method::PurgeRelationshipCopy]);
        for id in self.look_up(look_up_by_home(kind), kind, find, None)? {
            let id = instance(kind, id);
            self.done(method, Call::PurgeCopy(id.clone()))?;
            self.check_gone(&id)?;
        }
        Ok(())
    }

    /// Makes a call that must not be refused; returns its commit instant.
    pub fn done(&mut self, method: Method, call: Call) -> Outcome<Option<Instant>> {
        let answer = self.ask_if(method, call, None, |_| Some(crate::methods::record::Part::Whole))?;
        Ok(answer.map_err(|error| format!("{}: it was refused: {error}", method.row().title()))?.instant)
    }

    /// Errors: if the entity has the classification and should not, or the reverse.
    pub fn check_classified(&mut self, id: &Id, name: &str, is_expected: bool) -> Outcome<()> {
        let looked = self.look(&InstanceId::Entity(id.clone()))?;
        if looked.classifications.iter().any(|carried| **carried == *name) == is_expected {
            return Ok(());
        }
        Err(format!("entity {id}, classification {name}: wrong answer: expected {is_expected}").into())
    }
}

/// The header of a copy: its first version at its home.
fn header() -> CopyHeader {
    let stamp = Stamp { instant: Instant::now(), author: "there".into() };
    CopyHeader {
        provenance: Provenance::of_home(ELSEWHERE),
        version: 1,
        status: Some("active".into()),
        created: stamp.clone(),
        updated: stamp,
    }
}
