//! Values in paths and trees: a text becomes a value of the declared type if it parses as one.

use std::sync::Arc;

use crate::model::{AttributeDefinition, Value, ValueType};

/// `value` converted to this type; unchanged if it cannot be converted.
pub(crate) fn coerced(value: &Value, value_type: ValueType) -> Value {
    match (value, value_type) {
        (Value::Integer(number), ValueType::String) => Value::from(number.to_string()),
        (Value::Boolean(flag), ValueType::String) => Value::from(flag.to_string()),
        _ => read_as(value, value_type),
    }
}

/// The same, but a number and a truth value never become texts.
fn read_as(value: &Value, value_type: ValueType) -> Value {
    if value_type == ValueType::Any || value.value_type() == value_type {
        return value.clone();
    }
    let found = match (value, value_type) {
        (Value::Integer(number), ValueType::Float) => Some(Value::Float(*number as f64)),
        (Value::Integer(number), ValueType::Decimal) => Some(Value::Decimal((*number).into())),
        (Value::Float(number), ValueType::Decimal) => {
            rust_decimal::Decimal::from_str_exact(&number.to_string()).ok().map(Value::Decimal)
        }
        (Value::String(text), _) => read(text, value_type),
        _ => None,
    };
    found.unwrap_or_else(|| value.clone())
}

impl AttributeDefinition {
    /// The value as this attribute declares it, if it can be read so: a whole number as a float or a decimal, a text as a
    /// value that has this form, such as a date, and a list as a set if the attribute has many values. Items of lists and
    /// maps are read in the same way. Otherwise it is the value itself, which a commit refuses.
    ///
    /// ```
    /// use annals::{AttributeDefinition, Value, ValueType};
    /// let size = AttributeDefinition::new("size", ValueType::Float);
    /// assert_eq!(size.read(&Value::from(2)), Value::Float(2.0));
    /// ```
    #[must_use]
    pub fn read(&self, value: &Value) -> Value {
        declared_by(value, self, read_as)
    }
}

/// The same for an item of a tree, in which a number or a truth value may stand for a text.
pub(crate) fn coerced_leaf(value: &Value, attribute: &AttributeDefinition) -> Value {
    declared_by(value, attribute, coerced)
}

fn declared_by(
    value: &Value,
    attribute: &AttributeDefinition,
    read: impl Fn(&Value, ValueType) -> Value,
) -> Value {
    let AttributeDefinition { value_type, item_type, is_many, .. } = attribute;
    let one = |value: &Value| match (read(value, *value_type), item_type) {
        (Value::List(items), Some(item_type)) => {
            Value::List(items.iter().map(|item| read(item, *item_type)).collect::<Vec<_>>().into())
        }
        (Value::Map(entries), Some(item_type)) => {
            let entries = entries.iter().map(|(name, item)| (Arc::clone(name), read(item, *item_type)));
            Value::Map(Arc::new(entries.collect()))
        }
        (value, _) => value,
    };
    let set = |values: Vec<Value>| Value::set(values).unwrap_or_else(|_| value.clone());
    match value {
        Value::List(items) if *is_many => set(items.iter().map(one).collect()),
        Value::Set(values) => set(values.iter().map(|value| one(&value)).collect()),
        value => one(value),
    }
}

fn read(text: &str, value_type: ValueType) -> Option<Value> {
    match value_type {
        ValueType::Boolean => text.parse().ok().map(Value::Boolean),
        ValueType::Integer => text.parse().ok().map(Value::Integer),
        ValueType::Float => text.parse().ok().map(Value::Float),
        ValueType::Decimal => rust_decimal::Decimal::from_str_exact(text).ok().map(Value::Decimal),
        ValueType::Date => text.parse().ok().map(Value::Date),
        ValueType::Timestamp => text.parse().ok().map(Value::Timestamp),
        ValueType::Duration => text.parse().ok().map(Value::Duration),
        ValueType::Uuid => uuid::Uuid::parse_str(text).ok().map(|uuid| Value::Uuid(uuid.into_bytes())),
        ValueType::Iri => Some(Value::Iri(text.into())),
        _ => None,
    }
}
