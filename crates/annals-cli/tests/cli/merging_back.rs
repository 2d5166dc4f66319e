//! Merges that bring an earlier state back, and merges of files that hold only a part of the properties.

use serde_json::{Value as Json, json};

use crate::support::Place;

fn value(place: &Place, id: &str, name: &str) -> Json {
    place.json_one(&["get", id])["properties"][name].clone()
}

/// Entities e1 to e20 of type t, from a table.
fn table() -> Place {
    let place = Place::new();
    let rows: String = (1..=20).map(|number| format!("e{number},{number}\n")).collect();
    place.write("e.csv", &format!("id,n\n{rows}"));
    place.ok(&["import", "e.csv", "--id", "id", "--type", "t"]);
    place
}

fn spoil(place: &Place) {
    place.write("bad.csv", "id,n\ne2,29\ne3,39\n");
    place.ok(&["import", "bad.csv", "--id", "id", "--type", "t", "--merge"]);
    assert_eq!(value(place, "e2", "n"), json!("29"));
}

// The merge of an export wrote versions with the old valid times of its lines, which were not in force; and the deletion
// took every instance without a new version in force for one that the file does not name.
#[test]
fn a_named_instance_is_never_deleted_by_delete_missing() {
    let place = table();
    place.write("monday.jsonl", &place.ok(&["export"]));
    spoil(&place);
    let done = place.run(&["import", "monday.jsonl", "--merge", "--delete-missing"]);
    assert_eq!(done.code, 0, "{done:?}");
    assert!(!done.out.contains("deleted"), "{done:?}");
    assert_eq!(place.json_one(&["stats"])["entities"]["total"], 20);
}

