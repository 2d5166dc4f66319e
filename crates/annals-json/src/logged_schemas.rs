//! The forms of the log as schemas, each with an example.

use annals::Action;
use serde_json::{Value as Json, json};

use super::schema::{instant, list, number, object, page_of, partial, reference, text};

/// Verbs of changes that make no version of an instance.
const OTHER_VERBS: [&str; 2] = ["define-type", "name-collection"];

/// Pages, records and changes of the log.
///
/// Shape: `[(name, schema, example)]`.
pub fn schemas() -> Vec<(&'static str, Json, Json)> {
    let example = json!({
        "action": "update", "kind": "entity", "id": "ada", "type": "person", "version": 2, "base": 1,
        "status": "active", "validFrom": "2025-08-09T10:00:00Z",
        "difference": {
            "status": null, "properties": { "rows": { "before": 5, "after": 9 } }, "classifications": [],
        },
    });
    let record_example = json!({
        "position": 42, "instant": "2025-08-09T10:00:00Z", "author": "bob", "message": "nightly",
        "changes": [example],
    });
    let forms = ["LoggedInstance", "LoggedType", "LoggedCollection"].map(reference);
    let record = object(json!({
        "position": number(),
        "instant": instant(),
        "author": text(),
        "message": text(),
        "changes": list(json!({ "oneOf": forms })),
    }));
    let page_example = json!({ "items": [record_example], "next": "42" });
    let [type_verb, collection_verb] = OTHER_VERBS;
    let declared = object(json!({ "action": { "const": type_verb }, "definition": reference("Type") }));
    let named = object(json!({ "action": { "const": collection_verb }, "collection": text() }));
    vec![
        ("LogPage", page_of(reference("LoggedRecord"), false), page_example),
        ("LoggedRecord", record, record_example),
        ("LoggedInstance", instance(), example),
        (
            "LoggedType",
            declared,
            json!({ "action": type_verb, "definition": { "kind": "entity", "name": "person" } }),
        ),
        ("LoggedCollection", named, json!({ "action": collection_verb, "collection": "here" })),
    ]
}

fn instance() -> Json {
    let verbs: Vec<&str> = Action::verbs().into_iter().filter(|verb| !OTHER_VERBS.contains(verb)).collect();
    partial(
        &["action", "kind", "id", "type", "version", "base", "status", "validFrom", "difference"],
        json!({
            "action": { "type": "string", "enum": verbs },
            "kind": { "type": "string", "enum": ["entity", "relationship"] },
            "id": text(),
            "type": text(),
            "from": text(),
            "to": text(),
            "version": number(),
            "base": number(),
            "status": text(),
            "validFrom": instant(),
            "classification": text(),
            "difference": reference("Difference"),
            "relationshipsCount": number(),
            "containedCount": number(),
        }),
    )
}
