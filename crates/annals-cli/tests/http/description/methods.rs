//! docs/metadata-methods.md against the code: every endpoint, call, command and scenario that it names is there.

use std::path::{Path, PathBuf};

use crate::support::server;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn page() -> String {
    std::fs::read_to_string(root().join("docs/metadata-methods.md")).unwrap()
}

/// The cells of the rows of methods. Shape: name, Rust, HTTP, command, scenario.
fn rows(page: &str) -> Vec<[String; 5]> {
    let cells = |line: &str| -> Option<[String; 5]> {
        let cells = line.trim_matches('|').split(" | ").map(|cell| cell.trim().to_owned());
        cells.collect::<Vec<_>>().try_into().ok()
    };
    let rows = page.lines().filter(|line| line.starts_with('|')).filter_map(cells);
    rows.filter(|cells| cells[0].contains(": ")).collect()
}

/// The texts in backticks.
fn code(cell: &str) -> Vec<&str> {
    cell.split('`').skip(1).step_by(2).collect()
}

#[test]
fn every_method_has_a_row() {
    let page = page();
    let mut names: Vec<String> = rows(&page).into_iter().map(|[name, ..]| name).collect();
    assert_eq!(names.len(), 57, "56 methods, and re-type");
    names.sort();
    names.dedup();
    assert_eq!(names.len(), 57, "no row comes twice");
    for row in rows(&page) {
        assert!(row.iter().all(|cell| !cell.is_empty()), "{row:?}");
    }
}

#[test]
fn every_endpoint_is_in_the_description() {
    let (_folder, server) = server(&[]);
    let description = server.get("/openapi.json").json();
    let page = page();
    let mut count = 0;
    for [name, _, endpoints, ..] in rows(&page) {
        for endpoint in code(&endpoints).into_iter().filter(|text| text.contains(" /v1/")) {
            let (method, path) = endpoint.split_once(' ').unwrap();
            let path = path.split('?').next().unwrap();
            let operation = &description["paths"][path][method.to_lowercase()];
            assert!(operation.is_object(), "{name}: {endpoint} is not described");
            count += 1;
        }
    }
    assert!(count >= 57, "{count}");
}

#[test]
fn every_scenario_is_there() {
    for [name, .., scenarios] in rows(&page()) {
        let files = code(&scenarios);
        assert!(!files.is_empty(), "{name}: expected a scenario");
        for file in files {
            assert!(root().join("scenarios").join(file).is_file(), "{name}: {file} is not there");
        }
    }
}

#[test]
fn every_call_and_command_is_there() {
    let source = |folder: &str| -> String {
        let files = std::fs::read_dir(root().join(folder)).unwrap();
        let files = files.flat_map(|file| {
            let path = file.unwrap().path();
            if path.is_dir() {
                std::fs::read_dir(path).unwrap().map(|file| file.unwrap().path()).collect()
            } else {
                vec![path]
            }
        });
        files.filter(|path| path.is_file()).map(|path| std::fs::read_to_string(path).unwrap()).collect()
    };
    let (writes, reads) = (source("crates/annals/src/write"), source("crates/annals/src/read"));
    // Verbs stand with the actions, what operations may be beside them in `annals-json`.
    let operations = source("crates/annals/src/graph/actions") + &source("crates/annals-json/src");
    let commands = source("crates/annals-cli/src/command");
    for [name, rust, _, command, _] in rows(&page()) {
        for call in code(&rust) {
            let (of, method) = match call.split_once('.') {
                Some(("t", method)) => (&writes, method),
                Some(("s", method)) => (&reads, method),
                _ => continue,
            };
            assert!(of.contains(&format!("pub fn {method}(")), "{name}: {call} is not there");
        }
        for text in code(&command) {
            match text.strip_prefix("annals ") {
                Some(command) => assert!(
                    commands.contains(&format!("//! `annals {command}")),
                    "{name}: {text} is not there"
                ),
                None => assert!(operations.contains(&format!("\"{text}\"")), "{name}: {text} is not there"),
            }
        }
    }
}
