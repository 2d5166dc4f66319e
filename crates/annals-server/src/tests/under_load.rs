//! While the server is full, a client that obeys `Retry-After` loses nothing and writes nothing twice.

use std::io::Write;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::Duration;

use annals::Repository;
use axum::body::Body;
use flate2::Compression;
use flate2::write::GzEncoder;
use http::header::{AUTHORIZATION, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, ETAG, HOST, RETRY_AFTER};
use http::{HeaderMap, HeaderName, Request, Response, StatusCode, request};
use http_body_util::BodyExt;
use serde_json::{Value as Json, json};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tower::ServiceExt;

use crate::access::{Access, AccessSettings, Client as Caller};
use crate::bounds::limits::Limits;
use crate::ldp::{LdpSettings, Sources};
use crate::protocol::names::NDJSON;
use crate::request::door::Door;
use crate::request::hosts::Hosts;
use crate::serving::router::router;

/// A door, and what a client of it does.
struct Client {
    door: Arc<Door>,
    router: axum::Router,
}

struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    text: String,
}

impl Answer {
    fn json(&self) -> Json {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error} in {:?}", self.text))
    }

    fn header(&self, name: &HeaderName) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().expect("ASCII"))
    }
}

impl Client {
    fn new() -> Client {
        Client::of(Repository::in_memory(), Access::default())
    }

    fn of(repository: Repository, access: Access) -> Client {
        let hosts = Hosts::new(IpAddr::V4(Ipv4Addr::LOCALHOST), Vec::new(), Vec::new(), None);
        let ldp = LdpSettings {
            root: "/ldp".parse().expect("a path"),
            is_if_match_required: false,
            external: Sources::new(Vec::new(), 0),
            web_access: None,
        };
        let mut door = Door::new(Limits::default(), hosts, "urn:test".into());
        door.access = access;
        let door = Arc::new(door);
        door.open(repository).expect("a thread");
        Client { router: router(&door, Some(ldp)), door }
    }

    /// Takes all room of a kind.
    fn fill(&self, gate: &Arc<Semaphore>) -> OwnedSemaphorePermit {
        let all = u32::try_from(gate.available_permits()).expect("a bound");
        Arc::clone(gate).try_acquire_many_owned(all).expect("the room is there")
    }

    /// No request may wait for a place for long work.
    fn fill_heavy(&self) -> OwnedSemaphorePermit {
        self.fill(&self.door.bounds.gates.heavy_waits)
    }

    async fn ask(&self, method: &str, path: &str, media_type: &str, body: impl Into<Body>) -> Answer {
        let request = Request::builder().method(method).uri(path).header(CONTENT_TYPE, media_type);
        self.answer(request, body.into()).await
    }

    /// The answer, of which no byte is read yet.
    async fn begin(&self, request: request::Builder, body: Body) -> Response<Body> {
        let request = request.header(HOST, "localhost").body(body).expect("a request");
        self.router.clone().oneshot(request).await.unwrap_or_else(|never| match never {})
    }

    async fn answer(&self, request: request::Builder, body: Body) -> Answer {
        let answer = self.begin(request, body).await;
        let (head, body) = answer.into_parts();
        let bytes = body.collect().await.expect("a body").to_bytes();
        Answer {
            status: head.status,
            headers: head.headers,
            text: String::from_utf8(bytes.to_vec()).expect("text"),
        }
    }

    async fn send(&self, method: &str, path: &str, body: Json) -> Answer {
        self.ask(method, path, "application/json", body.to_string()).await
    }

    /// Imports a body whose length is stated.
    async fn import(&self, body: Vec<u8>) -> Answer {
        let request = Request::post("/v1/import?merge").header(CONTENT_TYPE, NDJSON);
        self.answer(request.header(CONTENT_LENGTH, body.len()), body.into()).await
    }

    async fn get(&self, path: &str) -> Answer {
        self.ask("GET", path, "text/plain", Body::empty()).await
    }
}

/// The client repeated a write that was done: its new id was there, and the answer was 503 with `Retry-After`.
#[tokio::test]
async fn a_write_without_a_place_to_read_it_back_is_told_by_its_receipt() {
    let client = Client::new();
    assert_eq!(client.send("POST", "/v1/entities", json!({"id": "e", "type": "t"})).await.status, 201);
    let full = client.fill_heavy();
    let refused = client.send("POST", "/v1/find", json!({"kind": "entity"})).await;
    assert_eq!((refused.status.as_u16(), refused.header(&RETRY_AFTER)), (503, Some("1")));
    // The former id is not found any more, so the state of the commit would have to be looked up.
    let moved = client.send("PUT", "/v1/entities/e/id", json!({"newId": "f"})).await;
    assert_eq!((moved.status.as_u16(), &moved.json()["position"]), (200, &json!(2)), "{}", moved.text);
    assert_eq!(client.get("/v1/entities/f").await.status, 200);
    drop(full);
    let moved = client.send("PUT", "/v1/entities/f/id", json!({"newId": "g"})).await;
    assert_eq!((moved.status.as_u16(), &moved.json()["position"]), (200, &json!(3)), "{}", moved.text);
}

