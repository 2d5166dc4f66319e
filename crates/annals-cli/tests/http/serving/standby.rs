//! Servers on one log in PostgreSQL: one writes, and the others follow it, stand by, and send writes on.

use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};

use super::beside_a_writer::{create, until};
use crate::http::connection::nginx::Nginx;
use crate::postgres::{self, shared};
use crate::support::{Answer, Server, try_request};

/// Longest time until another server writes. The lease takes three seconds of it.
pub(super) const TAKEOVER_MAX: Duration = Duration::from_secs(20);

/// The place of a log that no other test has.
pub(super) fn new_place() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    format!("postgres://annals@127.0.0.1:{}/library?schema=served_{number}", shared().port)
}

pub(super) fn start(place: &str, arguments: &[&str]) -> Server {
    Server::start(Path::new(place), arguments)
}

pub(super) fn address(server: &Server) -> String {
    format!("http://{}", server.address)
}

pub(super) fn role(server: &Server) -> Json {
    server.get("/health/ready").json()["role"].clone()
}

/// Waits until it writes, with a record of its own.
pub(super) fn writes(server: &Server, id: &str) {
    let start = Instant::now();
    loop {
        let answer = create(server, id);
        if answer.status == 201 {
            return;
        }
        assert_eq!((answer.status, answer.problem().as_str()), (503, "not-writer"), "{answer:?}");
        assert!(start.elapsed() < TAKEOVER_MAX, "nobody writes: {answer:?}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Requests that write, of each door. Shape: `[(method, path, media type, body)]`.
fn all_writes() -> Vec<(&'static str, &'static str, &'static str, String)> {
    let json = "application/json";
    let operations =
        json!({"operations": [{"action": "create", "kind": "entity", "id": "x", "type": "thing"}]});
    let lease = json!({"name": "l", "seconds": 60});
    let line = "{\"entity\": {\"id\": \"x\", \"type\": \"thing\"}}\n";
    vec![
        ("POST", "/v1/entities", json, json!({"id": "x", "type": "thing"}).to_string()),
        ("POST", "/v1/transactions", json, operations.to_string()),
        ("PATCH", "/v1/entities/a", json, json!({"n": 1}).to_string()),
        ("DELETE", "/v1/entities/a", json, String::new()),
        ("DELETE", "/v1/entities/a?inSteps=true", json, String::new()),
        ("PUT", "/v1/tree/x", json, json!({"n": 1}).to_string()),
        ("POST", "/v1/types", json, json!({"types": [{"kind": "entity", "name": "t"}]}).to_string()),
        ("POST", "/v1/candidates", json, json!({"name": "c"}).to_string()),
        ("POST", "/v1/import", "application/x-ndjson", line.to_owned()),
        ("PUT", "/v1/content/a", "text/plain", "bytes".to_owned()),
        ("POST", "/v1/leases", json, lease.to_string()),
        ("POST", "/v1/leases/l/renew", json, json!({"seconds": 60}).to_string()),
        ("POST", "/v1/compactions", json, String::new()),
        ("PUT", "/ldp/x", "text/turtle", "<> <http://a.example/n> 1 .".to_owned()),
        ("POST", "/ldp/", "text/plain", "bytes".to_owned()),
    ]
}

fn send(server: &Server, (method, path, media_type, body): &(&str, &str, &str, String)) -> Answer {
    let body = (!body.is_empty()).then_some(body.as_str());
    server.request(method, path, &[("content-type", media_type)], body)
}

#[test]
fn every_server_reads_and_sends_writes_on_to_the_one_that_writes() {
    let place = new_place();
    let writer = start(&place, &[]);
    let standby = start(&place, &["--standby"]);
    let follower = start(&place, &["--read-only"]);
    let position = create(&writer, "a").header("annals-position").unwrap().to_owned();
    for server in [&standby, &follower] {
        let read = server.request("GET", "/v1/entities/a", &[("annals-wait-position", &position)], None);
        assert_eq!(read.status, 200, "{read:?}");
        until(server, "/health/ready", |answer| answer.json()["writer"] == address(&writer));
        for request in all_writes() {
            let refused = send(server, &request);
            assert_eq!((refused.status, refused.problem().as_str()), (503, "not-writer"), "{request:?}");
            assert_eq!(refused.header("annals-writer"), Some(&*address(&writer)), "{request:?}");
        }
        for path in ["/v1/leases", "/v1/operational/x"] {
            let refused = server.get(path);
            assert_eq!((refused.status, refused.problem().as_str()), (503, "not-writer"), "{refused:?}");
            assert_eq!(refused.header("annals-writer"), Some(&*address(&writer)), "{refused:?}");
        }
        // A search in JSON writes nothing.
        let search = json!({"kind": "entity", "type": "thing"});
        assert_eq!(server.send("POST", "/v1/find", &search).status, 200);
    }
    assert_eq!([&writer, &standby, &follower].map(role), ["writer", "standby", "follower"]);
    let ready = standby.get("/health/ready").json();
    assert_eq!((&ready["term"], &ready["lag"], &ready["readOnly"]), (&json!(1), &json!(0), &json!(true)));
    let metrics = [&writer, &standby].map(|server| server.get("/metrics").body);
    assert!(metrics[0].contains("annals_writer 1\n") && metrics[0].contains("annals_writer_term 1\n"));
    assert!(
        metrics[1].contains("annals_writer 0\n") && metrics[1].contains("annals_follower_lag_records 0\n")
    );
    // No other one comes in while the writer lives.
    let other = Command::new(env!("CARGO_BIN_EXE_annals"))
        .args(["serve", &place, "--listen", "127.0.0.1:0", "--log", "off"])
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&other.stderr);
    assert_eq!(other.status.code(), Some(4), "{told}");
    assert!(told.contains("[locked]") && told.contains(&address(&writer)), "{told}");
}

#[test]
fn a_standby_takes_over_from_a_killed_writer_and_has_all_that_it_acknowledged() {
    let place = new_place();
    let mut writer = start(&place, &["--standby"]);
    let standby = start(&place, &["--standby"]);
    let (acknowledged, is_over) = (Mutex::new(Vec::new()), AtomicBool::new(false));
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (acknowledged, is_over, address) = (&acknowledged, &is_over, writer.address);
            scope.spawn(move || {
                for number in 0.. {
                    let id = format!("e{thread}-{number}");
                    let body = json!({"id": id, "type": "thing"}).to_string();
                    match try_request(address, "POST", "/v1/entities", &[], Some(&body)) {
                        Some(answer) if answer.status == 201 => acknowledged.lock().unwrap().push(id),
                        _ if is_over.load(Ordering::Relaxed) => return,
                        answer => assert!(answer.is_none(), "{answer:?}"),
                    }
                }
            });
        }
        while acknowledged.lock().unwrap().len() < 200 {
            std::thread::sleep(Duration::from_millis(5));
        }
        is_over.store(true, Ordering::Relaxed);
        writer.kill_and_wait();
    });
    let start_of_takeover = Instant::now();
    writes(&standby, "after");
    println!("the standby writes after {:?}", start_of_takeover.elapsed());
    for id in acknowledged.into_inner().unwrap() {
        assert_eq!(standby.get(&format!("/v1/entities/{id}")).status, 200, "{id} was acknowledged");
    }
    assert_eq!(role(&standby), "writer");
    // The one that was killed comes back and stands by.
    let again = start(&place, &["--standby"]);
    assert_eq!(role(&again), "standby");
    let refused = create(&again, "x");
    assert_eq!((refused.status, refused.problem().as_str()), (503, "not-writer"), "{refused:?}");
    // A writer that is told to stop hands over at once.
    standby.terminate();
    assert!(standby.ended_well());
    writes(&again, "later");
    assert_eq!(again.get("/v1/entities/after").status, 200);
}

