//! Web Access Control at the LDP door: what the ACL of a resource gives to clients whose roles do not give it.

use std::time::{Duration, Instant};

use crate::http::access::tokens::{Guarded, bearer};
use crate::support::{Answer, try_request};

pub const TURTLE: (&str, &str) = ("content-type", "text/turtle");
pub const UPDATE: (&str, &str) = ("content-type", "application/sparql-update");
pub const TEXT: (&str, &str) = ("content-type", "text/plain");
pub const N_TRIPLES: (&str, &str) = ("accept", "application/n-triples");
const PREFIXES: &str = "@prefix acl: <http://www.w3.org/ns/auth/acl#> . @prefix foaf: <http://xmlns.com/foaf/0.1/> . \
    @prefix vcard: <http://www.w3.org/2006/vcard/ns#> . @prefix ldp: <http://www.w3.org/ns/ldp#> . ";
/// The WebID of the client without a role.
pub const ADA: &str = "https://people.example/ada";

/// A server with ACLs, an admin, and `ada`, whose role gives nothing.
pub struct Site {
    pub guarded: Guarded,
    pub admin: String,
    pub ada: String,
}

impl Site {
    pub fn open() -> Site {
        let guarded = Guarded::start(&["--webac", "--webid-prefix", "https://people.example/"]);
        let admin = guarded.token("chief", &["--role", "admin"]);
        let ada = guarded.token("ada", &["--role", "by-acl"]);
        Site { guarded, admin, ada }
    }

    /// A request with a token; without credentials, if it is empty.
    pub fn ask(&self, token: &str, method: &str, path: &str, more: &[(&str, &str)], body: &str) -> Answer {
        let bearer = bearer(token);
        let credential = [("authorization", bearer.as_str())];
        let headers = [if token.is_empty() { &[][..] } else { &credential }, more].concat();
        let path = path.strip_prefix(&self.origin()).unwrap_or(path).to_owned();
        let path =
            if path.starts_with("/v1") { path } else { format!("/ldp{}", path.trim_start_matches("/ldp")) };
        let body = (!body.is_empty()).then_some(body);
        try_request(self.guarded.server.address, method, &path, &headers, body).expect("the server answers")
    }

    pub fn origin(&self) -> String {
        format!("http://{}", self.guarded.server.address)
    }

    /// The address of a resource.
    pub fn iri(&self, path: &str) -> String {
        format!("{}/ldp{path}", self.origin())
    }

    pub fn put(&self, path: &str, body: &str) {
        let answer = self.ask(&self.admin, "PUT", path, &[TURTLE], &format!("{PREFIXES}{body} "));
        assert!([201, 204].contains(&answer.status), "{path}: {answer:?}");
    }

    /// Writes an ACL with one authorization for `ada`, also for what is below.
    pub fn give(&self, path: &str, modes: &str) {
        self.give_to(path, &format!("acl:agent <{ADA}>"), modes, true);
    }

    pub fn give_to(&self, path: &str, agents: &str, modes: &str, is_default: bool) {
        let modes: Vec<String> = modes.split_whitespace().map(|mode| format!("acl:{mode}")).collect();
        let iri = self.iri(path);
        let default = if is_default { format!("; acl:default <{iri}>") } else { String::new() };
        let rule = format!("{agents} ; acl:mode {} ; acl:accessTo <{iri}> {default}", modes.join(", "));
        self.put(&acl(path), &format!("<#a> a acl:Authorization ; {rule} ."));
    }

    pub fn status(&self, token: &str, method: &str, path: &str) -> u16 {
        self.ask(token, method, path, &[], "").status
    }

    /// The status of a read by `ada`.
    pub fn read(&self, path: &str) -> u16 {
        self.status(&self.ada, "GET", path)
    }

    pub fn update(&self, token: &str, path: &str, body: &str) -> u16 {
        self.ask(token, "PATCH", path, &[UPDATE], body).status
    }
}

pub fn acl(path: &str) -> String {
    format!("{}/fcr:acl", path.trim_end_matches('/'))
}

const INSERT: &str = "INSERT DATA { <> <urn:p> 'more' }";
const REMOVE: &str = "DELETE DATA { <> <urn:p> 'old' }";
const ASK: &str = "INSERT { <> <urn:q> ?o } WHERE { <> <urn:p> ?o }";

