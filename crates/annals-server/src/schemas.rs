//! What only the door says as schemas: problems, its state and its own pages; and with them all others.

use annals_json::schema::{any_object, flag, list, number, object, text};
use serde_json::{Value as Json, json};

use super::problem::{DOOR_KINDS, Problem};

/// Every schema with its example.
///
/// Shape: `[(name, schema, example)]`.
pub fn schemas() -> Vec<(&'static str, Json, Json)> {
    let mut schemas = annals_json::schemas();
    schemas.extend(super::line_schemas::schemas(&schemas));
    schemas.extend(operation());
    schemas
}

fn operation() -> Vec<(&'static str, Json, Json)> {
    let door = DOOR_KINDS.into_iter().map(|(name, _, _)| name);
    let kinds: Vec<&str> =
        annals::ErrorKind::ALL.into_iter().map(annals::ErrorKind::name).chain(door).collect();
    let problem = json!({
        "type": "object",
        "description": "RFC 9457. Further members are facts: a position, an operation, a line, a column.",
        "properties": {
            "type": { "type": "string", "format": "uri-reference" },
            "title": text(),
            "status": number(),
            "detail": text(),
            "kind": { "type": "string", "enum": kinds },
        },
        "required": ["type", "title", "status", "detail", "kind"],
    });
    let problem_example = Problem::not_found("entity dash does not exist").to_json();
    let ready = object(json!({
        "ready": flag(), "position": number(), "readOnly": flag(),
        "writeFailure": { "type": ["string", "null"] }, "warnings": list(text()),
    }));
    let index = json!({ "type": "object", "additionalProperties": { "type": ["string", "boolean"] } });
    let ready_example =
        json!({ "ready": true, "position": 42, "readOnly": false, "writeFailure": null, "warnings": [] });
    vec![
        ("Problem", problem, problem_example),
        ("Index", index, json!({ "name": "annals", "openapi": "/openapi.json" })),
        ("Live", object(json!({ "live": { "const": true } })), json!({ "live": true })),
        ("Ready", ready, ready_example),
        ("Metrics", text(), "annals_position 42\n".into()),
        ("OpenApi", any_object(), json!({ "openapi": "3.1.0" })),
    ]
}
