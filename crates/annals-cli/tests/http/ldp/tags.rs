//! Entity tags of the LDP door: another tag for each other state of what a resource shows, whatever made it.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};

use super::resources::Door;

const TURTLE: (&str, &str) = ("content-type", "text/turtle");
const N_TRIPLES: (&str, &str) = ("accept", "application/n-triples");
const TEXT: (&str, &str) = ("content-type", "text/plain");
const INBOUND: (&str, &str) = (
    "prefer",
    "return=representation; include=\"http://fedora.info/definitions/fcrepo#PreferInboundReferences\"",
);

fn tag(door: &Door, path: &str) -> String {
    let answer = door.get(path);
    assert_eq!(answer.status, 200, "{path}: {answer:?}");
    answer.header("etag").expect("it has a tag").to_owned()
}

fn commit(door: &Door, operations: &Json) {
    let answer = door.server.send("POST", "/v1/transactions", &json!({ "operations": operations }));
    assert_eq!(answer.status, 200, "{operations}: {answer:?}");
}

/// The tag after something changed, which is another one, for reads and for writes.
fn changed(door: &Door, path: &str, before: &str) -> String {
    let read = door.request("GET", path, &[N_TRIPLES, ("if-none-match", before)], None);
    assert_eq!(read.status, 200, "{path}: {before} is {read:?}");
    let write = door.request("PUT", path, &[TURTLE, ("if-match", before)], Some(""));
    assert_eq!(write.status, 412, "{path}: {write:?}");
    let now = tag(door, path);
    assert_eq!(door.request("GET", path, &[N_TRIPLES, ("if-none-match", &now)], None).status, 304);
    now
}

#[test]
fn a_resource_that_was_made_again_has_another_tag() {
    let door = Door::open();
    assert_eq!(door.turtle("PUT", "/z", "<> dc:title \"old\" .").status, 201);
    let before = tag(&door, "/z");
    assert_eq!(door.request("DELETE", "/z", &[], None).status, 204);
    assert_eq!(door.request("DELETE", "/z/fcr:tombstone", &[], None).status, 204);
    assert_eq!(door.turtle("PUT", "/z", "<> dc:title \"new\" .").status, 201);
    changed(&door, "/z", &before);
    assert!(door.get("/z").body.contains("new"));
}

#[test]
fn a_link_that_another_door_makes_or_takes_away_changes_the_tag() {
    let door = Door::open();
    for path in ["/m", "/t"] {
        door.request("PUT", path, &[], None);
    }
    let before = tag(&door, "/m");
    commit(
        &door,
        &json!([{"action": "create", "kind": "relationship", "id": "r", "type": "http://x/ref", "from": "ldp:/m", "to": "ldp:/t"}]),
    );
    assert!(door.get("/m").body.contains("<http://x/ref>"));
    let linked = changed(&door, "/m", &before);
    // The target goes, and the statement with it.
    commit(&door, &json!([{"action": "delete", "kind": "entity", "id": "ldp:/t"}]));
    assert!(!door.get("/m").body.contains("<http://x/ref>"));
    changed(&door, "/m", &linked);
}

#[test]
fn a_part_that_another_door_changes_changes_the_tag() {
    let door = Door::open();
    assert_eq!(door.turtle("PUT", "/m", "<> dc:title \"m\" . <#p> dc:title \"part\" .").status, 201);
    let before = tag(&door, "/m");
    let parts = door.server.get("/v1/entities/ldp:%2Fm/neighbors?direction=out&type=ldp.part").json();
    let part = parts["items"][0]["entity"]["id"].as_str().unwrap_or_else(|| panic!("{parts}")).to_owned();
    commit(
        &door,
        &json!([{"action": "update", "kind": "entity", "id": part, "patch": {"http://x/more": 1}}]),
    );
    let more = changed(&door, "/m", &before);
    commit(
        &door,
        &json!([{"action": "create", "kind": "relationship", "type": "http://x/ref", "from": part, "to": "ldp:/m"}]),
    );
    changed(&door, "/m", &more);
}

#[test]
fn a_child_that_was_deleted_and_made_again_changes_the_tag_of_its_container() {
    let door = Door::open();
    door.request("PUT", "/c/a", &[], None);
    let before = tag(&door, "/c");
    commit(&door, &json!([{"action": "delete", "kind": "entity", "id": "ldp:/c/a"}]));
    let without = changed(&door, "/c", &before);
    commit(&door, &json!([{"action": "purge", "kind": "entity", "id": "ldp:/c/a"}]));
    commit(
        &door,
        &json!([
            {"action": "create", "kind": "entity", "id": "ldp:/c/a", "type": "ldp.BasicContainer", "properties": {}},
            {"action": "create", "kind": "relationship", "type": "ldp.contains", "from": "ldp:/c", "to": "ldp:/c/a",
             "properties": {"name": "a"}},
        ]),
    );
    assert_ne!(changed(&door, "/c", &without), before);
}

