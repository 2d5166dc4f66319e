//! Imports that go on: with a file as it was, repaired, longer, or changed.

use serde_json::Value as Json;

use crate::support::{Done, Place};

/// A line of JSON Lines.
fn entity(id: &str) -> String {
    format!("{{\"entity\": {{\"id\": \"{id}\", \"type\": \"t\"}}}}\n")
}

fn link(from: &str, to: &str) -> String {
    format!("{{\"relationship\": {{\"type\": \"knows\", \"from\": \"{from}\", \"to\": \"{to}\"}}}}\n")
}

fn total(place: &Place) -> Json {
    place.json_one(&["stats"])["entities"]["total"].clone()
}

fn assert_refused(done: &Done, file: &str) {
    assert_eq!(done.code, 2, "{done:?}");
    assert!(done.err.contains(file) && done.err.contains("nothing was written"), "{done:?}");
}

/// The counts that a resumed import prints: lines imported, refused, skipped.
fn resume(place: &Place, file: &str) -> [u64; 3] {
    let done = place.run(&["--json", "import", file, "--resume"]);
    let summary: Json = serde_json::from_str(&done.out).unwrap_or_else(|_| panic!("{done:?}"));
    ["changes", "refused", "skipped"].map(|name| summary[name].as_u64().unwrap())
}

// The bad line was deleted and another one appended: the line behind it was taken for the one that was there already,
// so what had been appended was never imported, and nothing said so.
#[test]
fn a_file_whose_beginning_changed_is_not_resumed() {
    let (a, b, c) = (entity("a"), entity("b"), entity("c"));
    let bad = "oops\n";
    let changed = [
        [&*a, &b, &c].concat(),
        [&*a, bad, bad, &b, &c].concat(),
        [&*a, bad, &c].concat(),
        [&*b, bad, &a, &c].concat(),
        a.clone(),
        String::new(),
    ];
    for text in changed {
        let place = Place::new();
        place.write("a.jsonl", &[&*a, bad, &b].concat());
        assert_eq!(place.run(&["import", "a.jsonl"]).code, 6);
        place.write("a.jsonl", &text);
        assert_refused(&place.run(&["import", "a.jsonl", "--resume"]), "a.jsonl");
        assert_eq!(total(&place), 2, "{text}");
    }
}

#[test]
fn a_refused_line_is_repaired_in_place_and_lines_are_appended() {
    let place = Place::new();
    let (a, b, c) = (entity("a"), entity("b"), entity("c"));
    // The last line has no end yet; an empty line is in between.
    let early = link("a", "c");
    let text = [&*a, "oops\n", &early, "\n", &b].concat();
    place.write("a.jsonl", text.trim_end());
    assert_eq!(place.run(&["import", "a.jsonl"]).code, 6);
    let repaired = [&*a, &entity("repaired"), &early, "\n", &b, &c].concat();
    place.write("a.jsonl", &repaired);
    // The relationship still stands before its end.
    assert_eq!(resume(&place, "a.jsonl"), [2, 1, 2]);
    assert_eq!(resume(&place, "a.jsonl"), [1, 0, 4]);
    assert_eq!(resume(&place, "a.jsonl"), [0, 0, 5]);
    assert_eq!(total(&place), 4);
    assert_eq!(place.json(&["relationships", "a"]).len(), 1);
}

#[test]
fn rows_of_csv_are_resumed_and_checked_with_their_header() {
    let (header, a, b, c) = (":ID,:LABEL,name,n:int\n", "a,t,\"x\ny\",1\n", "b,t,y,2\n", "c,t,z,3");
    let first = [header, a, "bad,t,x,oops\n", "\n", b].concat();
    let place = Place::new();
    place.write("a.csv", first.trim_end());
    assert_eq!(place.run(&["import", "a.csv"]).code, 6);
    for changed in [
        [header, a, b, c].concat(),
        [header, b, a, c].concat(),
        [":ID,:LABEL,other,n:int\n", a, "bad,t,x,0\n", "\n", b, c].concat(),
        [header, a, "bad,t,x,0\n", "\n", "b,t,other,2\n", c].concat(),
    ] {
        place.write("a.csv", &changed);
        assert_refused(&place.run(&["import", "a.csv", "--resume"]), "a.csv");
    }
    place.write("a.csv", &[header, a, "bad,t,x,0\n", "\n", b, c].concat());
    assert_eq!(resume(&place, "a.csv"), [2, 0, 2]);
    assert_eq!(resume(&place, "a.csv"), [0, 0, 4]);
    assert_eq!(total(&place), 4);
}

