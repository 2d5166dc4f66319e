//! Arguments that come as JSON.

use annals::Result;
use annals_json::{Object, invalid, json_from_slice};
use serde_json::Value as Json;

/// A JSON object.
///
/// Errors: `InvalidArgument`.
pub fn object(bytes: &[u8], what: &str) -> Result<Object> {
    match json_from_slice(bytes).map_err(|fault| invalid(format!("{what}: {fault}")))? {
        Json::Object(members) => Ok(members),
        other => Err(invalid(format!("{what}: expected an object, found {other}"))),
    }
}

/// A text; `None` if it is missing.
///
/// Errors: `InvalidArgument`.
pub fn text<'o>(members: &'o Object, name: &str) -> Result<Option<&'o str>> {
    match members.get(name) {
        None | Some(Json::Null) => Ok(None),
        Some(Json::String(text)) => Ok(Some(text)),
        Some(other) => Err(invalid(format!("{name}: expected a text, found {other}"))),
    }
}

/// A number; `None` if it is missing.
///
/// Errors: `InvalidArgument`.
pub fn number(members: &Object, name: &str) -> Result<Option<u64>> {
    match members.get(name) {
        None | Some(Json::Null) => Ok(None),
        Some(number) => number
            .as_u64()
            .map(Some)
            .ok_or_else(|| invalid(format!("{name}: expected a whole number of at least 0, found {number}"))),
    }
}

/// True or false; false if it is missing.
///
/// Errors: `InvalidArgument`.
pub fn flag(members: &Object, name: &str) -> Result<bool> {
    match members.get(name) {
        None | Some(Json::Null) => Ok(false),
        Some(Json::Bool(flag)) => Ok(*flag),
        Some(other) => Err(invalid(format!("{name}: expected true or false, found {other}"))),
    }
}
