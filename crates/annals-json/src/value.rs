//! Values as JSON: booleans, numbers, strings, arrays and objects unchanged; every other kind as an object with one key
//! that starts with `$`. Literals and contents have further members.

use std::collections::BTreeMap;
use std::sync::Arc;

use annals::{Result, Value, ValueRef};
use base64::Engine;
use base64::display::Base64Display;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Number, Value as Json};

use super::content::{CONTENT, content_from_json};
use super::form::{Form, JsonText, Text, tree};
use super::literal::{LITERAL, literal_from_json};
use super::{Object, invalid, kind};

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
            Value::Literal(literal) => (**literal).write(to),
            Value::Content(content) => (**content).write(to),
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
        Json::Object(object) if object.contains_key(LITERAL) => literal_from_json(object)?,
        Json::Object(object) if object.contains_key(CONTENT) => content_from_json(object)?,
        Json::Object(object) => {
            let mut entries = object.iter();
            match (entries.next(), object.len()) {
                (Some((tag, inner)), 1) if tag.starts_with('$') => tagged_from_json(tag, inner)?,
                _ => map_from_json(json)?,
            }
        }
    })
}

/// True for the object of a value of a kind that JSON lacks.
pub(crate) fn is_tagged(object: &Object) -> bool {
    object.len() == 1 && object.keys().all(|name| name.starts_with('$'))
        || object.contains_key(LITERAL)
        || object.contains_key(CONTENT)
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
                "value: unknown tag {unknown:?}; expected $bytes, $content, $date, $decimal, $duration, $float, \
                 $iri, $list, $literal, $map, $set, $timestamp or $uuid"
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
            "l": {"$iri": "urn:x"}, "m": {"$set": [1, "a"]}, "n": {"$map": {"$odd": 1}}, "o": {"$float": "NaN"},
            "p": {"$literal": "chat", "language": "fr"}, "q": {"$literal": "", "datatype": "urn:year"},
            "r": {"$set": [{"$literal": "cat", "language": "en"}, {"$literal": "chat", "language": "fr"}]},
            "s": {"$map": {"$literal": "chat", "language": "fr"}}, "t": {"literal": "chat", "language": "fr"}
        }"#;
        let json: Json = serde_json::from_str(text).unwrap();
        assert_eq!(value_to_json(&value_from_json(&json).unwrap()), json);
    }

    const DIGITS: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

    fn read(text: &str) -> Result<Value> {
        value_from_json(&serde_json::from_str(&text.replace("HEX", DIGITS)).unwrap())
    }

    #[test]
    fn contents_read_back_as_written() {
        for text in [
            r#"{"$content": "HEX", "size": 0, "mediaType": "image/tiff"}"#,
            r#"{"$content": "HEX", "size": 18446744073709551615, "mediaType": "a/b", "name": "scan 1.tif",
                "digests": {"md5": "d41d8cd98f00b204e9800998ecf8427e",
                    "sha": "da39a3ee5e6b4b0d3255bfef95601890afd80709"}}"#,
            r#"[{"k": {"$content": "HEX", "size": 0, "mediaType": "a/b"}}]"#,
        ] {
            let json: Json = serde_json::from_str(&text.replace("HEX", DIGITS)).unwrap();
            assert_eq!(value_to_json(&value_from_json(&json).unwrap()), json);
        }
        let short = read(r#"{"$content": "HEX", "size": 3}"#).unwrap();
        let long = r#"{"size": 3, "mediaType": "application/octet-stream", "$content": "HEX"}"#;
        assert_eq!(short, read(&long.replace("HEX", &DIGITS.to_uppercase())).unwrap());
    }

    #[test]
    fn members_of_literals_and_contents_that_do_not_fit_are_refused() {
        for (text, expected) in [
            (r#"{"$literal": "x"}"#, "found neither"),
            (r#"{"$literal": "x", "language": "fr", "datatype": "x:y"}"#, "found both"),
            (r#"{"$literal": "x", "language": "fr", "datatype": null}"#, "found null"),
            (r#"{"$literal": "x", "language": null}"#, "expected a string as \"language\""),
            (
                r#"{"$literal": "x", "language": "f r"}"#,
                "expected a language tag such as fr or de-CH, found \"f r\"",
            ),
            (r#"{"$literal": "x", "datatype": "year"}"#, "expected an absolute IRI"),
            (r#"{"$literal": 5, "language": "fr"}"#, "expected a string as \"$literal\", found a number"),
            (r#"{"$literal": "x", "lang": "fr"}"#, "unknown field \"lang\""),
            (r#"{"$content": "HEX"}"#, "expected the number of bytes as \"size\", found nothing"),
            (r#"{"$content": "HEX", "size": -1}"#, "found -1"),
            (r#"{"$content": "HEX", "size": "1"}"#, "found a string"),
            (r#"{"$content": "HE", "size": 1}"#, "64 hexadecimal digits, found 2 characters: \"HE\""),
            (r#"{"$content": "HEX", "size": 1, "media": "a/b"}"#, "unknown field \"media\""),
            (
                r#"{"$content": "HEX", "size": 1, "digests": {"md4": "00"}}"#,
                "unknown digest \"md4\"; expected one of md5",
            ),
            (r#"{"$content": "HEX", "size": 1, "digests": {"md5": "00"}}"#, "expected 16 bytes, found 1"),
            (r#"{"$content": "HEX", "size": 1, "digests": {"md5": "zz"}}"#, "expected hexadecimal digits"),
            (
                r#"{"$content": "HEX", "size": 1, "digests": {"sha1": "da39a3ee5e6b4b0d3255bfef95601890afd80709",
                "sha": "da39a3ee5e6b4b0d3255bfef95601890afd80709"}}"#,
                "expected one digest sha, found two",
            ),
            (r#"{"$content": "HEX", "$literal": "x"}"#, "$literal: unknown field \"$content\""),
        ] {
            let error = read(text).expect_err(text).to_string();
            assert!(error.contains(expected), "{text}: {error}");
        }
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
