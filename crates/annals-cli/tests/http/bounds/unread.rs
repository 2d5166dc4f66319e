//! Answers that nobody reads take a bounded memory, for a bounded time.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};

use crate::support::{Server, server};

/// Most memory that all answers together may take, beside that in use before. Units: bytes.
const EXTRA_BYTES_MAX: usize = 256 << 20;

/// Writes `count` entities with one text of so many bytes, named `e0`, `e1` and so on, of one type.
fn fill(server: &Server, type_name: &str, count: usize, text_bytes: usize) {
    let create = |number| {
        let text = "x".repeat(text_bytes);
        json!({
            "action": "create", "kind": "entity", "id": format!("{type_name}{number}"), "type": type_name,
            "properties": {"text": text},
        })
    };
    let batch = (8 << 20) / (text_bytes + 200);
    let numbers: Vec<usize> = (0..count).collect();
    for numbers in numbers.chunks(batch.clamp(1, 1_000)) {
        let operations: Vec<Json> = numbers.iter().map(create).collect();
        let answer = server.send("POST", "/v1/transactions", &json!({ "operations": operations }));
        assert_eq!(answer.status, 200, "{}", answer.body);
    }
}

/// The most memory it has while `seconds` go by. Units: bytes.
fn peak_bytes(server: &Server, seconds: u64) -> usize {
    let end = Instant::now() + Duration::from_secs(seconds);
    let mut peak = 0;
    while Instant::now() < end {
        peak = peak.max(server.resident_bytes());
        std::thread::sleep(Duration::from_millis(20));
    }
    peak
}

/// A client of HTTP/2 that lets the server send no byte of any body, and answers pings.
struct Silent(TcpStream);

const FRAME_SETTINGS: u8 = 4;
const FRAME_PING: u8 = 6;
const ACK: u8 = 1;

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

impl Silent {
    /// Asks for a page so many times.
    fn ask(server: &Server, path: &str, times: u32) -> Silent {
        const FRAME_HEADERS: u8 = 1;
        const END: u8 = 1 | 4;
        let mut bytes = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec();
        // The initial window (4) of every stream is 0.
        bytes.extend(frame(FRAME_SETTINGS, 0, 0, &[0, 4, 0, 0, 0, 0]));
        let text = |text: &str| [&[u8::try_from(text.len()).unwrap()], text.as_bytes()].concat();
        // From the static table: GET, http, then the names of the path (4) and the authority (1).
        let head =
            [&[0x82, 0x86, 0x04][..], &text(path), &[0x01], &text(&server.address.to_string())].concat();
        for number in 0..times {
            bytes.extend(frame(FRAME_HEADERS, END, 2 * number + 1, &head));
        }
        let mut stream = server.connect();
        stream.write_all(&bytes).unwrap();
        Silent(stream)
    }

    /// Answers pings until the server closes the connection, or the time is over; true if it closed it.
    fn keep(&mut self, time: Duration) -> bool {
        let deadline = Instant::now() + time;
        self.0.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
        let mut received = Vec::new();
        while Instant::now() < deadline {
            let mut bytes = [0; 4096];
            match self.0.read(&mut bytes) {
                Ok(0) => return true,
                Ok(count) => received.extend_from_slice(&bytes[..count]),
                Err(error) if [ErrorKind::WouldBlock, ErrorKind::TimedOut].contains(&error.kind()) => {}
                Err(_) => return true,
            }
            while let Some(head) = received.first_chunk::<9>() {
                let length = usize::from(head[0]) << 16 | usize::from(head[1]) << 8 | usize::from(head[2]);
                let (kind, flags) = (head[3], head[4]);
                let Some(payload) = received.get(9..9 + length) else { break };
                let is_asked = flags & ACK == 0;
                let answer = match kind {
                    FRAME_PING if is_asked => frame(FRAME_PING, ACK, 0, payload),
                    FRAME_SETTINGS if is_asked => frame(FRAME_SETTINGS, ACK, 0, &[]),
                    _ => Vec::new(),
                };
                if self.0.write_all(&answer).is_err() {
                    return true;
                }
                received.drain(..9 + length);
            }
        }
        false
    }
}

