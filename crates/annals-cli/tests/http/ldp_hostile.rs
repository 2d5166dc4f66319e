//! Requests of the LDP door that would lose something, or leave a resource that no client understands.

use super::ldp::Door;
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
