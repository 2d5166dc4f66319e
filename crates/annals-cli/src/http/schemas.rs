//! The JSON forms of the interface as schemas, each with an example.

use annals::Action;
use annals::action::Key;
use serde_json::{Value as Json, json};

use super::problem::{DOOR_KINDS, Problem};
use super::provenance_schemas::{origin, provenance, with};

pub(super) fn reference(name: &str) -> Json {
    json!({ "$ref": format!("#/components/schemas/{name}") })
}

pub(super) fn text() -> Json {
    json!({ "type": "string" })
}

pub(super) fn number() -> Json {
    json!({ "type": "integer", "minimum": 0 })
}

pub(super) fn flag() -> Json {
    json!({ "type": "boolean" })
}

pub(super) fn instant() -> Json {
    json!({ "type": "string", "format": "date-time" })
}

pub(super) fn list(items: Json) -> Json {
    json!({ "type": "array", "items": items })
}

pub(super) fn map(values: Json) -> Json {
    json!({ "type": "object", "additionalProperties": values })
}

/// An object that has any members.
pub(super) fn any_object() -> Json {
    json!({ "type": "object", "additionalProperties": true })
}

/// An object that has all these members and no other.
pub(super) fn object(members: Json) -> Json {
    let required: Vec<String> = members.as_object().expect("members are an object").keys().cloned().collect();
    json!({ "type": "object", "properties": members, "required": required, "additionalProperties": false })
}

/// An object of which only some members must be there.
pub(super) fn partial(required: &[&str], members: Json) -> Json {
    json!({ "type": "object", "properties": members, "required": required, "additionalProperties": false })
}

/// Every schema with its example.
///
/// Shape: `[(name, schema, example)]`.
pub fn schemas() -> Vec<(&'static str, Json, Json)> {
    let mut schemas = super::value_schemas::schemas();
    schemas.extend(instances());
    schemas.extend(contents());
    schemas.extend(pages());
    schemas.extend(super::search_schemas::schemas());
    schemas.extend(super::type_schemas::schemas());
    schemas.extend(super::provenance_schemas::schemas());
    schemas.extend(super::line_schemas::schemas(&schemas));
    schemas.extend(writes());
    schemas.extend(super::log_schemas::schemas());
    schemas.extend(super::exchange_schemas::schemas());
    schemas.extend(super::feed_schemas::schemas());
    schemas.extend(operation());
    schemas
}

fn header() -> Json {
    json!({
        "id": text(),
        "type": text(),
        "version": number(),
        "latestVersion": number(),
        "status": text(),
        "created": reference("Stamp"),
        "updated": reference("Stamp"),
        "validFrom": instant(),
        "position": number(),
        "properties": reference("Properties"),
    })
}

fn header_example(id: &str, type_name: &str, properties: Json) -> Json {
    json!({
        "id": id,
        "type": type_name,
        "version": 1,
        "latestVersion": 1,
        "status": "active",
        "created": { "instant": "2025-08-09T10:00:00Z", "author": "ada" },
        "updated": { "instant": "2025-08-09T10:00:00Z", "author": "ada" },
        "validFrom": "2025-08-09T10:00:00Z",
        "position": 42,
        "properties": properties,
    })
}

fn joined(mut json: Json, more: Json) -> Json {
    if let (Json::Object(known), Json::Object(more)) = (&mut json, more) {
        known.extend(more);
    }
    json
}

pub(super) fn entity_example() -> Json {
    joined(
        header_example("bash", "package", json!({ "name": "bash", "size": 7 })),
        json!({ "classifications": { "essential": classification_example() } }),
    )
}

pub(super) fn relationship_example() -> Json {
    joined(header_example("bash-libc6", "depends", json!({})), json!({ "from": "bash", "to": "libc6" }))
}

fn classification_example() -> Json {
    let stamp = json!({ "instant": "2025-08-09T10:00:00Z", "author": "ada" });
    json!({ "version": 1, "created": stamp, "updated": stamp, "properties": { "since": 1996 } })
}

/// An object that has all these members, and what some headers have.
fn instance(members: Json) -> Json {
    let mut schema = object(members.clone());
    let more = json!({ "homeVersion": number(), "reidentifiedFrom": text(), "statusOnDelete": text(), "isProxy": flag() });
    schema["properties"] = with(&[provenance(), more, members]);
    schema
}

