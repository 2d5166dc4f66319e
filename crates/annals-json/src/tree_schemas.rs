//! Trees of containers as schemas, each with an example.

use serde_json::{Value as Json, json};

use super::schema::{
    any_object, flag, instant, list, number, object, page_of, partial, reference, text, with,
};

/// The schemas of this file.
///
/// Shape: `[(name, schema, example)]`.
pub fn schemas() -> Vec<(&'static str, Json, Json)> {
    let mut item = any_object();
    item["description"] = "An item with what is below it. Members that are objects are children, arrays of objects are lists, and \
                           all others are properties; an array of scalars is a property of many values. `@id`, `@type`, \
                           `@properties`, `@children` and `@lists` have meanings of their own (docs/trees.md)."
        .into();
    // Without a list: the type of one is declared before.
    let item_example = json!({ "hostname": "r1", "tags": ["core", "lab"], "clock": { "zone": "UTC" } });
    let content = json!({ "description": "A TreeItem, or the value of a property: a Value, or an array of scalars for many values." });
    let entry = partial(
        &["id", "path", "type", "value"],
        json!({
            "id": text(), "path": text(), "property": text(), "type": text(), "value": reference("TreeContent"),
        }),
    );
    let path = "/interfaces/interface[name = 'eth0']";
    let entry_example =
        json!({ "id": "eth0", "path": path, "type": "interface", "value": { "name": "eth0", "mtu": 1500 } });
    let receipt = partial(
        &["position", "instant"],
        json!({ "position": number(), "instant": instant(), "id": { "type": ["string", "null"] } }),
    );
    let place = json!({
        "insert": { "type": "string", "enum": ["first", "last", "before", "after"] }, "sibling": text(),
    });
    let ways = json!({ "from": text(), "to": text(), "root": text() });
    let ways_example = json!({ "from": "/system/clock", "to": "/spare/clock" });
    let past = with(&[json!({ "path": text(), "root": text() }), super::as_of::members()]);
    let past_example = json!({ "path": "/interfaces", "atPosition": 41 });
    let change = partial(
        &["path", "id", "change"],
        json!({
            "path": text(),
            "id": text(),
            "change": { "type": "string", "enum": ["created", "deleted", "moved", "modified"] },
            "from": text(),
            "previous": object(json!({ "before": { "type": ["string", "null"] }, "after": { "type": ["string", "null"] } })),
            "difference": reference("Difference"),
        }),
    );
    let change_example = json!({
        "path": path, "id": "eth0", "change": "modified",
        "difference": {
            "status": null, "properties": { "mtu": { "before": 1500, "after": 9000 } }, "classifications": [],
        },
    });
    let mut page = page_of(reference("TreeEntry"), false);
    page["properties"]["count"] = number();
    vec![
        ("TreeItem", item, item_example.clone()),
        ("TreeContent", content, item_example),
        ("TreeEntry", entry, entry_example.clone()),
        ("TreePage", page, json!({ "items": [entry_example.clone()], "next": null, "count": 1 })),
        (
            "TreeMatches",
            object(json!({ "items": list(reference("TreeEntry")), "hasMore": flag() })),
            json!({ "items": [entry_example], "hasMore": false }),
        ),
        (
            "TreePlan",
            object(json!({ "isLookUp": flag(), "steps": list(text()) })),
            json!({ "isLookUp": true, "steps": ["/interfaces: looks a child up by its name"] }),
        ),
        (
            "TreeReceipt",
            receipt,
            json!({ "position": 42, "instant": "2025-08-09T10:00:00Z", "id": "01890a5d-ac96-774b-bcce-b302099a8057" }),
        ),
        ("TreeMove", partial(&["from", "to"], with(&[ways.clone(), place])), ways_example.clone()),
        ("TreeCopy", partial(&["from", "to"], ways), ways_example),
        ("TreePast", partial(&["path"], past), past_example),
        ("TreeChange", change, change_example.clone()),
        (
            "TreeChangePage",
            page_of(reference("TreeChange"), true),
            json!({ "items": [change_example], "next": "42-100", "count": 117 }),
        ),
    ]
}
