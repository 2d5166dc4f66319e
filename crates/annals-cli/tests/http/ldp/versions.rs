//! Versions of resources of the LDP door (RFC 7089): time gates, time maps and mementos, straight from history.

use super::resources::Door;
use crate::support::Answer;

const LATE: (&str, &str) = ("accept-datetime", "Fri, 01 Jan 2100 00:00:00 GMT");
const EARLY: (&str, &str) = ("accept-datetime", "Thu, 01 Jan 1970 00:00:00 GMT");
const N_TRIPLES: (&str, &str) = ("accept", "application/n-triples");

fn has_link(answer: &Answer, wanted: &str) -> bool {
    answer.headers.iter().any(|(name, value)| name == "link" && value == wanted)
}

/// Adds a version, and waits until its second has passed.
fn version(door: &Door, path: &str) -> String {
    let answer = door.request("POST", &format!("{path}/fcr:versions"), &[], None);
    assert_eq!(answer.status, 201, "{answer:?}");
    assert!(answer.header("memento-datetime").is_some(), "{answer:?}");
    answer.header("location").unwrap().to_owned()
}

fn listed(door: &Door, path: &str) -> Vec<String> {
    let answer = door.request("GET", &format!("{path}/fcr:versions"), &[], None);
    assert_eq!(
        (answer.status, answer.header("content-type")),
        (200, Some("application/link-format")),
        "{answer:?}"
    );
    let mementos = answer.body.lines().filter(|line| line.contains("memento\"; datetime="));
    mementos.map(|line| line[1..line.find('>').unwrap()].to_owned()).collect()
}

#[test]
fn a_version_stays_as_it_was_and_names_the_original() {
    let door = Door::open();
    door.turtle("PUT", "/a/b", "<> dc:title 'one' ; dc:relation </rest/a> .");
    let first = version(&door, "/a/b");
    let before = door.get("/a/b").body;
    door.turtle("PUT", "/a/b", "<> dc:title 'two' .");
    let memento = door.request("GET", &first, &[N_TRIPLES], None);
    assert_eq!((memento.status, &memento.body), (200, &before));
    assert!(before.contains("\"one\"") && before.contains(&format!("<{}/a/b> ", door.root)), "{before}");
    assert!(door.get("/a/b").body.contains("\"two\""));
    let iri = format!("{}/a/b", door.root);
    for link in [
        format!("<{iri}>; rel=\"original timegate\""),
        format!("<{iri}/fcr:versions>; rel=\"timemap\"; type=\"application/link-format\""),
        "<http://mementoweb.org/ns#Memento>; rel=\"type\"".to_owned(),
        "<http://www.w3.org/ns/ldp#BasicContainer>; rel=\"type\"".to_owned(),
    ] {
        assert!(has_link(&memento, &link), "{link} in {memento:?}");
    }
    let time = memento.header("memento-datetime").unwrap();
    assert!(time.ends_with(" GMT"), "{time}");
    assert!(!memento.header("vary").unwrap().to_lowercase().contains("accept-datetime"));
    let head = door.request("HEAD", &first, &[N_TRIPLES], None);
    assert_eq!((head.status, head.header("memento-datetime")), (200, Some(time)));
    let options = door.request("OPTIONS", &first, &[], None);
    assert_eq!((options.status, options.header("allow")), (200, Some("GET, HEAD, OPTIONS")));
    for method in ["PUT", "POST", "PATCH", "DELETE"] {
        let answer = door.request(method, &first, &[], None);
        assert_eq!((answer.status, answer.header("allow")), (405, Some("GET, HEAD, OPTIONS")), "{method}");
    }
}