fn instances() -> Vec<(&'static str, Json, Json)> {
    vec![
        (
            "Entity",
            instance(joined(header(), json!({ "classifications": map(reference("Classification")) }))),
            entity_example(),
        ),
        (
            "Relationship",
            instance(joined(header(), json!({ "from": text(), "to": text() }))),
            relationship_example(),
        ),
        (
            "Classification",
            instance(json!({
                "version": number(),
                "created": reference("Stamp"),
                "updated": reference("Stamp"),
                "properties": reference("Properties"),
            })),
            classification_example(),
        ),
    ]
}

fn contents() -> Vec<(&'static str, Json, Json)> {
    let named = partial(&["name"], json!({ "name": text(), "properties": reference("Properties") }));
    let named_example = json!({ "name": "essential", "properties": { "since": 1996 } });
    let classifications =
        json!({ "oneOf": [list(reference("NamedClassification")), map(reference("ClassificationContent"))] });
    // What a GET gave may be sent back.
    let mut header_fields = header();
    for name in ["id", "type", "properties"] {
        header_fields.as_object_mut().expect("a header is an object").remove(name);
    }
    let content = |more: Json| joined(header_fields.clone(), more);
    let properties = reference("Properties");
    let entity =
        json!({ "id": text(), "type": text(), "properties": properties, "classifications": classifications });
    let entity = with(&[provenance(), json!({ "status": text() }), entity]);
    let relationship =
        json!({ "id": text(), "type": text(), "from": text(), "to": text(), "properties": properties });
    let relationship = with(&[provenance(), json!({ "status": text() }), relationship]);
    let new_entity = json!({ "id": "bash", "type": "package", "properties": { "name": "bash", "size": 7 } });
    let new_relationship = json!({ "type": "depends", "from": "bash", "to": "libc6", "properties": {} });
    vec![
        ("NewEntity", partial(&["type"], entity.clone()), new_entity.clone()),
        ("NewRelationship", partial(&["type", "from", "to"], relationship.clone()), new_relationship.clone()),
        ("EntityContent", partial(&[], content(entity)), new_entity),
        ("RelationshipContent", partial(&[], content(relationship)), new_relationship),
        ("NamedClassification", named, named_example),
        (
            "ClassificationContent",
            partial(
                &[],
                json!({
                    "properties": reference("Properties"),
                    "version": number(),
                    "created": reference("Stamp"),
                    "updated": reference("Stamp"),
                }),
            ),
            json!({ "properties": { "since": 1996 } }),
        ),
    ]
}

pub(super) fn page_of(items: Json, counted: bool) -> Json {
    let mut members = json!({ "items": list(items), "next": { "type": ["string", "null"] } });
    if counted {
        members["count"] = number();
    }
    object(members)
}

