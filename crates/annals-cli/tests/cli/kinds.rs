//! Kinds of values: columns without a type, what a merge makes of them, and conversions.

use serde_json::{Value as Json, json};

use crate::server::Server;
use crate::support::{Done, Place, command_in};

const AIRPORTS: &str = "icao,name,elevation,open,code,big\nEDDF,Frankfurt,364,1936-07-08,007,true\n\
                        EDDB,Berlin,157.5,2020-10-31,030,false\nSAWH,,,,012,\n";
const IMPORT: [&str; 6] = ["import", "airports.csv", "--id", "icao", "--type", "airport"];

fn airports(text: &str) -> Place {
    let place = Place::new();
    place.write("airports.csv", text);
    place
}

fn properties(place: &Place, id: &str) -> Json {
    place.json_one(&["get", id])["properties"].clone()
}

// A search for heights above 60 found nothing in a table of 28,000, and nothing said that they were texts.
#[test]
fn an_import_says_which_columns_look_like_other_values() {
    let place = airports(AIRPORTS);
    let done = place.run(&IMPORT);
    let expected = "note: airports.csv: texts that look like numbers, dates or booleans; to import them as these, title their \
                    columns big:boolean, elevation:float, open:date; `annals types convert` converts what is there\n";
    assert_eq!((done.code, done.err.as_str()), (0, expected));
    // Titled so, there is nothing to say; nor for what a type declares as texts.
    let titled =
        AIRPORTS.replacen("elevation,open,code,big", "elevation:float,open:date,code,big:boolean", 1);
    assert_eq!(airports(&titled).run(&IMPORT).err, "");
    let declared = airports(AIRPORTS);
    declared.write(
        "types.jsonl",
        r#"{"type": {"kind": "entity", "name": "airport", "attributes": [{"name": "elevation", "type": "string"}, {"name": "open", "type": "date"}, {"name": "big", "type": "any"}]}}"#,
    );
    declared.ok(&["import", "types.jsonl"]);
    assert_eq!(declared.run(&IMPORT).err, "");
    assert_eq!(properties(&declared, "EDDB")["elevation"], json!("157.5"));
}

// After a load with elevation:float, the next merge of the plain table changed all of them back into texts.
#[test]
fn a_merge_reads_a_plain_cell_as_the_instance_has_it() {
    let titled =
        AIRPORTS.replacen("elevation,open,code,big", "elevation:float,open:date,code,big:boolean", 1);
    let place = airports(&titled);
    place.ok(&IMPORT);
    let merge = [&IMPORT[..], &["--merge"]].concat();
    let more = "NEWA,New,12.5,2025-01-01,099,true\nNEWB,Odd,n/a,soon,1,maybe\n";
    place.write("airports.csv", &[&AIRPORTS.replace("364", "365"), more].concat());
    let done = place.run(&merge);
    assert_eq!((done.code, done.err.as_str()), (0, ""), "{done:?}");
    assert!(done.out.starts_with("imported 3 changes in 1 record, refused 0, skipped 2;"), "{done:?}");
    assert_eq!(properties(&place, "EDDF")["elevation"], json!(365.0));
    // New instances are like the others of their type, unless the cell is no such value.
    let expected = json!({"icao": "NEWA", "name": "New", "elevation": 12.5, "open": {"$date": "2025-01-01"}, "code": "099", "big": true});
    assert_eq!(properties(&place, "NEWA"), expected);
    assert_eq!(properties(&place, "NEWB")["elevation"], json!("n/a"));
    assert!(place.ok(&merge).starts_with("imported 0 changes in 0 records, refused 0, skipped 5;"));
    // An empty cell removes, and a title with a type counts.
    place.write("airports.csv", "icao,elevation:string,big\nEDDF,365,\n");
    assert!(place.ok(&merge).starts_with("imported 1 change "));
    assert_eq!(properties(&place, "EDDF")["elevation"], json!("365"));
    assert_eq!(properties(&place, "EDDF").get("big"), None);
    let log = place.ok(&["log", "EDDF", "--limit", "1"]);
    assert!(log.contains("elevation 365 (float) -> 365 (text)"), "{log}");
    let diff = place.ok(&["diff", "EDDF", "2", "3"]);
    assert!(diff.contains("elevation: 365 (float) -> 365 (text)"), "{diff}");
}

#[test]
fn a_merge_reads_plain_cells_of_relationships_and_lists() {
    let place = Place::new();
    place.write("n.csv", ":ID,:LABEL,tags:string[],sizes:int[]\na,n,x;y,1;2\nb,n,z,3\n");
    place.write("r.csv", ":START_ID,:TYPE,:END_ID,nr:int,km:double\na,reads,b,1,2.5\na,reads,b,2,3\n");
    place.ok(&["import", "n.csv", "r.csv"]);
    place.write("n.csv", ":ID,:LABEL,tags,sizes\na,n,x;y,1;2\nb,n,w;z,3\n");
    place.write("r.csv", ":START_ID,:TYPE,:END_ID,nr,km\na,reads,b,1,2.5\na,reads,b,2,4\na,reads,b,3,1\n");
    let merge = ["import", "n.csv", "r.csv", "--merge", "--key", "nr"];
    assert!(place.ok(&merge).starts_with("imported 3 changes in 2 records, refused 0, skipped 2;"));
    assert_eq!(properties(&place, "b"), json!({"tags": ["w", "z"], "sizes": [3]}));
    let links = place.json(&["relationships", "a"]);
    let mut links: Vec<Json> = links.iter().map(|link| link["properties"].clone()).collect();
    links.sort_by_key(|link| link["nr"].as_i64());
    assert_eq!(
        links,
        [json!({"nr": 1, "km": 2.5}), json!({"nr": 2, "km": 4.0}), json!({"nr": 3, "km": 1.0})]
    );
}

