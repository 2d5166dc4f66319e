//! Roles: the verbs of operations and of changes, owners, and the shares of clients.

use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};

use super::tokens::{Guarded, bearer};
use crate::support::described::DESCRIPTION;
use crate::support::try_request;

#[test]
fn candidates_and_leases_are_changed_by_their_owners() {
    let guarded = Guarded::start(&[]);
    let (ada, bob) = (guarded.token("ada", &["--role", "write"]), guarded.token("bob", &["--role", "write"]));
    let admin = guarded.token("boss", &["--role", "admin"]);
    let open = json!({ "name": "night" });
    assert_eq!(guarded.ask(&ada, "POST", "/v1/candidates", Some(&open)).status, 201);
    let edit = json!({ "id": "a", "type": "t" });
    let edits = |token: &str| guarded.ask(token, "POST", "/v1/entities?candidate=night", Some(&edit)).status;
    let at = "/v1/candidates/night";
    assert_eq!((edits(&bob), edits(&ada)), (403, 201));
    for (method, path, body) in [
        ("POST", format!("{at}/rebase"), Some(json!({}))),
        ("POST", format!("{at}/commit"), Some(json!({}))),
        ("POST", format!("{at}/confirm"), None),
        ("POST", format!("{at}/take-back"), None),
        ("DELETE", at.to_owned(), None),
    ] {
        let refused = guarded.ask(&bob, method, &path, body.as_ref());
        assert_eq!((refused.status, refused.problem().as_str()), (403, "forbidden"), "{method} {path}");
    }
    // Only admins write the things that the repository stores about itself.
    let forged = json!({ "operations": [{ "action": "create", "kind": "entity", "id": "x", "type": "annals-candidate" }] });
    assert_eq!(guarded.ask(&bob, "POST", "/v1/transactions", Some(&forged)).problem(), "forbidden");
    let named = guarded.ask(&admin, "GET", "/v1/entities?type=annals-candidate", None).json();
    if let Some(id) = named["items"][0]["id"].as_str() {
        assert_eq!(guarded.ask(&bob, "DELETE", &format!("/v1/entities/{id}"), None).problem(), "forbidden");
    }
    assert_eq!(guarded.ask(&bob, "GET", at, None).status, 200);
    // Neither does a deleted one come back by another client.
    let own = json!({ "id": "own", "type": "annals.Thing" });
    assert_eq!(guarded.ask(&admin, "POST", "/v1/entities", Some(&own)).status, 201);
    assert_eq!(
        guarded.ask(&bob, "PATCH", "/v1/entities/own", Some(&json!({ "n": 1 }))).problem(),
        "forbidden"
    );
    assert_eq!(guarded.ask(&admin, "DELETE", "/v1/entities/own", None).status, 200);
    assert_eq!(guarded.ask(&bob, "POST", "/v1/entities/own/restore", None).problem(), "forbidden");
    assert_eq!(guarded.ask(&bob, "POST", "/v1/entities/own/undo", None).problem(), "forbidden");
    assert_eq!(guarded.ask(&admin, "POST", &format!("{at}/commit"), Some(&json!({}))).status, 200);
    let lease = json!({ "name": "driver", "seconds": 600 });
    assert_eq!(guarded.ask(&ada, "POST", "/v1/leases", Some(&lease)).status, 201);
    let time = json!({ "seconds": 500 });
    for (method, path, body) in [
        ("POST", "/v1/leases/driver/renew", Some(&time)),
        ("POST", "/v1/leases/driver/changes", Some(&json!({ "operations": [] }))),
        ("DELETE", "/v1/leases/driver", None),
    ] {
        assert_eq!(guarded.ask(&bob, method, path, body).problem(), "forbidden", "{method} {path}");
    }
    assert_eq!(guarded.ask(&ada, "POST", "/v1/leases/driver/renew", Some(&time)).status, 200);
    assert_eq!(guarded.ask(&admin, "DELETE", "/v1/leases/driver", None).status, 204);
}

