//! The server behind nginx with the packaged configuration.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::tls::{Authority, write_pair};
use crate::http::access::tokens::token;
use crate::support::{Server, server, try_request};

/// `Basic ada:secret`.
const ADA: (&str, &str) = ("authorization", "Basic YWRhOnNlY3JldA==");

/// nginx, killed when it is dropped.
pub(in crate::http) struct Nginx {
    child: Child,
    pub(in crate::http) address: SocketAddr,
}

impl Drop for Nginx {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Nginx {
    /// Starts it in a folder before a server, with the packaged configuration, but without TLS. `None` if the machine has
    /// no nginx.
    fn start(folder: &Path, server: &Server) -> Option<Nginx> {
        Nginx::start_with(folder, server, false)
    }

    /// The same, perhaps with TLS: the certificate and its key are `cert.pem` and `key.pem` in the folder.
    fn start_with(folder: &Path, server: &Server, has_tls: bool) -> Option<Nginx> {
        let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let packaged = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging/nginx.conf");
        let packaged = std::fs::read_to_string(packaged).unwrap();
        let pem = |name: &str| folder.join(format!("{name}.pem")).display().to_string();
        let line = |line: &str| match line.trim() {
            "server 127.0.0.1:8280;" => format!("server {};", server.address),
            "listen 443 ssl http2;" if has_tls => format!("listen {address} ssl http2;"),
            "listen 443 ssl http2;" => format!("listen {address};"),
            other if has_tls && other.starts_with("ssl_certificate") => other
                .replace("/etc/nginx/annals.crt", &pem("cert"))
                .replace("/etc/nginx/annals.key", &pem("key")),
            other if has_tls && other.starts_with("ssl_") => other.to_owned(),
            "listen 80;" => format!("listen unix:{};", folder.join("socket").display()),
            "auth_basic_user_file /etc/nginx/annals.users;" => {
                format!("auth_basic_user_file {};", folder.join("users").display())
            }
            other if other.starts_with("listen [::]") || other.starts_with("ssl_") => String::new(),
            other if other.starts_with("access_log") => {
                format!("access_log {} annals;", folder.join("access.log").display())
            }
            other => other.to_owned(),
        };
        let http: Vec<String> = packaged.lines().map(line).collect();
        Nginx::run(folder, address, &http)
    }

    /// Starts it in a folder before two servers of one log, with the packaged configuration, but without TLS. `None` if the
    /// machine has no nginx.
    pub(in crate::http) fn before_two(folder: &Path, servers: [SocketAddr; 2]) -> Option<Nginx> {
        let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let packaged = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging/nginx-servers.conf");
        let packaged = std::fs::read_to_string(packaged).unwrap();
        let line = |line: &str| match line.trim() {
            "listen 443 ssl http2;" => format!("listen {address};"),
            other if other.starts_with("listen [::]") || other.starts_with("ssl_") => String::new(),
            other => other
                .replace("10.0.0.7:8280", &servers[0].to_string())
                .replace("10.0.0.8:8280", &servers[1].to_string()),
        };
        let http: Vec<String> = packaged.lines().map(line).collect();
        Nginx::run(folder, address, &http)
    }

