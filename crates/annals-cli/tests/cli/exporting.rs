//! What is exported can be imported, and is then the same.

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
    let content = |repository: &str, id: &str| {
        let json = place.json_one(&["-r", repository, "get", id]);
        let names: Vec<String> = json["classifications"].as_object().unwrap().keys().cloned().collect();
        (json["type"].clone(), json["properties"].clone(), names)
    };
    for id in ["a", "b", "c"] {
        assert_eq!(content("copy", id), content("annals-data", id));
    }
    assert_eq!(place.json(&["-r", "copy", "neighbors", "a"])[0]["relationship"]["properties"]["w"], 0.5);
}
