//! Commands on a log in PostgreSQL: alone, beside the server that writes, and with what is no place of a log.

use std::io::Write;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::postgres::shared;
use crate::server::Server;
use crate::support::{Done, Place, command_in};

/// Longest time of a refusal.
const REFUSAL_MAX: Duration = Duration::from_secs(5);

/// The place of a log that no other test has.
fn new_log() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    format!("postgres://annals@127.0.0.1:{}/library?schema=command_{number}", shared().port)
}

/// A folder with a file to import, and a command in it on a log.
struct OnLog {
    place: Place,
    log: String,
}

impl OnLog {
    fn new() -> OnLog {
        let place = Place::new();
        place.write("people.jsonl", "{\"entity\": {\"id\": \"ada\", \"type\": \"person\"}}\n");
        OnLog { place, log: new_log() }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        command_in(&self.place.path(""), &[&["-r", &self.log], arguments].concat())
    }

    fn run(&self, arguments: &[&str]) -> Done {
        Done::of(self.command(arguments))
    }

    fn ok(&self, arguments: &[&str]) -> String {
        let done = self.run(arguments);
        assert_eq!(done.code, 0, "{arguments:?}: {done:?}");
        done.out
    }

    fn serve(&self, arguments: &[&str]) -> Server {
        Server::start(Path::new(&self.log), arguments)
    }
}

#[test]
fn commands_write_and_read_a_log_alone() {
    let on = OnLog::new();
    let missing = on.run(&["get", "ada"]);
    assert!(missing.code == 3 && missing.err.contains("annals import"), "{missing:?}");
    let missing = on.run(&["set", "ada", "n=1"]);
    assert!(
        missing.code == 3 && missing.err.contains("[not-found]"),
        "no command but an import makes one: {missing:?}"
    );
    on.ok(&["import", "people.jsonl"]);
    on.ok(&["set", "ada", "n=1"]);
    assert!(on.ok(&["get", "ada"]).contains("n"));
    assert!(on.ok(&["history", "ada"]).lines().count() >= 2);
    on.ok(&["check"]);
    on.ok(&["backup", "copy"]);
    let copied = Done::of(command_in(&on.place.path(""), &["-r", "copy", "get", "ada"]));
    assert_eq!(copied.code, 0, "{copied:?}");
    in_shell(on.command(&["shell"]), "set ada n=2\nget ada\nexport --format csv -o csv\n");
}

#[test]
fn beside_a_server_commands_ask_it_and_never_become_the_writer() {
    let on = OnLog::new();
    let server = on.serve(&[]);
    on.ok(&["import", "people.jsonl"]);
    on.ok(&["set", "ada", "n=1"]);
    assert_eq!(server.get("/v1/entities/ada").json()["properties"]["n"], 1);
    on.ok(&["get", "ada"]);
    assert_eq!(server.get("/health/ready").json()["role"], "writer");
    assert_eq!(server.get("/health/ready").json()["term"], 1, "no command began a term");
    // Reads are possible beside it, writes are not.
    on.ok(&["--local", "get", "ada"]);
    let refused = on.run(&["--local", "set", "ada", "n=2"]);
    assert!(refused.code == 4 && refused.err.contains("[locked]"), "{refused:?}");
    assert!(refused.err.contains(&format!("http://{}", server.address)), "{refused:?}");
    // Once it is gone they write themselves, when its lease has ended.
    server.kill();
    drop(server);
    on.ok(&["set", "ada", "n=3"]);
    assert!(on.ok(&["get", "ada"]).contains('3'));
}

/// Only `https`, and this machine, get requests: a lease may name any address.
#[test]
fn a_server_elsewhere_is_asked_over_https_only() {
    let on = OnLog::new();
    on.ok(&["import", "people.jsonl"]);
    for (address, expected) in [
        ("http://192.0.2.1:8280", "expected a URL with https, or of this machine"),
        ("https://nowhere.invalid", "https://nowhere.invalid: "),
    ] {
        let server = on.serve(&["--address", address]);
        assert_eq!(server.get("/health/ready").json()["writer"], address);
        let start = Instant::now();
        let refused = on.run(&["set", "ada", "n=1"]);
        assert!(start.elapsed() < Duration::from_secs(15), "{:?}", start.elapsed());
        assert!(refused.code == 4 && refused.err.contains("[locked]"), "{refused:?}");
        assert!(refused.err.contains("no server is asked") && refused.err.contains(expected), "{refused:?}");
        // It reads the log itself.
        on.ok(&["get", "ada"]);
        server.terminate();
        assert!(server.ended_well());
    }
}