/// Asks over HTTP/2 for a position that does not come, with a body. Gives the connection, with all sent that the server
/// takes.
fn wait_with_body(server: &Server, part: &[u8], parts_count: usize) -> TcpStream {
    const FRAME_DATA: u8 = 0;
    const FRAME_HEADERS: u8 = 1;
    const END_HEADERS: u8 = 4;
    let mut stream = Silent::ask(server, "", 0).0;
    let text = |text: &str| [&[u8::try_from(text.len()).unwrap()], text.as_bytes()].concat();
    let address = server.address.to_string();
    let mut head = [&[0x82, 0x86, 0x04][..], &text("/v1/entities/e"), &[0x01], &text(&address)].concat();
    head.extend([&[0x00][..], &text("annals-wait-position"), &text("1000")].concat());
    stream.write_all(&frame(FRAME_HEADERS, END_HEADERS, 1, &head)).unwrap();
    // The windows of the server hold only once its settings are acknowledged.
    assert!(stream.read(&mut [0; 4096]).unwrap() > 0);
    stream.write_all(&frame(FRAME_SETTINGS, ACK, 0, &[])).unwrap();
    for _ in 0..parts_count {
        let _ = stream.write_all(&frame(FRAME_DATA, 0, 1, part));
    }
    stream
}

// A review: bodies that no request reads took 1 MiB on each connection, and counted nowhere.
#[test]
fn unread_bodies_over_http2_take_a_bounded_memory() {
    let (_folder, server) = server(&["--visible-time-ms", "20000"]);
    let before = server.resident_bytes();
    let part = [b'x'; 16 << 10];
    let held: Vec<_> = (0..60).map(|_| wait_with_body(&server, &part, 60)).collect();
    let peak = peak_bytes(&server, 2);
    println!("{} MiB before, {} MiB at most", before >> 20, peak >> 20);
    assert!(peak <= before + (30 << 20), "{} MiB before, {} MiB at most", before >> 20, peak >> 20);
    drop(held);
    wait_for_status(&server, "/v1/types", 200);
}

/// Asks over HTTP/1.1 and reads nothing.
fn ask_and_read_nothing(server: &Server, path: &str, headers: &str) -> TcpStream {
    let mut stream = server.connect();
    stream
        .write_all(format!("GET {path} HTTP/1.1\r\nhost: {}\r\n{headers}\r\n", server.address).as_bytes())
        .unwrap();
    stream
}

// A review held 3.2 GiB with 118 KB of requests: the request was forgotten as soon as its answer was made.
#[test]
fn unread_answers_over_http2_take_a_bounded_memory() {
    let (_folder, server) = server(&[]);
    fill(&server, "t", 1_000, 1_000);
    let before = server.resident_bytes();
    let mut clients: Vec<_> = (0..3).map(|_| Silent::ask(&server, "/v1/entities?limit=1000", 250)).collect();
    let peak = std::thread::scope(|scope| {
        for client in &mut clients {
            scope.spawn(|| assert!(!client.keep(Duration::from_secs(12)), "cut off early"));
        }
        peak_bytes(&server, 11)
    });
    println!("{} MiB before, {} MiB at most", before >> 20, peak >> 20);
    assert!(peak <= before + EXTRA_BYTES_MAX, "{} MiB before, {} MiB after", before >> 20, peak >> 20);
    // A new request is refused or answered; requests for small answers are always answered.
    assert!([200, 503].contains(&server.get("/v1/entities?limit=1000").status));
    assert_eq!(server.get("/health/ready").status, 200);
    drop(clients);
    wait_for_status(&server, "/v1/entities?limit=1000", 200);
}

// The same review: 8 unread pages of 40 values of 4 MB held 2.3 GiB, with and without a memory budget.
#[test]
fn unread_pages_of_large_values_take_a_bounded_memory() {
    for arguments in [&[][..], &["--memory", "512MiB"]] {
        let (_folder, server) = server(arguments);
        fill(&server, "big", 20, 4_000_000);
        let before = server.resident_bytes();
        let clients: Vec<_> =
            (0..8).map(|_| ask_and_read_nothing(&server, "/v1/entities?type=big&limit=20", "")).collect();
        let seconds = if std::env::var_os("ANNALS_TEST_ALL").is_some() { 10 } else { 4 };
        let peak = peak_bytes(&server, seconds);
        println!("{arguments:?}: {} MiB before, {} MiB at most", before >> 20, peak >> 20);
        assert!(peak <= before + EXTRA_BYTES_MAX, "{} MiB before, {} MiB after", before >> 20, peak >> 20);
        drop(clients);
        // The pages that were refused meanwhile can be read, one after the other.
        wait_for_status(&server, "/v1/entities?type=big&limit=1", 200);
        assert_eq!(ids(&server, "/v1/entities?type=big&limit=20").len(), 20);
    }
}

