//! Typed instances, commits, refusals and the past, in few words.

use annals::*;

use super::named::id;

pub fn new(type_name: &str, text: &str) -> NewEntity {
    NewEntity::new(type_name).id(text).unwrap()
}

pub fn link(type_name: &str, text: &str, from: &str, to: &str) -> NewRelationship {
    NewRelationship::new(type_name, id(from), id(to)).id(text).unwrap()
}

/// The kind of the error of a call that must be refused.
pub fn kind_of<T>(result: Result<T>) -> ErrorKind {
    result.err().expect("it should be refused").kind()
}

pub fn commit<T>(repository: &Repository, mut work: impl FnMut(&mut Transaction) -> Result<T>) -> T {
    repository.transact(|t| work(t)).unwrap().0
}

pub fn refused<T>(repository: &Repository, mut work: impl FnMut(&mut Transaction) -> Result<T>) -> ErrorKind {
    repository.transact(|t| work(t)).map(drop).unwrap_err().kind()
}

pub fn then(repository: &Repository, position: u64) -> Snapshot {
    let as_of = AsOf { position: Some(Position(position)), ..AsOf::default() };
    repository.snapshot().as_of(as_of).unwrap()
}
