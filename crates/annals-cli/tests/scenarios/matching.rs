//! Compares a result with what a scenario expects: members that are not mentioned do not matter.

use serde_json::Value as Json;

/// Checks a result.
///
/// Errors: the path of the first difference, with both sides.
pub fn check(expected: &Json, found: &Json) -> Result<(), String> {
    match (expected, found) {
        (Json::Object(expected), Json::Object(members)) => {
            for (name, value) in expected {
                let found = members.get(name).unwrap_or(&Json::Null);
                // Trees are compared as a whole.
                if name == "tree" && found != value {
                    return Err(format!("tree: expected {value}, found {found}"));
                }
                // Properties are compared whole: a property too many is a difference.
                let is_whole = name == "properties" || name == "classifications";
                let result = if is_whole { check_whole(value, found) } else { check(value, found) };
                result.map_err(|difference| format!("{name}.{difference}"))?;
            }
            Ok(())
        }
        (Json::Array(expected), Json::Array(items)) => {
            if expected.len() != items.len() {
                return Err(format!(": expected {} items, found {}", expected.len(), items.len()));
            }
            for (index, (expected, found)) in expected.iter().zip(items).enumerate() {
                check(expected, found).map_err(|difference| format!("{index}.{difference}"))?;
            }
            Ok(())
        }
        (expected, found) if expected == found => Ok(()),
        (expected, found) => Err(format!(": expected {expected}, found {found}")),
    }
}

fn check_whole(expected: &Json, found: &Json) -> Result<(), String> {
    let (Some(wanted), Some(members)) = (expected.as_object(), found.as_object()) else {
        return check(expected, found);
    };
    let names = |json: &serde_json::Map<String, Json>| json.keys().cloned().collect::<Vec<_>>();
    if names(wanted) != names(members) {
        return Err(format!(": expected {expected}, found {found}"));
    }
    check(expected, found)
}
