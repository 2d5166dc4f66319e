//! Instances, what creates them, their versions and differences as schemas, each with an example.

use serde_json::{Value as Json, json};

use super::provenance_schemas::provenance;
use super::schema::{flag, instant, joined, list, map, number, object, partial, reference, text, with};

/// The schemas of this file.
///
/// Shape: `[(name, schema, example)]`.
pub fn schemas() -> Vec<(&'static str, Json, Json)> {
    let mut schemas = instances();
    schemas.extend(contents());
    schemas.extend(versions());
    schemas
}

fn versions() -> Vec<(&'static str, Json, Json)> {
    vec![
        ("Version", version(), version_example()),
        ("Difference", difference(), difference_example()),
        (
            "TextDifference",
            object(json!({ "before": text(), "after": text() })),
            json!({ "before": "package", "after": "library" }),
        ),
    ]
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

/// An entity.
pub fn entity_example() -> Json {
    joined(
        header_example("bash", "package", json!({ "name": "bash", "size": 7 })),
        json!({ "classifications": { "essential": classification_example() } }),
    )
}

/// A relationship.
pub fn relationship_example() -> Json {
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

/// A version.
pub fn version_example() -> Json {
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
