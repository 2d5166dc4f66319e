//! Which names of the server requests may use: a web page that gives its own name this address gets nothing.

use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use serde_json::{Value as Json, json};

use crate::support::{Answer, Server, server};

const METHODS: [(&str, &str, Option<&str>); 9] = [
    ("GET", "/v1/entities/a", None),
    ("HEAD", "/v1/entities/a", None),
    ("POST", "/v1/entities", Some(r#"{"type":"t"}"#)),
    ("PATCH", "/v1/entities/a", Some(r#"{"size":8}"#)),
    ("DELETE", "/v1/entities/a?purge=true", None),
    ("OPTIONS", "/v1/entities", None),
    ("GET", "/metrics", None),
    ("GET", "/health/live", None),
    ("GET", "/nothing", None),
];

fn with_host(server: &Server, host: &str) -> Answer {
    server.request("GET", "/health/live", &[("host", host)], None)
}

fn started(arguments: &[&str]) -> (tempfile::TempDir, Server) {
    let (folder, server) = server(arguments);
    (folder, server)
}

#[test]
fn a_name_that_was_rebound_to_this_machine_is_refused_whatever_the_method() {
    let (_folder, server) = server(&[]);
    server.send("POST", "/v1/entities", &json!({"id": "a", "type": "t", "properties": {"size": 7}}));
    let host = format!("evil.example:{}", server.address.port());
    let origin = format!("http://{host}");
    for (method, path, body) in METHODS {
        let answer = server.request(method, path, &[("host", &host), ("origin", &origin)], body);
        assert_eq!(answer.status, 421, "{method} {path}: {answer:?}");
        assert_eq!(answer.header("annals-position"), None, "{method} {path}");
        if method != "HEAD" {
            assert_eq!(answer.problem(), "unknown-host", "{method} {path}");
            let text = answer.json()["detail"].as_str().unwrap().to_owned();
            assert!(text.contains("--host evil.example"), "{text}");
        }
    }
    assert_eq!(server.get("/v1/entities/a").json()["properties"]["size"], 7);
}

#[test]
fn this_machine_may_be_called_localhost_or_by_its_address() {
    let (_folder, server) = server(&[]);
    for host in [
        "localhost",
        "LocalHost:80",
        "127.0.0.1",
        "127.8.9.1:8280",
        "[::1]",
        "[::1]:8280",
        "[::ffff:127.0.0.1]",
    ] {
        assert_eq!(with_host(&server, host).status, 200, "{host}");
    }
    for host in [
        "localhost.evil.example",
        "127.0.0.1.evil.example",
        "192.0.2.1",
        "[2001:db8::1]:80",
        "[::ffff:192.0.2.1]",
        "evil@localhost",
        "localhost@evil",
        "0x7f.1",
        "0.0.0.0",
        "[::1",
        "localhost:port",
        "localhost:",
        "localhost, evil",
        ":80",
        "[fe80::1%25eth0]",
        "ü",
    ] {
        assert_eq!(with_host(&server, host).status, 421, "{host}");
    }
}

#[test]
fn names_that_are_given_are_accepted_and_no_others() {
    let (_folder, server) =
        started(&["--host", "annals.example", "--host", "192.0.2.7", "--host", "2001:DB8::7"]);
    for host in ["annals.example", "Annals.Example:443", "192.0.2.7:80", "[2001:db8:0::7]", "localhost"] {
        assert_eq!(with_host(&server, host).status, 200, "{host}");
    }
    for host in ["example", "x.annals.example", "192.0.2.8", "[2001:db8::8]"] {
        assert_eq!(with_host(&server, host).status, 421, "{host}");
    }
    // A proxy in front hands on what the browser sent.
    let write = |origin| {
        let headers = [("host", "annals.example"), ("origin", origin)];
        server.request("POST", "/v1/entities", &headers, Some(r#"{"type":"t"}"#))
    };
    assert_eq!(write("https://annals.example").status, 201);
    assert_eq!(write("https://Annals.Example").status, 201);
    assert_eq!(write("https://evil.example").problem(), "cross-origin");
}

#[test]
fn a_server_that_listens_everywhere_is_called_by_any_address_but_by_no_name() {
    let (_folder, server) = started(&["--listen", "0.0.0.0:0", "--insecure-plain", "--insecure-anyone"]);
    for host in ["192.0.2.1:8280", "[2001:db8::1]", "localhost"] {
        assert_eq!(with_host(&server, host).status, 200, "{host}");
    }
    assert_eq!(with_host(&server, "evil.example").status, 421);
}

#[test]
fn a_host_to_accept_is_a_name_without_a_port() {
    for name in ["http://annals.example", "annals.example:80", "", "*", "a b", "[::1]"] {
        let folder = tempfile::tempdir().unwrap();
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_annals"))
            .args(["serve", "--listen", "127.0.0.1:0", "--host", name])
            .arg(folder.path().join("repository"))
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(2), "{name}: {output:?}");
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(text.contains("--host"), "{name}: {text}");
    }
}

#[test]
fn http1_needs_one_host() {
    let (_folder, server) = server(&[]);
    let get =
        |heads: &str| server.raw(format!("GET /health/live {heads}\r\nconnection: close\r\n\r\n").as_bytes());
    let refused = |answer: &str| {
        answer.starts_with("HTTP/1.")
            && answer.contains(" 400 Bad Request")
            && answer.contains("invalid-argument")
    };
    for heads in [
        "HTTP/1.1",
        "HTTP/1.1\r\nhost: localhost\r\nhost: localhost",
        "HTTP/1.1\r\nhost: localhost\r\nhost: evil.example",
        "HTTP/1.0\r\nhost: localhost\r\nhost: evil.example",
    ] {
        let answer = get(heads);
        assert!(refused(&answer), "{heads:?}: {answer}");
    }
    // Probes of load balancers; no browser sends such requests.
    assert!(get("HTTP/1.0").starts_with("HTTP/1.0 200 "));
    // The whole address in the first line says the host, too.
    let absolute = |in_line: &str, host: &str| {
        let head =
            format!("GET http://{in_line}/health/live HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n");
        server.raw(head.as_bytes())
    };
    assert!(absolute("localhost", "localhost").starts_with("HTTP/1.1 200 "));
    assert!(absolute("evil.example", "evil.example").starts_with("HTTP/1.1 421 "));
    for (in_line, host) in [("evil.example", "localhost"), ("localhost", "evil.example")] {
        let answer = absolute(in_line, host);
        assert!(refused(&answer), "{in_line} {host}: {answer}");
    }
}

/// Sends requests at once over one HTTP/2 connection. Shape: status and body of each.
pub fn over_http2(server: &Server, requests: Vec<hyper::Request<Full<Bytes>>>) -> Vec<(u16, Json)> {
    let address = server.address;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let stream = tokio::net::TcpStream::connect(address).await.unwrap();
        let io = hyper_util::rt::TokioIo::new(stream);
        let executor = hyper_util::rt::TokioExecutor::new();
        let (mut client, connection) = hyper::client::conn::http2::handshake(executor, io).await.unwrap();
        let connection = tokio::spawn(connection);
        let mut answers = Vec::new();
        let sent: Vec<_> = requests.into_iter().map(|request| client.send_request(request)).collect();
        for answer in futures_util::future::join_all(sent).await {
            let answer = answer.unwrap();
            assert_eq!(answer.version(), hyper::Version::HTTP_2);
            let status = answer.status().as_u16();
            let body = answer.into_body().collect().await.unwrap().to_bytes();
            answers.push((status, serde_json::from_slice(&body).unwrap_or_default()));
        }
        connection.abort();
        answers
    })
}

fn http2_write(authority: &str, headers: &[(&str, &str)]) -> hyper::Request<Full<Bytes>> {
    let mut request = hyper::Request::post(format!("http://{authority}/v1/entities"))
        .header("content-type", "application/json");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.body(Full::from(r#"{"type":"t"}"#)).unwrap()
}

#[test]
fn http2_is_held_to_the_same_names_and_origins() {
    let (_folder, server) = server(&[]);
    let own = server.address.to_string();
    let own_origin = format!("http://{own}");
    let answers = over_http2(
        &server,
        vec![
            http2_write(&own, &[]),
            http2_write(&own, &[("origin", &own_origin)]),
            http2_write(&own, &[("origin", "http://evil.example")]),
            http2_write("evil.example", &[("origin", "http://evil.example")]),
            http2_write("evil.example", &[]),
            http2_write("localhost", &[("host", "localhost")]),
            http2_write("localhost", &[("host", "evil.example")]),
            http2_write("evil.example", &[("host", "localhost")]),
            hyper::Request::get("http://evil.example/metrics").body(Full::default()).unwrap(),
        ],
    );
    let told: Vec<(u16, &str)> =
        answers.iter().map(|(status, body)| (*status, body["kind"].as_str().unwrap_or_default())).collect();
    let created = (201, "");
    assert_eq!(
        told,
        [
            created,
            created,
            (403, "cross-origin"),
            (421, "unknown-host"),
            (421, "unknown-host"),
            created,
            (400, "invalid-argument"),
            (400, "invalid-argument"),
            (421, "unknown-host"),
        ]
    );
}

/// A picture in a page of any origin began a check, or a backup, which hold up compactions.
#[test]
fn a_page_of_another_origin_begins_no_long_work() {
    let (_folder, server) = server(&["--cors-origin", "http://known.example"]);
    let ask = |method: &str, path: &str, headers: &[(&str, &str)]| {
        let answer =
            server.request(method, path, headers, (method == "POST").then_some(r#"{"operations": []}"#));
        let is_refused = answer.status == 403;
        assert!(!is_refused || method == "HEAD" || answer.problem() == "cross-origin", "{answer:?}");
        is_refused
    };
    let own = format!("http://{}", server.address);
    for (method, path) in [("GET", "/v1/check"), ("GET", "/v1/backup"), ("POST", "/v1/transactions")] {
        for site in ["cross-site", "same-site"] {
            assert!(ask(method, path, &[("sec-fetch-site", site)]), "{method} {path} {site}");
        }
        assert!(ask(method, path, &[("origin", "http://evil.example")]), "{method} {path}");
        assert!(ask(method, path, &[("origin", "null")]), "{method} {path}");
        for own in [
            &[][..],
            &[("sec-fetch-site", "none")],
            &[("sec-fetch-site", "same-origin")],
            &[("origin", &own)],
        ] {
            assert!(!ask(method, path, own), "{method} {path} {own:?}");
        }
        let known = [("origin", "http://known.example"), ("sec-fetch-site", "cross-site")];
        assert!(!ask(method, path, &known), "{method} {path}");
    }
    assert!(!ask("GET", "/v1/entities", &[("sec-fetch-site", "cross-site")]), "other reads are CORS's");
}
