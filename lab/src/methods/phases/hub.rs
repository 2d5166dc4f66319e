//! Purges an entity with very many relationships; it has its own line.

use annals::{Id, InstanceId, NewEntity, NewRelationship};

use crate::methods::call::Call;
use crate::methods::row::Method;
use crate::methods::run::Run;
use crate::outcome::Outcome;

/// Relationships of the hub.
const RELATIONSHIPS: usize = 10_000;
/// How often the hub is built and purged.
const TURNS: usize = 3;
const ENTITY: &str = "Project";
const RELATIONSHIP: &str = "ProjectDependency";

/// End entities of the relationships.
const LEAVES: usize = 100;

/// Builds hubs, deletes and purges them.
pub fn purge(run: &mut Run) -> Outcome<()> {
    if run.target.lacks_hubs().is_some() {
        return Ok(());
    }
    for _ in 0..TURNS {
        let ids: Vec<Id> = (0..=LEAVES).map(|_| run.values.id()).collect();
        let hub = InstanceId::Entity(ids[0].clone());
        let entity = |id: &Id| Call::CreateEntity(NewEntity { id: id.clone(), ..NewEntity::new(ENTITY) });
        let mut calls: Vec<Call> = ids.iter().map(entity).collect();
        for number in 0..RELATIONSHIPS {
            let leaf = ids[1 + number % LEAVES].clone();
            let link = NewRelationship::new(RELATIONSHIP, ids[0].clone(), leaf);
            calls.push(Call::CreateRelationship(link));
        }
        calls.push(Call::Delete(hub.clone(), ENTITY.into()));
        run.target.load(calls)?;
        run.ask(Method::PurgeHub, Call::Purge(hub))?;
    }
    Ok(())
}
