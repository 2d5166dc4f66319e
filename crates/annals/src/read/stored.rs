//! The stored size of instances, for the bounds of pages.

use super::instance::{Entity, Relationship};
use super::past::compare::Difference;
use crate::graph::instance::row::Row;
use crate::model::{TypeKind, Value};

/// Size of a value without its content. Units: bytes.
const VALUE_BYTES: usize = 16;

impl Entity<'_> {
    /// Its approximate stored size in this version. Units: bytes.
    pub fn stored_bytes(&self) -> usize {
        stored_bytes(self.snapshot.row(TypeKind::Entity, self.slot(), &self.held))
    }
}

impl Relationship<'_> {
    /// Its approximate stored size in this version. Units: bytes.
    pub fn stored_bytes(&self) -> usize {
        stored_bytes(self.snapshot.row(TypeKind::Relationship, self.slot(), &self.held))
    }
}

/// Size of a row. Units: bytes.
pub(super) fn stored_bytes(row: Row) -> usize {
    row.bytes_count() + row.large_sets().iter().map(value_bytes).sum::<usize>()
}

/// Approximate size of the values of a difference. Units: bytes.
pub(super) fn difference_bytes(difference: &Difference) -> usize {
    let classified = difference.classifications.iter().flat_map(|known| &known.properties);
    let values = difference.properties.iter().chain(classified);
    values
        .map(|known| [&known.before, &known.after].into_iter().flatten().map(value_bytes).sum::<usize>())
        .sum()
}

/// Approximate size of a value. Units: bytes.
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
