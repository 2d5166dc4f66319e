//! A client with grants asks about what is hidden by ids, former ids, types and cursors, and learns nothing.

use serde_json::{Value as Json, json};

use super::tokens::Guarded;
use crate::support::Answer;

/// A reader of pages that are not secret, a writer of pages of the team `own`, and a client with the role `write`.
struct Probed {
    guarded: Guarded,
    admin: String,
    reader: String,
    writer: String,
    plain: String,
}

impl Probed {
    fn start() -> Probed {
        let guarded = Guarded::start(&[]);
        let token = |name: &str, role: &str| guarded.token(name, &["--role", role]);
        let [admin, reader] = [token("chief", "admin"), token("ada", "readers")];
        let [writer, plain] = [token("wes", "team"), token("bob", "write")];
        let probed = Probed { guarded, admin, reader, writer, plain };
        let grant = |role: &str, verbs: Json, search: &str| {
            json!({"action": "create", "kind": "entity", "type": "annals.Grant",
                   "properties": {"role": role, "verbs": verbs, "where": search}})
        };
        probed.commit(json!([
            page("one", "own"),
            page("two", "own"),
            page("hidden", "other"),
            grant("readers", json!(["read"]), "page where team = own"),
            grant("team", json!(["create", "update", "delete", "classify"]), "page where team = own"),
        ]));
        probed
    }

    fn commit(&self, operations: Json) {
        let body = json!({ "operations": operations });
        let answer = self.guarded.ask(&self.admin, "POST", "/v1/transactions", Some(&body));
        assert_eq!(answer.status, 200, "{answer:?}");
    }

    fn ask(&self, token: &str, method: &str, path: &str, body: Json) -> Answer {
        self.guarded.ask(token, method, path, Some(&body).filter(|body| !body.is_null()))
    }
}

fn page(id: &str, team: &str) -> Json {
    json!({"action": "create", "kind": "entity", "id": id, "type": "page", "properties": {"team": team}})
}

/// Story: an admin declared a subtype of grants, and each client with `write` could make grants.
#[test]
fn subtypes_of_internal_types_are_written_by_admins_only() {
    let probed = Probed::start();
    let types = json!({"types": [{"kind": "entity", "name": "annals.Grant"},
        {"kind": "entity", "name": "team-grant", "supertypes": ["annals.Grant"]}]});
    assert_eq!(probed.ask(&probed.plain, "POST", "/v1/types", types.clone()).status, 403);
    assert_eq!(probed.ask(&probed.admin, "POST", "/v1/types", types).status, 200);
    let new = json!({"id": "all", "type": "team-grant", "properties": {"role": "readers"}});
    for token in [&probed.plain, &probed.writer] {
        let answer = probed.ask(token, "POST", "/v1/entities", new.clone());
        assert_eq!(answer.status, 403, "{answer:?}");
    }
    assert_eq!(probed.ask(&probed.reader, "GET", "/v1/entities/hidden", Json::Null).status, 404);
    assert_eq!(probed.ask(&probed.admin, "POST", "/v1/entities", new).status, 201);
    // It is a grant, and no grant shows it.
    assert_eq!(probed.ask(&probed.reader, "GET", "/v1/entities/hidden", Json::Null).status, 200);
    assert_eq!(probed.ask(&probed.reader, "GET", "/v1/entities/all", Json::Null).status, 404);
    let broken = json!({"type": "team-grant", "properties": {"where": "page"}});
    assert_eq!(probed.ask(&probed.admin, "POST", "/v1/entities", broken).status, 400);
}

#[test]
fn relationships_and_classifications_of_internal_names_are_for_admins_under_grants_too() {
    let probed = Probed::start();
    for name in ["annals.x", "annals-y"] {
        let link = json!({"type": name, "from": "one", "to": "two"});
        for token in [&probed.plain, &probed.writer] {
            let answer = probed.ask(token, "POST", "/v1/relationships", link.clone());
            assert_eq!(answer.status, 403, "{answer:?}");
            let path = format!("/v1/entities/one/classifications/{name}");
            assert_eq!(probed.ask(token, "PUT", &path, json!({})).status, 403);
        }
    }
    let link = json!({"type": "cites", "from": "one", "to": "two"});
    assert_eq!(probed.ask(&probed.writer, "POST", "/v1/relationships", link).status, 201);
}

