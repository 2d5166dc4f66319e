//! Imports into a running server: of any length, told line by line, committed while they come.

use std::io::{BufReader, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value as Json, json};

use crate::support::{Answer, Server, read_answer, server};

const NDJSON: (&str, &str) = ("content-type", "application/x-ndjson");

/// An import whose client sends what it likes, when it likes.
struct Import(TcpStream);

impl Import {
    fn begin(server: &Server, path: &str) -> Import {
        let mut stream = server.connect();
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: localhost\r\n{}: {}\r\nannals-author: ada\r\nannals-message: nightly\r\n\
             transfer-encoding: chunked\r\n\r\n",
            NDJSON.0, NDJSON.1
        );
        stream.write_all(head.as_bytes()).unwrap();
        Import(stream)
    }

    /// False if the server has closed the connection.
    fn send(&mut self, bytes: &[u8]) -> bool {
        let head = format!("{:x}\r\n", bytes.len());
        [head.as_bytes(), bytes, b"\r\n"].iter().all(|part| self.0.write_all(part).is_ok())
    }

    fn answer(self) -> Answer {
        read_answer(&mut BufReader::new(self.0), false).expect("the server answers")
    }

    fn end(mut self) -> Answer {
        self.0.write_all(b"0\r\n\r\n").unwrap();
        self.answer()
    }
}

/// Sends everything in parts of 64 KiB.
pub fn import(server: &Server, path: &str, bytes: &[u8]) -> Answer {
    let mut import = Import::begin(server, path);
    for part in bytes.chunks(64 << 10) {
        assert!(import.send(part), "the server takes it");
    }
    import.end()
}

fn entity(number: usize) -> String {
    format!(
        "{{\"entity\": {{\"id\": \"e{number}\", \"type\": \"table\", \"properties\": {{\"rows\": {number}, \"text\": \"{}\"}}}}}}\n",
        "x".repeat(100)
    )
}

/// Entities, each but the first linked with the one before, without ids.
fn chain(count: usize) -> String {
    let link = |number: usize| {
        let before = number - 1;
        format!(
            "{{\"relationship\": {{\"type\": \"reads\", \"from\": \"e{number}\", \"to\": \"e{before}\"}}}}\n"
        )
    };
    (0..count).map(entity).chain((1..count).map(link)).collect()
}

pub fn counts(answer: &Answer) -> [u64; 5] {
    let json = answer.json();
    ["created", "updated", "unchanged", "deleted", "refused"]
        .map(|name| json[name].as_u64().unwrap_or_else(|| panic!("{name} in {answer:?}")))
}

pub fn export(server: &Server) -> String {
    let answer = server.get("/v1/export");
    assert_eq!((answer.status, answer.header("content-type")), (200, Some(NDJSON.1)), "{}", answer.status);
    answer.body
}

pub fn sorted(text: &str) -> Vec<&str> {
    let mut lines: Vec<_> = text.lines().collect();
    lines.sort_unstable();
    lines
}

fn tables(server: &Server) -> u64 {
    server.send("POST", "/v1/count", &json!({"type": "table"})).json()["count"].as_u64().unwrap()
}

