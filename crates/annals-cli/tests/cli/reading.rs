//! Every reading command, for people and for programs, now and then.

use std::sync::Arc;

use annals::{Instant, NewEntity, Options, Repository};
use serde_json::json;

use crate::support::Place;

#[test]
fn get_shows_an_entity_and_a_relationship() {
    let place = Place::with_people();
    let out = place.ok(&["get", "ada"]);
    for part in ["entity ada", "person", "2 of 2, active", "famous (rank=1)", "Ada Lovelace", "1815-12-10"] {
        assert!(out.contains(part), "{part} in {out}");
    }
    assert!(place.ok(&["get", "met"]).contains("charles (person)"));
    let json = place.json_one(&["get", "ada"]);
    assert_eq!(json["properties"], json!({"name": "Ada Lovelace", "born": {"$date": "1815-12-10"}}));
    assert_eq!(place.json_one(&["get", "met", "--relationship"])["from"], "ada");
}

#[test]
fn every_read_takes_both_times() {
    let place = Place::with_people();
    let name = |arguments: &[&str]| {
        place.json_one(&[&["get", "ada"], arguments].concat())["properties"]["name"].clone()
    };
    assert_eq!(name(&["--at-position", "2"]), "Ada");
    assert_eq!(name(&["--valid-at", "1837-01-01"]), "Ada");
    assert_eq!(name(&["--valid-at", "1838-07-01"]), "Ada Lovelace");
    assert_eq!(name(&["--version", "1"]), "Ada");
    let instant = place.json(&["history", "ada"])[1]["instant"].as_str().unwrap().to_owned();
    assert_eq!(name(&["--at", &instant]), "Ada");
    assert_eq!(place.run(&["get", "ada", "--valid-at", "1800-01-01"]).code, 3);
    assert_eq!(place.json(&["find", "person", "--valid-at", "1800-01-01"]).len(), 1);
    assert_eq!(place.json(&["neighbors", "ada", "--valid-at", "1830-01-01"]).len(), 0);
    assert_eq!(place.json_one(&["stats", "--at-position", "1"])["entities"]["total"], 0);
}

#[test]
fn find_reads_conditions_order_and_pages() {
    let place = Place::with_people();
    let ids = |arguments: &[&str]| -> Vec<String> {
        let found = place.json(&[&["find"], arguments].concat());
        found.iter().filter_map(|line| line["id"].as_str().map(str::to_owned)).collect()
    };
    assert_eq!(ids(&["person"]), ["ada", "charles"]);
    assert_eq!(ids(&["person", "name^=Ada"]), ["ada"]);
    assert_eq!(ids(&["name~=arl"]), ["charles"]);
    assert_eq!(ids(&["born is null"]), ["charles"]);
    assert_eq!(ids(&["born < date(1900-01-01)"]), ["ada"]);
    assert_eq!(ids(&["langs=fr"]), ["charles"]);
    assert_eq!(ids(&["--classified", "famous"]), ["ada"]);
    assert_eq!(ids(&["person", "--order-by", "-name"]), ["charles", "ada"]);
    assert_eq!(ids(&["knows", "since>=1833", "--relationships"]), ["met"]);
    let page = place.json(&["find", "person", "--limit", "1"]);
    let next = page[1]["next"].as_str().unwrap();
    assert_eq!(ids(&["person", "--limit", "1", "--after", next]), ["charles"]);
    let out = place.ok(&["find", "person", "--limit", "1"]);
    assert!(
        out.starts_with("ID") && out.contains("name=Ada Lovelace") && out.contains("more: --after"),
        "{out}"
    );
}

#[test]
fn neighbors_path_and_reach_walk() {
    let place = Place::with_people();
    assert!(place.ok(&["neighbors", "ada"]).contains("->  knows  charles  since=1833"));
    assert!(place.ok(&["neighbors", "charles"]).contains("<-"));
    assert_eq!(place.json(&["neighbors", "charles", "-d", "out"]).len(), 0);
    assert_eq!(place.json(&["neighbors", "ada", "--type", "knows"])[0]["entity"]["id"], "charles");
    let path = place.json_one(&["path", "charles", "ada", "--direction", "both"]);
    assert_eq!(path["steps"][0]["direction"], "in");
    assert!(place.ok(&["path", "ada", "charles"]).contains("-> knows -> charles"));
    assert_eq!(place.run(&["path", "charles", "ada"]).code, 3);
    assert_eq!(place.json(&["reach", "ada"])[0]["distance"], 1);
    assert_eq!(place.json_one(&["reach", "ada", "--count"])["count"], 1);
    assert!(place.ok(&["reach", "ada", "--depth-max", "1"]).contains("1 within reach"));
}

