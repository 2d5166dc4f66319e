//! Commands that ask a server: every command does, or says why not.

use std::os::unix::fs::PermissionsExt;

use crate::server::Server;
use crate::support::{Done, Place, command_in};
use crate::twin::ON_FOLDERS;

/// Arguments that each command needs.
const ARGUMENTS: &[(&str, &[&str])] = &[
    ("quickstart", &[]),
    ("import", &["x.jsonl"]),
    ("export", &[]),
    ("get", &["a"]),
    ("find", &[]),
    ("neighbors", &["a"]),
    ("path", &["a", "b"]),
    ("reach", &["a"]),
    ("relationships", &["a"]),
    ("neighborhood", &["a"]),
    ("related", &["a"]),
    ("linking", &["a", "b"]),
    ("shared", &["a", "b"]),
    ("history", &["a"]),
    ("diff", &["a", "1", "2"]),
    ("log", &[]),
    ("follow", &[]),
    ("types", &[]),
    ("stats", &[]),
    ("apply", &["change.json"]),
    ("create", &["t"]),
    ("set", &["a", "n=1"]),
    ("link", &["a", "knows", "b"]),
    ("delete", &["a"]),
    ("purge", &["a"]),
    ("classify", &["a", "c"]),
    ("declassify", &["a", "c"]),
    ("ls", &[]),
    ("tree", &[]),
    ("cat", &["/a"]),
    ("put", &["/a", "--value", "1"]),
    ("insert", &["/a[n=1]"]),
    ("mv", &["/a", "/b"]),
    ("cp", &["/a", "/b"]),
    ("rm", &["/a"]),
    ("candidate", &["list"]),
    ("revert", &["/a", "--to-position", "1"]),
    ("take-back", &["1"]),
    ("check", &[]),
    ("fixity", &[]),
    ("backup", &["copy"]),
    ("restore", &["backup", "copy"]),
    ("compact", &[]),
    ("storage", &["status"]),
    ("serve", &[]),
    ("health", &[]),
    ("doctor", &[]),
    ("token", &["new", "ada", "--role", "read"]),
    ("access", &["explain", "ada", "a"]),
    ("completions", &["bash"]),
    ("shell", &[]),
];

/// The names of all commands, as clap tells them.
fn commands(place: &Place) -> Vec<String> {
    let help = place.ok(&["--help"]);
    let listed = help.split("Commands:").nth(1).unwrap().split("\n\n").next().unwrap();
    let is_first = |line: &&str| line.starts_with("  ") && !line.starts_with("   ");
    let names = listed.lines().filter(is_first).filter_map(|line| line.split_whitespace().next());
    names.map(str::to_owned).filter(|name| name != "help").collect()
}

#[test]
fn every_command_asks_a_server_or_says_why_not() {
    let place = Place::new();
    place.write("change.json", "[]");
    let known = commands(&place);
    let named: Vec<&str> = ARGUMENTS.iter().map(|(name, _)| *name).collect();
    assert_eq!(known, named, "a command is not listed here");
    place.write("x.jsonl", "");
    for (name, arguments) in ARGUMENTS.iter().filter(|(name, _)| *name != "shell") {
        let arguments = [&["--server", "http://127.0.0.1:1", name], *arguments].concat();
        let done = place.run(&arguments);
        if ON_FOLDERS.contains(name) {
            assert_eq!(done.code, 2, "{name}: {done:?}");
            assert!(done.err.contains(&format!("annals {name} takes none")), "{name}: {done:?}");
        } else {
            assert_eq!(done.code, 1, "{name}: {done:?}");
            assert!(done.err.contains("http://127.0.0.1:1") && done.err.contains("[io]"), "{name}: {done:?}");
        }
        assert!(!place.is_there("annals-data"), "{name} made a folder");
    }
}

#[test]
fn the_environment_names_a_server_and_the_command_line_a_folder() {
    let place = Place::with_people();
    let server = Server::start(&place.path("served"), &[]);
    let url = format!("http://{}", server.address);
    let run = |arguments: &[&str]| {
        let mut command = command_in(&place.path(""), arguments);
        command.env("ANNALS_SERVER", &url);
        Done::of(command)
    };
    assert_eq!(run(&["get", "ada"]).code, 3, "the server is empty");
    assert_eq!(run(&["create", "person", "eve"]).code, 0);
    assert_eq!(run(&["get", "eve"]).code, 0);
    for local in [&["get", "ada", "--local"][..], &["-r", "annals-data", "get", "ada"]] {
        assert_eq!(run(local).code, 0, "{local:?}");
    }
    assert_eq!(run(&["get", "eve", "--local"]).code, 3);
    assert_eq!(run(&["completions", "bash"]).code, 0, "it needs no repository");
    let refused = run(&["fixity"]);
    assert_eq!(refused.code, 2);
    assert!(refused.err.contains("annals fixity takes none"), "{refused:?}");
}