/// Story: a client put a grant into a container of its own and deleted the container; the grant was gone.
#[test]
fn what_the_repository_stores_about_itself_does_not_go_along() {
    let guarded = Guarded::start(&[]);
    let admin = guarded.token("boss", &["--role", "admin"]);
    let writer = guarded.token("ada", &["--role", "write"]);
    let ask = |token: &str, operations: &Json| {
        guarded.ask(token, "POST", "/v1/transactions", Some(&json!({ "operations": operations })))
    };
    let entity = |id: &str, type_name: &str| json!({"action": "create", "kind": "entity", "id": id, "type": type_name});
    let link = |id: &str, type_name: &str, from: &str, to: &str| json!({"action": "create", "kind": "relationship", "id": id, "type": type_name, "from": from, "to": to, "properties": {"name": to}});
    let types = json!({"types": [{"kind": "relationship", "name": "contains", "containment": {}}]});
    assert_eq!(guarded.ask(&admin, "POST", "/v1/types", Some(&types)).status, 200);
    let made = json!([
        entity("box", "box"),
        entity("other", "box"),
        entity("free", "box"),
        entity("grant", "annals.Thing"),
        entity("inner", "annals.Thing"),
        link("in-other", "contains", "other", "inner"),
        link("loose", "k", "box", "free"),
    ]);
    assert_eq!(ask(&admin, &made).status, 200);
    let relink = |id: &str, from: &str| json!({"action": "relink", "id": id, "from": from});
    let named = |action: &str, kind: &str, id: &str| json!({"action": action, "kind": kind, "id": id});
    let delete = |id: &str| named("delete", "entity", id);
    for refused in [
        json!([link("in-box", "contains", "box", "grant")]),
        json!([link("about", "k", "grant", "box")]),
        json!([{"action": "relink", "id": "loose", "to": "grant"}]),
        json!([relink("in-other", "box")]),
        json!([named("delete", "relationship", "in-other")]),
        json!([{"action": "update", "kind": "relationship", "id": "in-other", "patch": {"name": "x"}}]),
        json!([delete("other")]),
        json!([link("moves", "contains", "box", "other"), delete("box")]),
        json!([{"action": "reidentify", "kind": "entity", "id": "other", "newId": "new"}, delete("new")]),
    ] {
        let answer = ask(&writer, &refused);
        assert_eq!((answer.status, answer.problem().as_str()), (403, "forbidden"), "{refused}: {answer:?}");
    }
    assert_eq!(ask(&writer, &json!([delete("free")])).status, 200);
    assert_eq!(ask(&admin, &json!([delete("other")])).status, 200);
    assert_eq!(ask(&writer, &json!([named("restore", "entity", "other")])).status, 403);
    assert_eq!(ask(&admin, &json!([named("restore", "entity", "other")])).status, 200);
    assert_eq!(guarded.ask(&admin, "GET", "/v1/entities/inner", None).status, 200);
    // Nothing of it is in a container any more.
    assert_eq!(ask(&admin, &json!([named("delete", "relationship", "in-other")])).status, 200);
    assert_eq!(ask(&writer, &json!([named("restore", "relationship", "in-other")])).status, 403);
    assert_eq!(ask(&writer, &json!([delete("other")])).status, 200);
}

/// The verbs of each built-in role.
const ROLES: [(&str, &[&str]); 4] = [
    ("read", &["read"]),
    ("write", &["read", "create", "update", "delete", "classify"]),
    ("operate", &["operate"]),
    (
        "admin",
        &[
            "read",
            "create",
            "update",
            "delete",
            "classify",
            "purge",
            "define",
            "sign-for-others",
            "operate",
            "administer",
        ],
    ),
];

/// True if an operation may be asked by a client with these verbs, as the description says.
fn is_allowed(operation: &Json, path: &str, verbs: &[&str]) -> bool {
    let ways = operation["security"].as_array().unwrap();
    let Some(needed) = ways.iter().find_map(|way| way["bearer"].as_array()) else { return true };
    let mut has = needed.iter().map(|verb| verbs.contains(&verb.as_str().unwrap()));
    // A request that changes something unknown needs one of several verbs.
    match operation["x-annals-needs"].as_str() {
        Some("one") => has.any(|has| has),
        Some("all") => has.all(|has| has),
        other => panic!("{path}: {other:?}"),
    }
}

