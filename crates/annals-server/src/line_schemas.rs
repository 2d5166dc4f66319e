//! The lines of answers in `application/x-ndjson` as schemas, each with an example.

use annals_json::schema::{object, reference, text};
use annals_json::{entity_example, relationship_example, version_example};
use serde_json::{Value as Json, json};

use super::problem::Problem;

/// Lines that are items of pages of one schema.
const ITEMS: [(&str, &str); 7] = [
    ("TreeLine", "TreePage"),
    ("RelationshipLine", "RelationshipsOfPage"),
    ("NeighborLine", "NeighborPage"),
    ("SharedLine", "SharedPage"),
    ("PathLine", "PathList"),
    ("ChangeLine", "ChangePage"),
    ("TreeChangeLine", "TreeChangePage"),
];

/// The schemas of lines, given those of pages.
///
/// Shape: `[(name, schema, example)]`.
pub fn schemas(pages: &[(&'static str, Json, Json)]) -> Vec<(&'static str, Json, Json)> {
    let mut lines = vec![
        ("InstanceLine", line([reference("Entity"), reference("Relationship")]), entity_example()),
        (
            "Crossed",
            object(json!({ "relationship": reference("Relationship") })),
            json!({ "relationship": relationship_example() }),
        ),
        ("NextLine", object(json!({ "next": text() })), json!({ "next": "0a1b" })),
        (
            "ErrorLine",
            object(json!({ "error": reference("Problem") })),
            json!({ "error": Problem::not_found("entity dash does not exist").to_json() }),
        ),
        ("VersionLine", line([reference("Version")]), version_example()),
        ("ReachedLine", line([reference("Reached")]), json!({ "distance": 1, "entity": entity_example() })),
        (
            "SubgraphLine",
            line([reference("Reached"), reference("Crossed")]),
            json!({ "relationship": relationship_example() }),
        ),
    ];
    lines.extend(ITEMS.map(|(name, page)| {
        let page = pages.iter().find(|(known, _, _)| *known == page);
        let (_, schema, example) = page.expect("lines are items of pages that there are");
        (name, line([schema["properties"]["items"]["items"].clone()]), example["items"][0].clone())
    }));
    lines
}

/// One line: an item; or at the end how to get the rest, or why there is no more.
fn line<const N: usize>(items: [Json; N]) -> Json {
    let mut forms = items.to_vec();
    forms.extend([reference("NextLine"), reference("ErrorLine")]);
    json!({
        "description": "One of these per line. The last line may say how to get the rest, or what went wrong.",
        "oneOf": forms,
    })
}
