//! The description of the interface (OpenAPI 3.1), made from the same list of endpoints as the router.

use std::collections::BTreeMap;

use annals_json::schema::reference;
use annals_json::wire::schemas_of;
use http::StatusCode;
use serde_json::{Map, Value as Json, json};

use super::endpoint::{Answer, BYTES, Endpoint};
use crate::access::{Needs, Verb};
use crate::protocol::names::NDJSON;
use crate::protocol::names::{POSITION, WRITER};
use crate::protocol::parameter::{Parameter, Place};
use crate::protocol::problem::{DOOR_KINDS, PROBLEM_JSON, Problem, status_of};
use crate::request::hosts::is_for_own_pages;
use crate::wire;

/// Errors of every endpoint.
const COMMON: [&str; 7] = [
    "invalid-argument",
    "unauthenticated",
    "too-many-requests",
    "unknown-host",
    "busy",
    "time-out",
    "internal",
];
/// Errors of every endpoint that needs the repository.
const REPOSITORY: [&str; 7] = ["opening", "not-visible", "unavailable", "closed", "corrupted", "gap", "io"];

/// The kind of a write that another server takes.
const NOT_WRITER: &str = "not-writer";

/// Examples of the schemas by their names.
type Examples = BTreeMap<String, Json>;

/// The whole document.
pub fn document(endpoints: &[Endpoint]) -> Json {
    let schemas = schemas_of(&wire::forms());
    let examples =
        schemas.iter().map(|(name, schema)| (name.clone(), schema["examples"][0].clone())).collect();
    let mut paths: Map<String, Json> = Map::new();
    for endpoint in endpoints {
        let item = paths.entry(endpoint.path).or_insert_with(|| json!({}));
        item[endpoint.method.as_str().to_lowercase()] = operation(endpoint, &examples);
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Annals",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "A graph repository with complete history. Errors are problem documents (RFC 9457); their \
                kinds are listed in docs/errors.md.",
            "license": { "name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0" },
        },
        "servers": [{ "url": "/" }],
        "paths": paths,
        "components": {
            "securitySchemes": {
                "bearer": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "A token that `annals token new` made.",
                },
                "basic": {
                    "type": "http",
                    "scheme": "basic",
                    "description": "The name in the token, and the token as the password.",
                },
            },
            "schemas": schemas,
            "headers": {
                "Position": {
                    "description": "The position that the answer shows, or that the write made.",
                    "schema": { "type": "integer", "minimum": 0 },
                    "example": 42,
                },
                "Writer": {
                    "description": "The address of the server that writes, if it is known.",
                    "schema": { "type": "string" },
                    "example": "https://one.example",
                },
                "ETag": {
                    "description": "The latest version, in quotes.",
                    "schema": { "type": "string" },
                    "example": "\"3\"",
                },
            },
        },
    })
}

fn operation(endpoint: &Endpoint, examples: &Examples) -> Json {
    let mut operation = json!({
        "operationId": operation_id(endpoint),
        "summary": endpoint.summary,
        "tags": [endpoint.tag],
        "parameters": endpoint.parameters.iter().map(parameter).collect::<Json>(),
        "responses": responses(endpoint, examples),
        "security": security(endpoint.needs),
    });
    // With several verbs, the standard has no word for one of them.
    match endpoint.needs {
        Needs::Any(_) | Needs::Granted { is_any: true, .. } => operation["x-annals-needs"] = "one".into(),
        _ => operation["x-annals-needs"] = "all".into(),
    }
    if !endpoint.description.is_empty() {
        operation["description"] = endpoint.description.into();
    }
    if let Some(schema) = endpoint.body {
        let media_type = endpoint.body_media_type;
        operation["requestBody"] =
            json!({ "required": true, "content": { media_type: media(media_type, schema, examples) } });
        if let Some((media_type, schema)) = endpoint.other_body {
            operation["requestBody"]["content"][media_type] = media(media_type, schema, examples);
        }
    }
    operation
}

