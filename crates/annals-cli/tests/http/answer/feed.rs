//! The change feed.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};

use crate::support::{Server, server};

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
    assert_eq!(event["source"], events[0].1["source"]);
    let id = event["source"].as_str().unwrap().strip_prefix("urn:annals:").unwrap();
    assert_eq!((id.len(), id.matches('-').count()), (36, 4), "the id of the log: {id}");
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

/// A server with a sorted list of interfaces.
fn with_list(arguments: &[&str]) -> (tempfile::TempDir, Server) {
    let (folder, server) = server(arguments);
    let key = json!([{"name": "name", "type": "string", "key": true}]);
    let list = json!({"kind": "entity", "name": "interface", "attributes": key});
    assert_eq!(server.send("POST", "/v1/types", &json!({"types": [list]})).status, 200);
    (folder, server)
}

fn put(server: &Server, path: &str, value: Json) -> u64 {
    let answer = server.send("PUT", &format!("/v1/tree{path}"), &value);
    assert!(answer.status < 300, "{answer:?}");
    answer.json()["position"].as_u64().unwrap()
}

/// The changes of an event, each with its place.
fn told(event: &Json) -> Vec<String> {
    let place = |change: &Json| change.get("path").unwrap_or(&change["id"]).as_str().unwrap().to_owned();
    let told = |change: &Json| format!("{} {}", change["change"].as_str().unwrap(), place(change));
    event["data"]["changes"].as_array().unwrap().iter().map(told).collect()
}

#[test]
fn a_tree_is_watched_with_old_and_new_values_and_nothing_else_is_told() {
    let (_folder, server) = with_list(&[]);
    let first = put(&server, "/c/interface[name='eth0']", json!({"mtu": 1500}));
    put(&server, "/elsewhere", json!({"n": 1}));
    let second = put(&server, "/c/interface[name='eth0']/mtu", json!(9000));
    let found = events(&server.get("/v1/feed?tree=/c&limit=2").body);
    assert_eq!(found.iter().map(|(id, _)| *id).collect::<Vec<_>>(), [first, second]);
    let eth0 = "/c/interface[name = 'eth0']";
    assert_eq!(told(&found[0].1), ["created /c".to_owned(), format!("created {eth0}")]);
    let event = &found[1].1;
    assert_eq!((&event["type"], &event["id"]), (&json!("annals.change"), &json!(second.to_string())));
    assert_eq!((&event["source"], &event["specversion"]), (&found[0].1["source"], &json!("1.0")));
    let data = &event["data"];
    assert_eq!(
        (&data["from"], &data["position"], &data["records"]),
        (&json!(second - 1), &json!(second), &json!(1))
    );
    let mtu = json!({"mtu": {"before": 1500, "after": 9000}});
    assert_eq!(told(event), [format!("modified {eth0}")]);
    assert_eq!(data["changes"][0]["difference"]["properties"], mtu);
    // From any position on, also below an entity of one's own.
    let path = format!("/v1/feed?tree=/c/interface[name='eth0']&limit=1&after={first}");
    assert_eq!(events(&server.get(&path).body)[0].0, second);
    let resumed =
        server.request("GET", "/v1/feed?tree=/c&limit=1", &[("last-event-id", &first.to_string())], None);
    assert_eq!(events(&resumed.body)[0].0, second);
    let id = data["changes"][0]["id"].as_str().unwrap();
    let below = events(&server.get(&format!("/v1/feed?tree=/&root={id}&limit=1&after={first}")).body);
    assert_eq!(told(&below[0].1), ["modified /"]);
}

#[test]
fn a_search_is_watched_as_its_finds_come_and_go() {
    let (_folder, server) = server(&[]);
    let patch = |id: &str, size: u64| {
        assert_eq!(server.send("PATCH", &format!("/v1/entities/{id}"), &json!({"size": size})).status, 200);
    };
    create(&server, "a");
    create(&server, "b");
    let edge = json!({"id": "r", "type": "edge", "from": "a", "to": "b"});
    assert_eq!(server.send("POST", "/v1/relationships", &edge).status, 201);
    for size in [6, 7, 2] {
        patch("a", size);
    }
    let all = |path: &str| -> Vec<String> {
        events(&server.get(path).body).iter().flat_map(|(_, event)| told(event)).collect()
    };
    let large = "/v1/feed?search=thing%20where%20size%20%3E%205&limit=3";
    assert_eq!(all(large), ["appeared a", "changed a", "disappeared a"]);
    assert_eq!(all("/v1/feed?search=thing&limit=3"), ["appeared a", "appeared b", "changed a"]);
    assert_eq!(all("/v1/feed?search=edge&kind=relationship&limit=1"), ["appeared r"]);
}