#[test]
fn each_mode_allows_its_requests_and_no_others() {
    let site = Site::open();
    // Read, add a child, put a child, add a statement, remove one, ask for some, replace, delete, read the ACL, write it.
    let rows = [
        ("Read", [200, 403, 403, 403, 403, 403, 403, 403, 403, 403]),
        ("Append", [403, 201, 201, 204, 403, 403, 403, 403, 403, 403]),
        ("Read Append", [200, 201, 201, 204, 403, 204, 403, 403, 403, 403]),
        ("Write", [403, 201, 201, 204, 204, 403, 204, 204, 403, 403]),
        ("Read Write", [200, 201, 201, 204, 204, 204, 204, 204, 403, 403]),
        ("Control", [403, 403, 403, 403, 403, 403, 403, 403, 200, 204]),
    ];
    for (index, (modes, expected)) in rows.iter().enumerate() {
        let path = format!("/{index}");
        site.put(&path, "<> <urn:p> 'old' .");
        site.give(&path, modes);
        let ask = |method: &str, path: &str, headers: &[(&str, &str)], body: &str| {
            site.ask(&site.ada, method, path, headers, body).status
        };
        let mut found = vec![ask("GET", &path, &[], "")];
        for method in ["HEAD", "OPTIONS"] {
            assert_eq!(ask(method, &path, &[], ""), found[0], "{modes} {method}");
        }
        assert_eq!(ask("GET", &format!("{path}/fcr:versions"), &[], ""), found[0], "{modes}");
        found.push(ask("POST", &path, &[TEXT], "bytes"));
        found.push(ask("PUT", &format!("{path}/child"), &[TURTLE], " "));
        found.extend([INSERT, REMOVE, ASK].map(|body| site.update(&site.ada, &path, body)));
        found.push(ask("PUT", &path, &[TURTLE], "<> <urn:p> 'new' ."));
        // It needs to write all that is below, which has the same modes.
        let acl_of = acl(&path);
        let read_acl = ask("GET", &acl_of, &[], "");
        let write_acl = site.update(&site.ada, &acl_of, "INSERT DATA { <#a> <urn:note> 'seen' }");
        found.push(ask("DELETE", &path, &[], ""));
        found.extend([read_acl, write_acl]);
        assert_eq!(found, expected, "{modes}");
    }
}

#[test]
fn an_authorization_is_for_the_agents_that_it_names() {
    let site = Site::open();
    let bob = site.guarded.token("bob", &["--role", "by-acl"]);
    site.put("/plain", &format!("<> a vcard:Group ; vcard:hasMember <{ADA}> ."));
    site.put("/many", &format!("<#one> vcard:hasMember <{ADA}> . <#two> vcard:hasMember 'bob' ."));
    let group = |path: &str| format!("acl:agentGroup <{}>", site.iri(path));
    // Of ada, of bob, of a client without credentials.
    for (agents, expected) in [
        (format!("acl:agent <{ADA}>"), [200, 403, 401]),
        ("acl:agent 'ada'".to_owned(), [200, 403, 401]),
        (format!("acl:agent <{ADA}>, 'bob'"), [200, 200, 401]),
        (format!("acl:agent <{ADA}x>, 'ad', <ada>"), [403, 403, 401]),
        ("acl:agentClass acl:AuthenticatedAgent".to_owned(), [200, 200, 401]),
        ("acl:agentClass foaf:Agent".to_owned(), [200, 200, 200]),
        (group("/plain"), [200, 403, 401]),
        (group("/many#one"), [200, 403, 401]),
        (group("/many#two"), [403, 200, 401]),
        (group("/many"), [403, 403, 401]),
        (group("/none"), [403, 403, 401]),
    ] {
        site.put("/a", "");
        site.give_to("/a", &agents, "Read", false);
        let found = [&*site.ada, &bob, ""].map(|token| site.status(token, "GET", "/a"));
        assert_eq!(found, expected, "{agents}");
    }
    // Without the class, a node gives nothing; nor does the document itself.
    let rule = format!("acl:agent <{ADA}> ; acl:mode acl:Read ; acl:accessTo <{}>", site.iri("/a"));
    site.put("/a/fcr:acl", &format!("<#a> {rule} . <> {rule} ."));
    assert_eq!(site.read("/a"), 403);
    // Members come and go.
    site.give_to("/a", &group("/plain"), "Read", false);
    assert_eq!(site.read("/a"), 200);
    site.put("/plain", "<> a vcard:Group .");
    assert_eq!(site.read("/a"), 403);
}