/// The ways to prove who asks, each with the verbs that the operation needs. A server without credentials asks for none.
fn security(needs: Needs) -> Json {
    let verbs: Vec<&str> = needs.verbs().list().map(Verb::name).collect();
    match needs {
        Needs::Nothing => json!([{}]),
        _ => json!([{}, { "bearer": verbs }, { "basic": verbs }]),
    }
}

/// `GET /v1/entities/{id}/history` is `get_entities_id_history`.
fn operation_id(endpoint: &Endpoint) -> String {
    let parts = endpoint.path.split(['/', '{', '}', '.']).filter(|part| !part.is_empty() && *part != "v1");
    let parts = std::iter::once(endpoint.method.as_str()).chain(parts);
    parts.collect::<Vec<_>>().join("_").to_lowercase()
}

fn parameter(parameter: &Parameter) -> Json {
    let place = match parameter.place {
        Place::Path => "path",
        Place::Query => "query",
        Place::Header => "header",
    };
    let (schema, example) = if parameter.is_many {
        (json!({ "type": "array", "items": parameter.schema }), json!([parameter.example]))
    } else {
        (parameter.schema.clone(), parameter.example.clone())
    };
    json!({
        "name": parameter.name,
        "in": place,
        "required": parameter.is_required,
        "description": parameter.description,
        "schema": schema,
        "example": example,
    })
}

/// A body. A body in lines is a stream of bytes: a generated client reads the whole body, and `contentSchema` describes each line.
fn media(media_type: &str, schema: &str, examples: &Examples) -> Json {
    if schema == BYTES {
        return json!({ "schema": { "type": "string", "format": "binary" } });
    }
    let example = examples.get(schema).unwrap_or_else(|| panic!("schema {schema} is not described"));
    if media_type != NDJSON {
        return json!({ "schema": reference(schema), "example": example });
    }
    let lines = json!({
        "type": "string",
        "format": "binary",
        "contentMediaType": NDJSON,
        "contentSchema": { "type": "array", "items": reference(schema) },
    });
    json!({ "schema": lines, "example": format!("{example}\n") })
}

fn responses(endpoint: &Endpoint, examples: &Examples) -> Json {
    let mut responses: Map<String, Json> = Map::new();
    for answer in &endpoint.answers {
        // A second answer of one status differs in its media type.
        match responses.get_mut(&answer.status.to_string()) {
            Some(known) => {
                known["content"][answer.media_type] = media(answer.media_type, answer.schema, examples)
            }
            None => drop(responses.insert(answer.status.to_string(), response(endpoint, answer, examples))),
        }
    }
    let repository = if endpoint.is_operational { &[][..] } else { &REPOSITORY };
    let ready = if endpoint.path == "/health/ready" { &["opening", "unavailable"][..] } else { &[] };
    let written = is_for_own_pages(&endpoint.method, endpoint.path).then_some("cross-origin");
    let refused = (!endpoint.needs.verbs().is_empty()).then_some("forbidden");
    let kinds = endpoint
        .problems
        .iter()
        .chain(&COMMON)
        .chain(repository)
        .chain(ready)
        .copied()
        .chain(written)
        .chain(refused);
    for kind in kinds {
        let (status, problem) = problem_of(kind);
        let response = responses.entry(status.as_str().to_owned()).or_insert_with(|| {
            json!({
                "description": status.canonical_reason().unwrap_or_default(),
                "content": { PROBLEM_JSON: {
                    "schema": { "$ref": "#/components/schemas/Problem" },
                    "examples": {},
                } },
            })
        });
        response["content"][PROBLEM_JSON]["examples"][kind] = json!({ "value": problem });
        if kind == NOT_WRITER {
            response["headers"] = json!({ WRITER.as_str(): { "$ref": "#/components/headers/Writer" } });
        }
    }
    Json::Object(responses)
}

