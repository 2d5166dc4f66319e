//! External contents of the LDP door: binaries whose bytes are elsewhere, only where the server was told that they may be.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value as Json, json};

use super::resources::Door;
use crate::support::Answer;

const MD5_ABC: &str = "md5=900150983cd24fb0d6963f7d28e17f72";
const SHA_1_ABC: &str = "sha=qZk+NkcGgWq6PiVxeFDCbJzQ2J0=";

/// A server with the bytes of external contents. It ends with the test.
struct Source {
    address: SocketAddr,
    /// The requests that it got, each with its head.
    requests: Arc<Mutex<Vec<String>>>,
    /// The bytes of `/public/changing`.
    changing: Arc<Mutex<String>>,
}

impl Source {
    fn start() -> Source {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (requests, changing) = (Arc::default(), Arc::new(Mutex::new("old".to_owned())));
        let source = Source { address, requests: Arc::clone(&requests), changing: Arc::clone(&changing) };
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (requests, changing) = (Arc::clone(&requests), Arc::clone(&changing));
                std::thread::spawn(move || answer(stream, address, &requests, &changing));
            }
        });
        source
    }

    fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    fn requests_count(&self) -> usize {
        self.requests.lock().unwrap().len()
    }
}

fn answer(
    mut stream: TcpStream,
    address: SocketAddr,
    requests: &Mutex<Vec<String>>,
    changing: &Mutex<String>,
) {
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head).unwrap_or(0) == 0 {
            return;
        }
    }
    let mut words = head.split(' ');
    let (method, path) = (words.next().unwrap().to_owned(), words.next().unwrap().to_owned());
    let is_part = head.to_ascii_lowercase().contains("range: bytes=1-");
    requests.lock().unwrap().push(head);
    let whole = |media_type: &str, body: &str| {
        format!("HTTP/1.1 200 OK\r\n{media_type}content-length: {}\r\n\r\n{body}", body.len())
    };
    let bytes = match &*path {
        "/public/abc" if is_part => {
            "HTTP/1.1 206 Partial Content\r\ncontent-length: 2\r\ncontent-range: bytes 1-2/3\r\n\r\nbc".into()
        }
        "/public/abc" => whole("content-type: text/plain\r\n", "abc"),
        "/public/untyped" => whole("", "abc"),
        "/public/changing" => whole("", &changing.lock().unwrap()),
        "/public/redirects" => {
            format!("HTTP/1.1 302 Found\r\nlocation: http://{address}/secret\r\ncontent-length: 0\r\n\r\n")
        }
        "/public/endless" => "HTTP/1.1 200 OK\r\n\r\n".to_owned() + &"x".repeat(1 << 20),
        "/public/long" => whole("", &"x".repeat(2_000)),
        "/public/broken" => "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nabc".into(),
        "/public/silent" => {
            std::thread::sleep(Duration::from_secs(20));
            return;
        }
        "/secret" => whole("", "secret"),
        _ => "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n".into(),
    };
    let bytes =
        if method == "HEAD" { bytes.split_inclusive("\r\n\r\n").next().unwrap().into() } else { bytes };
    let _ = stream.write_all(bytes.as_bytes());
}

fn link(url: &str, more: &str) -> String {
    format!("<{url}>; rel=\"http://fedora.info/definitions/fcrepo#ExternalContent\"{more}")
}

fn put(door: &Door, path: &str, url: &str, more: &str, headers: &[(&str, &str)]) -> Answer {
    let link = link(url, more);
    let mut all = vec![("link", &*link)];
    all.extend(headers);
    door.request("PUT", path, &all, None)
}

/// Lets a binary refer to an address, by the JSON door, which checks no addresses.
fn refer(door: &Door, id: &str, url: &str) {
    let external = json!({"url": url, "handling": "proxy", "mediaType": "text/plain"});
    let update = json!({"action": "update", "kind": "entity", "id": id, "patch": {"ldp.external": external}});
    let answer = door.server.send("POST", "/v1/transactions", &json!({"operations": [update]}));
    assert_eq!(answer.status, 200, "{answer:?}");
}

fn open(source: &Source, more: &[&str]) -> Door {
    let prefix = source.url("/public/");
    let arguments: Vec<&str> = ["--ldp-external", &prefix].into_iter().chain(more.iter().copied()).collect();
    Door::open_with(&arguments)
}

fn is_constrained(answer: &Answer) -> bool {
    let mut links = answer.headers.iter().filter(|(name, _)| name == "link");
    (400..500).contains(&answer.status) && links.any(|(_, link)| link.contains("ldp#constrainedBy"))
}

