//! The range of an index that contains all matches of a condition.

use std::ops::Bound as Edge;
use std::sync::Arc;

use smallvec::{SmallVec, smallvec};

use crate::model::{Value, append_language_prefix, append_text_prefix};
use crate::read::operators::filter::value_test::{ValueTest, key_of};
use crate::search::{Operator, Pattern};
use crate::structures::key_set::{KeySet, Range};
use crate::structures::text_key::{IRI, LANGUAGE, STRING};

/// A range of keys, from its first key to the first key after it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::read) struct Bounds {
    pub(in crate::read) low: Vec<u8>,
    pub(in crate::read) high: Option<Vec<u8>>,
}

/// All keys.
pub(in crate::read) static ALL_KEYS: Bounds = Bounds { low: Vec::new(), high: None };

/// Ranges of an index: one for nearly every condition.
pub(in crate::read) type Stretches = SmallVec<[Bounds; 1]>;

impl Bounds {
    /// True if there are keys outside.
    pub(in crate::read) fn is_narrow(&self) -> bool {
        !self.low.is_empty() || self.high.is_some()
    }

    /// Its edges, the lower one first.
    pub(in crate::read) fn edges(&self) -> (Edge<&[u8]>, Edge<&[u8]>) {
        (
            self.low().map_or(Edge::Unbounded, Edge::Included),
            self.high.as_deref().map_or(Edge::Unbounded, Edge::Excluded),
        )
    }

    /// The lowest key of the range, if it has a lower bound. An empty slice is never compared: it has no place in
    /// memory, and processors that compare with a mask are slow to find that they need not read there.
    pub(in crate::read) fn low(&self) -> Option<&[u8]> {
        (!self.low.is_empty()).then_some(&self.low[..])
    }

    /// Restricts it to the common part of both.
    pub(in crate::read) fn intersect(&mut self, other: Bounds) {
        if self.low.is_empty() || other.low > self.low {
            self.low = other.low;
        }
        self.high = match (self.high.take(), other.high) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
    }

