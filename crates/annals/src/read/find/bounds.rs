//! The stretch of an index in which everything that fulfils a condition lies.

use std::ops::Bound as Edge;

use super::value_test::ValueTest;
use crate::graph::key_set::{KeySet, Range};
use crate::model::{Value, append_index_key, append_numeric_prefix, append_text_prefix};
use crate::search::Operator;

/// From the first key that counts to the first that does not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Bounds {
    pub(super) low: Vec<u8>,
    pub(super) high: Option<Vec<u8>>,
}

impl Bounds {
    /// True if some keys lie outside.
    pub(super) fn is_narrow(&self) -> bool {
        !self.low.is_empty() || self.high.is_some()
    }

    /// What lies within both.
    pub(super) fn intersect(&mut self, other: &Bounds) {
        if other.low > self.low {
            self.low.clone_from(&other.low);
        }
        self.high = match (self.high.take(), &other.high) {
            (Some(one), Some(other)) => Some(one.min(other.clone())),
            (one, other) => one.or_else(|| other.clone()),
        };
    }

    /// The keys that can fulfil a condition, in stretches: more may lie within, none outside. `None` if an index does
    /// not tell.
    pub(super) fn of(test: &ValueTest) -> Option<Vec<Bounds>> {
        let first = test.values.first();
        if test.values.iter().any(|value| !value.is_scalar()) {
            return None;
        }
        if test.is_of_text() && !matches!(test.operator, Operator::Equal | Operator::Prefix) {
            return None;
        }
        Some(match (test.operator, first) {
            (Operator::Equal | Operator::In, _) if test.is_of_text() => return None,
            (Operator::Prefix, _) if test.pattern_ignores_case() => return None,
            (Operator::Prefix, Some(prefix)) => {
                let mut key = Vec::new();
                append_text_prefix(prefix, &mut key);
                vec![Bounds::starting_with(key)]
            }
            // The members of sets stand in the index; lists do not, so only sets could be found.
            (Operator::Equal, Some(value)) => vec![Bounds::starting_with(key_of(value))],
            (Operator::In, _) => {
                let mut stretches: Vec<Bounds> =
                    test.values.iter().map(|value| Bounds::starting_with(key_of(value))).collect();
                stretches.sort_by(|a, b| a.low.cmp(&b.low));
                stretches.dedup();
                stretches
            }
            (Operator::Less | Operator::LessOrEqual, Some(value)) => vec![Bounds::up_to(value)],
            (Operator::Greater | Operator::GreaterOrEqual, Some(value)) => vec![Bounds::from(value)],
            (Operator::Between, Some(low)) => {
                let mut bounds = Bounds::from(low);
                bounds.intersect(&Bounds::up_to(test.values.get(1)?));
                vec![bounds]
            }
            _ => return None,
        })
    }

    fn starting_with(key: Vec<u8>) -> Bounds {
        let high = successor(&key);
        Bounds { low: key, high }
    }

    fn up_to(value: &Value) -> Bounds {
        let key = key_of(value);
        Bounds { low: vec![key[0]], high: successor(&key) }
    }

    fn from(value: &Value) -> Bounds {
        let key = key_of(value);
        let high = successor(&key[..1]);
        Bounds { low: key, high }
    }
}

/// What the keys of a scalar and its equals begin with: numbers of different kinds share only their beginning.
fn key_of(value: &Value) -> Vec<u8> {
    let mut key = Vec::new();
    if !append_numeric_prefix(value, &mut key) {
        append_index_key(value, &mut key);
    }
    key
}

/// The smallest key that is greater than all keys beginning with `key`; `None` if there is none.
fn successor(key: &[u8]) -> Option<Vec<u8>> {
    let last = key.iter().rposition(|&byte| byte != 0xFF)?;
    let mut next = key[..=last].to_vec();
    next[last] += 1;
    Some(next)
}

impl Bounds {
    /// The keys of a string, or of all that begin with it.
    pub(super) fn of_text(text: &str, is_prefix: bool) -> Bounds {
        let value = Value::from(text);
        let mut key = Vec::new();
        if is_prefix {
            append_text_prefix(&value, &mut key)
        } else {
            append_index_key(&value, &mut key)
        }
        Bounds::starting_with(key)
    }

    /// The keys of all strings and IRIs, which stand side by side.
    pub(super) fn texts() -> Bounds {
        let (first, last) = (key_of(&Value::from(""))[0], key_of(&Value::Iri("".into()))[0]);
        Bounds { low: vec![first], high: Some(vec![last + 1]) }
    }

    /// The keys of a set within.
    pub(super) fn range<'k>(&self, set: &'k KeySet) -> Range<'k> {
        set.range(Edge::Included(&self.low), self.high.as_deref().map_or(Edge::Unbounded, Edge::Excluded))
    }
}
