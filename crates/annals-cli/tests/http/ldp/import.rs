//! `annals import ldp`: from one Annals server into another, and from a server that answers as Fedora does.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::process::{Command, Output, Stdio};

use super::resources::Door;

const TURTLE: (&str, &str) = ("content-type", "text/turtle");
const BITMAP: (&str, &str) = ("content-type", "image/x-portable-bitmap");

fn import(from: &str, to: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_annals"));
    command.args(["import", "ldp", from, to, "--author", "mover", "-m", "from the old server"]);
    command.stdin(Stdio::null()).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Everything below a root: for each path the graph as lines with addresses behind `root:`, or the bytes.
fn everything(door: &Door) -> BTreeMap<String, BTreeSet<String>> {
    let mut found = BTreeMap::new();
    let mut waiting = vec![String::new()];
    while let Some(path) = waiting.pop() {
        let answer = door.get(&format!("{path}/"));
        assert_eq!(answer.status, 200, "{path}: {answer:?}");
        let is_graph = answer
            .headers
            .iter()
            .any(|(name, value)| name == "content-type" && value == "application/n-triples");
        if !is_graph {
            let description = door.get(&format!("{path}/fcr:metadata"));
            found.insert(format!("{path}/fcr:metadata"), lines(door, &description.body));
            found.insert(path, BTreeSet::from([answer.body]));
            continue;
        }
        let lines = lines(door, &answer.body);
        let child = |line: &String| {
            let (_, child) = line.split_once("ldp#contains> <root:")?;
            Some(child.split_once('>')?.0.to_owned())
        };
        waiting.extend(lines.iter().filter_map(child));
        found.insert(path, lines);
    }
    found
}

fn lines(door: &Door, body: &str) -> BTreeSet<String> {
    let line = |line: &str| {
        let words = line.replace(&door.root, "root:");
        let words = words.split(' ').map(|word| if word.starts_with("_:") { "_:b" } else { word });
        words.collect::<Vec<_>>().join(" ")
    };
    body.lines().map(line).collect()
}

#[test]
fn an_import_makes_the_same_resources_and_a_second_one_changes_nothing() {
    let (from, to) = (Door::open(), Door::open());
    let created = |answer: crate::support::Answer| assert_eq!(answer.status, 201, "{answer:?}");
    created(from.turtle(
        "PUT",
        "/books",
        "<> dc:title \"Books\"@en , \"Livres\"@fr ; dc:relation </rest/later/x> ; dc:creator [ dc:title \"Ada\" ] .",
    ));
    created(from.turtle("PUT", "/books/a%20b", "<> dc:date 1842 ; dc:part <#p> . <#p> dc:title \"part\" ."));
    created(from.request("PUT", "/books/a%20b/1.pbm", &[BITMAP], Some("P1 2 1\n01\n")));
    let about = "@prefix dc: <http://purl.org/dc/elements/1.1/> . <> dc:title \"page 1\" .";
    let described = from.request("PUT", "/books/a%20b/1.pbm/fcr:metadata", &[TURTLE], Some(about));
    assert_eq!(described.status, 204, "{described:?}");
    let direct = [TURTLE, ("link", "<http://www.w3.org/ns/ldp#DirectContainer>; rel=\"type\"")];
    let relation = "<> <http://www.w3.org/ns/ldp#membershipResource> </rest/books> ; \
                    <http://www.w3.org/ns/ldp#hasMemberRelation> <http://pcdm.org/models#hasMember> .";
    created(from.request("PUT", "/members", &direct, Some(relation)));
    let source = [TURTLE, ("link", "<http://www.w3.org/ns/ldp#RDFSource>; rel=\"type\"")];
    created(from.request("PUT", "/members/1", &source, Some("<> a <http://pcdm.org/models#Object> .")));
    created(from.turtle("PUT", "/later/x", "<> dc:relation </rest/books> ."));

    let first = import(&from.root, &to.root);
    assert!(first.status.success(), "{first:?}");
    let told = text(&first.stdout);
    assert!(told.contains("copied 8 resources: created 7, updated 0, unchanged 1, refused 0"), "{told}");
    assert!(told.contains("wrote 1 binaries with 10 B; the source stated no digest for 0"), "{told}");
    let (there, here) = (everything(&from), everything(&to));
    assert_eq!(there.len(), 9);
    assert_eq!(here, there);

    let again = import(&format!("{}/", from.root), &to.root);
    assert!(text(&again.stdout).contains("created 0, updated 0, unchanged 8, refused 0"), "{again:?}");
    assert_eq!(from.request("PUT", "/books/a%20b/1.pbm", &[BITMAP], Some("P1 2 1\n10\n")).status, 204);
    assert_eq!(from.turtle("PUT", "/later/x", "<> dc:relation <http://elsewhere/> .").status, 204);
    let third = import(&from.root, &to.root);
    assert!(text(&third.stdout).contains("created 0, updated 2, unchanged 6, refused 0"), "{third:?}");
    assert_eq!(everything(&to), everything(&from));
}

/// A server that answers GET as Fedora does. Shape of its answers: path, then the head and the body.
fn old_server(answers: impl FnOnce(&str) -> HashMap<String, (String, String)>) -> String {
    let listener = TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], 0))).unwrap();
    let root = format!("http://{}/rest", listener.local_addr().unwrap());
    let answers = answers(&root);
    std::thread::spawn(move || {
        let mut is_busy = true;
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
            let first = lines.next().unwrap().unwrap();
            let head: Vec<String> = lines.map(Result::unwrap).take_while(|line| !line.is_empty()).collect();
            let is_known = head.iter().any(|line| line == "authorization: Basic YWRhOnNlY3JldA==");
            let path = first.split(' ').nth(1).unwrap().to_owned();
            let takes_all = head.iter().any(|line| line.starts_with("accept: ") && line.contains("*/*"));
            let (head, body) = match answers.get(&*path) {
                _ if !is_known => ("HTTP/1.1 401 Unauthorized".to_owned(), "log in".to_owned()),
                // Once: a client tries again.
                _ if std::mem::take(&mut is_busy) => ("HTTP/1.1 503 Busy".to_owned(), String::new()),
                // As Fedora does, and says nothing more.
                Some((head, _)) if !takes_all && !head.contains("text/turtle") => {
                    ("HTTP/1.1 406 Not Acceptable".to_owned(), String::new())
                }
                Some((head, body)) => (format!("HTTP/1.1 200 OK\r\n{head}"), body.clone()),
                None => ("HTTP/1.1 403 Forbidden".to_owned(), "no access\nat all".to_owned()),
            };
            let length = body.len();
            write!(stream, "{head}\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}").unwrap();
        }
    });
    root
}