    /// The keys that can fulfil a condition, as ranges: they may contain others, but no match is outside. `None` if an
    /// index does not help.
    pub(in crate::read) fn of(test: &ValueTest) -> Option<Stretches> {
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
            (Operator::Prefix, Some(Value::String(prefix))) => {
                smallvec![Bounds::of_prefix(&test.values[0]), Bounds::of_literals(prefix, false)]
            }
            (Operator::Prefix, Some(prefix)) => smallvec![Bounds::of_prefix(prefix)],
            // The index has the members of sets, but not of lists, so only sets could be found.
            (Operator::Equal, Some(value)) => smallvec![Bounds::starting_with(key_of(value))],
            (Operator::In, _) => {
                let mut stretches: Stretches =
                    test.values.iter().map(|value| Bounds::starting_with(key_of(value))).collect();
                stretches.sort_by(|a, b| a.low.cmp(&b.low));
                stretches.dedup();
                stretches
            }
            (Operator::Less | Operator::LessOrEqual, Some(value)) => smallvec![Bounds::up_to(value)],
            (Operator::Greater | Operator::GreaterOrEqual, Some(value)) => smallvec![Bounds::from(value)],
            (Operator::Between, Some(low)) => {
                let mut bounds = Bounds::from(low);
                bounds.intersect(Bounds::up_to(test.values.get(1)?));
                smallvec![bounds]
            }
            _ => return None,
        })
    }

    /// True if the key is within the range.
    pub(in crate::read) fn holds(&self, key: &[u8]) -> bool {
        *key >= self.low[..] && self.high.as_deref().is_none_or(|high| key < high)
    }

    fn of_prefix(prefix: &Value) -> Bounds {
        let mut key = Vec::new();
        append_text_prefix(prefix, &mut key);
        Bounds::starting_with(key)
    }

    /// The texts in a language that are `text`, or else start with it.
    fn of_literals(text: &str, is_whole: bool) -> Bounds {
        let mut key = Vec::new();
        append_language_prefix(text, is_whole, &mut key);
        Bounds::starting_with(key)
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

/// The smallest key that is greater than all keys with the prefix `key`; `None` if there is none.
fn successor(key: &[u8]) -> Option<Vec<u8>> {
    let last = key.iter().rposition(|&byte| byte != 0xFF)?;
    let mut next = key[..=last].to_vec();
    next[last] += 1;
    Some(next)
}

impl Bounds {
    /// The keys of the strings, of the literals and of the IRIs that a pattern matches; a range may contain others, but
    /// no match is outside. `None` if they are not adjacent.
    pub(in crate::read) fn of_pattern(pattern: &Pattern) -> Option<[Bounds; 3]> {
        let (text, is_prefix) = match pattern {
            // Line breaks are checked when a text is found.
            Pattern::OneLine(pattern) => return Bounds::of_pattern(pattern),
            Pattern::Equal(text) => (text, false),
            Pattern::Prefix(text) => (text, true),
            Pattern::Suffix(_) | Pattern::Contains(_) | Pattern::Matches(_) => return None,
        };
        let keys = |value: Value| match is_prefix {
            true => Bounds::of_prefix(&value),
            false => Bounds::starting_with(key_of(&value)),
        };
        let literals = Bounds::of_literals(text, !is_prefix);
        Some([keys(Value::from(&**text)), literals, keys(Value::Iri(Arc::from(&**text)))])
    }

    /// The keys of all IRIs and texts in a language, which are adjacent.
    pub(in crate::read) fn other_texts() -> Bounds {
        Bounds { low: vec![IRI], high: Some(vec![LANGUAGE + 1]) }
    }

    /// The keys of all strings, IRIs and texts in a language, which are adjacent.
    pub(in crate::read) fn texts() -> Bounds {
        Bounds { low: vec![STRING], high: Some(vec![LANGUAGE + 1]) }
    }

    /// The keys of a set within the range.
    pub(in crate::read) fn range<'k>(&self, set: &'k KeySet) -> Range<'k> {
        let (low, high) = self.edges();
        set.range(low, high)
    }
}

#[cfg(test)]
mod tests {
    use crate::model::{Duration, Literal, NewEntity, TypeKind, Value};
    use crate::{Find, Operator, Repository, Result};