#[test]
fn the_nearest_acl_with_a_default_counts_for_a_resource_without_one() {
    let site = Site::open();
    for path in ["/g", "/g/c", "/g/c/r", "/g/c/s", "/other"] {
        site.put(path, "");
    }
    site.give("/g", "Read Write");
    site.give_to("/g/c", &format!("acl:agent <{ADA}>"), "Read", false);
    let post = |path: &str| site.status(&site.ada, "POST", path);
    assert_eq!(
        [site.read("/g"), site.read("/g/c"), site.read("/g/c/r"), site.read("/other")],
        [200, 200, 200, 403]
    );
    assert_eq!([post("/g"), post("/g/c"), post("/g/c/r"), post("/other")], [201, 403, 201, 403]);
    // A nearer default takes away what a farther one gives.
    site.put("/g/c/fcr:acl", &format!("<#a> a acl:Authorization ; acl:default <{}> .", site.iri("/g/c")));
    assert_eq!([site.read("/g/c"), site.read("/g/c/r")], [403, 403]);
    assert_eq!(site.status(&site.admin, "DELETE", "/g/c/fcr:acl"), 204);
    assert_eq!([site.read("/g/c"), site.read("/g/c/r")], [200, 200]);
    // Of two authorizations, only the one with a default is for what is below.
    let both = |path: &str| {
        let (iri, ada) = (
            site.iri(path),
            format!("a acl:Authorization ; acl:agent <{ADA}> ; acl:accessTo <{}>", site.iri(path)),
        );
        format!("<#r> {ada} ; acl:default <{iri}> ; acl:mode acl:Read . <#w> {ada} ; acl:mode acl:Write .")
    };
    site.put("/g/c/fcr:acl", &both("/g/c"));
    assert_eq!(["/g/c", "/g/c/r"].map(|path| (site.read(path), post(path))), [(200, 201), (200, 403)]);
    // One child, and not its sibling.
    let (above, one) = (site.iri("/g/c"), site.iri("/g/c/r"));
    let rule =
        format!("acl:agent <{ADA}> ; acl:mode acl:Read ; acl:default <{above}> ; acl:accessTo <{one}>");
    site.put("/g/c/fcr:acl", &format!("<#a> a acl:Authorization ; {rule} ."));
    assert_eq!([site.read("/g/c/r"), site.read("/g/c/s"), site.read("/g/c")], [200, 403, 403]);
    // The root shows a default, and gives nothing by it.
    let default = site.ask(&site.admin, "GET", "/fcr:acl", &[N_TRIPLES], "");
    assert!(default.status == 200 && default.body.contains("auth/acl#Authorization"), "{default:?}");
    assert_eq!([site.read("/"), site.read("/fcr:acl")], [403, 403]);
    site.give("/", "Read");
    assert_eq!([site.read("/"), site.read("/other"), site.read("/g/c/s")], [200, 200, 403]);
}

#[test]
fn a_class_opens_its_resources() {
    let site = Site::open();
    site.put("/a", "");
    let given = format!("acl:agent <{ADA}> ; acl:mode acl:Read ; acl:default <{}>", site.iri("/a"));
    site.put("/a/fcr:acl", &format!("<#a> a acl:Authorization ; {given} ; acl:accessToClass <urn:Open> ."));
    site.put("/a/rdf", "<> a <urn:Closed> .");
    site.ask(&site.admin, "PUT", "/a/bytes", &[TEXT], "bytes");
    assert_eq!([site.read("/a/rdf"), site.read("/a/bytes"), site.read("/a")], [403, 403, 403]);
    for path in ["/a/rdf", "/a/bytes/fcr:metadata"] {
        let body =
            format!("INSERT DATA {{ <{}> a <urn:Open> }}", site.iri(path.trim_end_matches("/fcr:metadata")));
        assert_eq!(site.update(&site.admin, path, &body), 204, "{path}");
    }
    assert_eq!(
        [site.read("/a/rdf"), site.read("/a/bytes"), site.read("/a/bytes/fcr:metadata")],
        [200, 200, 200]
    );
    let all = format!("<#a> a acl:Authorization ; {given} ; acl:accessToClass ldp:NonRDFSource .");
    site.put("/a/fcr:acl", &all);
    assert_eq!([site.read("/a/rdf"), site.read("/a/bytes")], [403, 200]);
}

