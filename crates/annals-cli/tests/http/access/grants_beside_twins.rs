//! A client with grants changes trees and contents as on a server that never had what they do not admit.

use serde_json::{Value as Json, json};

use super::grants::{CANARY, check_told, plain};
use super::tokens::Guarded;
use crate::support::{Answer, try_request};

struct Twin {
    guarded: Guarded,
    admin: String,
    writer: String,
}

impl Twin {
    fn start(has_hidden: bool) -> Twin {
        let guarded = Guarded::start(&[]);
        let admin = guarded.token("chief", &["--role", "admin"]);
        let writer = guarded.token("writer", &["--role", "team"]);
        let twin = Twin { guarded, admin, writer };
        let types = json!({"types": [
            {"kind": "relationship", "name": "contains", "containment": {}},
            {"kind": "entity", "name": "page", "attributes": [{"name": "n", "type": "integer"}]},
        ]});
        assert_eq!(twin.guarded.ask(&twin.admin, "POST", "/v1/types", Some(&types)).status, 200);
        let grant = json!({"role": "team", "verbs": ["read", "create", "update", "delete", "classify"], "where": "* where not classified secret"});
        twin.commit(json!([
            {"action": "create", "kind": "entity", "id": "grant", "type": "annals.Grant", "properties": grant},
            {"action": "merge-tree", "path": "/a", "item": {"@id": "a", "@type": "page", "n": 1, "b": {"@id": "b", "n": 2}}},
            {"action": "merge-tree", "path": "/d", "item": {"@id": "d", "n": 3}},
        ]));
        let secret = |id: &str| json!({"action": "classify", "id": id, "classification": "secret"});
        let note = json!({"action": "create", "kind": "entity", "type": "annals.Note"});
        twin.commit(match has_hidden {
            true => json!([
                {"action": "merge-tree", "path": "/CANARY", "item": {"@id": "CANARY-1", "text": CANARY}},
                {"action": "merge-tree", "path": "/a/CANARY", "item": {"@id": "CANARY-2", "text": CANARY}},
                {"action": "merge-tree", "path": "/d/CANARY", "item": {"@id": "CANARY-3", "text": CANARY}},
                secret("CANARY-1"), secret("CANARY-2"), secret("CANARY-3"),
            ]),
            false => json!([note]),
        });
        match has_hidden {
            true => assert_eq!(twin.put(&twin.admin, "CANARY-1", "CANARY bytes").status, 200),
            false => twin.commit(json!([note])),
        }
        twin
    }

    fn commit(&self, operations: Json) {
        let body = json!({ "operations": operations });
        let answer = self.guarded.ask(&self.admin, "POST", "/v1/transactions", Some(&body));
        assert_eq!(answer.status, 200, "{body}: {answer:?}");
    }

    /// Writes a content.
    fn put(&self, token: &str, id: &str, bytes: &str) -> Answer {
        let headers = [("authorization", &*format!("Bearer {token}")), ("content-type", "text/plain")];
        try_request(self.guarded.server.address, "PUT", &format!("/v1/content/{id}"), &headers, Some(bytes))
            .unwrap()
    }

    fn ask(&self, method: &str, path: &str, body: &Json) -> Answer {
        self.guarded.ask(&self.writer, method, path, Some(body).filter(|body| !body.is_null()))
    }
}

/// Without random ids.
fn masked((status, text): (u16, String)) -> (u16, String) {
    let is_id = |part: &&str| part.len() == 36 && part.matches('-').count() == 4;
    let ids: Vec<String> = text.split('"').filter(is_id).map(str::to_owned).collect();
    (status, ids.into_iter().fold(text, |text, id| text.replace(&id, "ID")))
}