#[tokio::test]
async fn a_write_of_a_large_resource_without_a_place_for_its_tag_is_answered_without_one() {
    let client = Client::new();
    let values: Vec<String> = (0..6_000).map(|value| value.to_string()).collect();
    let graph = format!("<> <urn:x:value> {} .", values.join(","));
    let created = client.ask("PUT", "/ldp/large", "text/turtle", graph).await;
    assert_eq!(created.status, 201, "{}", created.text);
    let full = client.fill_heavy();
    let update = |value: u32| {
        let update = format!("INSERT DATA {{ <> <urn:x:more> {value} }}");
        client.ask("PATCH", "/ldp/large", "application/sparql-update", update)
    };
    let changed = update(1).await;
    assert_eq!((changed.status.as_u16(), changed.header(&ETAG)), (204, None), "{}", changed.text);
    assert!(changed.headers.contains_key("allow") && changed.headers.contains_key("annals-position"));
    drop(full);
    let changed = update(2).await;
    assert!(changed.status == 204 && changed.header(&ETAG).is_some(), "{}", changed.text);
    let shown = client.ask("GET", "/ldp/large", "text/plain", Body::empty()).await;
    assert!(shown.text.contains("urn:x:more"), "{}", &shown.text[..200]);
}

/// A line that can be imported, and so many that cannot, each for a long reason of its own.
fn lines(bad_count: usize) -> String {
    let bad = |number| format!("{{\"{}{number}\": 1}}\n", "x".repeat(400));
    let good = "{\"entity\": {\"id\": \"good\", \"type\": \"t\"}}\n".to_owned();
    good + &(0..bad_count).map(bad).collect::<String>()
}

/// The client repeated an import that was done: it was answered with 503 and `Retry-After`.
#[tokio::test]
async fn an_import_without_room_for_its_report_is_told_by_the_counts() {
    let client = Client::new();
    let full = client.fill(&client.door.bounds.gates.answer_bytes);
    let imported = client.ask("POST", "/v1/import", NDJSON, lines(100)).await;
    assert_eq!(imported.status, 200, "{}", imported.text);
    let report = imported.json();
    assert_eq!([&report["created"], &report["refused"]], [&json!(1), &json!(100)], "{report}");
    assert_eq!(report["refusedLines"], json!([]));
    // The body breaks off behind these lines.
    let parts = [Ok(lines(100)), Err(std::io::Error::other("gone"))];
    let broken = Body::from_stream(futures_util::stream::iter(parts));
    let ended = client.ask("POST", "/v1/import?batch=1&merge", NDJSON, broken).await;
    let report = ended.json();
    assert_eq!((ended.status.as_u16(), &report["kind"]), (400, &json!("invalid-argument")), "{report}");
    assert_eq!([&report["unchanged"], &report["refused"]], [&json!(1), &json!(100)], "{report}");
    assert_eq!(report["refusedLines"], json!([]));
    drop(full);
    let imported = client.ask("POST", "/v1/import?merge", NDJSON, lines(100)).await.json();
    assert_eq!(imported["refusedLines"].as_array().map(Vec::len), Some(100), "{imported}");
}

/// Packs a text by gzip.
fn packed(text: &str) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::best());
    packed.write_all(text.as_bytes()).expect("memory takes it");
    packed.finish().expect("memory takes it")
}

/// The server reserved 64 MiB for a few packed lines, and refused them where it could have waited.
#[tokio::test]
async fn a_short_import_takes_the_room_of_its_length_and_waits_for_it() {
    let client = Client::new();
    let gate = &client.door.bounds.gates.body_bytes;
    let (left, needed) = (8 << 20, 1 << 20);
    let most = u32::try_from(gate.available_permits() - left).expect("a bound");
    let _most = Arc::clone(gate).try_acquire_many_owned(most).expect("the room is there");
    for body in [lines(0).into_bytes(), packed(&lines(0))] {
        let imported = client.import(body).await;
        assert_eq!(
            (imported.status.as_u16(), &imported.json()["refused"]),
            (200, &json!(0)),
            "{}",
            imported.text
        );
    }
    let rest = u32::try_from(gate.available_permits() - needed / 2).expect("a bound");
    let rest = Arc::clone(gate).try_acquire_many_owned(rest).expect("the room is there");
    let released = async {
        tokio::time::sleep(Duration::from_millis(200)).await;
        drop(rest);
    };
    let (imported, ()) = tokio::join!(client.import(lines(0).into_bytes()), released);
    assert_eq!(
        (imported.status.as_u16(), &imported.json()["refused"]),
        (200, &json!(0)),
        "{}",
        imported.text
    );
}

