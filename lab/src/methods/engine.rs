//! Calls the engine in this process.

use std::hint::black_box;
use std::time::Instant as Clock;

use annals::{
    AsOf, Entity, Find, History, Id, InstanceId, Instant, Patch, Reach, Related, Relationship,
    RelationshipsOf, Repository, Snapshot, Transaction, TypeKind, Value,
};

use super::call::{Answer, Call, ELSEWHERE, Looked, Target, Timed};
use crate::outcome::Outcome;

/// The engine, without a door.
pub struct Engine {
    pub repository: Repository,
}

impl Target for Engine {
    fn call(&mut self, call: Call, then: Option<Instant>) -> Outcome<Timed> {
        let start = Clock::now();
        let answer = if call.is_write() { self.write(call) } else { self.read(&call, then) };
        let elapsed = start.elapsed();
        Ok(Timed { answer: answer.map_err(|error| error.to_string()), elapsed })
    }

    fn load(&mut self, calls: Vec<Call>) -> Outcome<()> {
        let mut transaction = self.repository.transaction();
        transaction.always(true);
        for call in calls {
            change(&mut transaction, call)?;
        }
        transaction.commit()?;
        Ok(())
    }

    fn look(&mut self, id: &InstanceId, then: Option<Instant>) -> Outcome<Option<Looked>> {
        let snapshot = self.snapshot(then)?;
        let texts = |properties: Vec<(&str, Value)>| {
            properties.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
        };
        Ok(match id {
            InstanceId::Entity(id) => snapshot.entity(id)?.map(|one| Looked {
                type_name: one.type_name().into(),
                version: one.version().into(),
                status: one.status_name().into(),
                home: one.home().map(str::to_owned),
                properties: texts(one.properties().collect()),
                classifications: one.classifications().map(|one| one.name().to_owned()).collect(),
            }),
            InstanceId::Relationship(id) => snapshot.relationship(id)?.map(|one| Looked {
                type_name: one.type_name().into(),
                version: one.version().into(),
                status: one.status_name().into(),
                home: one.home().map(str::to_owned),
                properties: texts(one.properties().collect()),
                classifications: Vec::new(),
            }),
        })
    }
}

impl Engine {
    fn snapshot(&self, then: Option<Instant>) -> annals::Result<Snapshot> {
        let snapshot = self.repository.snapshot();
        match then {
            None => Ok(snapshot),
            Some(instant) => snapshot.as_of(AsOf { instant: Some(instant), ..AsOf::default() }),
        }
    }

    fn write(&self, call: Call) -> annals::Result<Answer> {
        let mut transaction = self.repository.transaction();
        // The suite counts versions, and each of its writes makes one, even if it changes nothing.
        transaction.always(true);
        let ids = change(&mut transaction, call)?;
        let receipt = transaction.commit()?;
        Ok(Answer { elements: ids.len(), ids, next: None, instant: Some(receipt.instant) })
    }

    fn read(&self, call: &Call, then: Option<Instant>) -> annals::Result<Answer> {
        let snapshot = self.snapshot(then)?;
        let answer = match call {
            Call::Known(InstanceId::Entity(id)) => one(snapshot.entity(id)?.map(|found| found.id().clone())),
            Call::Known(InstanceId::Relationship(id)) => {
                one(snapshot.relationship(id)?.map(|found| found.id().clone()))
            }
            Call::Summary(id) => one(snapshot.entity_summary(id)?.map(|found| {
                black_box((found.type_name(), found.version(), found.created(), found.updated()));
                found.classifications().for_each(|one| {
                    black_box((one.name(), one.version()));
                });
                found.id().clone()
            })),
            Call::Get(InstanceId::Entity(id)) => one(snapshot.entity(id)?.map(|found| read_entity(&found))),
            Call::Get(InstanceId::Relationship(id)) => {
                one(snapshot.relationship(id)?.map(|found| read_relationship(&found)))
            }
            Call::Versions(id, limit) => versions(&snapshot, id, *limit)?,
            Call::Find(kind, find) => page(&snapshot, *kind, find)?,
            Call::RelationshipsOf(id, limit) => {
                let page = snapshot
                    .relationships_of(id, &RelationshipsOf { limit: *limit, ..RelationshipsOf::both() })?;
                many(page.items.iter().map(read_relationship).collect(), page.next)
            }
            Call::Neighborhood(id, depth) => {
                let found = snapshot.neighborhood(id, &Reach::both().depth_max(*depth))?;
                subgraph(&found)?
            }
            Call::Related(id, limit) => {
                let mut related = Related::by(Reach::both());
                related.limit = *limit;
                let page = snapshot.related(id, &related)?;
                let ids = page.items.iter().map(|one| Ok(read_entity(&one.entity()?)));
                many(ids.collect::<annals::Result<_>>()?, None)
            }
            Call::Linking(from, to) => subgraph(&snapshot.linking(from, to, &Reach::both())?)?,
            write => unreachable!("{write:?} changes something"),
        };
        Ok(answer)
    }
}

