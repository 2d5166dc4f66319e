//! Tests the parts that operators and browsers see: the log, request ids, compression, other origins, the configuration
//! file.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixDatagram;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};

use crate::support::{Server, server, try_request};

/// The lines of a log in JSON, once one has all these texts.
fn lines_with(path: &std::path::Path, texts: &[&str]) -> Json {
    let deadline = Instant::now() + Duration::from_secs(10);
    loop {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        if let Some(line) = text.lines().find(|line| texts.iter().all(|text| line.contains(text))) {
            return serde_json::from_str(line).unwrap();
        }
        assert!(Instant::now() < deadline, "{texts:?} in {text}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn each_request_is_a_line_of_the_log_and_a_slow_one_tells_its_search() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let arguments =
        ["--log", "info", "--log-format", "json", "--log-file", log.to_str().unwrap(), "--slow-ms", "0"];
    let server = Server::start(&folder.path().join("repository"), &arguments);
    let opened = lines_with(&log, &["repository open"]);
    assert_eq!((&opened["level"], &opened["position"]), (&json!("INFO"), &json!(0)));

    let headers = [("annals-author", "ada"), ("x-request-id", "mine")];
    let created = server.request("POST", "/v1/entities", &headers, Some("{\"type\": \"thing\"}"));
    assert_eq!(created.status, 201);
    let line = lines_with(&log, &["\"mine\""]);
    assert_eq!(line["author"], "ada");
    assert_eq!(
        (&line["method"], &line["route"], &line["status"]),
        (&json!("POST"), &json!("/v1/entities"), &json!(201))
    );
    assert!(line["bytes"].as_u64().unwrap() > 10 && line["time_ms"].as_f64().unwrap() >= 0.0, "{line}");

    let found = server.send("POST", "/v1/find", &json!({"type": "thing", "q": "name = ada"}));
    assert_eq!(found.status, 200, "{}", found.body);
    let line = lines_with(&log, &["/v1/find", "slow request"]);
    assert_eq!(line["level"], "WARN");
    assert!(line["search"].as_str().unwrap().contains("name = ada"), "{line}");
}

#[test]
fn requests_can_be_left_out_of_the_log() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let filter = "info,annals::request=off";
    let arguments = ["--log", filter, "--log-format", "json", "--log-file", log.to_str().unwrap()];
    let server = Server::start(&folder.path().join("repository"), &arguments);
    assert_eq!(server.get("/v1/entities").status, 200);
    server.terminate();
    assert!(server.ended_well());
    let text = std::fs::read_to_string(&log).unwrap();
    assert!(
        text.contains("stopped") && text.contains("SIGTERM") && !text.contains("annals::request"),
        "{text}"
    );
}

#[test]
fn a_hang_up_opens_the_log_file_again_and_the_server_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let (log, old) = (folder.path().join("log"), folder.path().join("log.1"));
    let arguments = ["--log", "info", "--log-format", "json", "--log-file", log.to_str().unwrap()];
    let server = Server::start(&folder.path().join("repository"), &arguments);
    std::fs::rename(&log, &old).unwrap();
    server.hang_up();
    lines_with(&log, &["log reopened", "SIGHUP"]);
    assert_eq!(server.get("/health/ready").status, 200);
    lines_with(&log, &["/health/ready"]);
    let before = std::fs::read_to_string(&old).unwrap();
    assert!(before.contains("repository open") && !before.contains("log reopened"), "{before}");
}

#[test]
fn every_answer_has_the_id_of_its_request() {
    let (_folder, server) = server(&[]);
    let own = server.request("GET", "/v1/entities", &[("x-request-id", "from-the-proxy")], None);
    assert_eq!(own.header("x-request-id"), Some("from-the-proxy"));
    let id = |method: &str, path: &str| {
        server.request(method, path, &[], None).header("x-request-id").map(str::to_owned).unwrap()
    };
    let ids = [id("GET", "/v1/entities"), id("GET", "/nowhere"), id("DELETE", "/v1/entities")];
    assert!(ids[0] != ids[1] && ids[1] != ids[2] && ids[0] != ids[2], "{ids:?}");
}

