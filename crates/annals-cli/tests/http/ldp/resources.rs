//! The LDP door: resources in RDF, containers, members, binaries, conditions and refusals.

use std::collections::BTreeSet;

use crate::support::{Answer, Server, try_request};

const TURTLE: (&str, &str) = ("content-type", "text/turtle");
const UPDATE: (&str, &str) = ("content-type", "application/sparql-update");
const N_TRIPLES: (&str, &str) = ("accept", "application/n-triples");
const LDP: &str = "http://www.w3.org/ns/ldp#";
const PREFIXES: &str = "@prefix dc: <http://purl.org/dc/elements/1.1/> . @prefix ldp: <http://www.w3.org/ns/ldp#> . \
    @prefix pcdm: <http://pcdm.org/models#> . @prefix ore: <http://www.openarchives.org/ore/terms/> . ";

/// A server and the address of its root.
pub struct Door {
    pub folder: tempfile::TempDir,
    pub server: Server,
    pub root: String,
}

impl Door {
    pub fn open() -> Door {
        Door::open_with(&[])
    }

    pub fn open_with(arguments: &[&str]) -> Door {
        let folder = tempfile::tempdir().unwrap();
        let arguments = [&["--ldp-root", "/rest"], arguments].concat();
        let server = Server::start(&folder.path().join("repository"), &arguments);
        let root = format!("http://{}/rest", server.address);
        Door { folder, server, root }
    }

    pub fn request(&self, method: &str, path: &str, headers: &[(&str, &str)], body: Option<&str>) -> Answer {
        let path = path.strip_prefix(&self.root).unwrap_or(path);
        let target = format!("/rest{path}");
        try_request(self.server.address, method, &target, headers, body).expect("the server answers")
    }

    pub fn get(&self, path: &str) -> Answer {
        self.request("GET", path, &[N_TRIPLES], None)
    }

    /// The statements of clients, as lines of N-Triples.
    pub fn own(&self, path: &str) -> BTreeSet<String> {
        let answer = self.get(path);
        assert_eq!(answer.status, 200, "{answer:?}");
        let lines = answer.body.lines().filter(|line| !line.contains(LDP));
        lines.map(str::to_owned).collect()
    }

    pub fn turtle(&self, method: &str, path: &str, body: &str) -> Answer {
        self.request(method, path, &[TURTLE], Some(&format!("{PREFIXES}{body}")))
    }

    pub fn update(&self, method: &str, path: &str, body: &str) -> Answer {
        let prefixes = PREFIXES.replace("@prefix", "PREFIX").replace("> .", ">");
        self.request(method, path, &[UPDATE], Some(&format!("{prefixes}{body}")))
    }
}

fn links(answer: &Answer) -> Vec<&str> {
    let links = answer.headers.iter().filter(|(name, _)| name == "link");
    links.map(|(_, value)| value.as_str()).collect()
}

fn has_type(answer: &Answer, name: &str) -> bool {
    links(answer).contains(&&*format!("<{LDP}{name}>; rel=\"type\""))
}

#[test]
fn a_put_without_body_creates_a_container_and_those_above_it() {
    let door = Door::open();
    let answer = door.request("PUT", "/a/b/c", &[], None);
    let iri = format!("{}/a/b/c", door.root);
    assert_eq!((answer.status, &*answer.body), (201, &*iri));
    assert_eq!((answer.header("location"), answer.header("content-type")), (Some(&*iri), Some("text/plain")));
    assert!(has_type(&answer, "BasicContainer") && has_type(&answer, "Resource"), "{answer:?}");
    assert!(
        door.get("/a").body.contains(&format!("<{}/a> <{LDP}contains> <{}/a/b> .", door.root, door.root))
    );
    assert_eq!(door.request("PUT", "/a/b/c", &[], None).status, 409);
    assert_eq!(door.get("/a/b/c/").status, 200);
}

