//! The JSON forms of types as schemas, each with an example.

use serde_json::{Value as Json, json};

use super::schema::{flag, list, number, object, page_of, partial, reference, text, type_kinds};

/// The schemas of types.
///
/// Shape: `[(name, schema, example)]`.
pub fn schemas() -> Vec<(&'static str, Json, Json)> {
    let example = json!({
        "kind": "entity", "name": "package", "closed": false, "statuses": ["draft", "active"],
        "initialStatus": "draft", "externalId": "283a127d-3acd-4d64-b558-1fce9db9a35b",
        "attributes": [{ "name": "name", "type": "string", "required": true }],
    });
    let patch = partial(&[], shared());
    let patch_example = json!({
        "statuses": ["retired"], "attributes": [{ "name": "label", "type": "string", "replacedBy": "name" }],
    });
    let types = object(json!({ "types": list(reference("Type")) }));
    let types_example = json!({ "types": [example] });
    let verification = object(json!({
        "outcome": { "type": "string", "enum": ["unknown", "equal", "compatible", "conflicting"] },
        "differences": list(reference("TypeDifference")),
    }));
    let difference =
        object(json!({ "place": text(), "declared": text(), "given": text(), "conflict": flag() }));
    let difference_example = json!({
        "place": "attribute size: value type", "declared": "integer", "given": "string", "conflict": true,
    });
    let verification_example = json!({ "outcome": "conflicting", "differences": [difference_example] });
    let element =
        partial(&["ordinal", "name"], json!({ "ordinal": number(), "name": text(), "description": text() }));
    let end = partial(&[], json!({ "type": { "type": ["string", "null"] }, "many": flag(), "name": text() }));
    let page = page_of(reference("Type"), false);
    vec![
        ("Type", definition(), example.clone()),
        ("TypePage", page, json!({ "items": [example], "next": null })),
        ("Types", types, types_example),
        ("TypePatch", patch, patch_example),
        ("TypeVerification", verification, verification_example),
        ("TypeDifference", difference, difference_example),
        ("Attribute", attribute(), json!({ "name": "name", "type": "string", "required": true })),
        ("EnumElement", element, json!({ "ordinal": 0, "name": "red" })),
        ("TypeEnd", end, json!({ "type": "package", "many": true, "name": "dependents" })),
    ]
}

fn definition() -> Json {
    let mut members = shared();
    let own = json!({
        "closed": flag(), "from": reference("TypeEnd"), "to": reference("TypeEnd"), "propagatable": flag(),
        "externalId": text(), "advisory": flag(), "containment": object(json!({ "ordered": flag() })),
        "requiredChildren": list(text()), "uniqueTogether": list(list(text())),
    });
    let both = (members.as_object_mut(), own);
    if let (Some(members), Json::Object(own)) = both {
        members.extend(own);
    }
    partial(&[], members)
}

/// The members that a type and a patch of one have.
fn shared() -> Json {
    json!({
        "kind": type_kinds(),
        "name": text(),
        "description": text(),
        "supertypes": list(text()),
        "attributes": list(reference("Attribute")),
        "appliesTo": list(text()),
        "statuses": list(text()),
        "initialStatus": text(),
        "elements": list(reference("EnumElement")),
        "deprecated": flag(),
        "replacedBy": text(),
        "version": number(),
    })
}

fn attribute() -> Json {
    let value_types =
        json!({ "type": "string", "enum": annals::ValueType::ALL.map(annals::ValueType::name) });
    partial(
        &["name"],
        json!({
            "name": text(),
            "type": value_types,
            "many": flag(),
            "required": flag(),
            "unique": flag(),
            "indexed": flag(),
            "default": reference("Value"),
            "enum": text(),
            "items": value_types,
            "deprecated": flag(),
            "replacedBy": text(),
            "key": flag(),
            "minimum": reference("Value"),
            "maximum": reference("Value"),
            "pattern": text(),
            "reference": text(),
        }),
    )
}
