//! The values of a multi-valued property: a set that shares its unchanged parts with the version before.
#![expect(clippy::expect_used, reason = "the key of a short value is the whole value")]

use std::cmp::Ordering;
use std::hash::BuildHasher;
use std::sync::Arc;

use super::Value;
use crate::structures::key_set::leaf::KEY_BYTES_MAX;
use crate::structures::key_set::{Key, KeySet};
use crate::structures::number::narrow;
use crate::structures::vector::Vector;
use crate::{Error, ErrorKind, Result};

/// Sets of at most this many values are one sorted block.
const FEW_MAX: usize = 24;
/// A value with a longer exact key is stored beside the tree, which then holds its beginning and its hash.
const KEY_WHOLE_MAX: usize = 256;
/// Marks the key of a long value. No exact key ends with it: texts end with `00 00`, all other keys are short.
const LONG_MARK: [u8; 2] = [0, 3];

/// An ordered set of scalars. Adding the 10,000th value costs as much as adding the tenth.
#[derive(Clone, Debug)]
pub struct ValueSet(Form);

// Invariant: `Few` up to FEW_MAX values, `Many` above, so equal sets have equal forms.
#[derive(Clone)]
enum Form {
    Few(Arc<[Value]>),
    Many(Arc<Many>),
}

#[derive(Clone, Default)]
struct Many {
    // Shape of a key: the exact key of a value; or for a long one its beginning, LONG_MARK, its hash (8) and its index
    // in `long` (4).
    keys: KeySet,
    long: Vector<Option<Value>>,
}

impl ValueSet {
    /// The empty set.
    pub fn new() -> ValueSet {
        ValueSet(Form::Few([].into()))
    }

    /// Number of values.
    pub fn len(&self) -> usize {
        match &self.0 {
            Form::Few(values) => values.len(),
            Form::Many(many) => many.keys.len(),
        }
    }

    /// True if the set is one block, which is copied as a whole.
    pub(crate) fn is_few(&self) -> bool {
        matches!(self.0, Form::Few(_))
    }

    /// True if the set has no value.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds `value`; false if the set had it already.
    ///
    /// Errors: `InvalidArgument` for lists, maps and sets.
    pub fn insert(&mut self, value: &Value) -> Result<bool> {
        if !value.is_scalar() {
            return Err(Error::new(
                ErrorKind::InvalidArgument,
                format!(
                    "set: expected scalar values, found a {}; use a list to nest values",
                    value.value_type().name()
                ),
            ));
        }
        match &mut self.0 {
            Form::Many(many) => Ok(Arc::make_mut(many).insert(value)),
            Form::Few(values) => {
                let Err(at) = values.binary_search(value) else { return Ok(false) };
                let mut longer = values.to_vec();
                longer.insert(at, value.clone());
                self.0 = if longer.len() <= FEW_MAX {
                    Form::Few(longer.into())
                } else {
                    let mut many = Many::default();
                    longer.iter().for_each(|value| {
                        many.insert(value);
                    });
                    Form::Many(Arc::new(many))
                };
                Ok(true)
            }
        }
    }

    /// Removes `value`; false if the set did not have it.
    pub fn remove(&mut self, value: &Value) -> bool {
        match &mut self.0 {
            Form::Few(values) => {
                let Ok(at) = values.binary_search(value) else { return false };
                let mut shorter = values.to_vec();
                shorter.remove(at);
                *values = shorter.into();
                true
            }
            Form::Many(many) => {
                let is_removed = Arc::make_mut(many).remove(value);
                if many.keys.len() <= FEW_MAX {
                    let mut few: Vec<Value> = many.iter().collect();
                    few.sort();
                    self.0 = Form::Few(few.into());
                }
                is_removed
            }
        }
    }

    /// True if `value` is a member.
    pub fn contains(&self, value: &Value) -> bool {
        match &self.0 {
            Form::Few(values) => values.binary_search(value).is_ok(),
            Form::Many(many) => many.find(value).is_some(),
        }
    }

    /// The values, each once, in an order that depends only on the set's members and size.
    pub fn iter(&self) -> impl Iterator<Item = Value> + '_ {
        let (few, many) = match &self.0 {
            Form::Few(values) => (Some(values), None),
            Form::Many(many) => (None, Some(many)),
        };
        few.into_iter()
            .flat_map(|values| values.iter().cloned())
            .chain(many.into_iter().flat_map(|many| many.iter()))
    }
}