/// The output of a command about a repository.
pub fn annals(repository: &Path, arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_annals"))
        .arg("--repository")
        .arg(repository)
        .args(arguments)
        .output()
        .expect("the binary starts");
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

// Remembered until the end, because instances of them are refused; a body of any length may declare any number.
#[test]
fn types_that_are_refused_are_bounded() {
    let (_folder, server) = server(&[]);
    let define = |number: usize| {
        format!(
            "{{\"type\": {{\"kind\": \"entity\", \"name\": \"t{number}\", \"supertypes\": [\"none\"]}}}}\n"
        )
    };
    let few = import(&server, "/v1/import", (0..100).map(define).collect::<String>().as_bytes());
    assert_eq!((few.status, counts(&few)), (200, [0, 0, 0, 0, 100]), "{few:?}");
    let many = import(&server, "/v1/import", (0..11_000).map(define).collect::<String>().as_bytes());
    assert_eq!((many.status, many.problem().as_str()), (413, "too-large"), "{many:?}");
    assert_eq!(many.json()["refusedLines"].as_array().unwrap().len(), 100);
}

// Reported: beside a running server nothing could be loaded.
#[test]
fn what_is_exported_can_be_imported_again() {
    let (folder, first) = server(&[]);
    let types = "{\"type\": {\"kind\": \"entity\", \"name\": \"table\", \"attributes\": [{\"name\": \"rows\", \"type\": \"integer\"}]}}\n";
    let text = [types, &chain(10_000)].concat();
    let answer = import(&first, "/v1/import", text.as_bytes());
    assert_eq!((answer.status, counts(&answer)), (200, [20_000, 0, 0, 0, 0]), "{answer:?}");
    assert_eq!(answer.json()["throughLine"], 20_000);
    let position = first.get("/v1/types").header("annals-position").unwrap().to_owned();
    assert_eq!(answer.json()["position"].to_string(), position);
    let history = first.get("/v1/entities/e7/history").json();
    assert_eq!(history["items"][0]["author"], "ada");
    assert!(
        history["items"][0]["message"]
            .as_str()
            .unwrap()
            .starts_with("nightly [import POST /v1/import lines ")
    );

    let exported = export(&first);
    assert_eq!(exported.lines().count(), 20_000);
    let (_folder, second) = server(&[]);
    let answer = import(&second, "/v1/import", exported.as_bytes());
    assert_eq!((answer.status, counts(&answer)), (200, [20_000, 0, 0, 0, 0]), "{answer:?}");
    let again = export(&second);
    assert!(sorted(&exported) == sorted(&again), "the exports are equal");

    // The command takes it, and gives it.
    let file = folder.path().join("exported.jsonl");
    std::fs::write(&file, &exported).unwrap();
    let third = folder.path().join("third");
    annals(&third, &["import", &file.display().to_string()]);
    assert!(sorted(&annals(&third, &["export"])) == sorted(&exported), "the exports are equal");

    // The same again, packed, changes nothing.
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(text.as_bytes()).unwrap();
    let answer = import(&first, "/v1/import?merge", &packed.finish().unwrap());
    assert_eq!((answer.status, counts(&answer)), (200, [0, 0, 20_000, 0, 0]), "{answer:?}");
    assert_eq!(first.get("/v1/types").header("annals-position").unwrap(), position);
}

#[test]
fn refused_lines_are_told_with_their_numbers_and_the_rest_goes_on() {
    let (_folder, server) = server(&["--body-bytes-max", "100000"]);
    let long = format!(
        "{{\"entity\": {{\"type\": \"table\", \"properties\": {{\"x\": \"{}\"}}}}}}\n",
        "x".repeat(200_000)
    );
    let deep = format!(
        "{{\"entity\": {{\"type\": \"table\", \"properties\": {{\"x\": [{}0]}}}}}}\n",
        "[],".repeat(10)
    );
    let link = "{\"relationship\": {\"type\": \"reads\", \"from\": \"e1\", \"to\": \"nobody\"}}\n";
    let text = [&entity(1), "what?\n", "\n", &long, link, &deep, &entity(1), &entity(2)].concat();
    let answer = import(&server, "/v1/import", text.as_bytes());
    assert_eq!((answer.status, counts(&answer)), (200, [3, 0, 0, 0, 4]), "{answer:?}");
    let refused: Vec<(u64, String)> = answer.json()["refusedLines"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["line"].as_u64().unwrap(), one["kind"].as_str().unwrap().to_owned()))
        .collect();
    let expected =
        [(2, "invalid-argument"), (4, "invalid-argument"), (5, "missing-end"), (7, "already-exists")];
    let mut known = refused.clone();
    known.sort();
    assert_eq!(known, expected.map(|(line, kind)| (line, kind.to_owned())), "{answer:?}");
    assert!(answer.body.contains("expected a line of at most 100000 bytes"), "{answer:?}");

    let stopped = import(
        &server,
        "/v1/import?stopOnError=true",
        [&*entity(3), "what?\n", &entity(4)].concat().as_bytes(),
    );
    assert_eq!((stopped.status, stopped.problem().as_str()), (400, "invalid-argument"), "{stopped:?}");
    assert_eq!((&stopped.json()["line"], counts(&stopped)), (&json!(2), [1, 0, 0, 0, 1]), "{stopped:?}");
    assert_eq!((server.get("/v1/entities/e3").status, server.get("/v1/entities/e4").status), (200, 404));
}