#[test]
fn each_operation_asks_for_its_verbs_and_for_nothing_else() {
    let guarded = Guarded::start(&[]);
    let tokens: Vec<_> =
        ROLES.iter().map(|(role, verbs)| (guarded.token(role, &["--role", role]), *role, *verbs)).collect();
    let mut wrong = Vec::new();
    for (path, item) in DESCRIPTION["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let method = method.to_uppercase();
            let mut asked = path.clone();
            for (name, value) in [
                ("{id}", "x"),
                ("{name}", "x"),
                ("{kind}", "entity"),
                ("{number}", "1"),
                ("{position}", "1"),
                ("{steps}", "x"),
                ("{lease}", "x"),
                ("{candidate}", "x"),
                ("{error}", "conflict"),
            ] {
                asked = asked.replace(name, value);
            }
            assert!(!asked.contains('{'), "{asked}");
            if path == "/v1/feed" {
                asked.push_str("?limit=0");
            }
            let body = operation.get("requestBody").map(|_| json!({}));
            let is_open = operation["security"] == json!([{}]);
            let text = body.as_ref().map(Json::to_string);
            let send = |headers: &[(&str, &str)]| {
                try_request(guarded.server.address, &method, &asked, headers, text.as_deref()).unwrap()
            };
            let without = send(&[]);
            if (without.status == 401) == is_open {
                wrong.push(format!("{method} {path} without a token: {}", without.status));
            }
            for (token, role, verbs) in &tokens {
                let answer = send(&[("authorization", &bearer(token))]);
                let is_refused =
                    answer.status == 401 || answer.status == 403 && answer.problem() == "forbidden";
                if is_refused == is_allowed(operation, path, verbs) {
                    wrong.push(format!("{method} {path} as {role}: {} {}", answer.status, answer.body));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn each_request_of_the_ldp_door_asks_for_its_verb() {
    let guarded = Guarded::start(&[]);
    let (read, write) =
        (guarded.token("reader", &["--role", "read"]), guarded.token("writer", &["--role", "write"]));
    let operate = guarded.token("operator", &["--role", "operate"]);
    let turtle = [("content-type", "text/turtle")];
    let send =
        |token: &str, method: &str, path: &str| guarded.ask_with(token, method, path, &turtle, None).status;
    for method in ["PUT", "POST", "PATCH", "DELETE"] {
        assert_eq!((send(&read, method, "/ldp/a"), send(&operate, method, "/ldp/a")), (403, 403), "{method}");
    }
    assert_eq!(send(&write, "PUT", "/ldp/a"), 201);
    for method in ["GET", "HEAD", "OPTIONS"] {
        assert_eq!((send(&read, method, "/ldp/a"), send(&operate, method, "/ldp/a")), (200, 403), "{method}");
    }
    assert_eq!(send(&write, "DELETE", "/ldp/a"), 204);
    // The history goes with the tombstone.
    assert_eq!(send(&write, "DELETE", "/ldp/a/fcr:tombstone"), 403);
    let admin = guarded.token("boss", &["--role", "admin"]);
    assert_eq!(send(&admin, "DELETE", "/ldp/a/fcr:tombstone"), 204);
}

#[test]
fn the_changes_of_a_request_need_their_verbs_whatever_the_request() {
    let guarded = Guarded::start(&[]);
    let write = guarded.token("writer", &["--role", "write"]);
    let make = json!({ "id": "a", "type": "t" });
    assert_eq!(guarded.ask(&write, "POST", "/v1/entities", Some(&make)).status, 201);
    let of = |operation: Json| json!({ "operations": [operation] });
    let purge = of(json!({ "action": "purge", "kind": "entity", "id": "a" }));
    let define = of(json!({ "action": "define-type", "type": { "kind": "entity", "name": "t" } }));
    let dry = json!({ "dryRun": true, "operations": purge["operations"] });
    for body in [&purge, &define, &dry] {
        let refused = guarded.ask(&write, "POST", "/v1/transactions", Some(body));
        assert_eq!((refused.status, refused.problem().as_str()), (403, "forbidden"), "{body}");
    }
    assert_eq!(guarded.ask(&write, "DELETE", "/v1/entities/a?purge", None).problem(), "forbidden");
    let lines = "{\"type\": {\"kind\": \"entity\", \"name\": \"u\"}}\n{\"entity\": {\"id\": \"b\", \"type\": \"t\"}}\n\
                 {\"entity\": {\"id\": \"c\", \"type\": \"annals.Role\"}}\n";
    let bearer = bearer(&write);
    let headers = [("authorization", bearer.as_str()), ("content-type", "application/x-ndjson")];
    let loaded = guarded.server.request("POST", "/v1/import", &headers, Some(lines)).json();
    assert_eq!((&loaded["created"], &loaded["refused"]), (&json!(1), &json!(2)), "{loaded}");
    assert!(loaded["refusedLines"][0]["reason"].as_str().unwrap().contains("define"), "{loaded}");
}

#[test]
fn a_client_uses_its_share_by_its_name_and_leaves_room_for_others() {
    // A share of one request.
    let bounds = ["--requests-max", "8", "--client-share", "12", "--visible-time-ms", "4000"];
    let guarded = Guarded::start(&bounds);
    let (ada, bob) = (guarded.token("ada", &["--role", "read"]), guarded.token("bob", &["--role", "read"]));
    let later = [("annals-wait-position", "99")];
    std::thread::scope(|scope| {
        // The share may be full of the request below; then it asks again.
        let waiting = scope
            .spawn(|| while guarded.ask_with(&ada, "GET", "/v1/entities", &later, None).status == 429 {});
        let deadline = Instant::now() + Duration::from_secs(3);
        let refused = loop {
            let answer = guarded.ask(&ada, "GET", "/v1/entities", None);
            if answer.status != 200 || Instant::now() > deadline {
                break answer;
            }
        };
        assert_eq!((refused.status, refused.problem().as_str()), (429, "too-many-requests"), "{refused:?}");
        assert_eq!(refused.header("retry-after"), Some("1"));
        assert_eq!(guarded.ask(&bob, "GET", "/v1/entities", None).status, 200);
        waiting.join().unwrap();
    });
    assert_eq!(guarded.ask(&ada, "GET", "/v1/entities", None).status, 200);
}

#[test]
fn a_client_begins_so_many_requests_a_second() {
    let guarded = Guarded::start(&["--client-rate-max", "1"]);
    let (ada, bob) = (guarded.token("ada", &["--role", "read"]), guarded.token("bob", &["--role", "read"]));
    let statuses: Vec<u16> = (0..3).map(|_| guarded.ask(&ada, "GET", "/v1/whoami", None).status).collect();
    assert!(statuses[0] == 200 && statuses.contains(&429), "{statuses:?}");
    assert_eq!(guarded.ask(&bob, "GET", "/v1/whoami", None).status, 200);
    std::thread::sleep(Duration::from_millis(1_100));
    assert_eq!(guarded.ask(&ada, "GET", "/v1/whoami", None).status, 200);
}
