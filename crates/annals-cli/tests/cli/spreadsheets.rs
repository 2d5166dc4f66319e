//! Imports of tables as spreadsheets and other databases write them.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value as Json, json};

use crate::support::Place;

fn properties(place: &Place, id: &str) -> Json {
    place.json_one(&["get", id])["properties"].clone()
}

#[test]
fn options_say_what_the_columns_of_a_sheet_are() {
    let place = Place::new();
    place.write(
        "tables.csv",
        "\u{feff}Table Name;Owner;Size, net;\r\norders;Ada;007;\r\n\"raw;orders\";\"Eve, \"\"E\"\"\";;\r\n",
    );
    place.write("jobs.csv", "Job\nload\n");
    place.write("reads.csv", "Job;Table Name;since\nload;orders;2024-01-01\nload;raw;2024-01-01\n");
    place.ok(&["import", "tables.csv", "--id", "Table Name", "--type", "table", "--label", "pii"]);
    place.ok(&["import", "jobs.csv", "--id", "Job", "--type", "job"]);
    let edges = ["import", "reads.csv", "--from", "Job", "--to", "Table Name", "--type", "reads"];
    let done = place.run(&edges);
    assert_eq!(done.code, 6, "{done:?}");
    assert!(done.err.contains("reads.csv:3: "), "{done:?}");
    let orders = place.json_one(&["get", "orders"]);
    assert_eq!((&orders["type"], orders["classifications"]["pii"].is_object()), (&json!("table"), true));
    // Without a declaration each value stays the text it is.
    assert_eq!(orders["properties"], json!({"Table Name": "orders", "Owner": "Ada", "Size, net": "007"}));
    assert_eq!(properties(&place, "raw;orders"), json!({"Table Name": "raw;orders", "Owner": "Eve, \"E\""}));
    let read = &place.json(&["neighbors", "load"])[0]["relationship"];
    assert_eq!((&read["type"], &read["properties"]), (&json!("reads"), &json!({"since": "2024-01-01"})));
}

#[test]
fn cells_become_what_the_type_declares_and_come_back_from_an_export() {
    let place = Place::new();
    place.write(
        "types.jsonl",
        r#"{"type": {"kind": "entity", "name": "table", "attributes": [{"name": "rows", "type": "integer"}, {"name": "tags", "type": "string", "many": true}]}}
{"type": {"kind": "relationship", "name": "reads", "attributes": [{"name": "since", "type": "date"}]}}
"#,
    );
    place.write("tables.csv", "name;rows;tags;note\na;42;x,y;7\nb;many;;\n");
    let done = place.run(&["import", "types.jsonl", "tables.csv", "--id", "name", "--type", "table"]);
    assert_eq!(done.code, 6, "{done:?}");
    assert!(done.err.contains("tables.csv:3: ") && done.err.contains("property `rows`: "), "{done:?}");
    assert!(done.err.contains("expected a whole number") && done.err.contains("found `many`"), "{done:?}");
    let expected = json!({"name": "a", "rows": 42, "tags": {"$set": ["x", "y"]}, "note": "7"});
    assert_eq!(properties(&place, "a"), expected);
    place.write("reads.csv", "f\tt\tsince\na\ta\t2024-02-29\n");
    place.ok(&["import", "reads.csv", "--from", "f", "--to", "t", "--type", "reads"]);
    let read = &place.json(&["neighbors", "a"])[0]["relationship"];
    assert_eq!(read["properties"], json!({"since": {"$date": "2024-02-29"}}));
    place.ok(&["export", "--format", "csv", "-o", "csv"]);
    place.ok(&["-r", "copy", "import", "types.jsonl", "csv/nodes-table.csv"]);
    assert_eq!(place.json_one(&["-r", "copy", "get", "a"])["properties"], expected);
}

