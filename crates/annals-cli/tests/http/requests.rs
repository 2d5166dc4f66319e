//! One table of requests: every parameter has an effect, every answer is given, and each is as it is described.

mod door;
mod reading;
mod table;
mod writing;

use std::collections::BTreeSet;

use self::door::{Door, Request};
use crate::support::described::{DESCRIPTION, answers, parameters};
use crate::support::server;

/// The arguments of a server, and the table that is walked on it. Shape: `([argument], table, [(name, value)])`.
type Section = (&'static [&'static str], &'static str, &'static [(&'static str, &'static str)]);

/// The names that all tables know: the members of a copy of an instance that is at home elsewhere, and headers.
const NAMES: [(&str, &str); 4] = [
    (
        "copied",
        r#""home": "there", "version": 7, "created": {"instant": "2020-01-01T00:00:00Z", "author": "bob"}, "updated": {"instant": "2020-01-01T00:00:00Z", "author": "bob"}"#,
    ),
    ("ndjson", "(content-type: application/x-ndjson)"),
    ("rows", "(content-type: text/csv)"),
    ("octets", "(content-type: application/octet-stream)"),
];

const SECTIONS: [Section; 12] = [
    (&[], "instances", &[("plural", "entities"), ("kind", "entity"), ("ends", "")]),
    (
        &[],
        "instances",
        &[("plural", "relationships"), ("kind", "relationship"), ("ends", r#", "from": "a", "to": "b""#)],
    ),
    (&[], "writes", &[]),
    (&[], "history", &[]),
    (&[], "walks", &[]),
    (&[], "search", &[]),
    (&[], "trees", &[]),
    (&[], "exchange", &[]),
    (&[], "imports", &[]),
    (&[], "candidates", &[]),
    (&["--require-author"], "leases", &[]),
    (&[], "forms", &[]),
];

#[test]
fn every_parameter_has_an_effect_and_every_answer_is_given_as_described() {
    let doors: Vec<Door> = std::thread::scope(|scope| {
        let walks = SECTIONS.map(|(arguments, table, values)| {
            scope.spawn(move || {
                let mut door = Door::open(arguments);
                let table = format!("{}/tests/http/requests/tables/{table}.txt", env!("CARGO_MANIFEST_DIR"));
                door.walk(&std::fs::read_to_string(table).unwrap(), values);
                door
            })
        });
        let reads = scope.spawn(|| {
            let mut door = Door::open(&[]);
            reading::check(&mut door);
            door
        });
        walks.into_iter().chain([reads]).map(|one| one.join().unwrap()).collect()
    });
    let served = doors[0].server.get("/openapi.json").json();
    assert_eq!(served, *DESCRIPTION, "the tables are for another description");
    let mut wrong: Vec<String> = doors.iter().flat_map(|door| door.wrong.clone()).collect();
    let tried: BTreeSet<_> = doors.iter().flat_map(|door| door.tried.clone()).collect();
    let named = |(operation, names): (String, Vec<(String, String)>)| {
        names.into_iter().map(move |(name, _)| (operation.clone(), name))
    };
    let listed: BTreeSet<_> = parameters().into_iter().flat_map(named).collect();
    wrong.extend(listed.difference(&tried).map(|(of, name)| format!("{of}: {name} is in no table")));
    wrong.extend(tried.difference(&listed).map(|(of, name)| format!("{of}: {name} is not described")));
    let seen: BTreeSet<_> = doors.iter().flat_map(|door| door.seen.clone()).collect();
    let missing = answers().into_iter().filter(|known| !seen.contains(known));
    wrong.extend(missing.map(|(of, status, media)| format!("{of}: nothing is answered by {status} {media}")));
    assert!(
        wrong.is_empty(),
        "{} differences from what the tables and the description say: {wrong:#?}",
        wrong.len()
    );
}

#[test]
fn a_query_parameter_that_is_not_listed_is_refused_by_its_name() {
    let (_folder, server) = server(&[]);
    for (operation, _) in parameters() {
        let (method, path) = operation.split_once(' ').unwrap();
        let path = path.replace("{kind}", "entity").replace("{number}", "1").replace("{position}", "1");
        let path = path.replace(['{', '}'], "");
        let body = ["POST", "PUT", "PATCH"].contains(&method).then_some("{}");
        let request = Request::new(method, &format!("{path}?undocumented=1"), body);
        let answer = request.send_to(&server);
        assert_eq!((answer.status, &*answer.problem()), (400, "invalid-argument"), "{operation}: {answer:?}");
        let told = answer.json();
        assert_eq!(told["parameter"], "undocumented", "{operation}: {told}");
        let detail = told["detail"].as_str().unwrap();
        assert!(detail.contains("undocumented") && detail.contains("expected"), "{operation}: {detail}");
    }
}
