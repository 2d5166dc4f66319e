//! Merges that delete what the files no longer name.

use serde_json::json;

use crate::support::{Done, Place};

const MERGE: [&str; 5] = ["import", "crawl.jsonl", "--merge", "--delete-missing", "--delete-missing-max"];

fn table(number: usize) -> String {
    format!(
        "{{\"entity\": {{\"id\": \"t{number}\", \"type\": \"table\", \"properties\": {{\"rows\": {number}}}}}}}\n"
    )
}

/// Each table reads the first one; without ids.
fn reads(number: usize) -> String {
    format!("{{\"relationship\": {{\"type\": \"reads\", \"from\": \"t{number}\", \"to\": \"t0\"}}}}\n")
}

fn crawl(numbers: impl Iterator<Item = usize> + Clone) -> String {
    numbers.clone().map(table).chain(numbers.filter(|number| *number > 0).map(reads)).collect()
}

/// 20 tables, 19 relationships, and what no crawl tells of.
fn loaded() -> Place {
    let place = Place::new();
    let others = r#"{"entity": {"id": "ada", "type": "person"}}
{"relationship": {"id": "owns", "type": "owns", "from": "ada", "to": "t3"}}
{"type": {"kind": "entity", "name": "table"}}
{"type": {"kind": "entity", "name": "view", "supertypes": ["table"]}}
{"entity": {"id": "v", "type": "view"}}
"#;
    place.write("crawl.jsonl", &crawl(0..20));
    place.write("others.jsonl", others);
    place.ok(&["import", "crawl.jsonl", "others.jsonl", "--author", "test"]);
    place
}

fn merge(place: &Place, max: &str) -> Done {
    place.run(&[&MERGE[..], &[max]].concat())
}

fn counts(place: &Place) -> (u64, u64) {
    let stats = place.json_one(&["stats"]);
    let total = |of: &str| stats[of]["total"].as_u64().unwrap();
    (total("entities"), total("relationships"))
}

#[test]
fn what_the_files_do_not_name_is_deleted_of_their_types_only() {
    let place = loaded();
    assert_eq!(counts(&place), (22, 20));
    // Without t1 and t3, and with a new one. A changed one stays.
    let text =
        crawl((0..21).filter(|number| ![1, 3].contains(number))).replace("\"rows\": 7}", "\"rows\": 8}");
    place.write("crawl.jsonl", &text);
    let done = merge(&place, "13%");
    assert_eq!(done.code, 0, "{done:?}");
    // Two tables with their three relationships; the person, the view and its type are no business of the crawl.
    assert!(done.out.contains(", deleted 2, with 3 more;"), "{done:?}");
    assert_eq!(counts(&place), (21, 18));
    for (id, code) in [("t1", 3), ("t3", 3), ("t2", 0), ("t20", 0), ("ada", 0), ("v", 0)] {
        assert_eq!(place.run(&["get", id]).code, code, "{id}");
    }
    let position = place.json_one(&["stats"])["position"].clone();
    let again = merge(&place, "0%");
    assert_eq!(
        (again.code, again.out.starts_with("imported 0 changes in 0 records")),
        (0, true),
        "{again:?}"
    );
    assert_eq!(place.json_one(&["stats"])["position"], position);
    // A relationship that is no longer named goes alone.
    place.write("crawl.jsonl", &text.replace(&reads(5), ""));
    let done = merge(&place, "10%");
    assert!(done.out.contains(", deleted 1;"), "{done:?}");
    assert_eq!(counts(&place), (21, 17));
}

#[test]
fn more_than_the_guard_allows_is_refused_as_a_whole() {
    let place = loaded();
    place.write("crawl.jsonl", &crawl(0..10));
    let done = place.run(&["import", "crawl.jsonl", "--merge", "--delete-missing"]);
    assert_eq!(done.code, 1, "{done:?}");
    let text = "at most 10% of the 39 instances of the types that the input names and of those that go with them, found 20;";
    assert!(done.err.contains(text) && done.err.contains("say --delete-missing-max 52"), "{done:?}");
    assert_eq!(counts(&place), (22, 20));
    assert_eq!(merge(&place, "52%").code, 0);
    assert_eq!(counts(&place), (12, 10));
    // An empty file names no types.
    place.write("crawl.jsonl", "");
    assert_eq!(merge(&place, "100%").code, 0);
    assert_eq!(counts(&place), (12, 10));
    for bad in ["101%", "-1", "x", ""] {
        assert_eq!(merge(&place, bad).code, 2, "{bad}");
    }
    assert_eq!(place.run(&["import", "crawl.jsonl", "--delete-missing"]).code, 2, "only with --merge");
}

#[test]
fn nothing_is_deleted_if_a_line_was_refused() {
    let place = loaded();
    place.write("crawl.jsonl", &[&crawl(0..19), "{\"entity\": {}}\n"].concat());
    let done = merge(&place, "100%");
    assert_eq!(done.code, 6, "{done:?}");
    assert!(
        done.err.contains("note: 1 refused, so nothing that the input does not name is deleted"),
        "{done:?}"
    );
    assert_eq!(counts(&place), (22, 20));
    place.write("crawl.jsonl", &crawl(0..19));
    let done = place.json_one(&[&MERGE[..], &["100%"]].concat());
    let told = ["deleted", "takenAlong", "kept", "changes"].map(|name| done[name].clone());
    assert_eq!(told, [1, 1, 0, 1].map(|count| json!(count)), "{done}");
    assert_eq!(counts(&place), (21, 19));
}