#[test]
fn without_the_option_there_are_no_external_contents() {
    let (door, source) = (Door::open(), Source::start());
    door.request("PUT", "/a", &[], None);
    for handling in ["copy", "proxy", "redirect"] {
        let more = format!("; handling=\"{handling}\"");
        let refused = put(&door, "/a/file", &source.url("/public/abc"), &more, &[]);
        assert!(is_constrained(&refused) && refused.problem() == "constraint-violated", "{refused:?}");
        let link = link(&source.url("/public/abc"), &more);
        assert!(is_constrained(&door.request("POST", "/a", &[("link", &link)], None)));
    }
    assert_eq!(door.get("/a/file").status, 404);
    assert_eq!(door.request("OPTIONS", "/a", &[], None).header("accept-external-content-handling"), None);
    assert_eq!(source.requests_count(), 0);
}

#[test]
fn a_copy_is_a_binary_like_any_other() {
    let source = Source::start();
    let door = open(&source, &[]);
    door.request("PUT", "/a", &[], None);
    let handlings = door.request("OPTIONS", "/a", &[], None);
    assert_eq!(handlings.header("accept-external-content-handling"), Some("copy, proxy, redirect"));
    let link = link(&source.url("/public/abc"), "; handling=copy");
    let created = door.request(
        "POST",
        "/a",
        &[("link", &link), ("slug", "file"), ("digest", MD5_ABC), ("content-type", "image/png")],
        None,
    );
    assert_eq!((created.status, created.header("content-location")), (201, None), "{created:?}");
    let read = door.get("/a/file");
    assert_eq!((read.status, &*read.body, read.header("content-type")), (200, "abc", Some("text/plain")));
    assert!(door.get("/a/file/fcr:metadata").body.contains("urn:md5:900150983cd24fb0d6963f7d28e17f72"));
    // The source is not asked again.
    assert_eq!(source.requests_count(), 1);
    let lie = ("digest", "md5=00000000000000000000000000000000");
    let refused = put(&door, "/a/lie", &source.url("/public/abc"), "; handling=copy", &[lie]);
    assert_eq!((refused.status, &*refused.problem()), (409, "digest-mismatch"), "{refused:?}");
    assert_eq!(door.get("/a/lie").status, 404);
    let broken = put(&door, "/a/broken", &source.url("/public/broken"), "; handling=copy", &[]);
    assert!(is_constrained(&broken) && door.get("/a/broken").status == 404, "{broken:?}");
}

#[test]
fn a_proxy_reads_the_bytes_for_each_get() {
    let source = Source::start();
    let door = open(&source, &[]);
    let url = source.url("/public/abc");
    let created = put(&door, "/file", &url, "; handling=\"proxy\"", &[("digest", MD5_ABC)]);
    assert_eq!((created.status, created.header("content-location")), (201, Some(&*url)), "{created:?}");
    let read = door.get("/file");
    assert_eq!((read.status, &*read.body), (200, "abc"), "{read:?}");
    for (name, expected) in [
        ("content-type", "text/plain"),
        ("content-length", "3"),
        ("content-location", &url),
        ("content-security-policy", "sandbox"),
    ] {
        assert_eq!(read.header(name), Some(expected), "{name}");
    }
    assert!(read.header("etag").is_some_and(|tag| tag.starts_with("W/")), "{read:?}");
    let describes = |answer: &Answer| answer.headers.iter().any(|(_, link)| link.contains("describedby"));
    assert!(describes(&read), "{read:?}");
    for method in ["GET", "HEAD"] {
        let answer = door.request(method, "/file", &[("want-digest", "md5;q=0.3,sha;q=1")], None);
        let digest = answer.header("digest").unwrap();
        assert!(
            answer.status == 200 && digest.starts_with(SHA_1_ABC) && digest.contains("md5="),
            "{answer:?}"
        );
    }
    let head = door.request("HEAD", "/file", &[], None);
    assert_eq!((head.status, head.header("content-length")), (200, Some("3")));
    assert!(source.requests.lock().unwrap().last().unwrap().starts_with("HEAD "));
    let part = door.request("GET", "/file", &[("range", "bytes=1-")], None);
    assert_eq!((part.status, &*part.body, part.header("content-range")), (206, "bc", Some("bytes 1-2/3")));
    let description = door.get("/file/fcr:metadata").body;
    let place = format!("<http://fedora.info/definitions/v4/repository#proxyFor> <{url}> .");
    assert!(
        description.contains(&place) && description.contains("hasMimeType> \"text/plain\""),
        "{description}"
    );
    // The version of the resource is what conditions are about.
    let tag = read.header("etag").unwrap();
    let stale = put(&door, "/file", &url, "; handling=proxy", &[("if-match", "W/\"77.0\"")]);
    assert_eq!(stale.status, 412, "{stale:?}");
    let name = ("content-disposition", "attachment; filename=\"letters.txt\"");
    let typed = "; handling=proxy; type=\"text/special; charset=utf-8\"";
    let changed =
        put(&door, "/file", &url, typed, &[("if-match", tag), ("content-type", "text/plain"), name]);
    assert_eq!(changed.status, 204, "{changed:?}");
    let read = door.get("/file");
    assert_eq!(read.header("content-type"), Some("text/special; charset=utf-8"));
    assert!(read.header("content-disposition").is_some_and(|name| name.contains("letters.txt")), "{read:?}");
}