#[test]
fn tabs_are_recognised_by_the_name_the_option_and_the_header_also_packed() {
    let text = "name\tnote, long\na\tx, y\n";
    for (file, options) in [("a.tsv", &[][..]), ("a.csv", &["--delimiter", "tab"]), ("b.csv", &[])] {
        let place = Place::new();
        let text = if file == "b.csv" { text.replace("note, long", "note") } else { text.to_owned() };
        place.write(file, &text);
        place.ok(&[&["import", file, "--id", "name"], options].concat());
        let names = if file == "b.csv" { "note" } else { "note, long" };
        assert_eq!(properties(&place, "a"), json!({"name": "a", names: "x, y"}), "{file}");
    }
    let place = Place::new();
    let packed = std::fs::File::create(place.path("a.tsv.gz")).unwrap();
    GzEncoder::new(packed, Compression::default()).write_all(text.as_bytes()).unwrap();
    place.ok(&["import", "a.tsv.gz", "--id", "name"]);
    assert_eq!(properties(&place, "a")["note, long"], "x, y");
}

#[test]
fn a_header_in_a_file_of_its_own_holds_for_all_files() {
    let place = Place::new();
    place.write("header.csv", "nr:ID(P);name;born:int\n");
    place.write("1.csv", "1;Ada;1815\n2;Eve;x\n");
    place.write("2.csv", "3;Bob;1980\n");
    let import = ["import", "--header", "header.csv", "--label", "person", "1.csv", "2.csv"];
    let done = place.run(&import);
    assert_eq!(done.code, 6, "{done:?}");
    assert!(done.err.contains("1.csv:2: column `born:int`"), "{done:?}");
    assert_eq!(properties(&place, "P:1"), json!({"nr": "1", "name": "Ada", "born": 1815}));
    assert_eq!(properties(&place, "P:3"), json!({"nr": "3", "name": "Bob", "born": 1980}));
    // The refused row is repaired; a header that has changed is noticed.
    place.write("1.csv", "1;Ada;1815\n2;Eve;1900\n");
    let resume = [&import[..], &["--resume"]].concat();
    place.write("header.csv", "nr:ID(P);named;born:int\n");
    let done = place.run(&resume);
    assert_eq!(done.code, 2, "{done:?}");
    assert!(done.err.contains("nothing was written"), "{done:?}");
    place.write("header.csv", "nr:ID(P);name;born:int\n");
    let done = place.ok(&resume);
    assert!(done.contains("imported 1 change") && done.contains("skipped 2"), "{done}");
}

#[test]
fn a_header_that_cannot_be_read_is_refused_before_anything_is_written() {
    let place = Place::new();
    place.write("good.csv", "name;n\na;1\n");
    place.write("other.csv", "title;n\nb;1\n");
    place.write("tie.csv", "name, full;n\nb;1\n");
    place.write("rows.csv", "name;n\nb;1\n");
    for (arguments, expected) in [
        (
            &["good.csv", "other.csv", "--id", "name"][..],
            "--id: expected the title of a column (`title`, `n`), found `name`",
        ),
        (&["good.csv", "tie.csv", "--id", "name"], "choose with --delimiter"),
        (&["good.csv", "--id", "name", "--array-delimiter", ";"], "--array-delimiter: expected another"),
        (&["good.csv", "--id", "name", "--delimiter", "x"], "--delimiter: expected `,`, `;`, tab or `|`"),
        (&["good.csv"], "name its columns with --id"),
        (&["good.csv", "--from", "name", "--to", "n"], "--type"),
        (
            &["good.csv", "--header", "rows.csv", "--id", "name"],
            "expected nothing behind the header, found line 2",
        ),
    ] {
        let done = place.run(&[&["import"], arguments].concat());
        assert_eq!(done.code, 2, "{arguments:?}: {done:?}");
        assert!(done.err.contains(expected), "{arguments:?}: {done:?}");
        assert!(!place.path("annals-data").exists(), "{arguments:?}: nothing was written");
    }
    for arguments in
        [&["good.csv", "--from", "name"][..], &["good.csv", "--id", "a", "--from", "b", "--to", "c"]]
    {
        assert_eq!(place.run(&[&["import"], arguments].concat()).code, 2, "{arguments:?}");
    }
}