#[test]
fn what_is_put_as_turtle_comes_back_as_the_same_graph() {
    let door = Door::open();
    let body = r#"<> a <http://example.org/T> ; dc:title "hé"@fr, "plain", "3"^^<http://example.org/unit>, 3, 007, 1.50, true, "NaN"^^<http://www.w3.org/2001/XMLSchema#double> ;
        dc:relation <http://example.org/x>, <../other>, <#part>, <> ; dc:creator [ dc:title "nobody" ; dc:relation <#part> ] .
        <#part> dc:title "part" . <http://example.org/outside> dc:title "outside" ."#;
    assert_eq!(door.turtle("PUT", "/a/b", body).status, 201);
    let own = door.own("/a/b");
    let root = &door.root;
    let dc = "http://purl.org/dc/elements/1.1/";
    let xsd = "http://www.w3.org/2001/XMLSchema#";
    for line in [
        format!("<{root}/a/b> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://example.org/T> ."),
        format!("<{root}/a/b> <{dc}title> \"hé\"@fr ."),
        format!("<{root}/a/b> <{dc}title> \"plain\" ."),
        format!("<{root}/a/b> <{dc}title> \"3\"^^<http://example.org/unit> ."),
        format!("<{root}/a/b> <{dc}title> \"3\"^^<{xsd}integer> ."),
        format!("<{root}/a/b> <{dc}title> \"007\"^^<{xsd}integer> ."),
        format!("<{root}/a/b> <{dc}title> \"1.50\"^^<{xsd}decimal> ."),
        format!("<{root}/a/b> <{dc}title> \"true\"^^<{xsd}boolean> ."),
        format!("<{root}/a/b> <{dc}title> \"NaN\"^^<{xsd}double> ."),
        format!("<{root}/a/b> <{dc}relation> <http://example.org/x> ."),
        format!("<{root}/a/b> <{dc}relation> <{root}/other> ."),
        format!("<{root}/a/b> <{dc}relation> <{root}/a/b#part> ."),
        format!("<{root}/a/b> <{dc}relation> <{root}/a/b> ."),
        format!("<{root}/a/b#part> <{dc}title> \"part\" ."),
        format!("<http://example.org/outside> <{dc}title> \"outside\" ."),
    ] {
        assert!(own.contains(&line), "{line} in {own:#?}");
    }
    assert_eq!(own.len(), 18, "{own:#?}");
    // A graph that was read can be written back. This changes only the names of blank nodes.
    let read = door.request("GET", "/a/b", &[], None);
    assert_eq!(read.header("content-type"), Some("text/turtle"));
    let answer =
        door.request("PUT", "/a/b", &[TURTLE, ("if-match", read.header("etag").unwrap())], Some(&read.body));
    assert_eq!(answer.status, 204, "{answer:?}");
    let named = |own: &BTreeSet<String>| -> BTreeSet<String> {
        own.iter().filter(|line| !line.contains("_:")).cloned().collect()
    };
    let again = door.own("/a/b");
    assert_eq!((named(&again), again.len()), (named(&own), own.len()));
    // A replaced graph keeps nothing of the old one.
    assert_eq!(door.turtle("PUT", "/a/b", "<> dc:title \"new\" . <#part> dc:title \"part\" .").status, 204);
    assert_eq!(door.own("/a/b").len(), 2);
    assert_eq!(door.turtle("PUT", "/a/b", body).status, 204);
    assert_eq!(door.own("/a/b").len(), own.len());
}

#[test]
fn the_other_formats_are_read_and_written() {
    let door = Door::open();
    let json = r#"{"@id": "urn:x-arq:DefaultGraphNode", "@graph": [{"@id": "", "http://purl.org/dc/elements/1.1/title": "from JSON"}]}"#;
    assert_eq!(door.request("PUT", "/j", &[("content-type", "application/ld+json")], Some(json)).status, 201);
    assert_eq!(door.own("/j").len(), 1);
    for (accept, media_type) in [
        ("application/ld+json", "application/ld+json"),
        ("application/rdf+xml", "application/rdf+xml"),
        ("*/*", "text/turtle"),
        ("text/html;q=0.9, text/turtle;q=0.5", "text/turtle"),
    ] {
        let answer = door.request("GET", "/j", &[("accept", accept)], None);
        assert_eq!((answer.status, answer.header("content-type")), (200, Some(media_type)));
        assert!(answer.body.contains("from JSON"));
    }
    let answer = door.request("GET", "/j", &[("accept", "image/png")], None);
    assert_eq!((answer.status, answer.problem().as_str()), (406, "not-acceptable"));
    // A Content-Type of a GET means nothing.
    assert_eq!(door.request("GET", "/j", &[("content-type", "application/ld+json or x")], None).status, 200);
    let answer = door.turtle("PUT", "/broken", "<> dc:title .");
    assert_eq!((answer.status, answer.problem().as_str()), (400, "invalid-argument"));
    assert!(links(&answer).iter().any(|link| link.contains("constrainedBy")), "{answer:?}");
}

