//! Imports: bad lines, interruptions, formats.

use std::io::Write;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};

use crate::support::Place;

fn person(number: usize) -> String {
    format!(
        "{{\"entity\": {{\"id\": \"p{number}\", \"type\": \"person\", \"properties\": {{\"n\": {number}}}}}}}\n"
    )
}

#[test]
fn with_a_memory_budget_everything_answers_as_without() {
    let place = Place::new();
    let long = "long ".repeat(2_000);
    let entity = json!({ "entity": { "id": "a", "type": "t", "properties": { "text": long } } });
    place.write("long.jsonl", &format!("{entity}\n"));
    place.ok(&["import", "long.jsonl", "--memory", "2GiB"]);
    let without = place.ok(&["get", "a"]);
    assert!(without.contains("long long"));
    assert_eq!(place.ok(&["get", "a", "--memory", "1.5GiB"]), without);
    place.ok(&["check", "--memory", "4GB"]);
    place.ok(&["compact", "--memory", "4GB"]);
    let place_of_backup = place.path("backup");
    let backup = place_of_backup.to_str().unwrap();
    place.ok(&["backup", backup, "--memory", "2GiB"]);
    place.ok(&["restore", backup, place.path("again").to_str().unwrap(), "--memory", "2GiB"]);
}

#[test]
fn a_bad_line_is_told_and_the_others_are_kept() {
    let place = Place::new();
    let lines = [person(1), person(2), "{\"entity\": oops}\n".into(), person(4), person(5)];
    place.write("five.jsonl", &lines.concat());
    let done = place.run(&["import", "five.jsonl"]);
    assert_eq!(done.code, 6, "{done:?}");
    assert!(done.err.starts_with("five.jsonl:3: expected JSON"), "{done:?}");
    assert_eq!(place.json_one(&["stats"])["entities"]["total"], 4);
}

#[test]
fn of_a_refused_batch_only_the_bad_lines_are_dropped() {
    let place = Place::new();
    let mut text: String = (1..=100).map(person).collect();
    text += &person(7);
    text += r#"{"relationship": {"type": "knows", "from": "p1", "to": "nobody"}}"#;
    text += "\n";
    text += r#"{"relationship": {"id": "good", "type": "knows", "from": "p1", "to": "p2"}}"#;
    place.write("all.jsonl", &text);
    let done = place.run(&["--json", "import", "all.jsonl"]);
    assert_eq!(done.code, 6, "{done:?}");
    let refused: Vec<Json> =
        done.err.lines().map(|line| serde_json::from_str::<Json>(line).unwrap()["refused"].take()).collect();
    let lines: Vec<_> = refused.iter().map(|one| (one["line"].clone(), one["kind"].clone())).collect();
    assert_eq!(lines, [(json!(101), json!("already-exists")), (json!(102), json!("missing-end"))]);
    let summary: Json = serde_json::from_str(&done.out).unwrap();
    assert_eq!((&summary["changes"], &summary["refused"]), (&json!(101), &json!(2)));
    assert!(place.ok(&["get", "good"]).contains("p2"));
}

#[test]
fn the_first_bad_line_ends_an_import_that_was_asked_to_stop() {
    let place = Place::new();
    place.write("some.jsonl", &[person(1), "x\n".into(), person(3)].concat());
    let done = place.run(&["import", "some.jsonl", "--stop-on-error"]);
    assert_eq!(done.code, 6, "{done:?}");
    assert_eq!(place.json_one(&["stats"])["entities"]["total"], 1);
}

#[test]
fn more_bad_lines_than_asked_for_are_counted_not_shown() {
    let place = Place::new();
    place.write("bad.jsonl", &"x\n".repeat(50));
    let done = place.run(&["import", "bad.jsonl", "--errors-max", "3"]);
    assert_eq!(done.err.lines().count(), 4, "{done:?}");
    assert!(done.out.contains("refused 50"), "{done:?}");
}