#[test]
fn every_answer_about_a_resource_links_its_acl() {
    let site = Site::open();
    site.put("/a", "");
    let link = format!("<{}>; rel=\"acl\"", site.iri("/a/fcr:acl"));
    let has = |answer: &Answer, link: &str| {
        answer.headers.iter().any(|(name, value)| name == "link" && value == link)
    };
    for (token, method, path) in [
        (&site.admin, "GET", "/a"),
        (&site.admin, "HEAD", "/a/fcr:versions"),
        (&site.admin, "OPTIONS", "/a"),
        (&site.admin, "PUT", "/a"),
        (&site.admin, "GET", "/a/fcr:acl"),
        (&site.ada, "GET", "/a"),
        (&site.ada, "POST", "/a"),
    ] {
        let answer = site.ask(token, method, path, &[], "");
        assert!(has(&answer, &link), "{method} {path}: {answer:?}");
    }
    let root = site.ask(&site.admin, "GET", "/", &[], "");
    assert!(has(&root, &format!("<{}>; rel=\"acl\"", site.iri("/fcr:acl"))), "{root:?}");
    let made = site.ask(&site.admin, "POST", "/a", &[("slug", "new"), TURTLE], " ");
    assert!(has(&made, &format!("<{}>; rel=\"acl\"", site.iri("/a/new/fcr:acl"))), "{made:?}");
    // A client cannot choose another one.
    for (method, path) in [("PUT", "/new"), ("POST", "/a")] {
        let chosen = site.ask(&site.admin, method, path, &[TURTLE, ("link", "</ldp/x>; rel=\"acl\"")], " ");
        assert_eq!((chosen.status, &*chosen.problem()), (409, "constraint-violated"), "{chosen:?}");
    }
    assert_eq!(site.status(&site.admin, "GET", "/new"), 404);
}

#[test]
fn an_acl_that_would_not_do_what_it_says_is_refused() {
    let site = Site::open();
    site.put("/a", "");
    site.put("/b", "");
    let other = site.iri("/b");
    for (rule, word) in [
        ("acl:mode acl:Execute", "acl:Control"),
        ("acl:mode 'Read'", "acl:Control"),
        ("acl:agent 7", "WebID"),
        ("acl:agent [ a foaf:Agent ]", "WebID"),
        ("acl:agentClass foaf:Person", "foaf:Agent"),
        ("acl:agentGroup <http://other.example/group>", "this server"),
        (&format!("acl:accessTo <{other}>"), "whose ACL this is"),
        (&format!("acl:default <{other}>"), "whose ACL this is"),
        ("acl:accessToClass 'Open'", "class"),
    ] {
        let body = format!("{PREFIXES}<#a> a acl:Authorization ; {rule} .");
        let answer = site.ask(&site.admin, "PUT", "/a/fcr:acl", &[TURTLE], &body);
        assert_eq!((answer.status, &*answer.problem()), (409, "constraint-violated"), "{rule}: {answer:?}");
        assert!(answer.json()["detail"].as_str().unwrap().contains(word), "{rule}: {answer:?}");
        let links = answer
            .headers
            .iter()
            .any(|(_, value)| value.ends_with("rel=\"http://www.w3.org/ns/ldp#constrainedBy\""));
        assert!(links && answer.json()["statement"].is_string(), "{answer:?}");
    }
    let statements: String = (0..1_001).map(|number| format!("<#a> <urn:p> {number} . ")).collect();
    let groups: String = (0..11).map(|number| format!("<#a> acl:agentGroup </ldp/b#{number}> . ")).collect();
    for many in [statements, groups] {
        let answer = site.ask(&site.admin, "PUT", "/a/fcr:acl", &[TURTLE], &format!("{PREFIXES}{many}"));
        assert_eq!((answer.status, &*answer.problem()), (413, "too-large"), "{answer:?}");
    }
    assert_eq!(site.ask(&site.admin, "PUT", "/a/fcr:acl", &[TEXT], "no RDF").status, 415);
    assert_eq!(site.status(&site.admin, "GET", "/a/fcr:acl"), 404);
    // A PATCH obeys the same rules, and what was there stays.
    site.give("/a", "Read");
    let bad = "INSERT DATA { <#a> <http://www.w3.org/ns/auth/acl#mode> <urn:x> }";
    assert_eq!(site.update(&site.admin, "/a/fcr:acl", bad), 409);
    let fewer =
        "DELETE DATA { <#a> <http://www.w3.org/ns/auth/acl#mode> <http://www.w3.org/ns/auth/acl#Read> }";
    assert_eq!(
        (site.read("/a"), site.update(&site.admin, "/a/fcr:acl", fewer), site.read("/a")),
        (200, 204, 403)
    );
    // A group that is too large gives nothing, and the log says so.
    let members: String = (0..10_000).map(|number| format!(", 'm{number}'")).collect();
    site.put("/b", &format!("<> vcard:hasMember 'ada' {members} ."));
    site.give_to("/a", &format!("acl:agentGroup <{other}>"), "Read", false);
    assert_eq!(site.read("/a"), 403);
    let deadline = Instant::now() + Duration::from_secs(20);
    // A thread of its own writes the log.
    while !site.guarded.log().contains("too many members") {
        assert!(Instant::now() < deadline, "{}", site.guarded.log());
        std::thread::sleep(Duration::from_millis(5));
    }
}
