//! Imports of a declared, small length: any number of callers may have one each.

use std::io::{BufReader, Read, Write};

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::json;

use crate::support::{Answer, Server, read_answer, server};

const LINES: [(&str, &str); 1] = [("content-type", "application/x-ndjson")];

fn entity(number: usize) -> String {
    format!("{{\"entity\": {{\"id\": \"e{number}\", \"type\": \"table\"}}}}\n")
}

fn import(server: &Server, path: &str, text: &str) -> Answer {
    server.request("POST", path, &LINES, Some(text))
}

/// Begins an import of any length, which keeps its place until the stream is dropped.
fn begin_long(server: &Server) -> std::net::TcpStream {
    let mut stream = server.connect();
    let head = "POST /v1/import HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/x-ndjson\r\n\
                expect: 100-continue\r\ntransfer-encoding: chunked\r\n\r\n";
    stream.write_all(head.as_bytes()).unwrap();
    // The server has given it a place when it asks for the body.
    let mut answer = [0; 25];
    stream.read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"HTTP/1.1 100 Continue\r\n\r\n");
    stream
}

#[test]
fn short_imports_wait_for_their_turn_beside_long_ones() {
    let (_folder, server) = server(&[]);
    let _long = [begin_long(&server), begin_long(&server)];
    std::thread::scope(|scope| {
        let server = &server;
        let callers: Vec<_> = (0..40)
            .map(|caller| {
                let lines: String = (0..200).map(|line| entity(caller * 200 + line)).collect();
                scope.spawn(move || import(server, "/v1/import", &lines))
            })
            .collect();
        for caller in callers {
            let answer = caller.join().unwrap();
            assert_eq!((answer.status, answer.json()["created"].as_u64()), (200, Some(200)), "{answer:?}");
        }
    });
    let count = server.send("POST", "/v1/count", &json!({"type": "table"})).json()["count"].clone();
    assert_eq!(count, 8_000);
    // One of any length finds no place meanwhile.
    let mut third = server.connect();
    let head = "POST /v1/import HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/x-ndjson\r\n\
                transfer-encoding: chunked\r\n\r\n0\r\n\r\n";
    third.write_all(head.as_bytes()).unwrap();
    let third = read_answer(&mut BufReader::new(third), false).unwrap();
    assert_eq!((third.status, third.problem().as_str()), (503, "busy"), "{third:?}");
}

#[test]
fn a_short_import_is_answered_as_one_of_any_length() {
    let lines = [&*entity(1), "what?\n", &entity(2), &entity(1), "{\"entity\": {\"type\": 7}}\n"].concat();
    for query in ["", "?stopOnError", "?merge", "?merge&deleteMissing", "?batch=0", "?batch=1"] {
        let path = format!("/v1/import{query}");
        let short = {
            let (_folder, server) = server(&[]);
            import(&server, &path, &lines)
        };
        let (_folder, server) = server(&[]);
        let mut stream = server.connect();
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/x-ndjson\r\n\
             transfer-encoding: chunked\r\n\r\n{:x}\r\n{lines}\r\n0\r\n\r\n",
            lines.len()
        );
        stream.write_all(head.as_bytes()).unwrap();
        let long = read_answer(&mut BufReader::new(stream), false).unwrap();
        assert_eq!((short.status, short.json()), (long.status, long.json()), "{query}");
    }
}

#[test]
fn a_short_packed_body_may_have_long_lines() {
    let (_folder, server) = server(&[]);
    let line = format!(
        "{{\"entity\": {{\"id\": \"long\", \"type\": \"page\", \"properties\": {{\"text\": \"{}\"}}}}}}\n",
        "x".repeat(2 << 20)
    );
    let mut packed = GzEncoder::new(Vec::new(), Compression::best());
    packed.write_all(line.as_bytes()).unwrap();
    let packed = packed.finish().unwrap();
    assert!(packed.len() < 10_000, "{}", packed.len());
    let mut stream = server.connect();
    let head = format!(
        "POST /v1/import HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/x-ndjson\r\ncontent-length: {}\r\n\r\n",
        packed.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(&packed).unwrap();
    let answer = read_answer(&mut BufReader::new(stream), false).unwrap();
    assert_eq!((answer.status, answer.json()["created"].as_u64()), (200, Some(1)), "{answer:?}");
}
