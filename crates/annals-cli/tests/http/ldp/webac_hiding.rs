//! Web Access Control at the LDP door: nothing of a resource shows to a client that may not read it.

use super::webac::{N_TRIPLES, Site, TEXT, TURTLE, UPDATE, acl};

#[test]
fn hidden_and_absent_addresses_give_the_same_answer() {
    let site = Site::open();
    for path in ["/open", "/secret", "/secret/there", "/open/closed", "/open/closed/there"] {
        site.put(path, "<> <urn:p> 'CANARY' .");
    }
    site.give("/open", "Read");
    site.put("/open/closed/fcr:acl", "<#a> a acl:Authorization .");
    let text = |token: &str, method: &str, path: &str| {
        let answer = site.ask(token, method, path, &[TURTLE], if method == "PUT" { "broken" } else { "" });
        assert!(
            !answer.headers.iter().any(|(name, _)| name == "etag" || name == "last-modified"),
            "{answer:?}"
        );
        (answer.status, answer.body.replace("/there", "/it").replace("/none", "/it"))
    };
    for method in ["GET", "OPTIONS", "PUT", "PATCH", "POST", "DELETE"] {
        let [there, none] = ["/secret/there", "/secret/none"].map(|path| text(&site.ada, method, path));
        assert_eq!((there.0, &there), (403, &none), "{method}");
        let [there, none] = ["/secret/there", "/secret/none"].map(|path| text("", method, path));
        assert_eq!((there.0, &there), (401, &none), "{method}");
    }
    // The default farther up opens resources below a closed container. An absent address there says nothing.
    assert_eq!(
        [site.read("/open/none"), site.read("/open/closed"), site.read("/open/closed/none")],
        [404, 403, 403]
    );
    for special in
        ["fcr:metadata", "fcr:versions", "fcr:versions/20200101000000", "fcr:acl", "fcr:tombstone", "fcr:tx"]
    {
        let [there, none] = ["/secret/there", "/secret/none"]
            .map(|path| text(&site.ada, "GET", &format!("{path}/{special}")));
        assert_eq!((there.0, &there), (403, &none), "{special}");
    }
    assert_eq!([site.read("/fcr:events"), site.read("/fcr:constraints")], [403, 200]);
}

