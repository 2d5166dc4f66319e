//! Values in paths and trees: a text becomes a value of the declared type if it parses as one.

use crate::model::{Value, ValueType};

/// `value` converted to this type; unchanged if it cannot be converted.
pub(crate) fn coerced(value: &Value, value_type: ValueType) -> Value {
    if value_type == ValueType::Any || value.value_type() == value_type {
        return value.clone();
    }
    let found = match (value, value_type) {
        (Value::Integer(number), ValueType::String) => Some(Value::from(number.to_string())),
        (Value::Boolean(flag), ValueType::String) => Some(Value::from(flag.to_string())),
        #[allow(clippy::cast_precision_loss)]
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