#[test]
fn long_answers_are_compressed_if_the_client_takes_that() {
    let (_folder, server) = server(&[]);
    let text = "one and the same ".repeat(1_000);
    let body = json!({"id": "a", "type": "thing", "properties": {"text": text}});
    assert_eq!(server.send("POST", "/v1/entities", &body).status, 201);

    let mut stream = server.connect();
    let request = "GET /v1/entities/a HTTP/1.1\r\nhost: localhost\r\naccept-encoding: gzip\r\nconnection: close\r\n\r\n";
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    let end = answer.windows(4).position(|part| part == b"\r\n\r\n").unwrap();
    let head = String::from_utf8(answer[..end].to_vec()).unwrap().to_lowercase();
    assert!(head.contains("content-encoding: gzip") && head.contains("vary: accept-encoding"), "{head}");
    assert!(answer.len() < text.len() / 10, "{}", answer.len());

    for (path, encoding) in [("/v1/entities/a", "identity"), ("/health/live", "gzip")] {
        let plain = server.request("GET", path, &[("accept-encoding", encoding)], None);
        assert_eq!(plain.header("content-encoding"), None, "{path}");
        plain.json();
    }
}

/// A browser asks for compressed lines. Each such answer was cut off: the compression asked the stream once more behind its end,
/// and that panicked.
#[test]
fn compressed_lines_are_whole() {
    let (_folder, server) = server(&[]);
    assert_eq!(server.send("POST", "/v1/entities", &json!({"id": "a", "type": "thing"})).status, 201);

    let mut stream = server.connect();
    let request = "GET /v1/entities HTTP/1.1\r\nhost: localhost\r\naccept: application/x-ndjson\r\naccept-encoding: gzip\r\nconnection: close\r\n\r\n";
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    let head = String::from_utf8_lossy(&answer).to_lowercase();
    assert!(head.contains("content-encoding: gzip"), "{head}");
    assert!(answer.ends_with(b"\r\n0\r\n\r\n"), "the answer is cut off: {answer:?}");
}

#[test]
fn web_pages_of_allowed_origins_read_and_write_and_others_do_not() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["--cors-origin", "https://catalogue.example"];
    let server = Server::start(&folder.path().join("repository"), &arguments);
    let preflight = |origin: &str| {
        let headers = [
            ("origin", origin),
            ("access-control-request-method", "PATCH"),
            ("access-control-request-headers", "annals-author"),
        ];
        server.request("OPTIONS", "/v1/entities/a", &headers, None)
    };
    let allowed = preflight("https://catalogue.example");
    assert_eq!(allowed.status, 200);
    assert_eq!(allowed.header("access-control-allow-origin"), Some("https://catalogue.example"));
    assert!(allowed.header("access-control-allow-methods").unwrap().contains("PATCH"));
    assert_eq!(allowed.header("access-control-allow-headers"), Some("annals-author"));
    let other = preflight("https://evil.example");
    assert_eq!((other.status, other.header("access-control-allow-origin")), (403, None));

    let write = |origin: &str| {
        server.request("POST", "/v1/entities", &[("origin", origin)], Some("{\"type\": \"thing\"}"))
    };
    let written = write("https://catalogue.example");
    assert_eq!(written.status, 201);
    let exposed = written.header("access-control-expose-headers").unwrap();
    assert!(exposed.contains("annals-position") && exposed.contains("etag"), "{exposed}");
    assert_eq!(write("https://evil.example").status, 403);
}

#[test]
fn a_server_without_allowed_origins_shows_no_headers_for_them() {
    let (_folder, server) = server(&[]);
    let read = server.request("GET", "/v1/entities", &[("origin", "https://catalogue.example")], None);
    assert_eq!((read.status, read.header("access-control-allow-origin")), (200, None));
}

fn annals(arguments: &[&str]) -> (i32, String) {
    let output =
        Command::new(env!("CARGO_BIN_EXE_annals")).args(arguments).stdin(Stdio::null()).output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.code().unwrap(), String::from_utf8(text).unwrap())
}