#[test]
fn what_fedora_makes_itself_is_left_out_and_refused_resources_are_listed() {
    const PREFIXES: &str = "@prefix ldp: <http://www.w3.org/ns/ldp#> . @prefix dc: <http://purl.org/dc/elements/1.1/> . \
        @prefix premis: <http://www.loc.gov/premis/rdf/v1#> . \
        @prefix fedora: <http://fedora.info/definitions/v4/repository#> .\n";
    const BINARY: &str =
        "link: <http://www.w3.org/ns/ldp#NonRDFSource>; rel=\"type\"\r\ncontent-type: text/plain\r\n";
    let root = old_server(|root| {
        let graph = |body: &str| ("content-type: text/turtle".to_owned(), format!("{PREFIXES}{body}"));
        let described = format!("{BINARY}link: <{root}/a/scan/fcr:metadata>; rel=\"describedby\"\r\n");
        // The digests of "a scan": SHA-1 in hexadecimal digits, as Fedora writes it.
        let digest = "digest: sha=f6f81881cb7b45b990b1f88b3b419070668af260";
        let answers = [
            (
                "/rest/",
                graph(&format!(
                    "<> a ldp:RDFSource , ldp:Container , fedora:RepositoryRoot ; fedora:writable true ; \
                     ldp:contains <{root}/a> , <{root}/no> , <http://elsewhere/x> ."
                )),
            ),
            (
                "/rest/a",
                graph(&format!(
                    "<{root}/a> a ldp:BasicContainer , fedora:Container ; fedora:createdBy \"bob\" ; dc:title \"A\" ; \
                     fedora:hasParent <{root}/> ; ldp:contains <{root}/a/scan> , <{root}/a/torn> ."
                )),
            ),
            ("/rest/a/scan", (format!("{described}{digest}"), "a scan".to_owned())),
            (
                "/rest/a/scan/fcr:metadata",
                graph(&format!(
                    "<{root}/a/scan> a fedora:Binary , ldp:NonRDFSource ; premis:hasSize 6 ; dc:title \"scan\" ."
                )),
            ),
            ("/rest/a/torn", (format!("{BINARY}{digest}"), "a SCAN".to_owned())),
        ];
        answers.into_iter().map(|(path, answer)| (path.to_owned(), answer)).collect()
    });
    let to = Door::open();
    let mut command = Command::new(env!("CARGO_BIN_EXE_annals"));
    command.args(["import", "ldp", &root, &to.root]).env("ANNALS_SOURCE_USER", "ada:secret");
    let done = command.stdin(Stdio::null()).output().unwrap();
    let (out, err) = (text(&done.stdout), text(&done.stderr));
    assert_eq!(done.status.code(), Some(6), "{out}{err}");
    assert!(out.contains("copied 3 resources: created 2, updated 0, unchanged 1, refused 3"), "{out}{err}");
    assert!(err.contains(&format!("{root}/no: the source answers 403 Forbidden: no access\n")), "{err}");
    assert!(err.contains("http://elsewhere/x: it is not below the root of the source"), "{err}");
    let torn =
        format!("{root}/a/torn: the target answers 409 Conflict: content: expected the sha digest f6f8");
    assert!(err.contains(&torn), "{err}");

    let own = to.own("/a");
    let expected = [
        format!("<{}/a> <http://fedora.info/definitions/v4/repository#createdBy> \"bob\" .", to.root),
        format!("<{}/a> <http://purl.org/dc/elements/1.1/title> \"A\" .", to.root),
    ];
    assert_eq!(own, BTreeSet::from(expected));
    assert_eq!(to.get("/a/scan").body, "a scan");
    let described = format!("<{}/a/scan> <http://purl.org/dc/elements/1.1/title> \"scan\" .", to.root);
    let mut own = to.own("/a/scan/fcr:metadata");
    // The server says these itself.
    own.retain(|line| !line.contains("premis/rdf/v1#") && !line.contains("ebucore#"));
    assert_eq!(own, BTreeSet::from([described]));
    assert_eq!(to.get("/a/torn").status, 404);
}

