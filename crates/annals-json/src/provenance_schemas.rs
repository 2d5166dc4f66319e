//! The JSON forms of provenance, changes of headers and copies as schemas, each with an example.

use serde_json::{Value as Json, json};

use super::schema::{any_object, instant, list, map, number, partial, reference, text, with};

/// The schemas of provenance and copies.
///
/// Shape: `[(name, schema, example)]`.
pub fn schemas() -> Vec<(&'static str, Json, Json)> {
    let one = |name: &str| partial(&[name], json!({ name: text() }));
    let stamp = json!({ "instant": "2025-08-09T10:00:00Z", "author": "ada" });
    let copied = json!({ "home": "there", "version": 7, "created": stamp, "updated": stamp });
    let entity = with(&[copied.clone(), json!({ "type": "table", "properties": { "name": "sales" } })]);
    let ends = json!({ "type": "holds", "from": "bash", "to": "libc6" });
    let proxies = json!({ "proxies": [{ "id": "libc6", "type": "package", "home": "there" }] });
    let relationship = with(&[copied.clone(), ends, proxies]);
    vec![
        ("StatusChange", one("status"), json!({ "status": "approved" })),
        ("TypeChange", one("type"), json!({ "type": "table" })),
        ("IdChange", one("newId"), json!({ "newId": "9548390c" })),
        ("HomeChange", one("home"), json!({ "home": "there" })),
        ("EndsChange", partial(&[], json!({ "from": text(), "to": text() })), json!({ "to": "libc6" })),
        ("CollectionName", one("collection"), json!({ "collection": "here" })),
        ("Provenance", partial(&[], provenance()), json!({ "license": "CC0-1.0", "maintainedBy": ["ada"] })),
        ("EntityCopy", copy(json!({ "classifications": list(any_object()) })), entity),
        (
            "RelationshipCopy",
            copy(json!({ "from": text(), "to": text(), "proxies": list(proxy()) })),
            relationship,
        ),
        (
            "ClassificationCopy",
            partial(&["home", "created"], with(&[provenance(), origin(), properties()])),
            copied,
        ),
    ]
}

/// The members that say where something comes from.
pub fn provenance() -> Json {
    json!({
        "home": text(),
        "provenance": { "type": "string", "enum": annals::ProvenanceKind::ALL.map(annals::ProvenanceKind::name) },
        "replicatedBy": text(),
        "license": text(),
        "maintainedBy": list(text()),
        "mappings": map(text()),
        "effectiveFrom": instant(),
        "effectiveTo": instant(),
    })
}

/// The members that say what a copy has at its home.
pub fn origin() -> Json {
    let stamp = partial(&["instant"], json!({ "instant": instant(), "author": text() }));
    json!({ "version": number(), "created": stamp, "updated": stamp })
}

fn properties() -> Json {
    json!({ "properties": reference("Properties") })
}

fn proxy() -> Json {
    let members =
        json!({ "id": text(), "type": text(), "properties": reference("Properties"), "home": text() });
    partial(&["id", "type", "home"], members)
}

fn copy(own: Json) -> Json {
    let shared = json!({ "type": text(), "status": text() });
    partial(&["home", "created", "type"], with(&[provenance(), origin(), properties(), shared, own]))
}