    fn run(folder: &Path, address: SocketAddr, http: &[String]) -> Option<Nginx> {
        let place = |name: &str| folder.join(name).display().to_string();
        let temporary: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            .iter()
            .map(|kind| format!("{kind}_temp_path {};\n", place(kind)))
            .collect();
        let whole = format!(
            "daemon off;\nmaster_process off;\npid {};\nevents {{}}\nhttp {{\n{temporary}{}\n}}\n",
            place("pid"),
            http.join("\n")
        );
        std::fs::write(folder.join("users"), "ada:{PLAIN}secret\n").unwrap();
        std::fs::File::create(folder.join("nginx.conf")).unwrap().write_all(whole.as_bytes()).unwrap();
        let mut command = Command::new("nginx");
        command.args(["-p", &place(""), "-c", &place("nginx.conf"), "-e", &place("error.log")]);
        let child = command.stdin(Stdio::null()).stderr(Stdio::null()).spawn().ok()?;
        let nginx = Nginx { child, address };
        let deadline = Instant::now() + Duration::from_secs(20);
        while std::net::TcpStream::connect(address).is_err() {
            let told = std::fs::read_to_string(folder.join("error.log")).unwrap_or_default();
            assert!(Instant::now() < deadline, "nginx does not listen: {told}");
            std::thread::sleep(Duration::from_millis(20));
        }
        Some(nginx)
    }
}

#[test]
fn binaries_pass_the_packaged_proxy_at_any_length() {
    let (folder, server) = server(&["--host", "annals.example"]);
    let Some(nginx) = Nginx::start(folder.path(), &server) else {
        eprintln!("skipped: there is no nginx");
        return;
    };
    let send = |method, path, headers: &[(&str, &str)], body| {
        let all = [&[ADA, ("host", "annals.example")], headers].concat();
        try_request(nginx.address, method, path, &all, body).expect("nginx answers")
    };
    let bytes = "x".repeat(20 << 20);
    let stored = send("PUT", "/ldp/big", &[("content-type", "a/b")], Some(&*bytes));
    assert_eq!(stored.status, 201, "{stored:?}");
    assert!(send("GET", "/ldp/big", &[], None).body == bytes);
    let stored = send("PUT", "/v1/content/big?type=scan", &[("content-type", "a/b")], Some(&*bytes));
    assert_eq!(stored.status, 201, "{stored:?}");
    assert!(send("GET", "/v1/content/big", &[], None).body == bytes);
    assert_eq!(send("GET", "/v1/types", &[], None).status, 200);
    // Without a user there is nothing.
    let anonymous = try_request(nginx.address, "GET", "/ldp/big", &[("host", "annals.example")], None);
    assert_eq!(anonymous.unwrap().status, 401);
}

#[test]
fn users_of_the_packaged_proxy_are_proven_by_it() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["--host", "annals.example", "--behind-proxy", "127.0.0.1"];
    let server = Server::start(&folder.path().join("repository"), &arguments);
    let Some(nginx) = Nginx::start(folder.path(), &server) else {
        eprintln!("skipped: there is no nginx");
        return;
    };
    let send = |method: &str, path: &str, more: &[(&str, &str)], body: Option<&str>| {
        let headers = [&[("host", "annals.example"), ADA], more].concat();
        try_request(nginx.address, method, path, &headers, body).unwrap()
    };
    let whoami = send("GET", "/v1/whoami", &[("annals-author", "mallory")], None).json();
    assert_eq!((&whoami["name"], &whoami["proof"]), (&"ada".into(), &"proxy".into()));
    let made = send("POST", "/v1/entities", &[("annals-author", "mallory")], Some(r#"{"type": "t"}"#));
    assert_eq!((made.status, &made.json()["created"]["author"]), (201, &"ada".into()), "{made:?}");
    let other = send("POST", "/v1/transactions", &[], Some(r#"{"author": "mallory", "operations": []}"#));
    assert_eq!((other.status, other.problem().as_str()), (403, "forbidden"));
    let live =
        try_request(nginx.address, "GET", "/health/ready", &[("host", "annals.example")], None).unwrap();
    assert_eq!(live.status, 200);
    // Past the proxy, without a user.
    assert_eq!(server.get("/v1/entities").status, 401);
}

#[test]
fn tokens_pass_the_packaged_proxy_and_nothing_else_does_without_a_user() {
    let folder = tempfile::tempdir().unwrap();
    let tokens = folder.path().join("tokens");
    let own = token(&tokens, "bob", &["--role", "write"]);
    let arguments =
        ["--host", "annals.example", "--behind-proxy", "127.0.0.1", "--tokens", tokens.to_str().unwrap()];
    let server = Server::start(&folder.path().join("repository"), &arguments);
    let Some(nginx) = Nginx::start(folder.path(), &server) else {
        eprintln!("skipped: there is no nginx");
        return;
    };
    let whoami = |credential: &str| {
        let headers =
            [("host", "annals.example"), ("authorization", credential), ("annals-author", "mallory")];
        try_request(nginx.address, "GET", "/v1/whoami", &headers, None).unwrap()
    };
    for scheme in ["Bearer", "bearer"] {
        let known = whoami(&format!("{scheme} {own}")).json();
        assert_eq!((&known["name"], &known["proof"]), (&"bob".into(), &"token".into()));
    }
    assert_eq!(whoami(ADA.1).json()["name"], "ada");
    for wrong in [
        "Bearer x",
        "Bearer annals_bob_x",
        "Bearer ",
        "Bearer",
        "Basic YWRhOndyb25n",
        "Negotiate x",
        "Bearer x, Basic y",
    ] {
        let answer = whoami(wrong);
        assert_eq!(answer.status, 401, "{wrong}: {answer:?}");
    }
    // The password of the proxy is no business of the server, nor a token as a password one of the proxy.
    let both = [ADA, ("authorization", &*format!("Bearer {own}")), ("host", "annals.example")];
    let answer = try_request(nginx.address, "GET", "/v1/whoami", &both, None).unwrap();
    assert!([400, 401].contains(&answer.status), "{answer:?}");
}

#[test]
fn the_command_line_passes_the_packaged_proxy_over_tls() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let authority = Authority::new();
    write_pair(folder.path(), &authority.sign(&["localhost"]));
    std::fs::write(at("ca.pem"), authority.pem()).unwrap();
    let own = token(Path::new(&at("tokens")), "bob", &["--role", "write"]);
    std::fs::write(at("token"), own).unwrap();
    let arguments = ["--host", "annals.example", "--behind-proxy", "127.0.0.1", "--tokens", &at("tokens")];
    let server = Server::start(&folder.path().join("repository"), &arguments);
    let Some(nginx) = Nginx::start_with(folder.path(), &server, true) else {
        eprintln!("skipped: there is no nginx");
        return;
    };
    let address = format!("https://localhost:{}", nginx.address.port());
    let annals = |server: &str, arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_annals"));
        command.args(["--server", server, "--ca-file", &at("ca.pem")]).args(arguments);
        let output = command.env_remove("ANNALS_TOKEN").output().unwrap();
        (output.status.code(), String::from_utf8([output.stdout, output.stderr].concat()).unwrap())
    };
    let token = ["--token-file", &at("token")];
    let (code, told) = annals(&address, &[&["create", "page", "plans"][..], &token].concat());
    assert_eq!(code, Some(0), "{told}");
    let (code, told) = annals(&address, &[&["history", "plans"][..], &token].concat());
    assert!(code == Some(0) && told.contains("bob"), "{told}");
    // Without a token the proxy answers, and with a password in the address nothing is sent.
    let (code, told) = annals(&address, &["get", "plans"]);
    assert!(code != Some(0) && told.contains("--token-file") && told.contains("proxy"), "{told}");
    let (code, told) = annals(&address.replace("localhost", "ada:secret@localhost"), &["get", "plans"]);
    assert!(code == Some(2) && told.contains("--token-file") && !told.contains("secret"), "{code:?} {told}");
}

/// A server that gives each request the same answer, or none. Shape: its address, and how many requests it had.
fn plain_server(answer: Option<&'static str>) -> (SocketAddr, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (address, count) = (listener.local_addr().unwrap(), Arc::new(AtomicUsize::new(0)));
    let counted = Arc::clone(&count);
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut request = [0; 4_096];
            if stream.read(&mut request).is_ok_and(|bytes| bytes > 0) {
                counted.fetch_add(1, Ordering::SeqCst);
                let _ = stream.write_all(answer.unwrap_or_default().as_bytes());
            }
        }
    });
    (address, count)
}

