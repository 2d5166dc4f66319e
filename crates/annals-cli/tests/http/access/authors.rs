//! Writes that have to name an author.

use serde_json::{Value as Json, json};

use crate::support::{Answer, server};

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

/// A proxy that added its own header behind that of the client let the client be anybody.
#[test]
fn a_request_names_one_author_and_by_a_name() {
    let token = format!("annals_ada_{}", "0f".repeat(32));
    let names = ["%20", "%09%20", "chief%00", "chief%0Aroot", "a%C2%85b", &token];
    let (_folder, proxied) = server(&["--behind-proxy", "127.0.0.1", "--default-role", "admin"]);
    let (_other, open) = server(&[]);
    let body = json!({ "id": "a", "type": "t" }).to_string();
    let refused = |answer: &Answer, what: &str| {
        assert_eq!(
            (answer.status, answer.problem().as_str()),
            (400, "invalid-argument"),
            "{what}: {answer:?}"
        );
        assert!(!answer.body.contains("0f0f0f"), "{what}: {answer:?}");
    };
    for (server, reads) in [(&proxied, true), (&open, false)] {
        for pair in [["ada", "chief"], ["ada", "ada"], ["", "chief"]] {
            let headers = pair.map(|name| ("annals-author", name));
            refused(&server.request("POST", "/v1/entities", &headers, Some(&body)), "two");
            if reads {
                refused(&server.request("GET", "/v1/entities", &headers, None), "two");
            }
        }
        for name in names {
            let headers = [("annals-author", name)];
            let answer = server.request("POST", "/v1/entities", &headers, Some(&body));
            if reads && name.ends_with("%20") {
                // The proxy names nobody.
                assert_eq!(answer.status, 401, "{answer:?}");
                continue;
            }
            refused(&answer, name);
            if reads {
                refused(&server.request("GET", "/v1/whoami", &headers, None), name);
            }
        }
        for author in [" ", "chief\u{0}", "\u{85}", &token] {
            let transaction = json!({ "author": author, "operations": [] }).to_string();
            let headers: &[_] = if reads { &[("annals-author", "ada")] } else { &[] };
            refused(&server.request("POST", "/v1/transactions", headers, Some(&transaction)), author);
        }
        let headers = [("annals-author", "J%C3%BCrgen Schmidt")];
        assert_eq!(server.request("POST", "/v1/entities", &headers, Some(&body)).status, 201);
    }
    let whoami = proxied.request("GET", "/v1/whoami", &[("annals-author", "ada")], None).json();
    assert_eq!(whoami["name"], "ada");
}
