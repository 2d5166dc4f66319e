//! Durable commits by one thread, into files.

use std::path::Path;

use annals::{Id, InstanceId, Patch, Repository};

use crate::graph::{Standard, add, vertex_id};
use crate::line;
use crate::outcome::Outcome;

const ENTITIES: usize = 5_000;
const COMMITS: usize = 300;

/// Creations of an entity with a relationship, and updates of one property.
pub fn run(folder: &Path) -> Outcome<()> {
    let repository = Repository::open(folder)?;
    let standard = Standard::new();
    add(&repository, ENTITIES, |transaction, number| {
        transaction.create_entity(standard.entity(number))?;
        Ok(())
    })?;
    line("commit-create", COMMITS, || {
        for number in 0..COMMITS {
            let mut transaction = repository.transaction();
            let id = transaction.create_entity(standard.entity_with(Id::random(), number))?;
            let (edge, from) = (Id::random(), vertex_id(number));
            transaction.create_relationship(standard.relationship_with(edge, number, from, id))?;
            transaction.commit()?;
        }
        Ok(())
    })?;
    let mut round = 0;
    line("commit-update", COMMITS, || {
        round += 1;
        for number in 0..COMMITS {
            let mut transaction = repository.transaction();
            let id = InstanceId::Entity(vertex_id(number));
            transaction.update(&id, Patch::new().set("size", round * 1_000_000 + number as i64))?;
            transaction.commit()?;
        }
        Ok(())
    })?;
    Ok(repository.close()?)
}