/// Story: a page got another id, and a client that knew the old one followed its versions by what it expected of that.
#[test]
fn a_former_id_of_a_hidden_entity_tells_neither_its_version_nor_its_new_id() {
    let probed = Probed::start();
    assert_eq!(
        probed.ask(&probed.admin, "PUT", "/v1/entities/hidden/id", json!({"newId": "new"})).status,
        200
    );
    let expected = |token: &str, id: &str, version: u32| {
        let body =
            json!({"operations": [{"action": "expect", "kind": "entity", "id": id, "ifVersion": version}]});
        let answer = probed.ask(token, "POST", "/v1/transactions", body);
        (answer.status, answer.body.replace(id, "ID"))
    };
    for version in [0, 1, 2] {
        let absent = expected(&probed.reader, "nothing", version);
        for id in ["hidden", "new"] {
            assert_eq!(expected(&probed.reader, id, version), absent, "{id} {version}");
        }
        // A writer learns that the id is taken, as it would by a creation.
        assert_eq!(expected(&probed.writer, "hidden", version), expected(&probed.writer, "new", version));
    }
    let created = probed.ask(&probed.writer, "PUT", "/v1/entities/hidden", page("hidden", "own"));
    assert!(!created.body.contains("new"), "{created:?}");
}

#[test]
fn a_client_whose_grants_have_no_verb_gets_one_answer_for_ids_that_are_taken_and_free() {
    let probed = Probed::start();
    let told = |method: &str, id: &str| {
        let new = json!({"type": "page", "properties": {"team": "own"}});
        let path = format!("/v1/entities/{id}");
        let answer =
            probed.ask(&probed.reader, method, &path, if method == "PUT" { new } else { Json::Null });
        (answer.status, answer.body.replace(id, "ID"))
    };
    for id in ["hidden", "free", "one"] {
        assert_eq!(told("PUT", id).0, 403, "{id}");
    }
    assert_eq!(told("PUT", "hidden"), told("PUT", "free"));
    assert_eq!(told("DELETE", "hidden"), told("DELETE", "free"));
}

/// Story: the last digits of a cursor were the number of an instance, so that a client counted what was created between two
/// pages that it saw.
#[test]
fn cursors_of_clients_with_grants_are_sealed() {
    let probed = Probed::start();
    let hidden: Vec<Json> = (0..300).map(|number| page(&format!("h{number}"), "other")).collect();
    probed.commit(json!(hidden));
    let link = |id: &str, from: &str, to: &str| json!({"action": "create", "kind": "relationship", "id": id, "type": "cites", "from": from, "to": to});
    probed.commit(json!([page("three", "own"), link("r1", "one", "two"), link("r0", "one", "h0")]));
    probed.commit(json!([link("r2", "one", "three")]));
    for path in ["/v1/entities", "/v1/relationships", "/v1/entities/one/relationships"] {
        let first = |token: &str| {
            let answer = probed.ask(token, "GET", &format!("{path}?limit=1"), Json::Null);
            assert_eq!(answer.status, 200, "{answer:?}");
            answer.json()["next"].as_str().unwrap().to_owned()
        };
        let is_open = |cursor: &str| cursor.bytes().all(|byte| byte.is_ascii_hexdigit());
        let open = first(&probed.plain);
        assert!(is_open(&open) && open == first(&probed.plain));
        let sealed = first(&probed.reader);
        assert!(!is_open(&sealed), "{path}: {sealed}");
        assert_ne!(sealed, first(&probed.reader), "a slot shows in none of its digits");
        let after = |cursor: &str| {
            let path = format!("{path}?limit=1&after={cursor}");
            probed.ask(&probed.reader, "GET", &path, Json::Null)
        };
        assert_eq!(after(&sealed).json()["items"].as_array().unwrap().len(), 1);
        for forged in [&open, &sealed[1..], "00000000000000000000000000000009"] {
            let answer = after(forged);
            assert_eq!((answer.status, answer.problem().as_str()), (400, "invalid-page"), "{answer:?}");
        }
    }
    let find = |after: Json| {
        let search = json!({"limit": 1, "after": after});
        probed.ask(&probed.reader, "POST", "/v1/find", search)
    };
    let next = find(Json::Null).json()["next"].clone();
    assert_eq!(find(next).json()["items"][0]["id"], "two");
}
