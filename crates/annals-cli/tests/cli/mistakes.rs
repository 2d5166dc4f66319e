//! Mistakes of people that would pass unnoticed: misspelt names, a patch of the wrong shape, an empty answer.

use serde_json::json;

use crate::support::Place;

/// A catalogue with declared types: a table `t` that a job `j` reads, and that carries the classification `pii`.
fn catalogue() -> Place {
    let place = Place::new();
    place.write(
        "catalogue.jsonl",
        r#"{"type": {"kind": "entity", "name": "table", "attributes": [{"name": "name", "type": "string"}, {"name": "owner", "type": "string"}]}}
{"type": {"kind": "entity", "name": "job", "closed": true, "attributes": [{"name": "name", "type": "string"}, {"name": "schedule", "type": "string"}]}}
{"type": {"kind": "relationship", "name": "reads", "attributes": [{"name": "since", "type": "integer"}]}}
{"type": {"kind": "classification", "name": "pii", "attributes": [{"name": "level", "type": "integer"}]}}
{"entity": {"id": "t", "type": "table", "properties": {"name": "orders"}, "classifications": [{"name": "pii", "properties": {"level": 1}}]}}
{"entity": {"id": "j", "type": "job", "properties": {"name": "load"}}}
{"relationship": {"id": "r", "type": "reads", "from": "j", "to": "t", "properties": {"since": 2020}}}
"#,
    );
    place.ok(&["import", "catalogue.jsonl"]);
    place
}

/// Fails with exit code 3 and a text with this part.
fn refused(place: &Place, arguments: &[&str], part: &str) {
    let done = place.run(arguments);
    assert_eq!(done.code, 3, "{arguments:?}: {done:?}");
    assert!(done.err.contains(part) && done.out.is_empty(), "{part} in {arguments:?}: {done:?}");
}

#[test]
fn a_property_that_no_searched_type_declares_and_nothing_ever_had_is_an_error() {
    let place = catalogue();
    for (arguments, meant) in [
        (&["find", "table where nme = x"][..], "name"),
        (&["find", "table", "nme = x", "--count"], "name"),
        (&["find", "table where not nme = x"], "name"),
        (&["find", "table, job where nme is null"], "name"),
        (&["find", "table where Name = x"], "name"),
        (&["find", "nme = x"], "name"),
        (&["find", "is table and nme = x"], "name"),
        (&["find", "table", "--order-by", "-onwer"], "owner"),
        (&["find", "table where createdAt > 2020-01-01"], "@createdAt"),
        (&["find", "reads where sinse = 1", "--relationships"], "since"),
        (&["find", "table where has in reads (sinse > 1)"], "since"),
        (&["find", "table where has in reads to (is job and schedul = x)"], "schedule"),
        (&["find", "table where classified pii (levle = 1)"], "level"),
        (&["relationships", "t", "--order-by", "sinse"], "since"),
        (&["related", "t", "--order-by", "nme"], "name"),
    ] {
        refused(&place, arguments, &format!("did you mean {meant}? [not-found]"));
    }
    refused(&place, &["find", "table where zzzzzz = 1"], "\"zzzzzz\" is not declared by entity type table");
}

#[test]
fn a_property_that_may_be_there_is_none() {
    let place = catalogue();
    // Declared and without a value; of one of two types; known to the repository and free in an open type.
    for search in ["table where owner = x", "table, job where schedule = x", "table where schedule = x"] {
        assert_eq!(place.json(&["find", search]).len(), 0, "{search}");
    }
    // A closed type cannot have it now; in the past, before the type was closed, it might have had it.
    refused(&place, &["find", "job where owner = x"], "is not declared by entity type job");
    assert_eq!(place.json(&["find", "job where owner = x", "--at-position", "1"]).len(), 0);
    place.write(
        "more.json",
        &json!([
            {"action": "update", "kind": "entity", "id": "t", "patch": {"extra": 1}},
            {"action": "create", "kind": "entity", "id": "x", "type": "thing"},
        ])
        .to_string(),
    );
    place.ok(&["apply", "more.json"]);
    assert_eq!(place.json(&["find", "table where extra = 1"]).len(), 1);
    // Of a type that is not declared anything may be asked.
    assert_eq!(place.json(&["find", "thing where nme = x"]).len(), 0);
    assert_eq!(place.json(&["find", "nme = x"]).len(), 0);
}

#[test]
fn an_unknown_type_is_an_error_that_names_the_nearest() {
    let place = catalogue();
    for arguments in [
        &["neighbors", "t", "--type", "raeds"][..],
        &["neighbors", "t", "--type", "raeds", "--count"],
        &["relationships", "t", "--type", "raeds"],
        &["reach", "t", "--type", "raeds"],
        &["find", "table where has in raeds"],
    ] {
        refused(&place, arguments, "did you mean reads? [not-found]");
    }
    refused(&place, &["find", "tabel"], "did you mean table?");
    // The name of something else is no relationship type either.
    refused(&place, &["neighbors", "t", "--type", "table"], "relationship type table: nothing is of it");
    assert_eq!(place.json(&["neighbors", "t", "--type", "reads"]).len(), 1);
}

