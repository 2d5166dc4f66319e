//! Members of containers of the LDP door, preferences, long answers, and binaries.

use super::resources::Door;

const INBOUND: (&str, &str) = (
    "prefer",
    "return=representation; include=\"http://fedora.info/definitions/v4/repository#InboundReferences\"",
);
const N_TRIPLES: (&str, &str) = ("accept", "application/n-triples");

fn count(body: &str, text: &str) -> usize {
    body.lines().filter(|line| line.contains(text)).count()
}

#[test]
fn an_indirect_container_makes_members_of_another_resource() {
    let door = Door::open();
    door.request("PUT", "/objects", &[], None);
    door.request("PUT", "/elsewhere", &[], None);
    let rule = "<> a ldp:IndirectContainer ; ldp:hasMemberRelation pcdm:hasMember ;
        ldp:insertedContentRelation ore:proxyFor ; ldp:membershipResource <../collection> .";
    assert_eq!(door.turtle("PUT", "/elsewhere/members", rule).status, 201);
    door.request("PUT", "/collection", &[], None);
    let mut last = String::new();
    for _ in 0..10 {
        let object = door.update("POST", "/objects", "insert { <> a pcdm:Object } where { }").body;
        last = door
            .turtle("POST", "/elsewhere/members", &format!("<> a ore:Proxy ; ore:proxyFor <{object}> ."))
            .body;
    }
    let answer = door.get("/collection");
    assert_eq!(count(&answer.body, "hasMember"), 10, "{}", answer.body);
    assert!(
        answer.body.contains(&format!(
            "<{0}/collection> <http://pcdm.org/models#hasMember> <{0}/objects/",
            door.root
        ))
    );
    let tag = answer.header("etag").unwrap().to_owned();
    assert_eq!(door.request("DELETE", &last, &[], None).status, 204);
    let answer = door.get("/collection");
    assert_eq!(count(&answer.body, "hasMember"), 9);
    assert_ne!(answer.header("etag"), Some(&*tag));
    // A graph that was read can be written back: its members are left out.
    let headers = [("content-type", "application/n-triples"), ("if-match", answer.header("etag").unwrap())];
    assert_eq!(door.request("PUT", "/collection", &headers, Some(&answer.body)).status, 204);
    assert_eq!(count(&door.get("/collection").body, "hasMember"), 9);
    let omit = "return=representation; omit=\"http://www.w3.org/ns/ldp#PreferMembership\"";
    let answer = door.request("GET", "/collection", &[N_TRIPLES, ("prefer", omit)], None);
    assert_eq!(count(&answer.body, "hasMember"), 0);
    assert_eq!(answer.header("preference-applied"), Some("return=representation"));
}

#[test]
fn inbound_references_are_shown_if_the_client_asks() {
    let door = Door::open();
    door.request("PUT", "/objects", &[], None);
    door.request("PUT", "/collection", &[], None);
    for _ in 0..5 {
        let object = door.update("POST", "/objects", "insert { <> a pcdm:Object } where { }").body;
        let rule = format!(
            "<> a ldp:IndirectContainer ; ldp:hasMemberRelation pcdm:memberOf ;
            ldp:insertedContentRelation ore:proxyIn ; ldp:membershipResource <{object}> ."
        );
        assert_eq!(door.turtle("PUT", &format!("{object}/membership"), &rule).status, 201);
        let proxy =
            format!("<> a ore:Proxy ; ore:proxyFor <{object}> ; ore:proxyIn <{}/collection> .", door.root);
        assert_eq!(door.turtle("POST", &format!("{object}/membership"), &proxy).status, 201);
    }
    assert_eq!(count(&door.get("/collection").body, "memberOf"), 0);
    let answer = door.request("GET", "/collection", &[N_TRIPLES, INBOUND], None);
    assert_eq!((count(&answer.body, "memberOf"), count(&answer.body, "proxyIn")), (5, 5), "{}", answer.body);
}

