//! Tests the expectations of clients of Fedora: names of headers, dates, digests, preferences, and calls of older
//! clients.

use std::io::{Read, Write};

use super::resources::Door;
use crate::support::Answer;

const TEXT: (&str, &str) = ("content-type", "text/plain");
const TURTLE: (&str, &str) = ("content-type", "text/turtle");
const LDP: &str = "http://www.w3.org/ns/ldp#";

fn model(name: &str) -> String {
    format!("<{LDP}{name}>; rel=\"type\"")
}

fn is_constrained(answer: &Answer) -> bool {
    answer.headers.iter().any(|(name, link)| name == "link" && link.contains("ldp#constrainedBy"))
}

#[test]
fn names_of_headers_have_their_usual_case_over_http_1() {
    let door = Door::open();
    let raw = |head: &str| {
        let host = door.server.address;
        let mut stream = door.server.connect();
        write!(stream, "{head} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    };
    let created = raw("PUT /rest/a");
    for name in ["\r\nLocation: ", "\r\nLink: ", "\r\nETag: ", "\r\nContent-Type: ", "\r\nLast-Modified: "] {
        assert!(created.contains(name), "{name:?} in {created}");
    }
    let read = raw("GET /rest/a");
    for name in ["\r\nLink: ", "\r\nETag: ", "\r\nAccept-Patch: ", "\r\nVary: ", "\r\nAllow: "] {
        assert!(read.contains(name), "{name:?} in {read}");
    }
    assert_eq!(read.matches("\r\nETag: ").count(), 1);
    assert!(!read.contains("\r\nlink: ") && !read.contains("\r\nEtag: "), "{read}");
    let entity = raw("GET /v1/entities/ldp:%2Fa");
    assert!(entity.contains("\r\nETag: ") && entity.contains("\r\nContent-Type: "), "{entity}");
}

#[test]
fn a_date_may_have_a_day_of_one_digit() {
    let door = Door::open();
    door.request("PUT", "/a", &[], None);
    for date in
        ["Sun, 06 Nov 2033 08:49:37 GMT", "Sun, 6 Nov 2033 08:49:37 GMT", "Tue, 1 Jan 2030 00:00:00 GMT"]
    {
        let answer = door.request("GET", "/a", &[("accept-datetime", date)], None);
        assert_eq!(answer.status, 302, "{date}: {answer:?}");
    }
    for date in ["Sun, 006 Nov 2033 08:49:37 GMT", "Sun,  Nov 2033 08:49:37 GMT", "6 Nov"] {
        assert_eq!(door.request("GET", "/a", &[("accept-datetime", date)], None).status, 400, "{date}");
    }
}

#[test]
fn a_body_that_is_no_rdf_makes_no_rdf_source() {
    let door = Door::open();
    for name in ["RDFSource", "BasicContainer", "DirectContainer"] {
        for (method, path) in [("POST", "/"), ("PUT", "/new")] {
            let answer = door.request(method, path, &[TEXT, ("link", &model(name))], Some("text"));
            assert_eq!(
                (answer.status, &*answer.problem()),
                (415, "unsupported-media-type"),
                "{name}: {answer:?}"
            );
            assert!(is_constrained(&answer), "{answer:?}");
        }
    }
    assert!(!door.get("/").body.contains("ldp#contains"));
    let binary = ("link", &*model("NonRDFSource"));
    assert_eq!(door.request("PUT", "/new", &[TURTLE, binary], Some("<> <urn:p> 1 .")).status, 201);
    assert_eq!(door.request("GET", "/new", &[], None).body, "<> <urn:p> 1 .");
}

#[test]
fn a_put_that_would_change_what_a_resource_is_is_refused() {
    let door = Door::open();
    let made = |path: &str, name: &str| {
        assert_eq!(door.request("PUT", path, &[("link", &model(name))], None).status, 201, "{path}");
    };
    made("/source", "RDFSource");
    made("/basic", "BasicContainer");
    made("/direct", "DirectContainer");
    assert_eq!(door.request("PUT", "/binary", &[TEXT], Some("text")).status, 201);
    let put = |path: &str, name: &str| {
        let headers = [if path == "/binary" { TEXT } else { TURTLE }, ("link", &*model(name))];
        door.request("PUT", path, &headers, Some(""))
    };
    for (path, name) in [
        ("/source", "BasicContainer"),
        ("/source", "NonRDFSource"),
        ("/basic", "DirectContainer"),
        ("/basic", "NonRDFSource"),
        ("/basic", "Bogus"),
        ("/direct", "BasicContainer"),
        ("/direct", "IndirectContainer"),
        ("/binary", "RDFSource"),
        ("/binary", "BasicContainer"),
        ("/binary/fcr:metadata", "NonRDFSource"),
        ("/binary/fcr:metadata", "BasicContainer"),
    ] {
        let answer = put(path, name);
        assert_eq!(
            (answer.status, &*answer.problem()),
            (409, "constraint-violated"),
            "{path} {name}: {answer:?}"
        );
        assert!(is_constrained(&answer), "{answer:?}");
    }
    // Models that the resource has already.
    for (path, name) in [
        ("/source", "RDFSource"),
        ("/source", "Resource"),
        ("/basic", "RDFSource"),
        ("/basic", "Container"),
        ("/direct", "RDFSource"),
        ("/direct", "Container"),
        ("/binary/fcr:metadata", "RDFSource"),
    ] {
        let answer = put(path, name);
        assert_eq!(answer.status, 204, "{path} {name}: {answer:?}");
    }
    let types = door.request("HEAD", "/direct", &[], None);
    assert!(types.headers.iter().any(|(_, value)| *value == model("DirectContainer")), "{types:?}");
}

#[test]
fn only_unknown_digests_in_a_wish_are_a_mistake() {
    let door = Door::open();
    door.request("PUT", "/file", &[TEXT], Some("abc"));
    for method in ["GET", "HEAD"] {
        let ask = |wanted| door.request(method, "/file", &[("want-digest", wanted)], None);
        for wanted in ["md2", "md2, crc32;q=0.5", "md2;q=0"] {
            let answer = ask(wanted);
            assert_eq!(answer.status, 400, "{method} {wanted}: {answer:?}");
        }
        let answer = ask("md2, md5;q=0.1");
        assert!(answer.status == 200 && answer.header("digest").is_some(), "{answer:?}");
        assert_eq!(ask("md5;q=0").status, 200);
        // RFC 9530: a wish of the newer header is never a mistake.
        assert_eq!(door.request(method, "/file", &[("want-repr-digest", "md2=1")], None).status, 200);
    }
}

#[test]
fn a_digest_that_no_bytes_have_is_a_wrong_one() {
    let door = Door::open();
    for (digest, status) in [
        ("md5=1234", 409),
        ("MD5=zz", 409),
        ("sha=00", 409),
        ("abc=abc", 400),
        ("md2=00, sha=00", 409),
        ("md5", 400),
    ] {
        for (method, path) in [("POST", "/"), ("PUT", "/file")] {
            let answer = door.request(method, path, &[TEXT, ("digest", digest)], Some("abc"));
            assert_eq!(answer.status, status, "{method} {digest}: {answer:?}");
            assert!(is_constrained(&answer), "{answer:?}");
        }
    }
    assert_eq!(door.get("/file").status, 404);
}

#[test]
fn a_preference_that_was_not_applied_is_not_said_to_be() {
    let door = Door::open();
    door.request("PUT", "/a/b", &[], None);
    let applied = |preference: &str| {
        let answer = door.request("GET", "/a", &[("prefer", preference)], None);
        assert_eq!(answer.status, 200);
        answer.header("preference-applied").map(str::to_owned)
    };
    let described = "http://www.w3.org/ns/oa#PreferContainedDescriptions";
    let minimal = format!("{LDP}PreferMinimalContainer");
    let some = Some("return=representation".to_owned());
    assert_eq!(applied(&format!("return=representation; include=\"{described}\"")), None);
    assert_eq!(applied(&format!("return=representation; omit=\"{described}\"")), None);
    assert_eq!(applied("return=representation; include=\"http://x/other\""), None);
    assert_eq!(applied(&format!("return=representation; include=\"{described} {minimal}\"")), some);
    assert_eq!(applied(&format!("return=representation; include=\"{minimal}\"")), some);
    assert_eq!(applied("return=representation"), some);
    assert_eq!(applied("return=minimal"), None);
}

#[test]
fn the_calls_of_older_clients_are_understood() {
    let door = Door::open();
    let update = ("content-type", "application/sparql-update");
    // pyfc4 asks for the root in this way.
    for path in ["//fcr:metadata", "/fcr:metadata", "//"] {
        let answer = door.get(path);
        assert!(
            answer.status == 200 && answer.body.contains(&format!("<{}/> ", door.root)),
            "{path}: {answer:?}"
        );
    }
    let created = door.request("PUT", "//a//b/", &[], None);
    assert_eq!((created.status, &*created.body), (201, &*format!("{}/a/b", door.root)));
    // The description of a resource in RDF is the resource.
    let insert = "INSERT DATA { <> <http://x/title> \"one\" }";
    assert_eq!(door.request("PATCH", "/a/b/fcr:metadata", &[update], Some(insert)).status, 204);
    let put = "<> <http://x/title> \"two\" .";
    assert!(
        door.get("/a/b/fcr:metadata").body.contains(&format!("<{}/a/b> <http://x/title> \"one\"", door.root))
    );
    assert_eq!(door.request("PUT", "/a/b/fcr:metadata", &[TURTLE], Some(put)).status, 204);
    assert_eq!(door.own("/a/b"), door.own("/a/b/fcr:metadata"));
    for method in ["HEAD", "OPTIONS"] {
        let answer = door.request(method, "/a/b/fcr:metadata", &[], None);
        assert_eq!(
            (answer.status, answer.header("allow")),
            (200, Some("GET, HEAD, OPTIONS, POST, PUT, PATCH, DELETE"))
        );
    }
    for method in ["DELETE", "POST"] {
        let answer = door.request(method, "/a/b/fcr:metadata", &[], None);
        assert_eq!((answer.status, answer.header("allow")), (405, Some("GET, HEAD, OPTIONS, PUT, PATCH")));
    }
    assert_eq!(door.get("/none/fcr:metadata").status, 404);
    // A statement about an address with two slashes is one about the resource.
    let body = format!("<{}//a//c> <http://x/title> \"folded\" .", door.root);
    assert_eq!(door.request("PUT", "/a/c", &[TURTLE], Some(&body)).status, 201);
    assert!(door.get("/a/c").body.contains(&format!("<{}/a/c> <http://x/title> \"folded\"", door.root)));
}

#[test]
fn what_is_not_here_says_what_is() {
    let door = Door::open();
    door.request("PUT", "/a", &[], None);
    for (method, path, word) in [
        ("POST", "/fcr:tx", "transaction"),
        ("GET", "/fcr:tx", "transaction"),
        ("PUT", "/fcr:tx/5c6f8f4c", "transaction"),
        ("GET", "/a/fcr:acl", "roles"),
        ("PUT", "/a/fcr:acl", "roles"),
        ("GET", "/fcr:acl", "roles"),
    ] {
        let answer = door.request(method, path, &[], None);
        let status = if method == "GET" { 404 } else { 409 };
        assert!(answer.status == status && answer.body.contains(word), "{method} {path}: {answer:?}");
    }
    for method in ["COPY", "MOVE"] {
        let answer = door.request(method, "/a", &[("destination", "/rest/b")], None);
        assert_eq!((answer.status, &*answer.problem()), (405, "method-not-allowed"));
        assert_eq!(answer.header("allow"), Some("GET, HEAD, OPTIONS, POST, PUT, PATCH, DELETE"));
    }
}