impl Many {
    /// The key of `value`, if it is a member.
    fn find(&self, value: &Value) -> Option<Vec<u8>> {
        let key = member_key(value);
        if !is_long(&key) {
            return self.keys.contains(&key).then_some(key);
        }
        let found = self.keys.prefix(&key).find(|key| self.long_value(*key) == Some(value))?;
        Some(found.to_vec())
    }

    fn insert(&mut self, value: &Value) -> bool {
        if self.find(value).is_some() {
            return false;
        }
        let mut key = member_key(value);
        if is_long(&key) {
            let index: u32 = narrow(self.long.len());
            key.extend_from_slice(&index.to_be_bytes());
            self.long.push(Some(value.clone()));
        }
        self.keys.insert(&key)
    }

    fn remove(&mut self, value: &Value) -> bool {
        let Some(key) = self.find(value) else { return false };
        if let Some(index) = long_index(Key::from(&key[..])) {
            self.long.set(index, None);
        }
        self.keys.remove(&key)
    }

    fn iter(&self) -> impl Iterator<Item = Value> + '_ {
        let mut bytes = Vec::new();
        self.keys.iter().map(move |key| match self.long_value(key) {
            Some(value) => value.clone(),
            None => {
                key.write_to(&mut bytes);
                Value::from_key(&bytes).expect("a set holds only exact keys and long ones")
            }
        })
    }

    fn long_value(&self, key: Key) -> Option<&Value> {
        self.long.get(long_index(key)?)?.as_ref()
    }
}

const LONG_KEY_BYTES: usize = KEY_WHOLE_MAX + LONG_MARK.len() + 8;
const _: () = assert!(LONG_KEY_BYTES + 4 <= KEY_BYTES_MAX);

fn is_long(key: &[u8]) -> bool {
    key.len() == LONG_KEY_BYTES
}

/// The index at the end of the key of a long value.
fn long_index(key: Key) -> Option<usize> {
    (key.len() == LONG_KEY_BYTES + 4).then(|| key.last_u32() as usize)
}

fn member_key(value: &Value) -> Vec<u8> {
    let mut key = Vec::with_capacity(24);
    value.append_exact_key(&mut key);
    if key.len() > KEY_WHOLE_MAX {
        let hash = foldhash::quality::FixedState::default().hash_one(&key);
        key.truncate(KEY_WHOLE_MAX);
        key.extend_from_slice(&LONG_MARK);
        key.extend_from_slice(&hash.to_be_bytes());
    }
    key
}

impl Default for ValueSet {
    fn default() -> ValueSet {
        ValueSet::new()
    }
}

impl std::fmt::Debug for Form {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(ValueSet(self.clone()).iter()).finish()
    }
}

impl Ord for ValueSet {
    fn cmp(&self, other: &ValueSet) -> Ordering {
        if self == other {
            Ordering::Equal
        } else {
            self.len().cmp(&other.len()).then_with(|| self.iter().cmp(other.iter()))
        }
    }
}

impl PartialOrd for ValueSet {
    fn partial_cmp(&self, other: &ValueSet) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for ValueSet {
    fn eq(&self, other: &ValueSet) -> bool {
        self.len() == other.len() && self.iter().all(|value| other.contains(&value))
    }
}

impl Eq for ValueSet {}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        #[allow(clippy::mutable_key_type, reason = "what an index knows of its texts is no part of a value")]
        fn a_value_set_behaves_as_a_set(steps in proptest::collection::vec((any::<bool>(), 0u32..60), 0..200)) {
            let mut set = ValueSet::new();
            let mut model = BTreeSet::new();
            for (is_insert, number) in steps {
                // Long members share their first 300 bytes and have one of two lengths.
                let value = match number % 3 {
                    0 => Value::Integer(number.into()),
                    1 => Value::from(format!("{}{number}", "x".repeat(300))),
                    _ => Value::from(format!("{number}")),
                };
                if is_insert {
                    prop_assert_eq!(set.insert(&value).unwrap(), model.insert(value));
                } else {
                    prop_assert_eq!(set.remove(&value), model.remove(&value));
                }
                prop_assert_eq!(set.len(), model.len());
            }
            let mut values: Vec<Value> = set.iter().collect();
            values.sort();
            prop_assert!(values.iter().eq(model.iter()));
            prop_assert_eq!(Value::set(values).unwrap(), Value::Set(set));
        }
    }
}
