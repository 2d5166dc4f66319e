//! The server asks whether a client may make a change when the change takes effect, not only when the request or the edit
//! was made.

use serde_json::{Value as Json, json};

use super::tokens::{Guarded, annals};
use crate::http::ldp::webac::{Site, TURTLE, acl};
use crate::support::Answer;

/// Rounds of each race.
const ROUNDS: usize = 25;

/// `ANNALS_RACES` asks for more rounds of each race.
fn rounds() -> usize {
    std::env::var("ANNALS_RACES").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(ROUNDS)
}

fn entity(id: &str, type_name: &str) -> Json {
    json!({"action": "create", "kind": "entity", "id": id, "type": type_name})
}

fn contains(from: &str, to: &str) -> Json {
    json!({"action": "create", "kind": "relationship", "id": format!("in-{to}"), "type": "contains", "from": from,
           "to": to, "properties": {"name": to}})
}

fn grant(id: &str, role: &str) -> Json {
    json!({"action": "create", "kind": "entity", "id": id, "type": "annals.Grant",
           "properties": {"role": role, "where": "*"}})
}

fn commit(guarded: &Guarded, token: &str, operations: Json) -> Answer {
    let body = json!({ "operations": operations });
    guarded.ask(token, "POST", "/v1/transactions", Some(&body))
}

fn as_admin(guarded: &Guarded, admin: &str, operations: Json) -> u64 {
    let answer = commit(guarded, admin, operations);
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.json()["position"].as_u64().unwrap()
}

fn declared(guarded: &Guarded, admin: &str) {
    let types = json!({"types": [{"kind": "relationship", "name": "contains", "containment": {}}]});
    assert_eq!(guarded.ask(admin, "POST", "/v1/types", Some(&types)).status, 200);
}

fn edit(guarded: &Guarded, token: &str, operations: Json) -> Answer {
    let open = json!({"name": "night"});
    let opened = guarded.ask(token, "POST", "/v1/candidates", Some(&open));
    assert_eq!(opened.status, 201, "{opened:?}");
    guarded.ask(token, "POST", "/v1/transactions?candidate=night", Some(&json!({ "operations": operations })))
}

const COMMIT: &str = "/v1/candidates/night/commit";

/// Story: a writer edited the deletion of a container; an admin put a grant into it, and the commit deleted the grant.
#[test]
fn a_candidate_deletes_no_grant_that_came_later() {
    let guarded = Guarded::start(&[]);
    let (admin, ada) =
        (guarded.token("boss", &["--role", "admin"]), guarded.token("ada", &["--role", "write"]));
    declared(&guarded, &admin);
    as_admin(&guarded, &admin, json!([entity("box", "box")]));
    let delete = json!([{"action": "delete", "kind": "entity", "id": "box"}]);
    assert_eq!(edit(&guarded, &ada, delete).status, 200);
    as_admin(&guarded, &admin, json!([grant("g", "team"), contains("box", "g")]));
    let problem = |path: &str, body: &Json| {
        let answer = guarded.ask(&ada, "POST", path, Some(body));
        (answer.status, answer.problem())
    };
    // Others put something there; and it is nothing that a writer may delete.
    assert_eq!(problem(COMMIT, &json!({})), (412, "precondition-failed".to_owned()));
    let rebase = "/v1/candidates/night/rebase";
    assert_eq!(problem(rebase, &json!({"keep": "mine"})), (403, "forbidden".to_owned()));
    assert_eq!(guarded.ask(&admin, "GET", "/v1/entities/g", None).status, 200);
    // An admin may, on purpose.
    assert_eq!(guarded.ask(&admin, "POST", rebase, Some(&json!({"keep": "mine"}))).status, 200);
    assert_eq!(problem(COMMIT, &json!({})), (403, "forbidden".to_owned()));
    assert_eq!(guarded.ask(&ada, "GET", "/v1/candidates/night/check", None).problem(), "forbidden");
    assert_eq!(guarded.ask(&admin, "POST", COMMIT, Some(&json!({}))).status, 200);
    assert_eq!(guarded.ask(&admin, "GET", "/v1/entities/g", None).status, 410);
}

/// Story: an admin edited a purge and a grant; the token was replaced by one of a writer, whose commit did both.
#[test]
fn a_role_that_was_taken_away_commits_nothing_more() {
    let guarded = Guarded::start(&[]);
    let boss = guarded.token("boss", &["--role", "admin"]);
    let bob = guarded.token("bob", &["--role", "admin"]);
    as_admin(&guarded, &boss, json!([entity("x", "page")]));
    let purge = json!([{"action": "purge", "kind": "entity", "id": "x"}, grant("g", "mine")]);
    assert_eq!(edit(&guarded, &bob, purge).status, 200);
    let file = guarded.file();
    let revoked = annals(&["token", "revoke", "bob", "--tokens", file.to_str().unwrap()]);
    assert!(revoked.status.success(), "{revoked:?}");
    let bob = guarded.token("bob", &["--role", "write"]);
    for (method, path, body) in [
        ("GET", "/v1/candidates/night/check", None),
        ("POST", COMMIT, Some(json!({}))),
        ("POST", "/v1/candidates/night/rebase", Some(json!({"keep": "mine"}))),
        ("POST", "/v1/entities?candidate=night", Some(json!({"id": "y", "type": "page"}))),
    ] {
        let refused = guarded.ask(&bob, method, path, body.as_ref());
        assert_eq!((refused.status, refused.problem().as_str()), (403, "forbidden"), "{method} {path}");
        assert!(refused.json()["needed"].is_array(), "{refused:?}");
    }
    assert_eq!(guarded.ask(&boss, "GET", "/v1/entities/x", None).status, 200);
    assert_eq!(guarded.ask(&boss, "GET", "/v1/entities/g", None).status, 404);
    assert_eq!(guarded.ask(&bob, "DELETE", "/v1/candidates/night", None).status, 200);
}