#[test]
fn a_line_that_takes_too_much_when_it_is_parsed_is_refused() {
    let (_folder, server) = server(&["--bodies-bytes-max", "4000000"]);
    let wide = format!(
        "{{\"entity\": {{\"type\": \"table\", \"properties\": {{\"x\": [{}0]}}}}}}\n",
        "[],".repeat(50_000)
    );
    let answer = import(&server, "/v1/import", [&*wide, &entity(1)].concat().as_bytes());
    assert_eq!((answer.status, counts(&answer)), (200, [1, 0, 0, 0, 1]), "{answer:?}");
    assert!(
        answer.body.contains("expected a line that takes at most 500000 bytes when it is parsed"),
        "{answer:?}"
    );
}

#[test]
fn a_client_that_hangs_is_cut_and_told_how_far_it_came() {
    let (_folder, server) = server(&["--request-time-ms", "1500"]);
    let mut import = Import::begin(&server, "/v1/import?batch=500");
    let text: String = (0..4_300).map(entity).collect();
    assert!(import.send(text.as_bytes()));
    let start = Instant::now();
    let answer = import.answer();
    assert!(start.elapsed() < Duration::from_secs(15), "{:?}", start.elapsed());
    assert_eq!((answer.status, answer.problem().as_str()), (408, "slow-request"), "{answer:?}");
    let (line, created) = (answer.json()["throughLine"].as_u64().unwrap(), counts(&answer)[0]);
    assert_eq!((line, created), (4_000, 4_000), "{answer:?}");
    assert_eq!(tables(&server), created);
    // The same again, compared, brings the rest.
    let whole = self::import(&server, "/v1/import?merge", text.as_bytes());
    assert_eq!(counts(&whole), [300, 0, 4_000, 0, 0], "{whole:?}");
    // A body that breaks off does not say what is missing.
    let mut broken = Import::begin(&server, "/v1/import?merge&deleteMissing&deleteMissingMax=100");
    assert!(broken.send(entity(0).as_bytes()));
    let answer = broken.answer();
    assert_eq!((answer.status, counts(&answer)[3]), (408, 0), "{answer:?}");
    assert_eq!(tables(&server), 4_300);
}

#[test]
fn a_body_that_goes_on_may_take_longer_than_a_request() {
    let (_folder, server) = server(&["--request-time-ms", "3000"]);
    let mut import = Import::begin(&server, "/v1/import");
    let start = Instant::now();
    let mut sent = 0;
    while start.elapsed() < Duration::from_secs(6) {
        let text: String = (sent..sent + 100).map(entity).collect();
        assert!(import.send(text.as_bytes()));
        sent += 100;
        std::thread::sleep(Duration::from_millis(300));
    }
    let answer = import.end();
    assert_eq!((answer.status, counts(&answer)[0]), (200, sent as u64), "{answer:?}");
}

#[test]
fn two_imports_and_other_requests_go_on_side_by_side() {
    let (_folder, server) = server(&[]);
    let half = |from: usize| -> String { (from..from + 2_000).map(entity).collect() };
    let mut imports =
        [Import::begin(&server, "/v1/import?batch=500"), Import::begin(&server, "/v1/import?batch=500")];
    for (number, import) in imports.iter_mut().enumerate() {
        assert!(import.send(half(number * 10_000).as_bytes()));
    }
    let deadline = Instant::now() + Duration::from_secs(20);
    while tables(&server) < 3_000 {
        assert!(
            Instant::now() < deadline,
            "batches are not committed while the body comes: {}",
            tables(&server)
        );
        std::thread::sleep(Duration::from_millis(20));
    }
    let third = self::import(&server, "/v1/import", entity(1).as_bytes());
    assert_eq!((third.status, third.problem().as_str()), (503, "busy"), "{third:?}");
    let written =
        server.send("PUT", "/v1/entities/e3", &json!({"type": "table", "properties": {"rows": -1}}));
    assert!([200, 201].contains(&written.status), "{written:?}");
    assert_eq!(server.get("/v1/entities/e3").json()["properties"]["rows"], -1);
    for (number, import) in imports.iter_mut().enumerate() {
        assert!(import.send(half(number * 10_000 + 2_000).as_bytes()));
    }
    for import in imports {
        let answer = import.end();
        assert_eq!((answer.status, counts(&answer)), (200, [4_000, 0, 0, 0, 0]), "{answer:?}");
    }
    assert_eq!(tables(&server), 8_000);
    let fourth = self::import(&server, "/v1/import", entity(9_000).as_bytes());
    assert_eq!(fourth.status, 200, "both places are free again: {fourth:?}");
}

