//! Access: tokens, authors, roles, and addresses that other machines can reach.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value as Json, json};

use crate::support::{Answer, Server, try_request};

/// A server with tokens.
pub struct Guarded {
    pub folder: tempfile::TempDir,
    pub server: Server,
}

/// Runs `annals`.
pub fn annals(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_annals")).args(arguments).env_remove("ANNALS_TOKENS").output().unwrap()
}

/// Makes a token.
pub fn token(file: &Path, name: &str, more: &[&str]) -> String {
    let done = annals(&[&["token", "new", name, "--tokens", file.to_str().unwrap()], more].concat());
    assert!(done.status.success(), "{done:?}");
    String::from_utf8(done.stdout).unwrap().trim().to_owned()
}

pub fn bearer(token: &str) -> String {
    format!("Bearer {token}")
}

impl Guarded {
    /// A server whose file has a token for each role, under the name of the role.
    pub fn start(more: &[&str]) -> Guarded {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("tokens");
        token(&file, "nobody-asks", &["--role", "read"]);
        let log = folder.path().join("log");
        let level = if more.contains(&"--log") { &[][..] } else { &["--log", "info"] };
        let files = ["--tokens", file.to_str().unwrap(), "--log-file", log.to_str().unwrap()];
        let arguments = [&files, level, more].concat();
        let server = Server::start(&folder.path().join("repository"), &arguments);
        Guarded { folder, server }
    }

    pub fn file(&self) -> PathBuf {
        self.folder.path().join("tokens")
    }