#[test]
fn a_direct_container_makes_members_in_both_directions() {
    let door = Door::open();
    let rule = "<> a ldp:DirectContainer ; ldp:hasMemberRelation pcdm:hasMember ; ldp:membershipResource </rest/c> .";
    assert_eq!(door.turtle("PUT", "/c/members", rule).status, 201);
    let rule = "<> a ldp:DirectContainer ; ldp:isMemberOfRelation pcdm:memberOf ; ldp:membershipResource </rest/c> .";
    assert_eq!(door.turtle("PUT", "/c/others", rule).status, 201);
    let member = door.request("POST", "/c/members", &[], None).body;
    let other = door.request("POST", "/c/others", &[], None).body;
    assert!(
        door.get("/c")
            .body
            .contains(&format!("<{}/c> <http://pcdm.org/models#hasMember> <{member}> .", door.root))
    );
    assert!(
        door.get(&other)
            .body
            .contains(&format!("<{other}> <http://pcdm.org/models#memberOf> <{}/c> .", door.root))
    );
}

#[test]
fn a_long_answer_is_whole() {
    let door = Door::open();
    door.request("PUT", "/a", &[], None);
    // Turtle with many statements: more than one part of an answer.
    let mut body = String::from("<> dc:title ");
    for number in 0..6_000 {
        body.push_str(&format!("\"title number {number}\", "));
    }
    body.push_str("\"last\" .");
    assert_eq!(door.turtle("PUT", "/a", &body).status, 204);
    let answer = door.get("/a");
    assert_eq!(answer.header("transfer-encoding"), Some("chunked"));
    assert_eq!(count(&answer.body, "title"), 6_001);
    assert_eq!(answer.header("content-type"), Some("application/n-triples"));
}

#[test]
fn binaries_are_stored_with_a_description() {
    let door = Door::open();
    door.request("PUT", "/a", &[], None);
    let headers = [
        ("content-type", "application/x-www-form-urlencoded"),
        ("digest", "md5=900150983cd24fb0d6963f7d28e17f72"),
    ];
    let answer = door.request("POST", "/a", &headers, Some("abc"));
    assert_eq!(answer.status, 201, "{answer:?}");
    let binary = answer.body.clone();
    assert!(
        answer
            .headers
            .iter()
            .any(|(_, value)| value.starts_with(&format!("<{binary}/fcr:metadata>; rel=\"describedby\"")))
    );
    let read = door.request("GET", &binary, &[("accept", "text/turtle")], None);
    assert_eq!(
        (read.status, &*read.body, read.header("content-type")),
        (200, "abc", Some("application/x-www-form-urlencoded"))
    );
    assert!(read.header("etag").is_some());
    assert_eq!(door.request("POST", "/a", &headers, Some("abd")).status, 409);
    assert!(door.get("/a").body.contains(&format!("ldp#contains> <{binary}>")));
    // The description.
    let description = format!("{binary}/fcr:metadata");
    assert_eq!(
        door.update(
            "PATCH",
            &description,
            &format!("insert {{ <{binary}> dc:title \"letters\" }} where {{ }}")
        )
        .status,
        204
    );
    assert_eq!(
        count(
            &door.get(&description).body,
            &format!("<{binary}> <http://purl.org/dc/elements/1.1/title> \"letters\"")
        ),
        1
    );
    assert_eq!(door.update("PATCH", &binary, "insert { <> dc:title 1 } where { }").status, 405);
    assert_eq!(door.request("GET", "/a/fcr:metadata", &[N_TRIPLES], None).body, door.get("/a").body);
    // Other bytes.
    let put = door.request(
        "PUT",
        &binary,
        &[("content-type", "image/png; charset=x"), ("if-match", read.header("etag").unwrap())],
        Some("png"),
    );
    assert_eq!(put.status, 204, "{put:?}");
    assert_eq!(
        door.request(
            "PUT",
            &binary,
            &[("content-type", "image/png"), ("if-match", read.header("etag").unwrap())],
            Some("x")
        )
        .status,
        412
    );
    assert_eq!(door.request("GET", &binary, &[], None).body, "png");
    assert_eq!(count(&door.get(&description).body, "letters"), 1);
    assert_eq!(door.request("PUT", "/a", &[("content-type", "image/png")], Some("x")).status, 409);
    assert_eq!(door.request("DELETE", &binary, &[], None).status, 204);
    assert_eq!((door.request("GET", &binary, &[], None).status, door.get(&description).status), (410, 410));
}
