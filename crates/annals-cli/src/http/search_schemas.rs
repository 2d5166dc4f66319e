//! Schemas of searches and of what is told about them.

use annals::Operator;
use serde_json::{Value as Json, json};

use super::schemas::{flag, instant, list, number, object, partial, reference, text};

/// Name, schema and example of each.
pub fn schemas() -> Vec<(&'static str, Json, Json)> {
    let operators: Vec<&str> = Operator::ALL
        .iter()
        .flat_map(|known| [known.sign(), known.word()])
        .collect::<std::collections::BTreeSet<_>>()
        .into_iter()
        .collect();
    let condition = partial(
        &[],
        json!({
            "property": text(),
            "header": { "type": "string", "description": "In the place of `property`: `createdAt`, `version` and others." },
            "text": { "type": "boolean", "description": "In the place of `property`: any string property." },
            "operator": { "type": "string", "enum": operators, "default": "=" },
            "value": reference("Value"),
            "values": list(reference("Value")),
            "nocase": flag(),
        }),
    );
    let many = |name: &str| partial(&[name], json!({ name: list(reference("Expression")) }));
    let inner = || reference("Expression");
    let expression = json!({ "oneOf": [
        { "type": "string", "description": "The text form." },
        many("all"),
        many("any"),
        many("none"),
        partial(&["is"], json!({ "is": text() })),
        partial(&["classified"], json!({ "classified": text(), "where": inner() })),
        partial(&["has"], json!({
            "has": { "type": "string", "enum": ["out", "in", "any"] }, "type": text(), "where": inner(), "to": inner(),
        })),
        condition,
    ] });
    let expression_example = json!({ "all": [
        { "property": "size", "operator": ">=", "value": 5 },
        { "none": ["section = shells"] },
        { "has": "out", "type": "depends", "to": { "property": "name", "value": "libc6" } },
    ] });
    let names = || json!({ "oneOf": [text(), list(text())] });
    let order = || {
        json!({ "oneOf": [
            { "type": "string", "description": "A property, or a header such as `@createdAt`; `-` for largest first." },
            partial(&[], json!({ "property": text(), "header": text(), "descending": flag() })),
        ] })
    };
    let find = partial(
        &[],
        json!({
            "kind": { "type": "string", "enum": ["entity", "relationship"], "default": "entity" },
            "q": { "type": "string", "description": "A search in its text form; the other fields add to it." },
            "type": names(),
            "only": names(),
            "classified": names(),
            "where": { "oneOf": [reference("Expression"), list(reference("Expression"))] },
            "status": names(),
            "deleted": { "type": "string", "enum": ["without", "with", "only"], "default": "without" },
            "proxies": { "type": "string", "enum": ["without", "with"], "default": "without" },
            "orderBy": { "oneOf": [order(), list(order())] },
            "limit": number(),
            "offset": number(),
            "after": text(),
            "atPosition": number(),
            "at": instant(),
            "validAt": instant(),
        }),
    );
    let find_example = json!({
        "type": "package",
        "where": [{ "property": "size", "operator": ">=", "value": 5 }, "name ^= ba"],
        "orderBy": ["-size", "@createdAt"],
        "limit": 10,
    });
    let explanation = object(json!({
        "search": text(), "order": text(), "plans": list(text()), "domain": number(), "candidates": number(),
        "verified": number(), "visited": number(), "branchesSkipped": number(), "found": number(),
    }));
    let explanation_example = json!({
        "search": "package where size >= 5 limit 10",
        "order": "size, then age",
        "plans": ["walk a range of the values of size, smallest first"],
        "domain": 4, "candidates": 2, "verified": 2, "visited": 2, "branchesSkipped": 0, "found": 2,
    });
    vec![
        ("Find", find, find_example),
        ("Expression", expression, expression_example),
        ("Count", object(json!({ "count": number() })), json!({ "count": 2 })),
        ("Explanation", explanation, explanation_example),
    ]
}