    pub fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("log")).unwrap()
    }

    /// A token that the server knows already.
    pub fn token(&self, name: &str, more: &[&str]) -> String {
        let token = token(&self.file(), name, more);
        self.reload();
        token
    }

    pub fn reload(&self) {
        let before = self.log().matches("SIGHUP").count();
        self.server.hang_up();
        let deadline = Instant::now() + Duration::from_secs(20);
        while self.log().matches("SIGHUP").count() <= before + 1 {
            assert!(Instant::now() < deadline, "the server does not read its files again: {}", self.log());
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    pub fn ask(&self, token: &str, method: &str, path: &str, body: Option<&Json>) -> Answer {
        self.ask_with(token, method, path, &[], body)
    }

    pub fn ask_with(
        &self,
        token: &str,
        method: &str,
        path: &str,
        more: &[(&str, &str)],
        body: Option<&Json>,
    ) -> Answer {
        let bearer = bearer(token);
        let headers = [&[("authorization", bearer.as_str())], more].concat();
        try_request(self.server.address, method, path, &headers, body.map(Json::to_string).as_deref())
            .unwrap()
    }
}

#[test]
fn only_a_token_of_the_file_opens_the_server() {
    let guarded = Guarded::start(&[]);
    let ada = guarded.token("ada", &["--role", "read"]);
    let answer = guarded.server.get("/v1/entities");
    assert_eq!((answer.status, answer.problem().as_str()), (401, "unauthenticated"));
    let ways = answer.header("www-authenticate").unwrap();
    assert!(ways.contains("Bearer realm=") && ways.contains("Basic realm="), "{ways}");
    assert_eq!(answer.header("annals-position"), None);
    assert_eq!(guarded.ask(&ada, "GET", "/v1/entities", None).status, 200);
    let basic = |name: &str, token: &str| format!("Basic {}", STANDARD.encode(format!("{name}:{token}")));
    let with = |value: &str| guarded.server.request("GET", "/v1/entities", &[("authorization", value)], None);
    assert_eq!(with(&basic("ada", &ada)).status, 200);
    let bob = token(&guarded.file(), "bob", &["--role", "read"]);
    let wrong = [
        &basic("bob", &ada),
        &basic("", &ada),
        &basic("ada", &bearer(&ada)),
        &bearer(&bob),
        &bearer(&ada[..ada.len() - 1]),
        &bearer(&ada.replace("_ada_", "_bob_")),
        &bearer(""),
        "Bearer",
        "Basic !",
        &format!("Digest {ada}"),
        &ada,
    ];
    // All at once, because a client that fails again and again waits for its answers.
    let (server, with) = (&guarded.server, &with);
    std::thread::scope(|scope| {
        for wrong in wrong {
            scope.spawn(move || {
                let answer = with(wrong);
                assert_eq!((answer.status, answer.problem().as_str()), (401, "unauthenticated"), "{wrong}");
            });
        }
        // Not even the paths that there are.
        for (method, path) in [
            ("GET", "/v1/nothing"),
            ("PATCH", "/v1/find"),
            ("GET", "/ldp"),
            ("GET", "/metrics"),
            ("GET", "/"),
        ] {
            scope.spawn(move || {
                assert_eq!(server.request(method, path, &[], None).status, 401, "{method} {path}");
            });
        }
    });
    assert_eq!(guarded.server.get("/health/live").status, 200);
    assert_eq!(guarded.server.get("/health/ready").json(), json!({ "ready": true, "writeFailure": null }));
    let twice = [("authorization", bearer(&ada)), ("authorization", bearer(&ada))];
    let twice: Vec<_> = twice.iter().map(|(name, value)| (*name, value.as_str())).collect();
    assert_eq!(guarded.server.request("GET", "/v1/entities", &twice, None).status, 400);
}

#[test]
fn a_token_ends_when_it_expires_or_is_revoked_and_a_broken_file_keeps_the_old_one() {
    let guarded = Guarded::start(&[]);
    let soon = annals_now() + 2_000_000;
    let soon = annals::Instant::from_micros(soon).unwrap().to_string();
    let short = guarded.token("short", &["--role", "read", "--expires", &soon]);
    let (one, other) = (guarded.token("ada", &["--role", "read"]), guarded.token("ada", &["--role", "read"]));
    let is_in = |token: &str| guarded.ask(token, "GET", "/v1/entities", None).status == 200;
    assert!(is_in(&one) && is_in(&other));
    let listed = annals(&["token", "list", "--json", "--tokens", guarded.file().to_str().unwrap()]);
    let listed = String::from_utf8(listed.stdout).unwrap();
    let lines: Vec<Json> = listed.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let ids: Vec<&str> =
        lines.iter().filter(|line| line["name"] == "ada").map(|line| line["id"].as_str().unwrap()).collect();
    let revoke = |more: &[&str]| {
        annals(&[&["token", "revoke", "ada", "--tokens", guarded.file().to_str().unwrap()], more].concat())
    };
    assert!(revoke(&["--id", ids[0]]).status.success());
    assert!(is_in(&one), "a server reads the file when it is told to");
    guarded.reload();
    assert!(!is_in(&one) && is_in(&other));
    let good = std::fs::read_to_string(guarded.file()).unwrap();
    std::fs::write(guarded.file(), "what is this\n").unwrap();
    guarded.reload();
    assert!(
        is_in(&other) && guarded.log().contains("the tokens read before stay in force"),
        "{}",
        guarded.log()
    );
    std::fs::write(guarded.file(), good).unwrap();
    std::fs::set_permissions(guarded.file(), std::fs::Permissions::from_mode(0o644)).unwrap();
    guarded.reload();
    assert!(is_in(&other) && guarded.log().contains("chmod 600"), "{}", guarded.log());
    std::fs::set_permissions(guarded.file(), std::fs::Permissions::from_mode(0o600)).unwrap();
    assert!(revoke(&[]).status.success());
    assert_eq!(revoke(&[]).status.code(), Some(3));
    guarded.reload();
    assert!(!is_in(&other));
    let deadline = Instant::now() + Duration::from_secs(20);
    while is_in(&short) {
        assert!(Instant::now() < deadline, "it does not expire");
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn annals_now() -> i64 {
    annals::Instant::now().micros()
}

#[test]
fn a_feed_ends_when_its_token_expires_or_is_revoked() {
    use std::io::{Read, Write};
    let guarded = Guarded::start(&["--heartbeat-ms", "5000"]);
    let soon = annals::Instant::from_micros(annals_now() + 3_000_000).unwrap().to_string();
    let short = guarded.token("short", &["--role", "read", "--expires", &soon]);
    let ada = guarded.token("ada", &["--role", "read"]);
    let follow = |token: &str, path: &str| {
        let mut stream = guarded.server.connect();
        let address = guarded.server.address;
        write!(stream, "GET {path} HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {token}\r\nconnection: close\r\n\r\n").unwrap();
        let mut part = [0; 1_024];
        let length = stream.read(&mut part).unwrap();
        assert!(part[..length].starts_with(b"HTTP/1.1 200"), "{:?}", String::from_utf8_lossy(&part));
        stream
    };
    let mut ending = follow(&short, "/v1/feed");
    let mut revoked: Vec<_> = ["/v1/feed", "/ldp/fcr:events"].map(|path| follow(&ada, path)).into();
    // Comments keep a feed that does not end alive, so a wait for its end needs a bound of its own.
    let ends = |stream: &mut std::net::TcpStream| {
        let deadline = Instant::now() + Duration::from_secs(20);
        let mut part = [0; 4_096];
        while stream.read(&mut part).unwrap() > 0 {
            assert!(Instant::now() < deadline, "the feed does not end");
        }
    };
    ends(&mut ending);
    assert!(annals_now() >= soon.parse::<annals::Instant>().unwrap().micros() - 100_000);
    for stream in &mut revoked {
        stream.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
        let mut part = Vec::new();
        let error = stream.read_to_end(&mut part).unwrap_err();
        assert_eq!(
            error.kind(),
            std::io::ErrorKind::WouldBlock,
            "it goes on: {}",
            String::from_utf8_lossy(&part)
        );
    }
    assert!(
        annals(&["token", "revoke", "ada", "--tokens", guarded.file().to_str().unwrap()]).status.success()
    );
    guarded.reload();
    for stream in &mut revoked {
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        ends(stream);
    }
}

#[test]
fn secrets_are_in_no_log_no_error_no_metric_and_no_process_list() {
    let guarded = Guarded::start(&["--log", "trace"]);
    let ada = guarded.token("ada", &["--role", "admin"]);
    let wrong = ada.replace("_ada_", "_eve_");
    let secret = ada.rsplit('_').next().unwrap();
    let mut told = String::new();
    for token in [&ada, &wrong] {
        for (method, path) in [
            ("GET", "/v1/entities"),
            ("GET", "/metrics"),
            ("PATCH", "/v1/nothing"),
            ("GET", "/v1/whoami"),
            ("POST", "/v1/find"),
        ] {
            told += &format!("{:?}", guarded.ask(token, method, path, None));
        }
        let basic = format!("Basic {}", STANDARD.encode(format!("eve:{token}")));
        told +=
            &format!("{:?}", guarded.server.request("GET", "/v1/log", &[("authorization", &basic)], None));
        told += &format!("{:?}", guarded.server.request("GET", "/v1/log", &[("authorization", token)], None));
    }
    // Clients put it in the wrong place.
    let encoded: String = ada.bytes().map(|byte| format!("%{byte:02x}")).collect();
    for wrong in [ada.as_str(), &ada.replace('_', "%5F"), &encoded] {
        for path in [
            format!("/v1/entities?token={wrong}"),
            format!("/v1/entities?{wrong}=1&limit={wrong}"),
            format!("/v1/entities/{wrong}"),
            format!("/v1/types/entity/{wrong}"),
            format!("/{wrong}"),
            format!("/ldp/{wrong}"),
        ] {
            told += &format!("{:?}", guarded.ask(&ada, "GET", &path, None));
            told += &format!("{:?}", guarded.server.get(&path));
        }
        for header in ["annals-author", "annals-wait-position", "x-request-id", "last-event-id", "host"] {
            let headers = [(header, wrong)];
            told += &format!("{:?}", guarded.ask_with(&ada, "GET", "/v1/feed?limit=0", &headers, None));
            told +=
                &format!("{:?}", guarded.ask_with(&ada, "POST", "/v1/entities", &headers, Some(&json!({}))));
        }
        let author = json!({ "author": wrong, "operations": [] });
        told += &format!("{:?}", guarded.ask(&ada, "POST", "/v1/transactions", Some(&author)));
    }
    std::fs::write(guarded.file(), format!("{ada}\n")).unwrap();
    guarded.reload();
    told +=
        &String::from_utf8(annals(&["token", "list", "--tokens", guarded.file().to_str().unwrap()]).stderr)
            .unwrap();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        told += &std::fs::read(entry.path().join("cmdline"))
            .map(|text| String::from_utf8_lossy(&text).into_owned())
            .unwrap_or_default();
    }
    told += &guarded.log();
    assert!(told.contains("annals_ready") && told.contains("failed login"), "{}", guarded.log());
    assert!(
        told.contains("annals_***") && !told.to_lowercase().contains(&encoded[encoded.len() - 30..]),
        "{}",
        guarded.log()
    );
    assert!(!told.contains(secret), "{}", &told[told.find(secret).unwrap_or_default().saturating_sub(200)..]);
}

#[test]
fn failed_logins_are_slowed_down_and_logged_and_right_ones_are_not() {
    let guarded = Guarded::start(&[]);
    let ada = guarded.token("ada", &["--role", "read"]);
    let timed = |token: &str| {
        let start = Instant::now();
        let status = guarded.ask(token, "GET", "/v1/entities", None).status;
        (status, start.elapsed())
    };
    let all: Vec<_> = (0..6).map(|_| timed("annals_ada_0")).collect();
    let last = all[5];
    assert!(last.0 == 401 && last.1 >= Duration::from_millis(450), "{last:?}");
    let right = timed(&ada);
    assert!(right.0 == 200 && right.1 < last.1, "{right:?}");
    let lines = guarded.log().matches("failed login").count();
    assert_eq!(lines, 3, "at 1, 2 and 4: {}", guarded.log());
    let admin = guarded.token("admin", &["--role", "operate"]);
    let metrics = guarded.ask(&admin, "GET", "/metrics", None).body;
    assert!(metrics.contains("annals_logins_failed_total 6"), "{metrics}");
}

#[test]
fn a_client_is_the_author_of_all_that_it_writes() {
    let guarded = Guarded::start(&[]);
    let ada = guarded.token("ada", &["--role", "write"]);
    let importer = guarded.token("importer", &["--role", "admin"]);
    let entity = |id: &str| json!({ "id": id, "type": "t" });
    let author_of = |id: &str| {
        let history = guarded.ask(&ada, "GET", &format!("/v1/entities/{id}/history"), None).json();
        history["items"][0]["author"].as_str().unwrap().to_owned()
    };
    assert_eq!(guarded.ask(&ada, "POST", "/v1/entities", Some(&entity("a"))).status, 201);
    assert_eq!(author_of("a"), "ada");
    let as_other = |token: &str, name: &str, method: &str, path: &str, body: Option<&Json>| {
        guarded.ask_with(token, method, path, &[("annals-author", name)], body)
    };
    for name in ["ada", "ad%61", ""] {
        assert_eq!(
            as_other(&ada, name, "PUT", "/v1/entities/a", Some(&json!({ "properties": { "n": name } })))
                .status,
            200
        );
        assert_eq!(author_of("a"), "ada");
    }
    let transaction = |author: &str| json!({ "author": author, "operations": [{ "action": "create", "kind": "entity", "id": "t", "type": "t" }] });
    let lines = json!({ "entity": { "id": "line", "type": "t" } });
    for refused in [
        as_other(&ada, "bob", "POST", "/v1/entities", Some(&entity("b"))),
        as_other(&ada, "bob", "DELETE", "/v1/entities/a", None),
        as_other(&ada, "bob", "PUT", "/v1/tree/x", Some(&json!(1))),
        as_other(&ada, "bob", "POST", "/v1/candidates", Some(&json!({ "name": "night" }))),
        as_other(&ada, "bob", "POST", "/v1/leases", Some(&json!({ "name": "l", "seconds": 60 }))),
        as_other(&ada, "bob", "PUT", "/ldp/x", None),
        as_other(&ada, "bob", "POST", "/ldp/", None),
        guarded.ask_with(
            &ada,
            "POST",
            "/v1/import",
            &[("annals-author", "bob"), ("content-type", "application/x-ndjson")],
            Some(&lines),
        ),
        guarded.ask_with(
            &ada,
            "PUT",
            "/v1/content/c?type=t",
            &[("annals-author", "bob"), ("content-type", "text/plain")],
            Some(&lines),
        ),
        guarded.ask(&ada, "POST", "/v1/transactions", Some(&transaction("bob"))),
    ] {
        assert_eq!((refused.status, refused.problem().as_str()), (403, "forbidden"), "{refused:?}");
    }
    assert_eq!(
        guarded.ask(&ada, "GET", "/v1/entities?type=t", None).json()["items"].as_array().unwrap().len(),
        1
    );
    assert_eq!(as_other(&importer, "carol", "POST", "/v1/entities", Some(&entity("c"))).status, 201);
    assert_eq!(author_of("c"), "carol");
    assert_eq!(guarded.ask(&importer, "POST", "/v1/transactions", Some(&transaction("dan"))).status, 200);
    assert_eq!(author_of("t"), "dan");
    assert_eq!(
        guarded.ask_with(&ada, "PUT", "/ldp/book", &[("content-type", "text/turtle")], None).status,
        201
    );
    let log = guarded.ask(&ada, "GET", "/v1/log?limit=1", None).json();
    assert_eq!(log["items"][0]["author"], "ada", "{log}");
    // The server keeps lines for some milliseconds: those before the line of the signal are written then.
    guarded.reload();
    let told = guarded.log();
    assert!(told.contains("author=\"importer\"") && !told.contains("author=\"carol\""), "{told}");
}

#[test]
fn whoami_says_what_the_server_takes_a_client_for() {
    let guarded = Guarded::start(&[]);
    let ada = guarded.token("ada", &["--role", "read", "--role", "operate", "--expires", "never"]);
    let whoami = guarded.ask(&ada, "GET", "/v1/whoami", None);
    let expected = json!({ "name": "ada", "roles": ["read", "operate"], "verbs": ["read", "operate"], "proof": "token" });
    assert_eq!((whoami.status, whoami.json()), (200, expected));
    assert_eq!(guarded.server.get("/v1/whoami").status, 401);
    let folder = tempfile::tempdir().unwrap();
    let open = Server::start(&folder.path().join("repository"), &[]);
    let anyone = open.get("/v1/whoami").json();
    assert_eq!((anyone["name"].as_str(), anyone["proof"].as_str()), (Some(""), Some("anyone")));
    assert_eq!(anyone["verbs"].as_array().unwrap().len(), 10);
    // A header that nobody reads does no harm there.
    assert_eq!(open.request("GET", "/v1/entities", &[("authorization", "Bearer x")], None).status, 200);
}

#[test]
fn a_proxy_proves_users_from_its_address_only() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tokens");
    token(&file, "ada", &["--role", "admin", "--no-secret"]);
    let tokens = file.to_str().unwrap();
    let start = |proxy: &str| {
        Server::start(
            &folder.path().join(proxy),
            &["--behind-proxy", proxy, "--tokens", tokens, "--default-role", "read"],
        )
    };
    let near = start("127.0.0.1");
    let by = |server: &Server, headers: &[(&str, &str)]| server.request("GET", "/v1/whoami", headers, None);
    let bob = by(&near, &[("annals-author", "b%C3%B6b")]).json();
    assert_eq!(
        (&bob["name"], &bob["proof"], &bob["roles"]),
        (&json!("böb"), &json!("proxy"), &json!(["read"]))
    );
    assert_eq!(by(&near, &[("annals-author", "ada")]).json()["roles"], json!(["admin"]));
    for none in [&[][..], &[("annals-author", "")], &[("annals-author", "%20")]] {
        assert_eq!(by(&near, none).status, 401);
    }
    let far = start("192.0.2.7");
    assert_eq!(by(&far, &[("annals-author", "ada")]).status, 401);
}

#[test]
fn a_token_file_that_others_can_read_ends_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tokens");
    token(&file, "ada", &["--role", "read"]);
    let repository = folder.path().join("repository");
    let serve = |file: &Path| {
        annals(&[
            "serve",
            repository.to_str().unwrap(),
            "--create",
            "--listen",
            "127.0.0.1:0",
            "--tokens",
            file.to_str().unwrap(),
            "--check-config",
        ])
    };
    assert!(serve(&file).status.success());
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o604)).unwrap();
    let done = serve(&file);
    assert_eq!(done.status.code(), Some(2), "{done:?}");
    assert!(String::from_utf8_lossy(&done.stderr).contains("chmod 600"), "{done:?}");
    assert_eq!(serve(&folder.path().join("none")).status.code(), Some(3));
    let wrong = annals(&[
        "token",
        "new",
        "a b",
        "--role",
        "read",
        "--tokens",
        folder.path().join("new").to_str().unwrap(),
    ]);
    assert_eq!(wrong.status.code(), Some(2), "{wrong:?}");
    let wrong = annals(&[
        "token",
        "new",
        "a",
        "--role",
        "a king",
        "--tokens",
        folder.path().join("new").to_str().unwrap(),
    ]);
    assert_eq!(wrong.status.code(), Some(2), "{wrong:?}");
    assert!(!folder.path().join("new").exists());
}

