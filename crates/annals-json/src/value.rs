//! Values as JSON: booleans, numbers, strings, arrays and objects unchanged; every other kind as an object with one key
//! that starts with `$`.

use std::collections::BTreeMap;
use std::sync::Arc;

use annals::{Result, Value, ValueRef};
use base64::Engine;
use base64::display::Base64Display;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Number, Value as Json};

use super::form::{Form, JsonText, Text, tree};
use super::{invalid, kind};

impl Form for Value {
    fn write(&self, to: &mut JsonText) {
        match self {
            Value::Boolean(boolean) => boolean.write(to),
            Value::Integer(number) => to.serialized(number),
            Value::Float(number) if number.is_finite() => to.serialized(number),
            Value::Float(number) => tagged(to, "$float", Text(number)),
            Value::Decimal(number) => tagged(to, "$decimal", Text(number)),
            Value::String(text) => to.text(text),
            Value::Bytes(bytes) => tagged(to, "$bytes", Text(&Base64Display::new(bytes, &BASE64))),
            Value::Date(date) => tagged(to, "$date", Text(date)),
            Value::Timestamp(instant) => tagged(to, "$timestamp", instant),
            Value::Duration(duration) => tagged(to, "$duration", Text(duration)),
            Value::Uuid(bytes) => tagged(to, "$uuid", Text(&uuid::Uuid::from_bytes(*bytes))),
            Value::Iri(text) => tagged(to, "$iri", &**text),
            Value::List(values) => (**values).write(to),
            // A map that looks like a tagged form is tagged itself.
            Value::Map(values) if values.keys().any(|name| name.starts_with('$')) => {
                tagged(to, "$map", MapForm(values));
            }
            Value::Map(values) => MapForm(values).write(to),
            Value::Set(values) => tagged(to, "$set", values.iter().collect::<Vec<_>>()),
            other => to.text(&format!("{other:?}")),
        }
    }
}

/// An object with one key that names the kind of a value.
pub(crate) fn tagged(to: &mut JsonText, tag: &'static str, inner: impl Form) {
    to.object(|members| {
        members.add(tag, inner);
    });
}

impl Form for ValueRef<'_> {
    #[inline]
    fn write(&self, to: &mut JsonText) {
        match self {
            ValueRef::String(text) => to.text(text),
            ValueRef::Other(value) => value.write(to),
        }
    }
}

/// A map without a tag.
pub(crate) struct MapForm<'v>(pub(crate) &'v BTreeMap<Arc<str>, Value>);

impl Form for MapForm<'_> {
    fn write(&self, to: &mut JsonText) {
        to.object(|members| self.0.iter().for_each(|(name, value)| members.entry(name, value)));
    }
}

/// The JSON form of a value, as a tree.
pub fn value_to_json(value: &Value) -> Json {
    match value {
        Value::Boolean(boolean) => Json::Bool(*boolean),
        Value::Integer(number) => Json::from(*number),
        Value::String(text) => Json::from(&**text),
        other => tree(other),
    }
}

/// The value of a JSON form.
///
/// Errors: `InvalidArgument` for null, numbers outside the 64-bit range, unknown tags and malformed texts.
pub fn value_from_json(json: &Json) -> Result<Value> {
    Ok(match json {
        Json::Null => return Err(invalid("value: expected a value, found null; leave the property out")),
        Json::Bool(boolean) => Value::Boolean(*boolean),
        Json::Number(number) => number_from_json(number)?,
        Json::String(text) => Value::from(text.as_str()),
        Json::Array(items) => {
            Value::List(items.iter().map(value_from_json).collect::<Result<Vec<_>>>()?.into())
        }
        Json::Object(object) => {
            let mut entries = object.iter();
            match (entries.next(), object.len()) {
                (Some((tag, inner)), 1) if tag.starts_with('$') => tagged_from_json(tag, inner)?,
                _ => map_from_json(json)?,
            }
        }
    })
}

