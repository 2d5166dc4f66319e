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
