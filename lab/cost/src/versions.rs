//! A read of a version of the past.

use std::hint::black_box;

use annals::{AsOf, InstanceId, Patch, Position};

use crate::graph::{Random, Standard, in_memory, vertex_id};
use crate::line;
use crate::outcome::Outcome;

const ENTITIES: usize = 200;
const VERSIONS: usize = 20;
const READS: usize = 2_000;

/// Random versions of entities that have many, warm.
pub fn run() -> Outcome<()> {
    let repository = in_memory()?;
    let standard = Standard::new();
    for version in 0..VERSIONS {
        let mut transaction = repository.transaction();
        for number in 0..ENTITIES {
            if version == 0 {
                transaction.create_entity(standard.entity(number))?;
            } else {
                let id = InstanceId::Entity(vertex_id(number));
                transaction.update(&id, Patch::new().set("size", version as i64))?;
            }
        }
        transaction.commit()?;
    }
    let snapshot = repository.snapshot();
    let last = snapshot.position().0;
    let mut random = Random::new(3);
    let picks: Vec<_> = (0..READS)
        .map(|_| {
            let position = Position(last - random.below(VERSIONS) as u64);
            (vertex_id(random.below(ENTITIES)), AsOf { position: Some(position), ..AsOf::default() })
        })
        .collect();
    line("as-of", READS, || {
        for (id, as_of) in &picks {
            let then = snapshot.as_of(*as_of)?;
            let entity = then.entity(id)?.ok_or("an entity is not there")?;
            black_box(entity.property("size"));
        }
        Ok(())
    })
}
