//! Keys of indexes: the key of a value, or an id, then the slot of its instance.

use crate::model::{Id, Instant, Value, append_index_key, is_indexable};
use crate::structures::key_set::Key;

/// The slot at the end of an index key.
#[inline]
pub(crate) fn slot_of_key(key: Key) -> u32 {
    key.last_u32()
}

/// An index key without the slot at its end.
#[inline]
pub(crate) fn without_slot(key: Key<'_>) -> Key<'_> {
    key.without_last(4)
}

/// Calls `take` with every scalar of `value` in a property index: itself, or the members of a set.
pub(crate) fn for_each_indexed(value: &Value, mut take: impl FnMut(&Value)) {
    match value {
        Value::Set(values) => values.iter().for_each(|value| take(&value)),
        value if is_indexable(value) => take(value),
        _ => {}
    }
}

/// Appends the key of a value.
pub(crate) fn append_value_key(scalar: &Value, slot: u32, key: &mut Vec<u8>) {
    append_index_key(scalar, key);
    key.extend_from_slice(&slot.to_be_bytes());
}

/// Appends the key of a time. Units: microseconds since 1970.
pub(crate) fn append_time_key(micros: i64, slot: u32, key: &mut Vec<u8>) {
    append_value_key(&Value::Timestamp(Instant::from_checked_micros(micros)), slot, key);
}

/// The key of an instance at a time. Units: microseconds since 1970.
pub(crate) fn time_key(micros: i64, slot: u32) -> Vec<u8> {
    let mut key = Vec::with_capacity(13);
    append_time_key(micros, slot, &mut key);
    key
}

/// Appends the key of an id.
pub(crate) fn append_id_key(id: &Id, slot: u32, key: &mut Vec<u8>) {
    append_id(id, key);
    key.extend_from_slice(&slot.to_be_bytes());
}

/// Appends an id so that ids are in order, and none is a prefix of another.
pub(crate) fn append_id(id: &Id, out: &mut Vec<u8>) {
    match id.uuid_bytes() {
        Some(bytes) => {
            out.push(0);
            out.extend_from_slice(bytes);
        }
        None => {
            // Texts of ids have no control characters, and so no zero bytes.
            out.push(1);
            out.extend_from_slice(id.text().unwrap_or_default().as_bytes());
            out.push(0);
        }
    }
}
