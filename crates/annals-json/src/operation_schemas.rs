//! Operations, transactions and what tells that they are done as schemas, each with an example.

use annals::Action;
use annals::action::Key;
use serde_json::{Value as Json, json};

use super::actions;
use super::provenance_schemas::{origin, provenance};
use super::schema::{any_object, flag, instant, list, number, object, partial, reference, text, with};

/// The schemas of this file.
///
/// Shape: `[(name, schema, example)]`.
pub fn schemas() -> Vec<(&'static str, Json, Json)> {
    let operation = partial(
        &["action"],
        with(&[
            super::tree_operation::members(),
            held(),
            provenance(),
            origin(),
            json!({
                "action": { "type": "string", "enum": actions() },
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

/// The members of operations that actions hold. Those of where something comes from have a schema of their own.
fn held() -> Json {
    let mut members = json!({});
    for field in Action::FORMS.iter().flat_map(|form| form.fields) {
        let schema = match field.key {
            // Where something comes from has members of its own; lists of instances are written by compactions only.
            Key::Provenance | Key::Origin | Key::Instances => continue,
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
