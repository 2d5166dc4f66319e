//! Imports of plain JSON objects, and what an import says of many lines with one mistake.

use serde_json::json;

use crate::support::Place;

const CARS: &str = r#"[
  {"Name": "fiat 500", "Cylinders": 4, "Tags": ["small", "old", "small"], "Origin": null},
  {"Name": "mini", "Cylinders": 4}, {"Name": "ford", "Cylinders": 8}
]
"#;

#[test]
fn plain_objects_import_from_lines_and_from_an_array() {
    let place = Place::new();
    place.write("cars.json", CARS);
    let cars = ["import", "cars.json", "--id", "Name", "--type", "car"];
    assert!(place.ok(&cars).starts_with("imported 3 changes"));
    let fiat = place.json_one(&["get", "fiat 500"]);
    let expected = json!({"Name": "fiat 500", "Cylinders": 4, "Tags": ["small", "old", "small"]});
    assert_eq!((&fiat["type"], &fiat["properties"]), (&json!("car"), &expected));
    let merge = [&cars[..], &["--merge"]].concat();
    assert!(place.ok(&merge).starts_with("imported 0 changes in 0 records, refused 0, skipped 3"));
    place.write("cars.jsonl", "{\"Name\": \"ford\", \"Cylinders\": 6}\n{\"Name\": \"vw\"}\n");
    let merge = ["import", "cars.jsonl", "--id", "Name", "--type", "car", "--merge"];
    assert!(place.ok(&merge).starts_with("imported 2 changes"));
    assert_eq!(place.json_one(&["get", "ford"])["properties"]["Cylinders"], 6);
    place.write("like.json", r#"[{"a": "ford", "b": "vw", "w": 1}, {"a": "mini", "b": "vw"}]"#);
    let like = ["import", "like.json", "--from", "a", "--to", "b", "--type", "like"];
    assert!(place.ok(&like).starts_with("imported 2 changes"));
    let links = place.json(&["relationships", "ford"]);
    assert_eq!((&links[0]["to"], &links[0]["properties"]), (&json!("vw"), &json!({"w": 1})));
    assert!(place.ok(&[&like[..], &["--merge"]].concat()).starts_with("imported 0 changes"));
    // The native form may be an array, too, types and instances on one line.
    place.write(
        "all.json",
        r#"[{"entity": {"id": "x", "type": "t"}}, {"type": {"kind": "entity", "name": "t"}}, {"entity": {"id": "y", "type": "t"}}]"#,
    );
    // Its type stands behind its entity, where a server does not look for it.
    let _ = place.path("annals-data");
    assert!(place.ok(&["import", "all.json"]).starts_with("imported 3 changes"));
}

// 3,376 equal reasons said no more than one, and --id was ignored.
#[test]
fn equal_reasons_are_counted() {
    let place = Place::new();
    let lines: String = (0..200).map(|number| format!("{{\"a\": {number}, \"b\": 1}}\n")).collect();
    place.write("plain.jsonl", &[&lines, "{\"entity\": {}}\n"].concat());
    let done = place.run(&["import", "plain.jsonl"]);
    assert_eq!(done.code, 6, "{done:?}");
    let told: Vec<&str> = done.err.lines().collect();
    assert_eq!(told.len(), 5, "{told:?}");
    assert!(told[2].starts_with("plain.jsonl:3: ") && told[2].contains("for plain objects say"), "{told:?}");
    assert!(told[3].starts_with("plain.jsonl:201: "), "{told:?}");
    assert!(told[4].starts_with("plain.jsonl:3: … and 197 more lines with this reason: "), "{told:?}");
    assert!(done.out.contains("refused 201,"), "{done:?}");
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
