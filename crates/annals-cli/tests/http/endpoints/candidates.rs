//! Candidates over HTTP: reads and writes that name one, conflicts, and commits that wait for a confirmation.

use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};

use crate::support::{Server, server};

fn filled() -> (tempfile::TempDir, Server) {
    let (folder, server) = server(&[]);
    assert_eq!(server.send("PUT", "/v1/tree/c", &json!({"a": 1, "b": {"x": 1}})).status, 201);
    let opened = server.send("POST", "/v1/candidates", &json!({"name": "night"}));
    assert_eq!((opened.status, &opened.json()["name"]), (201, &json!("night")));
    (folder, server)
}

fn items(server: &Server, path: &str) -> Vec<Json> {
    server.get(path).json()["items"].as_array().unwrap().clone()
}

#[test]
fn what_names_a_candidate_reads_and_writes_it_alone() {
    let (_folder, server) = filled();
    assert_eq!(server.send("PUT", "/v1/tree/c/a?candidate=night", &json!(2)).status, 200);
    let entity = json!({"id": "e", "type": "node", "properties": {"n": 1}});
    let created = server.send("POST", "/v1/entities?candidate=night", &entity);
    assert_eq!((created.status, created.json().get("id")), (201, None), "{created:?}");
    let update =
        json!({"operations": [{"action": "update", "kind": "entity", "id": "e", "patch": {"n": 2}}]});
    assert_eq!(server.send("POST", "/v1/transactions?candidate=night", &update).status, 200);
    assert_eq!(server.get("/v1/tree/c/a").body, "1");
    assert_eq!(server.get("/v1/entities/e").status, 404);
    assert_eq!(server.get("/v1/tree/c/a?candidate=night").body, "2");
    assert_eq!(server.get("/v1/entities/e?candidate=night").json()["properties"]["n"], 2);
    let found = server.get("/v1/entities?type=node&candidate=night").json();
    assert_eq!(found["items"].as_array().unwrap().len(), 1, "{found}");
    let edits = server.get("/v1/candidates/night/edits");
    assert_eq!(edits.json()["items"].as_array().unwrap().len(), 3);
    let first = server.get("/v1/candidates/night/edits?limit=2").json();
    assert_eq!((first["items"].as_array().unwrap().len(), &first["next"]), (2, &json!("2")));
    let rest = server.get("/v1/candidates/night/edits?limit=2&after=2").json();
    assert_eq!((rest["items"].as_array().unwrap().len(), &rest["next"]), (1, &json!(null)));
    let checked = server.get("/v1/candidates/night/check");
    assert_eq!(checked.status, 200);
    let committed = server.send("POST", "/v1/candidates/night/commit", &json!({}));
    assert_eq!(committed.status, 200, "{committed:?}");
    assert_eq!(server.get("/v1/tree/c/a").body, "2");
    assert_eq!(server.get("/v1/entities/e").json()["properties"]["n"], 2);
    assert!(items(&server, "/v1/candidates").is_empty());
}

#[test]
fn what_was_edited_before_is_there_for_the_next_edit_and_its_conditions() {
    let (_folder, server) = filled();
    let entity = json!({"type": "node", "properties": {"n": 1}});
    let put = |version: Option<&str>, n: i64| {
        let body = json!({"type": "node", "properties": {"n": n}}).to_string();
        let headers: Vec<(&str, &str)> = version.map(|version| ("if-match", version)).into_iter().collect();
        server.request("PUT", "/v1/entities/e?candidate=night", &headers, Some(&body))
    };
    assert_eq!(server.send("PUT", "/v1/entities/e?candidate=night", &entity).status, 201);
    assert_eq!(put(None, 2).status, 200);
    let tag = server.get("/v1/entities/e?candidate=night").header("etag").unwrap().to_owned();
    // A commit of another client leaves the tags of edits as they are.
    assert_eq!(server.send("PUT", "/v1/entities/other", &entity).status, 201);
    assert_eq!(put(Some(&tag), 3).status, 200);
    assert_eq!(put(Some(&tag), 4).problem(), "precondition-failed");
    let classify = |zone: &str| {
        let body = json!({"properties": {"zone": zone}});
        server.send("PUT", "/v1/entities/e/classifications/placed?candidate=night", &body).status
    };
    assert_eq!((classify("a"), classify("b")), (200, 200));
    assert_eq!(server.send("PUT", "/v1/tree/new?candidate=night", &json!({"x": 1})).status, 201);
    assert_eq!(server.send("PUT", "/v1/tree/new?candidate=night", &json!({"x": 2})).status, 200);
    assert_eq!(server.send("POST", "/v1/candidates/night/commit", &json!({})).status, 200);
    let committed = server.get("/v1/entities/e").json();
    let zone = &committed["classifications"]["placed"]["properties"]["zone"];
    assert_eq!((&committed["properties"]["n"], zone), (&json!(3), &json!("b")));
}

