//! `annals log`: what was changed, by whom and when, with the values.

use annals::{Instant, Repository};
use serde_json::{Value as Json, json};

use crate::support::Place;

/// Units: microseconds.
const DAY: i64 = 86_400_000_000;

/// Two persons and a relationship of a month ago, and what Bob and Ann made of them last week.
fn place() -> Place {
    let place = Place::new();
    let repository = Repository::open(place.path("annals-data")).unwrap();
    let ago = |days: i64| Instant::from_micros(Instant::now().micros() - days * DAY).unwrap();
    let commits = [
        (
            30,
            "ann",
            "load",
            r#"[{"action": "create", "kind": "entity", "id": "ada", "type": "person", "properties": {"rows": 5}},
            {"action": "create", "kind": "entity", "id": "eve", "type": "person"},
            {"action": "create", "kind": "relationship", "id": "met", "type": "knows", "from": "ada", "to": "eve"}]"#,
        ),
        (29, "bob", "old", r#"[{"action": "update", "kind": "entity", "id": "ada", "patch": {"rows": 6}}]"#),
        (
            5,
            "bob",
            "nightly",
            r#"[{"action": "update", "kind": "entity", "id": "ada", "patch": {"rows": 9, "note": "fine"}},
            {"action": "classify", "kind": "entity", "id": "ada", "classification": "gold", "properties": {"rank": 1}}]"#,
        ),
        (4, "ann", "", r#"[{"action": "update", "kind": "entity", "id": "eve", "patch": {"rows": 1}}]"#),
        (3, "bob", "", r#"[{"action": "delete", "kind": "entity", "id": "eve"}]"#),
    ];
    repository.close().unwrap();
    // As a history of elsewhere, with its instants.
    let mut lines = String::new();
    for (position, (days, author, message, operations)) in (1..).zip(commits) {
        let changes: Json = serde_json::from_str(operations).unwrap();
        let record = json!({
            "position": position, "instant": ago(days).to_string(), "author": author, "message": message, "changes": changes,
        });
        lines.push_str(&format!("{}\n", json!({ "record": record })));
    }
    place.write("history.jsonl", &lines);
    place.ok(&["import", "history.jsonl"]);
    place
}

/// The lines without the instants in the heads.
fn told(place: &Place, arguments: &[&str]) -> Vec<String> {
    let out = place.ok(&[&["log"], arguments].concat());
    let without_instant = |line: &str| match line.split_once("  20") {
        Some((position, rest)) if !line.starts_with(' ') => {
            format!("{position}{}", rest.find('Z').map_or("", |end| &rest[end + 1..]))
        }
        _ => line.to_owned(),
    };
    out.lines().map(without_instant).collect()
}

#[test]
fn what_bob_changed_last_week_is_told_with_the_values() {
    let place = place();
    let expected = [
        "5 by bob",
        "    delete person eve: with 1 relationship",
        "3 by bob: nightly",
        "    update person ada: note = fine, rows 6 -> 9",
        "    classify person ada as gold: rank = 1",
    ];
    assert_eq!(told(&place, &["--author", "bob", "--since", "7d"]), expected);
    let old = ["2 by bob: old", "    update person ada: rows 5 -> 6"];
    assert_eq!(told(&place, &["--author", "bob", "--until", "7d"]), old);
}

#[test]
fn every_filter_finds_its_changes_alone_and_with_others() {
    let place = place();
    let positions = |arguments: &[&str]| -> Vec<u64> {
        let records = place.json(&[&["log"], arguments].concat());
        records.iter().map(|record| record["position"].as_u64().unwrap()).collect()
    };
    assert_eq!(positions(&[]), [5, 4, 3, 2, 1]);
    assert_eq!(positions(&["--oldest-first"]), [1, 2, 3, 4, 5]);
    assert_eq!(positions(&["ada"]), [3, 2, 1]);
    // The deletion of an entity is one of its relationships.
    assert_eq!(positions(&["met"]), [5, 1]);
    assert_eq!(positions(&["--type", "gold"]), [3]);
    assert_eq!(positions(&["--type", "knows", "--kind", "relationship"]), [1]);
    assert_eq!(positions(&["--verb", "update"]), [4, 3, 2]);
    assert_eq!(positions(&["eve", "--verb", "update", "--author", "ann"]), [4]);
    assert_eq!(positions(&["--since", "20d", "--until", "5d"]), [3]);
    assert_eq!(positions(&["--author", "nobody"]), Vec::<u64>::new());
    assert_eq!(told(&place, &["eve", "--oldest-first", "--limit", "1"]).last().unwrap(), "more: --after 1");
    assert_eq!(positions(&["eve", "--oldest-first", "--after", "1"]), [4, 5]);
    assert_eq!(positions(&["--after", "3"]), [2, 1]);
}

#[test]
fn programs_get_one_record_on_each_line() {
    let place = place();
    let lines = place.json(&["log", "--limit", "2", "--author", "bob"]);
    assert_eq!(lines[2], json!({ "next": "3" }));
    let change = &lines[1]["changes"][0];
    assert_eq!(
        (&change["action"], &change["type"], &change["id"]),
        (&json!("update"), &json!("person"), &json!("ada"))
    );
    assert_eq!(change["difference"]["properties"]["rows"], json!({ "before": 6, "after": 9 }));
    assert_eq!(lines[0]["changes"][0]["relationshipsCount"], 1);
}

#[test]
fn lines_fit_a_terminal_and_long_values_are_cut() {
    let place = Place::new();
    let long = "x".repeat(1_000);
    let operations = json!([{ "action": "create", "kind": "entity", "id": "a", "type": "thing",
        "properties": { "one": long, "two": long, "three": 3, "four": "a\nb" } }]);
    place.write("new.json", &operations.to_string());
    place.ok(&["apply", "new.json"]);
    let cut = format!("{}…", "x".repeat(40));
    let expected = [
        "    create thing a: four = a\\nb,".to_owned(),
        format!("        one = {cut}, three = 3,"),
        format!("        two = {cut}"),
    ];
    assert_eq!(told(&place, &[])[1..], expected);
}

#[test]
fn what_was_purged_does_not_appear_and_its_id_is_not_found() {
    let place = place();
    place.write("purge.json", r#"[{"action": "purge", "kind": "entity", "id": "ada"}]"#);
    place.ok(&["apply", "purge.json", "--author", ""]);
    let expected = [
        "6",
        "5 by bob",
        "    delete person eve",
        "4 by ann",
        "    update person eve: rows = 1",
        "3 by bob: nightly",
        "2 by bob: old",
        "1 by ann: load",
        "    create person eve",
    ];
    assert_eq!(told(&place, &[]), expected);
    place.ok(&["compact"]);
    assert_eq!(told(&place, &[]), expected);
    let done = place.run(&["log", "ada"]);
    assert!(done.code == 3 && done.err.contains("ada"), "{done:?}");
}

#[test]
fn a_filter_that_cannot_be_read_is_refused_with_what_is_known() {
    let place = place();
    for (arguments, part) in [
        (["--since", "yesterday"], "how long ago"),
        (["--verb", "purge"], "set-status"),
        (["--kind", "thing"], "classification"),
        (["--after", "x"], "the `next` of the page before"),
    ] {
        let done = place.run(&[&["log"], &arguments[..]].concat());
        assert!(done.code == 2 && done.err.contains(part), "{arguments:?}: {done:?}");
    }
}

#[test]
fn a_large_commit_shows_its_first_changes_and_the_number_of_the_others() {
    let place = Place::new();
    let lines: String = (0..30).map(|number| format!("{{\"id\": \"n{number}\"}}\n")).collect();
    place.write("nodes.jsonl", &lines);
    place.ok(&["import", "nodes.jsonl", "--id", "id", "--type", "node"]);
    let short = told(&place, &[]);
    assert_eq!(short.len(), 22, "{short:?}");
    assert_eq!(short[20], "    create node n19: id = n19");
    assert_eq!(short[21], "    … 10 more changes; --all shows them");
    let all = told(&place, &["--all"]);
    assert_eq!((all.len(), &*all[30]), (31, "    create node n29: id = n29"));
}

/// A page of the log ends within a record of so many changes; each page counted as a commit.
#[test]
fn a_commit_that_fills_several_pages_is_one_commit() {
    let place = Place::new();
    let create = |number: usize| json!({"action": "create", "kind": "entity", "id": format!("n{number}"), "type": "node"});
    let operations: Vec<Json> = (0..10_050).map(create).collect();
    place.write("operations.json", &json!(operations).to_string());
    place.ok(&["create", "node", "first"]);
    place.ok(&["apply", "operations.json"]);
    let all = told(&place, &["--limit", "1", "--all"]);
    assert_eq!(all.iter().filter(|line| line.starts_with("    create")).count(), 10_050);
    assert_eq!(
        all.iter().filter(|line| !line.starts_with(' ')).count(),
        2,
        "its head and the next page: {:?}",
        all.last()
    );
    let short = told(&place, &["--limit", "2"]);
    assert_eq!(short[21], "    … more changes; --all shows them", "{short:?}");
    assert_eq!(short[23], "    create node first", "{short:?}");
}
