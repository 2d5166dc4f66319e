//! Imports of plain JSON objects, and what an import says of many lines with one mistake.

use serde_json::json;

use crate::support::Place;

#[test]
fn options_say_which_members_of_plain_objects_are_ids() {
    let place = Place::new();
    place.write("cars.json", r#"[{"Name": "ford", "Cylinders": 8}, {"Name": "vw", "Cylinders": 4}]"#);
    let cars = ["import", "cars.json", "--id", "Name", "--type", "car"];
    assert!(place.ok(&cars).starts_with("imported 2 changes"));
    let ford = place.json_one(&["get", "ford"]);
    let expected = json!({"Name": "ford", "Cylinders": 8});
    assert_eq!((&ford["type"], &ford["properties"]), (&json!("car"), &expected));
    place.write("like.jsonl", r#"{"a": "ford", "b": "vw", "w": 1}"#);
    place.ok(&["import", "like.jsonl", "--from", "a", "--to", "b", "--type", "like"]);
    let links = place.json(&["relationships", "ford"]);
    assert_eq!((&links[0]["to"], &links[0]["properties"]), (&json!("vw"), &json!({"w": 1})));
    // Its type stands behind its entity, where a server does not look for it.
    let _ = place.path("annals-data");
    place.write(
        "all.json",
        r#"[{"entity": {"id": "x", "type": "t"}}, {"type": {"kind": "entity", "name": "t"}}]"#,
    );
    assert!(place.ok(&["import", "all.json"]).starts_with("imported 2 changes"));
}

#[test]
fn equal_reasons_are_counted() {
    let place = Place::new();
    place.write("plain.jsonl", &"{\"a\": 1, \"b\": 1}\n".repeat(200));
    let done = place.run(&["import", "plain.jsonl"]);
    let told: Vec<&str> = done.err.lines().collect();
    assert_eq!((done.code, told.len()), (6, 4), "{done:?}");
    assert!(told[3].starts_with("plain.jsonl:3: … and 197 more lines with this reason: "), "{told:?}");
    assert!(done.out.contains("refused 200,"), "{done:?}");
}

#[test]
fn options_that_do_not_apply_to_the_format_are_refused() {
    let place = Place::new();
    place.write("a.jsonl", "{\"a\": 1}\n");
    place.write("a.csv", "id\n1\n");
    for (arguments, option) in [
        (&["a.jsonl", "--label", "x"][..], "--label"),
        (&["a.jsonl", "--delimiter", ";"], "--delimiter"),
        (&["a.jsonl", "--array-delimiter", ";"], "--array-delimiter"),
        (&["a.jsonl", "--header", "a.csv"], "--header"),
        (&["a.jsonl", "--type", "x"], "--type"),
        (&["a.jsonl", "--depth-max", "3"], "--depth-max"),
        (&["a.csv", "--id", "id", "--shorten-pairs"], "--shorten-pairs"),
        (&["ldp", "http://a/", "http://b/", "--label", "x"], "--label"),
        (&["ldp", "http://a/", "http://b/", "--batch", "7"], "--batch"),
    ] {
        let done = place.run(&[&["import"], arguments].concat());
        assert_eq!(done.code, 2, "{arguments:?}: {done:?}");
        assert!(done.err.contains(&format!("error: {option}: ")), "{arguments:?}: {done:?}");
    }
    assert!(!place.path("annals-data").exists(), "nothing was opened");
    let done = place.run(&["import", "a.jsonl", "--from", "a", "--to", "b"]);
    assert!(done.code == 2 && done.err.contains("expected the type of the relationships"), "{done:?}");
}

// Most exports are one object around an array: 25 lines were refused one by one, and none said why.
#[test]
fn an_object_around_an_array_is_said_once() {
    let place = Place::new();
    place.write("a.jsonl", "{\"entity\": {\"id\": \"a\", \"type\": \"t\"}}\n");
    place.ok(&["import", "a.jsonl"]);
    let elements = "    {\n      \"alpha_2\": \"AW\"\n    },\n".repeat(250);
    for head in ["{\n  \"3166-1\": [\n", "\n{\"3166-1\": [\n"] {
        place.write("iso.json", &format!("{head}{elements}    {{}}\n  ]\n}}\n"));
        for options in [&[][..], &["--id", "alpha_2", "--type", "country"]] {
            let done = place.run(&[&["import", "iso.json"], options].concat());
            assert_eq!((done.code, done.err.lines().count()), (6, 1), "{done:?}");
            assert!(done.err.contains("found one object over several lines"), "{done:?}");
            assert!(done.err.contains(r#"try jq -c '.["3166-1"][]'"#), "{done:?}");
            assert!(done.out.starts_with("imported 0 changes in 0 records, refused 1,"), "{done:?}");
        }
    }
    // On one line.
    place.write("iso.json", "{\"3166-1\": [{\"alpha_2\": \"AW\"}, {\"alpha_2\": \"AF\"}]}\n");
    for options in [&[][..], &["--id", "alpha_2"]] {
        let done = place.run(&[&["import", "iso.json"], options].concat());
        assert!(done.code == 6 && done.err.contains(r#"try jq -c '.["3166-1"][]'"#), "{done:?}");
    }
    // A line that was cut off refuses itself alone.
    place.write("cut.jsonl", "{\"entity\": {\"id\": \"b\"\n{\"entity\": {\"id\": \"c\", \"type\": \"t\"}}\n");
    let done = place.run(&["import", "cut.jsonl"]);
    assert!(done.out.starts_with("imported 1 change in 1 record, refused 1,"), "{done:?}");
}

// The id made each of a hundred reasons another one.
#[test]
fn a_second_import_says_once_that_all_is_there() {
    let place = Place::new();
    let lines: String = (0..3_000)
        .map(|number| format!("{{\"entity\": {{\"id\": \"i{number}\", \"type\": \"t\"}}}}\n"))
        .collect();
    place.write("all.jsonl", &lines);
    place.ok(&["import", "all.jsonl"]);
    let done = place.run(&["import", "all.jsonl"]);
    let told: Vec<&str> = done.err.lines().collect();
    assert_eq!((done.code, told.len()), (6, 5), "{done:?}");
    assert!(told[2].contains("entity i2 already exists"), "{told:?}");
    assert!(
        told[3].ends_with("… and 2,997 more lines with this reason: the instance exists already"),
        "{told:?}"
    );
    assert!(
        told[4].starts_with("note: all 3,000 lines are of instances that exist already: --merge"),
        "{told:?}"
    );
    place.write("all.jsonl", &[&lines, "{\"entity\": {\"id\": \"new\", \"type\": \"t\"}}\n"].concat());
    let done = place.run(&["import", "all.jsonl"]);
    assert!(done.err.contains("note: 3,000 lines are of instances"), "{done:?}");
    assert!(done.out.starts_with("imported 1 change "), "{done:?}");
}

// Two links of 28,296 without an end made 28 records.
#[test]
fn a_refused_line_makes_few_records() {
    let place = Place::new();
    let lines: String = (0..20_000)
        .map(|number| match number {
            7_777 | 7_780 | 19_999 => {
                format!("{{\"relationship\": {{\"id\": \"r{number}\", \"type\": \"k\", \"from\": \"n0\", \"to\": \"nobody\"}}}}\n")
            }
            number => format!("{{\"entity\": {{\"id\": \"n{number}\", \"type\": \"t\"}}}}\n"),
        })
        .collect();
    place.write("all.jsonl", &lines);
    let done = place.run(&["import", "all.jsonl"]);
    assert_eq!((done.code, done.err.lines().count()), (6, 3), "{done:?}");
    // Four batches, and one more record behind each refused line that has lines behind it.
    assert!(done.out.starts_with("imported 19,997 changes in 6 records, refused 3,"), "{done:?}");
    let again = place.run(&["import", "all.jsonl", "--resume"]);
    assert!(
        again.out.starts_with("imported 0 changes in 0 records, refused 3, skipped 19,997;"),
        "{again:?}"
    );
}

// It ended with a panic, in the middle of the import.
#[test]
fn an_import_whose_reader_has_gone_goes_on() {
    let place = Place::new();
    let lines: String = (0..2_000)
        .map(|number| {
            format!("{{\"entity\": {{\"id\": \"i{number}\", \"type\": \"t\"}}}}\n{{\"x{number}\": 1}}\n")
        })
        .collect();
    place.write("all.jsonl", &lines);
    let (reader, errors) = std::io::pipe().unwrap();
    let output = errors.try_clone().unwrap();
    drop(reader);
    let mut command = place.command(&["import", "all.jsonl"]);
    let code = command.stdout(output).stderr(errors).status().unwrap().code();
    assert_eq!(code, Some(6));
    assert_eq!(place.json_one(&["stats"])["entities"]["total"], 2_000);
    for arguments in [&["find", "nothing"][..], &["no-command"], &["get", "nobody"]] {
        let (reader, errors) = std::io::pipe().unwrap();
        drop(reader);
        let code = place.command(arguments).stderr(errors).status().unwrap().code();
        assert!(code.is_some_and(|code| code < 100), "{arguments:?}: {code:?}");
    }
}