#[test]
fn a_container_shows_only_the_children_members_and_references_that_may_be_read() {
    let site = Site::open();
    site.put("/a", "");
    site.put("/a/open", "");
    site.put("/a/CANARY", "");
    site.put("/a/CANARY/fcr:acl", "<#a> a acl:Authorization .");
    site.put("/a/from", &format!("<> <urn:to> <{}> .", site.iri("/a")));
    site.put("/a/CANARY/from", &format!("<> <urn:to> <{}> .", site.iri("/a")));
    let rule = |path: &str, relation: &str| {
        let link = ("link", "<http://www.w3.org/ns/ldp#DirectContainer>; rel=\"type\"");
        let body = format!(
            "<> <http://www.w3.org/ns/ldp#membershipResource> <{}> ; <http://www.w3.org/ns/ldp#hasMemberRelation> <{relation}> .",
            site.iri("/a")
        );
        let answer = site.ask(&site.admin, "PUT", path, &[TURTLE, link], &body);
        assert_eq!(answer.status, 201, "{answer:?}");
    };
    rule("/a/members", "urn:member");
    rule("/a/CANARY/members", "urn:CANARY");
    site.put("/a/members/open", "");
    site.put("/a/members/CANARY", "");
    site.put("/a/members/CANARY/fcr:acl", "<#a> a acl:Authorization .");
    site.put("/a/CANARY/members/m", "");
    site.give("/a/CANARY/members/m", "Read");
    // A hidden proxy makes no member of what may be read.
    let link = ("link", "<http://www.w3.org/ns/ldp#IndirectContainer>; rel=\"type\"");
    let body = format!(
        "<> <http://www.w3.org/ns/ldp#membershipResource> <{}> ; <http://www.w3.org/ns/ldp#hasMemberRelation> <urn:listed> ; \
         <http://www.w3.org/ns/ldp#insertedContentRelation> <urn:for> .",
        site.iri("/a")
    );
    assert_eq!(site.ask(&site.admin, "PUT", "/a/list", &[TURTLE, link], &body).status, 201);
    site.put("/a/list/hidden", &format!("<> <urn:for> <{}> .", site.iri("/a/open")));
    site.put("/a/list/hidden/fcr:acl", "<#a> a acl:Authorization .");
    site.give("/a", "Read");
    // The default of /a gives no access to what has an ACL; what is below that has none of its own.
    site.put(
        "/a/CANARY/fcr:acl",
        &format!("<#a> a acl:Authorization ; acl:default <{}> .", site.iri("/a/CANARY")),
    );
    let all =
        "return=representation; include=\"http://fedora.info/definitions/v4/repository#InboundReferences\"";
    let see = |token: &str| site.ask(token, "GET", "/a", &[N_TRIPLES, ("prefer", all)], "");
    let (whole, seen) = (see(&site.admin), see(&site.ada));
    assert_eq!(whole.body.matches("CANARY").count(), 6, "{}", whole.body);
    assert_eq!((seen.status, seen.body.contains("CANARY")), (200, false), "{}", seen.body);
    assert_eq!(
        [&whole, &seen].map(|answer| answer.body.contains("<urn:listed>")),
        [true, false],
        "{}",
        seen.body
    );
    for shown in ["contains> <", "<urn:member> <", "/a/from> <urn:to> <"] {
        assert!(seen.body.contains(shown), "{shown}: {}", seen.body);
    }
    // Nor does the tag tell that they come.
    let tag = || site.ask(&site.ada, "GET", "/a", &[("prefer", all)], "").header("etag").unwrap().to_owned();
    let before = tag();
    site.put("/a/CANARY/more", "");
    site.put("/a/CANARY/members/more", "");
    site.put("/a/members/CANARY/more", "");
    site.put("/a/hidden", &format!("<> <urn:to> <{}> .", site.iri("/a")));
    site.put("/a/hidden/fcr:acl", "<#a> a acl:Authorization .");
    assert_eq!(tag(), before);
    site.put("/a/more", "");
    assert_ne!(tag(), before);
    // A statement of the server that the client may not see is none that it can try.
    site.give("/a", "Read Write");
    let try_one = |child: &str| {
        let body = format!("<> <http://www.w3.org/ns/ldp#contains> <{}> .", site.iri(child));
        site.ask(&site.ada, "PUT", "/a", &[TURTLE], &body).status
    };
    assert_eq!([try_one("/a/open"), try_one("/a/CANARY"), try_one("/a/none")], [204, 409, 409]);
}

#[test]
fn mementos_and_time_maps_obey_the_acls_of_now() {
    let site = Site::open();
    site.put("/a", "<> <urn:p> 'CANARY' .");
    site.put("/a/child", "");
    site.give("/a", "Read");
    let made = site.ask(&site.admin, "POST", "/a/fcr:versions", &[], "");
    let memento = made.header("location").unwrap().trim_start_matches(&site.origin()).to_owned();
    let late = [("accept-datetime", "Fri, 01 Jan 2100 00:00:00 GMT")];
    let gate = || site.ask(&site.ada, "GET", "/a", &late, "").status;
    let shown = site.ask(&site.ada, "GET", &memento, &[N_TRIPLES], "");
    assert!(shown.status == 200 && shown.body.contains("/a/child>"), "{shown:?}");
    assert_eq!([site.read("/a/fcr:versions"), gate()], [200, 302]);
    // A child that is hidden now is hidden in the past, too.
    site.put("/a/child/fcr:acl", "<#a> a acl:Authorization .");
    let shown = site.ask(&site.ada, "GET", &memento, &[N_TRIPLES], "");
    assert!(shown.status == 200 && !shown.body.contains("/a/child>"), "{shown:?}");
    assert_eq!(site.status(&site.ada, "POST", "/a/fcr:versions"), 403);
    site.put("/a/fcr:acl", "<#a> a acl:Authorization .");
    assert_eq!([site.read(&memento), site.read("/a/fcr:versions"), gate()], [403, 403, 403]);
    // The versions of the ACL are for those that control it.
    let versions = format!("{}/fcr:versions", acl("/a"));
    assert_eq!([site.status(&site.admin, "GET", &versions), site.read(&versions)], [200, 403]);
    site.give("/a", "Control");
    assert_eq!(site.read(&versions), 200);
}

