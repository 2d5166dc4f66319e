//! Whether a value is what its attribute declares.

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