#[test]
fn a_server_with_tls_is_asked_if_its_certificate_is_trusted() {
    let on = OnLog::new();
    on.ok(&["import", "people.jsonl"]);
    let pair = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    on.place.write("cert.pem", &pair.cert.pem());
    on.place.write("key.pem", &pair.signing_key.serialize_pem());
    let (certificate, key) = (on.place.path("cert.pem"), on.place.path("key.pem"));
    let files = ["--tls-cert", certificate.to_str().unwrap(), "--tls-key", key.to_str().unwrap()];
    let server = Server::start_opening(Path::new(&on.log), &[&["--standby"], &files[..]].concat());
    let start = Instant::now();
    let told = format!("https://localhost:{}", server.address.port());
    // It has no certificate to trust, so it reads that the server writes, and ends.
    let refused = loop {
        let done = on.run(&["set", "ada", "n=1"]);
        if done.code != 0 {
            break done;
        }
        assert!(start.elapsed() < Duration::from_secs(30), "the server does not write");
        std::thread::sleep(Duration::from_millis(200));
    };
    assert!(refused.code == 4 && refused.err.contains(&told), "{refused:?}");
    assert!(refused.err.contains("certificate"), "{refused:?}");
    on.ok(&["set", "ada", "n=2", "--ca-file", "cert.pem"]);
    assert!(on.ok(&["--local", "get", "ada"]).contains('2'));
}

/// A process that listens where a killed server did gets neither the token nor the change.
#[test]
fn a_process_in_place_of_the_server_gets_nothing() {
    let on = OnLog::new();
    on.ok(&["import", "people.jsonl"]);
    let told = on.place.json_one(&["token", "new", "ada", "--role", "write", "--tokens", "tokens"]);
    let token = told["token"].as_str().unwrap();
    let tokens = on.place.path("tokens");
    let server = Server::start_opening(Path::new(&on.log), &["--tokens", tokens.to_str().unwrap()]);
    let with_token = |arguments: &[&str]| {
        let mut command = on.command(arguments);
        command.env("ANNALS_TOKEN", token).env_remove("ANNALS_AUTHOR");
        Done::of(command)
    };
    server.wait_until_ready();
    assert_eq!(with_token(&["set", "ada", "n=1"]).code, 0);
    let refused = on.run(&["set", "ada", "n=2"]);
    assert!(refused.err.contains("[unauthenticated]"), "{refused:?}");
    let address = server.address;
    server.kill();
    drop(server);
    let impostor = TcpListener::bind(address).unwrap();
    let heard = std::thread::spawn(move || {
        let (mut stream, _) = impostor.accept().unwrap();
        let mut head = [0; 4_096];
        let count = std::io::Read::read(&mut stream, &mut head).unwrap();
        let answer = "HTTP/1.1 200 OK\r\ncontent-length: 24\r\n\r\n{\"live\":true,\"id\":\"an-id\"}";
        let _ = std::io::Write::write_all(&mut stream, answer.as_bytes());
        String::from_utf8_lossy(&head[..count]).into_owned()
    });
    // The lease ends, and the command writes itself.
    assert_eq!(with_token(&["set", "ada", "n=3"]).code, 0);
    let heard = heard.join().unwrap();
    assert!(heard.contains("/health/live?challenge=") && !heard.contains("annals_"), "{heard}");
}

