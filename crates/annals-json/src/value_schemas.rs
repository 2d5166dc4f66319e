//! Values, properties and patches of them as schemas, each with an example.

use serde_json::{Value as Json, json};

use super::schema::{instant, list, map, object, reference, text};

/// The schemas of values and of patches.
///
/// Shape: `[(name, schema, example)]`.
pub fn schemas() -> Vec<(&'static str, Json, Json)> {
    let mut schemas = values();
    schemas.extend(patches());
    schemas
}

/// Generators of clients accept a type that contains itself only if a named object is in between. The items of a list therefore have
/// no type.
fn values() -> Vec<(&'static str, Json, Json)> {
    let tagged = |tag: &str, inner: Json| object(json!({ tag: inner }));
    let plain_map = json!({
        "type": "object",
        "propertyNames": { "pattern": "^[^$]" },
        "additionalProperties": reference("Value"),
    });
    let objects = [
        ("DecimalValue", tagged("$decimal", text()), json!({ "$decimal": "1.20" })),
        ("FloatValue", tagged("$float", text()), json!({ "$float": "NaN" })),
        (
            "BytesValue",
            tagged("$bytes", json!({ "type": "string", "contentEncoding": "base64" })),
            json!({ "$bytes": "AAE=" }),
        ),
        (
            "DateValue",
            tagged("$date", json!({ "type": "string", "format": "date" })),
            json!({ "$date": "2025-08-09" }),
        ),
        ("TimestampValue", tagged("$timestamp", instant()), json!({ "$timestamp": "2025-08-09T12:00:00Z" })),
        (
            "DurationValue",
            tagged("$duration", json!({ "type": "string", "format": "duration" })),
            json!({ "$duration": "PT5M" }),
        ),
        (
            "UuidValue",
            tagged("$uuid", json!({ "type": "string", "format": "uuid" })),
            json!({ "$uuid": "6ba7b810-9dad-11d1-80b4-00c04fd430c8" }),
        ),
        (
            "IriValue",
            tagged("$iri", json!({ "type": "string", "format": "iri" })),
            json!({ "$iri": "urn:x" }),
        ),
        ("MapValue", tagged("$map", map(reference("Value"))), json!({ "$map": { "$odd": 1 } })),
        ("ListValue", tagged("$list", list(reference("Value"))), json!({ "$list": ["first", "second"] })),
        ("SetValue", tagged("$set", list(reference("Value"))), json!({ "$set": ["shell", "interactive"] })),
        ("PlainMapValue", plain_map, json!({ "city": "Paris" })),
    ];
    let scalar = json!({ "type": ["boolean", "number", "string"] });
    let values = json!({ "type": "array", "items": { "description": "A Value." } });
    let forms = [scalar, values].into_iter().chain(objects.iter().map(|(name, ..)| reference(name)));
    let value = json!({
        "description": "A property value. Kinds that JSON lacks are objects with one key that starts with `$`.",
        "oneOf": forms.collect::<Json>(),
    });
    let properties = json!({ "name": "bash", "size": 7, "tags": { "$set": ["shell", "interactive"] } });
    let mut schemas = vec![
        ("Value", value, json!({ "$set": ["shell", "interactive"] })),
        ("Properties", map(reference("Value")), properties),
        (
            "Stamp",
            object(json!({ "instant": instant(), "author": text() })),
            json!({ "instant": "2025-08-09T10:00:00Z", "author": "ada" }),
        ),
    ];
    schemas.extend(objects);
    schemas
}

fn patches() -> Vec<(&'static str, Json, Json)> {
    let step = |verb: &str| object(json!({ verb: text(), "value": reference("Value") }));
    let values = map(json!({ "oneOf": [{ "type": "null" }, reference("Value")] }));
    let values_example = json!({ "size": 8, "homepage": null });
    let steps = [
        ("SetStep", step("set"), json!({ "set": "size", "value": 8 })),
        ("AddStep", step("add"), json!({ "add": "tags", "value": "shell" })),
        ("RemoveStep", step("remove"), json!({ "remove": "tags", "value": "shell" })),
        ("UnsetStep", object(json!({ "unset": text() })), json!({ "unset": "homepage" })),
        ("ClearStep", object(json!({ "clear": { "const": true } })), json!({ "clear": true })),
    ];
    let any_step = json!({ "oneOf": steps.iter().map(|(name, ..)| reference(name)).collect::<Json>() });
    let patch = json!({
        "description": "Either new values by name, null to remove one (as JSON Merge Patch); or steps in order. An object under \
                        `properties`, as instances have it, is refused.",
        "oneOf": [reference("MergePatch"), list(any_step)],
    });
    let mut schemas = vec![("Patch", patch, values_example.clone()), ("MergePatch", values, values_example)];
    schemas.extend(steps);
    schemas
}
