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

/// A nightly file of relationships: its name, the options of its import, its head, and one line.
type Nightly = (&'static str, &'static [&'static str], &'static str, fn(&str, &str) -> String);

/// With and without ids, in each format.
const NIGHTLY: [Nightly; 7] = [
    ("r.jsonl", &["--key", "column"], "", |from, to| reads(from, to, "x")),
    ("plain.jsonl", &["--from", "f", "--to", "t", "--type", "reads"], "", |from, to| {
        format!("{{\"f\": \"{from}\", \"t\": \"{to}\"}}\n")
    }),
    ("ids.jsonl", &[], "", |from, to| {
        format!(
            "{{\"relationship\": {{\"id\": \"{from}-{to}\", \"type\": \"reads\", \"from\": \"{from}\", \"to\": \"{to}\"}}}}\n"
        )
    }),
    ("r.csv", &[], ":START_ID,:TYPE,:END_ID\n", |from, to| format!("{from},reads,{to}\n")),
    ("keyed.csv", &["--key", "column"], ":START_ID,:TYPE,:END_ID,column\n", |from, to| {
        format!("{from},reads,{to},x\n")
    }),
    ("plain.csv", &["--from", "f", "--to", "t", "--type", "reads"], "f,t\n", |from, to| {
        format!("{from},{to}\n")
    }),
    ("ids.csv", &[], ":START_ID,:TYPE,:END_ID,annals:IGNORE\n", |from, to| {
        format!("{from},reads,{to},\"{{\"\"id\"\": \"\"{from}-{to}\"\"}}\"\n")
    }),
];

const DECLARED: &str = r#"{"type": {"kind": "entity", "name": "n"}}
{"type": {"kind": "relationship", "name": "reads", "attributes": [{"name": "column", "type": "string"}]}}
"#;

/// Types are declared, and not those of the files.
const OTHERS: &str = r#"{"type": {"kind": "entity", "name": "x"}}
{"type": {"kind": "relationship", "name": "y"}}
"#;

// A nightly merge of relationships lost all of them, because none of their type was there, and deleted nothing after that.
#[test]
fn a_merge_begins_a_type_and_deletes_what_is_missing_of_it() {
    for types in ["", DECLARED, OTHERS] {
        for (name, options, head, line) in NIGHTLY {
            let place = Place::new();
            place.write("n.jsonl", types);
            place.write("n.csv", ":ID,:LABEL\na,n\nb,n\nc,n\nd,n\n");
            place.ok(&["import", "n.jsonl"]);
            place.ok(&["import", "n.csv", "--merge"]);
            let merge = |links: &[(&str, &str)], more: &[&str]| {
                let lines = links.iter().map(|(from, to)| line(from, to));
                place.write(name, &[head.to_owned()].into_iter().chain(lines).collect::<String>());
                let done = place.run(&[&["import", name, "--merge"], options, more].concat());
                assert_eq!(done.code, 0, "{name} {types}: {done:?}");
                done.out
            };
            let (first, second) = (&[("a", "b"), ("a", "c")], &[("a", "b"), ("b", "c")]);
            assert!(
                merge(first, &[]).starts_with("imported 2 changes in 1 record, refused 0, skipped 0;"),
                "{name}"
            );
            let again = merge(first, &["--delete-missing"]);
            assert!(
                again.starts_with("imported 0 changes in 0 records, refused 0, skipped 2;"),
                "{name}: {again}"
            );
            let gone = merge(second, &["--delete-missing", "--delete-missing-max", "50"]);
            assert!(gone.contains("skipped 1, deleted 1;"), "{name}: {gone}");
            let found = place.json(&["find", "reads", "--relationships"]);
            let mut ends: Vec<String> =
                found.iter().map(|one| format!("{}{}", one["from"], one["to"]).replace('"', "")).collect();
            ends.sort();
            assert_eq!(ends, ["ab", "bc"], "{name} {types}");
        }
    }
}

// As the manual says, in one command.
#[test]
fn a_merge_of_two_files_begins_their_types() {
    let place = Place::new();
    place.write("n.csv", ":ID,:LABEL\na,n\nb,n\n");
    place.write("r.csv", ":START_ID,:TYPE,:END_ID\na,reads,b\n");
    let done = place.run(&["import", "n.csv", "r.csv", "--merge"]);
    assert_eq!((done.code, done.err.as_str()), (0, ""), "{done:?}");
    // A second type between the same ends. A server takes several files without --delete-missing only.
    let _ = place.path("annals-data");
    place.write("r.csv", ":START_ID,:TYPE,:END_ID\na,reads,b\na,writes,b\nc,writes,b\n");
    let done = place.run(&["import", "n.csv", "r.csv", "--merge", "--delete-missing"]);
    assert_eq!((done.code, done.err.contains("r.csv:4: ")), (6, true), "{done:?}");
    assert!(done.err.contains("put entities before the relationships between them"), "{done:?}");
    assert!(done.out.starts_with("imported 1 change "), "{done:?}");
}