#[test]
fn a_token_proves_the_client_and_is_never_shown() {
    let place = Place::with_people();
    let told = place.json_one(&["token", "new", "ada", "--role", "write", "--tokens", "tokens"]);
    let token = told["token"].as_str().unwrap_or_else(|| panic!("{told}")).to_owned();
    let tokens = place.path("tokens");
    let server = Server::start_opening(&place.path("annals-data"), &["--tokens", tokens.to_str().unwrap()]);
    let url = format!("http://{}", server.address);
    place.write("secret", &format!("{token}\n"));
    place.write("wrong", "annals_ada_0000");
    let run = |arguments: &[&str], token: &str| {
        let mut command = command_in(&place.path(""), arguments);
        command.env("ANNALS_SERVER", &url).env("ANNALS_TOKEN", token).env_remove("ANNALS_AUTHOR");
        Done::of(command)
    };
    while run(&["get", "ada"], &token).code == 1 {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    assert_eq!(run(&["get", "ada"], &token).code, 0);
    assert_eq!(run(&["get", "ada", "--token-file", "secret"], "").code, 0);
    // The server names the author, whatever the name of the user is.
    assert_eq!(run(&["set", "ada", "n=1"], &token).code, 0);
    let log = run(&["log", "--limit", "1"], &token);
    assert!(log.out.contains(" by ada"), "{log:?}");
    for (arguments, token) in [
        (&["get", "ada"][..], ""),
        (&["get", "ada"], "annals_ada_0000"),
        (&["get", "ada", "--token-file", "wrong"], ""),
    ] {
        let refused = run(arguments, token);
        assert_eq!(refused.code, 1, "{refused:?}");
        assert!(refused.err.contains("[unauthenticated]") && !refused.err.contains("0000"), "{refused:?}");
    }
    let other = run(&["set", "ada", "n=2", "--author", "bob"], &token);
    assert!(other.err.contains("[forbidden]"), "{other:?}");
}

#[test]
fn a_command_beside_a_server_finds_it_through_the_lock() {
    let place = Place::with_people();
    let folder = place.path("annals-data");
    let file = folder.join("server.json");
    let run = |arguments: &[&str]| Done::of(command_in(&place.path(""), arguments));
    let server = Server::start(&folder, &[]);
    let mode = std::fs::metadata(&file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let created = run(&["create", "person", "eve", "name=Eve"]);
    assert_eq!(created.code, 0, "{created:?}");
    assert_eq!(server.get("/v1/entities/eve").status, 200);
    assert_eq!(run(&["get", "eve"]).code, 0, "a read needs no lock");
    let local = run(&["create", "person", "bob", "name=Bob", "--local"]);
    assert_eq!((local.code, local.err.contains("[locked]")), (4, true), "{local:?}");
    // A file of another server: nobody is asked.
    let told = std::fs::read_to_string(&file).unwrap();
    let id = serde_json::from_str::<serde_json::Value>(&told).unwrap()["id"].as_str().unwrap().to_owned();
    std::fs::write(&file, told.replace(&id, "another")).unwrap();
    assert_eq!(run(&["create", "person", "bob", "name=Bob"]).code, 4);
    std::fs::write(&file, "no JSON").unwrap();
    assert_eq!(run(&["create", "person", "bob", "name=Bob"]).code, 4);
    std::fs::write(&file, told).unwrap();
    server.kill();
    drop(server);
    assert!(file.exists(), "a killed server leaves its file");
    assert_eq!(run(&["create", "person", "bob", "name=Bob"]).code, 0, "and hurts nobody");
    let server = Server::start(&folder, &[]);
    assert_eq!(run(&["create", "person", "kim", "name=Kim"]).code, 0);
    server.terminate();
    assert!(server.ended_well());
    assert!(!file.exists(), "a server that ends in order leaves none");
}

/// Story: `ANNALS_CA_FILE=` was an error, and so were others, while `ANNALS_SERVER=` was none.
#[test]
fn an_empty_variable_is_as_one_that_is_not_set() {
    const VARIABLES: [&str; 13] = [
        "ANNALS_AUTHOR",
        "ANNALS_CA_FILE",
        "ANNALS_CONFIG",
        "ANNALS_HISTORY",
        "ANNALS_LOG",
        "ANNALS_MEMORY",
        "ANNALS_OBJECTS",
        "ANNALS_REPOSITORY",
        "ANNALS_SERVER",
        "ANNALS_SOURCE_USER",
        "ANNALS_TOKEN",
        "ANNALS_TOKENS",
        "ANNALS_TOKEN_FILE",
    ];
    let place = Place::new();
    let run = |arguments: &[&str], value: Option<&str>| {
        let mut command = place.command(arguments);
        for name in VARIABLES {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        Done::of(command)
    };
    for arguments in [
        &["create", "page", "--id", "a"][..],
        &["find", "page"],
        &["history", "a"],
        &["token", "new", "ada", "--role", "read"],
        &["token", "list"],
        &["access", "explain", "ada", "a"],
        &["serve", "--check-config"],
        &["import", "missing.jsonl"],
        &["types"],
    ] {
        let empty = run(arguments, Some(""));
        let none = run(arguments, None);
        // The second creation finds the first one.
        let is_made = ["create", "new"].iter().any(|verb| arguments.contains(verb));
        assert!(
            is_made && empty.code == 0 || (empty.code, &empty.err) == (none.code, &none.err),
            "{arguments:?}: {empty:?} {none:?}"
        );
    }
}
