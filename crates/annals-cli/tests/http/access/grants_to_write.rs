//! A client with grants writes what they allow; a refused write tells nothing of what is hidden.

use serde_json::{Value as Json, json};

use super::tokens::Guarded;
use crate::support::Answer;

/// The owner of the team reads all pages that are not secret, and writes those of the team.
struct Team {
    guarded: Guarded,
    admin: String,
    writer: String,
}

impl Team {
    fn start() -> Team {
        let guarded = Guarded::start(&[]);
        let admin = guarded.token("chief", &["--role", "admin"]);
        let writer = guarded.token("ada", &["--role", "team"]);
        let team = Team { guarded, admin, writer };
        let types = json!({"types": [
            {"kind": "entity", "name": "page", "attributes": [{"name": "code", "type": "integer", "unique": true}]},
            {"kind": "relationship", "name": "contains", "containment": {}},
        ]});
        assert_eq!(team.guarded.ask(&team.admin, "POST", "/v1/types", Some(&types)).status, 200);
        let page = |id: &str, team: &str, code: u32| json!({"action": "create", "kind": "entity", "id": id, "type": "page", "properties": {"team": team, "code": code}});
        let grant = |id: &str, verbs: Json, search: &str| {
            json!({"action": "create", "kind": "entity", "id": id, "type": "annals.Grant",
                   "properties": {"role": "team", "verbs": verbs, "where": search}})
        };
        team.as_admin(json!([
            page("own", "own", 1),
            page("other", "other", 2),
            page("hidden", "other", 3),
            {"action": "classify", "id": "hidden", "classification": "secret"},
            {"action": "create", "kind": "relationship", "id": "far", "type": "knows", "from": "other", "to": "hidden"},
            grant("reads", json!(["read"]), "page where not classified secret"),
            grant("writes", json!(["read", "create", "update", "delete", "classify"]), "page where team = own"),
        ]));
        team
    }

    fn as_admin(&self, operations: Json) {
        let body = json!({ "operations": operations });
        let answer = self.guarded.ask(&self.admin, "POST", "/v1/transactions", Some(&body));
        assert_eq!(answer.status, 200, "{answer:?}");
    }

    fn write(&self, method: &str, path: &str, body: Json) -> Answer {
        self.guarded.ask(&self.writer, method, path, Some(&body).filter(|body| !body.is_null()))
    }

    fn version(&self, id: &str) -> Json {
        self.guarded.ask(&self.admin, "GET", &format!("/v1/entities/{id}"), None).json()["version"].clone()
    }
}

#[test]
fn a_client_writes_what_its_grants_allow() {
    let team = Team::start();
    let new = json!({"id": "new", "type": "page", "properties": {"team": "own"}});
    let created = team.write("POST", "/v1/entities", new);
    assert_eq!(created.status, 201, "{created:?}");
    for (method, path, body) in [
        ("PATCH", "/v1/entities/new", json!({"title": "a"})),
        ("PUT", "/v1/entities/new", json!({"type": "page", "properties": {"team": "own", "title": "b"}})),
        ("PUT", "/v1/entities/new/classifications/open", json!({})),
        ("PATCH", "/v1/entities/new/classifications/open", json!({"n": 1})),
        ("DELETE", "/v1/entities/new/classifications/open", Json::Null),
        ("PUT", "/v1/entities/new/status", json!({"status": "draft"})),
        ("POST", "/v1/entities/new/undo", Json::Null),
        ("DELETE", "/v1/entities/new", Json::Null),
        ("POST", "/v1/entities/new/restore", Json::Null),
    ] {
        let answer = team.write(method, path, body);
        assert_eq!(answer.status, 200, "{method} {path}: {answer:?}");
    }
    let linked = team.write(
        "POST",
        "/v1/relationships",
        json!({"id": "r", "type": "knows", "from": "new", "to": "other"}),
    );
    assert_eq!(linked.status, 201, "{linked:?}");
    let all = json!({"operations": [
        {"action": "update", "kind": "entity", "id": "own", "patch": {"n": 1}},
        {"action": "create", "kind": "entity", "id": "inner", "type": "page", "properties": {"team": "own"}},
        {"action": "create", "kind": "relationship", "type": "contains", "from": "own", "to": "inner", "properties": {"name": "x"}},
    ]});
    assert_eq!(team.write("POST", "/v1/transactions", all).status, 200);
    // Its name is the author.
    let found = team.guarded.ask(&team.admin, "GET", "/v1/entities/inner", None).json();
    assert_eq!(found["created"]["author"], "ada");
}

