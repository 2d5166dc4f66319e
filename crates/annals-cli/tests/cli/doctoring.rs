//! `annals doctor` and `annals health`: each thing that is wrong is named, with its remedy.

use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::time::{Duration, SystemTime};

use serde_json::Value as Json;

use crate::server::Server;
use crate::support::{Done, Place};

/// The findings of the doctor about a thing. Shape: `[(level, text, remedy)]`.
fn told(done: &Done, about: &str) -> Vec<(String, String, String)> {
    let lines = done.out.lines().map(|line| serde_json::from_str::<Json>(line).unwrap());
    let text = |value: &Json| value.as_str().unwrap_or_default().to_owned();
    lines
        .filter(|line| line["about"] == about)
        .map(|line| (text(&line["level"]), text(&line["text"]), text(&line["remedy"])))
        .collect()
}

/// Asks the doctor of a place about its repository, or that of a configuration.
fn ask(place: &Place, arguments: &[&str]) -> Done {
    Done::of(place.command(&[&["--json", "doctor"], arguments].concat()))
}

/// Asserts that one line about a thing is of a level, and that it has these words, its remedy too.
#[track_caller]
fn assert_told(done: &Done, about: &str, level: &str, words: &[&str]) {
    let found = told(done, about);
    let has = |(known, text, remedy): &(String, String, String)| {
        let whole = format!("{text} {remedy}");
        known == level
            && words.iter().all(|word| whole.contains(word))
            && (level == "ok") == remedy.is_empty()
    };
    assert!(found.iter().any(has), "{about}: expected {level} with {words:?}, found {found:?}");
    let is_wrong = done.out.contains("\"level\":\"wrong\"");
    assert_eq!(done.code, i32::from(is_wrong), "{done:?}");
}

/// All files of a folder with their bytes.
fn files(place: &Place) -> Vec<(std::path::PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    let mut folders = vec![place.path("")];
    while let Some(folder) = folders.pop() {
        for path in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                folders.push(path)
            } else {
                found.push((path.clone(), std::fs::read(path).unwrap()))
            }
        }
    }
    found.sort();
    found
}

#[test]
fn a_healthy_repository_is_well_and_stays_as_it_is() {
    let place = Place::with_people();
    let before = files(&place);
    let done = ask(&place, &[]);
    for about in ["program", "rights", "log", "server", "sync", "memory"] {
        assert_told(&done, about, "ok", &[]);
    }
    assert_eq!(done.code, 0, "{done:?}");
    assert_told(&done, "log", "ok", &["3 records"]);
    assert_eq!(files(&place), before, "it wrote into the repository, or left its probe");
    let text = Done::of(place.command(&["doctor"])).out;
    assert!(text.starts_with("ok       program       annals ") && text.lines().count() > 6, "{text}");
}

#[test]
fn a_folder_without_a_repository_is_named_with_the_command_that_makes_one() {
    let place = Place::new();
    std::fs::create_dir(place.path("empty")).unwrap();
    place.write("file", "");
    for name in ["nowhere", "empty", "file"] {
        let done = ask(&place, &["-r", name]);
        assert_told(&done, "repository", "wrong", &[name, "create it once", "annals -r"]);
    }
    assert!(!place.is_there("nowhere"), "it makes none");
}

#[test]
fn rights_and_odd_files_are_named() {
    let place = Place::with_people();
    let log = place.path("annals-data/log");
    let segment = log.join("00000000000000000001.seg");
    let rights = |mode| std::fs::set_permissions(&segment, std::fs::Permissions::from_mode(mode)).unwrap();
    rights(0o644);
    assert_told(&ask(&place, &[]), "rights", "warning", &[".seg", "chmod -R o= "]);
    rights(0o600);
    symlink("/etc/passwd", log.join("link")).unwrap();
    assert_told(&ask(&place, &[]), "rights", "wrong", &["log/link", "regular files"]);
    std::fs::remove_file(log.join("link")).unwrap();
    // Only root gives files away.
    if std::os::unix::fs::chown(&segment, Some(12_345), None).is_ok() {
        assert_told(&ask(&place, &[]), "rights", "wrong", &[".seg", "chown -R "]);
    }
}

#[test]
fn damage_and_a_newer_format_are_named() {
    let place = Place::with_people();
    let manifest = place.path("annals-data/log/manifest");
    let whole = std::fs::read(&manifest).unwrap();
    std::fs::write(&manifest, &whole[..20]).unwrap();
    assert_told(&ask(&place, &[]), "log", "wrong", &["manifest", "restore a backup"]);
    std::fs::remove_file(&manifest).unwrap();
    assert_told(&ask(&place, &[]), "log", "wrong", &["manifest", "restore a backup"]);
}