#[test]
fn a_redirect_sends_clients_to_the_bytes() {
    let source = Source::start();
    let door = open(&source, &[]);
    let url = source.url("/public/abc");
    assert_eq!(put(&door, "/file", &url, "; handling=redirect", &[]).status, 201);
    let before = source.requests_count();
    for method in ["GET", "HEAD"] {
        let answer = door.request(method, "/file", &[], None);
        assert_eq!((answer.status, answer.header("location")), (307, Some(&*url)), "{answer:?}");
        assert_eq!(answer.header("content-location"), Some(&*url));
    }
    assert_eq!(source.requests_count(), before);
    let digest = door.request("GET", "/file", &[("want-digest", "sha")], None);
    assert_eq!((digest.status, digest.header("digest")), (307, Some(SHA_1_ABC)), "{digest:?}");
    let place = format!("<http://fedora.info/definitions/v4/repository#redirectsTo> <{url}> .");
    assert!(door.get("/file/fcr:metadata").body.contains(&place));
}

#[test]
fn versions_keep_the_reference_and_bytes_take_its_place() {
    let source = Source::start();
    let door = open(&source, &[]);
    let url = source.url("/public/changing");
    assert_eq!(put(&door, "/file", &url, "; handling=proxy", &[]).status, 201);
    let version = door.request("POST", "/file/fcr:versions", &[], None);
    let memento = version.header("location").unwrap().to_owned();
    let text = ("content-type", "text/plain");
    assert_eq!(door.request("PUT", "/file", &[text], Some("stored")).status, 204);
    assert_eq!(door.get("/file").body, "stored");
    assert!(!door.get("/file/fcr:metadata").body.contains("proxyFor"));
    *source.changing.lock().unwrap() = "new".to_owned();
    let then = door.get(&memento);
    assert_eq!((then.status, &*then.body), (200, "new"), "{then:?}");
    assert!(then.header("memento-datetime").is_some(), "{then:?}");
    assert_eq!(put(&door, "/file", &url, "; handling=redirect", &[]).status, 204);
    assert_eq!(door.get("/file").status, 307);
    assert_eq!(door.request("DELETE", "/file", &[], None).status, 204);
    assert_eq!(door.get("/file").status, 410);
}

#[test]
fn wrong_links_are_refused_and_name_the_constraints() {
    let source = Source::start();
    let door = open(&source, &["--ldp-external-bytes-max", "1000"]);
    let address = source.address;
    let public = source.url("/public/abc");
    let two = format!("{}, {}", link(&public, "; handling=copy"), link(&public, "; handling=copy"));
    assert!(is_constrained(&door.request("PUT", "/file", &[("link", &two)], None)));
    let one = link(&public, "; handling=copy");
    let with_body = [("link", &*one), ("content-type", "text/plain")];
    assert!(is_constrained(&door.request("PUT", "/file", &with_body, Some("abc"))));
    let model = ("link", "<http://www.w3.org/ns/ldp#BasicContainer>; rel=\"type\"");
    assert!(is_constrained(&put(&door, "/file", &public, "; handling=copy", &[model])));
    for more in ["", "; handling=steal", "; handling=", "; handling=proxy; type=png"] {
        assert!(is_constrained(&put(&door, "/file", &public, more, &[])), "{more}");
    }
    assert_eq!(source.requests_count(), 0);
    for url in [
        "https://127.0.0.1/public/abc".to_owned(),
        "/public/abc".to_owned(),
        source.url("/secret"),
        source.url("/public/../secret"),
        source.url("/public/%2e%2e/secret"),
        source.url("/public/%252e%252e/secret"),
        source.url("/public/..%2fsecret"),
        source.url("/public/..;/secret"),
        source.url("/public\\..\\secret"),
        source.url("/public2/abc"),
        format!("http://127.0.0.1:1@{address}/public/abc"),
        format!("http://{address}@127.0.0.1:1/public/abc"),
        format!("http://localhost:{}/public/abc", address.port()),
        format!("http://127.1:{}/public/abc", address.port()),
        format!("http://127.0.0.1:{}/public/abc", address.port() ^ 1),
        "file:///etc/hostname".to_owned(),
    ] {
        for handling in ["copy", "proxy", "redirect"] {
            let refused = put(&door, "/file", &url, &format!("; handling={handling}"), &[]);
            assert!(is_constrained(&refused), "{url}: {refused:?}");
        }
    }
    assert_eq!(source.requests_count(), 0);
    // Allowed addresses whose answers are not their bytes.
    for path in ["/public/none", "/public/redirects", "/public/long"] {
        for handling in ["copy", "proxy", "redirect"] {
            let refused = put(&door, "/file", &source.url(path), &format!("; handling={handling}"), &[]);
            assert!(is_constrained(&refused), "{path}: {refused:?}");
        }
    }
    let endless = put(&door, "/file", &source.url("/public/endless"), "; handling=copy", &[]);
    assert!(is_constrained(&endless), "{endless:?}");
    assert!(!source.requests.lock().unwrap().iter().any(|head| head.contains("/secret")));
    assert_eq!(door.get("/file").status, 404);
    // A graph stays a graph.
    door.request("PUT", "/graph", &[], None);
    assert!(is_constrained(&put(&door, "/graph", &public, "; handling=proxy", &[])));
}

