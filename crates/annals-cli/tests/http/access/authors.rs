//! Writes that have to name an author.

use serde_json::{Value as Json, json};

use crate::support::server;

#[test]
fn with_require_author_no_write_is_without_one() {
    let (_folder, server) = server(&["--require-author"]);
    let entity = json!({"id": "a", "type": "t"});
    let transaction = |author: &str| json!({"author": author, "operations": []});
    let bob = [("annals-author", "bob")];
    let send = |method: &str, path: &str, headers: &[(&str, &str)], body: &Json| {
        server.request(method, path, headers, Some(&body.to_string()))
    };
    for answer in [
        send("POST", "/v1/entities", &[], &entity),
        send("POST", "/v1/entities", &[("annals-author", "")], &entity),
        send("POST", "/v1/entities", &[("annals-author", "%20")], &entity),
        send("POST", "/v1/transactions", &[], &transaction("bob")),
        // The body does not speak for another one than the header, which a proxy may have set.
        send("POST", "/v1/transactions", &bob, &transaction("ceo")),
        send("PUT", "/v1/entities/a", &[], &entity),
        server.request("DELETE", "/v1/entities/a", &[], None),
        send("POST", "/v1/types", &[], &json!({"types": [{"kind": "entity", "name": "t"}]})),
    ] {
        assert_eq!((answer.status, answer.problem().as_str()), (400, "invalid-argument"), "{answer:?}");
        assert!(answer.body.contains("Annals-Author"), "{answer:?}");
    }
    assert_eq!(server.get("/v1/entities/a").status, 404);
    assert_eq!(send("POST", "/v1/entities", &bob, &entity).status, 201);
    assert_eq!(send("POST", "/v1/transactions", &bob, &transaction("bob")).status, 200);
    let history = server.get("/v1/entities/a/history");
    assert_eq!((history.status, history.json()["items"][0]["author"].as_str()), (200, Some("bob")));
}
