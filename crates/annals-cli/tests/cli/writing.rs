//! Commands that write, copy and clean up.

use serde_json::json;

use crate::support::Place;

#[test]
fn apply_writes_all_operations_or_none() {
    let place = Place::with_people();
    place.write(
        "both.json",
        r#"[{"action": "create", "kind": "entity", "id": "grace", "type": "person", "properties": {"name": "Grace"}},
            {"action": "create", "kind": "relationship", "type": "knows", "from": "grace", "to": "nobody"}]"#,
    );
    let done = place.run(&["apply", "both.json"]);
    assert_eq!(done.code, 1, "{done:?}");
    assert!(done.err.contains("nobody") && done.err.contains("[missing-end]"), "{done:?}");
    assert_eq!(place.run(&["get", "grace"]).code, 3);
}

#[test]
fn an_operation_with_a_key_twice_is_refused() {
    let place = Place::with_people();
    place.write(
        "twice.json",
        r#"{"action": "create", "kind": "entity", "id": "x", "type": "person", "id": "y"}"#,
    );
    let done = place.run(&["apply", "twice.json"]);
    assert_eq!(done.code, 2, "{done:?}");
    assert!(done.err.contains("the key \"id\" comes twice"), "{done:?}");
}

#[test]
fn a_dry_run_writes_nothing() {
    let place = Place::with_people();
    place.write("delete.json", r#"{"action": "delete", "kind": "entity", "id": "ada"}"#);
    assert!(
        place.ok(&["apply", "delete.json", "--dry-run"]).contains("leaving 1 entity and 0 relationships")
    );
    assert!(place.ok(&["get", "ada"]).contains("active"));
    let applied = place.json_one(&["apply", "delete.json"]);
    assert_eq!((&applied["position"], &applied["ids"]), (&json!(4), &json!(["ada"])));
    assert_eq!(place.run(&["get", "ada"]).code, 3);
    assert_eq!(place.json_one(&["get", "ada", "--version", "3"])["status"], "deleted");
}

#[test]
fn a_write_that_changes_nothing_says_so() {
    let place = Place::with_people();
    let nothing = "nothing to change; the repository stays at position 4\n";
    place.write(
        "upsert.json",
        r#"{"action": "upsert", "kind": "entity", "id": "emmy", "type": "person", "properties": {"name": "Emmy"}}"#,
    );
    assert!(place.ok(&["apply", "upsert.json"]).contains("at position 4"));
    assert_eq!(place.ok(&["apply", "upsert.json"]), nothing);
    let told = place.json_one(&["apply", "upsert.json"]);
    assert_eq!((&told["position"], &told["changes"], &told["ids"]), (&json!(4), &json!(0), &json!(["emmy"])));
    place.ok(&["classify", "emmy", "famous", "rank=2"]);
    let again = place.ok(&["classify", "emmy", "famous", "--update", "rank=2"]);
    assert_eq!(again, nothing.replace('4', "5"));
    place.write("types.jsonl", r#"{"kind": "entity", "name": "planet"}"#);
    assert!(place.ok(&["types", "load", "types.jsonl"]).contains("at position 6"));
    assert_eq!(place.ok(&["types", "load", "types.jsonl"]), nothing.replace('4', "6"));
}

#[test]
fn a_classification_is_put_on_changed_and_taken_off() {
    let place = Place::with_people();
    assert!(place.ok(&["classify", "charles", "famous", "rank=2", "for=\"2\""]).contains("at position 4"));
    let famous = |id: &str| place.json_one(&["get", id])["classifications"]["famous"]["properties"].clone();
    assert_eq!(famous("charles"), json!({"rank": 2, "for": "2"}));
    place.ok(&[
        "classify", "charles", "famous", "--update", "rank=3", "for=null", "-m", "why", "--author", "me",
    ]);
    assert_eq!(famous("charles"), json!({"rank": 3}));
    let history = place.json(&["history", "charles", "--limit", "1"]);
    assert_eq!((&history[0]["author"], &history[0]["message"]), (&json!("me"), &json!("why")));
    place.ok(&["declassify", "charles", "famous"]);
    assert_eq!(famous("charles"), json!(null));
    for (arguments, code) in [
        (&["classify", "charles", "famous", "rank"][..], 2),
        (&["classify", "charles", "famous", "rank=null"], 2),
        (&["classify", "ada", "famous"], 1),
        (&["declassify", "charles", "famous"], 3),
        (&["declassify", "nobody", "famous"], 3),
    ] {
        let done = place.run(arguments);
        assert_eq!(done.code, code, "{arguments:?}: {done:?}");
    }
}

#[test]
fn a_backup_is_a_repository_and_restores() {
    let place = Place::with_people();
    assert_eq!(place.json_one(&["backup", "copy"])["position"], 3);
    assert!(place.ok(&["-r", "copy", "get", "ada"]).contains("Lovelace"));
    assert!(place.ok(&["restore", "copy", "again"]).starts_with("restored 3 records"));
    assert_eq!(
        place.json(&["-r", "again", "follow", "--once"]),
        place.json(&["follow", "--once"]),
        "the copy has the same records"
    );
    let done = place.run(&["backup", "copy"]);
    assert_eq!(done.code, 1, "{done:?}");
    assert!(done.err.contains("[already-exists]"), "{done:?}");
}

#[test]
fn compact_takes_purged_bytes_out_of_the_log() {
    let place = Place::with_people();
    place.write("purge.json", r#"{"action": "purge", "kind": "entity", "id": "charles"}"#);
    place.ok(&["apply", "purge.json"]);
    let report = place.json_one(&["compact"]);
    assert!(report["changes"].as_u64().unwrap() >= 1, "{report}");
    for entry in std::fs::read_dir(place.path("annals-data/log")).unwrap() {
        let bytes = std::fs::read(entry.unwrap().path()).unwrap();
        assert!(!bytes.windows(7).any(|window| window == b"Charles"));
    }
    assert!(place.ok(&["check"]).contains("all is well"));
    assert!(place.ok(&["compact"]).starts_with("removed 0 changes"));
}

// Records had no author unless one was given, and nobody gave one.
#[test]
fn the_author_is_the_user_unless_another_is_given() {
    let place = Place::new();
    place.write("types.jsonl", "{\"type\": {\"kind\": \"entity\", \"name\": \"t\"}}\n");
    place.write("a.jsonl", "{\"entity\": {\"id\": \"a\", \"type\": \"t\"}}\n");
    place.write("b.json", r#"[{"action": "create", "kind": "entity", "id": "b", "type": "t"}]"#);
    let run = |arguments: &[&str], user: &str| {
        let mut command = place.command(arguments);
        let status = command.env_remove("ANNALS_AUTHOR").env("USER", user).status().unwrap();
        assert!(status.success(), "{arguments:?}");
    };
    run(&["types", "load", "types.jsonl"], "ada");
    run(&["import", "a.jsonl"], "bob");
    run(&["apply", "b.json"], "eve");
    run(&["classify", "a", "new"], "ada");
    run(&["declassify", "a", "new", "--author", "someone"], "ada");
    run(&["classify", "a", "new", "--author", ""], "ada");
    // Without a name the account counts.
    run(&["classify", "b", "new"], "");
    let authors: Vec<_> = place
        .json(&["follow", "--after", "0", "--once"])
        .iter()
        .map(|record| record["author"].as_str().unwrap().to_owned())
        .collect();
    let account = std::process::Command::new("id").arg("-un").output().unwrap();
    let account = String::from_utf8(account.stdout).unwrap();
    assert_eq!(authors, ["ada", "bob", "eve", "ada", "someone", "", account.trim()]);
}

#[test]
fn instances_are_created_changed_linked_and_deleted_by_their_ids() {
    let place = Place::new();
    assert!(place.ok(&["create", "table", "orders", "rows=7", "steward=ann"]).ends_with("orders\n"));
    place.ok(&["create", "job", "load"]);
    let fresh = place.ok(&["create", "job", "n=1"]);
    let fresh = fresh.lines().last().unwrap();
    assert_eq!(place.json_one(&["get", fresh])["properties"], json!({"n": 1}));
    place.ok(&["set", "orders", "rows=8", "steward=null", "note=a b"]);
    assert_eq!(place.json_one(&["get", "orders"])["properties"], json!({"rows": 8, "note": "a b"}));
    let link = place.ok(&["link", "load", "writes", "orders", "since=2025", "--id", "w"]);
    assert!(link.ends_with("w\n"), "{link}");
    place.ok(&["set", "w", "--relationship", "since=2026"]);
    let links = place.json_one(&["relationships", "load"]).to_string();
    assert!(links.contains("2026") && links.contains("writes"), "{links}");
    place.ok(&["delete", "w", "--relationship"]);
    place.ok(&["delete", "orders", "-m", "gone"]);
    assert_eq!(place.run(&["get", "orders"]).code, 3);
    let log = place.json(&["log", "--limit", "1"]);
    place.ok(&["take-back", &log[0]["position"].to_string()]);
    assert_eq!(place.json_one(&["get", "orders"])["properties"]["rows"], 8);
    place.ok(&["delete", "orders", "--purge"]);
    assert_eq!(place.run(&["set", "orders", "rows=1"]).code, 3);
}

/// The operation left instances as they were, and told nobody.
#[test]
fn operations_that_take_a_record_back_tell_what_stays() {
    let place = Place::new();
    place.ok(&["create", "table", "orders", "rows=7"]);
    place.ok(&["set", "orders", "rows=8"]);
    let position = place.json(&["log", "--limit", "1"])[0]["position"].clone();
    place.ok(&["set", "orders", "rows=9"]);
    let operation = json!({"action": "take-back", "position": position, "keep": "theirs"});
    place.write("back.json", &operation.to_string());
    let told = place.json_one(&["apply", "back.json", "--dry-run"]);
    assert_eq!((&told["stays"][0]["id"], &told["staysCount"]), (&json!("orders"), &json!(1)), "{told}");
    let told = place.ok(&["apply", "back.json"]);
    assert!(told.starts_with("stays: ") && told.contains("orders"), "{told}");
    assert_eq!(place.json_one(&["get", "orders"])["properties"]["rows"], 9);
}

#[test]
fn a_record_on_which_others_built_is_taken_back_for_one_side() {
    let place = Place::new();
    // A relationship of nothing begins no repository.
    assert_eq!(place.run(&["link", "a", "knows", "b"]).code, 3);
    assert!(!place.path("annals-data").exists());
    let rows = || place.json_one(&["get", "orders"])["properties"]["rows"].clone();
    for (side, expected) in [(&["--theirs"][..], 9), (&["--mine"], 7), (&["--keep", "theirs"], 9)] {
        place.ok(&["create", "table", "orders", "rows=7"]);
        place.ok(&["set", "orders", "rows=8"]);
        let position = place.json(&["log", "--limit", "1"])[0]["position"].to_string();
        place.ok(&["set", "orders", "rows=9"]);
        let done = place.run(&["take-back", &position]);
        assert!(done.code == 4 && done.err.contains("keep mine or theirs"), "{done:?}");
        place.ok(&[&["take-back", &position], side].concat());
        assert_eq!(rows(), expected, "{side:?}");
        place.ok(&["delete", "orders", "--purge"]);
    }
    assert_eq!(place.run(&["take-back", "1", "--mine", "--theirs"]).code, 2);
}

/// Story: `annals put t1 --value 3` stored an empty file, and reported success.
#[test]
fn put_and_rm_take_an_id_for_no_path() {
    let place = Place::with_people();
    for arguments in [&["put", "ada", "--value", "3"][..], &["put", "ada"], &["rm", "ada"]] {
        let done = place.run(arguments);
        assert_eq!(done.code, 2, "{arguments:?}: {done:?}");
        assert!(done.err.contains("annals set ada") || done.err.contains("annals delete ada"), "{done:?}");
    }
    assert!(place.json_one(&["get", "ada"])["properties"].get("content").is_none());
}