#[test]
fn conflicts_are_told_and_solved() {
    let (_folder, server) = filled();
    assert_eq!(server.send("PUT", "/v1/tree/c/a?candidate=night", &json!(2)).status, 200);
    assert_eq!(server.send("PUT", "/v1/tree/c/a", &json!(3)).status, 200);
    let refused = server.send("POST", "/v1/candidates/night/commit", &json!({}));
    assert_eq!((refused.status, &*refused.problem()), (412, "precondition-failed"));
    let told = server.get("/v1/candidates/night/conflicts");
    assert_eq!((&told.json()["items"][0]["reason"], &told.json()["count"]), (&json!("conflict"), &json!(1)));
    let checked = server.get("/v1/candidates/night/check");
    assert_eq!((checked.status, &*checked.problem()), (412, "precondition-failed"));
    let refused = server.send("POST", "/v1/candidates/night/rebase", &json!({}));
    assert_eq!(refused.status, 412);
    let rebased = server.send("POST", "/v1/candidates/night/rebase", &json!({"keep": "theirs"}));
    assert_eq!((rebased.status, rebased.json()["items"].as_array().unwrap().len()), (200, 1));
    assert_eq!(server.send("DELETE", "/v1/candidates/night", &json!(null)).status, 200);
    assert_eq!(server.get("/v1/tree/c/a").body, "3");
}

#[test]
fn a_commit_takes_itself_back_unless_it_is_confirmed() {
    let (_folder, server) = filled();
    for is_confirmed in [false, true] {
        assert_eq!(server.send("PUT", "/v1/tree/c/a?candidate=night", &json!(2)).status, 200);
        let within = if is_confirmed { "PT1H" } else { "PT0.5S" };
        let committed = server.send("POST", "/v1/candidates/night/commit", &json!({"confirmWithin": within}));
        assert_eq!(committed.status, 200, "{committed:?}");
        assert_eq!(server.get("/v1/tree/c/a").body, "2");
        let candidate = server.get("/v1/candidates/night");
        if is_confirmed {
            assert_eq!(candidate.json()["unconfirmed"]["position"], committed.json()["position"]);
            assert_eq!(server.send("POST", "/v1/candidates/night/confirm", &json!(null)).status, 200);
            assert_eq!(server.get("/v1/candidates/night").status, 404);
        } else {
            let start = Instant::now();
            while server.get("/v1/tree/c/a").body != "1" {
                assert!(start.elapsed() < Duration::from_secs(20), "it is taken back");
                std::thread::sleep(Duration::from_millis(50));
            }
            assert_eq!(server.get("/v1/tree/c/a?candidate=night").body, "2");
        }
    }
    assert_eq!(server.get("/v1/tree/c/a").body, "2");
}

#[test]
fn what_is_wrong_is_refused() {
    let (_folder, server) = filled();
    let cases = [
        ("POST", "/v1/candidates", json!({"name": "night"}), 409, "already-exists"),
        ("POST", "/v1/candidates", json!({"name": "a/b"}), 400, "invalid-argument"),
        ("POST", "/v1/candidates", json!({"nam": "x"}), 400, "invalid-argument"),
        ("POST", "/v1/candidates/none/commit", json!({}), 404, "not-found"),
        ("POST", "/v1/candidates/night/commit", json!({"confirmWithin": "soon"}), 400, "invalid-argument"),
        ("POST", "/v1/candidates/night/commit", json!({"confirmWithin": "-PT1S"}), 400, "invalid-argument"),
        ("POST", "/v1/candidates/night/commit", json!({"confirmWithin": "P4000D"}), 400, "invalid-argument"),
        ("POST", "/v1/candidates/night/rebase", json!({"keep": "both"}), 400, "invalid-argument"),
        ("POST", "/v1/candidates/night/confirm", json!(null), 412, "precondition-failed"),
        ("PUT", "/v1/tree/c/a?candidate=none", json!(2), 404, "not-found"),
        ("PUT", "/v1/tree/c/a?candidate=night&missing=often", json!(2), 400, "invalid-argument"),
    ];
    for (method, path, body, status, kind) in cases {
        let answer = server.send(method, path, &body);
        assert_eq!((answer.status, &*answer.problem()), (status, kind), "{method} {path} {body}: {answer:?}");
    }
    assert_eq!(server.get("/v1/tree/c?candidate=none").status, 404);
    assert_eq!(server.get("/v1/tree/c/a").body, "1");
}