/// A direct container whose children are members of `/m`.
fn container(door: &Door, path: &str) {
    let rule = "<> a ldp:DirectContainer ; ldp:membershipResource </rest/m> ; ldp:hasMemberRelation pcdm:hasMember .";
    assert_eq!(door.turtle("PUT", path, rule).status, 201, "{path}");
}

#[test]
fn a_member_of_the_last_of_many_containers_changes_the_tag() {
    let door = Door::open();
    door.request("PUT", "/m", &[], None);
    let mut before = tag(&door, "/m");
    for number in 0..70 {
        container(&door, &format!("/lists/{number}"));
    }
    for number in [0, 63, 64, 65, 69] {
        door.request("POST", &format!("/lists/{number}"), &[("slug", "x")], None);
        assert!(door.get("/m").body.contains(&format!("lists/{number}/x")));
        before = changed(&door, "/m", &before);
    }
}

#[test]
fn a_container_that_takes_the_place_of_another_changes_the_tag_of_their_resource() {
    let door = Door::open();
    door.request("PUT", "/m", &[], None);
    container(&door, "/one");
    door.request("PUT", "/one/a", &[], None);
    let before = tag(&door, "/m");
    assert_eq!(door.request("DELETE", "/one", &[], None).status, 204);
    container(&door, "/two");
    door.request("PUT", "/two/a", &[], None);
    changed(&door, "/m", &before);
}

#[test]
fn a_proxy_that_another_door_changes_changes_the_tag_of_what_it_makes_members_of() {
    let door = Door::open();
    for path in ["/m", "/object"] {
        door.request("PUT", path, &[], None);
    }
    let rule = "<> a ldp:IndirectContainer ; ldp:membershipResource </rest/m> ; ldp:hasMemberRelation pcdm:hasMember ; \
                ldp:insertedContentRelation ore:proxyFor .";
    assert_eq!(door.turtle("PUT", "/list", rule).status, 201);
    assert_eq!(door.turtle("PUT", "/list/p", "<> ore:proxyFor <http://x/1> .").status, 201);
    let before = tag(&door, "/m");
    let proxy_for = "http://www.openarchives.org/ore/terms/proxyFor";
    let other = json!({proxy_for: {"$iri": "http://x/2"}});
    commit(&door, &json!([{"action": "update", "kind": "entity", "id": "ldp:/list/p", "patch": other}]));
    assert!(door.get("/m").body.contains("<http://x/2>"));
    let second = changed(&door, "/m", &before);
    commit(
        &door,
        &json!([{"action": "create", "kind": "relationship", "type": proxy_for, "from": "ldp:/list/p", "to": "ldp:/object"}]),
    );
    assert!(door.get("/m").body.contains(&format!("hasMember> <{}/object>", door.root)));
    changed(&door, "/m", &second);
}

#[test]
fn a_member_knows_whose_it_is_by_its_tag() {
    let door = Door::open();
    for path in ["/m", "/n"] {
        door.request("PUT", path, &[], None);
    }
    let rule = "<> a ldp:DirectContainer ; ldp:membershipResource </rest/m> ; ldp:isMemberOfRelation pcdm:memberOf .";
    assert_eq!(door.turtle("PUT", "/list", rule).status, 201);
    door.request("PUT", "/list/a", &[], None);
    let before = tag(&door, "/list/a");
    let change = "DELETE { <> ldp:membershipResource </rest/m> } INSERT { <> ldp:membershipResource </rest/n> } WHERE { }";
    assert_eq!(door.update("PATCH", "/list", change).status, 204);
    assert!(door.get("/list/a").body.contains(&format!("memberOf> <{}/n>", door.root)));
    changed(&door, "/list/a", &before);
}

#[test]
fn a_new_inbound_reference_changes_the_tag_of_an_answer_that_shows_it() {
    let door = Door::open();
    for path in ["/t", "/one", "/two"] {
        door.request("PUT", path, &[], None);
    }
    assert_eq!(door.turtle("PUT", "/one", "<> dc:relation <t> .").status, 204);
    let read = |tag: Option<&str>| {
        let headers: Vec<_> =
            [N_TRIPLES, INBOUND].into_iter().chain(tag.map(|tag| ("if-none-match", tag))).collect();
        door.request("GET", "/t", &headers, None)
    };
    let before = read(None).header("etag").unwrap().to_owned();
    assert_eq!(read(Some(&before)).status, 304);
    // As a proxy that compresses gives it to its clients.
    let by_proxy = format!("{}-gzip\"", before.trim_end_matches('"'));
    assert_eq!(read(Some(&by_proxy)).status, 304);
    assert_eq!(door.turtle("PUT", "/two", "<> dc:relation <t> .").status, 204);
    let now = read(Some(&before));
    assert!(now.status == 200 && now.body.contains("/two>"), "{now:?}");
    assert_eq!(read(Some(&by_proxy)).status, 200);
    // Without the preference nothing changed, and a write does not depend on it.
    assert_eq!(door.request("PUT", "/t", &[TURTLE, ("if-match", &before)], Some("")).status, 204);
}

