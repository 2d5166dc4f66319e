//! The lines that imports take and exports give, and what an import did, as schemas, each with an example.

use serde_json::{Value as Json, json};

use super::provenance_schemas::{origin, provenance};
use super::schema::{any_object, flag, instant, list, number, object, partial, reference, text, with};

/// The schemas of this file.
///
/// Shape: `[(name, schema, example)]`.
pub fn schemas() -> Vec<(&'static str, Json, Json)> {
    let of_instance = json!({
        "id": text(), "type": text(), "properties": reference("Properties"), "validFrom": instant(), "status": text(),
        "reidentifiedFrom": text(),
    });
    let of_classification = json!({ "name": text(), "properties": reference("Properties") });
    let classification = partial(&["name"], with(&[provenance(), origin(), of_classification]));
    let of_entity = json!({ "classifications": list(classification), "isProxy": flag() });
    let of_relationship = json!({ "from": text(), "to": text() });
    let entity = partial(&["type"], with(&[provenance(), origin(), of_instance.clone(), of_entity]));
    let relationship =
        partial(&["type", "from", "to"], with(&[provenance(), origin(), of_instance, of_relationship]));
    let record = partial(
        &["position", "instant", "changes"],
        json!({
            "position": number(), "instant": instant(), "author": text(), "message": text(),
            "changes": list(any_object()),
        }),
    );
    let lines =
        ["ExchangeType", "ExchangeEntity", "ExchangeRelationship", "ExchangeCollection"].map(reference);
    let with_history = [&lines[..], &[reference("ExchangeRecord")]].concat();
    let refused = object(json!({ "line": number(), "kind": text(), "reason": text() }));
    let report = object(json!({
        "position": number(), "throughLine": number(), "records": number(), "created": number(), "updated": number(),
        "unchanged": number(), "deleted": number(), "refused": number(), "refusedLines": list(refused),
    }));
    let report_example = json!({
        "position": 43, "throughLine": 1_000, "records": 1, "created": 997, "updated": 2, "unchanged": 0, "deleted": 0,
        "refused": 1,
        "refusedLines": [{
            "line": 7, "kind": "missing-end",
            "reason": "an end does not exist: entity dash; put entities before the relationships between them",
        }],
    });
    let example = json!({ "entity": { "id": "bash", "type": "package", "properties": { "size": 7 } } });
    let type_example = json!({ "type": { "kind": "entity", "name": "package" } });
    let relationship_example =
        json!({ "relationship": { "type": "depends", "from": "bash", "to": "libc6" } });
    let record_example =
        json!({ "record": { "position": 1, "instant": "2026-01-31T12:00:00.000000Z", "changes": [] } });
    vec![
        ("ExchangeType", object(json!({ "type": reference("Type") })), type_example),
        ("ExchangeEntity", object(json!({ "entity": entity })), example.clone()),
        ("ExchangeRelationship", object(json!({ "relationship": relationship })), relationship_example),
        ("ExchangeCollection", object(json!({ "collection": text() })), json!({ "collection": "library" })),
        ("ExchangeRecord", object(json!({ "record": record })), record_example),
        ("ImportLine", json!({ "description": "One of these per line.", "oneOf": lines }), example.clone()),
        (
            "ExportLine",
            json!({ "description": "One of these per line; records with `history` only.", "oneOf": with_history }),
            example,
        ),
        ("ImportReport", report, report_example),
    ]
}
