//! Errors.

use annals::ErrorKind;
use annals_json::named_forms;
use annals_json::wire::form;
use serde_json::{Map, Value as Json, json};

use crate::protocol::problem::DOOR_KINDS;

named_forms![Problem, ErrorMeaning];

/// RFC 9457. Further members are facts: a position, an operation, a line, a column.
#[form(open)]
#[schemars(example = problem_example())]
pub struct Problem {
    #[schemars(extend("format" = "uri-reference"))]
    pub r#type: String,
    pub title: String,
    /// The HTTP status.
    pub status: u64,
    /// The text: expected, found, and what to do.
    pub detail: String,
    /// One of the kinds of docs/errors.md.
    #[schemars(extend("enum" = kinds()))]
    pub kind: String,
    #[serde(flatten)]
    pub more: Map<String, Json>,
}

/// The meaning of a kind of error.
#[form]
#[schemars(example = json!({
    "kind": "conflict", "title": "another transaction was first", "status": 409, "retryable": true,
    "documentation": "docs/errors.md",
}))]
pub struct ErrorMeaning {
    pub kind: String,
    pub title: String,
    /// The HTTP status.
    pub status: u64,
    /// True if a repetition can succeed without a change of the request.
    pub retryable: bool,
    /// The page that says what to do.
    pub documentation: String,
}

fn kinds() -> Vec<&'static str> {
    let door = DOOR_KINDS.into_iter().map(|(name, _, _)| name);
    ErrorKind::ALL.into_iter().map(ErrorKind::name).chain(door).collect()
}

/// An entity that does not exist.
pub fn problem_example() -> Json {
    crate::protocol::problem::Problem::not_found("entity dash does not exist").to_json()
}
