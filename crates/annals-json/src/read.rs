//! Reads forms: JSON becomes a type of `wire`.

use annals::Result;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value as Json;

use super::{invalid, object};

/// The form that an object has.
///
/// Errors: `InvalidArgument` with the path of the member that is wrong; also for an unknown member.
pub fn read<T: DeserializeOwned + Serialize>(json: &Json, what: &str) -> Result<T> {
    object(json, what)?;
    let form: T = serde_path_to_error::deserialize(json).map_err(|error| {
        let path = error.path().to_string();
        let place = if path == "." { what.to_owned() } else { format!("{what}, {path}") };
        invalid(format!("{place}: {}", reason(&error.into_inner().to_string())))
    })?;
    match misread(json, &serde_json::to_value(&form).expect("all keys are strings")) {
        None => Ok(form),
        Some(path) => {
            let path = path.trim_start_matches('.');
            Err(invalid(format!("{what}, {path}: expected an object, found an array")))
        }
    }
}

/// The path of an array that serde took for the members of an object, in their order.
fn misread(given: &Json, form: &Json) -> Option<String> {
    match (given, form) {
        (Json::Array(_), Json::Object(_)) => Some(String::new()),
        (Json::Array(given), Json::Array(form)) => (0_usize..)
            .zip(given.iter().zip(form))
            .find_map(|(at, (given, form))| Some(format!("[{at}]{}", misread(given, form)?))),
        (Json::Object(given), Json::Object(form)) => {
            form.iter().find_map(|(name, form)| Some(format!(".{name}{}", misread(given.get(name)?, form)?)))
        }
        _ => None,
    }
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
        let list = json!({ "elements": [{ "ordinal": 0, "name": "red" }, [1, "blue", "deep"]] });
        let error = read::<Type>(&list, "type").unwrap_err().to_string();
        assert!(error.contains("type, elements[1]: expected an object, found an array"), "{error}");
    }
}