/// Asks until the answers leave no room.
fn ask_until_refused(server: &Server, path: &str, times: u32) -> Vec<Silent> {
    let deadline = Instant::now() + Duration::from_secs(20);
    let mut silent = Vec::new();
    loop {
        // This request may be refused, too, because the one below was first.
        silent.push(Silent::ask(server, path, times));
        std::thread::sleep(Duration::from_millis(100));
        if server.get(path).status == 503 {
            return silent;
        }
        assert!(Instant::now() < deadline, "{path} is never refused");
    }
}

fn wait_for_status(server: &Server, path: &str, status: u16) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while server.get(path).status != status {
        assert!(Instant::now() < deadline, "{path} is not answered with {status}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn pings_do_not_keep_a_client_that_reads_nothing() {
    let (_folder, server) =
        server(&["--idle-time-ms", "600", "--request-time-ms", "300", "--heartbeat-ms", "200"]);
    fill(&server, "t", 100, 1_000);
    let mut silent = Silent::ask(&server, "/v1/entities?limit=100", 3);
    assert!(silent.keep(Duration::from_secs(10)), "pings keep it");
    // One that reads slowly, but reads, is not cut off.
    let mut slow = ask_and_read_nothing(&server, "/v1/entities?limit=100", "connection: close\r\n");
    let mut answer = Vec::new();
    let mut part = [0; 5_000];
    loop {
        std::thread::sleep(Duration::from_millis(60));
        match slow.read(&mut part).unwrap() {
            0 => break,
            count => answer.extend_from_slice(&part[..count]),
        }
    }
    assert!(answer.len() > 100_000 && answer.ends_with(b"}"), "{} bytes", answer.len());
}

#[test]
fn answers_of_all_requests_together_are_bounded() {
    let (_folder, server) = server(&["--answers-bytes-max", "150000"]);
    fill(&server, "t", 100, 1_000);
    let page = "/v1/entities?limit=100";
    assert_eq!(server.get(page).status, 200);
    // The client has the last byte a moment before the server gives the room back.
    std::thread::sleep(Duration::from_millis(200));
    let silent = ask_until_refused(&server, page, 1);
    let refused = server.get(page);
    assert_eq!((refused.problem().as_str(), refused.header("retry-after")), ("busy", Some("1")));
    // Small answers need no room.
    assert_eq!(server.get("/v1/entities/t1").status, 200);
    // A write is done and told, in short if there is no room to show it.
    let text = "x".repeat(60_000);
    let create = json!({"id": "large", "type": "t", "properties": {"text": text}});
    let created = server.send("POST", "/v1/entities", &create);
    assert_eq!((created.status, created.header("location")), (201, Some("/v1/entities/large")));
    let members: Vec<String> = created.json().as_object().unwrap().keys().cloned().collect();
    assert_eq!(members, ["instant", "position"]);
    drop(silent);
    wait_for_status(&server, page, 200);
    // The room for the page may still be on its way back.
    wait_for_status(&server, "/v1/entities/large", 200);
    assert_eq!(server.get("/v1/entities/large").json()["properties"]["text"], text);
    // More than all answers may be is sent alone.
    assert_eq!(server.send("PATCH", "/v1/entities/large", &json!({"more": "y".repeat(200_000)})).status, 200);
    wait_for_status(&server, "/v1/entities/large", 200);
}

// A request counts until its answer is sent, so small answers are bounded, too. If refusals are not read either,
// further ones are only heads.
#[test]
fn unread_small_answers_are_bounded() {
    let (_folder, server) = server(&["--requests-max", "20"]);
    fill(&server, "t", 1, 1_000);
    let silent = ask_until_refused(&server, "/v1/entities/t0", 40);
    assert_eq!(server.get("/health/ready").status, 200);
    drop(silent);
    wait_for_status(&server, "/v1/entities/t0", 200);
}

/// The ids on all pages of a list; every page has one at least.
fn ids(server: &Server, path: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut after = String::new();
    loop {
        let answer = server.get(&format!("{path}{after}"));
        assert_eq!(answer.status, 200, "{}", answer.body);
        let page = answer.json();
        let items = page["items"].as_array().unwrap();
        assert!(!items.is_empty());
        let id = |item: &Json| {
            let one = ["entity", "relationship"].into_iter().find_map(|name| item.get(name)).unwrap_or(item);
            one["id"].as_str().unwrap().to_owned()
        };
        found.extend(items.iter().map(id));
        let Some(next) = page["next"].as_str() else { return found };
        after = format!("&after={next}");
    }
}

// Pages end early; the cursors of all of them lead through everything, whatever a page may take.
#[test]
fn a_page_ends_before_it_is_too_large_and_the_next_goes_on() {
    let (_folder, server) = server(&["--page-bytes-max", "5000"]);
    fill(&server, "t", 12, 2_000);
    let mut operations = Vec::new();
    for number in 1..12 {
        operations.push(json!({
            "action": "create", "kind": "relationship", "id": format!("r{number}"), "type": "r", "from": "t0",
            "to": format!("t{number}"), "properties": {"n": number, "text": "y".repeat(2_000)},
        }));
    }
    assert_eq!(server.send("POST", "/v1/transactions", &json!({ "operations": operations })).status, 200);
    for number in 0..12 {
        let patch = json!({"text": format!("{number}{}", "z".repeat(2_000))});
        assert_eq!(server.send("PATCH", "/v1/entities/t0", &patch).status, 200);
    }
    for (path, count) in [
        ("/v1/entities?limit=100", 12),
        ("/v1/entities?limit=100&orderBy=text", 12),
        ("/v1/entities?limit=100&orderBy=-@createdAt&atPosition=3", 12),
        ("/v1/entities?limit=100&where=text~=x&orderBy=text&orderBy=@id", 11),
        ("/v1/relationships?limit=100", 11),
        ("/v1/entities/t0/relationships?limit=100", 11),
        ("/v1/entities/t0/relationships?limit=100&orderBy=n", 11),
        ("/v1/entities/t0/neighbors?limit=100", 11),
        ("/v1/entities/t0/related?limit=100", 11),
        ("/v1/entities/t0/reach?limit=100", 11),
        ("/v1/shared?from=t1&to=t2&limit=100&depthMax=2", 12 - 2),
    ] {
        let first = server.get(path);
        assert!(first.body.len() < 20_000, "{path}: {} bytes", first.body.len());
        assert!(first.json()["next"].is_string(), "{path}");
        let mut found = ids(&server, path);
        assert_eq!(found.len(), count, "{path}: {found:?}");
        found.sort();
        found.dedup();
        assert_eq!(found.len(), count, "{path}");
        let lines = server.request("GET", path, &[("accept", "application/x-ndjson")], None);
        assert_eq!(lines.body.lines().filter(|line| !line.contains("\"next\"")).count(), count, "{path}");
    }
    for (path, members, count) in [
        ("/v1/entities/t0/history?limit=100&content", &["items"][..], 13),
        ("/v1/entities/t0/history?limit=100&content&oldestFirst", &["items"], 13),
        ("/v1/entities/t0/neighborhood?limit=100", &["entities", "relationships"], 12 + 11),
    ] {
        let (mut found, mut after) = (Vec::new(), String::new());
        loop {
            let page = server.get(&format!("{path}{after}")).json();
            let items = members.iter().flat_map(|name| page[name].as_array().unwrap().clone());
            let before = found.len();
            found.extend(items.map(|item| item.to_string()));
            assert!(before < found.len() && found.len() <= before + 6, "{path}: {page}");
            let Some(next) = page["next"].as_str() else { break };
            after = format!("&after={next}");
        }
        assert_eq!(found.len(), count, "{path}");
        found.sort();
        found.dedup();
        assert_eq!(found.len(), count, "{path}");
    }
}
