//! Writes that change nothing make no version; `upsert` writes what differs.

use serde_json::{Value as Json, json};

use crate::support::{Answer, Server, server, tag_beside};

fn server_with_tables() -> (tempfile::TempDir, Server) {
    let (folder, server) = server(&[]);
    for (id, path) in [("orders", "/v1/entities/orders"), ("items", "/v1/entities/items")] {
        let created = server.send("PUT", path, &table(7));
        assert_eq!((created.status, version(&created)), (201, json!(1)), "{id}");
    }
    (folder, server)
}

fn table(rows: i64) -> Json {
    json!({"type": "table", "properties": {"rows": rows, "tags": {"$set": ["a", "b"]}}, "classifications": {"pii": {}}})
}

fn version(answer: &Answer) -> Json {
    answer.json()["version"].clone()
}

/// Status, version in the body, entity tag without its log, and position of an answer.
fn told(answer: &Answer) -> (u16, Json, String, String) {
    let header = |name| answer.header(name).unwrap_or_default().to_owned();
    let tag = header("etag");
    let revision = tag.split_once('@').map_or(&*tag, |(revision, _)| revision);
    (answer.status, version(answer), revision.to_owned(), header("annals-position"))
}

fn expected(version: u32, position: u32) -> (u16, Json, String, String) {
    // `orders` is in the first record.
    (200, json!(version), format!("\"1.{version}"), position.to_string())
}

#[test]
fn an_identical_put_makes_no_version() {
    let (_folder, server) = server_with_tables();
    let path = "/v1/entities/orders";
    assert_eq!(told(&server.send("PUT", path, &table(7))), expected(1, 2));
    // The answer of a GET is identical, too.
    assert_eq!(told(&server.send("PUT", path, &server.get(path).json())), expected(1, 2));
    assert_eq!(told(&server.send("PUT", path, &table(8))), expected(2, 3));
    assert_eq!(told(&server.send("PUT", "/v1/entities/orders?always=true", &table(8))), expected(3, 4));
    let history = server.get("/v1/entities/orders/history").json();
    assert_eq!(history["items"].as_array().map(Vec::len), Some(3));
}

#[test]
fn a_put_of_a_type_with_defaults_is_the_same_the_second_time() {
    let (_folder, server) = server_with_tables();
    let typed = json!({"attributes": [{"name": "owner", "type": "string", "default": "nobody"}]});
    assert_eq!(server.send("PUT", "/v1/types/entity/job", &typed).status, 200);
    for status in [201, 200] {
        let put = server.send("PUT", "/v1/entities/load", &json!({"type": "job", "properties": {}}));
        assert_eq!((put.status, version(&put)), (status, json!(1)));
        assert_eq!(put.json()["properties"], json!({"owner": "nobody"}));
    }
    // Nor does the same declaration make a record.
    assert_eq!(server.send("PUT", "/v1/types/entity/job", &typed).header("annals-position"), Some("4"));
    assert_eq!(
        server
            .send("POST", "/v1/types", &json!({"types": [server.get("/v1/types/entity/job").json()]}))
            .json()["position"],
        4
    );
}

#[test]
fn operations_of_one_instance_that_change_nothing_answer_with_what_is_there() {
    let (_folder, server) = server_with_tables();
    let orders = "/v1/entities/orders";
    for (method, path, body) in [
        ("PATCH", "", json!({"rows": 7})),
        ("PATCH", "", json!([{"add": "tags", "value": "a"}, {"remove": "tags", "value": "z"}])),
        ("PUT", "/classifications/pii", json!({"properties": {}})),
        ("PATCH", "/classifications/pii", json!({"level": null})),
        ("PUT", "/status", json!({"status": "active"})),
        ("PUT", "/type", json!({"type": "table"})),
        ("PUT", "/provenance", json!({})),
    ] {
        let answer = server.send(method, &format!("{orders}{path}"), &body);
        assert_eq!(told(&answer), expected(1, 2), "{method} {path}: {answer:?}");
    }
    let mut count = 1;
    for (method, path, body) in
        [("PATCH", "", json!({"rows": 7})), ("PUT", "/status", json!({"status": "active"}))]
    {
        count += 1;
        let answer = server.send(method, &format!("{orders}{path}?always=true"), &body);
        assert_eq!(told(&answer), expected(count, count + 1), "{method} {path}");
    }
}