fn number_from_json(number: &Number) -> Result<Value> {
    if let Some(integer) = number.as_i64() {
        return Ok(Value::Integer(integer));
    }
    match number.as_f64() {
        Some(float) if number.is_f64() => Ok(Value::Float(float)),
        _ => Err(invalid(format!(
            "value: expected an integer of 64 bits, found {number}; write {{\"$decimal\": \"{number}\"}}"
        ))),
    }
}

fn tagged_from_json(tag: &str, inner: &Json) -> Result<Value> {
    let text =
        || inner.as_str().ok_or_else(|| invalid(format!("{tag}: expected a string, found {}", kind(inner))));
    Ok(match tag {
        "$float" => Value::Float(
            text()?
                .parse()
                .map_err(|source| invalid("$float: expected a number, NaN or inf").caused_by(source))?,
        ),
        "$decimal" => {
            let text = text()?;
            let number = rust_decimal::Decimal::from_str_exact(text).map_err(|source| {
                invalid(format!("$decimal {text:?}: expected at most 28 digits")).caused_by(source)
            })?;
            Value::Decimal(number)
        }
        "$bytes" => {
            let bytes = BASE64
                .decode(text()?)
                .map_err(|source| invalid("$bytes: expected base64 with padding").caused_by(source))?;
            Value::Bytes(bytes.into())
        }
        "$date" => Value::Date(text()?.parse()?),
        "$timestamp" => Value::Timestamp(text()?.parse()?),
        "$duration" => Value::Duration(text()?.parse()?),
        "$uuid" => {
            let uuid = uuid::Uuid::parse_str(text()?)
                .map_err(|source| invalid("$uuid: expected a UUID").caused_by(source))?;
            Value::Uuid(uuid.into_bytes())
        }
        "$iri" => Value::Iri(text()?.into()),
        "$map" => map_from_json(inner)?,
        "$list" => Value::List(members_from_json(tag, inner)?.into()),
        "$set" => Value::set(members_from_json(tag, inner)?)?,
        unknown => {
            return Err(invalid(format!(
                "value: unknown tag {unknown:?}; expected $bytes, $date, $decimal, $duration, $float, $iri, $list, \
                 $map, $set, $timestamp or $uuid"
            )));
        }
    })
}

fn members_from_json(tag: &str, json: &Json) -> Result<Vec<Value>> {
    let members =
        json.as_array().ok_or_else(|| invalid(format!("{tag}: expected an array, found {}", kind(json))))?;
    members.iter().map(value_from_json).collect()
}

fn map_from_json(json: &Json) -> Result<Value> {
    let object = super::object(json, "$map")?;
    let entries: Result<BTreeMap<Arc<str>, Value>> =
        object.iter().map(|(name, value)| Ok((name.as_str().into(), value_from_json(value)?))).collect();
    Ok(Value::Map(Arc::new(entries?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_reads_back_as_written() {
        let text = r#"{
            "a": true, "b": -5, "c": 1.0, "d": "x", "e": [1, {"k": 2}], "f": {"$decimal": "1.20"},
            "g": {"$bytes": "AAE="}, "h": {"$date": "2025-08-09"}, "i": {"$timestamp": "2025-08-09T10:00:00Z"},
            "j": {"$duration": "PT5S"}, "k": {"$uuid": "6ba7b810-9dad-11d1-80b4-00c04fd430c8"},
            "l": {"$iri": "urn:x"}, "m": {"$set": [1, "a"]}, "n": {"$map": {"$odd": 1}}, "o": {"$float": "NaN"}
        }"#;
        let json: Json = serde_json::from_str(text).unwrap();
        assert_eq!(value_to_json(&value_from_json(&json).unwrap()), json);
    }

    #[test]
    fn what_cannot_be_kept_is_refused() {
        for text in
            ["null", "18446744073709551615", r#"{"$dat": "x"}"#, r#"{"$set": [[1]]}"#, r#"{"$date": 5}"#]
        {
            let json: Json = serde_json::from_str(text).unwrap();
            assert!(value_from_json(&json).is_err(), "{text}");
        }
    }
}
