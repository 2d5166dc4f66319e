//! Answers in lines of JSON: whole, in order, for clients that are slow, leave, or stop reading.

use std::io::{BufRead, BufReader, Read, Write};
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};

use crate::support::{Answer, Server, server};

const NDJSON: (&str, &str) = ("accept", "application/x-ndjson");

/// Entities `e0`, `e1`, … with `padding` bytes each, each but the first linked with the one before.
fn create_chain(server: &Server, count: usize, padding: usize) {
    let padding = "x".repeat(padding);
    let entity = |at: usize| {
        json!({"action": "create", "kind": "entity", "id": format!("e{at}"), "type": "t",
            "properties": {"number": at, "padding": padding}})
    };
    let link = |at: usize| {
        json!({"action": "create", "kind": "relationship", "id": format!("r{at}"), "type": "k",
            "from": format!("e{}", at - 1), "to": format!("e{at}")})
    };
    let numbers: Vec<usize> = (0..count).collect();
    for chunk in numbers.chunks(1_000) {
        let linked = chunk.iter().filter(|at| **at > 0).map(|at| link(*at));
        server.commit(&chunk.iter().map(|at| entity(*at)).chain(linked).collect::<Vec<_>>());
    }
}

fn get(server: &Server, path: &str) -> Answer {
    server.request("GET", path, &[NDJSON], None)
}

