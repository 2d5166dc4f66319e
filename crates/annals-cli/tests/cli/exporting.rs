//! An export can be imported again, and gives the same repository.

use std::process::Stdio;

use serde_json::Value as Json;

use crate::support::Place;

/// A place with updates, a deletion with relationships, a restoration, classifications and corrections of the past.
fn place_with_past() -> Place {
    let place = Place::with_people();
    for (index, operations) in [
        r#"[{"action": "create", "kind": "entity", "id": "grace", "type": "person", "properties": {"name": "Grace"}},
            {"action": "create", "kind": "relationship", "id": "admires", "type": "admires", "from": "grace", "to": "ada"}]"#,
        r#"{"action": "delete", "kind": "entity", "id": "grace"}"#,
        r#"{"action": "restore", "kind": "entity", "id": "grace"}"#,
        r#"[{"action": "reclassify", "kind": "entity", "id": "ada", "classification": "famous", "patch": {"rank": 2}},
            {"action": "update", "kind": "relationship", "id": "met", "patch": [{"set": "where", "value": {"$iri": "urn:london"}}]}]"#,
        r#"{"action": "update", "kind": "entity", "id": "charles", "patch": {"title": "Professor"}, "validFrom": "1828-01-01"}"#,
        r#"{"action": "replace", "kind": "entity", "id": "charles", "properties": {"name": "Charles Babbage"}}"#,
    ]
    .iter()
    .enumerate()
    {
        let name = format!("step{index}.json");
        place.write(&name, operations);
        place.ok(&["apply", &name, "--author", "someone", "--message", &name]);
    }
    place
}

/// Runs `annals FROM… | annals TO…`.
fn pipe(place: &Place, from: &[&str], to: &[&str]) {
    let mut source = place.command(from).stdout(Stdio::piped()).spawn().unwrap();
    let output = place.command(to).stdin(source.stdout.take().unwrap()).output().unwrap();
    assert!(source.wait().unwrap().success());
    assert!(output.status.success(), "{output:?}");
}

#[test]
fn an_export_with_history_gives_an_equal_repository() {
    let place = place_with_past();
    pipe(&place, &["export", "--history"], &["-r", "copy", "import", "jsonl", "-"]);
    let of = |repository: &str, arguments: &[&str]| -> Vec<Json> {
        place.json(&[&["-r", repository], arguments].concat())
    };
    let same = |arguments: &[&str]| {
        let (original, copy) = (of("annals-data", arguments), of("copy", arguments));
        assert_eq!(original, copy, "{arguments:?}");
        assert!(!original.is_empty(), "{arguments:?}");
    };
    same(&["follow", "--once"]);
    same(&["types"]);
    for id in ["ada", "charles", "grace", "met", "admires"] {
        same(&["history", id]);
    }
    for position in 2..=9 {
        let position = position.to_string();
        same(&["find", "--at-position", &position]);
        same(&["find", "--relationships", "--at-position", &position]);
        same(&["stats", "--at-position", &position]);
    }
    for date in ["1816-01-01", "1830-01-01", "1839-01-01"] {
        same(&["find", "--valid-at", date]);
        same(&["stats", "--valid-at", date]);
    }
    assert!(place.ok(&["-r", "copy", "check"]).contains("all is well"));
}

#[test]
fn an_export_gives_the_same_present() {
    let place = place_with_past();
    pipe(&place, &["export"], &["-r", "copy", "import", "jsonl", "-"]);
    assert_eq!(place.ok(&["export"]), place.ok(&["-r", "copy", "export"]));
    let types = place.ok(&["export", "--type", "person", "--type", "knows"]);
    assert_eq!(types.lines().count(), 4, "{types}");
    let then = place.ok(&["export", "--valid-at", "1830-01-01", "-o", "then.jsonl"]);
    assert_eq!(then, "");
    assert_eq!(place.read("then.jsonl").lines().count(), 3);
}

#[test]
fn an_interrupted_import_of_history_resumes() {
    let place = place_with_past();
    place.ok(&["export", "--history", "-o", "all.jsonl"]);
    let all = place.read("all.jsonl");
    let half: String = all.split_inclusive('\n').take(4).collect();
    place.write("half.jsonl", &half);
    place.ok(&["-r", "copy", "import", "half.jsonl"]);
    let done = place.run(&["-r", "copy", "import", "all.jsonl"]);
    assert_eq!(done.code, 4, "{done:?}");
    assert!(done.err.contains("--resume"), "{done:?}");
    assert!(place.ok(&["-r", "copy", "import", "all.jsonl", "--resume"]).contains("skipped 4"));
    assert_eq!(place.ok(&["-r", "copy", "export", "--history"]), all);
}