#[test]
fn a_watching_client_waits_through_records_that_do_not_concern_it() {
    let (_folder, server) = with_list(&["--heartbeat-ms", "100"]);
    let mut feed = subscribe(&server, "/v1/feed?tree=/c");
    // The heartbeat comes although there is always another record.
    let is_told = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let start = Instant::now();
            for number in 0.. {
                if is_told.load(Ordering::Relaxed) {
                    break;
                }
                assert!(start.elapsed() < Duration::from_secs(20), "no heartbeat came");
                put(&server, "/elsewhere/n", json!(number));
            }
        });
        read_until(&mut feed, ": heartbeat");
        read_until(&mut feed, ": heartbeat");
        is_told.store(true, Ordering::Relaxed);
    });
    let position = put(&server, "/c/n", json!(1));
    assert_eq!(read_until(&mut feed, "id: "), format!("id: {position}\n"));
    read_until(&mut feed, ": heartbeat");
    server.terminate();
    let mut rest = String::new();
    std::io::Read::read_to_string(&mut feed, &mut rest).unwrap();
    assert!(rest.ends_with("0\r\n\r\n"), "the feed broke off: {rest:?}");
}

#[test]
fn a_client_far_behind_learns_in_one_event_what_many_records_did() {
    let (_folder, server) = server(&[]);
    create(&server, "first");
    let line = |number: usize| format!("{{\"entity\": {{\"id\": \"e{number}\", \"type\": \"thing\"}}}}\n");
    let lines: String = (0..1_100).map(line).collect();
    let headers = [("content-type", "application/x-ndjson")];
    let imported = server.request("POST", "/v1/import?batch=1", &headers, Some(&lines)).json();
    assert_eq!(imported["records"], 1_100, "{imported}");
    // Up to the end of the first block of records, then one by one.
    let found = events(&server.get("/v1/feed?search=thing&after=1&limit=2").body);
    let counts = found.iter().map(|(id, event)| {
        (*id, event["data"]["records"].clone(), event["data"]["changes"].as_array().unwrap().len())
    });
    assert_eq!(counts.collect::<Vec<_>>()[0], (1_024, json!(1_023), 1_023));
    assert_eq!((found.len(), found[1].0), (2, 1_025));
    let near = events(&server.get("/v1/feed?search=thing&after=1000&limit=2").body);
    assert_eq!(near.iter().map(|(id, _)| *id).collect::<Vec<_>>(), [1_001, 1_002]);
}

#[test]
fn what_cannot_be_watched_is_refused_with_its_parameter() {
    let (_folder, server) = with_list(&[]);
    for (query, kind, parameter) in [
        ("tree=/a&search=thing", "invalid-argument", "search"),
        ("root=x", "invalid-argument", "root"),
        ("search=thing&root=x", "invalid-argument", "root"),
        ("kind=entity", "invalid-argument", "kind"),
        ("tree=/a&kind=entity", "invalid-argument", "kind"),
        ("search=thing&kind=type", "invalid-argument", "kind"),
        ("tree=/a%5B", "invalid-argument", "tree"),
        ("tree=//a", "invalid-argument", "tree"),
        ("tree=/interface[name%20%3E%20'a']", "invalid-argument", "tree"),
        ("tree=/a&root=", "invalid-argument", "root"),
        ("search=thing%20where", "invalid-expression", "search"),
        ("search=thing%20deleted%20only", "invalid-argument", "search"),
    ] {
        let refused = server.get(&format!("/v1/feed?{query}"));
        assert_eq!((refused.status, refused.problem().as_str()), (400, kind), "{query}");
        assert_eq!(refused.json()["parameter"], parameter, "{query}: {refused:?}");
    }
    let beyond = server.get("/v1/feed?tree=/a&after=1000");
    assert_eq!((beyond.status, beyond.problem().as_str()), (404, "not-found"));
    assert!(server.get("/metrics").body.contains("annals_feed_subscribers 0"));
}

#[test]
fn subscribers_are_bounded_and_leave_room_when_they_go() {
    // No heartbeat while this test runs: that nobody reads is not seen by writing.
    let (_folder, server) = server(&["--subscribers-max", "2", "--heartbeat-ms", "600000"]);
    let first = subscribe(&server, "/v1/feed");
    let _second = subscribe(&server, "/v1/feed");
    let refused = server.get("/v1/feed?tree=/a");
    assert_eq!((refused.status, refused.problem().as_str()), (503, "busy"));
    assert_eq!(refused.header("retry-after"), Some("1"));
    assert!(server.get("/metrics").body.contains("annals_feed_subscribers 2"));
    drop(first);
    let deadline = Instant::now() + Duration::from_secs(10);
    while !server.get("/metrics").body.contains("annals_feed_subscribers 1") {
        assert!(Instant::now() < deadline, "a subscriber that left still holds its place");
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