/// Adds the change to the transaction. Shape: ids of the created instances.
fn change(transaction: &mut Transaction, call: Call) -> annals::Result<Vec<Id>> {
    match call {
        Call::CreateEntity(entity) => return Ok(vec![transaction.create_entity(entity)?]),
        Call::CreateRelationship(one) => return Ok(vec![transaction.create_relationship(one)?]),
        Call::Replace(id, properties) => transaction.replace(&id, properties)?,
        Call::Undo(id) => transaction.undo(&id)?,
        Call::Delete(id, type_name) => {
            transaction.expect_type(&id, &type_name)?;
            transaction.delete(&id)?;
        }
        Call::Restore(id) => restore(transaction, &id)?,
        Call::Purge(id) => {
            transaction.expect_deleted(&id)?;
            transaction.purge(&id)?;
        }
        Call::PurgeCopy(id) => transaction.purge_copy(&id, ELSEWHERE)?,
        Call::SaveEntity(copy) => transaction.save_entity_copy(copy)?,
        Call::SaveRelationship(copy, proxies) => transaction.save_relationship_copy(copy, *proxies)?,
        Call::SaveClassification(id, copy) => transaction.save_classification_copy(&id, copy)?,
        Call::PurgeClassification(id, name) => {
            transaction.purge_classification_copy(&id, &name, ELSEWHERE)?
        }
        Call::Rehome(id) => transaction.rehome(&id, ELSEWHERE)?,
        Call::Retype(id, type_name) => transaction.retype(&id, &type_name)?,
        Call::Reidentify(id, new) => transaction.reidentify(&id, &new)?,
        Call::Classify(id, content) => transaction.classify(&id, content)?,
        Call::Reclassify(id, name, properties) => {
            let patch =
                properties.into_iter().fold(Patch::new(), |patch, (name, value)| patch.set(&name, value));
            transaction.reclassify(&id, &name, patch)?;
        }
        Call::Declassify(id, name) => transaction.declassify(&id, &name)?,
        read => unreachable!("{read:?} changes nothing"),
    }
    Ok(Vec::new())
}

/// The original does not restore relationships with their entity.
fn restore(transaction: &mut Transaction, id: &InstanceId) -> annals::Result<()> {
    match id {
        InstanceId::Entity(id) => transaction.restore_alone(id),
        InstanceId::Relationship(_) => transaction.restore(id),
    }
}

fn one(id: Option<Id>) -> Answer {
    many(id.into_iter().collect(), None)
}

fn many(ids: Vec<Id>, next: Option<String>) -> Answer {
    Answer { elements: ids.len(), ids, next, instant: None }
}

fn page(snapshot: &Snapshot, kind: TypeKind, find: &Find) -> annals::Result<Answer> {
    if kind == TypeKind::Relationship {
        let page = snapshot.find_relationships(find)?;
        return Ok(many(page.items.iter().map(read_relationship).collect(), page.next));
    }
    let page = snapshot.find_entities(find)?;
    Ok(many(page.items.iter().map(read_entity).collect(), page.next))
}

/// The versions with their content, each with the same id.
fn versions(snapshot: &Snapshot, id: &InstanceId, limit: usize) -> annals::Result<Answer> {
    let history = History { limit, ..History::default() };
    let ids = match id {
        InstanceId::Entity(id) => {
            snapshot.entity_history(id, &history)?.iter().map(|(_, one)| read_entity(one)).collect()
        }
        InstanceId::Relationship(id) => snapshot
            .relationship_history(id, &history)?
            .iter()
            .map(|(_, one)| read_relationship(one))
            .collect(),
    };
    Ok(many(ids, None))
}

fn subgraph(found: &annals::Subgraph<'_>) -> annals::Result<Answer> {
    let ids: Vec<Id> =
        found.entities().map(|one| Ok(read_entity(&one.entity()?))).collect::<annals::Result<_>>()?;
    for one in found.relationships() {
        black_box(read_relationship(&one.relationship()?));
    }
    let elements = ids.len() + found.relationships().len();
    Ok(Answer { ids, next: None, elements, instant: None })
}

/// Reads everything that a door would send.
fn read_entity(entity: &Entity<'_>) -> Id {
    black_box((entity.type_name(), entity.version(), entity.created(), entity.updated()));
    for property in entity.properties() {
        black_box(property);
    }
    for classification in entity.classifications() {
        black_box((classification.name(), classification.version()));
        for property in classification.properties() {
            black_box(property);
        }
    }
    entity.id().clone()
}

fn read_relationship(relationship: &Relationship<'_>) -> Id {
    black_box((
        relationship.type_name(),
        relationship.version(),
        relationship.created(),
        relationship.updated(),
    ));
    black_box((relationship.from(), relationship.to()));
    for property in relationship.properties() {
        black_box(property);
    }
    relationship.id().clone()
}
