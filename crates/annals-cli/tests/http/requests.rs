//! Every parameter that the description lists has an effect: a request with it differs from one without it.

mod candidates;
mod door;
mod exchange;
mod graph;
mod history;
mod leases;
mod reading;
mod search;
mod trees;
mod walks;
mod writes;
mod writing;

use std::collections::BTreeSet;

use self::door::{Door, Request};
use super::protocol::server;
use crate::support::described::{DESCRIPTION, parameters};

/// An operation such as `GET /v1/entities`, and one of its parameters.
type Listed = BTreeSet<(String, String)>;

#[test]
fn every_parameter_of_the_description_has_an_effect() {
    let listed: Listed = parameters()
        .into_iter()
        .flat_map(|(operation, names)| names.into_iter().map(move |(name, _)| (operation.clone(), name)))
        .collect();
    let subjects: [fn(&mut Door); 10] = [
        reading::check,
        history::check,
        walks::check,
        graph::check,
        search::check,
        trees::check,
        writes::check,
        exchange::check,
        candidates::check,
        leases::check,
    ];
    let doors: Vec<Door> = std::thread::scope(|scope| {
        let run = |check: fn(&mut Door)| {
            let mut door = Door::open(&[]);
            check(&mut door);
            door
        };
        let running: Vec<_> = subjects.into_iter().map(|check| scope.spawn(move || run(check))).collect();
        running.into_iter().map(|one| one.join().unwrap()).collect()
    });
    let served = doors[0].server.get("/openapi.json").json();
    assert_eq!(served, *DESCRIPTION, "the table is for another description");
    let wrong: Vec<&String> = doors.iter().flat_map(|door| &door.wrong).collect();
    assert!(wrong.is_empty(), "{} parameters have another effect: {wrong:#?}", wrong.len());
    let tried: Listed = doors.iter().flat_map(|door| door.tried.iter().cloned()).collect();
    let missing: Vec<_> = listed.difference(&tried).collect();
    assert!(missing.is_empty(), "{} parameters have no case: {missing:#?}", missing.len());
    let unlisted: Vec<_> = tried.difference(&listed).collect();
    assert!(unlisted.is_empty(), "these cases are for parameters that are not listed: {unlisted:#?}");
}

#[test]
fn a_query_parameter_that_is_not_listed_is_refused_by_its_name() {
    let (_folder, server) = server();
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
