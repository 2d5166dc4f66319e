//! Requests of the LDP door that would lose something, or leave a resource that no client understands.

use super::resources::Door;
use crate::support::Answer;

const TEXT: (&str, &str) = ("content-type", "text/plain");

fn problem(answer: &Answer) -> (u16, String) {
    (answer.status, answer.problem())
}

#[test]
fn a_condition_that_is_no_text_replaces_nothing() {
    let door = Door::open();
    assert_eq!(door.turtle("PUT", "/a", "<> dc:title \"kept\" .").status, 201);
    let headers = [("content-type", "text/turtle"), ("if-match", "\u{e9}")];
    let answer = door.request("PUT", "/a", &headers, Some(""));
    assert_eq!(problem(&answer), (412, "precondition-failed".to_owned()), "{}", answer.body);
    assert!(door.get("/a").body.contains("kept"));
}

#[test]
fn a_container_says_each_thing_about_its_members_once_also_after_an_update() {
    let door = Door::open();
    let rule =
        "<> a ldp:DirectContainer ; ldp:membershipResource <a> ; ldp:hasMemberRelation pcdm:hasMember .";
    assert_eq!(door.turtle("PUT", "/members", rule).status, 201);
    for update in [
        "DELETE { <> ldp:membershipResource ?o } WHERE { <> ldp:membershipResource ?o }",
        "DELETE DATA { <> ldp:hasMemberRelation pcdm:hasMember }",
        "DELETE { ?s ?p ?o } WHERE { ?s ?p ?o }",
        "INSERT DATA { <> ldp:membershipResource <b> }",
        "INSERT DATA { <> ldp:isMemberOfRelation pcdm:memberOf }",
        "DELETE { <> ldp:membershipResource <a> } INSERT { <> ldp:membershipResource \"a\" } WHERE { }",
    ] {
        let answer = door.update("PATCH", "/members", update);
        assert_eq!(problem(&answer), (409, "constraint-violated".to_owned()), "{update}: {}", answer.body);
    }
    let change =
        "DELETE { <> ldp:membershipResource <a/> } INSERT { <> ldp:membershipResource <b> } WHERE { }";
    assert_eq!(door.update("PATCH", "/members", change).status, 204);
    let body = door.get("/members").body;
    let resources: Vec<&str> = body.lines().filter(|line| line.contains("membershipResource")).collect();
    assert!(matches!(&resources[..], [one] if one.contains("/b>")), "{body}");
    assert_eq!(door.update("PATCH", "/members", "INSERT DATA { <> dc:title \"x\" }").status, 204);
}

#[test]
fn what_a_container_says_about_its_members_is_an_iri() {
    let door = Door::open();
    for statement in
        ["ldp:membershipResource \"a\"", "ldp:membershipResource []", "ldp:hasMemberRelation \"a\""]
    {
        let answer = door.turtle("PUT", "/members", &format!("<> a ldp:DirectContainer ; {statement} ."));
        assert_eq!(problem(&answer), (409, "constraint-violated".to_owned()), "{statement}: {}", answer.body);
    }
}

#[test]
fn a_binary_stays_a_binary_and_has_nothing_below_it() {
    let door = Door::open();
    assert_eq!(door.request("PUT", "/scan", &[TEXT], Some("bytes")).status, 201);
    let container = ("link", "<http://www.w3.org/ns/ldp#BasicContainer>; rel=\"type\"");
    let expects = ("expect", "100-continue");
    let refused = (409, "constraint-violated".to_owned());
    for (path, headers) in
        [("/scan", vec![TEXT, container]), ("/scan/b", vec![TEXT]), ("/scan/b/c", vec![TEXT, expects])]
    {
        let answer = door.request("PUT", path, &headers, Some("other"));
        assert_eq!(problem(&answer), refused, "{path}: {}", answer.body);
    }
    assert_eq!(problem(&door.turtle("PUT", "/scan/b", "")), refused);
    assert_eq!(door.request("GET", "/scan", &[], None).body, "bytes");
}

#[test]
fn a_part_of_a_content_replaces_nothing() {
    let door = Door::open();
    let whole = "x".repeat(10_000);
    let headers = [TEXT, ("content-range", "bytes 10-11/10000")];
    assert_eq!(door.request("PUT", "/b", &[TEXT], Some(&whole)).status, 201);
    let refused = door.request("PUT", "/b", &headers, Some("zz"));
    assert_eq!(problem(&refused), (400, "invalid-argument".to_owned()), "{}", refused.body);
    assert_eq!(door.get("/b").body.len(), 10_000);
    assert_eq!(door.turtle("PUT", "/g", "").status, 201);
    let graph = [("content-type", "text/turtle"), ("content-range", "bytes 0-1/9")];
    assert_eq!(door.request("PUT", "/g", &graph, Some("")).status, 400);
    let put = |headers: &[(&str, &str)], body| {
        door.server.request("PUT", "/v1/content/c?type=scan", headers, Some(body))
    };
    assert_eq!(put(&[TEXT], &whole).status, 201);
    assert_eq!(put(&headers, "zz").status, 400);
    assert_eq!(door.server.get("/v1/content/c").body.len(), 10_000);
}

#[test]
fn prefixes_and_bases_take_neither_memory_nor_time() {
    let door = Door::open();
    assert_eq!(door.turtle("PUT", "/x", "").status, 201);
    let before = door.server.resident_bytes();
    let values: Vec<String> = (0..40_000).map(|number| format!("a:{number}")).collect();
    let update =
        format!("PREFIX a: <http://x/{}> INSERT DATA {{ <> <p:p> {} }}", "y".repeat(8_000), values.join(","));
    let answer = door.update("PATCH", "/x", &update);
    assert_eq!(problem(&answer), (413, "too-large".to_owned()), "{}", answer.body);
    let bases: String = (0..20_000).map(|number| format!("@base <x{number}/> .\n")).collect();
    let start = std::time::Instant::now();
    let answer = door.turtle("PUT", "/y", &format!("{bases}<a:s> <a:p> <a:o> ."));
    assert_eq!(problem(&answer), (413, "too-large".to_owned()), "{}", answer.body);
    assert!(start.elapsed() < std::time::Duration::from_secs(5), "{:?}", start.elapsed());
    let grown = door.server.resident_bytes().saturating_sub(before);
    assert!(grown < 64 << 20, "{} MiB", grown >> 20);
}
