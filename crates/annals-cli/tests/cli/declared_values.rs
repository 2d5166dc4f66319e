//! Values of JSON, read as the attributes of their types declare them.

use serde_json::{Value as Json, json};

use crate::support::Place;

const TYPES: &str = r#"{"type": {"kind": "entity", "name": "t", "attributes": [
{"name": "f", "type": "float"}, {"name": "d", "type": "decimal", "minimum": 0, "maximum": "9.5"}, {"name": "day", "type": "date"},
{"name": "at", "type": "timestamp"}, {"name": "tags", "type": "string", "many": true},
{"name": "search", "type": "list", "items": "string"}, {"name": "sizes", "type": "list", "items": "float"},
{"name": "name", "type": "string"}]}}
{"type": {"kind": "relationship", "name": "r", "attributes": [{"name": "f", "type": "float"}]}}
{"type": {"kind": "classification", "name": "c", "attributes": [{"name": "d", "type": "decimal"}]}}
"#;

fn typed() -> Place {
    let place = Place::new();
    let lines = TYPES.replace(",\n", ", ").replace("[\n", "[");
    place.write("types.jsonl", &lines);
    place.ok(&["import", "types.jsonl"]);
    place
}

fn given() -> Json {
    json!({"f": 1, "d": "1.50", "day": "2025-01-01", "at": "2025-01-01T10:00:00Z", "tags": ["b", "a", "b"],
        "search": ["z", "a", "z"], "sizes": [1, 2.5]})
}

fn stored() -> Json {
    json!({"f": 1.0, "d": {"$decimal": "1.50"}, "day": {"$date": "2025-01-01"},
        "at": {"$timestamp": "2025-01-01T10:00:00Z"}, "tags": {"$set": ["a", "b"]},
        "search": ["z", "a", "z"], "sizes": [1.0, 2.5]})
}

#[test]
fn operations_read_values_as_their_types_declare_them() {
    let place = typed();
    place.write(
        "ops.json",
        &json!([
            {"action": "create", "kind": "entity", "id": "a", "type": "t", "properties": given(),
                "classifications": [{"name": "c", "properties": {"d": 1.5}}]},
            {"action": "create", "kind": "entity", "id": "b", "type": "t", "properties": {"name": "x"}},
            {"action": "update", "kind": "entity", "id": "b", "patch": {"d": 2, "f": 3}},
            {"action": "create", "kind": "relationship", "id": "l", "type": "r", "from": "a", "to": "b", "properties": {"f": 7}},
            {"action": "upsert", "kind": "entity", "id": "u", "type": "t", "properties": {"f": 2}},
        ])
        .to_string(),
    );
    place.ok(&["apply", "ops.json"]);
    let found = place.json_one(&["get", "a"]);
    assert_eq!(found["properties"], stored());
    assert_eq!(found["classifications"]["c"]["properties"], json!({"d": {"$decimal": "1.5"}}));
    assert_eq!(
        place.json_one(&["get", "b"])["properties"],
        json!({"name": "x", "d": {"$decimal": "2"}, "f": 3.0})
    );
    assert_eq!(place.json_one(&["get", "--relationship", "l"])["properties"], json!({"f": 7.0}));
    assert_eq!(place.json_one(&["get", "u"])["properties"], json!({"f": 2.0}));
    // A number is no text, and a text that is no number is no decimal.
    for bad in [json!({"name": 5}), json!({"d": "1,50"}), json!({"d": 10}), json!({"day": "yesterday"})] {
        let operation = json!({"action": "create", "kind": "entity", "type": "t", "properties": bad});
        place.write("bad.json", &operation.to_string());
        let done = place.run(&["apply", "bad.json"]);
        assert!(done.code == 1 && done.err.contains("[invalid-property]"), "{bad}: {done:?}");
    }
}

#[test]
fn lines_read_values_as_their_types_declare_them() {
    let place = typed();
    let line = json!({"entity": {"id": "a", "type": "t", "properties": given()}});
    place.write("a.jsonl", &format!("{line}\n"));
    place.ok(&["import", "a.jsonl"]);
    assert_eq!(place.json_one(&["get", "a"])["properties"], stored());
    assert!(place.ok(&["import", "a.jsonl", "--merge"]).starts_with("imported 0 changes"));
    assert!(place.ok(&["import", "a.jsonl", "--merge", "--replace"]).starts_with("imported 0 changes"));
}

// The order of search domains has a meaning: an array became a set.
#[test]
fn an_array_in_a_tree_keeps_order_and_duplicates_unless_its_attribute_has_many_values() {
    let place = typed();
    place.write("put.json", r#"{"search": ["z", "a", "z"], "levels": [3, 1, 3]}"#);
    place.ok(&["put", "/resolver", "put.json"]);
    let shown = |path: &str| place.json_one(&["cat", path]);
    assert_eq!(shown("/resolver"), json!({"search": ["z", "a", "z"], "levels": [3, 1, 3]}));
    assert_eq!(shown("/resolver/search"), json!(["z", "a", "z"]));
    place.write(
        "t.json",
        &json!({"@type": "t", "search": ["z", "a", "z"], "tags": ["b", "a", "b"]}).to_string(),
    );
    place.ok(&["put", "/typed", "t.json"]);
    assert_eq!(shown("/typed"), json!({"search": ["z", "a", "z"], "tags": ["a", "b"]}));
    // A set without a declaration says so, and can be put back.
    place.write("set.json", r#"{"s": {"$set": [2, 1]}}"#);
    place.ok(&["put", "/sets", "set.json"]);
    assert_eq!(shown("/sets"), json!({"s": {"$set": [1, 2]}}));
}
