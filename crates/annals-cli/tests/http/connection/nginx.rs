//! The server behind nginx with the packaged configuration.

use std::io::Write;
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::{Server, server, try_request};

/// `Basic ada:secret`.
const ADA: (&str, &str) = ("authorization", "Basic YWRhOnNlY3JldA==");

/// nginx, killed when it is dropped.
struct Nginx {
    child: Child,
    address: SocketAddr,
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
        let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let packaged = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging/nginx.conf");
        let packaged = std::fs::read_to_string(packaged).unwrap();
        let line = |line: &str| match line.trim() {
            "server 127.0.0.1:8280;" => format!("server {};", server.address),
            "listen 443 ssl http2;" => format!("listen {address};"),
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