#[test]
fn a_server_that_other_machines_reach_needs_tls_and_credentials_or_a_word() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tokens");
    token(&file, "ada", &["--role", "read"]);
    let (repository, tokens) = (folder.path().join("repository"), file.to_str().unwrap());
    let serve = |more: &[&str]| {
        let first =
            ["serve", repository.to_str().unwrap(), "--create", "--listen", "0.0.0.0:0", "--check-config"];
        annals(&[&first, more].concat())
    };
    for (lacking, remedies) in [
        (&[][..], &["--tls-cert", "--insecure-plain", "--tokens", "--insecure-anyone", "--behind-proxy"][..]),
        (&["--tokens", tokens], &["--tls-cert", "--insecure-plain"]),
        (&["--insecure-plain"], &["--tokens", "--insecure-anyone"]),
    ] {
        let done = serve(lacking);
        assert_eq!(done.status.code(), Some(2), "{lacking:?}: {done:?}");
        let text = String::from_utf8(done.stderr).unwrap();
        for remedy in remedies {
            assert!(text.contains(remedy), "{lacking:?}: {text}");
        }
    }
    for good in [
        &["--insecure-plain", "--insecure-anyone"][..],
        &["--insecure-plain", "--tokens", tokens],
        &["--behind-proxy", "192.0.2.1"],
    ] {
        let done = serve(good);
        assert!(done.status.success(), "{good:?}: {done:?}");
    }
}