#[test]
fn the_time_gate_redirects_to_the_version_of_the_time() {
    let door = Door::open();
    door.turtle("PUT", "/a", "<> dc:title 'one' .");
    let first = version(&door, "/a");
    let time = door.request("GET", &first, &[], None).header("memento-datetime").unwrap().to_owned();
    door.turtle("PUT", "/a", "<> dc:title 'two' .");
    let present = door.get("/a");
    let iri = format!("{}/a", door.root);
    for link in [
        format!("<{iri}>; rel=\"original timegate\""),
        format!("<{iri}/fcr:versions>; rel=\"timemap\"; type=\"application/link-format\""),
        "<http://mementoweb.org/ns#OriginalResource>; rel=\"type\"".to_owned(),
        "<http://mementoweb.org/ns#TimeGate>; rel=\"type\"".to_owned(),
    ] {
        assert!(has_link(&present, &link), "{link} in {present:?}");
    }
    assert!(present.header("vary").unwrap().contains("Accept-Datetime"), "{present:?}");
    let all = listed(&door, "/a");
    assert!(all.len() >= 2 && all.contains(&first), "{all:?}");
    for (wanted, expected) in
        [(EARLY, &all[0]), (("accept-datetime", &*time), &first), (LATE, all.last().unwrap())]
    {
        for method in ["GET", "HEAD"] {
            let answer = door.request(method, "/a", &[wanted], None);
            assert_eq!((answer.status, answer.header("location")), (302, Some(&**expected)), "{wanted:?}");
            assert!(answer.header("vary").unwrap().contains("Accept-Datetime"), "{answer:?}");
            assert!(has_link(&answer, &format!("<{iri}>; rel=\"original timegate\"")), "{answer:?}");
        }
    }
    assert_eq!(door.request("GET", "/a", &[("accept-datetime", "yesterday")], None).status, 400);
    assert_eq!(door.request("GET", "/none", &[LATE], None).status, 404);
}

#[test]
fn a_time_map_is_links_or_a_container_of_mementos() {
    let door = Door::open();
    door.turtle("PUT", "/a", "<> dc:title 'one' .");
    let first = version(&door, "/a");
    // Nothing changed, and there is a version all the same.
    let second = version(&door, "/a");
    assert_ne!(first, second);
    let all = listed(&door, "/a");
    assert!(all.ends_with(&[first.clone(), second.clone()]), "{all:?}");
    let (iri, map) = (format!("{}/a", door.root), format!("{}/a/fcr:versions", door.root));
    let links = door.request("GET", &map, &[("accept", "application/link-format")], None);
    assert!(
        links.body.starts_with(&format!("<{iri}>; rel=\"original timegate\",\n<{map}>; rel=\"self\"")),
        "{links:?}"
    );
    let graph = door.request("GET", &map, &[N_TRIPLES], None);
    assert_eq!(graph.header("content-type"), Some("application/n-triples"));
    for memento in &all {
        let line = format!("<{map}> <http://www.w3.org/ns/ldp#contains> <{memento}> .");
        assert!(graph.body.contains(&line), "{line} in {}", graph.body);
    }
    for answer in [&links, &graph, &door.request("OPTIONS", &map, &[], None)] {
        assert_eq!(answer.header("allow"), Some("GET, HEAD, OPTIONS, POST"), "{answer:?}");
        assert!(answer.header("accept-post").is_some());
        assert!(has_link(answer, "<http://mementoweb.org/ns#TimeMap>; rel=\"type\""), "{answer:?}");
        assert!(has_link(answer, "<http://www.w3.org/ns/ldp#Container>; rel=\"type\""), "{answer:?}");
    }
    assert!(!door.get("/a").body.contains("fcr:versions"));
    assert_eq!(door.request("DELETE", &map, &[], None).status, 405);
    assert_eq!(door.request("GET", "/none/fcr:versions", &[], None).status, 404);
    assert_eq!(door.request("GET", "/a/fcr:versions/19990101000000", &[], None).status, 404);
    assert_eq!(door.request("GET", "/a/fcr:versions/now", &[], None).status, 404);
    // The root has versions too.
    assert_eq!(door.request("GET", "/fcr:versions", &[], None).status, 200);
}

