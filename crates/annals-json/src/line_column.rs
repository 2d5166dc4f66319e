//! The cell of a CSV row for fields of an instance without a column: id of a relationship, status, home, and all
//! further members of a line of a plain export.

use annals::Result;
use serde_json::Value as Json;

use super::{Object, invalid, json_from_str, object};

/// Title of its column. Readers of neo4j-admin headers skip it.
pub const LINE_COLUMN: &str = "@annals:IGNORE";

/// The cell of a line whose members `columns` have their own columns.
pub fn line_beside(line: Json, columns: &[&str]) -> String {
    let Json::Object(mut members) = line else { return String::new() };
    columns.iter().for_each(|name| drop(members.remove(*name)));
    Json::Object(members).to_string()
}

/// The line of a cell together with the members in other columns.
///
/// Errors: `InvalidArgument` if the cell is not a JSON object, or also has one of these members.
pub fn line_with(cell: &str, columns: Object) -> Result<Json> {
    let what = format!("column `{LINE_COLUMN}`");
    let json: Json =
        json_from_str(cell).map_err(|error| invalid(format!("{what}: expected JSON, found {error}")))?;
    let mut members = object(&json, &what)?.clone();
    for (name, value) in columns {
        if members.insert(name.clone(), value).is_some() {
            let text = format!("{what}: expected it without {name:?}, which has a column of its own");
            return Err(invalid(text));
        }
    }
    Ok(Json::Object(members))
}