/// 128 KiB of gzip held a place of searches for minutes.
#[tokio::test]
async fn a_body_that_is_long_when_it_is_unpacked_needs_the_place_of_a_long_import() {
    let client = Client::new();
    let long = packed(&format!("{}\n", "x".repeat(1 << 20)).repeat(5));
    assert!(long.len() < 128 << 10, "{}", long.len());
    let full = client.fill(&client.door.bounds.gates.imports);
    let refused = client.import(long.clone()).await;
    assert_eq!((refused.status.as_u16(), refused.header(&RETRY_AFTER)), (503, Some("1")), "{}", refused.text);
    assert_eq!(client.import(packed(&lines(3))).await.json()["refused"], 3);
    drop(full);
    assert_eq!(client.import(long).await.json()["refused"], 5);
}

/// All feeds ended with an error as soon as searches took all places.
#[tokio::test]
async fn a_feed_goes_on_while_searches_take_all_places() {
    let client = Client::new();
    assert_eq!(client.send("POST", "/v1/entities", json!({"id": "e", "type": "t"})).await.status, 201);
    let _full = client.fill_heavy();
    let feed = client.get("/v1/feed?limit=1").await;
    assert!(feed.text.contains("id: 1\ndata: ") && !feed.text.contains("event: error"), "{}", feed.text);
}

/// Any number of failed logins waited at once, outside every bound.
#[tokio::test]
async fn a_bounded_number_of_failed_logins_wait_and_further_ones_do_not() {
    let address = IpAddr::V4(Ipv4Addr::LOCALHOST);
    let settings = AccessSettings { proxy: Some(address), ..AccessSettings::default() };
    let access = Access::new(settings).expect("settings without files");
    let client = Client::of(Repository::in_memory(), access);
    let log_in = || {
        let caller = Caller { address, reached: None, has_tls: false, certificate: None };
        let request = Request::get("/v1/types").header(AUTHORIZATION, "Bearer wrong").extension(caller);
        client.answer(request, Body::empty())
    };
    // The next failure of this address waits for seconds.
    for _ in 0..9 {
        client.door.access.count_failure(address);
    }
    let gate = &client.door.bounds.gates.failed_logins;
    let all = gate.available_permits();
    let looked = async {
        tokio::time::sleep(Duration::from_millis(100)).await;
        gate.available_permits()
    };
    let (waited, left) = tokio::join!(tokio::time::timeout(Duration::from_millis(300), log_in()), looked);
    assert_eq!((waited.is_err(), left), (true, all - 1));
    let _full = client.fill(gate);
    let refused = tokio::time::timeout(Duration::from_secs(2), log_in()).await.expect("it does not wait");
    assert_eq!((refused.status.as_u16(), refused.header(&CONNECTION)), (401, Some("close")));
}

/// Any number of downloads had an open file each. Slow ones took all the room, and other answers were refused.
#[tokio::test]
async fn downloads_are_bounded_and_leave_other_answers_their_room() {
    let folder = tempfile::tempdir().expect("a folder");
    let repository = Repository::open(folder.path().join("repository")).expect("a repository");
    let client = Client::of(repository, Access::default());
    let (path, bytes) = ("/v1/content/page", "x".repeat(1 << 20));
    let stored = client.ask("PUT", "/v1/content/page?type=page", "text/plain", bytes.clone()).await;
    assert_eq!(stored.status, 201, "{}", stored.text);
    let gate = &client.door.bounds.gates.downloads;
    let all = gate.available_permits();
    let begun = client.begin(Request::get(path), Body::empty()).await;
    assert_eq!((begun.status().as_u16(), gate.available_permits()), (200, all - 1));
    let full = client.fill(gate);
    let refused = client.get(path).await;
    assert_eq!((refused.status.as_u16(), refused.header(&RETRY_AFTER)), (503, Some("1")), "{}", refused.text);
    drop((begun, full));
    assert_eq!(gate.available_permits(), all);
    let _full = client.fill(&client.door.bounds.gates.answer_bytes);
    let read = tokio::time::timeout(Duration::from_secs(5), client.get(path)).await.expect("it goes on");
    assert!(read.text == bytes, "{} bytes", read.text.len());
}
