//! Requests that come again with the header Idempotency-Key.

use std::sync::Barrier;

use serde_json::{Value as Json, json};

use crate::support::{Answer, Server, server, try_request};

fn send(server: &Server, method: &str, path: &str, key: &str, body: Option<&Json>) -> Answer {
    let body = body.map(Json::to_string);
    let headers = [("content-type", "application/json"), ("idempotency-key", key)];
    server.request(method, path, &headers, body.as_deref())
}

fn is_replayed(answer: &Answer) -> bool {
    answer.header("idempotent-replayed") == Some("true")
}

#[test]
fn a_repeat_gets_the_first_receipt_also_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data");
    let server = Server::start(&path, &[]);
    let new = json!({"id": "a", "type": "t", "properties": {"n": 1}});
    let first = send(&server, "POST", "/v1/entities", "one", Some(&new));
    assert_eq!((first.status, is_replayed(&first)), (201, false), "{first:?}");
    let receipt = |server: &Server| {
        let again = send(server, "POST", "/v1/entities", "one", Some(&new));
        assert_eq!((again.status, is_replayed(&again)), (200, true), "{again:?}");
        assert_eq!(again.json()["position"].to_string(), first.header("annals-position").unwrap());
        again.json()
    };
    let known = receipt(&server);
    // The draft of the header has quotation marks.
    assert_eq!(send(&server, "POST", "/v1/entities", "\"one\"", Some(&new)).json(), known);
    assert_eq!(server.send("DELETE", "/v1/entities/a", &Json::Null).status, 200);
    server.terminate();
    assert!(server.ended_well());
    let server = Server::start(&path, &[]);
    assert_eq!(receipt(&server), known);
    assert_eq!(server.get("/v1/entities/a").status, 410);
}

#[test]
fn tries_at_once_commit_once() {
    let (_folder, server) = server(&[]);
    for round in 0..20 {
        let start = Barrier::new(8);
        let new = json!({"operations": [
            {"action": "create", "kind": "entity", "id": format!("a{round}"), "type": "t"},
            {"action": "create", "kind": "entity", "type": "t"},
        ]});
        let key = format!("round {round}");
        let answers: Vec<Answer> = std::thread::scope(|scope| {
            let tries: Vec<_> = (0..8)
                .map(|_| {
                    scope.spawn(|| {
                        start.wait();
                        send(&server, "POST", "/v1/transactions", &key, Some(&new))
                    })
                })
                .collect();
            tries.into_iter().map(|one| one.join().unwrap()).collect()
        });
        assert!(answers.iter().all(|answer| answer.status == 200), "{answers:?}");
        assert_eq!(answers.iter().filter(|answer| !is_replayed(answer)).count(), 1, "{answers:?}");
        let expected = answers[0].json();
        assert_eq!((&expected["changes"], expected["ids"].as_array().map(Vec::len)), (&json!(2), Some(2)));
        assert!(answers.iter().all(|answer| answer.json() == expected), "{answers:?}");
        assert_eq!(server.get("/health/ready").json()["position"], round + 1);
    }
}

#[test]
fn keys_that_cannot_be_kept_are_refused() {
    let (_folder, server) = server(&["--ldp-root", "/rest"]);
    let new = json!({"id": "a", "type": "t"});
    assert_eq!(send(&server, "POST", "/v1/entities", "one", Some(&new)).status, 201);
    let refused = |method: &str, path: &str, key: &str, body: Option<&Json>, part: &str| {
        let answer = send(&server, method, path, key, body);
        assert_eq!((answer.status, answer.problem().as_str()), (400, "invalid-argument"), "{answer:?}");
        assert!(answer.body.contains(part), "{answer:?}");
    };
    refused(
        "POST",
        "/v1/relationships",
        "one",
        Some(&json!({"type": "t", "from": "a", "to": "a"})),
        "another request",
    );
    refused("DELETE", "/v1/entities/a", "one", None, "another request");
    refused("POST", "/v1/entities", "", Some(&new), "1 to 255 bytes");
    refused("POST", "/v1/entities", &"k".repeat(256), Some(&new), "found 256");
    refused("POST", "/v1/candidates", "two", Some(&json!({"name": "night"})), "keeps the key");
    assert_eq!(server.send("POST", "/v1/candidates", &json!({"name": "night"})).status, 201);
    refused("POST", "/v1/entities?candidate=night", "two", Some(&new), "keeps the key");
    // No description has this door.
    let headers = [("content-type", "text/turtle"), ("idempotency-key", "two")];
    let answer = try_request(server.address, "PUT", "/rest/x", &headers, Some("<> <urn:n> 0 .")).unwrap();
    assert_eq!(answer.status, 400, "{answer:?}");
    // A read is a read.
    assert_eq!(send(&server, "GET", "/v1/entities/a", "one", None).status, 200);
    // A failed request leaves no key.
    assert_eq!(send(&server, "POST", "/v1/entities", "three", Some(&new)).status, 409);
    assert_eq!(send(&server, "DELETE", "/v1/entities/a", "three", None).status, 200);
}