#[test]
fn the_tag_of_a_changed_description_holds_for_the_next_change() {
    let door = Door::open();
    door.request("PUT", "/file", &[TEXT], Some("bytes"));
    let put = |tag: &str, body: &str| {
        door.request("PUT", "/file/fcr:metadata", &[TURTLE, ("if-match", tag)], Some(body))
    };
    let first = put(&tag(&door, "/file/fcr:metadata"), "<> <http://x/p> 1 .");
    assert_eq!(first.status, 204, "{first:?}");
    let second = put(first.header("etag").unwrap(), "<> <http://x/p> 2 .");
    assert_eq!(second.status, 204, "{second:?}");
    assert_eq!(second.header("etag"), Some(&*tag(&door, "/file/fcr:metadata")));
    assert_eq!(put(first.header("etag").unwrap(), "").status, 412);
}

/// Writes of one resource that are committed together: an answer with the tag of a later one lets its client overwrite
/// what it never saw.
#[test]
fn each_of_many_writes_at_once_is_answered_with_a_tag_of_its_own() {
    const THREADS: usize = 12;
    const WRITES: usize = 100;
    let door = Door::open();
    door.request("PUT", "/a", &[], None);
    let write = |thread: usize| {
        let door = &door;
        move || -> Vec<String> {
            let writes = (0..WRITES).map(|number| {
                let update = format!("INSERT DATA {{ <> <http://x/p> \"{thread} {number}\" }}");
                let answer = door.update("PATCH", "/a", &update);
                assert_eq!(answer.status, 204, "{answer:?}");
                answer.header("etag").expect("the answer has a tag").to_owned()
            });
            writes.collect()
        }
    };
    let tags: Vec<String> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|thread| scope.spawn(write(thread))).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    let distinct: BTreeSet<&String> = tags.iter().collect();
    assert_eq!(
        distinct.len(),
        THREADS * WRITES,
        "{} of {} answers share a tag",
        tags.len() - distinct.len(),
        tags.len()
    );
    assert!(distinct.contains(&tag(&door, "/a")));
}

/// The thread of a connection computed these tags, and meanwhile no other request on it was answered.
#[test]
fn the_tag_that_a_write_of_a_binary_needs_is_computed_among_the_long_work() {
    let door = Door::open_with(&["--heavy-max", "1", "--request-time-ms", "2000"]);
    let values: Vec<String> = (0..6_000).map(|value| format!("\"{value}\"")).collect();
    let graph = format!("<> <http://x/p> {} .", values.join(", "));
    assert_eq!(door.request("PUT", "/c", &[TURTLE], Some(&graph)).status, 201);
    assert_eq!(door.request("PUT", "/file", &[TEXT], Some("bytes")).status, 201);
    assert_eq!(door.request("PUT", "/file/fcr:metadata", &[TURTLE], Some(&graph)).status, 204);
    // In a text without order the search has a new state for each letter.
    let mut random = 1_u64;
    let bits = (0..2 << 20).map(|_| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        if random >> 63 == 0 { 'a' } else { 'b' }
    });
    let text: String = bits.collect();
    let large = json!({"id": "large", "type": "t", "properties": {"text": text}});
    assert_eq!(door.server.send("POST", "/v1/entities", &large).status, 201);
    for (method, path, status) in [("POST", "/c", 201), ("PUT", "/file", 204)] {
        let tag = door.request("HEAD", path, &[], None).header("etag").unwrap().to_owned();
        std::thread::scope(|scope| {
            let long = json!({"where": ["text =~ /[ab]*a[ab]{1500}c/"]});
            let server = &door.server;
            let search = scope.spawn(move || server.send("POST", "/v1/find", &long).status);
            // The other one in flight is the request for metrics.
            while !server.get("/metrics").body.contains("annals_http_requests_in_flight 2") {}
            let begin = Instant::now();
            let answer = door.request(method, path, &[TEXT, ("if-match", &tag)], Some("others"));
            assert_eq!(answer.status, status, "{answer:?}");
            // The tag of stored bytes is short.
            let waited = begin.elapsed() > Duration::from_millis(500);
            assert_eq!(waited, method == "POST", "{method}: {:?}", begin.elapsed());
            assert_eq!(search.join().unwrap(), 504);
        });
    }
}
