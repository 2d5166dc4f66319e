//! The stretch of an index in which everything that fulfils a condition lies.

use std::ops::Bound as Edge;
use std::sync::Arc;

use super::value_test::ValueTest;
use crate::graph::key_set::{KeySet, Range};
use crate::model::{
    Value, append_index_key, append_numeric_prefix, append_text_prefix, has_own_key, key_is_cut,
};
use crate::search::{Operator, Pattern};

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
            (Operator::Prefix, Some(prefix)) => vec![Bounds::of_prefix(prefix)],
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

    /// The stretch in which every key that holds its whole value fulfils the condition, however it is compared. `None`
    /// if none is known.
    pub(super) fn surely(test: &ValueTest) -> Option<Bounds> {
        let first = test.values.first().filter(|value| value.is_scalar())?;
        match test.operator {
            Operator::Prefix if !test.pattern_ignores_case() && has_own_key(first) => {
                Some(Bounds::of_prefix(first))
            }
            _ if test.is_of_text() => None,
            // Numbers that share the beginning of their keys may differ.
            Operator::Equal if has_own_key(first) && !is_number(first) => {
                Some(Bounds::starting_with(key_of(first)))
            }
            Operator::Less | Operator::LessOrEqual => Some(Bounds::below(first)),
            Operator::Greater | Operator::GreaterOrEqual => Bounds::above(first),
            Operator::Between => {
                let mut bounds = Bounds::above(first)?;
                bounds.intersect(&Bounds::below(test.values.get(1).filter(|value| value.is_scalar())?));
                Some(bounds)
            }
            _ => None,
        }
    }

    /// True if the key lies within.
    pub(super) fn holds(&self, key: &[u8]) -> bool {
        *key >= self.low[..] && self.high.as_deref().is_none_or(|high| key < high)
    }

    fn of_prefix(prefix: &Value) -> Bounds {
        let mut key = Vec::new();
        append_text_prefix(prefix, &mut key);
        Bounds::starting_with(key)
    }

    // What is less, whatever shares the beginning of its key with `value`.
    fn below(value: &Value) -> Bounds {
        let key = key_of(value);
        Bounds { low: vec![key[0]], high: Some(key) }
    }

    // What is greater.
    fn above(value: &Value) -> Option<Bounds> {
        let key = key_of(value);
        Some(Bounds { low: successor(&key)?, high: successor(&key[..1]) })
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

fn is_number(value: &Value) -> bool {
    append_numeric_prefix(value, &mut Vec::new())
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
    /// The keys of the strings that a pattern admits, and of the IRIs; more may lie within, none outside. `None` if they
    /// do not stand together.
    pub(super) fn of_pattern(pattern: &Pattern) -> Option<[Bounds; 2]> {
        let (text, is_prefix) = match pattern {
            // What is found is asked for line breaks.
            Pattern::OneLine(pattern) => return Bounds::of_pattern(pattern),
            Pattern::Equal(text) => (text, false),
            Pattern::Prefix(text) => (text, true),
            Pattern::Suffix(_) | Pattern::Contains(_) | Pattern::Matches(_) => return None,
        };
        let keys = |value: Value| match is_prefix {
            true => Bounds::of_prefix(&value),
            false => Bounds::starting_with(key_of(&value)),
        };
        Some([keys(Value::from(&**text)), keys(Value::Iri(Arc::from(&**text)))])
    }

    /// The keys of all IRIs.
    pub(super) fn iris() -> Bounds {
        let key = key_of(&Value::Iri("".into()));
        Bounds { low: vec![key[0]], high: successor(&key[..1]) }
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

/// The stretch in which keys decide, made ready to be asked of many.
pub(super) struct Sure<'b> {
    bounds: &'b Bounds,
    // The first bytes of both ends, as numbers.
    low: u64,
    high: u64,
}

impl<'b> Sure<'b> {
    pub(super) fn new(bounds: &'b Bounds) -> Sure<'b> {
        let high = bounds.high.as_deref().map_or(u64::MAX, head);
        Sure { bounds, low: head(&bounds.low), high }
    }

    /// True if a key of an index, which ends with a slot, lies within and holds its whole value.
    #[inline]
    pub(super) fn holds(&self, key: &[u8]) -> bool {
        let head = head(key);
        // Most keys differ from both ends in their first bytes.
        let is_within = self.low < head && head < self.high || self.bounds.holds(key);
        is_within && !key_is_cut(&key[..key.len() - 4])
    }
}

/// The first eight bytes, as many as there are, in the order of their bytes.
#[inline]
fn head(key: &[u8]) -> u64 {
    if let Some(bytes) = key.first_chunk() {
        return u64::from_be_bytes(*bytes);
    }
    key.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)) << (8 * (8 - key.len()) % 64)
}

#[cfg(test)]
mod tests {
    use crate::model::{NewEntity, TypeKind, Value};
    use crate::{Find, Repository, Result};

    #[test]
    fn a_pattern_of_a_property_finds_strings_and_iris_by_every_plan() -> Result<()> {
        let repository = Repository::in_memory();
        let long = "l".repeat(130);
        repository.transact(|t| {
            let values = [
                Value::Iri("link one".into()),
                "link one".into(),
                "link\none".into(),
                "lin".into(),
                Value::from(&*long),
                Value::from(&*"l".repeat(120)),
            ];
            values.into_iter().try_for_each(|value| {
                t.create_entity(NewEntity::new("t").property("a", value.clone()))?;
                t.create_entity(NewEntity::new("t").property("b", value)).map(drop)
            })?;
            t.create_entity(NewEntity::new("t").property("c", "link one")).map(drop)
        })?;
        let snapshot = repository.snapshot();
        let prefix = format!("a =~ /{long}.*/");
        for (condition, count) in [
            ("a =~ /link one/", 2),
            ("a =~ /link.*/", 2),
            ("a =~ /(?s:link.*)/", 3),
            ("c =~ /link.*/", 1),
            (&*prefix, 1),
        ] {
            for order in ["", " order by a", " order by a desc", " order by c", " order by @id"] {
                let find = Find::parse(&format!("t where {condition}{order}"))?;
                assert_eq!(snapshot.find_entities(&find)?.items.len(), count, "{condition}{order}");
                for plan in 0.. {
                    let page = snapshot.find_ids_by_plan(TypeKind::Entity, &find, plan)?;
                    let Some(page) = page else { break };
                    assert_eq!(page.items.len(), count, "{condition}{order} by plan {plan}");
                }
            }
        }
        Ok(())
    }
}
