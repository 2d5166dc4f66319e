//! Requests that outlive the credential of their client: revoked, expired, or with other roles. None of them writes on.

use std::io::{BufReader, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::json;

use super::tokens::{Guarded, annals, bearer};
use crate::support::{Answer, read_answer, try_request};

/// How a credential ends.
#[derive(Clone, Copy, Debug, PartialEq)]
enum End {
    Revoked,
    Expired,
    OtherRoles,
}

const ENDS: [End; 3] = [End::Revoked, End::Expired, End::OtherRoles];

/// A client under way.
struct Lasting {
    guarded: Guarded,
    admin: String,
    token: String,
    end: End,
    until: Instant,
}

impl Lasting {
    fn new(roles: &[&str], end: End) -> Lasting {
        let guarded = Guarded::start(&[]);
        let admin = guarded.token("root", &["--role", "admin"]);
        let until = Instant::now() + Duration::from_secs(4);
        let expires =
            annals::Instant::from_micros(annals::Instant::now().micros() + 4_000_000).unwrap().to_string();
        let mut more: Vec<&str> = roles.iter().flat_map(|role| ["--role", *role]).collect();
        if end == End::Expired {
            more.extend(["--expires", &expires]);
        }
        let token = guarded.token("wes", &more);
        Lasting { guarded, admin, token, end, until }
    }

    /// Sends the head of a request.
    fn begin(&self, head: &str) -> TcpStream {
        let mut stream = self.guarded.server.connect();
        // Answers wait in the server, and not in the socket.
        rustix::net::sockopt::set_socket_recv_buffer_size(&stream, 64 << 10).unwrap();
        let (address, token) = (self.guarded.server.address, &self.token);
        let (line, headers) = head.split_once('\n').unwrap_or((head, ""));
        let headers: String = headers.lines().map(|header| format!("{header}\r\n")).collect();
        write!(
            stream,
            "{line} HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {token}\r\nconnection: close\r\n{headers}\r\n"
        )
        .unwrap();
        stream
    }

    /// Ends the credential, and waits until the server knows.
    fn end(&self) {
        let file = self.guarded.file();
        match self.end {
            End::Revoked => {
                let done = annals(&["token", "revoke", "wes", "--tokens", file.to_str().unwrap()]);
                assert!(done.status.success());
                self.guarded.reload();
            }
            End::Expired => {
                assert!(Instant::now() < self.until, "the test was too slow");
                std::thread::sleep(
                    self.until.saturating_duration_since(Instant::now()) + Duration::from_millis(50),
                );
            }
            End::OtherRoles => {
                let text = std::fs::read_to_string(&file).unwrap();
                let lines = text.lines().map(|line| match line.strip_prefix("wes ") {
                    Some(rest) => {
                        let fields: Vec<&str> = rest.split(' ').collect();
                        format!("wes {} nothing {}\n", fields[0], fields[2])
                    }
                    None => format!("{line}\n"),
                });
                let text: String = lines.collect();
                std::fs::write(&file, text).unwrap();
                self.guarded.reload();
            }
        }
    }

    fn ids(&self) -> Vec<String> {
        let answer = self.guarded.ask(&self.admin, "GET", "/v1/entities?limit=1000", None);
        let json = answer.json();
        json["items"].as_array().unwrap().iter().map(|item| item["id"].as_str().unwrap().to_owned()).collect()
    }

    fn wait_for(&self, id: &str) {
        let deadline = Instant::now() + Duration::from_secs(20);
        while !self.ids().iter().any(|known| known == id) {
            assert!(Instant::now() < deadline, "{id} does not come");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

fn chunk(stream: &mut TcpStream, text: &str) {
    // After its end the server reads no more.
    let _ = write!(stream, "{:x}\r\n{text}\r\n", text.len());
}

fn line(id: &str) -> String {
    format!("{}\n", json!({ "entity": { "id": id, "type": "t" } }))
}

fn answer(stream: TcpStream) -> Answer {
    read_answer(&mut BufReader::new(stream), false).expect("an answer")
}

/// An import proved its client once, and went on for as long as lines came.
#[test]
fn an_import_writes_nothing_after_the_end_of_its_credential() {
    for end in ENDS {
        let lasting = Lasting::new(&["write"], end);
        let mut stream = lasting
            .begin("POST /v1/import?batch=1\ncontent-type: application/x-ndjson\ntransfer-encoding: chunked");
        for id in ["a", "b", "c"] {
            chunk(&mut stream, &line(id));
        }
        lasting.wait_for("c");
        lasting.end();
        for number in 0..50 {
            chunk(&mut stream, &line(&format!("late{number}")));
        }
        let _ = stream.write_all(b"0\r\n\r\n");
        let answer = answer(stream);
        assert_eq!((answer.status, &*answer.problem()), (401, "unauthenticated"), "{end:?}: {answer:?}");
        let json = answer.json();
        assert_eq!(
            (&json["records"], &json["changes"], &json["throughLine"]),
            (&json!(3), &json!(3), &json!(3))
        );
        let detail = json["detail"].as_str().unwrap();
        assert!(detail.contains("3 changes in 3 records, through line 3"), "{detail}");
        assert_eq!(lasting.ids(), ["a", "b", "c"], "{end:?}");
    }
}

#[test]
fn a_quiet_import_ends_with_its_credential_and_the_batch_in_progress_is_dropped() {
    for end in ENDS {
        let lasting = Lasting::new(&["write"], end);
        let mut stream =
            lasting.begin("POST /v1/import\ncontent-type: application/x-ndjson\ntransfer-encoding: chunked");
        chunk(&mut stream, &line("a"));
        lasting.end();
        // No line comes: the server ends it by itself.
        let began = Instant::now();
        let answer = answer(stream);
        assert!(began.elapsed() < Duration::from_secs(5), "{end:?}: {:?}", began.elapsed());
        assert_eq!((answer.status, &answer.json()["records"]), (401, &json!(0)), "{end:?}: {answer:?}");
        assert!(lasting.ids().is_empty());
    }
}

/// Bodies and uploads proved their client before they came.
#[test]
fn a_slow_body_is_asked_again_before_its_commit() {
    let body = r#"{"id": "late", "type": "t"}"#;
    let transaction =
        json!({ "operations": [{ "action": "create", "kind": "entity", "id": "late", "type": "t" }] });
    let transaction = transaction.to_string();
    let late = line("late");
    let turtle = "<> <urn:p> \"o\" .";
    let requests = [
        ("POST /v1/entities\ncontent-type: application/json", body),
        ("POST /v1/transactions\ncontent-type: application/json", &*transaction),
        ("PUT /v1/content/there\ncontent-type: text/plain", "the bytes of a content"),
        ("POST /ldp/\nslug: late\ncontent-type: text/turtle", turtle),
        (
            "PUT /ldp/late\ncontent-type: text/plain\nlink: <http://www.w3.org/ns/ldp#NonRDFSource>; rel=\"type\"",
            "bytes",
        ),
        ("POST /v1/import\ncontent-type: application/x-ndjson", &*late),
    ];
    for end in ENDS {
        let lasting = Lasting::new(&["write"], end);
        let there = json!({ "id": "there", "type": "t" });
        assert_eq!(lasting.guarded.ask(&lasting.admin, "POST", "/v1/entities", Some(&there)).status, 201);
        // The first write there declares types.
        let bearer = bearer(&lasting.admin);
        let headers = [("authorization", &*bearer), ("content-type", "text/turtle"), ("slug", "first")];
        let address = lasting.guarded.server.address;
        let first = try_request(address, "POST", "/ldp/", &headers, Some(turtle)).unwrap();
        assert_eq!(first.status, 201, "{first:?}");
        let before = lasting.guarded.ask(&lasting.admin, "GET", "/v1/stats", None).json()["position"].clone();
        let mut streams = Vec::new();
        for (head, body) in requests {
            let mut stream = lasting.begin(&format!("{head}\ncontent-length: {}", body.len()));
            let (first, rest) = body.split_at(body.len() / 2);
            stream.write_all(first.as_bytes()).unwrap();
            streams.push((head, rest, stream));
        }
        lasting.end();
        for (head, rest, mut stream) in streams {
            stream.write_all(rest.as_bytes()).unwrap();
            let answer = answer(stream);
            assert_eq!(answer.status, 401, "{end:?} {head}: {answer:?}");
            assert!(answer.body.contains("stands until the end"), "{end:?} {head}: {answer:?}");
        }
        let after = lasting.guarded.ask(&lasting.admin, "GET", "/v1/stats", None).json()["position"].clone();
        let log = lasting.guarded.ask(&lasting.admin, "GET", "/v1/log", None).body;
        assert_eq!(after, before, "{end:?}: {log}");
    }
}

/// An export and a backup sent everything to a client that was revoked meanwhile.
#[test]
fn exports_and_backups_break_off() {
    const COUNT: usize = 300;
    for end in ENDS {
        let lasting = Lasting::new(&["read", "operate"], end);
        // More than sockets hold.
        let text = "0123456789abcdef".repeat(8_192);
        let operations: Vec<_> = (0..COUNT / 100)
            .map(|_| json!({ "action": "create", "kind": "entity", "type": "t", "properties": { "text": text } }))
            .collect();
        for _ in 0..100 {
            let body = json!({ "operations": operations });
            assert_eq!(
                lasting.guarded.ask(&lasting.admin, "POST", "/v1/transactions", Some(&body)).status,
                200
            );
        }
        let paths = [
            "/v1/export",
            "/v1/export?history=true",
            "/v1/backup",
            "/v1/entities\naccept: application/x-ndjson",
        ];
        let mut streams: Vec<TcpStream> =
            paths.iter().map(|path| lasting.begin(&format!("GET {path}"))).collect();
        for stream in &mut streams {
            let mut part = [0; 4_096];
            let length = stream.read(&mut part).unwrap();
            assert!(part[..length].starts_with(b"HTTP/1.1 200"), "{:?}", String::from_utf8_lossy(&part));
        }
        lasting.end();
        for (path, mut stream) in paths.iter().zip(streams) {
            let mut rest = Vec::new();
            // A connection that is cut off may also be reset.
            let _ = stream.read_to_end(&mut rest);
            assert!(rest.len() < COUNT * text.len() / 2, "{end:?} {path}: {} bytes", rest.len());
            let tail = String::from_utf8_lossy(&rest[rest.len().saturating_sub(2_000)..]).into_owned();
            let is_told = tail.contains("{\"error\":") && tail.contains("unauthenticated");
            assert_eq!(is_told, path.ends_with("ndjson"), "{end:?} {path}: {tail}");
            // An answer that must be whole lacks its end.
            assert_eq!(rest.ends_with(b"\r\n0\r\n\r\n"), is_told, "{end:?} {path}: {tail}");
        }
    }
}

#[test]
fn feeds_end() {
    for end in ENDS {
        let lasting = Lasting::new(&["read"], end);
        let mut streams = ["/v1/feed", "/ldp/fcr:events"].map(|path| lasting.begin(&format!("GET {path}")));
        for stream in &mut streams {
            assert!(stream.read(&mut [0; 4_096]).unwrap() > 0);
        }
        lasting.end();
        for mut stream in streams {
            // A heartbeat comes only after many seconds.
            stream.read_to_end(&mut Vec::new()).unwrap_or_else(|error| panic!("{end:?}: {error}"));
        }
    }
}