#[test]
fn what_changes_nothing_shows_what_it_saw() {
    let (_folder, server) = server_with_tables();
    assert_eq!(server.send("PATCH", "/v1/entities/items", &json!({"rows": 8})).status, 200);
    let answer = server.send("PATCH", "/v1/entities/orders", &json!({"rows": 7}));
    assert_eq!(told(&answer), expected(1, 3));
    assert_eq!(answer.json(), server.get("/v1/entities/orders").json());
}

#[test]
fn another_version_than_the_expected_one_is_refused_also_if_nothing_would_change() {
    let (_folder, server) = server_with_tables();
    let known = server.get("/v1/entities/orders").header("etag").unwrap().to_owned();
    let patch = |revision| {
        let headers = [("if-match", &*tag_beside(&known, revision)), ("content-type", "application/json")];
        server.request("PATCH", "/v1/entities/orders", &headers, Some(r#"{"rows":7}"#))
    };
    assert_eq!(patch("1.1").status, 200);
    assert_eq!((patch("1.2").status, patch("1.2").problem().as_str()), (412, "precondition-failed"));
    let operation =
        json!({"action": "update", "kind": "entity", "id": "orders", "patch": {"rows": 7}, "ifVersion": 2});
    let refused = server.send("POST", "/v1/transactions", &json!({"operations": [operation]}));
    assert_eq!((refused.status, refused.problem().as_str()), (412, "precondition-failed"));
}

#[test]
fn an_upsert_creates_then_updates_then_does_nothing() {
    let (_folder, server) = server_with_tables();
    let commit = |rows: i64, more: Json| {
        let mut operation = json!({"action": "upsert", "kind": "entity", "id": "new", "type": "table", "properties": {"rows": rows}});
        operation.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let answer = server.send("POST", "/v1/transactions", &json!({"operations": [operation]}));
        assert_eq!(answer.status, 200, "{answer:?}");
        (answer.json()["position"].clone(), answer.json()["ids"].clone())
    };
    assert_eq!(commit(1, json!({})), (json!(3), json!(["new"])));
    assert_eq!(commit(2, json!({})), (json!(4), json!([])));
    assert_eq!(commit(2, json!({})), (json!(4), json!([])));
    assert_eq!(commit(2, json!({"always": true})), (json!(5), json!([])));
    assert_eq!(version(&server.get("/v1/entities/new")), 3);
    let nameless = json!({"operations": [{"action": "upsert", "kind": "entity", "type": "table"}]});
    assert_eq!(server.send("POST", "/v1/transactions", &nameless).problem(), "invalid-argument");
}

#[test]
fn a_transaction_can_say_always_for_all_its_operations() {
    let (_folder, server) = server_with_tables();
    let update = |id: &str| json!({"action": "update", "kind": "entity", "id": id, "patch": {"rows": 7}});
    let operations = [update("orders"), update("items")];
    let left_out = server.send("POST", "/v1/transactions", &json!({"operations": operations}));
    assert_eq!((left_out.status, &left_out.json()["position"]), (200, &json!(2)));
    let kept = server.send("POST", "/v1/transactions", &json!({"operations": operations, "always": true}));
    assert_eq!(kept.json()["position"], 3);
    assert_eq!(version(&server.get("/v1/entities/items")), 2);
}

#[test]
fn a_server_that_only_reads_refuses_also_what_would_change_nothing() {
    let (folder, server) = server_with_tables();
    let follower = Server::start(&folder.path().join("repository"), &["--read-only"]);
    let refused = follower.send("PATCH", "/v1/entities/orders", &json!({"rows": 7}));
    assert_eq!((refused.status, refused.problem().as_str()), (403, "read-only"));
    drop(server);
}
