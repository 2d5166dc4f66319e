//! Merges and histories of containers: racks that contain servers.

use serde_json::Value as Json;

use crate::support::{Done, Place};

const TYPES: &str = r#"{"type": {"kind": "entity", "name": "rack"}}
{"type": {"kind": "entity", "name": "server"}}
{"type": {"kind": "relationship", "name": "holds", "from": {"type": "rack", "many": false}, "to": {"type": "server"}, "containment": {}}}
{"type": {"kind": "relationship", "name": "powers"}}
"#;

fn rack(number: usize) -> String {
    format!("{{\"entity\": {{\"id\": \"rack{number}\", \"type\": \"rack\"}}}}\n")
}

fn server(rack: usize, number: usize) -> String {
    format!("{{\"entity\": {{\"id\": \"s{rack}-{number}\", \"type\": \"server\"}}}}\n")
}

fn holds(rack: usize, number: usize) -> String {
    format!(
        "{{\"relationship\": {{\"id\": \"h{rack}-{number}\", \"type\": \"holds\", \"from\": \"rack{rack}\", \"to\": \"s{rack}-{number}\", \"properties\": {{\"name\": \"s{number}\"}}}}}}\n"
    )
}

fn servers(rack: usize) -> String {
    let both = |number| [server(rack, number), holds(rack, number)].concat();
    (1..=5).map(both).collect()
}

/// Ten racks of five servers.
fn loaded() -> Place {
    let place = Place::new();
    let racks: String = (1..=10).map(rack).collect();
    let all: String = (1..=10).map(servers).collect();
    place.write("racks.jsonl", &[TYPES, &racks, &all].concat());
    place.ok(&["import", "racks.jsonl"]);
    place
}

fn merge(place: &Place, text: &str, max: &str) -> Done {
    place.write("next.jsonl", text);
    place.run(&["import", "next.jsonl", "--merge", "--delete-missing", "--delete-missing-max", max])
}

fn counts(place: &Place) -> (u64, u64) {
    let stats = place.json_one(&["stats"]);
    let total = |of: &str| stats[of]["total"].as_u64().unwrap();
    (total("entities"), total("relationships"))
}

fn all_but(missing: usize) -> String {
    let there = (1..=10).filter(move |number| *number != missing);
    let racks: String = there.clone().map(rack).collect();
    [racks, there.map(servers).collect()].concat()
}

#[test]
fn a_container_and_its_children_may_disappear_together() {
    let place = loaded();
    let done = merge(&place, &all_but(10), "11%");
    assert_eq!(done.code, 0, "{done:?}");
    assert!(done.out.contains(", deleted 1, with 10 more;"), "{done:?}");
    assert_eq!(counts(&place), (54, 45));
    let again = merge(&place, &all_but(10), "0%");
    assert!(again.code == 0 && again.out.starts_with("imported 0 changes"), "{again:?}");
}

#[test]
fn the_guard_counts_instances_that_a_deletion_takes_along() {
    let place = loaded();
    let racks: String = (1..10).map(rack).collect();
    // One of ten racks, with five servers and five relationships: 11 of 20.
    let done = merge(&place, &racks, "54%");
    assert_eq!(done.code, 1, "{done:?}");
    let text = "at most 54% of the 20 instances of the types that the input names and of those that go with them, found 11";
    assert!(done.err.contains(text) && done.err.contains("--delete-missing-max 55"), "{done:?}");
    assert_eq!(counts(&place), (60, 50));
    let done = merge(&place, &racks, "55%");
    assert!(done.code == 0 && done.out.contains(", deleted 1, with 10 more;"), "{done:?}");
    let place = loaded();
    place.write("next.jsonl", &racks);
    let json = place.json_one(&[
        "import",
        "next.jsonl",
        "--merge",
        "--delete-missing",
        "--delete-missing-max",
        "55",
    ]);
    assert_eq!((&json["deleted"], &json["takenAlong"], &json["kept"]), (&1.into(), &10.into(), &0.into()));
}

#[test]
fn a_container_with_a_child_that_the_files_name_stays_and_is_listed() {
    let place = loaded();
    // Rack 10 and four of its servers are gone; the fifth is named.
    let done = merge(&place, &[all_but(10), server(10, 5)].concat(), "20%");
    assert_eq!(done.code, 6, "{done:?}");
    let text = "entity rack10 stays: deleting it would delete entity s10-5, which the input names";
    assert!(done.err.contains(text), "{done:?}");
    assert!(done.out.contains(", deleted 5, with 4 more, kept 1;"), "{done:?}");
    // The relationship that contains the server goes, because its type is named; the next import deletes the rack.
    for (id, code) in [("rack10", 0), ("s10-5", 0), ("s10-1", 3)] {
        assert_eq!(place.run(&["get", id]).code, code, "{id}");
    }
}