#[test]
fn history_diff_and_follow_tell_the_past() {
    let place = Place::with_people();
    let out = place.ok(&["history", "ada"]);
    assert!(out.contains("married") && out.contains("william") && out.contains('*'), "{out}");
    let versions = place.json(&["history", "ada"]);
    assert_eq!((&versions[0]["action"], &versions[1]["action"]), (&json!("update"), &json!("create")));
    assert!(place.ok(&["diff", "ada", "1", "2"]).contains("name: Ada -> Ada Lovelace"));
    let difference = place.json_one(&["diff", "ada", "1", "2"]);
    assert_eq!(difference["properties"]["name"], json!({"before": "Ada", "after": "Ada Lovelace"}));
    assert!(place.ok(&["diff", "--positions", "1", "2"]).contains("+ entity ada"));
    assert_eq!(place.json(&["diff", "--positions", "2", "3"])[0]["change"], "changed");
    assert!(place.ok(&["follow", "--once"]).contains("married"));
    let records = place.json(&["follow", "--once", "--after", "1"]);
    assert_eq!(records.iter().map(|record| record["position"].clone()).collect::<Vec<_>>(), [2, 3]);
    assert_eq!(place.json(&["follow", "--after", "0", "--limit", "1"]).len(), 1);
}

#[test]
fn a_history_of_many_versions_is_whole() {
    let place = Place::new();
    let update =
        |n| json!({ "action": "update", "kind": "entity", "id": "a", "patch": { "n": n }, "always": true });
    let mut operations = vec![json!({ "action": "create", "kind": "entity", "id": "a", "type": "thing" })];
    operations.extend((2..=2_203).map(update));
    place.write("all.json", &serde_json::Value::from(operations).to_string());
    place.ok(&["apply", "all.json"]);
    let numbers = |arguments: &[&str]| -> Vec<u64> {
        let versions = place.json(&[&["history", "a", "--oldest-first"], arguments].concat());
        versions.iter().map(|version| version["version"].as_u64().unwrap()).collect()
    };
    assert_eq!(numbers(&["--limit", "5000", "--content"]), (1..=2_203).collect::<Vec<_>>());
    assert_eq!(numbers(&["--limit", "2000", "--skip", "3"]), (4..=2_003).collect::<Vec<_>>());
    assert_eq!(numbers(&["--limit", "1001"]).len(), 1_001);
    assert_eq!(numbers(&["--limit", "0"]).len(), 0);
}

#[test]
fn get_history_and_diff_show_people_what_most_instances_do_not_have() {
    let place = Place::with_people();
    place.write(
        "changes.json",
        r#"[{"action": "set-status", "kind": "entity", "id": "ada", "status": "draft"},
{"action": "set-provenance", "kind": "entity", "id": "ada", "license": "CC0-1.0", "maintainedBy": ["eve", "bob"]},
{"action": "reidentify", "kind": "entity", "id": "ada", "newId": "lovelace"},
{"action": "save-copy", "kind": "entity", "id": "x", "type": "person", "home": "east", "version": 7, "created": {"instant": "2020-01-01"}, "properties": {"name": "X"}},
{"action": "save-copy", "kind": "relationship", "id": "s", "type": "knows", "from": "x", "to": "far", "home": "east", "created": {"instant": "2020-01-01"}, "proxies": [{"id": "far", "type": "person", "home": "east"}]}]"#,
    );
    place.ok(&["apply", "changes.json"]);
    let shows = |arguments: &[&str], parts: &[&str]| {
        let out = place.ok(arguments);
        let lines: Vec<String> =
            out.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
        for part in parts {
            assert!(lines.iter().any(|line| line.contains(part)), "{part} in {out}");
        }
    };
    shows(
        &["get", "lovelace"],
        &["5 of 5, draft", "license CC0-1.0", "maintained by eve, bob", "reidentified from ada"],
    );
    shows(&["get", "x"], &["home east", "home version 7"]);
    shows(
        &["get", "far", "--version", "1"],
        &["home east", "proxy only what relationships tell of it is here"],
    );
    let refused = place.run(&["get", "far"]);
    assert!(refused.code == 1 && refused.err.contains("add --summary"), "{refused:?}");
    shows(&["get", "far", "--summary"], &["entity far", "home east", "proxy only what relationships tell"]);
    shows(&["get", "lovelace", "--summary"], &["maintained by eve, bob"]);
    shows(&["get", "s"], &["to far (person, a proxy)"]);
    shows(
        &["history", "lovelace"],
        &["VERSION ACTION STATUS FORMER ID POSITION", "4 set-provenance draft ada"],
    );
    shows(&["history", "far"], &["VERSION ACTION HOME PROXY POSITION", "east proxy"]);
    assert!(!place.ok(&["history", "charles"]).contains("STATUS"));
    let changes = [
        "@id: ada -> lovelace",
        "@status: active -> draft",
        "@license: (none) -> CC0-1.0",
        "@maintainedBy: (none) -> eve, bob",
    ];
    shows(&["diff", "lovelace", "1", "5"], &changes);
    shows(
        &["diff", "--positions", "3", "4"],
        &[&["~ entity lovelace", "+ entity far"], &changes[..]].concat(),
    );
}