// The header of standard input was looked at after the files before it were committed.
#[test]
fn the_header_of_standard_input_is_refused_before_anything_is_written() {
    let place = Place::new();
    place.write("good.csv", "name;n\na;1\n");
    place.write("input", "title;n\nb;1\n");
    let run = || {
        let input = std::fs::File::open(place.path("input")).unwrap();
        let arguments = ["import", "csv", "good.csv", "-", "--id", "name"];
        place.command(&arguments).stdin(input).output().unwrap().status.code()
    };
    assert_eq!((run(), place.path("annals-data").exists()), (Some(2), false));
    place.write("input", "name;n\nb;1\n");
    assert_eq!(run(), Some(0));
    assert_eq!(properties(&place, "b"), json!({"name": "b", "n": "1"}));
}

#[test]
fn a_plain_sheet_is_resumed() {
    let place = Place::new();
    let import = ["import", "a.csv", "--id", "name", "--type", "t"];
    place.write("a.csv", "name;n:int\na;1\nb;x\nc;3\n");
    assert_eq!(place.run(&import).code, 6);
    place.write("a.csv", "name;n:int\na;1\nb;2\nc;3\nd;4");
    let resumed = place.ok(&[&import[..], &["--resume"]].concat());
    assert!(resumed.contains("imported 2 changes") && resumed.contains("skipped 2"), "{resumed}");
}

// A table with fewer columns removed all other properties.
#[test]
fn a_merge_of_rows_changes_the_columns_of_the_file() {
    let place = Place::new();
    place.write(
        "t.csv",
        ":ID,:LABEL,name,rows:int,state\nt1,table;pii,orders,5,\nt2,table,users,6,\nt3,table,logs,7,\n",
    );
    place.write(
        "types.jsonl",
        r#"{"type": {"kind": "entity", "name": "table", "attributes": [{"name": "state", "type": "string", "default": "open"}]}}"#,
    );
    place.write("e.csv", ":START_ID,:END_ID,:TYPE,w:int\nt1,t2,reads,1\n");
    place.ok(&["import", "types.jsonl", "t.csv", "e.csv"]);
    let merge = |files: &[&str]| place.ok(&[&["import", "--merge"], files].concat());
    // An empty cell gives an attribute its default.
    assert!(merge(&["t.csv", "e.csv"]).starts_with("imported 0 changes in 0 records"));
    assert_eq!(properties(&place, "t1"), json!({"name": "orders", "rows": 5, "state": "open"}));
    place.write("t.csv", "id,steward,name\nt1,bob,orders\nt2,,\n");
    place.write("e.csv", ":START_ID,:END_ID,:TYPE,w:int\nt1,t2,reads,2\nt1,t2,reads,2\n");
    let stewards = ["t.csv", "--id", "id", "--type", "table"];
    assert!(merge(&stewards).starts_with("imported 2 changes"));
    assert!(merge(&["e.csv"]).starts_with("imported 1 change"));
    let links = place.json(&["relationships", "t1"]);
    assert_eq!((links.len(), &links[0]["properties"]), (1, &json!({"w": 2})));
    let t1 = json!({"id": "t1", "name": "orders", "rows": 5, "state": "open", "steward": "bob"});
    let t2 = json!({"id": "t2", "rows": 6, "state": "open"});
    assert_eq!(["t1", "t2"].map(|id| properties(&place, id)), [t1, t2], "an empty cell removes");
    let classifications = || place.json_one(&["get", "t1"])["classifications"].clone();
    assert!(classifications()["pii"].is_object(), "the file does not state them");
    assert!(merge(&stewards).starts_with("imported 0 changes"));
    assert!(merge(&[&stewards[..], &["--replace"]].concat()).starts_with("imported 2 changes"));
    let t1 = json!({"id": "t1", "name": "orders", "state": "open", "steward": "bob"});
    assert_eq!(["t1", "t2"].map(|id| properties(&place, id)), [t1, json!({"id": "t2", "state": "open"})]);
    place.write("t.csv", ":ID,:LABEL\nt1,table;open\nt2,table\n");
    let done = merge(&["t.csv", "--delete-missing", "--delete-missing-max", "50%"]);
    assert!(done.contains("imported 2 changes") && done.contains("deleted 1"), "{done}");
    assert!(classifications()["open"].is_object() && classifications()["pii"].is_null());
}