#[test]
fn a_client_cannot_choose_the_time_or_the_state_of_a_version() {
    let door = Door::open();
    door.turtle("PUT", "/a", "<> dc:title 'one' .");
    let headers = [("memento-datetime", "Fri, 01 Jan 1999 00:00:00 GMT"), ("content-type", "text/turtle")];
    let answer = door.request("POST", "/a/fcr:versions", &headers, Some("<> <urn:p> 'x' ."));
    assert_eq!(answer.status, 409, "{answer:?}");
    assert!(answer.body.contains("leave the header out"), "{answer:?}");
    let constraints =
        format!("<{}/fcr:constraints>; rel=\"http://www.w3.org/ns/ldp#constrainedBy\"", door.root);
    assert!(has_link(&answer, &constraints), "{answer:?}");
    // A body without the header is ignored.
    let answer =
        door.request("POST", "/a/fcr:versions", &[("content-type", "text/turtle")], Some("<> <urn:p> 'x' ."));
    assert_eq!(answer.status, 201, "{answer:?}");
    assert!(!door.get("/a").body.contains("urn:p"));
    assert_eq!(door.request("POST", "/none/fcr:versions", &[], None).status, 404);
}

#[test]
fn a_binary_and_its_description_have_versions() {
    let door = Door::open();
    let text = [("content-type", "text/plain")];
    door.request("PUT", "/a/file", &text, Some("one"));
    door.turtle("PUT", "/a/file/fcr:metadata", "<> dc:title 'first' .");
    let first = version(&door, "/a/file");
    let description = version(&door, "/a/file/fcr:metadata");
    assert!(description.starts_with(&format!("{}/a/file/fcr:metadata/fcr:versions/", door.root)));
    door.request("PUT", "/a/file", &text, Some("three"));
    door.turtle("PUT", "/a/file/fcr:metadata", "<> dc:title 'last' .");
    let memento = door.request("GET", &first, &[], None);
    assert_eq!((memento.status, &*memento.body), (200, "one"), "{memento:?}");
    assert!(has_link(&memento, "<http://www.w3.org/ns/ldp#NonRDFSource>; rel=\"type\""), "{memento:?}");
    let part = door.request("GET", &first, &[("range", "bytes=1-1")], None);
    assert_eq!((part.status, &*part.body), (206, "n"));
    let memento = door.request("GET", &description, &[N_TRIPLES], None);
    assert!(memento.body.contains("\"first\"") && !memento.body.contains("\"last\""), "{memento:?}");
    assert!(has_link(&memento, &format!("<{}/a/file>; rel=\"describes\"", door.root)), "{memento:?}");
    let answer = door.request("GET", "/a/file", &[LATE], None);
    assert_eq!(answer.status, 302);
    let answer = door.request("GET", "/a/file/fcr:metadata", &[LATE], None);
    assert!(answer.header("location").unwrap().contains("/fcr:metadata/fcr:versions/"), "{answer:?}");
    assert_eq!(door.request("GET", "/a/fcr:metadata/fcr:versions", &[], None).status, 404);
}

#[test]
fn a_deleted_resource_keeps_its_versions_until_its_tombstone_is_deleted() {
    let door = Door::open();
    door.turtle("PUT", "/a/kept", "<> dc:title 'one' .");
    door.turtle("PUT", "/a/plain", "<> dc:title 'one' .");
    door.turtle("PUT", "/c", "<> dc:relation </rest/a/kept> .");
    for path in ["/a/kept", "/a/plain"] {
        // Deleted in the second in which it was created, perhaps.
        assert_eq!(door.request("DELETE", path, &[], None).status, 204);
        let all = listed(&door, path);
        assert_eq!(all.len(), 1, "{all:?}");
        let memento = door.request("GET", &all[0], &[N_TRIPLES], None);
        assert!(memento.status == 200 && memento.body.contains("\"one\""), "{memento:?}");
        let gone = door.get(path);
        assert_eq!(gone.status, 410);
        assert!(has_link(&gone, &format!("<{}{path}/fcr:versions>; rel=\"timemap\"", door.root)), "{gone:?}");
        assert_eq!(door.request("GET", path, &[LATE], None).header("location"), Some(&*all[0]));
        assert_eq!(door.request("POST", &format!("{path}/fcr:versions"), &[], None).status, 410);
    }
    assert_eq!(door.request("DELETE", "/a/plain/fcr:tombstone", &[], None).status, 204);
    assert_eq!(door.request("GET", "/a/plain/fcr:versions", &[], None).status, 404);
}