/// A server that stood still woke up with leases of a term that is over.
#[test]
fn leases_end_with_the_term_of_their_server() {
    let place = new_place();
    let first = start(&place, &["--standby"]);
    let second = start(&place, &["--standby"]);
    writes(&first, "a");
    let lease = json!({"name": "driver", "seconds": 600});
    assert_eq!(first.send("POST", "/v1/leases", &lease).status, 201);
    first.stand_still();
    writes(&second, "b");
    assert_eq!(second.get("/v1/leases").json()["items"], json!([]));
    first.go_on();
    let renewed = until(&first, "/v1/leases", |answer| answer.status == 503);
    assert_eq!(renewed.problem(), "not-writer", "{renewed:?}");
    second.terminate();
    assert!(second.ended_well());
    writes(&first, "c");
    assert_eq!(first.get("/v1/leases").json()["items"], json!([]), "its lease was of another term");
    assert_eq!(first.send("POST", "/v1/leases", &lease).status, 201);
}

#[test]
fn the_packaged_proxy_sends_writes_on_to_the_server_that_writes() {
    let place = new_place();
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["--standby", "--host", "annals.example"];
    let (mut first, second) = (start(&place, &arguments), start(&place, &arguments));
    writes(&first, "first");
    let Some(nginx) = Nginx::before_two(folder.path(), [first.address, second.address]) else {
        eprintln!("skipped: there is no nginx");
        return;
    };
    let send = |method: &str, path: &str, body: Option<&str>| {
        try_request(nginx.address, method, path, &[("host", "annals.example")], body).expect("nginx answers")
    };
    for number in 0..20 {
        let body = json!({"id": format!("a{number}"), "type": "thing"}).to_string();
        let written = send("POST", "/v1/entities", Some(&body));
        assert_eq!(written.status, 201, "{written:?}");
        let path = format!("/v1/entities/a{number}");
        let changed = send("PATCH", &path, Some("{\"n\": 1}"));
        assert_eq!(changed.status, 200, "{changed:?}");
        let position = changed.header("annals-position").unwrap();
        let headers = [("host", "annals.example"), ("annals-wait-position", position)];
        let read = try_request(nginx.address, "GET", &path, &headers, None).unwrap();
        assert_eq!((read.status, &read.json()["properties"]["n"]), (200, &json!(1)), "{read:?}");
    }
    let search = send("POST", "/v1/find", Some("{\"kind\": \"entity\", \"type\": \"thing\"}"));
    assert_eq!(search.status, 200, "{search:?}");
    assert_eq!(send("GET", "/v1/leases", None).status, 200);
    first.kill_and_wait();
    let start = Instant::now();
    let written = loop {
        // The proxy once answered 502, which says nothing of the outcome.
        std::thread::sleep(Duration::from_millis(50));
        let body = json!({"type": "thing"}).to_string();
        let answer = send("POST", "/v1/entities", Some(&body));
        if answer.status == 201 {
            break start.elapsed();
        }
        assert!(answer.status == 503 && start.elapsed() < TAKEOVER_MAX, "{answer:?}");
    };
    println!("the first write through the proxy after {written:?}");
    for _ in 0..10 {
        assert_eq!(send("GET", "/v1/entities/a1", None).status, 200);
    }
}

