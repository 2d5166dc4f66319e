//! Reads forms: JSON becomes a type of `wire`.

use annals::Result;
use serde::de::DeserializeOwned;
use serde_json::Value as Json;

use super::{invalid, object};

/// The form that an object has.
///
/// Errors: `InvalidArgument` with the path of the member that is wrong; also for an unknown member.
pub fn read<T: DeserializeOwned>(json: &Json, what: &str) -> Result<T> {
    object(json, what)?;
    serde_path_to_error::deserialize(json).map_err(|error| {
        let path = error.path().to_string();
        let place = if path == "." { what.to_owned() } else { format!("{what}, {path}") };
        invalid(format!("{place}: {}", reason(&error.into_inner().to_string())))
    })
}

/// The reason of the parser in the words of all other errors.
fn reason(text: &str) -> String {
    if let Some(name) = text.strip_prefix("missing field ") {
        return format!("expected {}, found nothing", name.replace('`', "\""));
    }
    let Some((found, expected)) = text.rsplit_once(", expected ") else { return text.to_owned() };
    let expected = match expected {
        "a sequence" => "an array",
        "a map" => "an object",
        "u32" => "a whole number below 2^32",
        "u64" => "a whole number",
        kind if kind.starts_with("struct ") => "an object",
        other => other,
    };
    let expected = expected.replace('`', "");
    match found.strip_prefix("invalid type: ").or_else(|| found.strip_prefix("invalid value: ")) {
        Some("sequence") => format!("expected {expected}, found an array"),
        Some("map") => format!("expected {expected}, found an object"),
        Some(found) => format!("expected {expected}, found {}", found.replace('`', "")),
        None => format!("{}; expected {expected}", found.replace('`', "\"")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::wire::Type;

    #[test]
    fn an_error_names_the_member_what_was_expected_and_what_was_found() {
        for (mut json, expected) in [
            (json!({ "name": 5 }), "type, name: expected a string, found integer 5"),
            (json!({ "nam": "x" }), "type, nam: unknown field \"nam\"; expected one of kind, name, "),
            (
                json!({ "attributes": [{ "name": "a", "many": "no" }] }),
                "type, attributes[0].many: expected a boolean",
            ),
            (json!({ "attributes": [{}] }), "type, attributes[0]: expected \"name\", found nothing"),
            (json!({ "attributes": {} }), "type, attributes: expected an array, found an object"),
            (json!({ "attributes": [5] }), "type, attributes[0]: expected an object, found integer 5"),
            (json!({ "version": -1 }), "type, version: expected a whole number below 2^32, found integer -1"),
            (
                json!({ "attributes": [{ "name": "a", "default": { "$date": "x" } }] }),
                "attributes[0].default: ",
            ),
        ] {
            json["kind"] = "entity".into();
            let error = read::<Type>(&json, "type").unwrap_err().to_string();
            assert!(error.contains(expected), "{json}: {error}");
        }
        assert!(read::<Type>(&json!([]), "type").is_err());
    }
}