#[test]
fn a_server_that_runs_is_told_and_its_port_is_its_own() {
    let place = Place::with_people();
    let server = Server::start(&place.path("annals-data"), &[]);
    let port = server.address.port();
    place.write(
        "annals.toml",
        &format!("repository = '{}'\nlisten = '127.0.0.1:{port}'", place.path("annals-data").display()),
    );
    let done = ask(&place, &["--config", "annals.toml"]);
    assert_told(&done, "server", "ok", &["runs annals "]);
    assert_told(&done, "port", "ok", &["the server listens"]);
    let url = format!("http://127.0.0.1:{port}");
    let health = |arguments: &[&str]| Done::of(place.command(&[&["health"], arguments].concat()));
    assert_eq!(health(&[&url]).out, format!("{url} is live\n"));
    assert_eq!(health(&[&url, "--ready"]).out, format!("{url} is ready\n"));
    let json: Json = serde_json::from_str(&health(&[&url, "--ready", "--json"]).out).unwrap();
    assert_eq!(json, serde_json::json!({ "server": url, "ready": true }));
    server.terminate();
    assert!(server.ended_well());
    let gone = health(&[&url]);
    assert!(gone.code == 1 && gone.err.contains(&url), "{gone:?}");
}

#[test]
fn something_else_that_answers_is_not_healthy() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        use std::io::{Read, Write};
        for body in ["{}", "<html>"] {
            let (mut stream, _) = listener.accept().unwrap();
            let _ = stream.read(&mut [0; 4_096]).unwrap();
            let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.len());
            let _ = stream.write_all(head.as_bytes());
        }
    });
    let place = Place::new();
    for _ in 0..2 {
        let done = Done::of(place.command(&["health", &url]));
        assert!(done.code == 1 && done.out.is_empty(), "{done:?}");
    }
}

#[test]
fn ports_and_configurations_that_do_not_work_are_named() {
    let place = Place::with_people();
    let other = TcpListener::bind("127.0.0.1:0").unwrap();
    let folder = place.path("annals-data").display().to_string();
    let told = |line: &str| {
        place.write("annals.toml", &format!("repository = '{folder}'\n{line}"));
        ask(&place, &["--config", "annals.toml"])
    };
    let taken = format!("listen = '{}'", other.local_addr().unwrap());
    assert_told(&told(&taken), "port", "wrong", &["in use", "ss -ltnp"]);
    assert_told(
        &told("listen = '192.0.2.1:8280'\ntokens = 'nowhere'\ninsecure-plain = true"),
        "port",
        "wrong",
        &["192.0.2.1", "ip address"],
    );
    assert_told(&told("listen = '0.0.0.0:0'"), "configuration", "wrong", &["without TLS"]);
    assert_told(&told("tokens = 'nowhere'"), "configuration", "wrong", &["nowhere"]);
    assert_told(&told("lisen = 'x'"), "configuration", "wrong", &["lisen", "no such option"]);
    assert_told(&ask(&place, &["--config", "missing.toml"]), "configuration", "wrong", &["missing.toml"]);
    assert_told(&told("memory = '900TiB'\nlisten = '127.0.0.1:0'"), "memory", "wrong", &["the machine has"]);
    assert_told(&told("read-only = true\nlisten = '127.0.0.1:0'"), "sync", "ok", &["only reads"]);
}

#[test]
fn a_unit_that_does_not_fit_the_options_is_named() {
    let place = Place::with_people();
    let folder = place.path("annals-data").display().to_string();
    place.write("annals.toml", &format!("repository = '{folder}'\nlisten = '127.0.0.1:0'\nmemory = '64MiB'"));
    let packaged = include_str!("../../../../packaging/annals.service");
    let told = |change: &dyn Fn(&str) -> String| {
        place.write("annals.service", &change(packaged));
        ask(&place, &["--config", "annals.toml", "--unit", "annals.service"])
    };
    let done = told(&|unit| {
        unit.replace("/usr/local/bin/annals", "/nowhere/annals").replace("User=annals", "User=nobody-at-all")
    });
    assert_told(&done, "unit", "wrong", &["/nowhere/annals", "ExecStart"]);
    assert_told(&done, "unit", "wrong", &["nobody-at-all", "useradd --system"]);
    assert_told(&done, "unit", "wrong", &["ProtectSystem=strict", "ReadWritePaths="]);
    assert_told(&done, "unit", "warning", &["/etc/annals/annals.toml"]);
    let done =
        told(&|unit| unit.replace("User=annals", "User=root").replace("MemoryMax=6G", "MemoryMax=64M"));
    assert_told(&done, "unit", "warning", &["runs as root"]);
    assert_told(&done, "memory", "wrong", &["MemoryMax=96M"]);
    let done = told(&|unit| {
        unit.replace("TimeoutStopSec=1min", "TimeoutStopSec=5s")
            .replace("LimitNOFILE=32768", "LimitNOFILE=1024")
    });
    assert_told(&done, "unit", "warning", &["TimeoutStopSec", "25 s"]);
    assert_told(&done, "open files", "warning", &["1024", "LimitNOFILE=20608"]);
    assert_told(&ask(&place, &["--unit", "missing.service"]), "unit", "wrong", &["missing.service"]);
}

#[test]
fn a_clock_behind_the_log_is_named() {
    let place = Place::with_people();
    let durable = std::fs::File::options().write(true).open(place.path("annals-data/log/durable")).unwrap();
    durable.set_modified(SystemTime::now() + Duration::from_secs(3_600)).unwrap();
    assert_told(&ask(&place, &[]), "clock", "wrong", &["behind the last write", "timedatectl"]);
}

#[test]
fn a_log_in_a_store_is_left_to_another_command() {
    let place = Place::new();
    let done = ask(&place, &["-r", "postgres://annals@localhost/library"]);
    assert_told(&done, "repository", "ok", &["annals storage status"]);
}
