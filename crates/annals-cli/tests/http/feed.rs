//! The change feed.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value as Json, json};

use crate::support::Server;

fn server(arguments: &[&str]) -> (tempfile::TempDir, Server) {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(&folder.path().join("repository"), arguments);
    (folder, server)
}

fn create(server: &Server, id: &str) {
    assert_eq!(server.send("POST", "/v1/entities", &json!({"id": id, "type": "thing"})).status, 201);
}

/// The ids and data of the events in a text.
fn events(text: &str) -> Vec<(u64, Json)> {
    let event = |block: &str| {
        let line = |name: &str| block.lines().find_map(|line| line.strip_prefix(name)).map(str::to_owned);
        Some((line("id: ")?.parse().unwrap(), serde_json::from_str(&line("data: ")?).unwrap()))
    };
    text.split("\n\n").filter_map(event).collect()
}

fn subscribe(server: &Server, path: &str) -> BufReader<TcpStream> {
    let mut stream = server.connect();
    stream.write_all(format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n\r\n").as_bytes()).unwrap();
    let mut stream = BufReader::new(stream);
    read_until(&mut stream, "retry:");
    stream
}

fn read_until(stream: &mut BufReader<TcpStream>, start: &str) -> String {
    let mut line = String::new();
    while !line.starts_with(start) {
        line.clear();
        assert!(stream.read_line(&mut line).unwrap() > 0, "the feed ended before {start}");
    }
    line
}

#[test]
fn a_limited_feed_gives_records_in_envelopes_and_ends() {
    let (_folder, server) = server(&[]);
    for id in ["a", "b", "c"] {
        create(&server, id);
    }
    let answer = server.get("/v1/feed?limit=3");
    assert_eq!(answer.header("content-type"), Some("text/event-stream"));
    let events = events(&answer.body);
    assert_eq!(events.iter().map(|(id, _)| *id).collect::<Vec<_>>(), [1, 2, 3]);
    let event = &events[1].1;
    assert_eq!(event["specversion"], "1.0");
    assert_eq!((&event["id"], &event["type"]), (&json!("2"), &json!("annals.record")));
    assert_eq!(event["source"], "urn:annals:repository");
    assert_eq!(event["time"], event["data"]["instant"]);
    let changes =
        json!([{"action": "create", "kind": "entity", "id": "b", "type": "thing", "properties": {}}]);
    assert_eq!(event["data"]["changes"], changes);
}

#[test]
fn a_feed_goes_on_where_it_stopped() {
    let (_folder, server) = server(&[]);
    for number in 0..10 {
        create(&server, &format!("e{number}"));
    }
    let ids = |text: &str| events(text).into_iter().map(|(id, _)| id).collect::<Vec<_>>();
    assert_eq!(ids(&server.get("/v1/feed?after=7&limit=2").body), [8, 9]);
    let resumed = server.request("GET", "/v1/feed?limit=2", &[("last-event-id", "8")], None);
    assert_eq!(ids(&resumed.body), [9, 10]);
    assert_eq!(server.get("/v1/feed?after=11").problem(), "not-found");
    assert_eq!(server.get("/v1/feed?after=x").problem(), "invalid-argument");
    let wrong = server.request("GET", "/v1/feed", &[("last-event-id", "x")], None);
    assert_eq!(wrong.problem(), "invalid-argument");
}

#[test]
fn a_subscriber_is_told_of_new_records_and_of_quiet() {
    let (_folder, server) = server(&["--heartbeat-ms", "100"]);
    let mut feed = subscribe(&server, "/v1/feed");
    read_until(&mut feed, ": heartbeat");
    create(&server, "a");
    assert_eq!(read_until(&mut feed, "id: "), "id: 1\n");
    read_until(&mut feed, ": heartbeat");
    create(&server, "b");
    assert_eq!(read_until(&mut feed, "id: "), "id: 2\n");
}

#[test]
fn every_record_comes_once_under_load() {
    let (_folder, server) = server(&[]);
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let server = &server;
            scope.spawn(move || (0..50).for_each(|number| create(server, &format!("w{writer}-{number}"))));
        }
        let answer = server.get("/v1/feed?limit=200");
        let ids: Vec<u64> = events(&answer.body).into_iter().map(|(id, _)| id).collect();
        assert_eq!(ids, (1..=200).collect::<Vec<u64>>());
    });
}

#[test]
fn subscribers_are_bounded_and_leave_room_when_they_go() {
    // No heartbeat while this test runs: that nobody reads is not seen by writing.
    let (_folder, server) = server(&["--subscribers-max", "2", "--heartbeat-ms", "600000"]);
    let first = subscribe(&server, "/v1/feed");
    let _second = subscribe(&server, "/v1/feed");
    let refused = server.get("/v1/feed");
    assert_eq!((refused.status, refused.problem().as_str()), (503, "busy"));
    assert_eq!(refused.header("retry-after"), Some("1"));
    assert!(server.get("/metrics").body.contains("annals_feed_subscribers 2"));
    drop(first);
    let deadline = std::time::Instant::now() + Duration::from_secs(10);
    while !server.get("/metrics").body.contains("annals_feed_subscribers 1") {
        assert!(std::time::Instant::now() < deadline, "a subscriber that left still holds its place");
        std::thread::sleep(Duration::from_millis(20));
    }
    subscribe(&server, "/v1/feed");
}

#[test]
fn a_stop_ends_the_feed() {
    let (_folder, server) = server(&[]);
    let mut feed = subscribe(&server, "/v1/feed");
    server.terminate();
    let mut rest = String::new();
    std::io::Read::read_to_string(&mut feed, &mut rest).unwrap();
    assert!(rest.ends_with("0\r\n\r\n"), "the feed broke off: {rest:?}");
    assert!(server.ended_well());
}
