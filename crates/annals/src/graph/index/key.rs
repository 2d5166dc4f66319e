//! Keys of indexes: the key of a value, then the slot of the instance that has it.

use crate::model::{Value, append_index_key, is_indexable};

/// The slot at the end of an index key.
pub(crate) fn slot_of_key(key: &[u8]) -> u32 {
    let slot = key[key.len() - 4..].try_into().expect("index keys end with a slot of four bytes");
    u32::from_be_bytes(slot)
}

/// An index key without the slot at its end.
#[inline]
pub(crate) fn without_slot(key: &[u8]) -> &[u8] {
    &key[..key.len() - 4]
}

/// Calls `take` with every scalar that `value` puts into a property index: itself, or the members of a set.
pub(crate) fn for_each_indexed(value: &Value, mut take: impl FnMut(&Value)) {
    match value {
        Value::Set(values) => values.iter().for_each(|value| take(&value)),
        value if is_indexable(value) => take(value),
        _ => {}
    }
}

/// Appends the key of a value.
pub(crate) fn value_key(scalar: &Value, slot: u32, key: &mut Vec<u8>) {
    append_index_key(scalar, key);
    key.extend_from_slice(&slot.to_be_bytes());
}
