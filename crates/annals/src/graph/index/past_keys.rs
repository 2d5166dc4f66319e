//! The past values by instance: a purge removes them, and a search of the past reads those of one instance.
#![expect(clippy::expect_used, reason = "each row leads to one before it, or to none")]

use crate::graph::structures::column::Columns;
use crate::graph::structures::rows::{ROW_BYTES_MAX, Rows};
use crate::graph::structures::symbols::Symbol;
use crate::model::{INDEX_KEY_BYTES_MAX, Value};
use crate::structures::number::{bytes_at, narrow};

/// The number of a row, or of none. Units: bytes; more rows fit no memory.
const NUMBER_BYTES: usize = 5;
const NAME_BYTES: usize = 4;
/// The only column.
const NEWEST: Symbol = Symbol(0);

/// Value keys of each instance: a chain of rows, newest first.
///
/// A new row is appended after all others, of any instance: this needs no search, and the end of the vector is in the
/// cache. Shape of a row: the number of the row before plus one, or 0 (5, little endian); property (4, little endian);
/// value key.
#[derive(Clone)]
pub(crate) struct PastKeys {
    rows: Rows,
    // By slot: the number of its newest row plus one.
    newest: Columns,
}

const _: () = assert!(NUMBER_BYTES + NAME_BYTES + INDEX_KEY_BYTES_MAX <= ROW_BYTES_MAX);

impl Default for PastKeys {
    fn default() -> PastKeys {
        PastKeys { rows: Rows::new(), newest: Columns::new() }
    }
}

impl PastKeys {
    /// Adds a value key that the instance does not have.
    pub(crate) fn push(&mut self, slot: u32, name: Symbol, value_key: &[u8]) {
        let mut row = [0; NUMBER_BYTES + NAME_BYTES + INDEX_KEY_BYTES_MAX];
        let len = NUMBER_BYTES + NAME_BYTES + value_key.len();
        row[..NUMBER_BYTES].copy_from_slice(&(self.newest(slot) as u64).to_le_bytes()[..NUMBER_BYTES]);
        row[NUMBER_BYTES..NUMBER_BYTES + NAME_BYTES].copy_from_slice(&name.0.to_le_bytes());
        row[NUMBER_BYTES + NAME_BYTES..len].copy_from_slice(value_key);
        self.rows.push(&row[..len]);
        self.newest.put(NEWEST, slot, Some(&Value::Integer(narrow(self.rows.len()))));
    }

    /// The value keys of an instance, each with its property, newest first.
    pub(crate) fn of(&self, slot: u32) -> impl Iterator<Item = (Symbol, &[u8])> {
        self.numbers_of(slot).map(|number| {
            let row = self.row(number);
            (Symbol(u32::from_le_bytes(bytes_at(row, NUMBER_BYTES))), &row[NUMBER_BYTES + NAME_BYTES..])
        })
    }

    /// Removes the value keys of an instance, so that none of their bytes stays in memory.
    pub(crate) fn forget(&mut self, slot: u32) {
        let numbers: Vec<usize> = self.numbers_of(slot).collect();
        numbers.into_iter().for_each(|number| self.rows.set(number - 1, &[]));
        self.newest.put(NEWEST, slot, None);
    }

    fn numbers_of(&self, slot: u32) -> impl Iterator<Item = usize> {
        let not_none = |number: usize| (number > 0).then_some(number);
        std::iter::successors(not_none(self.newest(slot)), move |number| not_none(before(self.row(*number))))
    }

    fn newest(&self, slot: u32) -> usize {
        self.newest.get(NEWEST, slot).and_then(|number| number.as_integer()).map_or(0, narrow)
    }

    fn row(&self, number: usize) -> &[u8] {
        self.rows.get(number - 1).expect("rows lead to rows before them")
    }
}

fn before(row: &[u8]) -> usize {
    let mut number = [0; 8];
    number[..NUMBER_BYTES].copy_from_slice(&row[..NUMBER_BYTES]);
    narrow(u64::from_le_bytes(number))
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    type Model = HashMap<u32, Vec<(Symbol, Vec<u8>)>>;

    fn check(keys: &PastKeys, model: &Model) {
        for slot in 0..600 {
            let found: Vec<(Symbol, Vec<u8>)> =
                keys.of(slot).map(|(name, key)| (name, key.to_vec())).collect();
            let expected = model.get(&slot).into_iter().flatten().rev().cloned().collect::<Vec<_>>();
            assert_eq!(found, expected, "slot {slot}");
        }
    }

    proptest! {
        #[test]
        fn each_instance_has_its_keys_until_they_are_forgotten_and_clones_keep_theirs(
            steps in proptest::collection::vec((0u32..600, 0u32..3, 0usize..=INDEX_KEY_BYTES_MAX, 0u8..20), 0..300),
        ) {
            let (mut keys, mut model) = (PastKeys::default(), Model::new());
            let mut clones = Vec::new();
            for (slot, name, length, choice) in steps {
                // A few instances have most of the keys.
                let slot = if choice < 12 { slot % 5 } else { slot };
                if choice == 0 {
                    keys.forget(slot);
                    model.remove(&slot);
                } else {
                    let key = vec![choice; length];
                    keys.push(slot, Symbol(name), &key);
                    model.entry(slot).or_default().push((Symbol(name), key));
                }
                if choice == 19 {
                    clones.push((keys.clone(), model.clone()));
                }
            }
            check(&keys, &model);
            clones.iter().for_each(|(keys, model)| check(keys, model));
        }
    }

    #[test]
    fn nothing_that_was_forgotten_stays_in_memory() {
        let mut keys = PastKeys::default();
        (0..100).for_each(|slot| keys.push(slot, Symbol(0), format!("secret {}", slot % 2).as_bytes()));
        (0..100).step_by(2).for_each(|slot| keys.forget(slot));
        let left = keys.rows.iter().filter(|row| row.ends_with(b"secret 0")).count();
        assert_eq!((left, keys.rows.iter().filter(|row| row.ends_with(b"secret 1")).count()), (0, 50));
    }
}