/// A follower was ready for ever, however long it had not reached its log.
#[test]
fn without_the_store_all_servers_read_and_none_takes_over_and_all_goes_on_behind_it() {
    let mut store = postgres::Server::start(&[]);
    let place = format!("postgres://annals@127.0.0.1:{}/library", store.port);
    let (writer, standby) = (start(&place, &[]), start(&place, &["--standby"]));
    store
        .sql("grant usage on schema annals to reader; grant select on all tables in schema annals to reader");
    // It needs no other right.
    let follower = start(&place.replace("annals@", "reader@"), &["--read-only"]);
    writes(&writer, "a");
    until(&follower, "/v1/entities/a", |answer| answer.status == 200);
    until(&standby, "/v1/entities/a", |answer| answer.status == 200);
    store.kill();
    let outcome = create(&writer, "b");
    let told = (outcome.status, outcome.problem());
    let is_told = [(503, "unavailable"), (504, "outcome-unknown")];
    assert!(is_told.iter().any(|(status, kind)| (*status, *kind) == (told.0, &*told.1)), "{outcome:?}");
    for server in [&standby, &follower] {
        let stale = until(server, "/health/ready", |answer| answer.status == 503);
        assert_eq!((stale.status, stale.problem().as_str()), (503, "unavailable"), "{stale:?}");
        let told = stale.json();
        assert!(told["ageSeconds"].as_f64().unwrap() > 10.0 && told["problem"].is_string(), "{told}");
        assert!(server.get("/metrics").body.contains("annals_follower_failing 1\n"));
    }
    assert!(writer.get("/health/ready").json()["leaseProblem"].is_string());
    assert!(writer.get("/metrics").body.contains("annals_lease_failing 1\n"));
    assert_eq!(create(&standby, "x").problem(), "not-writer", "it did not take over");
    for server in [&writer, &standby, &follower] {
        assert_eq!(server.get("/v1/entities/a").status, 200);
        assert_eq!(server.get("/health/live").status, 200);
    }
    store.run();
    let start = Instant::now();
    while ![&writer, &standby].iter().any(|server| create(server, "c").status == 201) {
        assert!(start.elapsed() < TAKEOVER_MAX, "nobody writes again");
    }
    for server in [&writer, &standby, &follower] {
        assert_eq!(until(server, "/health/ready", |answer| answer.status == 200).status, 200);
        assert_eq!(until(server, "/v1/entities/c", |answer| answer.status == 200).status, 200);
        let found = server.get("/v1/entities/b").status;
        assert!(
            found == 404 || found == 200 && outcome.status == 504,
            "503 says that nothing was written: {found}"
        );
    }
}