#[test]
fn what_is_wrong_with_a_place_is_one_sentence_and_no_password_is_shown() {
    let on = OnLog::new();
    on.ok(&["import", "people.jsonl"]);
    let port = shared().port;
    let at = |user: &str, rest: &str| format!("postgres://{user}@127.0.0.1:{port}/library{rest}");
    let schema = on.log.split("schema=").nth(1).unwrap();
    let cases = [
        (at("annals:hunter2", "?schema=x"), "expected no password", "PGPASSFILE"),
        (at("annals", "?password=hunter2"), "expected no password", "PGPASSFILE"),
        ("redis://hunter2@127.0.0.1/0".to_owned(), "found redis://", "correct it"),
        (at("annals", "?shema=x"), "found 'shema'", "correct it"),
        (at("annals", "?sslmode=verify-full&schema=x"), "TLS", "correct"),
        (at("locked", "?schema=x"), "password", "PGPASSWORD"),
        (at("reader", &format!("?schema={schema}")), "permission denied", "grant the right"),
        (
            format!("postgres://annals@127.0.0.1:{port}/nowhere?schema=x"),
            "does not exist",
            "create the database",
        ),
        ("postgres://annals@127.0.0.1:1/library".to_owned(), "could not connect", "start the server"),
    ];
    for (log, expected, remedy) in &cases {
        for arguments in [&["get", "ada"][..], &["set", "ada", "n=1"], &["serve", "--log", "off"], &["shell"]]
        {
            if arguments == ["shell"] && !log.contains("hunter2") {
                continue;
            }
            let mut command = command_in(&on.place.path(""), &[&["-r", log], arguments].concat());
            command.env("PGPASSWORD", "hunter3");
            let start = Instant::now();
            let done = Done::of(command);
            assert!(start.elapsed() < REFUSAL_MAX, "{log} {arguments:?}: {:?}", start.elapsed());
            assert!(done.code != 0 && done.err.contains(expected), "{log} {arguments:?}: {done:?}");
            assert!(
                done.err.contains(remedy) && done.err.lines().count() == 1,
                "{log} {arguments:?}: {done:?}"
            );
            assert!(!format!("{done:?}").contains("hunter"), "{log} {arguments:?}: {done:?}");
        }
    }
    for (arguments, expected) in [
        (&["serve", "annals-data", "--standby"][..], "expected a log in a store"),
        (&["serve", "annals-data", "--cache", "x"], "expected a log in a store"),
        (&["serve", "postgres://annals:hunter2@127.0.0.1/x"], "expected no password"),
        (&["shell", "postgres://annals:hunter2@127.0.0.1/x"], "expected no password"),
    ] {
        let done = Done::of(command_in(&on.place.path(""), arguments));
        assert!(done.code == 2 && done.err.contains(expected), "{arguments:?}: {done:?}");
        assert!(!format!("{done:?}").contains("hunter"), "{done:?}");
    }
    // The environment may name the place as well.
    let mut command = command_in(&on.place.path(""), &["get", "ada"]);
    command.env("ANNALS_REPOSITORY", at("annals:hunter2", ""));
    let done = Done::of(command);
    assert!(done.code == 2 && !done.err.contains("hunter"), "{done:?}");
}

#[test]
fn a_password_comes_from_a_file_or_the_environment() {
    let on = OnLog::new();
    on.place.write("password", "hunter2\n");
    let file = on.place.path("password");
    let log = on.log.replace("annals@", "locked@");
    let with_file = format!("{log}&password-file={}", file.display());
    let run = |log: &str, password: &str| {
        let mut command = command_in(&on.place.path(""), &["-r", log, "import", "people.jsonl", "--merge"]);
        command.env("PGPASSWORD", password);
        Done::of(command)
    };
    assert_eq!(run(&with_file, "").code, 0);
    assert_eq!(run(&log, "hunter2").code, 0);
    let server = Server::start(Path::new(&with_file), &[]);
    let id = server.get("/health/live").json()["id"].clone();
    assert!(id.is_string());
    let told = [server.get("/metrics").body, server.get("/health/ready").body].concat();
    assert!(!told.contains("hunter2"), "{told}");
}