/// A place where no server listens.
fn nowhere() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}

/// A write to a server that had just been killed was answered 502, which says nothing of the outcome.
#[test]
fn the_packaged_proxy_sends_a_write_on_if_a_server_took_no_byte_of_it() {
    let made = plain_server(Some("HTTP/1.1 201 Created\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"));
    let silent = plain_server(None);
    let requests = |(_, count): &(SocketAddr, Arc<AtomicUsize>)| count.load(Ordering::SeqCst);
    let ask = |servers: [SocketAddr; 2], method: &str| -> Option<Vec<u16>> {
        let folder = tempfile::tempdir().unwrap();
        let nginx = Nginx::before_two(folder.path(), servers)?;
        let headers = [("host", "annals.example")];
        let send = || try_request(nginx.address, method, "/v1/entities/a", &headers, Some("{}")).unwrap();
        let answers: Vec<_> = (0..6).map(|_| send()).collect();
        for answer in answers.iter().filter(|answer| answer.status == 503) {
            assert!(
                answer.problem() == "unavailable" && answer.header("retry-after") == Some("1"),
                "{answer:?}"
            );
        }
        Some(answers.iter().map(|answer| answer.status).collect())
    };
    let Some(killed) = ask([nowhere(), made.0], "POST") else {
        eprintln!("skipped: there is no nginx");
        return;
    };
    assert_eq!((killed, requests(&made)), (vec![201; 6], 6));
    assert_eq!(ask([nowhere(), nowhere()], "PUT"), Some(vec![503; 6]));
    // A byte of it was sent: nobody knows. No other server gets it, whatever the method.
    for method in ["POST", "PATCH", "PUT", "DELETE"] {
        let before = (requests(&made), requests(&silent));
        let told = ask([silent.0, made.0], method).unwrap();
        let [lost, done] = [502, 201].map(|status| told.iter().filter(|told| **told == status).count());
        assert!(lost > 0 && lost + done == 6, "{method}: {told:?}");
        assert_eq!((requests(&made) - before.0, requests(&silent) - before.1), (done, lost), "{method}");
        assert!(ask([silent.0, nowhere()], method).unwrap().iter().all(|told| [502, 503].contains(told)));
        assert!(ask([nowhere(), silent.0], method).unwrap().contains(&502), "{method}");
    }
}