#[test]
fn a_source_that_fails_is_told_and_holds_no_request_up() {
    let source = Source::start();
    let door = open(&source, &["--request-time-ms", "2000"]);
    assert_eq!(put(&door, "/file", &source.url("/public/abc"), "; handling=proxy", &[]).status, 201);
    for (path, status) in [
        ("/public/silent", 502),
        ("/public/none", 502),
        ("/public/redirects", 502),
        // Another door cannot lead the server out of the prefixes.
        ("/secret", 502),
        ("/public/abc", 200),
    ] {
        refer(&door, "ldp:/file", &source.url(path));
        let start = std::time::Instant::now();
        let answer = door.get("/file");
        assert_eq!(answer.status, status, "{path}: {answer:?}");
        assert!(status == 200 || answer.problem() == "source-unavailable", "{answer:?}");
        assert!(start.elapsed() < Duration::from_secs(10));
    }
    assert!(!source.requests.lock().unwrap().iter().any(|head| head.contains("/secret")));
}

#[test]
fn an_external_content_cannot_lead_to_itself() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let door = Door::open_with(&[
        "--listen",
        &address.to_string(),
        "--ldp-external",
        &format!("http://{address}/rest"),
    ]);
    let text = ("content-type", "text/plain");
    assert_eq!(door.request("PUT", "/stored", &[text], Some("abc")).status, 201);
    let stored = format!("{}/stored", door.root);
    let first = format!("{}/first", door.root);
    assert_eq!(put(&door, "/first", &stored, "; handling=proxy", &[]).status, 201);
    assert_eq!(door.get("/first").body, "abc");
    let second = put(&door, "/second", &first, "; handling=proxy", &[]);
    assert!(is_constrained(&second), "{second:?}");
    refer(&door, "ldp:/first", &first);
    let circle = door.get("/first");
    assert_eq!((circle.status, &*circle.problem()), (502, "source-unavailable"), "{circle:?}");
}

#[test]
fn files_below_a_folder_can_be_external_contents() {
    let folder = tempfile::tempdir().unwrap();
    let scans = folder.path().join("scans");
    std::fs::create_dir_all(scans.join("a b")).unwrap();
    std::fs::write(scans.join("a b/1.txt"), "abc").unwrap();
    std::fs::write(folder.path().join("secret"), "secret").unwrap();
    std::os::unix::fs::symlink("../secret", scans.join("out")).unwrap();
    std::os::unix::fs::symlink("a b/1.txt", scans.join("in")).unwrap();
    let prefix = format!("file://{}", scans.display());
    let door = Door::open_with(&["--ldp-external", &prefix]);
    let url = format!("{prefix}/a%20b/1.txt");
    for handling in ["copy", "proxy"] {
        let more = format!("; handling={handling}; type=\"text/plain\"");
        let path = format!("/{handling}");
        assert_eq!(put(&door, &path, &url, &more, &[("digest", MD5_ABC)]).status, 201);
        let read = door.get(&path);
        assert_eq!((&*read.body, read.header("content-type")), ("abc", Some("text/plain")), "{read:?}");
        let part = door.request("GET", &path, &[("range", "bytes=1-")], None);
        assert_eq!(
            (part.status, &*part.body, part.header("content-range")),
            (206, "bc", Some("bytes 1-2/3"))
        );
        assert_eq!(door.request("GET", &path, &[("range", "bytes=9-")], None).status, 416);
        let head = door.request("HEAD", &path, &[("want-digest", "sha")], None);
        assert_eq!((head.header("content-length"), head.header("digest")), (Some("3"), Some(SHA_1_ABC)));
    }
    assert_eq!(put(&door, "/redirect", &url, "; handling=redirect", &[]).status, 201);
    assert_eq!(door.get("/redirect").header("location"), Some(&*url));
    assert_eq!(put(&door, "/in", &format!("{prefix}/in"), "; handling=copy", &[]).status, 201);
    for path in ["out", "../secret", "%2e%2e/secret", "a%20b", "none", ""] {
        let refused = put(&door, "/file", &format!("{prefix}/{path}"), "; handling=copy", &[]);
        assert!(is_constrained(&refused), "{path}: {refused:?}");
    }
    std::fs::remove_file(scans.join("a b/1.txt")).unwrap();
    assert_eq!((door.get("/proxy").status, door.get("/copy").status), (502, 200));
}

