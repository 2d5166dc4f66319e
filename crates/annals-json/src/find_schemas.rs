//! Schemas of searches and of what is told about them.

use annals::Operator;
use serde_json::{Value as Json, json};

use super::schema::{flag, instant, list, number, object, partial, reference, text};

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
            "operator": { "type": "string", "enum": operators, "description": "`=` if left out." },
            "value": reference("Value"),
            "values": list(reference("Value")),
            "nocase": flag(),
        }),
    );
    let many = |name: &str| partial(&[name], json!({ name: list(reference("Expression")) }));
    let inner = || reference("Expression");
    let has = json!({
        "has": { "type": "string", "enum": ["out", "in", "any"] }, "type": text(), "where": inner(), "to": inner(),
    });
    // Each has a name, as `value_schemas` explains.
    let forms = [
        ("AllExpression", many("all"), json!({ "all": ["size >= 5", "name ^= ba"] })),
        ("AnyExpression", many("any"), json!({ "any": ["size >= 5", "name ^= ba"] })),
        ("NoneExpression", many("none"), json!({ "none": ["section = shells"] })),
        ("IsExpression", partial(&["is"], json!({ "is": text() })), json!({ "is": "package" })),
        (
            "ClassifiedExpression",
            partial(&["classified"], json!({ "classified": text(), "where": inner() })),
            json!({ "classified": "essential", "where": "since < 2000" }),
        ),
        ("HasExpression", partial(&["has"], has), json!({ "has": "out", "type": "depends" })),
        ("PropertyExpression", condition, json!({ "property": "size", "operator": ">=", "value": 5 })),
    ];
    let text_form = json!({ "type": "string", "description": "The text form." });
    let references = forms.iter().map(|(name, ..)| reference(name));
    let expression = json!({ "oneOf": std::iter::once(text_form).chain(references).collect::<Json>() });
    let expression_example = json!({ "all": [
        { "property": "size", "operator": ">=", "value": 5 },
        { "none": ["section = shells"] },
        { "has": "out", "type": "depends", "to": { "property": "name", "value": "libc6" } },
    ] });
    let names = || json!({ "oneOf": [text(), list(text())] });
    let order_text = "A property, or a header such as `@createdAt`; `-` for largest first.";
    let order_object = partial(&[], json!({ "property": text(), "header": text(), "descending": flag() }));
    let order = || json!({ "oneOf": [{ "type": "string", "description": order_text }, reference("Order")] });
    // No `default`: openapi-typescript requires every property that has one.
    let either = |description: &str, names: &[&str]| json!({ "type": "string", "enum": names, "description": description });
    let find = partial(
        &[],
        json!({
            "kind": either("`entity` if left out.", &["entity", "relationship"]),
            "q": { "type": "string", "description": "A search in its text form; the other fields add to it." },
            "type": names(),
            "only": names(),
            "classified": names(),
            "where": { "oneOf": [reference("Expression"), list(reference("Expression"))] },
            "status": names(),
            "deleted": either("`without` if left out.", &["without", "with", "only"]),
            "proxies": either("`without` if left out.", &["without", "with"]),
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
    let mut schemas = vec![
        ("Find", find, find_example),
        ("Order", order_object, json!({ "property": "size", "descending": true })),
        ("Expression", expression, expression_example),
        ("Count", object(json!({ "count": number() })), json!({ "count": 2 })),
        ("Explanation", explanation, explanation_example),
    ];
    schemas.extend(forms);
    schemas
}