fn pages() -> Vec<(&'static str, Json, Json)> {
    let neighbor =
        object(json!({ "relationship": reference("Relationship"), "entity": reference("Entity") }));
    let reached_example = json!({ "distance": 1, "entity": entity_example() });
    let shared_example = json!({ "distances": [1, 1], "entity": entity_example() });
    let change_example = json!({ "change": "appeared", "kind": "entity", "id": "bash" });
    let instance = json!({ "oneOf": [reference("Entity"), reference("Relationship")] });
    let neighbor_example = json!({ "relationship": relationship_example(), "entity": entity_example() });
    let reached = object(json!({ "distance": number(), "entity": reference("Entity") }));
    let step = object(json!({
        "direction": { "type": "string", "enum": ["out", "in"] },
        "relationship": reference("Relationship"),
        "entity": reference("Entity"),
    }));
    let path = object(json!({
        "found": flag(),
        "length": { "type": "number", "minimum": 0 },
        "start": { "oneOf": [reference("Entity"), { "type": "null" }] },
        "steps": list(reference("PathStep")),
    }));
    let found_path = object(json!({
        "length": { "type": "number", "minimum": 0 },
        "start": reference("Entity"),
        "steps": list(reference("PathStep")),
    }));
    let next = json!({ "type": ["string", "null"] });
    let subgraph = object(json!({
        "entities": list(reference("Reached")),
        "relationships": list(reference("Relationship")),
        "entitiesCount": number(),
        "relationshipsCount": number(),
        "next": next,
    }));
    let subgraph_example = json!({
        "entities": [{ "distance": 0, "entity": entity_example() }],
        "relationships": [relationship_example()],
        "entitiesCount": 1,
        "relationshipsCount": 1,
        "next": null,
    });
    let distances = json!({ "type": "array", "items": number(), "minItems": 2, "maxItems": 2 });
    let shared = object(json!({ "distances": distances, "entity": reference("Entity") }));
    // `count` is there if it was asked for.
    let may_count = |items: Json| {
        partial(&["items", "next"], json!({ "items": list(items), "next": next, "count": number() }))
    };
    let step_example = joined(neighbor_example.clone(), json!({ "direction": "out" }));
    let found_example = json!({ "length": 1.0, "start": entity_example(), "steps": [step_example.clone()] });
    let page = |item: Json| json!({ "items": [item], "next": "0a1b" });
    let counted = |item: Json| json!({ "items": [item], "next": "42-100", "count": 117 });
    let change = partial(
        &["change", "kind", "id"],
        json!({
            "change": { "type": "string", "enum": ["appeared", "disappeared", "changed"] },
            "kind": { "type": "string", "enum": ["entity", "relationship"] },
            "id": text(),
            "difference": reference("Difference"),
        }),
    );
    vec![
        ("EntityPage", page_of(reference("Entity"), false), page(entity_example())),
        ("RelationshipPage", page_of(reference("Relationship"), false), page(relationship_example())),
        ("InstancePage", page_of(instance, false), page(entity_example())),
        ("NeighborPage", page_of(reference("Neighbor"), false), page(neighbor_example.clone())),
        ("Neighbor", neighbor, neighbor_example),
        ("Degree", object(json!({ "degree": number() })), json!({ "degree": 3 })),
        ("ReachPage", page_of(reference("Reached"), true), counted(reached_example.clone())),
        ("RelatedPage", may_count(reference("Reached")), counted(reached_example.clone())),
        ("Reached", reached, reached_example),
        (
            "Path",
            path,
            json!({ "found": true, "length": 1.0, "start": entity_example(), "steps": [step_example.clone()] }),
        ),
        ("PathStep", step, step_example),
        (
            "PathList",
            object(json!({ "items": list(reference("FoundPath")) })),
            json!({ "items": [found_example.clone()] }),
        ),
        ("FoundPath", found_path, found_example),
        ("SubgraphPage", subgraph, subgraph_example),
        (
            "RelationshipsOfPage",
            may_count(reference("Relationship")),
            json!({ "items": [relationship_example()], "next": "1f0000000700000003", "count": 117 }),
        ),
        ("SharedPage", page_of(reference("Shared"), true), counted(shared_example.clone())),
        ("Shared", shared, shared_example),
        ("VersionPage", page_of(reference("Version"), false), page(version_example())),
        ("Version", version(), version_example()),
        ("Difference", difference(), difference_example()),
        (
            "TextDifference",
            object(json!({ "before": text(), "after": text() })),
            json!({ "before": "package", "after": "library" }),
        ),
        ("ChangePage", page_of(reference("InstanceChange"), true), counted(change_example.clone())),
        ("InstanceChange", change, change_example),
    ]
}

fn version() -> Json {
    let mut schema = object(json!({
        "version": number(),
        "base": number(),
        "position": number(),
        "instant": instant(),
        "author": text(),
        "message": text(),
        "validFrom": instant(),
        "status": text(),
        "action": text(),
        "inForce": flag(),
    }));
    // Only where it was asked for.
    schema["properties"]["content"] = json!({ "oneOf": [reference("Entity"), reference("Relationship")] });
    // Only where there is something to tell.
    schema["properties"]["home"] = text();
    schema["properties"]["formerId"] = text();
    schema["properties"]["isProxy"] = flag();
    schema
}

pub(super) fn version_example() -> Json {
    json!({
        "version": 2, "base": 1, "position": 43, "instant": "2025-08-10T10:00:00Z", "author": "ada",
        "message": "new release", "validFrom": "2025-08-10T10:00:00Z", "status": "active", "action": "update",
        "inForce": true,
    })
}