    #[test]
    fn a_pattern_of_a_property_finds_strings_iris_and_literals_by_every_plan() -> Result<()> {
        let repository = Repository::in_memory();
        let long = "l".repeat(130);
        let literal = |text: &str| Literal::in_language(text, "fr").map(Value::from);
        repository.transact(|t| {
            let values = [
                literal("link one")?,
                literal("link\none")?,
                literal("lin")?,
                literal(&long)?,
                literal(&"l".repeat(120))?,
                literal("ünk \0 one")?,
                Literal::with_datatype("link one", "x:y")?.into(),
                Value::Iri("link:one".into()),
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
            ("a =~ /link.*/", 3),
            ("a =~ /(?s:link.*)/", 5),
            ("c =~ /link.*/", 1),
            (&*prefix, 2),
            ("a ^= link", 4),
            ("a ^= iri('link')", 1),
            ("a ^= LINK nocase", 4),
            ("a ^= lin and a ^= link", 4),
            ("a ^= '\u{fc}nk \0'", 1),
            ("a $= one", 6),
            ("a ~= 'nk \0'", 1),
            ("a ~= ink", 5),
            ("a ~= INK nocase", 5),
            // Equality is exact, and free text ignores languages.
            ("a = 'link one'", 1),
            ("a = 'LINK one' nocase", 1),
            ("a = 'LINK:one' nocase", 1),
            ("a in ('LINK one', 'LINK:one') nocase", 2),
            ("a = literal('link one', fr)", 1),
            ("a = literal('link one', de)", 0),
            ("@text = 'link one'", 5),
            ("@text ^= link", 9),
            ("@text ~= ink", 9),
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

    /// The key of a decimal near a float begins with the same bytes, and an index does not know which is greater; keys
    /// of other kinds are shorter than the part that is compared together.
    #[test]
    fn values_at_the_edges_are_found_by_every_plan() -> Result<()> {
        let decimal = |text: &str| Value::Decimal(text.parse().unwrap());
        let scalars = [
            Value::Float(1e-30),
            decimal("0"),
            // Equal; a sum of rounded parts would give another float for each.
            decimal("192309.3386499985089410"),
            decimal("192309.338649998508941"),
            Value::Float(0.1),
            decimal("0.1"),
            decimal("0.1000000000000000055511151231"),
            decimal("0.1000000000000000055511151232"),
            Value::Float(0.1_f64.next_up()),
            Value::Integer(1),
            Value::Float(1.0),
            decimal("1.00"),
            decimal("1.00000000000000000001"),
            Value::Integer(i64::MAX),
            Value::Float(i64::MAX as f64),
            decimal("9223372036854775807.5"),
            Value::Float(f64::INFINITY),
            Value::from(""),
            Value::from("a"),
            Value::from("a\0"),
            Value::from("b"),
            Value::Iri("a:".into()),
            Literal::in_language("a", "de")?.into(),
            Literal::in_language("b", "de")?.into(),
            Literal::in_language("b", "fr")?.into(),
            Literal::with_datatype("a", "x:y")?.into(),
            Value::Date("2026-11-21".parse().unwrap()),
            Value::Date("2026-11-22".parse().unwrap()),
            Value::Boolean(false),
            Value::Boolean(true),
            Value::Uuid([0; 16]),
            Value::Uuid([0xFF; 16]),
            Value::Duration(Duration::from_micros(i64::MAX)),
        ];
        let repository = Repository::in_memory();
        repository.transact(|t| {
            scalars.iter().cycle().take(9 * scalars.len()).try_for_each(|scalar| {
                t.create_entity(NewEntity::new("t").property("a", scalar.clone())).map(drop)
            })
        })?;
        let snapshot = repository.snapshot();
        for (low, high) in scalars.iter().flat_map(|low| scalars.iter().map(move |high| (low, high))) {
            for [from, to] in [
                [Operator::GreaterOrEqual, Operator::Less],
                [Operator::Greater, Operator::LessOrEqual],
                [Operator::Equal, Operator::LessOrEqual],
            ] {
                let holds = |operator, value: &Value, edge: &Value| {
                    value.compare(edge).is_some_and(|order| match operator {
                        Operator::GreaterOrEqual => order.is_ge(),
                        Operator::Greater => order.is_gt(),
                        Operator::Equal => order.is_eq(),
                        Operator::Less => order.is_lt(),
                        _ => order.is_le(),
                    })
                };
                let is_found = |value: &&Value| holds(from, value, low) && holds(to, value, high);
                let wanted = 9 * scalars.iter().filter(is_found).count();
                let find =
                    Find::of("t").matching("a", from, low.clone()).matching("a", to, high.clone()).limit(7);
                for find in [find.clone().order_by("a"), find.order_by_descending("a")] {
                    let (mut find, mut count) = (find, 0);
                    loop {
                        let page = snapshot.find_ids_by_plan(TypeKind::Entity, &find, 0)?.unwrap();
                        let gathered = snapshot.find_ids_by_plan(TypeKind::Entity, &find, 1)?.unwrap();
                        assert_eq!((&page.items, &page.next), (&gathered.items, &gathered.next), "{find}");
                        count += page.items.len();
                        find.after = page.next;
                        if find.after.is_none() {
                            break;
                        }
                    }
                    assert_eq!(count, wanted, "{find}");
                }
            }
        }
        Ok(())
    }
}