#[test]
fn a_relationship_type_is_asked_for_where_no_type_is_declared() {
    let place = Place::new();
    let entity = |id: &str| json!({"action": "create", "kind": "entity", "id": id, "type": "town"});
    let road = json!({"action": "create", "kind": "relationship", "id": "r", "type": "road", "from": "a", "to": "b"});
    place.write("towns.json", &json!([entity("a"), entity("b"), road]).to_string());
    place.ok(&["apply", "towns.json"]);
    for name in ["raod", "town"] {
        refused(&place, &["neighbors", "a", "--type", name], "nothing is of it");
        refused(&place, &["neighbors", "a", "--type", name, "--count"], "nothing is of it");
    }
    assert_eq!(place.json(&["neighbors", "a", "--type", "road"]).len(), 1);
    assert_eq!(place.json(&["find", "town where nme = x"]).len(), 0);
}

#[test]
fn a_classification_that_differs_from_a_declared_one_in_case_only_is_refused() {
    let place = catalogue();
    let done = place.run(&["classify", "j", "Pii"]);
    assert!(done.code == 1 && done.err.contains("declared classification pii"), "{done:?}");
    assert!(done.err.contains("[invalid-classification]"), "{done:?}");
    let entity = json!({
        "action": "create", "kind": "entity", "id": "u", "type": "table", "classifications": [{"name": "PII"}],
    });
    let replaced = json!({
        "action": "replace", "kind": "entity", "id": "t", "properties": {}, "classifications": [{"name": "PII"}],
    });
    for operation in [entity, replaced] {
        place.write("one.json", &json!([operation]).to_string());
        let done = place.run(&["apply", "one.json"]);
        assert!(done.code == 1 && done.err.contains("declared classification pii"), "{done:?}");
    }
    assert_eq!(place.run(&["find", "classified PII"]).code, 3, "nothing of it is left");
    // Declared with both names, each is right; also within one transaction.
    let declared = json!({"action": "define-type", "type": {"kind": "classification", "name": "Pii"}});
    let used = json!({"action": "classify", "id": "j", "classification": "Pii"});
    place.write("both.json", &json!([declared, used]).to_string());
    place.ok(&["apply", "both.json"]);
    place.ok(&["classify", "j", "pii"]);
}

#[test]
fn a_classification_in_use_stays_usable_when_another_case_is_declared() {
    let place = Place::with_people();
    place.ok(&["classify", "charles", "Famous"]);
    place.write("types.jsonl", r#"{"kind": "classification", "name": "famous"}"#);
    place.ok(&["types", "load", "types.jsonl"]);
    place.ok(&["classify", "ada", "Famous"]);
    // A history is carried over as it was.
    place.ok(&["export", "--history", "-o", "all.jsonl"]);
    place.ok(&["-r", "copy", "import", "all.jsonl"]);
    assert_eq!(place.json(&["-r", "copy", "find", "classified Famous"]).len(), 2);
}

#[test]
fn a_patch_that_looks_like_a_whole_instance_is_refused() {
    let place = catalogue();
    let update = |patch| json!({"action": "update", "kind": "entity", "id": "t", "patch": patch});
    let reclassify = json!({"action": "reclassify", "id": "t", "classification": "pii", "patch": {"properties": {"level": 2}}});
    for (operation, meant) in [
        (update(json!({"properties": {"rows": 9}})), r#"such as {"rows":9},"#),
        (reclassify, r#"such as {"level":2},"#),
    ] {
        place.write("one.json", &json!([operation]).to_string());
        let done = place.run(&["apply", "one.json"]);
        assert!(done.code == 2 && done.err.contains(meant), "{done:?}");
    }
    assert_eq!(place.json_one(&["get", "t"])["version"], 1);
    // A value that was stored so by mistake can be removed, and a property may have this name.
    let steps = json!([{"set": "properties", "value": {"rows": 9}}]);
    for (patch, found) in [
        (steps, json!({"rows": 9})),
        (json!({"properties": null}), json!(null)),
        (json!({"properties": 5}), json!(5)),
    ] {
        place.write("one.json", &json!([update(patch)]).to_string());
        place.ok(&["apply", "one.json"]);
        assert_eq!(place.json_one(&["get", "t"])["properties"]["properties"], found);
    }
}

#[test]
fn an_empty_list_says_that_nothing_was_found() {
    let place = catalogue();
    for arguments in [
        &["find", "table where @createdBy = x"][..],
        &["find", "reads where @createdBy = x", "--relationships"],
        &["neighbors", "t", "-d", "out"],
        &["relationships", "t", "-d", "out"],
        &["related", "t", "-d", "out"],
        &["related", "t", "-d", "out", "--order-by", "name"],
        &["shared", "t", "j", "-d", "out"],
        &["history", "t", "--to", "2020-01-01"],
        &["history", "t", "--to", "2020-01-01", "--content"],
        &["types", "tabel"],
        &["diff", "--positions", "2", "2"],
        &["follow", "--once", "--after", "2"],
        &["log", "--author", "nobody"],
    ] {
        let done = place.run(arguments);
        assert_eq!((done.code, &*done.out, &*done.err), (0, "", "nothing found\n"), "{arguments:?}");
        let done = place.run(&[&["--json"], arguments].concat());
        assert_eq!((done.code, &*done.out, &*done.err), (0, "", ""), "{arguments:?}");
    }
    assert_eq!(place.run(&["find", "table"]).err, "");
    assert_eq!(place.run(&["history", "t"]).err, "");
}
