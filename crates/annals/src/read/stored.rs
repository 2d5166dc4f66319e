//! How much instances take as they are stored: what pages are bounded by.

use super::compare::Difference;
use super::instance::{Entity, Relationship};
use crate::graph::instance::row::Row;
use crate::model::{TypeKind, Value};

/// What a value takes beside its content. Units: bytes.
const VALUE_BYTES: usize = 16;

impl Entity<'_> {
    /// What is stored of it in this version, roughly. Units: bytes.
    pub fn stored_bytes(&self) -> usize {
        stored_bytes(self.snapshot.row(TypeKind::Entity, self.slot(), &self.held))
    }
}

impl Relationship<'_> {
    /// What is stored of it in this version, roughly. Units: bytes.
    pub fn stored_bytes(&self) -> usize {
        stored_bytes(self.snapshot.row(TypeKind::Relationship, self.slot(), &self.held))
    }
}

/// What a row takes. Units: bytes.
pub(super) fn stored_bytes(row: Row) -> usize {
    row.bytes_count() + row.large_sets().iter().map(value_bytes).sum::<usize>()
}

/// What the values of a difference take, roughly. Units: bytes.
pub(super) fn difference_bytes(difference: &Difference) -> usize {
    let classified = difference.classifications.iter().flat_map(|known| &known.properties);
    let values = difference.properties.iter().chain(classified);
    values
        .map(|known| [&known.before, &known.after].into_iter().flatten().map(value_bytes).sum::<usize>())
        .sum()
}

/// What a value takes, roughly. Units: bytes.
pub(super) fn value_bytes(value: &Value) -> usize {
    VALUE_BYTES
        + match value {
            Value::String(text) | Value::Iri(text) => text.len(),
            Value::Bytes(bytes) => bytes.len(),
            Value::List(values) => values.iter().map(value_bytes).sum(),
            Value::Map(values) => values.iter().map(|(name, value)| name.len() + value_bytes(value)).sum(),
            Value::Set(values) => values.iter().map(|value| value_bytes(&value)).sum(),
            _ => 0,
        }
}