#[test]
fn a_history_with_a_missing_record_is_refused() {
    let place = place_with_past();
    let all = place.ok(&["export", "--history"]);
    let gap: String = all
        .split_inclusive('\n')
        .enumerate()
        .filter(|(index, _)| *index != 3)
        .map(|(_, line)| line)
        .collect();
    place.write("gap.jsonl", &gap);
    let done = place.run(&["-r", "copy", "import", "gap.jsonl"]);
    assert_eq!(done.code, 5, "{done:?}");
    assert!(done.err.contains("expected the record of position 4, found 5"), "{done:?}");
}

#[test]
fn csv_goes_out_and_comes_back() {
    let place = Place::new();
    place.write(
        "all.jsonl",
        r#"{"entity": {"id": "a", "type": "thing", "properties": {"text": "says \"x, y\"\nand more", "n": 1, "f": 1.5, "b": true, "d": {"$date": "2024-02-29"}, "t": {"$timestamp": "2024-02-29T12:00:00Z"}, "l": [1, 2]}, "classifications": [{"name": "odd"}]}}
{"entity": {"id": "b", "type": "thing", "properties": {"text": "plain", "l": [3]}}}
{"entity": {"id": "c", "type": "other/kind"}}
{"relationship": {"type": "has", "from": "a", "to": "b", "properties": {"w": 0.5}}}
"#,
    );
    place.ok(&["import", "all.jsonl"]);
    place.ok(&["export", "--format", "csv", "-o", "csv"]);
    let nodes = ["csv/nodes-thing.csv", "csv/nodes-other%2Fkind.csv"];
    place.ok(&["-r", "copy", "import", nodes[0], nodes[1], "csv/relationships-has.csv"]);
    assert_same(&place, &["a", "b", "c"]);
    assert_eq!(place.json(&["-r", "copy", "neighbors", "a"])[0]["relationship"]["properties"]["w"], 0.5);
}

#[test]
fn csv_carries_bytes_and_literals_of_declared_attributes() {
    let place = Place::new();
    let types = r#"{"type": {"kind": "entity", "name": "book", "attributes": [{"name": "title", "type": "literal"}, {"name": "titles", "type": "literal", "many": true}, {"name": "year", "type": "literal"}, {"name": "raw", "type": "bytes"}, {"name": "raws", "type": "bytes", "many": true}, {"name": "list", "type": "list"}]}}"#;
    place.write("types.jsonl", types);
    place.write(
        "all.jsonl",
        r#"{"entity": {"id": "a", "type": "book", "properties": {"title": {"$literal": "a; \"b\"", "language": "fr"}, "titles": {"$set": [{"$literal": "a", "language": "en"}, {"$literal": "b;", "language": "fr"}]}, "year": {"$literal": "1789", "datatype": "urn:year"}, "raw": {"$bytes": "AAE="}, "raws": {"$set": [{"$bytes": "AA=="}, {"$bytes": "AAE="}]}, "list": [{"$literal": "a", "language": "en"}]}}}
"#,
    );
    place.ok(&["import", "types.jsonl", "all.jsonl"]);
    place.ok(&["export", "--format", "csv", "-o", "csv"]);
    place.ok(&["-r", "copy", "import", "types.jsonl", "csv/nodes-book.csv"]);
    assert_same(&place, &["a"]);
    let shown = place.ok(&["get", "a"]);
    assert!(shown.contains("1789^^urn:year") && shown.contains("{a@en, b;@fr}"), "{shown}");
}

/// The copy has the same types, properties and classifications.
fn assert_same(place: &Place, ids: &[&str]) {
    let content = |repository: &str, id: &str| {
        let json = place.json_one(&["-r", repository, "get", id]);
        let names: Vec<String> = json["classifications"].as_object().unwrap().keys().cloned().collect();
        (json["type"].clone(), json["properties"].clone(), names)
    };
    for id in ids {
        assert_eq!(content("copy", id), content("annals-data", id));
    }
}

/// The lines of an export.
fn comparable(text: &str) -> Vec<Json> {
    let line = |line| {
        let mut json: Json = serde_json::from_str(line).unwrap();
        // Classifications that were attached here make versions of the copy. An import without history does not make
        // them.
        if json["entity"]["id"] == "x" {
            json["entity"]["version"] = Json::Null;
            json["entity"]["updated"] = Json::Null;
        }
        json
    };
    text.lines().map(line).collect()
}