#[test]
fn what_was_seen_of_an_import_is_there_after_a_crash() {
    let (folder, server) = server(&[]);
    let mut import = Import::begin(&server, "/v1/import?batch=200");
    let mut sent = 0;
    let mut seen = 0;
    while seen < 2_000 {
        let text: String = (sent..sent + 500).map(entity).collect();
        assert!(import.send(text.as_bytes()));
        sent += 500;
        seen = tables(&server);
    }
    server.kill();
    drop(server);
    let server = Server::start(&folder.path().join("repository"), &[]);
    let left = tables(&server);
    assert!((seen..=sent as u64).contains(&left), "seen {seen}, left {left}, sent {sent}");
    // Lines are committed in their order.
    for number in [0, 1, left as usize - 1] {
        assert_eq!(server.get(&format!("/v1/entities/e{number}")).status, 200, "{number} of {left}");
    }
    assert_eq!(server.get(&format!("/v1/entities/e{left}")).status, 404);
}

#[test]
fn a_server_that_stops_ends_an_import_and_keeps_what_is_committed() {
    let (folder, server) = server(&[]);
    let mut import = Import::begin(&server, "/v1/import?batch=100");
    let text: String = (0..1_000).map(entity).collect();
    assert!(import.send(text.as_bytes()));
    while tables(&server) < 1_000 {
        std::thread::sleep(Duration::from_millis(10));
    }
    server.terminate();
    let answer = import.answer();
    // 503 would say that nothing was written, and a proxy could send it again.
    assert_eq!((answer.status, answer.problem().as_str()), (504, "partly-written"), "{answer:?}");
    assert_eq!(answer.json()["reason"], "stopping", "{answer:?}");
    assert_eq!((counts(&answer)[0], &answer.json()["throughLine"]), (1_000, &json!(1_000)), "{answer:?}");
    assert!(server.ended_well());
    let server = Server::start(&folder.path().join("repository"), &[]);
    assert_eq!(tables(&server), 1_000);
}

#[test]
fn memory_does_not_grow_with_the_body() {
    let (_folder, server) = server(&[]);
    let text = format!(
        "{{\"entity\": {{\"id\": \"e\", \"type\": \"table\", \"properties\": {{\"text\": \"{}\"}}}}}}\n",
        "x".repeat(32 << 10)
    );
    let some = text.repeat(100);
    assert_eq!(self::import(&server, "/v1/import?merge", some.as_bytes()).status, 200);
    let before = server.resident_bytes();
    let mut import = Import::begin(&server, "/v1/import?merge");
    let mut peak = before;
    for _ in 0..30 {
        assert!(import.send(some.as_bytes()));
        peak = peak.max(server.resident_bytes());
    }
    let answer = import.end();
    assert_eq!((answer.status, counts(&answer)), (200, [0, 0, 3_000, 0, 0]), "{answer:?}");
    // The body has 96 MiB.
    let extra = peak.max(server.resident_bytes()) - before;
    assert!(extra < 32 << 20, "{extra} bytes more");
}

#[test]
fn what_is_missing_is_deleted_within_the_guard_and_unless_others_wrote_it() {
    let (_folder, server) = server(&[]);
    assert_eq!(self::import(&server, "/v1/import", chain(20).as_bytes()).status, 200);
    let mut import = Import::begin(&server, "/v1/import?merge&deleteMissing&deleteMissingMax=100");
    assert!(import.send(chain(18).as_bytes()));
    // Once the import is known to run, somebody else writes what it does not name.
    let deadline = Instant::now() + Duration::from_secs(20);
    let is_running = |server: &Server| {
        let metrics = server.get("/metrics").body;
        metrics.lines().any(|line| line.starts_with("annals_imports ") && line.ends_with(" 1"))
    };
    while !is_running(&server) {
        assert!(Instant::now() < deadline, "the import does not begin");
    }
    let patch = json!({"rows": -1});
    assert_eq!(server.send("PATCH", "/v1/entities/e19", &patch).status, 200);
    let answer = import.end();
    assert_eq!((answer.status, counts(&answer)), (200, [0, 0, 35, 1, 0]), "{answer:?}");
    assert_eq!(tables(&server), 19);
    assert_eq!((server.get("/v1/entities/e18").status, server.get("/v1/entities/e19").status), (410, 200));
    let refused = self::import(&server, "/v1/import?merge&deleteMissing", entity(1).as_bytes());
    assert_eq!((refused.status, refused.problem().as_str()), (400, "invalid-argument"), "{refused:?}");
    assert!(
        refused.body.contains("deleteMissingMax=98") && refused.body.contains("go with them, found 35"),
        "{refused:?}"
    );
    assert_eq!(counts(&refused), [0, 0, 1, 0, 0], "{refused:?}");
    assert_eq!(tables(&server), 19);
}