#[test]
fn a_token_expires_after_a_year_unless_told_otherwise() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tokens");
    let file = ["--tokens", path.to_str().unwrap()];
    // A line that an earlier version wrote.
    token(&path, "old", &["--role", "read", "--expires", "never"]);
    let new = |name: &str, more: &[&str]| {
        annals(&[&["token", "new", name, "--role", "read"], more, &file[..]].concat())
    };
    let said = |output: &Output| String::from_utf8(output.stderr.clone()).unwrap();
    let usual = new("usual", &[]);
    assert!(said(&usual).starts_with("It expires at 20") && said(&usual).contains("--expires"), "{usual:?}");
    assert_eq!(String::from_utf8(usual.stdout).unwrap().lines().count(), 1);
    let never = new("never", &["--expires", "never"]);
    assert!(said(&never).starts_with("It expires never"), "{never:?}");
    let json: Json = serde_json::from_slice(&new("json", &["--expires", "2h", "--json"]).stdout).unwrap();
    new("roles", &["--no-secret"]);
    let listed = annals(&[&["token", "list", "--json"], &file[..]].concat()).stdout;
    let listed: Vec<Json> =
        String::from_utf8(listed).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let expires = |name: &str| listed.iter().find(|one| one["name"] == *name).unwrap()["expires"].clone();
    for name in ["old", "never", "roles"] {
        assert_eq!(expires(name), Json::Null, "{name}");
    }
    assert_eq!(expires("json"), json["expires"]);
    let until: annals::Instant = expires("usual").as_str().unwrap().parse().unwrap();
    let days = (until.micros() - annals::Instant::now().micros()) as f64 / 86_400e6;
    assert!((364.9..365.1).contains(&days), "{days}");
    for wrong in ["", "0d", "90", "Never", "9999999999999w"] {
        let refused = new("wrong", &["--expires", wrong]);
        assert!(!refused.status.success() && said(&refused).contains("or never"), "{wrong}: {refused:?}");
    }
}