#[test]
fn a_container_with_a_child_that_is_newer_than_the_import_stays() {
    let place = loaded();
    // The import itself creates a server in a rack that no line names.
    let text = [all_but(10), server(10, 6), holds(10, 6)].concat();
    let done = merge(&place, &text, "30%");
    assert_eq!(done.code, 6, "{done:?}");
    assert!(done.err.contains("entity rack10 stays: "), "{done:?}");
    for (id, code) in [("rack10", 0), ("s10-6", 0), ("s10-1", 3)] {
        assert_eq!(place.run(&["get", id]).code, code, "{id}");
    }
}

#[test]
fn a_named_relationship_keeps_its_ends() {
    let place = loaded();
    let link = r#"{"relationship": {"id": "p", "type": "powers", "from": "rack9", "to": "rack10"}}"#;
    place.write("p.jsonl", link);
    place.ok(&["import", "p.jsonl"]);
    let done = merge(&place, &[&all_but(10), link].concat(), "30%");
    assert_eq!(done.code, 6, "{done:?}");
    let text = "entity rack10 stays: deleting it would delete relationship p, which the input names";
    assert!(done.err.contains(text), "{done:?}");
    assert_eq!(place.run(&["get", "rack10"]).code, 0);
}

fn tree(place: &Place) -> Vec<Json> {
    place.json(&["relationships", "rack1"]).iter().map(|link| link["to"].clone()).collect()
}

#[test]
fn the_order_of_lines_never_decides_where_a_child_lands() {
    let named = [server(1, 1), rack(1)];
    for lines in [[&named[0], &named[1]], [&named[1], &named[0]]] {
        let place = loaded();
        place.write("delete.json", r#"{"action": "delete", "kind": "entity", "id": "rack1"}"#);
        place.ok(&["apply", "delete.json"]);
        place.write("back.jsonl", &lines.map(String::as_str).concat());
        place.ok(&["import", "back.jsonl", "--merge"]);
        // The named child is back in its place, and only that child.
        assert_eq!(tree(&place), ["s1-1"]);
        assert_eq!(place.run(&["get", "s1-2"]).code, 3);
        let log = place.ok(&["log", "--limit", "1"]);
        assert!(log.contains("restore server s1-1"), "{log}");
        assert!(place.ok(&["import", "back.jsonl", "--merge"]).starts_with("imported 0 changes"));
    }
    // In any order, and in batches of one, everything that the files name comes back.
    for batch in ["5000", "1"] {
        let place = loaded();
        place.write("delete.json", r#"{"action": "delete", "kind": "entity", "id": "rack1"}"#);
        place.ok(&["apply", "delete.json"]);
        place.write("back.jsonl", &[servers(1), rack(1)].concat());
        place.run(&["import", "back.jsonl", "--merge", "--batch", batch]);
        assert_eq!(tree(&place).len(), 5, "{batch}");
        assert!(place.ok(&["import", "back.jsonl", "--merge"]).starts_with("imported 0 changes"));
    }
}

// Compaction writes lists of instances, which an import did not read.
#[test]
fn the_history_of_a_compacted_repository_imports() {
    let place = loaded();
    let apply = |text: &str| {
        place.write("ops.json", text);
        place.ok(&["apply", "ops.json"]);
    };
    apply(r#"{"action": "delete", "kind": "entity", "id": "rack1"}"#);
    apply(r#"{"action": "restore", "kind": "entity", "id": "rack1"}"#);
    apply(r#"{"action": "delete", "kind": "entity", "id": "rack1"}"#);
    apply(r#"{"action": "restore", "kind": "entity", "id": "s1-1"}"#);
    apply(
        r#"{"action": "create", "kind": "relationship", "id": "n", "type": "holds", "from": "rack2", "to": "s1-1", "properties": {"name": "new"}}"#,
    );
    apply(r#"{"action": "purge", "kind": "entity", "id": "rack1"}"#);
    place.ok(&["compact"]);
    let history = place.ok(&["export", "--history"]);
    assert!(history.contains("\"instances\":"), "the compaction wrote no list");
    let copy = Place::new();
    copy.write("history.jsonl", &history);
    copy.ok(&["import", "history.jsonl"]);
    assert_eq!(copy.ok(&["export", "--history"]), history);
    assert!(copy.ok(&["check"]).contains("all is well"));
    // No operation has such a list.
    place.write("ops.json", r#"{"action": "delete", "instances": [{"kind": "entity", "id": "rack2"}]}"#);
    assert_eq!(place.run(&["apply", "ops.json"]).code, 2);
}