#[test]
fn what_cannot_be_imported_is_refused_with_the_reason() {
    let (folder, server) = server(&["--require-author"]);
    let send =
        |path: &str, headers: &[(&str, &str)], body: &str| server.request("POST", path, headers, Some(body));
    let author = ("annals-author", "ada");
    for (path, headers, body, status, kind) in [
        ("/v1/import", vec![NDJSON], "", 400, "invalid-argument"),
        ("/v1/import", vec![author], "", 415, "unsupported-media-type"),
        ("/v1/import", vec![author, NDJSON, ("content-encoding", "br")], "", 415, "unsupported-media-type"),
        ("/v1/import?key=a", vec![author, NDJSON], "", 400, "invalid-argument"),
        ("/v1/import?deleteMissing", vec![author, NDJSON], "", 400, "invalid-argument"),
        (
            "/v1/import?merge&deleteMissing&deleteMissingMax=101",
            vec![author, NDJSON],
            "",
            400,
            "invalid-argument",
        ),
        ("/v1/import?id=a&from=b", vec![author, NDJSON], "", 400, "invalid-argument"),
        ("/v1/import?from=a", vec![author, NDJSON], "", 400, "invalid-argument"),
        ("/v1/import?type=a", vec![author, NDJSON], "", 400, "invalid-argument"),
        ("/v1/import?from=a&to=b", vec![author, NDJSON], "", 400, "invalid-argument"),
        ("/v1/import?batch=0", vec![author, NDJSON], "", 400, "invalid-argument"),
        (
            "/v1/import",
            vec![author, NDJSON],
            "{\"record\": {\"position\": 1, \"instant\": \"2024-01-01T00:00:00Z\", \"author\": \"eve\", \"changes\": []}}\n",
            400,
            "invalid-argument",
        ),
    ] {
        let answer = send(path, &headers, body);
        assert_eq!((answer.status, answer.problem().as_str()), (status, kind), "{path}: {answer:?}");
    }
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all((0..2_000).map(entity).collect::<String>().as_bytes()).unwrap();
    let packed = packed.finish().unwrap();
    let cut = self::import(&server, "/v1/import", &packed[..packed.len() - 9]);
    assert_eq!((cut.status, cut.problem().as_str()), (400, "invalid-argument"), "{cut:?}");
    let reader = Server::start(&folder.path().join("repository"), &["--read-only"]);
    let answer = self::import(&reader, "/v1/import", entity(1).as_bytes());
    assert_eq!((answer.status, answer.problem().as_str()), (403, "read-only"), "{answer:?}");
    let empty: Json = send("/v1/import", &[author, NDJSON], "").json();
    assert_eq!((&empty["records"], &empty["throughLine"]), (&json!(0), &json!(0)));
}

// The import committed to the repository, though the parameter was accepted and described.
#[test]
fn an_import_takes_no_candidate() {
    let (_folder, server) = server(&[]);
    for parameter in ["candidate=nosuch", "always"] {
        let path = format!("/v1/import?{parameter}");
        let answer = server.request("POST", &path, &[NDJSON], Some(&entity(1)));
        assert_eq!((answer.status, answer.problem().as_str()), (400, "invalid-argument"), "{answer:?}");
        assert!(answer.body.contains("unknown parameter"), "{answer:?}");
    }
    assert_eq!(tables(&server), 0);
}

