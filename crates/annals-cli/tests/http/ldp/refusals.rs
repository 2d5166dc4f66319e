//! The LDP door refuses at once, and its reads write nothing.

use std::time::{Duration, Instant};

use serde_json::json;

use super::resources::Door;
use crate::support::Answer;

/// Far below the time that one wait for another commit would take.
const AT_ONCE: Duration = Duration::from_millis(900);
const TURTLE: (&str, &str) = ("content-type", "text/turtle");

fn timed(ask: impl FnOnce() -> Answer) -> (Answer, Duration) {
    let start = Instant::now();
    let answer = ask();
    (answer, start.elapsed())
}

#[test]
fn a_refusal_does_not_wait_for_a_commit_that_never_comes() {
    let door = Door::open();
    door.request("PUT", "/first", &[], None);
    let types = json!({"operations": [
        {"action": "define-type", "type": {"kind": "entity", "name": "ldp.BasicContainer", "supertypes": ["ldp.Container"],
            "attributes": [{"name": "http://x/key", "type": "any", "unique": true}]}},
    ]});
    let defined = door.server.send("POST", "/v1/transactions", &types);
    assert_eq!(defined.status, 200, "{defined:?}");
    assert_eq!(door.turtle("PUT", "/first", "<> <http://x/key> \"one\" .").status, 204);
    let (answer, time) = timed(|| door.turtle("PUT", "/second", "<> <http://x/key> \"one\" ."));
    assert_eq!((answer.status, &*answer.problem()), (409, "not-unique"), "{answer:?}");
    assert!(time < AT_ONCE, "{time:?}");
}

#[test]
fn of_many_that_create_one_resource_at_once_one_creates_it_and_the_others_replace_it() {
    let door = Door::open();
    door.request("PUT", "/a", &[], None);
    for round in 0..20 {
        let path = format!("/a/{round}/x");
        let statuses: Vec<u16> = std::thread::scope(|scope| {
            let put = |number: usize| {
                let (door, path) = (&door, &path);
                move || door.turtle("PUT", path, &format!("<> dc:title \"{number}\" .")).status
            };
            let threads: Vec<_> = (0..6).map(|number| scope.spawn(put(number))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let count = |status: u16| statuses.iter().filter(|known| **known == status).count();
        assert_eq!((count(201), count(204)), (1, 5), "{statuses:?}");
    }
}

#[test]
fn a_read_of_a_root_that_is_not_stored_writes_nothing() {
    let door = Door::open_with(&["--require-author"]);
    let position = |door: &Door| door.server.get("/health/ready").json()["position"].clone();
    let before = position(&door);
    for method in ["GET", "HEAD", "OPTIONS"] {
        let answer = door.request(method, "/", &[], None);
        assert_eq!(answer.status, 200, "{method}: {answer:?}");
        let mut links = answer.headers.iter().filter(|(name, _)| name == "link");
        assert!(links.any(|(_, link)| link.contains("ldp#BasicContainer")), "{method}: {answer:?}");
    }
    let read = door.get("/");
    assert!(
        read.body.contains(&format!("<{}/> ", door.root)) && read.body.contains("BasicContainer"),
        "{read:?}"
    );
    let tag = read.header("etag").expect("it has a tag").to_owned();
    assert_eq!(door.request("GET", "/", &[("if-none-match", &tag)], None).status, 304);
    assert_eq!(position(&door), before);
    // The tag holds for a write, once.
    let author = ("annals-author", "ada");
    let put = |title: &str| {
        let body = format!("<> <http://x/title> \"{title}\" .");
        door.request("PUT", "/", &[TURTLE, author, ("if-match", &tag)], Some(&body)).status
    };
    assert_eq!(put("one"), 204);
    assert_eq!(put("two"), 412);
    let read = door.get("/");
    assert!(read.body.contains("\"one\"") && read.header("etag") != Some(&*tag), "{read:?}");
}

#[test]
fn the_root_of_a_new_repository_takes_each_write() {
    for (method, media_type, body, status) in [
        ("PUT", "text/turtle", "<> <http://x/title> \"new\" .", 204),
        ("PATCH", "application/sparql-update", "INSERT DATA { <> <http://x/title> \"new\" }", 204),
        ("POST", "text/turtle", "<> <http://x/title> \"new\" .", 201),
        ("POST", "text/plain", "new", 201),
    ] {
        let door = Door::open();
        let (answer, time) = timed(|| door.request(method, "/", &[("content-type", media_type)], Some(body)));
        assert_eq!(answer.status, status, "{method}: {answer:?}");
        assert!(time < AT_ONCE, "{method}: {time:?}");
        let shown = if method == "POST" { answer.body } else { format!("{}/", door.root) };
        assert!(door.get(&shown).body.contains("new"), "{method}");
    }
}

#[test]
fn a_server_that_only_reads_shows_the_root_of_a_repository_without_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("repository");
    drop(crate::support::Server::start(&path, &[]));
    let server = crate::support::Server::start(&path, &["--read-only"]);
    let answer = crate::support::try_request(server.address, "GET", "/ldp/", &[], None).unwrap();
    assert_eq!(answer.status, 200, "{answer:?}");
    assert!(answer.body.contains("BasicContainer"), "{answer:?}");
}

/// Story: another door gave the entity of a resource another id. Its address was gone for ever: no tombstone was there to delete.
#[test]
fn the_entity_of_a_resource_gets_no_other_id_so_its_address_stays_usable() {
    let door = Door::open();
    assert_eq!(door.turtle("PUT", "/a", "<> dc:title \"a\" .").status, 201);
    let all = door.server.get("/v1/entities?type=ldp.Resource").json();
    let ids: Vec<&str> =
        all["items"].as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap()).collect();
    for (number, id) in ids.iter().enumerate() {
        let path = format!("/v1/entities/{}/id", id.replace('%', "%25").replace('/', "%2F"));
        let answer = door.server.send("PUT", &path, &json!({"newId": format!("new-{number}")}));
        assert_eq!((answer.status, &*answer.problem()), (400, "invalid-argument"), "{id}: {answer:?}");
    }
    assert!(!ids.is_empty());
    assert_eq!(door.request("GET", "/a", &[], None).status, 200);
    assert_eq!(door.request("DELETE", "/a", &[], None).status, 204);
    assert_eq!(door.request("DELETE", "/a/fcr:tombstone", &[], None).status, 204);
    assert_eq!(door.turtle("PUT", "/a", "<> dc:title \"b\" .").status, 201);
}