// Seen with Fedora 4.7.5: it puts posted resources below pairs of digits, gives addresses to blank nodes, states no digest
// in headers, and does not escape quotes in names.
#[test]
fn what_fedora_4_does_in_its_own_way_arrives_as_it_was_meant() {
    const UUID: &str = "3f51af56-4ab4-4ab6-b546-a725ff021383";
    const LDP: &str = "http://www.w3.org/ns/ldp#";
    const DC: &str = "http://purl.org/dc/elements/1.1/";
    let answers = |root: &str| {
        let prefixes = format!(
            "@prefix ldp: <{LDP}> . @prefix dc: <{DC}> . @prefix g: <{root}/.well-known/genid/1/> . \
             @prefix premis: <http://www.loc.gov/premis/rdf/v1#> . \
             @prefix ebucore: <http://www.ebu.ch/metadata/ontologies/ebucore/ebucore#> .\n"
        );
        let typed = |model: &str, body: String| {
            let head = format!("content-type: text/turtle\r\nlink: <{LDP}{model}>;rel=\"type\"");
            (head, format!("{prefixes}{body}"))
        };
        let basic = |body: String| typed("BasicContainer", body);
        let scan = format!(
            "content-type: text/plain\r\nlink: <{LDP}NonRDFSource>;rel=\"type\"\r\n\
             link: <{root}/scan/fcr:metadata>; rel=\"describedby\"\r\n\
             content-disposition: attachment; filename=\"a \"b\" c.txt\"; size=6"
        );
        // The SHA-1 of "a scan".
        let about = "ebucore:filename 'a \"b\" c.txt' ; \
                     premis:hasMessageDigest <urn:sha1:f6f81881cb7b45b990b1f88b3b419070668af260>";
        let posted = format!("{root}/direct/3f/51/af/56/{UUID}");
        let answers = [
            (
                "/rest/".to_owned(),
                basic("<> ldp:contains <.well-known> , <col> , <direct> , <scan> .".into()),
            ),
            (
                "/rest/col".into(),
                basic(format!("<> dc:creator g:a . g:a dc:title \"Ada\" ; dc:relation <{posted}> .")),
            ),
            (
                "/rest/direct".into(),
                typed(
                    "DirectContainer",
                    format!(
                        "<> ldp:membershipResource <col> ; ldp:hasMemberRelation dc:part ; ldp:contains <{posted}> ."
                    ),
                ),
            ),
            (format!("/rest/direct/3f/51/af/56/{UUID}"), basic("<> dc:title \"posted\" .".into())),
            ("/rest/scan".into(), (scan, "a scan".to_owned())),
            ("/rest/scan/fcr:metadata".into(), typed("RDFSource", format!("<{root}/scan> {about} ."))),
        ];
        HashMap::from(answers)
    };
    let import = |root: &str, to: &Door, options: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_annals"));
        command.args(["import", "ldp", root, &to.root]).args(options).env("ANNALS_SOURCE_USER", "ada:secret");
        command.stdin(Stdio::null()).output().unwrap()
    };
    let root = old_server(answers);
    let to = Door::open();
    let done = import(&root, &to, &["--shorten-pairs"]);
    assert!(done.status.success(), "{done:?}");
    assert!(text(&done.stdout).contains("created 4, updated 0, unchanged 1, refused 0"), "{done:?}");
    assert!(
        text(&done.stdout).contains("wrote 1 binaries with 6 B; the source stated no digest for 0"),
        "{done:?}"
    );
    assert_eq!(to.get("/.well-known").status, 404);
    let member = format!("{}/direct/{UUID}", to.root);
    let title = format!("<{member}> <{DC}title> \"posted\" .");
    assert!(to.own(&format!("/direct/{UUID}")).contains(&title));
    let col = lines(&to, &to.get("/col").body);
    let expected = [
        format!("<root:/col> <{DC}creator> _:b ."),
        format!("<root:/col> <{DC}part> <root:/direct/{UUID}> ."),
        format!("_:b <{DC}relation> <root:/direct/{UUID}> ."),
        format!("_:b <{DC}title> \"Ada\" ."),
    ];
    for line in expected {
        assert!(col.contains(&line), "{line}: {col:?}");
    }
    let described = to.get("/scan/fcr:metadata").body;
    assert!(described.contains("ebucore#filename> \"a \\\"b\\\" c.txt\""), "{described}");
    assert!(described.contains("<urn:sha1:f6f81881cb7b45b990b1f88b3b419070668af260>"), "{described}");
    let again = import(&root, &to, &["--shorten-pairs"]);
    assert!(text(&again.stdout).contains("created 0, updated 0, unchanged 5, refused 0"), "{again:?}");

    // Without the option, the addresses stay, and a membership that would differ is told.
    let to = Door::open();
    let done = import(&root, &to, &[]);
    assert_eq!(done.status.code(), Some(6), "{done:?}");
    let told = format!(
        "{root}/direct: its members would differ: {root}/direct/3f/51/af/56/{UUID} is in it, but not"
    );
    assert!(text(&done.stderr).contains(&told), "{done:?}");
    assert_eq!(to.get(&format!("/direct/3f/51/af/56/{UUID}")).status, 200);
    assert!(!to.get("/col").body.contains("elements/1.1/part"));
}