#[test]
fn csv_carries_statuses_homes_new_ids_copies_and_proxies() {
    let place = place_with_lifecycle();
    let exported = place.ok(&["export"]);
    place.ok(&["export", "--format", "csv", "-o", "csv"]);
    // Types and the name of the collection are no rows.
    let is_head = |line: &&str| line.starts_with(r#"{"type""#) || line.starts_with(r#"{"collection""#);
    place.write("head.jsonl", &exported.lines().filter(is_head).collect::<Vec<_>>().join("\n"));
    place.ok(&["-r", "copy", "import", "head.jsonl"]);
    let files = |prefix: &str| -> Vec<String> {
        let names = std::fs::read_dir(place.path("csv")).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<String> = names.map(|name| name.into_string().unwrap()).collect();
        names.retain(|name| name.starts_with(prefix));
        names.sort();
        names.into_iter().map(|name| format!("csv/{name}")).collect()
    };
    let rows = [files("nodes-"), files("relationships-")].concat();
    let mut arguments = vec!["-r", "copy", "import"];
    arguments.extend(rows.iter().map(String::as_str));
    place.ok(&arguments);
    let [mut found, mut expected] =
        [place.ok(&["-r", "copy", "export"]), exported].map(|text| comparable(&text));
    // Ages are not in CSV.
    found.sort_by_key(ToString::to_string);
    expected.sort_by_key(ToString::to_string);
    assert_eq!(found, expected);
    place.write("added.csv", ":ID,:LABEL,@annals:IGNORE\nz,other;odd;even,\"{\"\"status\"\": \"\"draft\"\", \"\"classifications\"\": [{\"\"name\"\": \"\"odd\"\", \"\"properties\"\": {\"\"n\"\": 1}}]}\"\ny,other,\nbad,other,[1]\ntwice,other,{\"id\": \"x\"}\n");
    let done = place.run(&["-r", "copy", "import", "added.csv"]);
    assert_eq!(done.code, 6, "{done:?}");
    assert!(
        done.err.contains("added.csv:4: column `@annals:IGNORE`: expected an object, found an array"),
        "{done:?}"
    );
    assert!(done.err.contains("expected it without \"id\""), "{done:?}");
    let added = place.json_one(&["-r", "copy", "get", "z"]);
    assert_eq!(
        (&added["status"], &added["classifications"]["odd"]["properties"]["n"]),
        (&"draft".into(), &1.into())
    );
    assert!(added["classifications"]["even"].is_object() && place.run(&["-r", "copy", "get", "y"]).code == 0);
}

/// A place with every action that changes more than content: types with enums, statuses, copies, proxies, other types,
/// ends, ids and homes.
fn place_with_lifecycle() -> Place {
    let place = Place::new();
    let there = r#""home": "there", "version": 7, "created": {"instant": "2020-01-01T00:00:00Z", "author": "bob"}, "updated": {"instant": "2020-02-01T00:00:00Z", "author": "eve"}"#;
    let steps = [
        r#"{"action": "name-collection", "collection": "here"}"#.to_owned(),
        r#"[{"action": "define-type", "type": {"kind": "enum", "name": "color", "elements": [{"ordinal": 0, "name": "red"}, {"ordinal": 1, "name": "blue"}]}},
            {"action": "define-type", "type": {"kind": "entity", "name": "thing", "statuses": ["draft", "active", "approved"], "initialStatus": "draft",
             "attributes": [{"name": "color", "type": "string", "enum": "color"}, {"name": "sizes", "type": "list", "items": "integer"}]}},
            {"action": "define-type", "type": {"kind": "entity", "name": "item", "supertypes": ["thing"]}}]"#.to_owned(),
        r#"[{"action": "create", "kind": "entity", "id": "a", "type": "thing", "status": "active", "properties": {"color": "red", "sizes": [1, 2]}, "license": "CC0-1.0", "maintainedBy": ["ada"], "mappings": {"catalogue": "17"}, "effectiveFrom": "2025-01-01T00:00:00Z"},
            {"action": "create", "kind": "entity", "id": "b", "type": "thing", "properties": {}},
            {"action": "create", "kind": "entity", "id": "gone", "type": "thing", "properties": {}},
            {"action": "create", "kind": "entity", "id": "pack", "type": "other", "properties": {}, "provenance": "content-pack"},
            {"action": "create", "kind": "entity", "id": "outside", "type": "other", "properties": {}, "home": "crm", "provenance": "external-source", "replicatedBy": "here"},
            {"action": "create", "kind": "relationship", "id": "r", "type": "near", "from": "a", "to": "b", "properties": {}, "status": "proposed"}]"#.to_owned(),
        format!(
            r#"[{{"action": "save-copy", "kind": "entity", "id": "x", "type": "thing", "status": "approved", "properties": {{"color": "blue"}}, "license": "MIT", {there}, "classifications": [{{"name": "secret", "properties": {{"level": 3}}, {there}}}]}},
                {{"action": "save-copy", "kind": "relationship", "id": "s", "type": "near", "from": "x", "to": "far", "properties": {{"since": 1}}, {there},
                 "proxies": [{{"id": "far", "type": "thing", "properties": {{"key": "f"}}, "home": "there"}}]}},
                {{"action": "save-copy", "kind": "entity", "id": "mine", "type": "thing", "properties": {{}}, {there}}},
                {{"action": "save-copy", "kind": "entity", "id": "left", "type": "thing", "properties": {{}}, {there}}}]"#
        ),
        format!(
            r#"[{{"action": "save-classification-copy", "kind": "entity", "id": "a", "classification": "secret", "properties": {{"level": 1}}, {there}}},
                {{"action": "save-classification-copy", "kind": "entity", "id": "b", "classification": "secret", "properties": {{}}, {there}}},
                {{"action": "classify", "id": "x", "classification": "seen", "properties": {{"by": "us"}}}},
                {{"action": "rehome", "kind": "entity", "id": "mine", "home": "there"}},
                {{"action": "purge-copy", "kind": "entity", "id": "left", "home": "there"}},
                {{"action": "purge-classification-copy", "kind": "entity", "id": "b", "classification": "secret", "home": "there"}}]"#
        ),
        r#"{"action": "set-status", "kind": "entity", "id": "b", "status": "approved"}"#.to_owned(),
        r#"[{"action": "retype", "kind": "entity", "id": "b", "type": "item"},
            {"action": "relink", "kind": "relationship", "id": "r", "to": "mine"}]"#.to_owned(),
        r#"[{"action": "reidentify", "kind": "entity", "id": "b", "newId": "b2"},
            {"action": "reidentify", "kind": "relationship", "id": "r", "newId": "r2"}]"#.to_owned(),
        r#"{"action": "update", "kind": "entity", "id": "b2", "patch": {"color": "blue"}}"#.to_owned(),
        r#"{"action": "set-provenance", "kind": "entity", "id": "mine", "license": "MIT", "provenance": "unknown"}"#.to_owned(),
        r#"{"action": "delete", "kind": "entity", "id": "gone"}"#.to_owned(),
        r#"{"action": "undo", "kind": "relationship", "id": "s"}"#.to_owned(),
    ];
    for (index, operations) in steps.iter().enumerate() {
        let name = format!("step{index}.json");
        place.write(&name, operations);
        if index + 1 < steps.len() {
            place.ok(&["apply", &name, "--author", "someone", "--message", &name]);
        } else {
            assert_ne!(place.run(&["apply", &name]).code, 0, "a copy is not undone here");
        }
    }
    place
}