#[test]
fn no_file_of_an_import_is_resumed_if_one_of_them_changed() {
    let place = Place::new();
    place.write("a.jsonl", &entity("a"));
    place.write("b.jsonl", &entity("b"));
    place.ok(&["import", "a.jsonl", "b.jsonl"]);
    place.write("a.jsonl", &[entity("a"), entity("c")].concat());
    place.write("b.jsonl", &entity("d"));
    assert_refused(&place.run(&["import", "a.jsonl", "b.jsonl", "--resume"]), "b.jsonl");
    assert_eq!(total(&place), 2);
}

#[test]
fn standard_input_is_checked_as_a_file_is() {
    let place = Place::new();
    let run = |text: &str, arguments: &[&str]| {
        place.write("input", text);
        let input = std::fs::File::open(place.path("input")).unwrap();
        let output = place.command(arguments).stdin(input).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Done { code: output.status.code().unwrap(), out: text(output.stdout), err: text(output.stderr) }
    };
    let (a, b, c) = (entity("a"), entity("b"), entity("c"));
    let resume = ["import", "jsonl", "-", "--resume"];
    assert_eq!(run(&[&*a, "oops\n", &b].concat(), &resume[..3]).code, 6);
    assert_refused(&run(&[&*a, &b, &c].concat(), &resume), "-");
    assert_eq!(total(&place), 2);
    let done = run(&[&*a, &entity("repaired"), &b, &c].concat(), &resume);
    assert!(done.out.starts_with("imported 2 changes"), "{done:?}");
}

#[test]
fn the_latest_import_of_a_name_goes_on() {
    let place = Place::new();
    place.write("nightly.jsonl", &[entity("a"), entity("b")].concat());
    place.ok(&["import", "nightly.jsonl"]);
    place.write("nightly.jsonl", &[entity("c"), entity("d")].concat());
    place.ok(&["import", "nightly.jsonl"]);
    place.write("nightly.jsonl", &[entity("c"), entity("d"), entity("e")].concat());
    assert_eq!(resume(&place, "nightly.jsonl"), [1, 0, 2]);
}

#[test]
fn marks_without_sums_are_refused() {
    let place = Place::new();
    place.write("one.json", r#"[{"action": "create", "kind": "entity", "id": "a", "type": "t"}]"#);
    place.ok(&["apply", "one.json", "--message", "first load [import a.jsonl lines 1-1]"]);
    place.write("a.jsonl", &[entity("a"), entity("b")].concat());
    let done = place.run(&["import", "a.jsonl", "--resume"]);
    assert_eq!(done.code, 2, "{done:?}");
    assert!(done.err.contains("a.jsonl") && done.err.contains("older version"), "{done:?}");
    assert_eq!(total(&place), 1);
    // Another name is another file.
    place.write("b.jsonl", &entity("b"));
    assert_eq!(resume(&place, "b.jsonl"), [1, 0, 0]);
}

#[test]
fn a_record_of_many_stretches_tells_all_of_them() {
    let place = Place::new();
    let text = |bad: &str| (0..500).map(|n| entity(&n.to_string()) + bad).collect::<String>();
    place.write("a.jsonl", &text("oops\n"));
    assert_eq!(place.run(&["import", "a.jsonl", "--errors-max", "0"]).code, 6);
    assert_eq!(resume(&place, "a.jsonl"), [0, 500, 500]);
    let messages = place.json(&["follow", "--after", "0", "--once"]);
    assert!(messages.iter().all(|record| record["message"].as_str().unwrap().len() < 4_000));
    let stretches_count = messages[0]["message"].as_str().unwrap().matches(", ").count();
    assert!(stretches_count > 10, "{messages:?}");
}
