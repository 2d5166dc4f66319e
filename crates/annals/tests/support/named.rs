//! Small instances that tests call by name.

use annals::*;

use super::CheckedRepository;

pub fn id(text: &str) -> Id {
    Id::new(text).unwrap()
}

pub fn entity(text: &str) -> InstanceId {
    InstanceId::Entity(id(text))
}

pub fn relationship(text: &str) -> InstanceId {
    InstanceId::Relationship(id(text))
}

pub fn new(text: &str) -> NewEntity {
    NewEntity::new("t").id(text).unwrap()
}

pub fn set(n: i64) -> Patch {
    Patch::new().set("n", n)
}

pub fn number(snapshot: &Snapshot, text: &str) -> i64 {
    let found = snapshot.entity(&id(text)).unwrap().unwrap();
    found.property("n").and_then(|value| value.as_integer()).unwrap()
}

/// A repository with the entities `a` and `b`, both with n = 1.
pub fn two_entities() -> CheckedRepository {
    let repository = CheckedRepository::in_memory();
    repository
        .transact(|t| {
            t.create_entity(new("a").property("n", 1))?;
            t.create_entity(new("b").property("n", 1))
        })
        .unwrap();
    repository
}
