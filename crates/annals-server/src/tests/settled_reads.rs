//! Reads as of a moment show the same for ever, although the append of a record of that moment takes long.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use annals::log::{Appended, Call, Log, MemoryLog, ReadLimit};
use annals::storage::MemoryStore;
use annals::{Instant, Options, Position, Repository, Result};
use axum::body::Body;
use http::header::{ACCEPT, CONTENT_TYPE, HOST};
use http::{Request, StatusCode};
use http_body_util::BodyExt;
use serde_json::json;
use tower::ServiceExt;

use crate::bounds::limits::Limits;
use crate::ldp::{LdpSettings, Sources};
use crate::request::door::Door;
use crate::request::hosts::Hosts;
use crate::serving::router::router;

/// How long an append takes while the log is slow.
const APPEND_TIME: Duration = Duration::from_millis(300);

/// Longest wait of an append that is held. Units: milliseconds and more.
const HELD_STEPS_MAX: usize = 20_000;

/// A log whose appends take long, or wait while they are held.
#[derive(Default)]
struct SlowLog {
    inner: MemoryLog,
    is_slow: AtomicBool,
    is_held: AtomicBool,
}

impl Log for SlowLog {
    fn tail(&self) -> Result<Position> {
        self.inner.tail()
    }

    fn append_call(&self, call: &Call<'_>) -> Appended {
        if self.is_slow.load(Ordering::SeqCst) {
            std::thread::sleep(APPEND_TIME);
        }
        // Bounded: after a failure the repository waits for its appends.
        for _ in 0..HELD_STEPS_MAX {
            if !self.is_held.load(Ordering::SeqCst) {
                break;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        self.inner.append_call(call)
    }

    fn read(&self, from: Position, limit: ReadLimit) -> Result<Vec<Vec<u8>>> {
        self.inner.read(from, limit)
    }

    fn describe(&self) -> String {
        "slow log".to_owned()
    }
}

#[derive(Clone)]
struct Client(axum::Router);

impl Client {
    /// A server on a log, with an entity, an item of a tree, and a resource. Its requests wait for half a second.
    async fn on(log: &Arc<SlowLog>) -> Client {
        let options = Options { contents: Some(Arc::new(MemoryStore::new())), ..Options::default() };
        let repository = Repository::with_log(Arc::clone(log) as Arc<dyn Log>, options).expect("it opens");
        let hosts = Hosts::new(IpAddr::V4(Ipv4Addr::LOCALHOST), Vec::new(), Vec::new(), None);
        let ldp = LdpSettings {
            root: "/ldp".parse().expect("a path"),
            is_if_match_required: false,
            external: Sources::new(Vec::new(), 0),
            web_access: None,
        };
        let limits = Limits { visible_time: 2 * APPEND_TIME, ..Limits::default() };
        let door = Arc::new(Door::new(limits, hosts, "urn:test".into()));
        door.open(repository).expect("a thread");
        let client = Client(router(&door, Some(ldp)));
        let contains = json!({"action": "define-type", "type": {"kind": "relationship", "name": "contains", "containment": {}}});
        let entity =
            json!({"action": "create", "kind": "entity", "id": "a", "type": "t", "properties": {"n": 1}});
        let made = json!({ "operations": [contains, entity] }).to_string();
        assert_eq!(client.ask("POST", "/v1/transactions", "application/json", &made).await.0, StatusCode::OK);
        let item = json!({"$type": "t", "n": 1}).to_string();
        let made = client.ask("PUT", "/v1/tree/c", "application/json", &item).await;
        assert_eq!(made.0, StatusCode::CREATED, "{}", made.1);
        client
    }

    async fn ask(&self, method: &str, path: &str, media_type: &str, body: &str) -> (StatusCode, String) {
        let request = Request::builder().method(method).uri(path).header(CONTENT_TYPE, media_type);
        let accepted = if path.starts_with("/ldp") { "application/n-triples" } else { "*/*" };
        let request = request.header(HOST, "localhost").header(ACCEPT, accepted);
        let request = request.body(Body::from(body.to_owned())).expect("a request");
        let answer = self.0.clone().oneshot(request).await.unwrap_or_else(|never| match never {});
        let (head, body) = answer.into_parts();
        let bytes = body.collect().await.expect("a body").to_bytes();
        (head.status, String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Changes the entity and the item in one record, in the background.
    fn change(&self, n: i64) -> tokio::task::JoinHandle<()> {
        let client = self.clone();
        tokio::spawn(async move {
            let update = json!({"action": "update", "kind": "entity", "id": "a", "patch": {"n": n}});
            let set = json!({"action": "put-tree", "path": "/c/n", "value": n});
            let body = json!({ "operations": [update, set] }).to_string();
            let (status, text) = client.ask("POST", "/v1/transactions", "application/json", &body).await;
            assert_eq!(status, StatusCode::OK, "{text}");
        })
    }
}

/// The reads as of an instant, and the difference since another one. Shape: method, path, body.
fn reads(since: Instant, at: Instant) -> Vec<(&'static str, String, String)> {
    let get = |path: String| ("GET", path, String::new());
    vec![
        get(format!("/v1/entities/a?at={at}")),
        get(format!("/v1/tree/c?at={at}")),
        get(format!("/v1/tree-diff/c?from={since}&to={at}")),
        get(format!("/v1/export?at={at}")),
        ("POST", "/v1/find".to_owned(), json!({"where": "n > 0", "at": at.to_string()}).to_string()),
    ]
}

/// Story: an append took 300 ms. A read as of a moment in between showed the state without the record, and the same read
/// later showed it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_read_as_of_a_moment_is_the_same_after_a_slow_append() {
    let log = Arc::new(SlowLog::default());
    let client = Client::on(&log).await;
    log.is_slow.store(true, Ordering::SeqCst);
    let made = Instant::now();
    for (number, kind) in (7_002..).zip(0..reads(made, made).len()) {
        let changed = client.change(number);
        tokio::time::sleep(APPEND_TIME / 4).await;
        let (method, path, body) = reads(made, Instant::now()).swap_remove(kind);
        let first = client.ask(method, &path, "application/json", &body).await;
        changed.await.expect("it was changed");
        let again = client.ask(method, &path, "application/json", &body).await;
        assert_eq!(first, again, "{method} {path}");
        assert_eq!(first.0, StatusCode::OK, "{path}: {}", first.1);
        assert!(first.1.contains(&number.to_string()), "{path}: {}", first.1);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_read_as_of_a_moment_waits_a_bounded_time_and_the_present_does_not_wait() {
    let log = Arc::new(SlowLog::default());
    let client = Client::on(&log).await;
    let before = Instant::now();
    tokio::time::sleep(Duration::from_millis(2)).await;
    log.is_held.store(true, Ordering::SeqCst);
    let changed = client.change(2);
    tokio::time::sleep(APPEND_TIME).await;
    let now = Instant::now();
    for ((method, path, body), (_, earlier, earlier_body)) in
        reads(before, now).into_iter().zip(reads(before, before))
    {
        let (status, text) = client.ask(method, &path, "application/json", &body).await;
        assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE, "{path}: {text}");
        assert!(text.contains("not-visible") && text.contains("try again"), "{text}");
        let (status, text) = client.ask(method, &earlier, "application/json", &earlier_body).await;
        assert_eq!(status, StatusCode::OK, "{earlier}: {text}");
    }
    assert_eq!(client.ask("GET", "/v1/entities/a", "", "").await.0, StatusCode::OK);
    let (status, text) = client.ask("GET", "/v1/entities/a?at=2999-01-01", "", "").await;
    assert!(status == StatusCode::BAD_REQUEST && text.contains("future-instant"), "{text}");
    log.is_held.store(false, Ordering::SeqCst);
    changed.await.expect("it was changed");
    let (status, text) = client.ask("GET", &format!("/v1/entities/a?at={now}"), "", "").await;
    assert!(status == StatusCode::OK && text.contains("\"n\":2"), "{text}");
}

/// Story: a memento was read a moment after its second, and a record of that second became durable later.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_memento_is_the_same_after_a_slow_append() {
    let log = Arc::new(SlowLog::default());
    let client = Client::on(&log).await;
    let micros = Instant::now().micros();
    let left = u64::try_from(1_000_000 - micros % 1_000_000).expect("a part of a second");
    tokio::time::sleep(Duration::from_micros(left)).await;
    let second: String =
        Instant::now().to_string().bytes().filter(u8::is_ascii_digit).take(14).map(char::from).collect();
    let put = |n: i64| {
        let client = client.clone();
        async move { client.ask("PUT", "/ldp/m", "text/turtle", &format!("<> <urn:n> {n} .")).await }
    };
    assert_eq!(put(1).await.0, StatusCode::CREATED);
    log.is_held.store(true, Ordering::SeqCst);
    let changed = tokio::spawn(put(2));
    tokio::time::sleep(Duration::from_millis(1_200)).await;
    let memento = format!("/ldp/m/fcr:versions/{second}");
    let early = {
        let (client, memento) = (client.clone(), memento.clone());
        tokio::spawn(async move { client.ask("GET", &memento, "", "").await })
    };
    tokio::time::sleep(APPEND_TIME).await;
    log.is_held.store(false, Ordering::SeqCst);
    let (early, changed) = (early.await.expect("it was read"), changed.await.expect("it was changed"));
    assert_eq!(changed.0, StatusCode::NO_CONTENT, "{}", changed.1);
    let again = client.ask("GET", &memento, "", "").await;
    assert_eq!(early, again);
    assert!(again.0 == StatusCode::OK && again.1.contains("\"2\""), "{}", again.1);
}