#[test]
fn a_folder_that_is_swapped_for_a_link_leads_nowhere() {
    let folder = tempfile::tempdir().unwrap();
    let public = folder.path().join("public");
    for path in ["public/t", "secret"] {
        std::fs::create_dir_all(folder.path().join(path)).unwrap();
        std::fs::write(folder.path().join(path).join("file"), path).unwrap();
    }
    std::os::unix::fs::symlink("../secret", public.join("link")).unwrap();
    let prefix = format!("file://{}", public.display());
    let door = Door::open_with(&["--ldp-external", &prefix]);
    assert_eq!(put(&door, "/a", &format!("{prefix}/t/file"), "; handling=proxy", &[]).status, 201);
    let is_over = std::sync::atomic::AtomicBool::new(false);
    let counts = std::thread::scope(|scope| {
        scope.spawn(|| {
            let rename = |from: &str, to: &str| std::fs::rename(public.join(from), public.join(to)).unwrap();
            while !is_over.load(std::sync::atomic::Ordering::Relaxed) {
                rename("t", "folder");
                rename("link", "t");
                rename("t", "link");
                rename("folder", "t");
            }
        });
        let bodies: Vec<String> = (0..3_000).map(|_| door.get("/a").body).collect();
        is_over.store(true, std::sync::atomic::Ordering::Relaxed);
        let count = |text: &str| bodies.iter().filter(|body| *body == text).count();
        (count("public/t"), count("secret"))
    });
    assert!(counts.0 > 0 && counts.1 == 0, "{counts:?}");
}

#[test]
fn a_backup_says_how_many_contents_it_does_not_have() {
    let source = Source::start();
    let door = open(&source, &[]);
    let repository = door.folder.path().join("repository");
    let backup = |name: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_annals"));
        command.arg("-r").arg(&repository).args(["backup", "--json"]).arg(door.folder.path().join(name));
        let output = command.output().unwrap();
        let report: Json = serde_json::from_slice(&output.stdout).unwrap();
        (report["contents"].clone(), report["externalContents"].clone())
    };
    door.request("PUT", "/a", &[], None);
    assert_eq!(backup("first"), (0.into(), 0.into()));
    for (path, handling) in [("/copy", "copy"), ("/proxy", "proxy"), ("/redirect", "redirect")] {
        let more = format!("; handling={handling}");
        assert_eq!(put(&door, path, &source.url("/public/abc"), &more, &[]).status, 201);
    }
    assert_eq!(backup("second"), (1.into(), 2.into()));
}

/// Another server of the log answered 502 for what lies on the disk of the one that took the link.
#[test]
fn a_folder_is_no_source_for_several_servers_unless_all_have_it() {
    let serve = |more: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_annals"));
        // Nothing listens there: it ends in any case.
        command
            .args(["serve", "postgres://annals@127.0.0.1:1/library", "--create", "--log", "off"])
            .args(more);
        let output = command.output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let folder = ["--ldp-external", "http://images.example/public/", "--ldp-external", "file:///srv/scans"];
    let (code, told) = serve(&folder);
    assert!(code == Some(2) && told.contains("found a folder of this machine"), "{code:?} {told}");
    for allowed in [&[&folder[..], &["--ldp-external-shared"]].concat()[..], &folder[..2], &[]] {
        let (code, told) = serve(allowed);
        assert!(code != Some(0) && told.contains("could not connect"), "{code:?} {told}");
    }
}