fn difference() -> Json {
    let side = json!({ "oneOf": [reference("Value"), { "type": "null" }] });
    let properties = map(object(json!({ "before": side, "after": side })));
    let status = json!({ "oneOf": [reference("TextDifference"), { "type": "null" }] });
    let mut classification = object(json!({
        "name": text(), "wasThere": flag(), "isThere": flag(), "properties": properties,
    }));
    add_provenance_sides(&mut classification);
    let mut schema = object(json!({
        "status": status,
        "properties": properties,
        "classifications": list(classification),
    }));
    for name in ["id", "type", "from", "to"] {
        schema["properties"][name] = reference("TextDifference");
    }
    schema["properties"]["isProxy"] = object(json!({ "before": flag(), "after": flag() }));
    add_provenance_sides(&mut schema);
    schema
}

/// Members of a provenance that differ are there, the others are not.
fn add_provenance_sides(schema: &mut Json) {
    let known = provenance();
    for (name, member) in known.as_object().into_iter().flatten() {
        let side = json!({ "oneOf": [member, { "type": "null" }] });
        schema["properties"][name] = object(json!({ "before": side, "after": side }));
    }
}

fn difference_example() -> Json {
    json!({
        "status": { "before": "active", "after": "stable" },
        "type": { "before": "package", "after": "library" },
        "properties": { "size": { "before": 7, "after": 8 } },
        "classifications": [],
    })
}

/// The members of operations that actions hold. Those of where something comes from have a schema of their own.
fn held() -> Json {
    let mut members = json!({});
    for field in Action::FORMS.iter().flat_map(|form| form.fields) {
        let schema = match field.key {
            Key::Provenance | Key::Origin => continue,
            Key::Properties => reference("Properties"),
            Key::Patch => reference("Patch"),
            Key::WithRelationships => flag(),
            Key::Classifications | Key::Copied => json!({ "oneOf": [list(any_object()), any_object()] }),
            // A declaration stands where others have the name of a type.
            Key::Type => json!({ "oneOf": [text(), reference("Type"), reference("TypePatch")] }),
            _ if members.get(field.name).is_some() => continue,
            _ => text(),
        };
        members[field.name] = schema;
    }
    members
}

fn writes() -> Vec<(&'static str, Json, Json)> {
    let operation = partial(
        &["action"],
        with(&[
            held(),
            provenance(),
            origin(),
            json!({
                "action": { "type": "string", "enum": crate::wire::actions() },
                "kind": { "type": "string", "enum": ["entity", "relationship"] },
                "validFrom": instant(),
                "ifVersion": number(),
                "always": flag(),
                "deletedOnly": flag(),
                "proxies": list(any_object()),
            }),
        ]),
    );
    let transaction = partial(
        &["operations"],
        json!({
            "author": text(),
            "message": text(),
            "validFrom": instant(),
            "always": flag(),
            "serializable": flag(),
            "dryRun": flag(),
            "operations": list(reference("Operation")),
        }),
    );
    let transaction_example = json!({
        "author": "ada",
        "message": "two packages",
        "operations": [
            { "action": "create", "kind": "entity", "id": "bash", "type": "package" },
            { "action": "create", "kind": "entity", "id": "libc6", "type": "package" },
            { "action": "create", "kind": "relationship", "type": "depends", "from": "bash", "to": "libc6" },
        ],
    });
    let done = object(json!({ "position": number(), "instant": instant(), "ids": list(text()) }));
    let possible = object(json!({
        "dryRun": { "const": true }, "ids": list(text()), "entities": number(), "relationships": number(),
    }));
    let possible_example = json!({ "dryRun": true, "ids": ["bash"], "entities": 1, "relationships": 0 });
    let either = json!({ "oneOf": [reference("CommitReceipt"), reference("DryRunReceipt")] });
    let done_example = json!({
        "position": 42, "instant": "2025-08-09T10:00:00Z",
        "ids": ["bash", "libc6", "01890a5d-ac96-774b-bcce-b302099a8057"],
    });
    let receipt_example = json!({ "position": 42, "instant": "2025-08-09T10:00:00Z" });
    let undone = |schema: &str| json!({ "oneOf": [reference(schema), reference("Receipt")] });
    vec![
        ("Receipt", object(json!({ "position": number(), "instant": instant() })), receipt_example.clone()),
        ("UndoneEntity", undone("Entity"), receipt_example.clone()),
        ("UndoneRelationship", undone("Relationship"), receipt_example),
        ("Operation", operation, transaction_example["operations"][0].clone()),
        ("Transaction", transaction, transaction_example),
        ("TransactionReceipt", either, done_example.clone()),
        ("CommitReceipt", done, done_example),
        ("DryRunReceipt", possible, possible_example),
    ]
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