#[test]
fn everything_else_is_forbidden_and_stays() {
    let team = Team::start();
    let before = ["own", "other", "hidden"].map(|id| team.version(id));
    for (method, path, body) in [
        ("POST", "/v1/entities", json!({"type": "page", "properties": {"team": "other"}})),
        ("POST", "/v1/entities", json!({"type": "annals.Grant", "properties": {"role": "team"}})),
        ("PATCH", "/v1/entities/other", json!({"n": 1})),
        ("PATCH", "/v1/entities/other", json!({"team": "own"})),
        ("PATCH", "/v1/entities/own", json!({"team": "other"})),
        ("DELETE", "/v1/entities/other", Json::Null),
        ("DELETE", "/v1/entities/own?purge", Json::Null),
        ("PUT", "/v1/entities/other/classifications/open", json!({})),
        (
            "POST",
            "/v1/relationships",
            json!({"type": "contains", "from": "other", "to": "own", "properties": {"name": "x"}}),
        ),
        (
            "POST",
            "/v1/transactions",
            json!({"dryRun": true, "operations": [{"action": "delete", "kind": "entity", "id": "own"}]}),
        ),
        (
            "POST",
            "/v1/transactions",
            json!({"operations": [{"action": "merge-tree", "path": "/a/b", "value": 1}]}),
        ),
        ("POST", "/v1/transactions", json!({"operations": [{"action": "take-back", "position": 2}]})),
        (
            "POST",
            "/v1/transactions",
            json!({"operations": [{"action": "define-type", "type": {"kind": "entity", "name": "t"}}]}),
        ),
        (
            "POST",
            "/v1/transactions",
            json!({"operations": [
                {"action": "update", "kind": "entity", "id": "own", "patch": {"n": 1}},
                {"action": "update", "kind": "entity", "id": "other", "patch": {"n": 1}},
            ]}),
        ),
        ("PUT", "/v1/tree/a", json!({"properties": {"n": 1}})),
        ("POST", "/v1/types", json!({"types": []})),
        ("PATCH", "/v1/entities/own?candidate=draft", json!({"n": 1})),
    ] {
        let answer = team.write(method, path, body.clone());
        assert_eq!(
            (answer.status, answer.problem().as_str()),
            (403, "forbidden"),
            "{method} {path} {body}: {answer:?}"
        );
    }
    assert_eq!(["own", "other", "hidden"].map(|id| team.version(id)), before);
}

/// Each write of something hidden is answered as that of something that is not there, but for ids and values that are
/// taken.
#[test]
fn refused_writes_tell_nothing_of_what_is_hidden() {
    let team = Team::start();
    let told = |answer: &Answer, id: &str| (answer.status, answer.body.replace(id, "NAME"));
    for (method, path, body) in [
        ("PATCH", "/v1/entities/ID", json!({"team": "own"})),
        ("PATCH", "/v1/entities/ID", json!({"code": "no number"})),
        ("DELETE", "/v1/entities/ID", Json::Null),
        ("POST", "/v1/entities/ID/restore", Json::Null),
        ("POST", "/v1/entities/ID/undo", Json::Null),
        ("POST", "/v1/entities/ID/undo?of=content", Json::Null),
        ("PUT", "/v1/entities/ID/status", json!({"status": "draft"})),
        ("PUT", "/v1/entities/ID/type", json!({"type": "book"})),
        ("PUT", "/v1/entities/ID/id", json!({"id": "free"})),
        ("PUT", "/v1/entities/ID/provenance", json!({"license": "x"})),
        ("PUT", "/v1/entities/ID/classifications/open", json!({})),
        ("PATCH", "/v1/entities/ID/classifications/secret", json!({"n": 1})),
        ("DELETE", "/v1/entities/ID/classifications/secret", Json::Null),
        ("POST", "/v1/relationships", json!({"type": "knows", "from": "own", "to": "ID"})),
        ("POST", "/v1/relationships", json!({"type": "knows", "from": "ID", "to": "own"})),
        (
            "POST",
            "/v1/transactions",
            json!({"operations": [{"action": "update", "kind": "entity", "id": "ID", "patch": {"n": 1}}, {"action": "update", "kind": "entity", "id": "", "patch": {}}]}),
        ),
        (
            "POST",
            "/v1/transactions",
            json!({"operations": [{"action": "update", "kind": "entity", "id": "ID", "patch": {"n": 1}, "ifVersion": 7}]}),
        ),
        (
            "POST",
            "/v1/transactions",
            json!({"operations": [{"action": "update", "kind": "entity", "id": "own", "patch": {"n": 1}}, {"action": "relink", "id": "far", "to": "ID"}]}),
        ),
    ] {
        let ask = |id: &str| {
            let body = serde_json::from_str(&body.to_string().replace("ID", id)).unwrap();
            told(&team.write(method, &path.replace("ID", id), body), id)
        };
        let (hidden, absent) = (ask("hidden"), ask("absent"));
        assert_eq!(hidden, absent, "{method} {path} {body}");
        assert!((400..500).contains(&hidden.0), "{method} {path}: {hidden:?}");
    }
    // These are told, without a name.
    let taken = team.write(
        "POST",
        "/v1/entities",
        json!({"id": "hidden", "type": "page", "properties": {"team": "own"}}),
    );
    assert_eq!(taken.problem(), "already-exists");
    let value =
        team.write("POST", "/v1/entities", json!({"type": "page", "properties": {"team": "own", "code": 3}}));
    assert_eq!(value.problem(), "not-unique");
    assert!(!value.body.contains("hidden"), "{value:?}");
    let inside = json!({"action": "create", "kind": "relationship", "type": "contains", "from": "own", "to": "hidden", "properties": {"name": "x"}});
    team.as_admin(json!([inside]));
    let along = team.write("DELETE", "/v1/entities/own", Json::Null);
    assert_eq!((along.status, along.problem().as_str()), (403, "forbidden"));
    assert!(!along.body.contains("hidden"), "{along:?}");
}