fn lines(server: &Server, path: &str) -> Vec<Json> {
    let answer = get(server, path);
    assert_eq!((answer.status, answer.header("content-type")), (200, Some(NDJSON.1)), "{answer:?}");
    assert!(answer.header("annals-position").is_some() && answer.body.ends_with('\n'), "{path}");
    answer.body.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn lines_hold_what_pages_hold() {
    let (_folder, server) = server(&["--page-max", "10"]);
    create_chain(&server, 1_300, 0);
    server.commit(&[json!({"action": "update", "kind": "entity", "id": "e7", "patch": {"number": -1}})]);
    let items = |path: &str, member: &str| server.get(path).json()[member].as_array().unwrap().clone();
    let found = lines(&server, "/v1/entities?orderBy=-number");
    assert_eq!(found.len(), 1_300, "no page bounds it");
    assert_eq!(found[..10], items("/v1/entities?orderBy=-number&limit=10", "items"));
    assert_eq!(found[1_299]["id"], "e7");
    let body = json!({"where": "number >= 5", "orderBy": "number"}).to_string();
    let posted = server.request("POST", "/v1/find", &[NDJSON], Some(&body));
    assert_eq!(posted.body.lines().count(), 1_300 - 6);
    for path in ["/v1/entities/e0/related", "/v1/entities/e0/reach", "/v1/entities/e0/related?orderBy=number"]
    {
        let found = lines(&server, path);
        assert_eq!(found.len(), 1_299, "{path}");
        let sign = if path.contains('?') { '&' } else { '?' };
        assert_eq!(found[..10], items(&format!("{path}{sign}limit=10"), "items"), "{path}");
    }
    let near = lines(&server, "/v1/entities/e5/neighborhood?depthMax=2");
    assert_eq!(near[..5], items("/v1/entities/e5/neighborhood?depthMax=2&limit=10", "entities"));
    let crossed: Vec<Json> = near[5..].iter().map(|line| line["relationship"].clone()).collect();
    assert_eq!(crossed, items("/v1/entities/e5/neighborhood?depthMax=2&limit=10", "relationships"));
    assert_eq!(lines(&server, "/v1/linking?from=e0&to=e9").len(), 10 + 9);
    for path in [
        "/v1/entities/e7/history",
        "/v1/entities/e7/relationships",
        "/v1/entities/e7/relationships?orderBy=-@createdAt&atPosition=2",
        "/v1/entities/e7/neighbors?direction=in",
        "/v1/shared?from=e7&to=e9",
        "/v1/paths?from=e0&to=e9",
        "/v1/diff?from=2&to=3",
    ] {
        let found = items(path, "items");
        assert!(!found.is_empty(), "{path}");
        assert_eq!(lines(&server, path), found, "{path}");
    }
    let then = lines(&server, "/v1/entities?atPosition=1");
    assert_eq!(then.len(), 1_000);
}

#[test]
fn lines_end_with_the_way_to_the_rest() {
    let (_folder, server) = server(&[]);
    create_chain(&server, 1_200, 0);
    for number in 1..=3 {
        server.commit(&[
            json!({"action": "update", "kind": "entity", "id": "e0", "patch": {"number": -number}}),
        ]);
    }
    can_be_paged(
        &server,
        &[
            "/v1/entities?orderBy=number",
            "/v1/entities/e0/related?depthMax=1200",
            "/v1/entities/e0/related?orderBy=-number",
            "/v1/entities/e0/reach?direction=out",
            "/v1/entities/e0/neighborhood?depthMax=1200",
            "/v1/linking?from=e0&to=e1000",
            "/v1/entities/e0/history?",
        ],
    );
    let hub = |id: &str| json!({"action": "create", "kind": "entity", "id": id, "type": "hub"});
    let spoke = |from: &str, to: usize| {
        json!({"action": "create", "kind": "relationship", "id": format!("{from}{to}"), "type": "spoke",
            "from": from, "to": format!("e{to}")})
    };
    let spokes = ["g", "h"].into_iter().flat_map(|id| (0..1_100).map(move |to| spoke(id, to)));
    server.commit(&["g", "h"].map(hub).into_iter().chain(spokes).collect::<Vec<_>>());
    can_be_paged(
        &server,
        &[
            "/v1/entities/h/relationships?direction=out",
            "/v1/entities/h/relationships?orderBy=-@createdAt&orderBy=@id",
            "/v1/entities/h/neighbors?type=spoke",
            "/v1/shared?from=g&to=h",
            "/v1/diff?from=1&to=6",
        ],
    );
}

/// Parts of an answer in lines give together what one answer gives.
fn can_be_paged(server: &Server, paths: &[&str]) {
    for path in paths {
        let whole = lines(server, path);
        assert!(whole.len() > 3, "{path}");
        let limit = whole.len().div_ceil(3);
        let (mut paged, mut after) = (Vec::new(), String::new());
        loop {
            let mut part = lines(server, &format!("{path}&limit={limit}{after}"));
            let next = part.pop_if(|last| last.get("next").is_some());
            assert!(part.len() == limit || next.is_none(), "{path}");
            paged.append(&mut part);
            let Some(next) = next else { break };
            after = format!("&after={}", next["next"].as_str().unwrap());
        }
        assert_eq!(paged, whole, "{path}");
    }
}

#[test]
fn errors_come_as_a_problem_before_the_first_line_and_as_a_line_behind_it() {
    let (_folder, server) = server(&[]);
    create_chain(&server, 3_000, 0);
    for (path, status, kind) in [
        ("/v1/entities?limit=0", 400, "invalid-page"),
        ("/v1/entities?q=number+=", 400, "invalid-expression"),
        ("/v1/entities?after=zz", 400, "invalid-page"),
        ("/v1/entities/nobody/related", 404, "not-found"),
        ("/v1/entities/nobody/history", 404, "not-found"),
        ("/v1/entities/e0/neighborhood?depthMax=99&visitedMax=5", 413, "too-large"),
        ("/v1/entities/e0/reach?visitedMax=5", 413, "too-large"),
        ("/v1/entities/nobody/relationships", 404, "not-found"),
        ("/v1/entities/e0/relationships?after=zz", 400, "invalid-page"),
        ("/v1/entities/nobody/neighbors", 404, "not-found"),
        ("/v1/shared?from=e0&to=nobody", 404, "not-found"),
        ("/v1/paths?from=e0&to=e1&limit=0", 400, "invalid-page"),
        ("/v1/diff?from=9&to=1", 400, "invalid-argument"),
    ] {
        let answer = get(&server, path);
        assert_eq!((answer.status, answer.problem().as_str()), (status, kind), "{path}");
    }
    let broken = lines(&server, "/v1/entities/e0/reach?visitedMax=2000");
    let (last, before) = broken.split_last().unwrap();
    assert_eq!((&last["error"]["kind"], &last["error"]["status"]), (&json!("too-large"), &json!(413)));
    assert!(before.len() > 500 && before.iter().all(|line| line.get("entity").is_some()));
}

/// Asks for lines and reads the head and the first of them.
fn begin(server: &Server, path: &str) -> BufReader<std::net::TcpStream> {
    let mut stream = server.connect();
    let head = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\naccept: application/x-ndjson\r\n\r\n");
    stream.write_all(head.as_bytes()).unwrap();
    let mut stream = BufReader::with_capacity(1_024, stream);
    let mut line = String::new();
    while !line.contains("\"id\"") {
        line.clear();
        assert!(stream.read_line(&mut line).unwrap() > 0, "an answer comes");
        assert!(!line.starts_with("HTTP") || line.contains(" 200 "), "{line}");
    }
    stream
}

/// Waits until an answer in lines finds a free place.
fn wait_for_place(server: &Server) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while get(server, "/v1/entities?limit=1").status != 200 {
        assert!(Instant::now() < deadline, "a place is never free again");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_slow_client_gets_everything_and_holds_nobody_up() {
    let (_folder, server) = server(&["--streams-max", "1"]);
    create_chain(&server, 12_000, 2_000);
    let mut stream = begin(&server, "/v1/entities");
    std::thread::sleep(Duration::from_millis(300));
    let refused = get(&server, "/v1/entities");
    assert_eq!((refused.status, refused.problem().as_str()), (503, "busy"));
    assert_eq!(server.get("/v1/entities/e1/related?depthMax=2").status, 200);
    let (mut seen, mut line) = (1, Vec::new());
    loop {
        line.clear();
        stream.read_until(b'\n', &mut line).unwrap();
        seen += usize::from(line.windows(5).any(|part| part == b"\"id\":"));
        if line == b"0\r\n" {
            break;
        }
        if seen % 1_000 == 0 {
            std::thread::sleep(Duration::from_millis(10));
        }
    }
    assert!(seen >= 11_900, "{seen}"); // Some lines are cut by the edges of chunks.
    wait_for_place(&server);
}

#[test]
fn a_client_that_leaves_makes_room() {
    let (_folder, server) = server(&["--streams-max", "1"]);
    create_chain(&server, 12_000, 2_000);
    drop(begin(&server, "/v1/entities"));
    wait_for_place(&server);
}

#[test]
fn a_client_that_stops_reading_is_cut_off() {
    let (_folder, server) = server(&["--streams-max", "1", "--request-time-ms", "1500"]);
    create_chain(&server, 12_000, 2_000);
    let mut stream = begin(&server, "/v1/entities");
    wait_for_place(&server);
    let mut rest = Vec::new();
    let _ = stream.read_to_end(&mut rest);
    assert!(!rest.ends_with(b"0\r\n\r\n"), "nobody takes it for the whole");
    assert!(rest.len() < 12_000 * 2_000);
}
