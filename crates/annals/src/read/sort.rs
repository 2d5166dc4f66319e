//! Orders instances by what their header says or by a property, those that lack it last.

use std::cmp::Ordering;
use std::sync::Arc;

use super::instance::Held;
use super::snapshot::Snapshot;
use crate::Result;
use crate::graph::table::for_each_indexed;
use crate::model::{Id, TypeKind, append_index_key};
use crate::search::Order;

/// What to order by.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SortBy {
    /// By id: UUIDs by their bytes, then texts.
    Id,
    /// By when it was created.
    Created,
    /// By when the version seen was written.
    Updated,
    /// By the value of a property, as searches compare them; of a multi-valued one the first in the order. Texts count
    /// with their first 120 bytes. Instances without the property come last in either direction.
    Property(Arc<str>),
}

/// An order of instances; equal ones in the order of their creation.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Sort {
    /// What to order by.
    pub by: SortBy,
    /// Smallest first or largest first.
    pub order: Order,
}

impl Sort {
    /// Smallest first.
    pub fn ascending(by: SortBy) -> Sort {
        Sort { by, order: Order::Ascending }
    }

    /// Largest first.
    pub fn descending(by: SortBy) -> Sort {
        Sort { by, order: Order::Descending }
    }

    /// Tells cursors of one order from those of another.
    pub(super) fn number(&self) -> u8 {
        let by = match self.by {
            SortBy::Id => 0,
            SortBy::Created => 1,
            SortBy::Updated => 2,
            SortBy::Property(_) => 3,
        };
        32 + 2 * by + u8::from(self.order == Order::Descending)
    }

    /// Compares two keys that [`Snapshot::sort_key`] made for this order.
    pub(super) fn compare(&self, a: &SortKey, b: &SortKey) -> Ordering {
        let by_value = match (&a.value, &b.value) {
            (Some(a), Some(b)) if self.order == Order::Ascending => a.cmp(b),
            (Some(a), Some(b)) => b.cmp(a),
            (a, b) => b.is_some().cmp(&a.is_some()),
        };
        by_value.then(a.slot.cmp(&b.slot))
    }
}

/// Where an instance stands in an order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SortKey {
    /// Ascending as bytes; `None` for an instance without the property.
    pub(super) value: Option<Vec<u8>>,
    pub(super) slot: u32,
}

impl SortKey {
    /// As a cursor has it. Shape: whether there is a value (1), the value, slot (4).
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = vec![u8::from(self.value.is_some())];
        bytes.extend(self.value.iter().flatten());
        bytes.extend(self.slot.to_be_bytes());
        bytes
    }

    /// The key that a cursor has; `None` if these are not its bytes.
    pub(super) fn from_bytes(bytes: &[u8]) -> Option<SortKey> {
        let (rest, slot) = bytes.split_last_chunk::<4>()?;
        let value = match rest.split_first()? {
            (0, []) => None,
            (1, value) => Some(value.to_vec()),
            _ => return None,
        };
        Some(SortKey { value, slot: u32::from_be_bytes(*slot) })
    }
}

impl Snapshot {
    /// Where the instance at `slot` stands, in the version that this snapshot sees, deleted or not.
    ///
    /// Errors: those of reading history.
    pub(super) fn sort_key(&self, kind: TypeKind, slot: u32, sort: &Sort) -> Result<SortKey> {
        if sort.by == SortBy::Id {
            return Ok(SortKey { value: Some(id_key(self.graph().table(kind).id(slot))), slot });
        }
        let Some(held) = self.seen(kind, slot, true)? else { return Ok(SortKey { value: None, slot }) };
        let value = match &sort.by {
            SortBy::Id => None,
            SortBy::Created => Some(instant_key(self.row(kind, slot, &held).created().micros)),
            SortBy::Updated => Some(instant_key(self.row(kind, slot, &held).updated().micros)),
            SortBy::Property(name) => self.value_key(kind, slot, &held, name, sort.order),
        };
        Ok(SortKey { value, slot })
    }

    fn value_key(&self, kind: TypeKind, slot: u32, held: &Held, name: &str, order: Order) -> Option<Vec<u8>> {
        let value = self.value(kind, slot, held, self.graph().names.find(name)?)?;
        let mut first: Option<Vec<u8>> = None;
        for_each_indexed(&value, |value| {
            let mut key = Vec::new();
            append_index_key(value, &mut key);
            let is_first = first.as_ref().is_none_or(|first| (key < *first) == (order == Order::Ascending));
            if is_first {
                first = Some(key);
            }
        });
        first
    }
}

/// Bytes that compare as ids do.
fn id_key(id: &Id) -> Vec<u8> {
    match (id.uuid_bytes(), id.text()) {
        (Some(bytes), _) => [&[0], &bytes[..]].concat(),
        (None, text) => [&[1], text.unwrap_or_default().as_bytes()].concat(),
    }
}

/// Bytes that compare as instants do.
fn instant_key(micros: i64) -> Vec<u8> {
    (micros ^ i64::MIN).to_be_bytes().to_vec()
}