#[test]
fn updates_add_and_remove_single_statements() {
    let door = Door::open();
    door.request("PUT", "/a", &[], None);
    for count in 1..=30 {
        let update = format!(
            "insert {{ <> dc:title \"this is # {count}\" ; dc:relation <http://e.org/{count}> }} where {{ }}"
        );
        assert_eq!(door.update("PATCH", "/a", &update).status, 204);
    }
    assert_eq!(door.own("/a").len(), 60);
    assert_eq!(
        door.update("PATCH", "/a", "DELETE DATA { <> dc:title \"this is # 7\" , \"unknown\" }").status,
        204
    );
    assert_eq!(door.own("/a").len(), 59);
    let update = "DELETE { <> dc:relation ?o } INSERT { <> dc:source ?o . <#n> dc:title \"node\" } WHERE { <> dc:relation ?o FILTER(?o = <http://e.org/1>) }";
    assert_eq!(door.update("PATCH", "/a", update).status, 204);
    let own = door.own("/a");
    assert!(
        own.contains(&format!(
            "<{}/a> <http://purl.org/dc/elements/1.1/source> <http://e.org/1> .",
            door.root
        ))
    );
    assert_eq!(own.len(), 60);
    // Blank nodes come and go.
    assert_eq!(
        door.update("PATCH", "/a", "INSERT DATA { <> dc:creator [ dc:title \"blank\" ] }").status,
        204
    );
    assert_eq!(door.own("/a").len(), 62);
    assert_eq!(door.update("PATCH", "/a", "DELETE WHERE { <> dc:creator ?b . ?b ?p ?o }").status, 204);
    assert_eq!(door.own("/a").len(), 60);
    assert_eq!(door.update("PATCH", "/a", "DELETE WHERE { ?s ?p ?o }").status, 204);
    assert_eq!(door.own("/a").len(), 0);
    // Links to resources, there or not.
    assert_eq!(door.update("PATCH", "/a", "INSERT DATA { <> dc:relation <b>, <missing> }").status, 204);
    assert_eq!(door.own("/a").len(), 2);
    assert_eq!(door.get("/missing").status, 404);
    assert_eq!(door.update("PATCH", "/a", "DELETE DATA { <> dc:relation <missing> }").status, 204);
    assert_eq!(door.update("PATCH", "/a", "INSERT DATA { <> dc:relation <missing> }").status, 204);
    assert_eq!(door.own("/a").len(), 2);
    assert_eq!(door.request("PATCH", "/a", &[TURTLE], Some("<> a <x> .")).status, 415);
    assert_eq!(door.update("PATCH", "/none", "INSERT DATA { <> dc:title 1 }").status, 404);
}

#[test]
fn statements_of_the_server_cannot_be_changed() {
    let door = Door::open();
    door.request("PUT", "/a/b", &[], None);
    for (method, path, body) in [
        ("PUT", "/a", "<> ldp:contains <x> ."),
        ("PUT", "/a", "<> a ldp:DirectContainer ."),
        ("POST", "/a", "<> ldp:contains <x> ."),
        ("POST", "/a", "<> a ldp:DirectContainer ; ldp:hasMemberRelation ldp:contains ."),
    ] {
        let answer = door.turtle(method, path, body);
        assert_eq!((answer.status, answer.problem().as_str()), (409, "constraint-violated"), "{body}");
        let statement = answer.json()["statement"].as_str().unwrap().to_owned();
        assert!(statement.contains("ns/ldp#"), "{statement}");
        let link = links(&answer)[0].to_owned();
        let document = link.strip_prefix('<').unwrap().split('>').next().unwrap().to_owned();
        assert!(link.contains("http://www.w3.org/ns/ldp#constrainedBy"));
        assert_eq!(door.request("GET", &document, &[], None).status, 200);
    }
    for update in [
        "INSERT DATA { <> ldp:contains <x> }",
        "DELETE DATA { <> ldp:contains <a/b> }",
        "DELETE DATA { <> a ldp:BasicContainer }",
        "INSERT DATA { <> a ldp:IndirectContainer }",
        "CLEAR ALL",
    ] {
        let answer = door.update("PATCH", "/a", update);
        assert_eq!((answer.status, answer.problem().as_str()), (409, "constraint-violated"), "{update}");
    }
}

