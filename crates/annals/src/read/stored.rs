//! How much instances take as they are stored: what pages are bounded by.

use super::compare::Difference;
use super::held::Held;
use super::instance::{Entity, Relationship};
use super::snapshot::Snapshot;
use crate::graph::instance::row::{Row, SHORT_BYTES_MAX};
use crate::model::{TypeKind, Value};
use crate::search::PAGE_BYTES_MAX;

/// What a value takes beside its content. Units: bytes.
const VALUE_BYTES: usize = 16;

/// What a page may take, and what it has taken. Units: bytes, as stored.
pub(super) struct Weighing {
    is_needed: bool,
    bytes: usize,
    bytes_max: usize,
}

impl Weighing {
    /// Of a page of at most `limit` instances. By the default, handles are weighed if they take memory of their own; by a smaller
    /// bound if a page can be over it.
    pub(super) fn new(snapshot: &Snapshot, kind: TypeKind, limit: usize, bytes_max: usize) -> Weighing {
        let table = snapshot.graph().table(kind);
        let are_heavy = snapshot.view().is_some() || table.spill.is_used();
        let may_exceed = table.has_long || limit.saturating_mul(SHORT_BYTES_MAX) > bytes_max;
        let is_needed = are_heavy || may_exceed && bytes_max < PAGE_BYTES_MAX;
        Weighing { is_needed, bytes: 0, bytes_max }
    }

    /// Puts an instance on the page; true if the page is full with it.
    pub(super) fn is_full_with(
        &mut self,
        snapshot: &Snapshot,
        kind: TypeKind,
        slot: u32,
        held: &Held,
    ) -> bool {
        if self.is_needed {
            self.bytes = self.bytes.saturating_add(stored_bytes(snapshot.row(kind, slot, held)));
        }
        self.bytes >= self.bytes_max
    }
}

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
    row.bytes_count() + row.large_sets().iter().map(of_value).sum::<usize>()
}

/// What the values of a difference take, roughly. Units: bytes.
pub(super) fn difference_bytes(difference: &Difference) -> usize {
    let classified = difference.classifications.iter().flat_map(|known| &known.properties);
    let values = difference.properties.iter().chain(classified);
    values.map(|known| [&known.before, &known.after].into_iter().flatten().map(of_value).sum::<usize>()).sum()
}

fn of_value(value: &Value) -> usize {
    VALUE_BYTES
        + match value {
            Value::String(text) | Value::Iri(text) => text.len(),
            Value::Bytes(bytes) => bytes.len(),
            Value::List(values) => values.iter().map(of_value).sum(),
            Value::Map(values) => values.iter().map(|(name, value)| name.len() + of_value(value)).sum(),
            Value::Set(values) => values.iter().map(|value| of_value(&value)).sum(),
            _ => 0,
        }
}
