//! Commands that name single instances by their ids: several at once, by version, and back from a deletion.

use serde_json::json;

use crate::support::{Done, Place};

fn with_orders() -> Place {
    let place = Place::new();
    place.ok(&["create", "table", "orders", "rows=7"]);
    place.ok(&["create", "job", "load"]);
    place.ok(&["link", "load", "writes", "orders", "--id", "w"]);
    place
}

/// Story: "it is deleted: restore or purge it", and no command did.
#[test]
fn a_deleted_instance_is_restored_by_its_id() {
    let place = with_orders();
    place.ok(&["delete", "orders"]);
    assert_eq!(place.run(&["get", "w"]).code, 3);
    assert!(
        place.ok(&["restore", "orders", "-m", "a mistake"]).starts_with("applied 1 operation at position")
    );
    assert_eq!(place.json_one(&["get", "orders"])["properties"]["rows"], 7);
    assert_eq!(place.json_one(&["get", "w"])["from"], "load", "what was deleted with it returns, too");
    assert_eq!(place.json(&["log", "--limit", "1"])[0]["message"], "a mistake");
    place.ok(&["delete", "w", "--relationship"]);
    place.ok(&["restore", "w", "--relationship"]);
    assert_eq!(place.json_one(&["get", "w"])["to"], "orders");
    let done = place.run(&["restore", "orders"]);
    assert_eq!(done.code, 1, "{done:?}");
    assert!(done.err.contains("[not-deleted]"), "{done:?}");
}

/// One name is an id, and never a folder; the message names the other forms.
#[test]
fn an_id_a_path_and_a_backup_are_told_apart() {
    let place = with_orders();
    place.ok(&["backup", "monday"]);
    let done = place.run(&["restore", "monday"]);
    assert_eq!(done.code, 3, "{done:?}");
    assert!(done.err.contains("to restore the backup monday, give a new folder, too"), "{done:?}");
    let done = place.run(&["restore", "/orders"]);
    assert_eq!(done.code, 3, "{done:?}");
    assert!(done.err.contains("give --at or --at-position, too"), "{done:?}");
    // An entity of the name of a folder is the entity.
    place.ok(&["create", "table", "monday"]);
    place.ok(&["delete", "monday"]);
    place.ok(&["restore", "monday"]);
    assert_eq!(place.json_one(&["get", "monday"])["type"], "table");
    place.ok(&["restore", "monday", "copy"]);
    assert!(place.is_there("copy/log"));
    let done = place.run(&["restore", "monday", "copy2", "--relationship"]);
    assert_eq!(done.code, 2, "{done:?}");
}

#[test]
fn a_purge_checks_and_asks_first() {
    let place = with_orders();
    let done = place.run(&["purge", "orders"]);
    assert_eq!(done.code, 2, "{done:?}");
    let checked = "would apply 1 operation, leaving 1 entity and 0 relationships; nothing was written\n";
    assert_eq!(done.out, checked);
    assert!(done.err.contains("expected --yes, found none"), "{done:?}");
    assert_eq!(place.json_one(&["get", "orders"])["properties"]["rows"], 7);
    assert_eq!(place.run(&["purge", "nothing"]).code, 3);
    place.ok(&["delete", "orders"]);
    place.ok(&["purge", "orders", "--yes", "-m", "asked for"]);
    let done = place.run(&["restore", "orders"]);
    assert_eq!(done.code, 3, "{done:?}");
    place.ok(&["link", "load", "runs", "load", "--id", "r"]);
    place.ok(&["purge", "r", "--relationship", "--yes"]);
    assert_eq!(place.run(&["history", "r"]).code, 3);
}

#[test]
fn several_ids_are_shown_and_a_missing_one_prevents_none() {
    let place = with_orders();
    let out = place.ok(&["get", "orders", "load", "w"]);
    let shown: Vec<&str> = out.split("\n\n").map(|one| one.lines().next().unwrap_or_default()).collect();
    assert_eq!(shown, ["entity orders", "entity load", "relationship w"], "{out}");
    let done = place.run(&["get", "nobody", "orders", "--json", "none"]);
    assert_eq!(done.code, 3, "{done:?}");
    assert!(done.out.lines().count() == 1 && done.out.contains("orders"), "{done:?}");
    assert!(done.err.contains("entity nobody") && done.err.contains("entity none"), "{done:?}");
    // A path is another command's.
    let done = place.run(&["get", "/orders"]);
    assert!(done.err.contains("`annals cat /orders` shows the item at a path"), "{done:?}");
}

