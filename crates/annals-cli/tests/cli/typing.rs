//! The command `types`: the shipped model of open metadata types is loaded, listed and verified.

use std::collections::HashSet;
use std::path::Path;

use crate::support::Place;

fn archive() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/open-metadata-types/types.jsonl");
    std::fs::read_to_string(path).unwrap()
}

#[test]
fn the_open_metadata_types_load_in_one_transaction_and_are_what_was_loaded() {
    let place = Place::new();
    // In an order in which hardly anything stands behind what it needs.
    let backwards: Vec<String> = archive().lines().rev().map(str::to_owned).collect();
    place.write("types.jsonl", &backwards.join("\n"));
    let loaded = place.json_one(&["types", "load", "types.jsonl", "--author", "ada"]);
    assert_eq!((&loaded["position"], &loaded["types"]), (&1.into(), &642.into()));
    for (kind, expected) in [("entity", 274), ("relationship", 218), ("classification", 108), ("enum", 42)] {
        assert_eq!(place.json(&["types", "--kind", kind]).len(), expected, "{kind}");
    }
    let all = place.json(&["types"]);
    let count =
        |is_wanted: &dyn Fn(&serde_json::Value) -> bool| all.iter().filter(|known| is_wanted(known)).count();
    let deprecated = |kind: &str| count(&|known| known["kind"] == *kind && known["deprecated"] == true);
    assert_eq!(["entity", "relationship", "classification"].map(deprecated), [16, 18, 4]);
    assert_eq!(count(&|known| known["kind"] == "entity" && known["initialStatus"] == "draft"), 9);
    let attributes: Vec<_> = all.iter().flat_map(|known| known["attributes"].as_array().unwrap()).collect();
    assert_eq!(attributes.len(), 1_004);
    let enums = attributes.iter().filter(|known| known.get("enum").is_some()).count();
    let lists = attributes.iter().filter(|known| known["type"] == "list").count();
    let replaced = attributes.iter().filter(|known| known.get("replacedBy").is_some()).count();
    assert_eq!((enums, lists, replaced), (76, 44, 62));
    let ids: HashSet<&str> = all.iter().map(|known| known["externalId"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), 642);

    let verified = place.json(&["types", "verify", "types.jsonl"]);
    assert!(verified.len() == 642 && verified.iter().all(|known| known["outcome"] == "equal"));
    let api = place.json_one(&["types", "--external-id", "283a127d-3acd-4d64-b558-1fce9db9a35b"]);
    assert_eq!(api["name"], "APIManager");
    assert!(place.ok(&["types", "APIEndpoint"]).contains("from many DeployedAPI to many Endpoint"));
    // Loading the same again changes nothing, and is possible.
    place.ok(&["types", "load", "types.jsonl"]);
    assert_eq!(place.json(&["types", "--at-position", "1"]).len(), 642);
}

#[test]
fn verifying_tells_what_conflicts() {
    let place = Place::with_people();
    place.write(
        "other.jsonl",
        r#"{"kind": "entity", "name": "person", "attributes": [{"name": "name", "type": "integer", "required": true}]}
{"kind": "entity", "name": "place"}
"#,
    );
    let done = place.run(&["types", "verify", "other.jsonl"]);
    assert_eq!(done.code, 1, "{done:?}");
    for part in ["person: conflicting", "! attribute name: value type", "place: unknown"] {
        assert!(done.out.contains(part), "{part} in {done:?}");
    }
    place.write(
        "bad.jsonl",
        "{\"kind\": \"entity\", \"name\": \"a\"}\n{\"kind\": \"entiti\", \"name\": \"b\"}\n",
    );
    let done = place.run(&["types", "load", "bad.jsonl"]);
    assert!(done.code == 2 && done.err.contains("bad.jsonl:2"), "{done:?}");
}