#[test]
fn storage_tells_how_durable_a_log_is_and_adopts_it() {
    let on = OnLog::new();
    let missing = on.run(&["storage", "status"]);
    assert_eq!(missing.code, 3, "{missing:?}");
    on.ok(&["import", "people.jsonl"]);
    let shown = on.ok(&["storage", "status"]);
    assert!(shown.contains("durability  each commit is synced"), "{shown}");
    let told =
        || -> serde_json::Value { serde_json::from_str(&on.ok(&["storage", "status", "--json"])).unwrap() };
    let before = told();
    assert_eq!(before["position"], 1, "{before}");
    let server = on.serve(&[]);
    let refused = on.run(&["storage", "adopt"]);
    assert!(refused.code == 4 && refused.err.contains("stop it"), "{refused:?}");
    let known = server.get("/v1/entities/ada");
    let tag = known.header("etag").unwrap().to_owned();
    server.terminate();
    assert!(server.ended_well());
    on.ok(&["storage", "adopt"]);
    let after = told();
    assert_ne!(after["id"], before["id"]);
    assert_eq!(after["position"], 2, "with the record of the server's term: {after}");
    // Tags from before name nothing.
    let server = on.serve(&[]);
    let headers = [("if-match", &*tag), ("content-type", "application/merge-patch+json")];
    let changed = server.request("PATCH", "/v1/entities/ada", &headers, Some("{\"n\": 1}"));
    assert_eq!(changed.status, 412, "{changed:?}");
    let folder = Done::of(command_in(&on.place.path(""), &["-r", "copy", "storage", "status"]));
    assert!(folder.code == 2 && folder.err.contains("found a folder"), "{folder:?}");
}

/// Commands that opened a log themselves could name no store of contents.
#[test]
fn commands_read_and_write_contents_in_s3() {
    let on = OnLog::new();
    let moto = crate::moto::shared();
    moto.make_bucket("commands");
    on.place.write("key", "[default]\naws_access_key_id=annals\naws_secret_access_key=hunter2\n");
    let key = on.place.path("key");
    std::fs::set_permissions(&key, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    let (port, key) = (moto.port, key.display());
    let objects = format!("s3://commands/annals?endpoint=http://127.0.0.1:{port}&credentials-file={key}");
    on.place.write("scan.txt", "bytes of a scan");
    let with = |mut command: Command| {
        command.env("ANNALS_OBJECTS", &objects);
        Done::of(command)
    };
    let put = with(on.command(&["put", "scan", "scan.txt", "--type", "page"]));
    assert_eq!(put.code, 0, "{put:?}");
    let read = with(on.command(&["cat", "scan"]));
    assert_eq!((read.code, read.out.as_str()), (0, "bytes of a scan"), "{read:?}");
    assert_eq!(on.ok(&["--objects", &objects, "cat", "scan"]), "bytes of a scan");
    let shell = on.command(&["--objects", &objects, "shell"]);
    assert!(in_shell(shell, "cat scan\nput other scan.txt --type page\ncat other\n").contains("scan"));
    assert_eq!(with(on.command(&["fixity"])).code, 0);
    assert_eq!(with(on.command(&["backup", "copy"])).code, 0);
    // Without it, one sentence says what to name.
    for arguments in
        [&["cat", "scan"][..], &["put", "b", "scan.txt", "--type", "page"], &["backup", "other"], &["fixity"]]
    {
        let refused = on.run(arguments);
        assert!(refused.code != 0 && refused.err.lines().count() == 1, "{arguments:?}: {refused:?}");
        assert!(refused.err.contains("`--objects`"), "{arguments:?}: {refused:?}");
    }
    assert_eq!(on.run(&["get", "scan"]).code, 0, "the entity is in the log");
    // That of the environment is none of a folder's business.
    let copied = command_in(&on.place.path(""), &["-r", "copy", "cat", "scan"]);
    assert_eq!(with(copied).out, "bytes of a scan");
    let folder = ["-r", "copy", "--objects", &objects, "cat", "scan"];
    let refused = Done::of(command_in(&on.place.path(""), &folder));
    assert!(refused.code == 2 && refused.err.contains("expected a log in a store"), "{refused:?}");
    for wrong in ["s3://annals:hunter3@commands/annals", "s3://commands?secret=hunter3", "gs://hunter3/x"] {
        for arguments in [&["get", "scan"][..], &["serve", "--log", "off"], &["stats"]] {
            let refused = on.run(&[&["--objects", wrong], arguments].concat());
            assert!(refused.code == 2 && !format!("{refused:?}").contains("hunter3"), "{wrong}: {refused:?}");
        }
    }
}

/// Runs lines in a shell. Shape: what it printed.
fn in_shell(mut shell: Command, lines: &str) -> String {
    let mut running = shell.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    running.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
    let output = running.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}
