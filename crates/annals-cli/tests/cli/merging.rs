//! `import --merge` and its options. The tests of `annals-exchange` have the rules of merges.

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
fn options_say_what_a_merge_changes_and_from_when() {
    let place = Place::new();
    let write = |n: u32, from: &str| {
        let line = json!({"entity": {"id": "a", "type": "t", "properties": {"n": n}, "validFrom": from}});
        place.write("a.jsonl", &line.to_string());
    };
    let merge = |more: &[&str]| place.run(&[&["import", "a.jsonl", "--merge"], more].concat());
    let properties = |more: &[&str]| place.json_one(&[&["get", "a"], more].concat())["properties"].clone();
    write(1, "2024-01-01");
    assert_eq!(merge(&[]).code, 0);
    write(2, "2024-06-01");
    assert_eq!(merge(&["--merge-valid-times"]).code, 0);
    assert_eq!(properties(&["--valid-at", "2024-05-01"]), json!({"n": 1}));
    assert_eq!(properties(&["--valid-at", "2024-07-01"]), json!({"n": 2}));
    write(3, "2024-01-01");
    assert_eq!(merge(&["--valid-from", "2024-05-01"]).code, 6);
    assert_eq!(merge(&["--valid-from", "2024-08-01"]).code, 0);
    assert_eq!(properties(&["--valid-at", "2024-07-31"]), json!({"n": 2}));
    place.write("a.jsonl", r#"{"entity": {"id": "a", "type": "t", "properties": {"m": 1}}}"#);
    assert_eq!(merge(&[]).code, 0);
    assert_eq!(properties(&[]), json!({"m": 1, "n": 3}));
    assert_eq!(merge(&["--replace"]).code, 0);
    assert_eq!(properties(&[]), json!({"m": 1}));
    place.write("a.jsonl", r#"{"entity": {"id": "a", "type": "other"}}"#);
    let done = merge(&[]);
    assert_eq!(done.code, 6, "{done:?}");
    assert!(done.err.starts_with("a.jsonl:1: ") && done.err.contains("found type t"), "{done:?}");
    assert_eq!(merge(&["--resume"]).code, 2);
    for option in ["--replace", "--merge-valid-times", "--delete-missing"] {
        assert_eq!(place.run(&["import", "a.jsonl", option]).code, 2, "{option} only with --merge");
    }
}

#[test]
fn a_merge_deletes_what_the_file_does_not_name_up_to_a_share() {
    let place = Place::new();
    let tables = |count: usize| (0..count).map(|number| table(&format!("t{number}"), 1)).collect::<String>();
    place.write("crawl.jsonl", &[tables(20), reads("t1", "t19", "x")].concat());
    place.ok(&["import", "crawl.jsonl"]);
    let merge = |more: &[&str]| {
        place.run(&[&["import", "crawl.jsonl", "--merge", "--delete-missing"], more].concat())
    };
    place.write("crawl.jsonl", &tables(10));
    let done = merge(&[]);
    assert_eq!(done.code, 1, "{done:?}");
    assert!(done.err.contains("at most 10% of the 21 instances"), "{done:?}");
    assert!(done.err.contains("say --delete-missing-max 53"), "{done:?}");
    place.write("crawl.jsonl", &[&tables(19), "{\"entity\": {}}\n"].concat());
    let done = merge(&["--delete-missing-max", "100%"]);
    assert_eq!(done.code, 6, "{done:?}");
    assert!(
        done.err.contains("note: 1 refused, so nothing that the input does not name is deleted"),
        "{done:?}"
    );
    place.write("crawl.jsonl", &tables(19));
    let done = place.json_one(&["import", "crawl.jsonl", "--merge", "--delete-missing"]);
    let told = ["deleted", "takenAlong", "kept", "changes"].map(|name| done[name].clone());
    assert_eq!(told, [1, 1, 0, 1].map(|count| json!(count)), "{done}");
    place.write("crawl.jsonl", &tables(18));
    let done = merge(&["--delete-missing-max", "11%"]);
    assert!(done.out.contains(", deleted 1;"), "{done:?}");
    assert_eq!(place.json_one(&["stats"])["entities"]["total"], 18);
    for bad in ["101%", "-1", "x", ""] {
        assert_eq!(merge(&["--delete-missing-max", bad]).code, 2, "{bad}");
    }
}
