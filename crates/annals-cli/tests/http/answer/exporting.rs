//! Exports from a running server: as of one snapshot, whole or visibly cut off.

use std::io::{BufRead, BufReader, Read, Write};

use serde_json::{Value as Json, json};

use crate::http::endpoints::importing::annals;
use crate::support::server;

fn create(id: &str, type_name: &str, text: &str) -> Json {
    json!({"action": "create", "kind": "entity", "id": id, "type": type_name, "properties": {"text": text}})
}

#[test]
fn an_export_gives_what_the_command_gives() {
    let (folder, server) = server(&[]);
    let define = |name: &str, supertypes: Json| json!({"action": "define-type", "type": {"kind": "entity", "name": name, "supertypes": supertypes}});
    let link = json!({"action": "create", "kind": "relationship", "id": "r", "type": "reads", "from": "a", "to": "b"});
    server.commit(&[define("table", json!([])), define("view", json!(["table"]))]);
    server.commit(&[create("a", "table", "1"), create("b", "view", "2"), create("p", "person", "3"), link]);
    server.commit(&[json!({"action": "delete", "kind": "entity", "id": "b"})]);
    let repository = folder.path().join("repository");
    for (path, arguments) in [
        ("/v1/export", &["export"][..]),
        ("/v1/export?atPosition=2", &["export", "--at-position", "2"]),
        (
            "/v1/export?atPosition=2&type=table&type=view",
            &["export", "--at-position", "2", "--type", "table", "--type", "view"],
        ),
        ("/v1/export?validAt=2000-01-01", &["export", "--valid-at", "2000-01-01"]),
        ("/v1/export?history", &["export", "--history"]),
        ("/v1/export?history&atPosition=2", &["export", "--history", "--at-position", "2"]),
    ] {
        let answer = server.get(path);
        assert_eq!(
            (answer.status, answer.header("transfer-encoding")),
            (200, Some("chunked")),
            "{path}: {answer:?}"
        );
        assert_eq!(answer.body, annals(&repository, arguments), "{path}");
        let head = server.request("HEAD", path, &[], None);
        assert_eq!((head.status, head.header("content-type")), (200, Some("application/x-ndjson")), "{path}");
    }
    // A subtype that is asked for beside its supertype comes once.
    assert_eq!(server.get("/v1/export?atPosition=2&type=table&type=view").body.lines().count(), 2);
    assert_eq!(server.get("/v1/export").header("annals-position"), Some("3"));
    for (path, status, kind) in [
        ("/v1/export?type=nothing", 404, "not-found"),
        ("/v1/export?atPosition=99", 404, "not-found"),
        ("/v1/export?history&type=table", 400, "invalid-argument"),
        ("/v1/export?limit=1", 400, "invalid-argument"),
    ] {
        let answer = server.get(path);
        assert_eq!((answer.status, answer.problem().as_str()), (status, kind), "{path}");
    }
}

#[test]
fn an_export_that_nobody_reads_is_cut_off() {
    let (_folder, server) = server(&["--streams-max", "1", "--request-time-ms", "1500"]);
    let text = "x".repeat(2_000);
    for number in 0..12 {
        let operations: Vec<_> =
            (0..1_000).map(|at| create(&format!("e{number}-{at}"), "table", &text)).collect();
        server.commit(&operations);
    }
    let before = server.resident_bytes();
    let mut stream = server.connect();
    stream.write_all(b"GET /v1/export HTTP/1.1\r\nhost: localhost\r\n\r\n").unwrap();
    let mut stream = BufReader::with_capacity(1_024, stream);
    let mut line = String::new();
    while !line.contains("\"id\"") {
        line.clear();
        assert!(stream.read_line(&mut line).unwrap() > 0, "an answer comes");
    }
    assert_eq!(server.get("/v1/export").status, 503, "one at once");
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(20);
    while server.request("HEAD", "/v1/export", &[], None).status != 200 {
        assert!(std::time::Instant::now() < deadline, "a place is never free again");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let extra = server.resident_bytes().saturating_sub(before);
    assert!(extra < 32 << 20, "{extra} bytes more");
    let mut rest = Vec::new();
    let _ = stream.read_to_end(&mut rest);
    assert!(!rest.ends_with(b"0\r\n\r\n"), "nobody takes it for the whole");
    assert!(rest.len() < 12_000 * 2_000 && !rest.windows(9).any(|part| part == b"{\"error\":"));
}

#[test]
fn an_error_in_the_middle_cuts_the_export_off() {
    let (folder, server) = server(&[]);
    let text = "x".repeat(8_000);
    for number in 0..6 {
        let operations: Vec<_> =
            (0..500).map(|at| create(&format!("e{number}-{at}"), "table", &text)).collect();
        server.commit(&operations);
    }
    let segments = folder.path().join("repository/log");
    let segments: Vec<_> = std::fs::read_dir(&segments).unwrap().map(|file| file.unwrap().path()).collect();
    let log = segments.iter().max_by_key(|path| std::fs::metadata(path).unwrap().len()).unwrap();
    let delete = |number: usize, at: usize| json!({"action": "delete", "kind": "entity", "id": format!("e{number}-{at}")});
    let length = std::fs::metadata(log).unwrap().len();
    for number in 0..6 {
        server.commit(&(0..500).map(|at| delete(number, at)).collect::<Vec<_>>());
    }
    // The past is read from the log, of which a part near the end is damaged now.
    let mut file = std::fs::OpenOptions::new().write(true).open(log).unwrap();
    std::io::Seek::seek(&mut file, std::io::SeekFrom::Start(length * 5 / 6)).unwrap();
    file.write_all(&vec![0; usize::try_from(length / 12).unwrap()]).unwrap();
    let mut stream = server.connect();
    stream.write_all(b"GET /v1/export?atPosition=6 HTTP/1.1\r\nhost: localhost\r\n\r\n").unwrap();
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    let text = String::from_utf8_lossy(&answer);
    assert!(text.starts_with("HTTP/1.1 200 ") && text.contains("\"e0-0\""), "{:.200}", text);
    assert!(!text.ends_with("0\r\n\r\n") && !text.contains("{\"error\":"), "nobody takes it for the whole");
}