/// A name that the engine also uses for its own entities: the texts contradicted each other.
#[test]
fn an_id_in_the_way_of_a_candidate_is_named() {
    let guarded = Guarded::start(&[]);
    let admin = guarded.token("boss", &["--role", "admin"]);
    as_admin(&guarded, &admin, json!([entity("annals-candidate:night", "page")]));
    let opened = guarded.ask(&admin, "POST", "/v1/candidates", Some(&json!({"name": "night"})));
    assert_eq!(opened.problem(), "already-exists");
    let detail = opened.json()["detail"].as_str().unwrap().to_owned();
    assert!(detail.contains("entity annals-candidate:night") && detail.contains("another name"), "{detail}");
}

/// An admin moves a container away while a writer writes below it.
#[test]
fn nothing_is_written_below_a_container_after_it_moved_away() {
    let guarded = Guarded::start(&[]);
    let admin = guarded.token("boss", &["--role", "admin"]);
    let ada = guarded.token("ada", &["--role", "team"]);
    declared(&guarded, &admin);
    let team = json!({"role": "team", "verbs": ["read", "create", "update", "delete"], "under": "root"});
    as_admin(
        &guarded,
        &admin,
        json!([
            entity("root", "box"), entity("out", "box"),
            {"action": "create", "kind": "entity", "id": "g", "type": "annals.Grant", "properties": team},
        ]),
    );
    let mut written_count = 0;
    for round in 0..rounds() * 4 {
        let (within, page, kid) = (format!("box{round}"), format!("page{round}"), format!("kid{round}"));
        as_admin(
            &guarded,
            &admin,
            json!([
                entity(&within, "box"),
                contains("root", &within),
                entity(&page, "page"),
                contains(&within, &page)
            ]),
        );
        let (written, moved) = std::thread::scope(|scope| {
            let write = scope.spawn(|| match round % 4 {
                0 => commit(&guarded, &ada, json!([entity(&kid, "page"), contains(&within, &kid)])),
                1 => guarded.ask(&ada, "PATCH", &format!("/v1/entities/{page}"), Some(&json!({"n": 1}))),
                2 => commit(
                    &guarded,
                    &ada,
                    json!([{"action": "update", "kind": "entity", "id": page, "patch": {"n": 1}}]),
                ),
                _ => guarded.ask(&ada, "DELETE", &format!("/v1/entities/{page}"), None),
            });
            let ends = format!("/v1/relationships/in-{within}/ends");
            let moved = guarded.ask(&admin, "PUT", &ends, Some(&json!({"from": "out"})));
            (write.join().unwrap(), moved)
        });
        assert_eq!(moved.status, 200, "{moved:?}");
        if written.status < 300 {
            written_count += 1;
            let (written, moved) = (position(&written), position(&moved));
            assert!(written < moved, "round {round}: written at {written}, after the move at {moved}");
        } else {
            assert!([403, 404, 409].contains(&written.status), "{written:?}");
        }
    }
    println!("{written_count} of {} writes came before the move", rounds() * 4);
}

fn position(answer: &Answer) -> u64 {
    answer.header("annals-position").expect("an answer of a write").parse().unwrap()
}

/// An admin takes an ACL away while its client writes.
#[test]
fn nothing_is_written_by_an_acl_after_it_was_taken_away() {
    let site = Site::open();
    site.put("/top", "<> <urn:p> 'x' .");
    for round in 0..rounds() * 3 {
        let (container, page) = (format!("/c{round}"), format!("/c{round}/page"));
        let headers = [TURTLE, ("link", "<http://www.w3.org/ns/ldp#BasicContainer>; rel=\"type\"")];
        let made = site.ask(&site.admin, "PUT", &container, &headers, "<> <urn:p> 'x' .");
        assert_eq!(made.status, 201, "{made:?}");
        site.put(&page, "<> <urn:p> 'x' .");
        let holder = if round % 3 == 0 { &page } else { &container };
        site.give(holder, "Read Write");
        let (written, taken) = std::thread::scope(|scope| {
            let write = scope.spawn(|| {
                let path = if round % 3 == 2 { format!("{container}/new") } else { page.clone() };
                site.ask(&site.ada, "PUT", &path, &[TURTLE], "<> <urn:p> 'y' .")
            });
            let taken = site.ask(&site.admin, "DELETE", &acl(holder), &[], "");
            (write.join().unwrap(), taken)
        });
        assert_eq!(taken.status, 204, "{taken:?}");
        if written.status < 300 {
            let (written, taken) = (position(&written), position(&taken));
            assert!(written < taken, "round {round}: written at {written}, after the ACL went at {taken}");
        } else {
            assert!([403, 409].contains(&written.status), "{written:?}");
        }
    }
}