#[test]
fn a_cache_holds_checkpoints_and_an_address_may_be_told() {
    let place = new_place();
    let folder = tempfile::tempdir().unwrap();
    let cache = folder.path().join("cache");
    let with_cache = ["--cache", cache.to_str().unwrap(), "--address", "https://one.example"];
    let server = start(&place, &with_cache);
    let many: Vec<Json> = (0..4_000)
        .map(|number| json!({"action": "create", "kind": "entity", "id": format!("e{number}"), "type": "thing", "properties": {"text": "x".repeat(200)}}))
        .collect();
    server.commit(&many);
    let follower = start(&place, &["--read-only"]);
    let told = until(&follower, "/health/ready", |answer| answer.json()["writer"] == "https://one.example");
    assert_eq!(told.json()["writer"], "https://one.example", "{told:?}");
    server.terminate();
    assert!(server.ended_well());
    let of_log: Vec<_> = std::fs::read_dir(&cache).unwrap().flatten().collect();
    assert_eq!(of_log.len(), 1, "a folder for the log");
    let checkpoints = std::fs::read_dir(of_log[0].path()).unwrap().flatten();
    assert!(checkpoints.count() > 0, "a checkpoint at its end");
    let again = start(&place, &with_cache);
    assert_eq!(again.get("/v1/entities/e3999").status, 200);
    assert_eq!(again.get("/health/ready").json()["warnings"], json!([]));
}

/// A client that lost its answer sends the write to the next server, with its key.
#[test]
fn a_write_that_comes_again_after_a_takeover_is_committed_once() {
    let place = new_place();
    let first = start(&place, &[]);
    let second = start(&place, &["--standby"]);
    let body = json!({"operations": [{"action": "create", "kind": "entity", "type": "thing"}]}).to_string();
    let send = |server: &Server, key: &str| {
        let headers = [("content-type", "application/json"), ("idempotency-key", key)];
        server.request("POST", "/v1/transactions", &headers, Some(&body))
    };
    let known = send(&first, "one");
    assert_eq!((known.status, known.header("idempotent-replayed")), (200, None), "{known:?}");
    let position = known.header("annals-position").unwrap().to_owned();
    let read = second.request("GET", "/v1/types", &[("annals-wait-position", &position)], None);
    assert_eq!(read.status, 200, "{read:?}");
    // A standby has the receipt of what it has read, and sends other writes on.
    let again = send(&second, "one");
    assert_eq!((again.status, again.json()), (200, known.json()), "{again:?}");
    assert_eq!(send(&second, "two").status, 503);
    first.kill();
    writes(&second, "after");
    let again = send(&second, "one");
    assert_eq!(
        (again.header("idempotent-replayed"), again.json()),
        (Some("true"), known.json()),
        "{again:?}"
    );
    assert_eq!(send(&second, "two").header("idempotent-replayed"), None);
}

/// Log, contents, checkpoints and register are in one bucket.
#[test]
fn a_standby_takes_over_a_log_in_s3_with_its_contents() {
    let moto = crate::moto::shared();
    moto.make_bucket("logs");
    let folder = tempfile::tempdir().unwrap();
    let key = folder.path().join("key");
    std::fs::write(&key, "[default]\naws_access_key_id=annals\naws_secret_access_key=hunter2\n").unwrap();
    std::fs::set_permissions(&key, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    let (port, key) = (moto.port, key.display());
    let place = format!("s3://logs/annals?endpoint=http://127.0.0.1:{port}&credentials-file={key}");
    let mut writer = start(&place, &["--standby"]);
    let standby = start(&place, &["--standby"]);
    writes(&writer, "a");
    let content = try_request(
        writer.address,
        "PUT",
        "/v1/content/scan?type=book",
        &[("content-type", "text/plain")],
        Some("bytes of a book"),
    );
    assert!(content.is_some_and(|answer| answer.status < 300));
    for number in 0..10 {
        assert_eq!(create(&writer, &format!("e{number}")).status, 201);
    }
    until(&standby, "/health/ready", |answer| answer.json()["writer"] == address(&writer));
    let refused = create(&standby, "x");
    assert_eq!((refused.status, refused.problem().as_str()), (503, "not-writer"), "{refused:?}");
    let told = [writer.get("/metrics").body, writer.get("/health/ready").body].concat();
    assert!(!told.contains("hunter"), "{told}");
    writer.kill_and_wait();
    writes(&standby, "after");
    for number in 0..10 {
        assert_eq!(standby.get(&format!("/v1/entities/e{number}")).status, 200, "it was acknowledged");
    }
    assert_eq!(standby.get("/v1/content/scan").body, "bytes of a book");
    let again = start(&place, &["--standby"]);
    assert_eq!(role(&again), "standby");
    let compacted = standby.request("POST", "/v1/compactions", &[], None);
    assert!(compacted.status < 300, "{compacted:?}");
    standby.terminate();
    assert!(standby.ended_well());
    writes(&again, "later");
    assert_eq!(again.get("/v1/content/scan").body, "bytes of a book");
    // Another log has its objects elsewhere.
    let other = Command::new(env!("CARGO_BIN_EXE_annals"))
        .args([
            "serve",
            &new_place(),
            "--create",
            "--listen",
            "127.0.0.1:0",
            "--log",
            "off",
            "--objects",
            &place,
        ])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&other.stderr);
    assert!(said.contains("give each log a prefix of its own") && !said.contains("hunter"), "{said}");
}