#[test]
fn a_configuration_is_checked_without_serving() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("annals.toml");
    let file_name = file.to_str().unwrap();
    let repository = folder.path().join("repository");
    let check = |text: String| {
        std::fs::write(&file, text).unwrap();
        annals(&["serve", "--config", file_name, "--check-config"])
    };
    let (code, text) =
        check(format!("repository = {repository:?}\ncreate = true\npage-max = 7\nlog = 'warn'"));
    assert_eq!((code, text.contains("the configuration is good")), (0, true), "{text}");
    assert!(!repository.exists(), "checking creates nothing");
    for (text, expected) in [
        (format!("repository = {repository:?}"), "found none"),
        ("page_max = 7".into(), "there is no such option"),
        ("log = 'loud'\ncreate = true".into(), "expected a level"),
        ("cors-origin = ['*']\ncreate = true".into(), "expected a scheme"),
    ] {
        let (code, answer) = check(text.clone());
        assert!(code != 0 && answer.contains(expected), "{text}: {code} {answer}");
    }
    assert_ne!(annals(&["serve", "--config", "/nowhere/annals.toml", "--check-config"]).0, 0);
}

/// A file of the folder `packaging`.
fn packaged(name: &str) -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging").join(name)
}

#[test]
fn the_packaged_configuration_is_good() {
    let folder = tempfile::tempdir().unwrap();
    let (file, repository) = (packaged("annals.toml"), folder.path().join("repository"));
    let arguments = [repository.to_str().unwrap(), "--create", "--config", file.to_str().unwrap()];
    let (code, text) = annals(&[&["serve", "--check-config"], &arguments[..]].concat());
    assert_eq!((code, text.contains("the configuration is good")), (0, true), "{text}");
}

#[test]
fn the_packaged_alerts_ask_for_metrics_that_the_server_has() {
    let (_folder, server) = server(&[]);
    server.get("/v1/types");
    let metrics = server.get("/metrics").body;
    let alerts = std::fs::read_to_string(packaged("alerts.yml")).unwrap();
    let mut words: Vec<&str> =
        alerts.split(|letter: char| !letter.is_alphanumeric() && letter != '_').collect();
    words.retain(|word| word.starts_with("annals_"));
    assert!(words.len() > 5, "{words:?}");
    words.retain(|word| {
        !metrics.lines().any(|line| line.strip_prefix(word).is_some_and(|rest| rest.starts_with([' ', '{'])))
    });
    assert!(words.is_empty(), "expected only metrics of the server, found {words:?}");
}

#[test]
fn a_refusal_of_the_log_and_its_end_are_one_line_each() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let arguments =
        ["--log", "info,annals::request=off", "--log-format", "json", "--log-file", log.to_str().unwrap()];
    let server = Server::start(&folder.path().join("repository"), &arguments);
    if !server.limit_files("200000") {
        eprintln!("skipped: there is no prlimit");
        return;
    }
    let body = json!({"type": "thing", "properties": {"text": "x".repeat(50_000)}});
    let statuses: Vec<u16> = (0..10).map(|_| server.send("POST", "/v1/entities", &body).status).collect();
    assert!(statuses.ends_with(&[507, 507]), "{statuses:?}");
    let line = lines_with(&log, &["writes are refused for now"]);
    assert_eq!((&line["level"], &line["kind"]), (&json!("ERROR"), &json!("no-room")));
    assert!(server.limit_files("unlimited"));
    assert_eq!(server.send("POST", "/v1/entities", &body).status, 201);
    lines_with(&log, &["writes are accepted again", "INFO"]);
    let text = std::fs::read_to_string(&log).unwrap();
    assert_eq!((text.matches("refused").count(), text.matches("accepted").count()), (1, 1), "{text}");
}

/// Sends requests whose lines take 1.5 MiB: more than a pipe and the queue of the log hold together.
fn send_many_lines(server: &Server) {
    let path = format!("/v1/types?x={}", "y".repeat(1_900));
    for number in 0..800 {
        assert_eq!(server.get(&path).status, 400, "request {number}");
    }
}

#[test]
fn a_log_that_nobody_reads_neither_stops_the_server_nor_keeps_it_from_ending() {
    let folder = tempfile::tempdir().unwrap();
    let (server, pipe) = Server::start_piped(&folder.path().join("repository"), &["--log", "info"]);
    send_many_lines(&server);
    assert_eq!(server.get("/health/live").status, 200);
    let metrics = server.get("/metrics").body;
    let line = metrics.lines().find(|line| line.starts_with("annals_log_lines_dropped_total ")).unwrap();
    assert!(line.rsplit(' ').next().unwrap().parse::<u64>().unwrap() > 0, "{line}");
    server.hang_up();
    server.terminate();
    assert!(server.ended_well());
    drop(pipe);
}