#[test]
fn a_write_tells_nothing_to_a_client_that_may_not_read() {
    let site = Site::open();
    site.put("/a", "<> <urn:p> 'CANARY' .");
    site.give("/a", "Write");
    let patch = |more: &[(&str, &str)]| {
        let headers = [&[UPDATE][..], more].concat();
        site.ask(&site.ada, "PATCH", "/a", &headers, "INSERT DATA { <> <urn:q> 'x' }")
    };
    let answer = patch(&[]);
    assert_eq!((answer.status, answer.header("etag"), answer.header("last-modified")), (204, None, None));
    for condition in [("if-match", "*"), ("if-match", "\"x\""), ("if-none-match", "*")] {
        assert_eq!(patch(&[condition]).status, 403, "{condition:?}");
    }
    site.give("/a", "Read Write");
    assert!(patch(&[("if-match", "*")]).header("etag").is_some());
    assert_eq!(patch(&[("if-match", "\"x\"")]).status, 412);
}

#[test]
fn what_a_client_may_not_write_stays_when_it_writes_what_is_around() {
    let site = Site::open();
    for path in ["/a", "/a/b", "/a/b/kept", "/other"] {
        site.put(path, "");
    }
    site.give("/a", "Read Write");
    site.give("/a/b/kept", "Read");
    for path in ["/a", "/a/b", "/a/b/kept"] {
        assert_eq!(site.status(&site.ada, "DELETE", path), 403, "{path}");
    }
    // A container of its own gives no members to the resource of another one.
    let link = ("link", "<http://www.w3.org/ns/ldp#DirectContainer>; rel=\"type\"");
    let to = |path: &str| format!("<> <http://www.w3.org/ns/ldp#membershipResource> <{}> .", site.iri(path));
    let put =
        |name: &str, target: &str| site.ask(&site.ada, "PUT", name, &[TURTLE, link], &to(target)).status;
    assert_eq!([put("/a/m", "/other"), put("/a/m", "/a/b/kept"), put("/a/m", "/none")], [403, 403, 403]);
    assert_eq!([put("/a/m", "/a/b"), put("/a/n", "/a/n")], [201, 201]);
    assert_eq!(site.ask(&site.admin, "PUT", "/a/m", &[TURTLE], &to("/other")).status, 204);
    assert_eq!(put("/a/m", "/a/b"), 204);
    assert_eq!(put("/a/m", "/other"), 403, "not even again");
    // External contents are for roles that write.
    let external = (
        "link",
        "<file:///etc/passwd>; rel=\"http://fedora.info/definitions/fcrepo#ExternalContent\"; handling=\"copy\"",
    );
    assert_eq!(site.ask(&site.ada, "PUT", "/a/x", &[external], "").status, 403);
    site.give("/a/b/kept", "Read Write");
    assert_eq!(site.status(&site.ada, "DELETE", "/a/b"), 204);
}

#[test]
fn the_public_writes_in_no_name() {
    let site = Site::open();
    site.put("/box", "");
    site.give_to("/box", "acl:agentClass foaf:Agent", "Append", false);
    let post = |more: &[(&str, &str)]| site.ask("", "POST", "/box", &[&[TEXT][..], more].concat(), "hello");
    let answer = post(&[]);
    assert_eq!(answer.status, 201, "{answer:?}");
    let forged = post(&[("annals-author", "chief")]);
    assert_eq!((forged.status, &*forged.problem()), (403, "forbidden"), "{forged:?}");
    let log = site.ask(&site.admin, "GET", "/v1/log?limit=1", &[], "");
    assert!(log.status == 200 && !log.body.contains("\"author\":\"chief\""), "{log:?}");
    // The name of a client stays its own.
    let as_other = site.ask(&site.ada, "POST", "/box", &[TEXT, ("annals-author", "chief")], "hello");
    assert_eq!((as_other.status, site.ask(&site.ada, "POST", "/box", &[TEXT], "hello").status), (403, 201));
}
