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

const TASK: &str = r#"{"type": {"kind": "entity", "name": "task", "supertypes": ["thing"], "closed": true, "attributes": [{"name": "state", "type": "string", "enum": "state"}]}}
"#;
const STATE: &str = r#"{"type": {"kind": "enum", "name": "state", "elements": [{"ordinal": 0, "name": "open"}]}}
"#;
const THING: &str = r#"{"type": {"kind": "entity", "name": "thing"}}
"#;

fn task(id: &str, state: &str) -> String {
    format!(
        "{{\"entity\": {{\"id\": \"{id}\", \"type\": \"task\", \"properties\": {{\"state\": \"{state}\"}}}}}}\n"
    )
}

#[test]
fn types_of_one_import_stand_in_any_order() {
    let place = Place::new();
    place.write("a.jsonl", &[&*task("one", "open"), TASK, &task("two", "wrong")].concat());
    place.write("b.jsonl", &[STATE, THING, &task("three", "open")].concat());
    let done = place.run(&["import", "a.jsonl", "b.jsonl"]);
    assert_eq!(done.code, 6, "{done:?}");
    assert!(done.err.starts_with("a.jsonl:3: ") && done.err.lines().count() == 1, "{done:?}");
    assert!(done.out.starts_with("imported 5 changes"), "{done:?}");
    let done = place.run(&["import", "a.jsonl", "b.jsonl", "--resume"]);
    assert!(done.out.starts_with("imported 0 changes in 0 records, refused 1, skipped 5"), "{done:?}");
}

#[test]
fn types_in_a_row_of_standard_input_stand_in_any_order() {
    let place = Place::new();
    place.write("input", &[TASK, STATE, THING, &task("one", "open"), &task("two", "wrong")].concat());
    let input = std::fs::File::open(place.path("input")).unwrap();
    let output = place.command(&["import", "jsonl", "-"]).stdin(input).output().unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert!(err.starts_with("-:5: ") && err.lines().count() == 1, "{err}");
}

// The type was refused and its instances came in unchecked; then the type could no longer be declared.
#[test]
fn instances_of_a_refused_type_are_refused_with_its_line() {
    let place = Place::new();
    let marked = r#"{"entity": {"id": "marked", "type": "other", "classifications": [{"name": "mark"}]}}
"#;
    let free = marked.replace("mark\"", "free\"").replace("marked", "other");
    // Of the first the enum is missing; the second is no type at all.
    let mark = r#"{"type": {"kind": "classification", "name": "mark", "atributes": []}}
"#;
    place.write("types.jsonl", &[TASK, THING, mark].concat());
    place.write("people.csv", ":ID,:LABEL\nrow,task\n");
    place.write("tasks.jsonl", &[&*task("one", "wrong"), marked, &free].concat());
    let import = ["import", "tasks.jsonl", "people.csv", "types.jsonl"];
    let done = place.run(&import);
    assert_eq!(done.code, 6, "{done:?}");
    let lines: Vec<&str> = done.err.lines().collect();
    let find = |start: &str| {
        *lines.iter().find(|line| line.starts_with(start)).unwrap_or_else(|| panic!("{done:?}"))
    };
    assert!(find("tasks.jsonl:1: ").contains("types.jsonl:1"), "{done:?}");
    assert!(find("tasks.jsonl:2: ").contains("types.jsonl:3"), "{done:?}");
    assert!(find("people.csv:2: ").contains("types.jsonl:1"), "{done:?}");
    assert_eq!(lines.len(), 5, "{done:?}");
    assert_eq!(place.json_one(&["stats"])["entities"]["total"], 1);
    // Once the types are repaired, all of it is tried again.
    let mark = mark.replace("atributes", "attributes");
    place.write("types.jsonl", &[TASK, THING, &mark, STATE].concat());
    place.write("tasks.jsonl", &[&*task("one", "open"), marked, &free].concat());
    let done = place.run(&[&import[..], &["--resume"]].concat());
    assert!(done.out.starts_with("imported 6 changes"), "{done:?}");
    assert_eq!(place.json_one(&["stats"])["entities"]["total"], 4);
}
