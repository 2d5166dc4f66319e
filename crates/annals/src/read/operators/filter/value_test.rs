//! Compares values for a condition.

use std::cmp::Ordering;

use crate::Result;
use crate::model::{Value, append_index_key, append_numeric_prefix};
use crate::search::{Condition, Operator, Pattern};

/// An `in` of more values is looked up in a sorted list.
const VALUES_FEW: usize = 8;
/// Enough bytes for the key of most scalars other than texts.
const KEY_BYTES_FEW: usize = 24;

/// A condition, ready to check values.
pub(in crate::read) struct ValueTest {
    pub(in crate::read) operator: Operator,
    pub(in crate::read) values: Vec<Value>,
    pub(in crate::read) pattern: Option<Pattern>,
    ignores_case: bool,
    // If there are many values: each with the common prefix of the keys of equal values.
    sorted: Vec<(Vec<u8>, Value)>,
}

/// The common prefix of the index keys of a scalar and its equals: keys of numbers of different kinds have only this in
/// common.
pub(in crate::read) fn key_of(value: &Value) -> Vec<u8> {
    let mut key = Vec::with_capacity(KEY_BYTES_FEW);
    if !append_numeric_prefix(value, &mut key) {
        append_index_key(value, &mut key);
    }
    key
}

impl ValueTest {
    pub(in crate::read) fn new(condition: &Condition, values: Vec<Value>) -> Result<ValueTest> {
        let pattern =
            Pattern::of(condition)?.filter(|_| condition.operator.is_textual() || condition.ignores_case);
        let mut sorted = Vec::new();
        if values.len() > VALUES_FEW {
            sorted = values.iter().map(|value| (key_of(value), value.clone())).collect();
            sorted.sort();
        }
        let ignores_case = condition.ignores_case;
        Ok(ValueTest { operator: condition.operator, values, pattern, ignores_case, sorted })
    }

    /// True if it only checks the text of strings.
    pub(in crate::read) fn is_of_text(&self) -> bool {
        self.pattern.is_some() && self.operator != Operator::NotEqual
    }

    /// True if a prefix may have another case.
    pub(in crate::read) fn pattern_ignores_case(&self) -> bool {
        self.ignores_case
    }

    /// True if the value of a field fulfils the condition.
    pub(in crate::read) fn holds(&self, held: Option<&Value>) -> bool {
        match (self.operator, held) {
            (Operator::Missing, held) => held.is_none(),
            (_, None) => false,
            (Operator::Exists, Some(_)) => true,
            (Operator::NotEqual, Some(Value::Set(values))) => {
                !values.iter().any(|value| self.is_equal(&value))
            }
            (Operator::NotEqual, Some(value)) => !self.is_equal(value),
            (Operator::Has, Some(Value::List(values))) => values.iter().any(|value| self.is_equal(value)),
            (Operator::Has, Some(Value::Set(values))) => values.iter().any(|value| self.is_equal(&value)),
            (Operator::Has, Some(_)) => false,
            (_, Some(Value::Set(values))) => values.iter().any(|value| self.holds_for(&value)),
            (_, Some(value)) => self.holds_for(value),
        }
    }

    /// The text that a value must equal, if that is the condition.
    pub(in crate::read) fn equal_text(&self) -> Option<&str> {
        if self.operator != Operator::Equal || self.ignores_case {
            return None;
        }
        self.values.first()?.as_str()
    }

    fn is_equal(&self, value: &Value) -> bool {
        match &self.pattern {
            Some(pattern) if self.ignores_case => value.as_str().is_some_and(|text| pattern.is_match(text)),
            _ => self.values.first().is_some_and(|wanted| is_equal(value, wanted)),
        }
    }

    /// True if one scalar fulfils the condition.
    pub(in crate::read) fn holds_for(&self, value: &Value) -> bool {
        if let Some(pattern) = &self.pattern {
            return self.text_of(value).is_some_and(|text| pattern.is_match(text));
        }
        let order = |at: usize| self.values.get(at).and_then(|wanted| value.compare(wanted));
        match self.operator {
            Operator::Equal => order(0).is_some_and(Ordering::is_eq),
            Operator::Less => order(0).is_some_and(Ordering::is_lt),
            Operator::LessOrEqual => order(0).is_some_and(Ordering::is_le),
            Operator::Greater => order(0).is_some_and(Ordering::is_gt),
            Operator::GreaterOrEqual => order(0).is_some_and(Ordering::is_ge),
            Operator::Between => {
                order(0).is_some_and(Ordering::is_ge) && order(1).is_some_and(Ordering::is_le)
            }
            Operator::In if self.sorted.is_empty() => {
                self.values.iter().any(|wanted| is_equal(value, wanted))
            }
            Operator::In => {
                let prefix = key_of(value);
                let from = self.sorted.partition_point(|(known, _)| *known < prefix);
                let same = self.sorted[from..].iter().take_while(|(known, _)| *known == prefix);
                same.into_iter().any(|(_, wanted)| is_equal(value, wanted))
            }
            _ => false,
        }
    }

    /// The text that a pattern tests. Equality is exact: a text in a language equals no string.
    fn text_of<'v>(&self, value: &'v Value) -> Option<&'v str> {
        match self.operator {
            // A prefix tests texts, or IRIs; all other operators test both.
            Operator::Prefix if self.is_of_iris() != matches!(value, Value::Iri(_)) => None,
            operator if operator.is_textual() => value.text(),
            _ => value.as_str(),
        }
    }

    fn is_of_iris(&self) -> bool {
        self.values.first().is_some_and(|wanted| matches!(wanted, Value::Iri(_)))
    }

    /// The same for a string, without making a value.
    #[inline]
    pub(in crate::read) fn holds_for_text(&self, text: &str) -> bool {
        let is_of_kind = self.operator != Operator::Prefix || !self.is_of_iris();
        is_of_kind && self.pattern.as_ref().is_some_and(|pattern| pattern.is_match(text))
    }
}

fn is_equal(a: &Value, b: &Value) -> bool {
    a.compare(b).is_some_and(Ordering::is_eq)
}
