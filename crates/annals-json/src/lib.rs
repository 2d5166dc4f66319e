//! The JSON forms of the command line and of HTTP, and their schemas. Engine types are not wire types: these functions
//! translate.
//!
//! `docs/json.md` describes them for users. `wire` has each form as a type, from which its schema is derived: `find.rs`, `wire/find.rs`.
#![forbid(unsafe_code)]
#![deny(missing_docs)]

// In the order a newcomer should read them.
mod json;
mod form;
mod read;
mod text;
mod literal;
mod content;
mod value;
mod as_of;
mod instance;
mod difference;
mod logged;
mod change;
mod tree;
mod tree_text;
mod operational;
mod tree_operation;
mod operation;
mod provenance;
pub mod find;
mod group;
mod graph;
mod type_definition;
mod line_column;
mod candidate;
mod compaction;
mod backup_report;
pub mod schema;
pub mod wire;

use as_of::past_from_json;
pub use as_of::{AS_OF, as_of_from_json};
pub use backup_report::{backup_to_json, damaged_to_json};
pub use candidate::*;
pub use change::{
    action_from_json, actions, change_to_json, creation_from_json, patch_from_json, record_to_json,
    recorded_action_from_json,
};
pub use compaction::compaction_to_json;
pub use difference::{difference_to_json, event_to_json, instance_change_to_json, tree_change_to_json};
pub use find::{
    condition_from_text, deleted_from_text, explanation_to_json, expression_from_json, field_from_text,
    find_from_json, order_from_text, proxies_from_text,
};
pub use form::{Form, JsonText, Members, ObjectOf, json_of};
pub use graph::{
    CrossedForm, GroupsForm, NeighborForm, ReachedForm, Room, SubgraphPage, add_path, direction_to_text,
};
pub use group::{
    FoundGroupForm, FoundGroupsForm, GROUPING, aggregate_to_text, field_to_text, grouping_from_json,
    grouping_from_texts,
};
pub use instance::{Seen, VersionForm, classification_from_json, properties_from_json};
pub use line_column::{LINE_COLUMN, line_beside, line_with};
pub use logged::logged_record_to_json;
pub use operation::{Added, Operation, Undo, operation_from_json, undo_from_text, upsert};
pub use operational::{OperationalForm, lease_from_json, lease_time_from_json, lease_to_json};
pub use provenance::*;
pub use read::read;
pub use text::{json_from_slice, json_from_str, tree_bytes};
pub use tree::{TreeContent, insert_from_texts, is_tree_item, item_from_json, tree_content_from_json};
pub use tree_operation::{TreeChange, TreeOperation};
pub use tree_text::{LeafForm, TreeEntry, TreeExtent, tree_of, tree_to_json, write_tree};
pub use type_definition::{
    type_from_form, type_from_json, type_patch_from_json, type_to_json, verification_to_json,
};
pub use value::{value_from_json, value_to_json};

use annals::{Error, ErrorKind, Result};
use serde_json::{Map, Value as Json};

/// A JSON object.
pub type Object = Map<String, Json>;

/// An error that says what is wrong with an argument.
pub fn invalid(text: impl Into<String>) -> Error {
    Error::new(ErrorKind::InvalidArgument, text)
}

/// The object, or an error that names what was found instead.
pub fn object<'j>(json: &'j Json, what: &str) -> Result<&'j Object> {
    json.as_object().ok_or_else(|| invalid(format!("{what}: expected an object, found {}", kind(json))))
}

/// The kind of a JSON value, for error texts.
pub fn kind(json: &Json) -> &'static str {
    match json {
        Json::Null => "null",
        Json::Bool(_) => "a boolean",
        Json::Number(_) => "a number",
        Json::String(_) => "a string",
        Json::Array(_) => "an array",
        Json::Object(_) => "an object",
    }
}

/// Refuses keys that are not `known`, so that a misspelt one is not silently ignored.
pub fn only(object: &Object, what: &str, known: &[&str]) -> Result<()> {
    match object.keys().find(|key| !known.contains(&key.as_str())) {
        None => Ok(()),
        Some(key) => {
            let is_of_answer = OF_ANSWERS.contains(&key.as_str());
            let hint = if is_of_answer { "; answers have it, and a request leaves it out" } else { "" };
            let known = known.join(", ");
            Err(invalid(format!("{what}: unknown field {key:?}; expected one of {known}{hint}")))
        }
    }
}

/// Members of an instance in an answer that no request has: people send back what they have read.
const OF_ANSWERS: [&str; 6] =
    ["contentVersion", "created", "homeVersion", "isProxy", "latestVersion", "updated"];

/// The string under `key`, if it exists.
pub fn optional_text<'j>(object: &'j Object, what: &str, key: &str) -> Result<Option<&'j str>> {
    match object.get(key) {
        None | Some(Json::Null) => Ok(None),
        Some(Json::String(text)) => Ok(Some(text)),
        Some(other) => Err(invalid(format!("{what}: expected a string as {key:?}, found {}", kind(other)))),
    }
}

/// The string under `key`.
pub fn text<'j>(object: &'j Object, what: &str, key: &str) -> Result<&'j str> {
    optional_text(object, what, key)?
        .ok_or_else(|| invalid(format!("{what}: expected a string as {key:?}, found nothing")))
}

/// The boolean under `key`; `default` if it is missing.
pub fn boolean(object: &Object, what: &str, key: &str, default: bool) -> Result<bool> {
    match object.get(key) {
        None | Some(Json::Null) => Ok(default),
        Some(Json::Bool(boolean)) => Ok(*boolean),
        Some(other) => {
            Err(invalid(format!("{what}: expected true or false as {key:?}, found {}", kind(other))))
        }
    }
}

/// The array under `key`; empty if it is missing.
pub fn array<'j>(object: &'j Object, what: &str, key: &str) -> Result<&'j [Json]> {
    match object.get(key) {
        None | Some(Json::Null) => Ok(&[]),
        Some(Json::Array(items)) => Ok(items),
        Some(other) => Err(invalid(format!("{what}: expected an array as {key:?}, found {}", kind(other)))),
    }
}

/// The whole number under `key`, if it exists.
pub fn number<N: TryFrom<u64>>(object: &Object, what: &str, key: &str) -> Result<Option<N>> {
    let Some(json) = object.get(key).filter(|json| !json.is_null()) else { return Ok(None) };
    let known = json.as_u64().and_then(|number| N::try_from(number).ok()).map(Some);
    known.ok_or_else(|| {
        let bound = if size_of::<N>() < size_of::<u64>() { " below 2^32" } else { "" };
        invalid(format!("{what}: expected a whole number{bound} as {key:?}, found {json}"))
    })
}