#[test]
fn the_log_says_how_many_lines_it_lost_once_its_reader_is_back() {
    let folder = tempfile::tempdir().unwrap();
    let (server, pipe) = Server::start_piped(&folder.path().join("repository"), &["--log", "info"]);
    send_many_lines(&server);
    server.terminate();
    let mut lines = BufReader::new(pipe).lines().map(Result::unwrap);
    let line =
        lines.find(|line| line.contains("lines of the log were dropped")).expect("a line with the number");
    let dropped: usize = line.rsplit('=').next().unwrap().trim().parse().unwrap();
    assert!((1..800).contains(&dropped), "{line}");
    assert!(server.ended_well());
}

#[test]
fn the_service_manager_is_told_when_the_server_is_ready_and_when_it_stops() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("notify");
    let manager = UnixDatagram::bind(&socket).unwrap();
    manager.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_annals"))
        .args(["serve", "--create", "--listen", "127.0.0.1:0", "--log", "warn"])
        .arg(folder.path().join("repository"))
        .env("NOTIFY_SOCKET", &socket)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let told = || {
        let mut bytes = [0; 1_024];
        let length = manager.recv(&mut bytes).unwrap();
        String::from_utf8(bytes[..length].to_vec()).unwrap()
    };
    let ready = told();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    Command::new("kill").arg(child.id().to_string()).status().unwrap();
    let stopping = told();
    let status = child.wait().unwrap();
    assert!(ready.contains("READY=1"), "{ready}");
    assert!(stopping.contains("STOPPING=1"), "{stopping}");
    assert!(status.success());
}

fn put_binary(server: &Server, body: &str) -> u16 {
    try_request(server.address, "PUT", "/ldp/b", &[("content-type", "a/b")], Some(body)).unwrap().status
}

#[test]
fn other_users_of_the_machine_cannot_read_the_files_of_a_server() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let (repository, log) = (folder.path().join("repository"), folder.path().join("log"));
    let server = Server::start(&repository, &["--log-file", log.to_str().unwrap()]);
    assert_eq!(put_binary(&server, "bytes"), 201);
    let mut waiting = vec![repository, log];
    let mut count = 0;
    while let Some(path) = waiting.pop() {
        let metadata = std::fs::metadata(&path).unwrap();
        assert_eq!(metadata.permissions().mode() & 0o007, 0, "{}", path.display());
        count += 1;
        if metadata.is_dir() {
            waiting.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        }
    }
    assert!(count > 5, "{count}");
}

#[test]
fn purged_bytes_leave_while_the_server_runs_also_beside_a_backup() {
    let folder = tempfile::tempdir().unwrap();
    let repository = folder.path().join("repository");
    let server = Server::start(&repository, &[]);
    let secret = "to-be-forgotten".repeat(10);
    let gone = json!({"id": "gone", "type": "thing", "properties": {"text": secret}});
    assert_eq!(server.send("POST", "/v1/entities", &gone).status, 201);
    assert_eq!(put_binary(&server, "stays"), 201);
    assert_eq!(server.request("DELETE", "/v1/entities/gone?purge=true", &[], None).status, 200);
    let holds_secret = || {
        let segments = std::fs::read_dir(repository.join("log")).unwrap().map(|entry| entry.unwrap().path());
        let is_in = |path: &std::path::PathBuf| {
            let bytes = std::fs::read(path).unwrap_or_default();
            bytes.windows(secret.len()).any(|part| part == secret.as_bytes())
        };
        segments.collect::<Vec<_>>().iter().any(is_in)
    };
    assert!(holds_secret());
    let answer = server.request("POST", "/v1/compactions", &[], None);
    assert_eq!((answer.status, answer.json()["changes"].as_u64() > Some(0)), (200, true), "{answer:?}");
    assert!(!holds_secret());
    let read = try_request(server.address, "GET", "/ldp/b", &[], None).unwrap();
    assert_eq!(read.body, "stays");
    assert_eq!(server.send("POST", "/v1/entities", &json!({"type": "thing"})).status, 201);
    let (code, text) =
        annals(&["-r", repository.to_str().unwrap(), "backup", folder.path().join("copy").to_str().unwrap()]);
    assert_eq!(code, 0, "{text}");
}