#[test]
fn an_import_killed_in_the_middle_resumes_without_doubles() {
    let place = Place::new();
    let count = 20_000;
    let mut child = place
        .command(&["import", "jsonl", "-", "--batch", "100"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let first_half: String = (0..count / 2).map(person).collect();
    input.write_all(first_half.as_bytes()).unwrap();
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        let done = place.run(&["--json", "stats"]);
        let total = serde_json::from_str::<Json>(&done.out)
            .map_or(Json::Null, |json| json["entities"]["total"].clone());
        if total.as_u64().is_some_and(|total| total > 500) {
            break;
        }
        assert!(Instant::now() < deadline, "nothing was committed");
        std::thread::sleep(Duration::from_millis(20));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    drop(input);

    place.write("all.jsonl", &(0..count).map(person).collect::<String>());
    let output = place
        .command(&["--json", "import", "jsonl", "-", "--resume"])
        .stdin(std::fs::File::open(place.path("all.jsonl")).unwrap())
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let summary: Json = serde_json::from_slice(&output.stdout).unwrap();
    let (skipped, changes) = (summary["skipped"].as_u64().unwrap(), summary["changes"].as_u64().unwrap());
    assert!(skipped > 500 && changes > 0, "{summary}");
    assert_eq!(skipped + changes, count as u64);
    assert_eq!(place.json_one(&["stats"])["entities"]["total"], count);
    assert!(place.ok(&["check"]).contains("all is well"));
}

#[test]
fn resuming_tries_refused_lines_again_and_nothing_else() {
    let place = Place::new();
    let link = "{\"relationship\": {\"id\": \"l\", \"type\": \"knows\", \"from\": \"p1\", \"to\": \"p2\"}}\n";
    // The relationship stands before one of its ends.
    place.write("late.jsonl", &[person(1), link.into(), person(2)].concat());
    let done = place.run(&["import", "late.jsonl"]);
    assert_eq!(done.code, 6, "{done:?}");
    assert!(done.err.contains("put entities before"), "{done:?}");
    assert!(place.ok(&["import", "late.jsonl", "--resume"]).starts_with("imported 1 change"));
    assert!(place.ok(&["import", "late.jsonl", "--resume"]).starts_with("imported 0 changes"));
    assert!(place.ok(&["get", "l"]).contains("p2"));
}

#[test]
fn csv_with_neo4j_headers_is_imported() {
    let place = Place::new();
    place.write("people.csv", "id:ID(P),:LABEL,name,born:int,langs:string[]\n1,person;famous,Ada,1815,en;fr\n2,person,Charles,x,\n3,person,Grace,1906,\n");
    place.write("knows.csv", ":START_ID(P),:END_ID(P),:TYPE,since:date\n1,3,knows,1833-06-05\n1,9,knows,\n");
    let done = place.run(&["import", "people.csv", "knows.csv"]);
    assert_eq!(done.code, 6, "{done:?}");
    assert!(done.err.contains("people.csv:3: ") && done.err.contains("knows.csv:3: "), "{done:?}");
    let ada = place.json_one(&["get", "P:1"]);
    assert_eq!(ada["properties"], json!({"id": "1", "name": "Ada", "born": 1815, "langs": ["en", "fr"]}));
    assert!(ada["classifications"]["famous"].is_object());
    let known = &place.json(&["neighbors", "P:1"])[0]["relationship"];
    assert_eq!(known["properties"]["since"], json!({"$date": "1833-06-05"}));
}

#[test]
fn the_header_of_every_file_is_checked_before_anything_is_written() {
    let place = Place::new();
    place.write("a.csv", ":ID,:LABEL\n1,person\n");
    place.write("b.csv", ":START_ID,:END,:TYPE\n1,1,knows\n");
    place.write("c.jsonl", &person(3));
    let done = place.run(&["import", "c.jsonl", "a.csv", "b.csv"]);
    assert_eq!(done.code, 2, "{done:?}");
    assert!(done.err.contains("b.csv") && done.err.contains(":END"), "{done:?}");
    assert!(!place.path("annals-data").exists(), "nothing was written");
}

#[test]
fn types_and_defaults_of_one_file_hold_for_its_entities() {
    let place = Place::new();
    place.write(
        "typed.jsonl",
        r#"{"type": {"kind": "entity", "name": "task", "closed": true, "attributes": [{"name": "state", "type": "string", "default": "open"}]}}
{"entity": {"id": "one", "type": "task"}}
{"entity": {"id": "two", "type": "task", "properties": {"stat": "x"}}}
"#,
    );
    let done = place.run(&["import", "typed.jsonl"]);
    assert_eq!(done.code, 6, "{done:?}");
    assert!(done.err.contains("typed.jsonl:3: ") && done.err.contains("[invalid-property]"), "{done:?}");
    assert_eq!(place.json_one(&["get", "one"])["properties"], json!({"state": "open"}));
}

#[test]
fn a_checkpoint_that_cannot_be_written_is_a_warning() {
    let place = Place::new();
    place.write("one.jsonl", &person(0));
    place.ok(&["import", "one.jsonl"]);
    // A file where the folder should be stands for a full disk.
    place.write("annals-data/checkpoints", "");
    place.write("many.jsonl", &(1..=20_000).map(person).collect::<String>());
    // A server has less room for a batch, and writes more records.
    let _ = place.path("annals-data");
    let done = place.run(&["import", "many.jsonl"]);
    assert_eq!(done.code, 0, "{done:?}");
    assert!(done.out.contains("imported 20,000 changes"), "{done:?}");
    assert!(done.err.starts_with("warning: no checkpoint is used"), "{done:?}");
    assert!(
        done.err.contains("\nwarning: no checkpoint was written when the repository was closed"),
        "{done:?}"
    );
}