#[test]
fn stats_types_and_check_look_at_the_whole() {
    let place = Place::with_people();
    assert!(place.ok(&["stats"]).contains("2 entities\n  2  person\n"));
    assert_eq!(place.json_one(&["stats"])["relationships"], json!({"total": 1, "byType": {"knows": 1}}));
    assert!(place.ok(&["types"]).contains("entity person\n    name: string, required"));
    assert_eq!(place.json_one(&["types", "person"])["name"], "person");
    assert!(place.ok(&["check"]).contains("all is well"));
    assert_eq!(place.json_one(&["check"])["differences"], json!([]));
}

/// Every read is right, and still the operator must know that time stands still.
#[test]
fn check_tells_that_the_last_record_is_ahead_of_the_clock() {
    let place = Place::with_people();
    let tomorrow = Instant::from_micros(Instant::now().micros() + 86_400_000_000).unwrap();
    let options = Options { clock: Arc::new(move || tomorrow), ..Options::default() };
    let repository = Repository::open_with(place.path("annals-data"), options).unwrap();
    repository.transact(|t| t.create_entity(NewEntity::new("person").property("name", "Eve"))).unwrap();
    repository.close().unwrap();
    let done = place.run(&["check"]);
    assert_eq!(done.code, 0, "{done:?}");
    assert!(done.out.ends_with(": no differences, 1 warning\n"), "{done:?}");
    let told = |text: &str| text.contains("23 hours ahead of the clock");
    assert!(told(&done.out) && told(&done.err), "{done:?}");
    let json = place.json_one(&["check"]);
    assert_eq!(json["differences"], json!([]));
    assert!(told(json["warnings"][0].as_str().unwrap()), "{json}");
    let done = place.run(&["get", "ada"]);
    assert!(done.code == 0 && told(&done.err), "{done:?}");
}

#[test]
fn help_teaches_with_examples_and_completions_are_scripts() {
    let place = Place::new();
    let commands = [
        "import",
        "export",
        "get",
        "find",
        "neighbors",
        "path",
        "reach",
        "history",
        "diff",
        "log",
        "follow",
        "types",
        "stats",
        "apply",
        "check",
        "backup",
        "restore",
        "compact",
        "completions",
    ];
    for command in commands {
        let help = place.ok(&[command, "--help"]);
        assert!(help.contains("Example") && help.contains(&format!("annals {command}")), "{command}: {help}");
    }
    assert!(place.ok(&["--help"]).contains("Exit codes"));
    assert!(place.ok(&["--version"]).starts_with("annals "));
    for shell in ["bash", "zsh", "fish"] {
        assert!(place.ok(&["completions", shell]).contains("neighbors"), "{shell}");
    }
}

#[test]
fn reading_goes_on_beside_a_writer() {
    let place = Place::with_people();
    let writer = annals::Repository::open(place.path("annals-data")).unwrap();
    assert!(place.ok(&["get", "ada"]).contains("Lovelace"));
    let done = place.run(&["apply", "change.json"]);
    assert_eq!(done.code, 4, "{done:?}");
    writer.close().unwrap();
}
