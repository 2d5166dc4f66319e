//! Acknowledged changes are there: after a crash, after a stop, and for a follower.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::json;

use crate::support::{Answer, Server, server, try_request};

/// Writes from several threads until `until` returns; gives the ids that were acknowledged.
fn write_until(server: &Server, until: impl FnOnce()) -> Vec<String> {
    let acknowledged = Mutex::new(Vec::new());
    let is_done = AtomicBool::new(false);
    let address = server.address;
    std::thread::scope(|scope| {
        for writer in 0..8 {
            let (acknowledged, is_done) = (&acknowledged, &is_done);
            scope.spawn(move || {
                for number in 0.. {
                    let id = format!("w{writer}-{number}");
                    let body =
                        json!({"id": id, "type": "thing", "properties": {"writer": writer}}).to_string();
                    let headers = [("content-type", "application/json")];
                    match try_request(address, "POST", "/v1/entities", &headers, Some(&body)) {
                        Some(answer) if answer.status == 201 => acknowledged.lock().unwrap().push(id),
                        Some(answer) => assert_eq!(answer.status, 503, "{answer:?}"),
                        None if is_done.load(Ordering::SeqCst) => return,
                        None => {}
                    }
                    if is_done.load(Ordering::SeqCst) {
                        return;
                    }
                }
            });
        }
        std::thread::sleep(Duration::from_millis(400));
        until();
        is_done.store(true, Ordering::SeqCst);
    });
    acknowledged.into_inner().unwrap()
}

fn assert_all_there(server: &Server, ids: &[String]) {
    assert!(ids.len() > 20, "only {} writes in all", ids.len());
    for id in ids {
        assert_eq!(
            server.get(&format!("/v1/entities/{id}")).status,
            200,
            "{id} was acknowledged and is lost"
        );
    }
}

#[test]
fn a_crash_loses_nothing_acknowledged() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("repository");
    let server = Server::start(&path, &[]);
    let ids = write_until(&server, || server.kill());
    drop(server);
    assert_all_there(&Server::start(&path, &[]), &ids);
}

#[test]
fn a_stop_under_load_ends_well_and_loses_nothing_acknowledged() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("repository");
    let server = Server::start(&path, &[]);
    let ids = write_until(&server, || {
        server.terminate();
        std::thread::sleep(Duration::from_millis(100));
    });
    assert!(server.ended_well());
    assert_all_there(&Server::start(&path, &[]), &ids);
}

#[test]
fn a_stop_waits_for_the_request_in_flight() {
    use std::io::{BufReader, Write};
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("repository");
    let server = Server::start(&path, &[]);
    let body = r#"{"id":"late","type":"thing"}"#;
    let mut stream = server.connect();
    let head = format!(
        "POST /v1/entities HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    std::thread::sleep(Duration::from_millis(100));
    server.terminate();
    std::thread::sleep(Duration::from_millis(100));
    stream.write_all(body.as_bytes()).unwrap();
    let answer = crate::support::read_answer(&mut BufReader::new(stream), false).unwrap();
    assert_eq!((answer.status, answer.header("connection")), (201, Some("close")));
    assert!(server.ended_well());
    assert_eq!(Server::start(&path, &[]).get("/v1/entities/late").status, 200);
}

#[test]
fn a_follower_reads_what_the_writer_wrote_and_refuses_writes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("repository");
    let writer = Server::start(&path, &[]);
    let follower = Server::start(&path, &["--read-only", "--visible-time-ms", "3000"]);
    for number in 1..20 {
        let id = format!("e{number}");
        let created = writer.send("POST", "/v1/entities", &json!({"id": id, "type": "thing"}));
        let wait = [("annals-wait-position", created.header("annals-position").unwrap())];
        let read = follower.request("GET", &format!("/v1/entities/{id}"), &wait, None);
        assert_eq!(read.status, 200, "{read:?}");
    }
    let refused = follower.send("POST", "/v1/entities", &json!({"type": "thing"}));
    assert_eq!((refused.status, refused.problem().as_str()), (403, "read-only"));
}

#[test]
fn waiting_for_a_position_is_bounded() {
    let (_folder, server) = server(&["--visible-time-ms", "50"]);
    let wait = |position| server.request("GET", "/v1/types", &[("annals-wait-position", position)], None);
    assert_eq!(wait("0").status, 200);
    let refused = wait("1");
    assert_eq!((refused.status, refused.problem().as_str()), (503, "not-visible"));
    assert_eq!(refused.header("retry-after"), Some("1"));
    assert_eq!(wait("soon").problem(), "invalid-argument");
}

/// Creates entities of 4 KiB until one is refused; gives how many were created, and the refusal.
fn fill(server: &Server) -> (u64, Answer) {
    let text = "x".repeat(4_096);
    for number in 0..10_000 {
        let body = json!({"id": format!("e{number}"), "type": "thing", "properties": {"text": text}});
        let answer = server.send("POST", "/v1/entities", &body);
        if answer.status != 201 {
            return (number, answer);
        }
    }
    panic!("the limit was never reached");
}

fn refused_metric(server: &Server) -> bool {
    server.get("/metrics").body.contains("annals_writes_refused{kind=\"no-room\"} 1")
}