#[test]
fn changes_of_trees_are_those_of_a_smaller_graph() {
    let (whole, part) = (Twin::start(true), Twin::start(false));
    let many = |operations: Json| ("POST", "/v1/transactions", json!({ "operations": operations }), 200);
    for (method, path, body, status) in [
        ("PATCH", "/v1/tree/a/new", json!({"n": 1, "deep": {"n": 2}}), 201),
        ("POST", "/v1/tree/a/other", json!({"n": 1}), 201),
        ("POST", "/v1/tree/a/other", json!({"n": 1}), 409),
        ("PUT", "/v1/tree/a/n", json!(7), 200),
        ("GET", "/v1/tree/", Json::Null, 200),
        ("PUT", "/v1/tree/a", json!({"n": 8, "b": {"n": 3}, "c": {"n": 4}}), 200),
        ("GET", "/v1/tree/?depth=9", Json::Null, 200),
        ("PUT", "/v1/tree/a/CANARY?missing=refuse", json!({"n": 1}), 404),
        ("DELETE", "/v1/tree/a/CANARY", Json::Null, 404),
        ("DELETE", "/v1/tree/a/CANARY?missing=ok", Json::Null, 200),
        ("DELETE", "/v1/tree/a/CANARY/text", Json::Null, 404),
        ("DELETE", "/v1/tree/x?root=CANARY-1", Json::Null, 404),
        ("POST", "/v1/tree-move", json!({"from": "/a/b", "to": "/d/b"}), 200),
        ("POST", "/v1/tree-move", json!({"from": "/a/CANARY", "to": "/free"}), 404),
        ("POST", "/v1/tree-move", json!({"from": "/d/b", "to": "/CANARY/b"}), 404),
        ("POST", "/v1/tree-copy", json!({"from": "/a", "to": "/copy"}), 201),
        ("POST", "/v1/tree-copy", json!({"from": "/CANARY", "to": "/other"}), 404),
        ("POST", "/v1/tree-revert", json!({"path": "/a", "atPosition": 2}), 200),
        ("POST", "/v1/tree-revert", json!({"path": "/a/CANARY", "atPosition": 3}), 404),
        ("DELETE", "/v1/tree/copy", Json::Null, 200),
        ("POST", "/v1/tree-restore", json!({"path": "/copy", "atPosition": 10}), 200),
        ("POST", "/v1/tree-restore", json!({"path": "/a/CANARY", "atPosition": 3}), 404),
        many(json!([
            {"action": "merge-tree", "path": "/e/f", "item": {"n": 1}},
            {"action": "move-tree", "from": "/e/f", "to": "/a/f"},
            {"action": "copy-tree", "from": "/a/f", "to": "/a/g"},
            {"action": "delete-tree", "path": "/e"},
            {"action": "remove-tree", "path": "/a/CANARY"},
        ])),
        ("GET", "/v1/tree/?depth=9", Json::Null, 200),
        ("GET", "/v1/tree-diff/?fromPosition=2", Json::Null, 200),
        ("GET", "/v1/log?order=oldest-first", Json::Null, 200),
        ("GET", "/v1/feed?tree=/&limit=3", Json::Null, 200),
        ("GET", "/v1/feed?tree=/a&limit=3", Json::Null, 200),
    ] {
        let what = format!("{method} {path} {body}");
        let [seen, own] = [&whole, &part].map(|twin| twin.ask(method, path, &body));
        assert_eq!(masked(plain(&seen)), masked(plain(&own)), "{what}");
        assert_eq!(seen.status, status, "{what}: {seen:?}");
        check_told(&seen, &what, &what);
    }
    // These are told, without a name.
    for (method, path, body, problem) in [
        ("PATCH", "/v1/tree/a/CANARY", json!({"n": 1}), "not-unique"),
        ("PATCH", "/v1/tree/a/CANARY/new", json!({"n": 1}), "not-unique"),
        ("POST", "/v1/tree-move", json!({"from": "/a/b", "to": "/CANARY"}), "not-unique"),
        ("PUT", "/v1/tree/x?root=CANARY-1", json!({"n": 1}), "already-exists"),
        ("DELETE", "/v1/tree/d", Json::Null, "forbidden"),
        ("POST", "/v1/tree-move", json!({"from": "/d", "to": "/a/d"}), "forbidden"),
    ] {
        let answer = whole.ask(method, path, &body);
        assert_eq!(answer.problem(), problem, "{method} {path}: {answer:?}");
        assert!(!answer.body.contains(CANARY), "{method} {path}: {answer:?}");
    }
    for id in ["CANARY-1", "CANARY-2", "CANARY-3"] {
        let found = whole.guarded.ask(&whole.admin, "GET", &format!("/v1/entities/{id}"), None).json();
        assert_eq!(
            (&found["properties"]["text"], &found["status"]),
            (&json!(CANARY), &json!("active")),
            "{id}"
        );
    }
}