fn response(endpoint: &Endpoint, answer: &Answer, examples: &Examples) -> Json {
    let mut response = json!({ "description": answer.description });
    if !answer.media_type.is_empty() {
        response["content"] = json!({ answer.media_type: media(answer.media_type, answer.schema, examples) });
    }
    if !endpoint.is_operational {
        response["headers"] = json!({ POSITION.as_str(): { "$ref": "#/components/headers/Position" } });
    }
    if endpoint.parameters.iter().any(|known| matches!(known.name, "if-match" | "if-none-match")) {
        response["headers"]["etag"] = json!({ "$ref": "#/components/headers/ETag" });
    }
    response
}

/// The status of a kind, and an example.
fn problem_of(kind: &str) -> (StatusCode, Json) {
    let known = annals::ErrorKind::ALL.into_iter().find(|known| known.name() == kind);
    if let Some(known) = known {
        let error = annals::Error::new(known, "what was expected, what was found, what to do");
        return (status_of(known), Problem::from(error).to_json());
    }
    let door = DOOR_KINDS.into_iter().find(|(name, _, _)| *name == kind);
    let (name, status, _) = door.unwrap_or_else(|| panic!("kind {kind} is not described"));
    (status, Problem::door(name, "what was expected, what was found, what to do").to_json())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::endpoints::endpoints;

    #[test]
    fn every_endpoint_is_described_with_answers_errors_and_examples() {
        let document = document(&endpoints());
        let paths = document["paths"].as_object().unwrap();
        let described: usize = paths.values().map(|item| item.as_object().unwrap().len()).sum();
        assert_eq!(described, endpoints().len());
        let mut ids = std::collections::BTreeSet::new();
        for endpoint in endpoints() {
            let operation = &paths[endpoint.path][endpoint.method.as_str().to_lowercase()];
            let id = operation["operationId"].as_str().unwrap();
            assert!(ids.insert(id.to_owned()), "{id} is there twice");
            assert_ne!(operation["tags"][0], "", "{id} belongs to no group");
            assert!(!endpoint.answers.is_empty(), "{id} answers nothing");
            let says_it_all = ["/restore", "/undo", "/confirm", "/take-back", "/compactions"];
            let takes_body = !["GET", "DELETE"].contains(&endpoint.method.as_str())
                && !says_it_all.iter().any(|verb| endpoint.path.ends_with(verb));
            assert_eq!(operation.get("requestBody").is_some(), takes_body, "{id}");
        }
    }

    #[test]
    fn every_reference_leads_to_a_schema_and_every_schema_is_used() {
        let document = document(&endpoints());
        let text = document.to_string();
        let schemas = document["components"]["schemas"].as_object().unwrap();
        let references: std::collections::BTreeSet<&str> = text
            .split("#/components/schemas/")
            .skip(1)
            .map(|rest| &rest[..rest.find('"').unwrap()])
            .collect();
        let known: std::collections::BTreeSet<&str> = schemas.keys().map(String::as_str).collect();
        assert_eq!(references, known);
    }

    #[test]
    fn schemas_have_what_generators_of_clients_need() {
        fn check(name: &str, schema: &Json) {
            let is_object = |schema: &Json| schema["type"] == "object";
            let is_open = !is_object(schema)
                || schema.get("properties").is_some()
                || schema.get("additionalProperties").is_some();
            assert!(
                is_open,
                "{name}: expected properties or additionalProperties: generators take this object for an empty one"
            );
            for key in ["oneOf", "anyOf"] {
                for form in schema[key].as_array().into_iter().flatten() {
                    let has_name = form.get("properties").is_none();
                    assert!(has_name, "{name}: expected a named schema as one of several, found {form}");
                }
            }
            match schema {
                Json::Array(parts) => parts.iter().for_each(|part| check(name, part)),
                Json::Object(parts) => parts.values().for_each(|part| check(name, part)),
                _ => {}
            }
        }
        for (name, schema) in schemas_of(&wire::forms()) {
            check(&name, &schema);
        }
    }
}
