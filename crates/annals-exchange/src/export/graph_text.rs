//! Properties as texts, for formats with few types.

use std::collections::BTreeMap;

use annals::Value;
use annals_json::json_of;

use crate::text::value_to_text;

/// The text of a value: texts unchanged, other short scalars as in searches, and bytes, literals and all others as JSON.
pub(super) fn plain_text(value: &Value) -> String {
    match value {
        Value::String(text) | Value::Iri(text) => text.to_string(),
        value if !is_json(value) => value_to_text(value),
        other => String::from_utf8_lossy(&json_of(other)).into_owned(),
    }
}

/// True for values that no plain text can keep.
pub(super) fn is_json(value: &Value) -> bool {
    !value.is_scalar() || matches!(value, Value::Bytes(_) | Value::Literal(_))
}

/// The types of properties in the words of a format, by name.
pub(super) type TypeNames = BTreeMap<String, &'static str>;

/// Notes the type of each property; values of several types are all written as text.
pub(super) fn note_types<'p>(
    names: &mut TypeNames,
    properties: impl Iterator<Item = (&'p str, Value)>,
    type_of: fn(&Value) -> &'static str,
) {
    for (name, value) in properties {
        let found = type_of(&value);
        match names.get_mut(name) {
            Some(known) if *known == found => {}
            Some(known) => *known = "string",
            None => drop(names.insert(name.to_owned(), found)),
        }
    }
}

/// The properties by name.
pub(super) fn by_name<'p>(properties: impl Iterator<Item = (&'p str, Value)>) -> Vec<(&'p str, Value)> {
    let mut named: Vec<(&str, Value)> = properties.collect();
    named.sort_unstable_by_key(|(name, _)| *name);
    named
}