#[test]
fn an_import_refuses_addresses_that_it_cannot_read() {
    for (from, to, expected) in [
        ("https://a/rest", "http://b/ldp", "found https, which this command does not speak"),
        ("http://a/rest", "b", "b: expected an address such as http://localhost:8080/rest"),
        ("http://ada:secret@a/rest", "http://b/ldp", "give a user with --source-user"),
    ] {
        let done = import(from, to);
        assert_eq!(done.status.code(), Some(2), "{done:?}");
        assert!(text(&done.stderr).contains(expected), "{done:?}");
    }
}

/// Answers each request with these bytes, then with a byte every 200 ms.
fn dripping_server(head: &'static str) -> String {
    let listener = TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], 0))).unwrap();
    let root = format!("http://{}/rest", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            std::thread::spawn(move || {
                let mut stream = stream.unwrap();
                // A client takes bytes that come before its request for a mistake.
                let _ = stream.read(&mut [0; 4096]);
                let mut text = head.as_bytes();
                // The client closes the connection when it gives up.
                for _ in 0..600 {
                    if stream.write_all(text).is_err() {
                        return;
                    }
                    text = b" ";
                    std::thread::sleep(std::time::Duration::from_millis(200));
                }
            });
        }
    });
    root
}

#[test]
fn a_source_that_drips_is_given_up() {
    let source = dripping_server(
        "HTTP/1.1 200 OK\r\ncontent-type: text/turtle\r\ncontent-length: 100000\r\n\r\n<a:s> <a:p> <a:o> .",
    );
    let to = Door::open();
    let mut command = Command::new(env!("CARGO_BIN_EXE_annals"));
    command.args(["import", "ldp", &source, &to.root, "--author", "mover", "--wait-max", "1"]);
    let mut child = command.stdin(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let start = std::time::Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            assert!(!status.success());
            return;
        }
        if start.elapsed() > std::time::Duration::from_secs(40) {
            child.kill().unwrap();
            panic!("the source is never given up");
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
}

/// A document without end took a gigabyte.
#[test]
fn a_document_without_end_is_left_out() {
    const HEAD: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/turtle\r\nconnection: close\r\n\r\n";
    let listener = TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], 0))).unwrap();
    let source = format!("http://{}/rest", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            std::thread::spawn(move || {
                let _ = stream.read(&mut [0; 4096]);
                let mut text = HEAD.to_owned();
                while stream.write_all(text.as_bytes()).is_ok() {
                    text = "<a:s> <a:p> <a:o> .\n".repeat(1_000);
                }
            });
        }
    });
    let to = Door::open();
    let mut command = Command::new(env!("CARGO_BIN_EXE_annals"));
    command.args(["import", "ldp", &source, &to.root, "--author", "mover", "--document-max", "1000000"]);
    let done = command.output().unwrap();
    let text = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(!done.status.success(), "{text}");
    assert!(text.contains("expected at most 1000000 bytes") && text.contains("--document-max"), "{text}");
}

#[test]
fn a_source_cannot_control_the_terminal() {
    let source = dripping_server(
        "HTTP/1.1 403 Forbidden\r\ncontent-length: 31\r\n\r\nno \u{1b}[31mred\u{1b}]0;pwn\u{7} \u{202e}edis, no",
    );
    let to = Door::open();
    let output = import(&source, &to.root);
    let told = text(&output.stderr);
    assert!(told.contains("\\u{1b}[31mred") && told.contains("\\u{202e}edis"), "{told}");
    assert!(!told.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{told:?}");
}
