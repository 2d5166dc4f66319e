//! The measured data: entities with a payload that is not indexed, so that it may leave memory.

use std::path::Path;

use annals::{AttributeDefinition, Id, NewEntity, Options, Repository, TypeDefinition, ValueType};

use crate::graph::Random;
use crate::harness::Cell;
use crate::outcome::Outcome;

/// Units: bytes.
pub const PAYLOAD: usize = 1_024;

/// Room for the process itself and for writes under way, besides the graph. Units: bytes.
const BUDGET_MIN: u64 = 128 << 20;

/// Three eighths of all payloads, and 128 MiB. Units: bytes.
pub fn budget(elements: usize) -> u64 {
    BUDGET_MIN + (elements * PAYLOAD * 3 / 8) as u64
}

/// The settings of the cell's target.
pub fn options(cell: &Cell, elements: usize) -> Outcome<Options> {
    match cell.target.name {
        "annals" => Ok(Options { memory_bytes_max: Some(budget(elements)), ..Options::default() }),
        "annals-unbounded" => Ok(Options::default()),
        other => Err(format!("target {other}: has no adapter for this suite").into()),
    }
}

/// A new repository that knows the type.
pub fn create(path: &Path, options: Options) -> Outcome<Repository> {
    let repository = Repository::open_with(path, options)?;
    let payload = AttributeDefinition::new("payload", ValueType::String).unindexed();
    let definition = TypeDefinition::entity("document").attribute(payload);
    repository.transact(|t| t.define_type(definition.clone()))?;
    Ok(repository)
}

/// An id that looks random but follows from the number, so that no id is stored.
pub fn id(number: usize) -> annals::Result<Id> {
    let mut random = Random::new(number as u64);
    let (high, low) = (random.next(), random.next());
    Id::new(&format!(
        "{:08x}-{:04x}-4{:03x}-8{:03x}-{:012x}",
        high >> 32,
        high >> 16 & 0xFFFF,
        high & 0xFFF,
        low >> 52,
        low & 0xFFFF_FFFF_FFFF
    ))
}

/// A text without a common beginning, which no compression shortens.
pub fn payload(number: usize) -> String {
    let mut random = Random::new(!(number as u64));
    let mut text = String::with_capacity(PAYLOAD + 16);
    while text.len() < PAYLOAD {
        text.push_str(&format!("{:016x}", random.next()));
    }
    text.truncate(PAYLOAD);
    text
}

/// The entity of a number.
pub fn entity(number: usize) -> annals::Result<NewEntity> {
    let entity = NewEntity::new("document")
        .property("size", (number % 1_000) as i64)
        .property("payload", payload(number));
    Ok(NewEntity { id: id(number)?, ..entity })
}
