//! Reads JSON in which an object has every key once.
//!
//! RFC 8259, section 4, does not define the meaning of two equal keys. A proxy or a log that uses the first one sees
//! another request than a server that uses the last one; so such JSON is refused.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value as Json};

/// The JSON in a text.
///
/// Errors: for malformed JSON, or a repeated key in an object; with line and column.
pub(super) fn unique_from_slice(text: &[u8]) -> serde_json::Result<Json> {
    serde_json::from_slice::<Unique>(text).map(|Unique(json)| json)
}

/// JSON without repeated keys.
struct Unique(Json);

impl<'de> Deserialize<'de> for Unique {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Unique, D::Error> {
        deserializer.deserialize_any(UniqueVisitor).map(Unique)
    }
}

struct UniqueVisitor;

impl<'de> Visitor<'de> for UniqueVisitor {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, boolean: bool) -> Result<Json, E> {
        Ok(Json::Bool(boolean))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Json, E> {
        Ok(Json::from(number))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Json, E> {
        Ok(Json::from(number))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Json, E> {
        Ok(Json::from(number))
    }

    fn visit_str<E>(self, text: &str) -> Result<Json, E> {
        Ok(Json::from(text))
    }

    fn visit_string<E>(self, text: String) -> Result<Json, E> {
        Ok(Json::String(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Json, A::Error> {
        let mut array = Vec::new();
        while let Some(Unique(item)) = items.next_element()? {
            array.push(item);
        }
        Ok(Json::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Json, A::Error> {
        let mut object = Map::new();
        while let Some(key) = members.next_key::<String>()? {
            if object.contains_key(&key) {
                let text = format!("the key {key:?} comes twice in one object; give it once");
                return Err(A::Error::custom(text));
            }
            let Unique(value) = members.next_value()?;
            object.insert(key, value);
        }
        Ok(Json::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_key_twice_is_read_as_ever() {
        for text in [
            "null",
            " [true, false, \"\", \"a\\n\\u00e4\", [], {}, {\"a\": {\"a\": [{\"a\": 1}]}, \"b\": null}] ",
            "[0, 1, -1, 18446744073709551615, 0.1, -1.50, 1E2]",
        ] {
            let expected: Json = serde_json::from_str(text).unwrap();
            assert_eq!(unique_from_slice(text.as_bytes()).unwrap(), expected, "{text}");
        }
        for text in ["", "{", "[1,]", "01", "1 2", "{\"a\" 1}", "\"\\ud800\"", "nul", "{1: 2}", "[NaN]"] {
            let expected = serde_json::from_str::<Json>(text).unwrap_err();
            let found = unique_from_slice(text.as_bytes()).unwrap_err();
            assert_eq!((found.line(), found.column()), (expected.line(), expected.column()), "{text}");
        }
        let deep = "[".repeat(100_000);
        assert!(unique_from_slice(deep.as_bytes()).is_err());
    }

    #[test]
    fn a_key_that_comes_twice_is_named_with_its_place() {
        let error = unique_from_slice(b"{\"a\": 1,\n \"b\": [{\"c\": 1, \"\\u0063\": 2}]}").unwrap_err();
        assert_eq!(error.line(), 2);
        assert!(error.to_string().starts_with("the key \"c\" comes twice in one object"), "{error}");
    }
}