#[test]
fn a_deleted_resource_is_gone_until_its_tombstone_is_deleted() {
    let door = Door::open();
    door.request("PUT", "/a/b/c", &[], None);
    let before = door.get("/a").header("etag").unwrap().to_owned();
    assert_eq!(door.request("DELETE", "/a/b", &[], None).status, 204);
    assert_ne!(door.get("/a").header("etag"), Some(&*before));
    let answer = door.get("/a/b");
    assert_eq!((answer.status, answer.problem().as_str()), (410, "deleted"));
    assert!(links(&answer).contains(&&*format!("<{}/a/b/fcr:tombstone>; rel=\"hasTombstone\"", door.root)));
    assert_eq!(door.get("/a/b/c").status, 410);
    assert_eq!(door.request("PUT", "/a/b", &[], None).status, 410);
    assert_eq!(door.request("PUT", "/a/b/d", &[], None).status, 410);
    assert!(!door.get("/a").body.contains("contains"));
    let made = door.request("POST", "/a", &[("slug", "b")], None);
    assert_eq!(made.status, 201);
    assert_ne!(made.body, format!("{}/a/b", door.root));
    assert_eq!(door.request("DELETE", "/a/b/fcr:tombstone", &[], None).status, 204);
    assert_eq!(door.get("/a/b").status, 404);
    assert_eq!(door.request("PUT", "/a/b", &[], None).status, 201);
    assert_eq!(door.request("DELETE", "/", &[], None).status, 405);
}

#[test]
fn what_others_say_about_a_deleted_resource_stays() {
    let door = Door::open();
    for path in ["/a/b/c", "/other"] {
        door.request("PUT", path, &[], None);
    }
    assert_eq!(door.turtle("PUT", "/other", "<> dc:relation <a/b>, <a/b/c> .").status, 204);
    assert_eq!(
        door.turtle("PUT", "/a/b", "<> dc:source <other>, <b/c> ; dc:creator [ dc:title 1 ] .").status,
        204
    );
    let before = door.own("/other");
    assert_eq!(door.request("DELETE", "/a", &[], None).status, 204);
    assert_eq!(door.own("/other"), before);
    for path in ["/a", "/a/b", "/a/b/c"] {
        assert_eq!(door.get(path).status, 410, "{path}");
    }
    // A link to a deleted resource that nobody refers to.
    assert_eq!(door.update("PATCH", "/other", "INSERT DATA { <> dc:relation <a> }").status, 204);
    assert_eq!(door.own("/other").len(), 3);
    assert_eq!(door.update("PATCH", "/other", "DELETE DATA { <> dc:relation <a> }").status, 204);
    assert_eq!(door.own("/other"), before);
    for path in ["/a", "/a/b", "/a/b/c"] {
        assert_eq!(door.request("DELETE", &format!("{path}/fcr:tombstone"), &[], None).status, 204, "{path}");
        assert_eq!(door.get(path).status, 404, "{path}");
    }
    assert_eq!(door.turtle("PUT", "/a/b", "<> dc:source <other> .").status, 201);
    assert_eq!(door.own("/a/b").len(), 1);
    assert_eq!(door.own("/other"), before);
}

/// Story: `/other` named `/a` while that was deleted, an update said it again when `/a` was there, and answers had it twice.
/// The first time it became an IRI, because no relationship leads to a deleted resource, and the second time a relationship.
#[test]
fn a_statement_about_a_resource_that_was_made_again_is_there_once() {
    let door = Door::open();
    door.request("PUT", "/a", &[], None);
    assert_eq!(door.request("DELETE", "/a", &[], None).status, 204);
    let says = "<> dc:relation <a>, 'a' . <#part> dc:relation <a> .";
    assert_eq!(door.turtle("PUT", "/other", says).status, 201);
    assert_eq!(door.request("DELETE", "/a/fcr:tombstone", &[], None).status, 204);
    assert_eq!(door.request("PUT", "/a", &[], None).status, 201);
    let before = door.own("/other");
    let update = "INSERT DATA { <> dc:relation <a> . <#part> dc:relation <a> }";
    assert_eq!(door.update("PATCH", "/other", update).status, 204);
    let body = door.get("/other").body;
    let own: Vec<&str> = body.lines().filter(|line| line.contains("/relation>")).collect();
    assert_eq!((own.len(), own.into_iter().map(str::to_owned).collect()), (3, before));
}

#[test]
fn conditions_are_checked() {
    let door = Door::open();
    door.request("PUT", "/a", &[], None);
    let tag = door.get("/a").header("etag").unwrap().to_owned();
    assert_eq!(door.request("GET", "/a", &[("if-none-match", &tag)], None).status, 304);
    let put = |path: &str, name: &str, tag: &str| {
        door.request("PUT", path, &[TURTLE, (name, tag)], Some("")).status
    };
    assert_eq!(put("/a", "if-match", "\"other\""), 412);
    assert_eq!(put("/a", "if-none-match", "*"), 412);
    assert_eq!(put("/none", "if-match", &tag), 412);
    assert_eq!(put("/a", "if-match", &tag), 204);
    // A child changes what the container shows.
    door.request("POST", "/a", &[], None);
    assert_eq!(put("/a", "if-match", &tag), 412);
    assert_eq!(door.request("DELETE", "/a", &[("if-match", &tag)], None).status, 412);
}

