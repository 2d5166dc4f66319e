//! A role with a grant under a container walks to it, and sees nothing else of what is above it.

use std::process::Command;

use serde_json::{Value as Json, json};

use super::grants::CANARY;
use super::tokens::Guarded;
use crate::support::{Answer, try_request};

struct Library {
    guarded: Guarded,
    admin: String,
    writer: String,
}

impl Library {
    fn start() -> Library {
        let guarded = Guarded::start(&[]);
        let admin = guarded.token("chief", &["--role", "admin"]);
        let writer = guarded.token("ada", &["--role", "team"]);
        let library = Library { guarded, admin, writer };
        let item = json!({"secret": CANARY, "library": {"@id": "lib", "@type": "shelf", "secret": CANARY,
            "team": {"@id": "team", "page": {"@id": "page", "text": "shown"}}, "other": {"text": CANARY}}, "beside": {"text": CANARY}});
        let grant = json!({"role": "team", "under": "team", "verbs": ["create", "update", "delete"]});
        library.commit(json!([
            {"action": "merge-tree", "path": "/", "item": item},
            {"action": "create", "kind": "entity", "id": "grant", "type": "annals.Grant", "properties": grant},
        ]));
        library
    }

    fn commit(&self, operations: Json) {
        let body = json!({ "operations": operations });
        let answer = self.guarded.ask(&self.admin, "POST", "/v1/transactions", Some(&body));
        assert_eq!(answer.status, 200, "{answer:?}");
    }

    fn ask(&self, method: &str, path: &str, body: Option<&Json>) -> Answer {
        let answer = self.guarded.ask(&self.writer, method, path, body);
        assert!(!answer.body.contains(CANARY), "{method} {path}: {answer:?}");
        answer
    }

    fn tag(&self, path: &str) -> Option<String> {
        self.ask("GET", path, None).header("etag").map(str::to_owned)
    }
}

#[test]
fn a_client_walks_to_its_container_and_sees_nothing_else_on_the_way() {
    let library = Library::start();
    let get = |path: &str| library.ask("GET", path, None);
    let library_only = json!({"team": {"page": {"text": "shown"}}});
    assert_eq!(get("/v1/tree/").json(), json!({ "library": library_only }));
    assert_eq!(get("/v1/tree/library").json(), library_only);
    assert_eq!(get("/v1/tree/library?depth=0&ids=true").json(), json!({"@id": "lib", "@type": "shelf"}));
    assert_eq!(get("/v1/tree/library/team/page/text").json(), json!("shown"));
    let listed = get("/v1/tree-list/?count=true").json();
    assert_eq!(
        (&listed["count"], &listed["items"]),
        (&json!(1), &json!([{"id": "lib", "path": "/library", "type": "shelf", "value": {}}]))
    );
    assert_eq!(get("/v1/tree/team/page?root=lib").json(), json!({"text": "shown"}));
    // Nothing of the way has a tag, and other doors know nothing of it.
    for path in ["/v1/tree/", "/v1/tree/library", "/v1/tree/library?depth=0"] {
        assert_eq!(library.tag(path), None, "{path}");
    }
    let tag = library.tag("/v1/tree/library/team").unwrap();
    for (path, status) in [
        ("/v1/entities/lib", 404),
        ("/v1/entities/lib/versions", 404),
        ("/v1/entities/lib/neighbors", 404),
        ("/v1/tree/library/secret", 404),
        ("/v1/tree/library/other", 404),
        ("/v1/tree/beside", 404),
        ("/v1/entities?type=shelf", 200),
        ("/v1/export", 200),
        ("/v1/log", 200),
        ("/v1/entities", 200),
        ("/v1/tree-find/%2F%2F*", 200),
        ("/v1/tree-diff/?fromPosition=0", 200),
        ("/v1/feed?tree=/&after=0&limit=1", 200),
    ] {
        let answer = get(path);
        assert_eq!(answer.status, status, "{path}: {answer:?}");
        let is_tree = path.contains("tree-find");
        assert!(is_tree || !answer.body.contains("\"lib\""), "{path}: {answer:?}");
    }
    // A change of the way is no change of an answer.
    let before = (get("/v1/tree/").body, get("/v1/log").body);
    library.commit(
        json!([{"action": "update", "kind": "entity", "id": "lib", "patch": {"secret": "CANARY 2"}}]),
    );
    assert_eq!((get("/v1/tree/").body, get("/v1/log").body), before);
    assert_eq!(library.tag("/v1/tree/library/team"), Some(tag));
}

#[test]
fn a_client_writes_below_its_container_and_nothing_else_on_the_way() {
    let library = Library::start();
    let put = |path: &str, body: Json| library.ask("PUT", path, Some(&body));
    assert_eq!(put("/v1/tree/library/team/b", json!({"n": 1})).status, 201);
    assert_eq!(put("/v1/tree/library/team/b", json!({"n": 2})).status, 200);
    assert_eq!(library.ask("DELETE", "/v1/tree/library/team/b", None).status, 200);
    for (method, path, body) in [
        ("PUT", "/v1/tree/library/secret", json!(CANARY)),
        ("PATCH", "/v1/tree/library", json!({"secret": CANARY})),
        ("PUT", "/v1/tree/library/b", json!({"n": 1})),
        ("PUT", "/v1/tree/library/other", json!({"n": 1})),
        ("PUT", "/v1/tree/b", json!({"n": 1})),
        ("DELETE", "/v1/tree/library", Json::Null),
        ("POST", "/v1/tree-move", json!({"from": "/library", "to": "/b"})),
        ("POST", "/v1/tree-move", json!({"from": "/library/team", "to": "/team"})),
    ] {
        let answer = library.ask(method, path, Some(&body).filter(|body| !body.is_null()));
        assert_eq!(answer.problem(), "forbidden", "{method} {path}: {answer:?}");
    }
    // A container that only leads to another one has no tag: only `*` names it.
    let bearer = format!("Bearer {}", library.writer);
    let patch = |condition: &str| {
        let headers =
            [("authorization", &*bearer), ("if-match", condition), ("content-type", "application/json")];
        let address = library.guarded.server.address;
        try_request(address, "PATCH", "/v1/tree/library", &headers, Some(r#"{"team": {"n": 3}}"#)).unwrap()
    };
    assert_eq!(patch("\"1.1\"").problem(), "precondition-failed");
    assert_eq!(patch("*").status, 200);
}

#[test]
fn the_commands_of_trees_walk_too() {
    let library = Library::start();
    let address = format!("http://{}", library.guarded.server.address);
    let run = |arguments: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_annals"))
            .args(["--server", &address])
            .args(arguments)
            .env("ANNALS_TOKEN", &library.writer)
            .output();
        let output = output.unwrap();
        let text = [output.stdout, output.stderr].concat();
        (output.status.success(), String::from_utf8(text).unwrap())
    };
    for arguments in [
        &["ls", "/"][..],
        &["ls", "/library"],
        &["cat", "/library/team"],
        &["put", "/library/team/b/n", "--value", "1"],
        &["cat", "/"],
    ] {
        let (is_good, text) = run(arguments);
        assert!(is_good && !text.contains(CANARY), "{arguments:?}: {text}");
    }
    assert!(run(&["ls", "/"]).1.contains("library"));
}