#[test]
fn contents_are_those_of_a_smaller_graph() {
    let (whole, part) = (Twin::start(true), Twin::start(false));
    // A server that only computes digests.
    let third = Twin::start(false);
    let digest = |bytes: &str| third.put(&third.admin, "a", bytes).json()["sha256"].clone();
    let named = |bytes: &str, size: usize| json!({"$content": digest(bytes), "size": size});
    let patch = |value: Json| ("PATCH", "/v1/entities/a", json!({ "content": value }));
    let both = |what: &str, ask: &dyn Fn(&Twin) -> Answer| {
        let [seen, own] = [&whole, &part].map(ask);
        assert_eq!(masked(plain(&seen)), masked(plain(&own)), "{what}");
        check_told(&seen, what, "CANARY-1");
        seen
    };
    // Neither the right size nor a wrong one tells that the bytes are there.
    for size in [12, 13] {
        let (method, path, body) = patch(named("CANARY bytes", size));
        assert_eq!(both("digest", &|twin| twin.ask(method, path, &body)).status, 404);
    }
    let (method, path, body) = patch(named("no bytes", 8));
    assert_eq!(both("absent", &|twin| twin.ask(method, path, &body)).status, 404);
    assert_eq!(both("read", &|twin| twin.ask("GET", "/v1/content/CANARY-1", &Json::Null)).status, 404);
    assert_eq!(both("replace", &|twin| twin.put(&twin.writer, "CANARY-1", "x")).status, 404);
    assert_eq!(both("remove", &|twin| twin.ask("DELETE", "/v1/content/CANARY-1", &Json::Null)).status, 404);
    // Bytes that the client has are its own, and the answer does not tell that the store had them.
    let sent = both("same bytes", &|twin| twin.put(&twin.writer, "a", "CANARY bytes"));
    assert_eq!((sent.status, &sent.json()["isNew"]), (200, &json!(true)), "{sent:?}");
    let again = both("again", &|twin| twin.put(&twin.writer, "b", "CANARY bytes"));
    assert_eq!((again.status, &again.json()["isNew"]), (200, &json!(false)), "{again:?}");
    let (method, path, body) = patch(named("CANARY bytes", 12));
    assert_eq!(both("by digest", &|twin| twin.ask(method, path, &body)).status, 200);
    let [own, other] = [&whole, &part].map(|twin| twin.ask("GET", "/v1/content/a", &Json::Null));
    assert_eq!((&*own.body, &*other.body), ("CANARY bytes", "CANARY bytes"));
    assert_eq!(both("new", &|twin| twin.put(&twin.writer, "new?type=page", "x")).status, 201);
    assert_eq!(both("remove own", &|twin| twin.ask("DELETE", "/v1/content/new", &Json::Null)).status, 200);
}

/// The bytes of a client that may not write them would take room.
#[test]
fn a_client_that_may_not_write_a_content_sends_none() {
    let twin = Twin::start(true);
    let reader = twin.guarded.token("reader", &["--role", "readers"]);
    let grant = json!({"role": "readers", "where": "* where not classified secret"});
    twin.commit(json!([{"action": "create", "kind": "entity", "type": "annals.Grant", "properties": grant}]));
    for path in ["a", "new?type=page"] {
        let refused = twin.put(&reader, path, "some bytes");
        assert_eq!((refused.status, &*refused.problem()), (403, "forbidden"), "{path}: {refused:?}");
    }
    // The store has none of them.
    let sent = twin.put(&twin.admin, "a", "some bytes");
    assert_eq!(sent.json()["isNew"], true, "{sent:?}");
}