#[test]
fn a_property_is_converted_in_one_record_per_batch() {
    let mut rows: String = (0..10).map(|number| format!("a{number},x,{number}.5,,,\n")).collect();
    rows.push_str("bad,x,n/a,,,\nempty,x,,,,\n");
    let place = airports(&format!("icao,name,elevation,open,code,big\n{rows}"));
    place.ok(&IMPORT);
    let convert = ["types", "convert", "airport", "elevation", "float"];
    let tail = |place: &Place| place.json_one(&["stats"])["position"].as_u64().unwrap();
    let before = tail(&place);
    let dry = place.run(&[&convert[..], &["--dry-run", "--batch", "3"]].concat());
    let refused = "bad: elevation stays n/a: expected a number\n";
    assert_eq!((dry.code, dry.err.as_str()), (6, refused), "{dry:?}");
    let out = "would convert 10 values of airport.elevation to float, refused 1, 0 were so already; nothing was written\n";
    assert_eq!((dry.out.as_str(), tail(&place)), (out, before));
    let done = place.run(&[&convert[..], &["--batch", "3", "-m", "numbers"]].concat());
    assert_eq!((done.code, done.err.as_str()), (6, refused), "{done:?}");
    let out = format!(
        "converted 10 values of airport.elevation to float in 4 records, refused 1, 0 were so already; now at position {}\n",
        before + 4
    );
    assert_eq!(done.out, out);
    assert_eq!(properties(&place, "a3")["elevation"], json!(3.5));
    assert!(place.ok(&["log", "a3", "--limit", "1"]).contains("elevation 3.5 (text) -> 3.5 (float)"));
    // Once the refused value is corrected, it is run again.
    place.ok(&["set", "bad", "elevation=\"7\""]);
    let again = place.json_one(&convert);
    let told = ["converted", "unchanged", "refused", "records"].map(|name| again[name].clone());
    assert_eq!(told, [1, 10, 0, 1].map(|number| json!(number)), "{again}");
    let nothing = place.ok(&convert);
    assert_eq!(nothing, "converted 0 values of airport.elevation to float, refused 0, 11 were so already\n");
    assert_eq!(place.ok(&["find", "airport where elevation > 7", "--count"]), "3\n");
    place.write(
        "types.jsonl",
        r#"{"kind": "entity", "name": "airport", "attributes": [{"name": "elevation", "type": "float"}]}"#,
    );
    place.ok(&["types", "load", "types.jsonl"]);
    let declared = place.run(&["types", "convert", "airport", "elevation", "text"]);
    assert_eq!((declared.code, declared.err.contains("[type-violation]")), (1, true), "{declared:?}");
    let wrong = place.run(&["types", "convert", "airport", "elevation", "number"]);
    assert!(wrong.code == 2 && wrong.err.contains("boolean, integer, float"), "{wrong:?}");
}

#[test]
fn relationships_are_converted_beside_their_writers() {
    let place = Place::new();
    place.write("n.csv", ":ID,:LABEL\na,n\nb,n\n");
    let rows: String = (0..2_000).map(|number| format!("a,reads,b,{number}\n")).collect();
    place.write("r.csv", &format!(":START_ID,:TYPE,:END_ID,nr\n{rows}"));
    place.ok(&["import", "n.csv", "r.csv"]);
    let server = Server::start(&place.path("annals-data"), &[]);
    let found = server.send("POST", "/v1/find", &json!({"kind": "relationship", "limit": 1_000})).json();
    let ids: Vec<String> =
        found["items"].as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap().to_owned()).collect();
    let done = std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            for id in &ids[..200] {
                let patch = json!({"note": "x"});
                let path = format!("/v1/relationships/{id}");
                let headers = [("content-type", "application/merge-patch+json")];
                let answer = server.request("PATCH", &path, &headers, Some(&patch.to_string()));
                assert_eq!(answer.status, 200, "{answer:?}");
            }
        });
        let arguments = ["types", "convert", "reads", "nr", "integer", "--relationships", "--batch", "50"];
        let mut command = command_in(&place.path(""), &arguments);
        command.env("ANNALS_SERVER", format!("http://{}", server.address));
        let done = Done::of(command);
        writer.join().unwrap();
        done
    });
    assert!(
        done.code == 0 && done.out.starts_with("converted 2,000 values of reads.nr to integer in 40 records"),
        "{done:?}"
    );
    let kept = server
        .send("POST", "/v1/count", &json!({"kind": "relationship", "where": "note = x and nr >= 0"}))
        .json();
    assert_eq!(kept["count"], 200);
}
