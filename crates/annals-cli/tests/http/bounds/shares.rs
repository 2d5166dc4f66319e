//! One client uses at most its share of each kind of room.

use std::io::{BufReader, Read, Write};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::support::{Server, read_answer, server, try_request};

fn put_binary(server: &Server) -> crate::support::Answer {
    try_request(server.address, "PUT", "/ldp/b", &[("content-type", "a/b")], Some("bytes")).unwrap()
}

/// Begins uploads, and sends only a part of each.
fn begin_uploads(server: &Server, count: usize) -> Vec<std::net::TcpStream> {
    let begin = |number| {
        let mut stream = server.connect();
        let head = format!(
            "PUT /ldp/slow{number} HTTP/1.1\r\nhost: localhost\r\ncontent-type: a/b\r\ncontent-length: 1000000\r\n\r\nx"
        );
        stream.write_all(head.as_bytes()).unwrap();
        stream
    };
    (0..count).map(begin).collect()
}

#[test]
fn one_client_uses_at_most_its_share_of_each_kind_of_room() {
    let (_folder, server) = server(&["--client-share", "25", "--requests-max", "1000"]);
    // A quarter of 64 uploads.
    let mut slow = begin_uploads(&server, 16);
    let upload = || put_binary(&server);
    let deadline = Instant::now() + Duration::from_secs(10);
    let refused = loop {
        let answer = upload();
        if answer.status == 503 {
            break answer;
        }
        assert!(Instant::now() < deadline, "{answer:?}");
        // A slow one may have been refused while this upload had its place.
        slow.extend(begin_uploads(&server, 1));
    };
    assert_eq!((refused.problem().as_str(), refused.header("retry-after")), ("busy", Some("1")));
    assert!(refused.body.contains("expected at most 16 from one address"), "{refused:?}");
    assert_eq!(server.send("POST", "/v1/entities", &json!({"type": "thing"})).status, 201);
    drop(slow);
    let deadline = Instant::now() + Duration::from_secs(10);
    while !matches!(upload().status, 201 | 204) {
        assert!(Instant::now() < deadline, "the share of uploads that broke off stays taken");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn clients_of_this_machine_have_all_the_room_unless_a_share_is_set() {
    let (_folder, server) = server(&[]);
    let _slow = begin_uploads(&server, 40);
    let answer = put_binary(&server);
    assert_eq!(answer.status, 201, "{answer:?}");
}

/// One client could hold all the room for bodies, and the bodies of all others were refused.
#[test]
fn one_client_holds_at_most_its_share_of_the_room_for_bodies() {
    let (_folder, server) = server(&["--client-share", "25", "--bodies-bytes-max", "400000"]);
    let post = |bytes: usize| {
        server.send(
            "POST",
            "/v1/entities",
            &json!({"type": "thing", "properties": {"text": "x".repeat(bytes)}}),
        )
    };
    let head = "POST /v1/entities HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n";
    let hold = || {
        let mut held = server.connect();
        let body = format!("{head}content-length: 90001\r\n\r\n{}", " ".repeat(90_000));
        held.write_all(body.as_bytes()).unwrap();
        held
    };
    let mut held = vec![hold()];
    let deadline = Instant::now() + Duration::from_secs(20);
    let refused = loop {
        let answer = post(20_000);
        if answer.status == 503 {
            break answer;
        }
        assert!(Instant::now() < deadline, "one client has more than its share: {}", answer.status);
        // The server may not have read it yet, or have given it up as slow.
        std::thread::sleep(Duration::from_millis(100));
        held.push(hold());
    };
    assert!(
        refused.body.contains("bytes of bodies: expected at most 100000 from one address"),
        "{refused:?}"
    );
    assert_eq!(server.send("POST", "/v1/entities", &json!({"type": "thing"})).status, 201);
    drop(held);
    // Alone it may be larger than the share.
    let deadline = Instant::now() + Duration::from_secs(10);
    while post(150_000).status != 201 {
        assert!(Instant::now() < deadline, "the share of a body that broke off stays taken");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// An import has a large part of the room for bodies until its end, and its client could send no other body.
#[test]
fn an_import_leaves_its_client_room_for_other_bodies() {
    let (_folder, server) = server(&["--client-share", "25"]);
    let mut import = server.connect();
    let head = "POST /v1/import HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/x-ndjson\r\n\
                expect: 100-continue\r\ncontent-length: 1000000\r\n\r\n";
    import.write_all(head.as_bytes()).unwrap();
    // The import has its room when it asks for the body.
    let mut asked = [0; 25];
    import.read_exact(&mut asked).unwrap();
    assert_eq!(&asked, b"HTTP/1.1 100 Continue\r\n\r\n");
    let answer = server.send("POST", "/v1/entities", &json!({"type": "thing"}));
    assert_eq!(answer.status, 201, "{answer:?}");
    // It was under way all the time.
    let line = "{\"entity\": {\"type\": \"thing\"}}\n";
    import.write_all(format!("{line}{}", "\n".repeat(1_000_000 - line.len())).as_bytes()).unwrap();
    let answer = read_answer(&mut BufReader::new(import), false).unwrap();
    assert_eq!((answer.status, answer.json()["created"].as_u64()), (200, Some(1)), "{answer:?}");
}
