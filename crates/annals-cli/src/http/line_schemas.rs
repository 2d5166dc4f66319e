//! The lines of answers in `application/x-ndjson` as schemas, each with an example.

use serde_json::{Value as Json, json};

use super::schemas::{
    entity_example, number, object, reference, relationship_example, text, version, version_example,
};

/// The schemas of lines.
///
/// Shape: `[(name, schema, example)]`.
pub fn schemas() -> Vec<(&'static str, Json, Json)> {
    let reached = object(json!({ "distance": number(), "entity": reference("Entity") }));
    let crossed = object(json!({ "relationship": reference("Relationship") }));
    vec![
        ("InstanceLine", line([reference("Entity"), reference("Relationship")]), entity_example()),
        ("VersionLine", line([version()]), version_example()),
        ("ReachedLine", line([reached.clone()]), json!({ "distance": 1, "entity": entity_example() })),
        ("SubgraphLine", line([reached, crossed]), json!({ "relationship": relationship_example() })),
    ]
}

/// One line: an item; or at the end how to get the rest, or why there is no more.
fn line<const N: usize>(items: [Json; N]) -> Json {
    let mut forms = items.to_vec();
    forms.push(object(json!({ "next": text() })));
    forms.push(object(json!({ "error": reference("Problem") })));
    json!({
        "description": "One of these per line. The last line may say how to get the rest, or what went wrong.",
        "oneOf": forms,
    })
}
