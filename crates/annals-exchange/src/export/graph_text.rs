//! Properties as texts, for formats with few types.

use annals::Value;
use annals_json::json_of;

/// The text of a value: texts unchanged, other short scalars as in searches, and bytes, literals and all others as JSON.
pub(super) fn plain_text(value: &Value) -> String {
    match value {
        Value::Boolean(boolean) => boolean.to_string(),
        Value::Integer(number) => number.to_string(),
        Value::Float(number) => number.to_string(),
        Value::Decimal(number) => number.to_string(),
        Value::String(text) | Value::Iri(text) => text.to_string(),
        Value::Date(date) => date.to_string(),
        Value::Timestamp(instant) => instant.to_string(),
        Value::Duration(duration) => duration.to_string(),
        Value::Uuid(bytes) => uuid::Uuid::from_bytes(*bytes).to_string(),
        other => String::from_utf8_lossy(&json_of(other)).into_owned(),
    }
}

/// The properties by name.
pub(super) fn by_name<'p>(properties: impl Iterator<Item = (&'p str, Value)>) -> Vec<(&'p str, Value)> {
    let mut named: Vec<(&str, Value)> = properties.collect();
    named.sort_unstable_by_key(|(name, _)| *name);
    named
}