#[test]
fn a_limit_on_file_sizes_is_no_room_and_the_server_lives_reads_and_is_not_ready() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("repository");
    let server = Server::start_limited(&path, 600);
    assert!(!refused_metric(&server));
    let (created, refused) = fill(&server);
    assert_eq!((refused.status, refused.problem().as_str()), (507, "no-room"), "{refused:?}");
    assert!(created > 20, "{created}");
    let last = format!("/v1/entities/e{}", created - 1);
    assert_eq!(server.get(&last).status, 200);
    assert_eq!(server.get(&format!("/v1/entities/e{created}")).status, 404);
    // It looks for room by itself, and finds none.
    std::thread::sleep(Duration::from_millis(1_200));
    for _ in 0..2 {
        let ready = server.get("/health/ready");
        assert_eq!((ready.status, ready.problem().as_str()), (503, "writes-refused"), "{ready:?}");
        let body = ready.json();
        assert_eq!((&body["ready"], &body["refusal"]), (&json!(false), &json!("no-room")));
        assert!(body["detail"].as_str().unwrap().contains("nothing was written"), "{body}");
        assert_eq!(body["position"], created);
    }
    assert!(refused_metric(&server));
    assert_eq!(server.get("/health/live").status, 200);
    // A server that only reads has nothing to refuse.
    let follower = Server::start(&path, &["--read-only"]);
    assert_eq!(follower.get(&last).status, 200);
    assert_eq!(follower.get("/health/ready").json()["position"], created);
    server.terminate();
    assert!(server.ended_well());
    let server = Server::start(&path, &[]);
    assert_eq!(server.get(&last).status, 200);
    assert_eq!(server.send("POST", "/v1/entities", &json!({"type": "thing"})).status, 201);
}

/// `prlimit` gives the limit to a process that runs, and takes it away again.
#[test]
fn a_server_that_had_no_room_is_ready_again_when_there_is_some_though_nobody_writes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("repository");
    let server = Server::start(&path, &[]);
    if !server.limit_files("200000") {
        eprintln!("skipped: there is no prlimit");
        return;
    }
    let (created, refused) = fill(&server);
    assert_eq!((refused.status, refused.problem().as_str()), (507, "no-room"));
    assert_eq!(server.get("/health/ready").status, 503);
    assert!(server.limit_files("unlimited"));
    server.wait_until_ready();
    assert!(!refused_metric(&server));
    assert_eq!(server.get("/health/ready").json()["position"], created);
    assert_eq!(server.send("POST", "/v1/entities", &json!({"id": "after", "type": "thing"})).status, 201);
}

#[test]
fn a_clock_behind_the_last_record_is_told_at_the_start_and_when_asked() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("repository");
    let tomorrow = annals::Instant::from_micros(annals::Instant::now().micros() + 86_400_000_000).unwrap();
    let options = annals::Options { clock: std::sync::Arc::new(move || tomorrow), ..Default::default() };
    let repository = annals::Repository::open_with(&path, options).unwrap();
    repository.transact(|t| t.create_entity(annals::NewEntity::new("thing"))).unwrap();
    repository.close().unwrap();
    let errors = folder.path().join("errors");
    let server = Server::start_told(&path, &errors);
    let told = |text: &str| text.contains("23 hours ahead of the clock");
    for id in ["a", "b"] {
        assert_eq!(server.send("POST", "/v1/entities", &json!({"id": id, "type": "thing"})).status, 201);
    }
    let warnings = server.get("/health/ready").json()["warnings"].clone();
    assert!(warnings.as_array().is_some_and(|all| all.len() == 1), "{warnings}");
    assert!(told(warnings[0].as_str().unwrap()), "{warnings}");
    assert!(server.get("/metrics").body.contains("annals_warnings 1\n"));
    let printed = std::fs::read_to_string(errors).unwrap();
    assert!(printed.contains("WARN") && printed.contains("clock: ") && told(&printed), "{printed}");
}

#[test]
fn a_locked_folder_ends_the_server_with_a_clear_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("repository");
    let _writer = Server::start(&path, &[]);
    let second = Server::start_opening(&path, &[]);
    assert!(!second.ended_well());
}

#[test]
fn while_opening_the_server_lives_and_tells_how_far_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("repository");
    let repository = annals::Repository::open(&path).unwrap();
    for batch in 0..20 {
        let mut tickets = Vec::new();
        for number in 0..1_000 {
            let mut transaction = repository.transaction();
            let entity = annals::NewEntity::new("thing").property("number", batch * 1_000 + number);
            transaction.create_entity(entity).unwrap();
            tickets.push(transaction.submit().unwrap());
        }
        for ticket in tickets {
            ticket.wait().unwrap();
        }
    }
    repository.close().unwrap();
    let server = Server::start_opening(&path, &[]);
    let (ready, read) = (server.get("/health/ready"), server.get("/v1/entities"));
    assert_eq!(server.get("/health/live").status, 200);
    for answer in [ready, read] {
        if answer.status != 200 {
            assert_eq!((answer.status, answer.problem().as_str()), (503, "opening"));
            assert!(answer.json()["replayed"].is_u64() && answer.json()["records"].is_u64());
        }
    }
    let deadline = std::time::Instant::now() + Duration::from_secs(30);
    while server.get("/health/ready").status != 200 {
        assert!(std::time::Instant::now() < deadline);
    }
    assert_eq!(server.get("/health/ready").json()["position"], 20_000);
}
