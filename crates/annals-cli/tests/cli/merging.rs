//! Imports that are compared with what is there.

use serde_json::json;

use crate::support::Place;

const TYPE: &str = r#"{"type": {"kind": "entity", "name": "table", "attributes": [{"name": "state", "type": "string", "default": "open"}]}}
"#;

fn table(id: &str, rows: u64) -> String {
    format!(
        "{{\"entity\": {{\"id\": \"{id}\", \"type\": \"table\", \"properties\": {{\"rows\": {rows}}}, \"classifications\": [{{\"name\": \"pii\"}}]}}}}\n"
    )
}

fn reads(from: &str, to: &str, column: &str) -> String {
    format!(
        "{{\"relationship\": {{\"type\": \"reads\", \"from\": \"{from}\", \"to\": \"{to}\", \"properties\": {{\"column\": \"{column}\"}}}}}}\n"
    )
}

// A nightly crawl came in twice: entities were refused, relationships without ids doubled, types counted as changes.
#[test]
fn a_merge_writes_only_what_differs() {
    let place = Place::new();
    let text = [TYPE, &table("a", 1), &table("b", 2), &reads("a", "b", "x"), &reads("a", "b", "y")].concat();
    place.write("crawl.jsonl", &text);
    let merge = ["import", "crawl.jsonl", "--merge", "--key", "column"];
    assert!(place.ok(&merge).starts_with("imported 5 changes"));
    let position = place.json_one(&["stats"])["position"].clone();
    assert!(place.ok(&merge).starts_with("imported 0 changes in 0 records, refused 0, skipped 5"));
    assert_eq!(place.json_one(&["stats"])["position"], position);
    place.write(
        "crawl.jsonl",
        &[&*text.replace("\"rows\": 2", "\"rows\": 3"), &table("c", 4), &reads("b", "c", "x")].concat(),
    );
    assert!(place.ok(&merge).starts_with("imported 3 changes"));
    assert_eq!(place.json_one(&["get", "b"])["properties"], json!({"rows": 3, "state": "open"}));
    assert_eq!(place.json_one(&["get", "a"])["version"], 1);
    assert_eq!(place.json(&["relationships", "a"]).len(), 2);
    // A deleted entity comes back.
    place.write("delete.json", r#"{"action": "delete", "kind": "entity", "id": "c"}"#);
    place.ok(&["apply", "delete.json"]);
    assert_eq!(place.run(&merge).code, 0);
    assert_eq!(place.json_one(&["get", "c"])["properties"]["rows"], 4);
    assert!(place.ok(&merge).starts_with("imported 0 changes in 0 records"));
}

#[test]
fn rows_of_csv_are_merged() {
    let place = Place::new();
    place.write("n.csv", ":ID,:LABEL,n:int\na,t,1\nb,t;x,2\n");
    place.write("e.csv", ":START_ID,:END_ID,:TYPE,w:int\na,b,knows,1\n");
    place.ok(&["import", "n.csv", "e.csv"]);
    assert!(
        place.ok(&["import", "n.csv", "e.csv", "--merge"]).starts_with("imported 0 changes in 0 records")
    );
    place.write("n.csv", ":ID,:LABEL,n:int\na,t,1\nb,t;y,2\n");
    place.write("e.csv", ":START_ID,:END_ID,:TYPE,w:int\na,b,knows,2\na,b,knows,2\n");
    assert!(place.ok(&["import", "n.csv", "e.csv", "--merge"]).starts_with("imported 2 changes"));
    let classifications = place.json_one(&["get", "b"])["classifications"].clone();
    assert!(classifications["y"].is_object() && classifications["x"].is_null(), "{classifications}");
    let links = place.json(&["relationships", "a"]);
    assert_eq!((links.len(), &links[0]["properties"]["w"]), (1, &json!(2)), "{links:?}");
}

// The tutorial of a catalogue found it: each nightly crawl removed the classifications that people had attached.
#[test]
fn classifications_that_a_line_does_not_state_stay() {
    let place = Place::new();
    let line = |rows: u64, rest: &str| {
        format!(r#"{{"entity": {{"id": "a", "type": "table", "properties": {{"rows": {rows}}}{rest}}}}}"#)
    };
    let merge = |file: &str, text: &str| {
        place.write(file, text);
        place.ok(&["import", file, "--merge"])
    };
    let carried = || place.json_one(&["get", "a"])["classifications"]["pii"]["properties"].clone();
    merge("crawl.jsonl", &line(1, ""));
    place.ok(&["classify", "a", "pii", "by=ada"]);
    assert!(merge("crawl.jsonl", &line(1, "")).starts_with("imported 0 changes"));
    assert!(merge("crawl.jsonl", &line(2, "")).starts_with("imported 1 changes"));
    assert_eq!(carried(), json!({"by": "ada"}));
    assert!(merge("n.csv", ":ID,:LABEL,rows:int\na,table,3\n").starts_with("imported 1 changes"));
    assert_eq!(carried(), json!({"by": "ada"}));
    place.write("delete.json", r#"{"action": "delete", "kind": "entity", "id": "a"}"#);
    place.ok(&["apply", "delete.json"]);
    merge("crawl.jsonl", &line(4, ""));
    assert_eq!(carried(), json!({"by": "ada"}));
    let before = place.ok(&["export"]);
    // A line that states none removes them, and so does an export of an entity without them: a mirror is equal.
    merge("crawl.jsonl", &line(4, r#", "classifications": []"#));
    assert_eq!(carried(), json!(null));
    let mirror = Place::new();
    for (export, wanted) in [(before, json!({"by": "ada"})), (place.ok(&["export"]), json!(null))] {
        mirror.write("export.jsonl", &export);
        mirror.ok(&["import", "export.jsonl", "--merge"]);
        assert_eq!(mirror.json_one(&["get", "a"])["classifications"]["pii"]["properties"], wanted);
    }
}

#[test]
fn what_a_merge_cannot_compare_is_refused() {
    let place = Place::new();
    place.write("a.jsonl", &table("a", 1));
    place.ok(&["import", "a.jsonl"]);
    place.write("a.jsonl", &table("a", 1).replace("\"table\"", "\"other\""));
    let done = place.run(&["import", "a.jsonl", "--merge"]);
    assert_eq!(done.code, 6, "{done:?}");
    assert!(done.err.contains("a.jsonl:1: ") && done.err.contains("table"), "{done:?}");
    assert_eq!(place.run(&["import", "a.jsonl", "--merge", "--resume"]).code, 2);
}