/// Story: the tombstone of a resource was deleted, and a memento of another one lost its statement about it.
#[test]
fn a_memento_keeps_statements_about_a_resource_whose_tombstone_is_deleted() {
    let door = Door::open();
    door.turtle("PUT", "/a/c/below", "");
    door.turtle("PUT", "/other", "");
    let says = format!("<> dc:relation <{0}/a/c> . <#part> dc:relation <{0}/a/c/below> .", door.root);
    door.turtle("PUT", "/says", &says);
    let memento = version(&door, "/says");
    let read = || door.request("GET", &memento, &[N_TRIPLES], None).body;
    let before = read();
    assert!(before.contains("/a/c> .") && before.contains("/a/c/below> ."), "{before}");
    door.turtle("PUT", "/says", "");
    let bury = |path: &str| {
        let buried = door.request("DELETE", &format!("{path}/fcr:tombstone"), &[], None);
        assert_eq!(buried.status, 204, "{path}: {buried:?}");
    };
    for path in ["/a", "/other"] {
        assert_eq!(door.request("DELETE", path, &[], None).status, 204);
        bury(path);
    }
    assert_eq!(read(), before);
    // A resource that the statements name has a tombstone of its own; the other addresses are free.
    for (path, status) in [("/a", 404), ("/a/c", 410), ("/a/c/below", 410), ("/other", 404)] {
        assert_eq!(door.get(path).status, status, "{path}");
    }
    for path in ["/a/c", "/a/c/below"] {
        bury(path);
        assert_eq!(door.get(path).status, 404);
    }
    for path in ["/a/c", "/a/c/below", "/other"] {
        assert_eq!(door.turtle("PUT", path, "").status, 201, "{path}");
    }
    assert_eq!(read(), before);
}

#[test]
fn a_change_of_a_link_or_of_a_part_makes_a_version() {
    let door = Door::open();
    door.turtle("PUT", "/b", "");
    door.turtle("PUT", "/a", "<> dc:title 'one' .");
    version(&door, "/a");
    for (step, update) in [
        "INSERT DATA { <> dc:relation </rest/b> }",
        "INSERT DATA { <#part> dc:title 'part' }",
        "DELETE DATA { <> dc:relation </rest/b> }",
        "DELETE DATA { <#part> dc:title 'part' }",
    ]
    .into_iter()
    .enumerate()
    {
        let (versions, tag) = (listed(&door, "/a").len(), door.get("/a").header("etag").unwrap().to_owned());
        assert_eq!(door.update("PATCH", "/a", update).status, 204, "{update}");
        assert_ne!(door.get("/a").header("etag"), Some(&*tag), "{update}");
        assert!(listed(&door, "/a").len() > versions, "{step}: {update}");
        // So that the next change is in another second.
        version(&door, "/b");
    }
    let (versions, tag) = (listed(&door, "/a").len(), door.get("/a").header("etag").unwrap().to_owned());
    assert_eq!(door.turtle("PUT", "/a", "<> dc:title 'one' ; dc:relation </rest/b> .").status, 204);
    assert_ne!(door.get("/a").header("etag"), Some(&*tag));
    assert!(listed(&door, "/a").len() > versions);
}