// README shows an export and then this import; it deleted the instances that somebody had changed meanwhile.
#[test]
fn an_export_brings_its_state_back() {
    let (_folder, server) = server(&[]);
    let types = "{\"type\": {\"kind\": \"entity\", \"name\": \"table\"}}\n";
    import(&server, "/v1/import", [types, &chain(20)].concat().as_bytes());
    let monday = export(&server);
    for number in 3..6 {
        let changed =
            server.send("PATCH", &format!("/v1/entities/e{number}"), &json!({"rows": 0, "more": 1}));
        assert_eq!(changed.status, 200, "{changed:?}");
    }
    let path = "/v1/import?merge&replace&deleteMissing";
    let answer = import(&server, path, monday.as_bytes());
    assert_eq!(counts(&answer), [0, 3, 37, 0, 0], "{answer:?}");
    let without_times = |text: &str| {
        let lines = text.lines().map(|line| {
            let mut json: Json = serde_json::from_str(line).unwrap();
            for kind in ["entity", "relationship"] {
                json.get_mut(kind).into_iter().for_each(|one| one["validFrom"] = Json::Null);
            }
            json.to_string()
        });
        lines.collect::<Vec<_>>()
    };
    assert_eq!(without_times(&export(&server)), without_times(&monday));
    assert_eq!(counts(&import(&server, path, monday.as_bytes())), [0, 0, 40, 0, 0]);
    let wrong = server.request("POST", "/v1/import?replace", &[NDJSON], Some(""));
    assert_eq!((wrong.status, wrong.problem().as_str()), (400, "invalid-argument"), "{wrong:?}");
}

/// Story: an import said how to undo it; the file was then imported with `resume`, which skipped all lines, and succeeded.
#[test]
fn a_resumed_import_loads_again_what_was_taken_back() {
    let (_folder, server) = server(&[]);
    let lines: String =
        (0..6).map(|n| json!({"entity": {"type": "t", "properties": {"n": n}}}).to_string() + "\n").collect();
    let import = |path: &str| {
        let done = server.request("POST", path, &[NDJSON], Some(&lines));
        let report = done.json();
        (done.status, report["changes"].clone(), report["skipped"].clone())
    };
    let take_back = |first: u64, last: u64| {
        let body = json!({"message": "wrong file", "operations": [{"action": "take-back", "position": first, "toPosition": last}]});
        let done = server.send("POST", "/v1/transactions", &body);
        assert_eq!(done.status, 200, "{done:?}");
    };
    let resume = "/v1/import?name=a.jsonl&batch=2&resume=true";
    assert_eq!(import("/v1/import?name=a.jsonl&batch=2"), (200, json!(6), json!(0)));
    assert_eq!(import(resume), (200, json!(0), json!(6)));
    take_back(2, 3);
    let log = server.get("/v1/log").json();
    assert!(log["items"].to_string().contains("wrong file [takes back 2-3]"), "{log}");
    assert_eq!(import(resume), (200, json!(4), json!(2)));
    assert_eq!(import(resume), (200, json!(0), json!(6)));
    let last = server.get("/v1/stats").header("annals-position").unwrap().parse().unwrap();
    take_back(1, last);
    assert_eq!(import(resume), (200, json!(6), json!(0)));
}

// A type that no instance has is unknown to a walk; the merge refused its first relationship for that.
#[test]
fn a_merge_begins_the_type_of_a_relationship() {
    let link = |to: &str| {
        format!("{{\"relationship\": {{\"type\": \"reads\", \"from\": \"a\", \"to\": \"{to}\"}}}}\n")
    };
    let plain = |to: &str| format!("{{\"f\": \"a\", \"t\": \"{to}\"}}\n");
    let declared = "{\"type\": {\"kind\": \"relationship\", \"name\": \"reads\"}}\n";
    for types in ["", declared] {
        for (line, path) in [
            (
                &link as &dyn Fn(&str) -> String,
                "/v1/import?merge=true&deleteMissing=true&deleteMissingMax=50",
            ),
            (&plain, "/v1/import?merge=true&deleteMissing=true&deleteMissingMax=50&from=f&to=t&type=reads"),
        ] {
            let (_folder, server) = server(&[]);
            let text =
                ["a", "b", "c"].map(|id| format!("{{\"entity\": {{\"id\": \"{id}\", \"type\": \"n\"}}}}\n"));
            import(&server, "/v1/import?merge=true", [types, &text.concat()].concat().as_bytes());
            let night = |ends: &[&str]| {
                let lines: String = ends.iter().map(|to| line(to)).collect();
                counts(&import(&server, path, lines.as_bytes()))
            };
            assert_eq!(night(&["b", "c"]), [2, 0, 0, 0, 0], "{path} {types}");
            assert_eq!(night(&["b", "c"]), [0, 0, 2, 0, 0], "{path} {types}");
            assert_eq!(night(&["b"]), [0, 0, 1, 1, 0], "{path} {types}");
        }
    }
}