#[test]
fn a_slug_names_the_new_resource() {
    let door = Door::open();
    let post = |slug: &str| door.request("POST", "/", &[("slug", slug)], None).body;
    assert_eq!(post("a report / 1"), format!("{}/a-report-1", door.root));
    let second = post("a report / 1");
    assert!(second.starts_with(&format!("{}/a-report-1-", door.root)), "{second}");
    assert_eq!(door.get(&second).status, 200);
    for path in ["/fcr:x", "/a%2Fb", "/a/../b"] {
        assert!([400, 409].contains(&door.request("PUT", path, &[], None).status), "{path}");
    }
    let long = format!("/{}/{}%0A", "x".repeat(200), "y".repeat(200));
    assert_eq!(door.request("PUT", &long, &[], None).status, 201);
    assert_eq!(door.get(&long).status, 200);
    assert!(door.get(&format!("/{}", "x".repeat(200))).body.contains("%0A"));
}

#[test]
fn the_interaction_model_comes_from_the_link_or_from_the_body() {
    let door = Door::open();
    let link = |name: &str| format!("<{LDP}{name}>; rel=\"type\"");
    let post = |headers: &[(&str, &str)], body| door.request("POST", "/", headers, body);
    let plain = post(&[("link", &link("RDFSource")), TURTLE], Some("<> a <http://e.org/T> ."));
    assert!(!has_type(&plain, "Container") && has_type(&plain, "RDFSource"), "{plain:?}");
    assert_eq!(door.request("POST", &plain.body, &[], None).status, 405);
    assert_eq!(door.request("PUT", &format!("{}/x", plain.body), &[], None).status, 409);
    let direct = post(&[("link", &link("DirectContainer"))], None);
    assert!(has_type(&direct, "DirectContainer"), "{direct:?}");
    let body = door.get(&direct.body).body;
    assert!(body.contains(&format!("<{LDP}hasMemberRelation> <{LDP}member>")), "{body}");
    let body = format!("<> a <{LDP}RDFSource> .");
    let basic = post(&[TURTLE], Some(&body));
    assert!(has_type(&basic, "BasicContainer"), "{basic:?}");
    assert_eq!(post(&[("link", &link("Bogus"))], None).status, 400);
    let options = door.request("OPTIONS", &direct.body, &[], None);
    assert_eq!(options.status, 200);
    assert!(options.header("accept-post").unwrap().contains("text/turtle"));
    assert!(options.header("allow").unwrap().contains("PATCH"));
}

#[test]
fn behind_a_proxy_all_addresses_are_public_ones() {
    let public = "https://repo.example/annals";
    let door = Door::open_with(&["--public-url", public]);
    let root = format!("{public}/rest");
    // As a proxy passes them on: with the name of the server, and with the public one.
    let address = door.server.address.to_string();
    for (path, host) in [("/a", &*address), ("/b", "repo.example"), ("/c", "repo.example:8443")] {
        let body = format!("<> <urn:p> <{root}/x>, <{}/x>, <y> .", door.root);
        let origin = ("origin", "https://repo.example");
        let created = door.request("PUT", path, &[TURTLE, ("host", host), origin], Some(&body));
        assert_eq!((created.status, created.header("location")), (201, Some(&*format!("{root}{path}"))));
        let read = door.request("GET", path, &[N_TRIPLES, ("host", host)], None);
        for object in [format!("{root}/x"), format!("{root}/y"), format!("{}/x", door.root)] {
            assert!(read.body.contains(&format!("<{root}{path}> <urn:p> <{object}> .")), "{}", read.body);
        }
        assert!(links(&read).iter().all(|link| !link.contains(&address)), "{read:?}");
        let forged = [N_TRIPLES, ("forwarded", "host=evil.example"), ("x-forwarded-host", "evil.example")];
        assert_eq!(door.request("GET", path, &forged, None).body, read.body);
    }
    // The public ones are relationships, the others are IRIs elsewhere.
    let own = door.server.get("/v1/entities/ldp:%2Fa/neighbors?direction=out").json();
    assert_eq!(own["items"].as_array().map(Vec::len), Some(2), "{own}");
    assert_eq!(door.request("GET", "/a", &[("host", "evil.example")], None).status, 421);
}