#[test]
fn a_change_may_expect_a_version() {
    let place = with_orders();
    place.ok(&["set", "orders", "rows=8", "--if-version", "1"]);
    let done = place.run(&["set", "orders", "rows=9", "--if-version", "1"]);
    assert_eq!(done.code, 4, "{done:?}");
    assert!(done.err.contains("[precondition-failed]") && done.err.contains("version"), "{done:?}");
    assert_eq!(place.json_one(&["get", "orders"])["properties"]["rows"], 8);
}

/// Story: `apply` created an entity, and its id stood only in `--json`, where it was the id of nothing.
#[test]
fn apply_prints_the_ids_that_it_chose() {
    let place = with_orders();
    let unnamed = json!({"action": "create", "kind": "entity", "type": "table"});
    let named = json!({"action": "create", "kind": "entity", "type": "table", "id": "mine"});
    place.write("new.json", &json!([unnamed, named]).to_string());
    let other = json!({"action": "create", "kind": "entity", "type": "table", "id": "other"});
    place.write("new-again.json", &json!([unnamed, other]).to_string());
    let out = place.ok(&["apply", "new.json"]);
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!((lines.len(), lines[0].starts_with("applied 2 operations at")), (2, true), "{out}");
    // The repository behind a server has another one.
    let get = |id: &str| Done::of(place.command(&["get", id]));
    assert!(get(lines[1]).out.contains("table"), "{out}");
    let done = Done::of(place.command(&["apply", "new-again.json", "--json"]));
    let told: serde_json::Value = serde_json::from_str(&done.out).unwrap();
    assert_eq!(told["ids"][1], "other", "{told}");
    assert_eq!(get(told["ids"][0].as_str().unwrap()).code, 0, "{told}");
}

/// Story: what GET answers was sent back to create another instance, and the refusal said only "unknown field".
#[test]
fn an_answer_is_no_creation_and_the_refusal_says_why() {
    let place = with_orders();
    let mut read = place.json_one(&["get", "orders"]);
    read["action"] = "create".into();
    read["kind"] = "entity".into();
    read["id"] = "copy".into();
    place.write("back.json", &read.to_string());
    let done = place.run(&["apply", "back.json"]);
    assert_eq!(done.code, 2, "{done:?}");
    assert!(done.err.contains("answers have it, and a request leaves it out"), "{done:?}");
}

/// Story: a bad import set elevation, and Ann corrected the city; one side lost without a word.
#[test]
fn a_take_back_keeps_what_others_changed_beside_it_and_lists_what_it_undoes() {
    let place = Place::new();
    place.ok(&["create", "airport", "zrh", "elevation=432", "city=Zuerich"]);
    place.ok(&["set", "zrh", "elevation=9999"]);
    place.ok(&["set", "zrh", "city=Zürich"]);
    let values = || {
        let found = place.json_one(&["get", "zrh"]);
        (found["properties"]["elevation"].clone(), found["properties"]["city"].clone())
    };
    assert!(place.ok(&["take-back", "2"]).starts_with("taken back at position 4"));
    assert_eq!(values(), (json!(432), json!("Zürich")));
    let nothing = "nothing to take back: everything is as it was before position 2; the repository stays at position 4\n";
    assert_eq!(place.ok(&["take-back", "2"]), nothing);
    assert_eq!(place.ok(&["take-back", "2", "--mine"]), nothing);
    assert_eq!(place.json_one(&["take-back", "2"])["changes"], 0);
    // Both changed the city now.
    place.ok(&["set", "zrh", "city=Genf"]);
    let done = place.run(&["take-back", "3"]);
    assert_eq!(done.code, 4, "{done:?}");
    assert!(done.err.contains("entity zrh: it was changed at position 5; both changed city"), "{done:?}");
    let undone = "undone, too: entity zrh: it was changed at position 5; both changed city\n";
    let out = place.ok(&["take-back", "3", "--mine", "--dry-run"]);
    assert!(out.starts_with(undone) && out.contains("nothing was written"), "{out}");
    assert_eq!(values().1, json!("Genf"));
    let out = place.ok(&["take-back", "3", "--mine"]);
    assert!(out.starts_with(undone) && out.contains("taken back at position 6"), "{out}");
    assert_eq!(values().1, json!("Zuerich"));
}