#[test]
fn an_export_with_history_carries_statuses_homes_ids_types_ends_and_copies() {
    let place = place_with_lifecycle();
    let history = place.ok(&["export", "--history"]);
    for verb in [
        "name-collection",
        "set-status",
        "set-provenance",
        "rehome",
        "reidentify",
        "retype",
        "relink",
        "save-copy",
        "save-proxy",
        "save-classification-copy",
        "purge-classification-copy",
    ] {
        assert!(history.contains(&format!("\"action\":\"{verb}\"")), "{verb}");
    }
    // Nothing is left of the copy that was purged.
    assert!(!history.contains("\"purge-copy\""), "{history}");
    pipe(&place, &["export", "--history"], &["-r", "copy", "import", "jsonl", "-"]);
    assert_eq!(place.ok(&["-r", "copy", "export", "--history"]), history);
    let same = |arguments: &[&str]| {
        let (original, copy) = (place.ok(arguments), place.ok(&[&["-r", "copy"], arguments].concat()));
        assert_eq!(original, copy, "{arguments:?}");
        original
    };
    same(&["--json", "types"]);
    for id in ["a", "b", "b2", "gone", "x", "mine", "far"] {
        assert!(!same(&["--json", "history", id]).is_empty(), "{id}");
    }
    for id in ["r", "r2", "s"] {
        assert!(!same(&["--json", "history", "--relationship", id]).is_empty(), "{id}");
    }
    for position in 1..=11 {
        let at = position.to_string();
        for which in ["with", "only"] {
            same(&["--json", "find", "--with-proxies", "--deleted", which, "--at-position", &at]);
            same(&["--json", "find", "--relationships", "--deleted", which, "--at-position", &at]);
        }
        // The log of the copy lacks the change that wrote the purged copy.
        let stats = |more: &[&str]| {
            let mut stats = place.json_one(&[more, &["stats", "--at-position", &at]].concat());
            assert!(stats.as_object_mut().unwrap().remove("logBytes").is_some());
            stats
        };
        assert_eq!(stats(&[]), stats(&["-r", "copy"]), "{at}");
        same(&["export", "--at-position", &at]);
    }
    assert!(place.ok(&["-r", "copy", "check"]).contains("all is well"));
}