#[test]
fn an_earlier_export_brings_its_state_back_and_importing_it_again_writes_nothing() {
    let place = table();
    place.write("monday.jsonl", &place.ok(&["export"]));
    spoil(&place);
    place.write("more.jsonl", r#"{"entity": {"id": "e4", "type": "t", "properties": {"extra": 1}}}"#);
    place.ok(&["import", "more.jsonl", "--merge"]);
    let merge = ["import", "monday.jsonl", "--merge", "--replace", "--delete-missing"];
    assert!(place.ok(&merge).starts_with("imported 3 changes in 1 records"));
    let properties = |line: &str| serde_json::from_str::<Json>(line).unwrap()["entity"]["properties"].clone();
    let before: Vec<Json> = place.read("monday.jsonl").lines().map(properties).collect();
    let after: Vec<Json> = place.ok(&["export"]).lines().map(properties).collect();
    assert_eq!(before, after);
    assert!(place.ok(&merge).starts_with("imported 0 changes in 0 records"));
}

#[test]
fn a_merged_change_is_valid_from_now_whatever_the_line_says() {
    let place = Place::new();
    let line = |n: u32, from: &str| {
        format!(
            r#"{{"entity": {{"id": "a", "type": "t", "properties": {{"n": {n}}}, "validFrom": "{from}"}}}}"#
        )
    };
    let merge = |text: &str, more: &[&str]| {
        place.write("a.jsonl", text);
        place.run(&[&["import", "a.jsonl", "--merge"], more].concat())
    };
    assert_eq!(merge(&line(1, "2024-01-01"), &[]).code, 0);
    assert_eq!(merge(&line(2, "2024-01-01"), &[]).code, 0);
    assert_eq!(value(&place, "a", "n"), json!(2));
    let in_2025 = place.json_one(&["get", "a", "--valid-at", "2025-01-01"]);
    assert_eq!(in_2025["properties"]["n"], 1, "the past stays");
    // On request the time of the line counts, but it cannot be before the version in force.
    let done = merge(&line(3, "2024-06-01"), &["--merge-valid-times"]);
    assert_eq!(done.code, 6, "{done:?}");
    assert!(done.err.contains("expected a valid time from ") && done.err.contains("2024-06-01"), "{done:?}");
    let done = merge(&line(3, "2024-06-01"), &["--valid-from", "2024-06-01"]);
    assert_eq!(done.code, 6, "{done:?}");
    let place = Place::new();
    let merge = |text: &str, more: &[&str]| {
        place.write("a.jsonl", text);
        place.run(&[&["import", "a.jsonl", "--merge"], more].concat())
    };
    assert_eq!(merge(&line(1, "2024-01-01"), &[]).code, 0);
    assert_eq!(merge(&line(2, "2024-06-01"), &["--merge-valid-times"]).code, 0);
    let in_may = place.json_one(&["get", "a", "--valid-at", "2024-05-01"]);
    let in_july = place.json_one(&["get", "a", "--valid-at", "2024-07-01"]);
    assert_eq!((&in_may["properties"]["n"], &in_july["properties"]["n"]), (&json!(1), &json!(2)));
    assert_eq!(place.run(&["import", "a.jsonl", "--merge-valid-times"]).code, 2, "only with --merge");
}

// A table with fewer columns removed all other properties.
#[test]
fn a_merge_changes_only_the_columns_of_the_file() {
    let place = Place::new();
    place.write("all.csv", "id,name,rows:int\nt1,orders,5\nt2,users,6\n");
    place.ok(&["import", "all.csv", "--id", "id", "--type", "table"]);
    place.write("stewards.csv", "id,steward,name\nt1,bob,orders\nt2,,\n");
    let merge = ["import", "stewards.csv", "--id", "id", "--type", "table", "--merge"];
    assert!(place.ok(&merge).starts_with("imported 2 changes"));
    let properties = |id: &str| place.json_one(&["get", id])["properties"].clone();
    assert_eq!(properties("t1"), json!({"id": "t1", "name": "orders", "rows": 5, "steward": "bob"}));
    assert_eq!(properties("t2"), json!({"id": "t2", "rows": 6}), "an empty cell removes");
    assert!(place.ok(&merge).starts_with("imported 0 changes"));
    assert!(place.ok(&[&merge[..], &["--replace"]].concat()).starts_with("imported 2 changes"));
    assert_eq!(properties("t1"), json!({"id": "t1", "name": "orders", "steward": "bob"}));
    assert_eq!(properties("t2"), json!({"id": "t2"}));
    // Lines of JSON: a member changes its property, and null removes it.
    place.write(
        "more.jsonl",
        r#"{"entity": {"id": "t1", "type": "table", "properties": {"name": null, "rows": 7}}}"#,
    );
    assert!(place.ok(&["import", "more.jsonl", "--merge"]).starts_with("imported 1 changes"));
    assert_eq!(properties("t1"), json!({"id": "t1", "rows": 7, "steward": "bob"}));
    assert!(place.ok(&["import", "more.jsonl", "--merge"]).starts_with("imported 0 changes"));
}

#[test]
fn an_empty_cell_gives_an_attribute_its_default() {
    let place = Place::new();
    place.write(
        "types.jsonl",
        r#"{"type": {"kind": "entity", "name": "t", "attributes": [{"name": "state", "type": "string", "default": "open"}]}}"#,
    );
    place.write("t.csv", "id,state\na,\n");
    place.ok(&["import", "types.jsonl", "t.csv", "--id", "id", "--type", "t"]);
    let merge = ["import", "t.csv", "--id", "id", "--type", "t", "--merge"];
    assert!(place.ok(&merge).starts_with("imported 0 changes"));
    assert_eq!(value(&place, "a", "state"), json!("open"));
}

const ENDS: &str = r#"{"entity": {"id": "a", "type": "t"}}
{"entity": {"id": "b", "type": "t"}}
{"entity": {"id": "c", "type": "t"}}
"#;

#[test]
fn a_deleted_instance_returns_with_the_ends_the_type_and_the_status_of_its_line() {
    let place = Place::new();
    let types: String = ["entity t", "relationship k", "relationship other"]
        .map(|told| {
            let (kind, name) = told.split_once(' ').unwrap();
            format!(
                r#"{{"type": {{"kind": "{kind}", "name": "{name}", "statuses": ["draft", "active"]}}}}{}"#,
                "\n"
            )
        })
        .concat();
    place.write("types.jsonl", &types);
    place.write(
        "r.jsonl",
        &[
            ENDS,
            r#"{"relationship": {"id": "r", "type": "k", "from": "a", "to": "b", "properties": {"x": 1}}}"#,
        ]
        .concat(),
    );
    place.ok(&["import", "types.jsonl", "r.jsonl"]);
    place.write(
        "delete.json",
        r#"[{"action": "delete", "kind": "relationship", "id": "r"}, {"action": "delete", "kind": "entity", "id": "c"}]"#,
    );
    place.ok(&["apply", "delete.json"]);
    place.write(
        "back.jsonl",
        r#"{"entity": {"id": "c", "type": "t", "status": "draft"}}
{"relationship": {"id": "r", "type": "other", "from": "a", "to": "c", "status": "draft", "properties": {"x": 2}}}"#,
    );
    place.ok(&["import", "back.jsonl", "--merge"]);
    let back = place.json_one(&["get", "--relationship", "r"]);
    let told =
        ["type", "from", "to", "status"].map(|name| back[name].as_str().unwrap_or_default().to_owned());
    assert_eq!(told, ["other", "a", "c", "draft"], "{back}");
    assert_eq!(back["properties"], json!({"x": 2}));
    assert_eq!(place.json_one(&["get", "c"])["status"], "draft");
    assert!(place.ok(&["import", "back.jsonl", "--merge"]).starts_with("imported 0 changes"));
}

const HOSTS: &str = r#"{"type": {"kind": "entity", "name": "host", "attributes": [{"name": "ip", "type": "string", "unique": true}]}}
"#;

fn hosts(place: &Place, rows: &str) {
    place.write("hosts.csv", &format!("id,ip\n{rows}"));
}

#[test]
fn two_rows_that_swap_a_unique_value_merge() {
    let place = Place::new();
    place.write("types.jsonl", HOSTS);
    hosts(&place, "h1,10.0.0.1\nh2,10.0.0.2\nh3,10.0.0.3\n");
    let table = ["import", "hosts.csv", "--id", "id", "--type", "host"];
    place.ok(&["import", "types.jsonl"]);
    place.ok(&table);
    let merge = [&table[..], &["--merge"]].concat();
    hosts(&place, "h1,10.0.0.2\nh2,10.0.0.1\n");
    assert!(place.ok(&merge).starts_with("imported 2 changes in 1 records, refused 0"));
    assert_eq!(
        (value(&place, "h1", "ip"), value(&place, "h2", "ip")),
        (json!("10.0.0.2"), json!("10.0.0.1"))
    );
    // A bad line between the two of a pair does not separate them, and a true conflict is refused.
    hosts(&place, "h1,10.0.0.1\nh4,10.0.0.3\nh5,10.0.0.5\nh6,10.0.0.6\nh2,10.0.0.2\n");
    let done = place.run(&merge);
    assert_eq!(done.code, 6, "{done:?}");
    assert!(done.out.contains("refused 1,"), "{done:?}");
    assert!(
        done.err.contains("hosts.csv:3: ") && done.err.contains("found \"10.0.0.3\" also in h3"),
        "{done:?}"
    );
    assert_eq!(
        (value(&place, "h1", "ip"), value(&place, "h2", "ip")),
        (json!("10.0.0.1"), json!("10.0.0.2"))
    );
}
