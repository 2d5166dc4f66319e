//! Checks values against their attributes.

use std::cmp::Ordering;

use regex::Regex;

use crate::model::{AttributeDefinition, Value, ValueType};
use crate::{Error, ErrorKind, Result};

/// Checks `value` against the attribute that declares it.
pub(crate) fn check_value(type_name: &str, attribute: &AttributeDefinition, value: &Value) -> Result<()> {
    let fits =
        |value: &Value| fits_type(value, attribute.value_type) && fits_items(value, attribute.item_type);
    let is_right = match (value, attribute.is_many) {
        (Value::Set(values), true) => values.iter().all(|value| fits(&value)),
        (Value::Set(_), false) | (_, true) => false,
        (value, false) => fits(value),
    };
    if is_right {
        return Ok(());
    }
    let found = if let Value::Set(_) = value { "a set of values" } else { value.value_type().name() };
    let many = if attribute.is_many { "a set of " } else { "" };
    let items = attribute.item_type.map(|item_type| format!(" of {}", item_type.name())).unwrap_or_default();
    Err(Error::new(
        ErrorKind::InvalidProperty,
        format!(
            "type {type_name}, attribute {}: expected {many}{}{items}, found {found}",
            attribute.name,
            attribute.value_type.name()
        ),
    ))
}

/// Checks `value`, which has the type of its attribute, against the minimum, the maximum and the pattern.
pub(crate) fn check_limits(
    type_name: &str,
    attribute: &AttributeDefinition,
    pattern: Option<&Regex>,
    value: &Value,
) -> Result<()> {
    let AttributeDefinition { name, minimum, maximum, .. } = attribute;
    if let Value::Set(values) = value {
        return values.iter().try_for_each(|value| check_limits(type_name, attribute, pattern, &value));
    }
    let wrong = |expected: String| {
        let found = shown(value);
        let text = format!("type {type_name}, attribute {name}: expected {expected}, found {found}");
        Err(Error::new(ErrorKind::InvalidProperty, text))
    };
    for (limit, beyond, word) in [(minimum, Ordering::Less, "least"), (maximum, Ordering::Greater, "most")] {
        if let Some(limit) = limit
            && value.compare(limit) == Some(beyond)
        {
            return wrong(format!("at {word} {}", shown(limit)));
        }
    }
    match (pattern, value.as_str()) {
        (Some(pattern), Some(text)) if !pattern.is_match(text) => {
            wrong(format!("what matches {}", attribute.pattern.as_deref().unwrap_or_default()))
        }
        _ => Ok(()),
    }
}

/// A value in the text of an error: as users write it, and shortened if it is long.
pub(crate) fn shown(value: &Value) -> String {
    const LENGTH_MAX: usize = 100; // characters
    let text = match value {
        Value::Boolean(boolean) => boolean.to_string(),
        Value::Integer(number) => number.to_string(),
        Value::Float(number) => number.to_string(),
        Value::Decimal(number) => number.to_string(),
        Value::Date(date) => date.to_string(),
        Value::Timestamp(instant) => instant.to_string(),
        Value::Duration(duration) => duration.to_string(),
        Value::String(text) | Value::Iri(text) => format!("{:?}", &**text),
        Value::Literal(literal) => format!("{:?} ({})", literal.text(), literal.meaning().text()),
        Value::Set(_) => "a set of values".to_owned(),
        other => other.value_type().name().to_owned(),
    };
    match text.char_indices().nth(LENGTH_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

pub(crate) fn fits_type(value: &Value, value_type: ValueType) -> bool {
    value_type == ValueType::Any || value.value_type() == value_type
}

pub(crate) fn fits_items(value: &Value, item_type: Option<ValueType>) -> bool {
    let Some(item_type) = item_type else { return true };
    match value {
        Value::List(items) => items.iter().all(|item| fits_type(item, item_type)),
        Value::Map(items) => items.values().all(|item| fits_type(item, item_type)),
        _ => true,
    }
}