#[test]
fn a_plain_export_carries_statuses_homes_new_ids_copies_and_proxies() {
    let place = place_with_lifecycle();
    let exported = place.ok(&["export"]);
    pipe(&place, &["export"], &["-r", "copy", "import", "jsonl", "-"]);
    assert_eq!(comparable(&place.ok(&["-r", "copy", "export"])), comparable(&exported));
    assert_eq!(exported.lines().count(), 13, "{exported}");
    assert!(place.ok(&["-r", "copy", "check"]).contains("all is well"));
    let shown = |repository: &str, arguments: &[&str]| {
        let mut json = place.json_one(&[&["-r", repository, "get"], arguments].concat());
        // A plain export has what is there, not how it came to be.
        for what in [
            "created",
            "updated",
            "version",
            "latestVersion",
            "position",
            "validFrom",
            "homeVersion",
            "contentVersion",
        ] {
            json.as_object_mut().unwrap().remove(what);
        }
        if let Some(known) = json["classifications"].as_object_mut() {
            for classification in known.values_mut() {
                for what in ["created", "updated"] {
                    classification.as_object_mut().unwrap().remove(what);
                }
            }
        }
        json
    };
    for id in ["a", "b2", "x", "mine", "pack", "outside"] {
        assert_eq!(shown("copy", &[id]), shown("annals-data", &[id]), "{id}");
    }
    for id in ["r2", "s"] {
        let arguments = ["--relationship", id];
        assert_eq!(shown("copy", &arguments), shown("annals-data", &arguments), "{id}");
    }
    let renamed = place.json_one(&["-r", "copy", "get", "b2"]);
    assert_eq!((&renamed["reidentifiedFrom"], &renamed["status"]), (&"b".into(), &"approved".into()));
    let copied = place.json_one(&["-r", "copy", "get", "x"]);
    assert_eq!(copied["created"]["author"], "bob");
    assert_eq!(copied["classifications"]["secret"]["version"], 7);
    let proxies = place.json(&["-r", "copy", "find", "--with-proxies", "key = f"]);
    assert_eq!((&proxies[0]["id"], &proxies[0]["isProxy"]), (&"far".into(), &true.into()));
    assert_eq!(place.json(&["-r", "copy", "find", "key = f"]).len(), 0);
}

#[test]
fn csv_for_spreadsheets_has_no_formulas_and_other_csv_is_exact() {
    let place = Place::new();
    let text = "=HYPERLINK(1)";
    let entity = serde_json::json!({"entity": {"id": "a", "type": "t", "properties": {
        "formula": text, "at": "@x", "minus": "-1+2", "number": -5, "plain": "a=b", "escape": "a\u{1b}b",
    }}});
    place.write("all.jsonl", &entity.to_string());
    place.ok(&["import", "all.jsonl"]);
    place.ok(&["export", "--format", "csv", "-o", "exact"]);
    assert!(place.read("exact/nodes-t.csv").contains(text));
    assert!(!place.read("exact/nodes-t.csv").contains("'="));
    place.ok(&["export", "--format", "csv", "--spreadsheet", "-o", "shown"]);
    let shown = place.read("shown/nodes-t.csv");
    for expected in ["'=HYPERLINK(1)", "'@x", "'-1+2", ",-5,", "a=b", "a\\u{1b}b"] {
        assert!(shown.contains(expected), "{expected}: {shown}");
    }
    assert_ne!(place.run(&["export", "--spreadsheet"]).code, 0);
}
