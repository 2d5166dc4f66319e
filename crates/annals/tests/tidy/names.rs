//! Refuses two files of one name in a crate, unless a list says why, and types of one name in many files.

use std::collections::{BTreeMap, BTreeSet};

use super::{files, report};

/// Names that files of a crate share. Shape: `CRATE NAME.rs: reason` on each line; the list only shrinks.
const SHARED: &str = include_str!("shared_names.txt");

/// Names with a meaning in every room.
const EVERYWHERE: [&str; 5] = ["mod.rs", "lib.rs", "main.rs", "tests.rs", "shuttle_tests.rs"];

#[test]
fn two_files_of_a_crate_share_a_name_only_with_a_reason() {
    let mut counts: BTreeMap<(String, String), usize> = BTreeMap::new();
    for file in files().iter().filter(|file| file.is_source() && !file.is_test()) {
        let Some((place, path)) = file.name.split_once("/src/") else { continue };
        let name = path.rsplit('/').next().unwrap_or(path);
        if !EVERYWHERE.contains(&name) {
            *counts.entry((place.to_owned(), name.to_owned())).or_default() += 1;
        }
    }
    let shared = counts.into_iter().filter(|(_, count)| *count > 1).map(|(key, _)| key);
    let shared: BTreeSet<(String, String)> = shared.collect();
    let lines = SHARED.lines().filter(|line| !line.starts_with('#'));
    let listed: BTreeSet<(String, String)> = lines
        .map(|line| {
            let (head, reason) = line.split_once(": ").expect("a reason after a colon");
            assert!(reason.len() > 10, "{line}: expected a reason");
            let (place, name) = head.split_once(' ').expect("a crate and a name");
            (place.to_owned(), name.to_owned())
        })
        .collect();
    let text = |(place, name): &(String, String)| format!("{place}: {name}");
    report(
        "rename one of the files, or say why both are so named",
        shared.difference(&listed).map(text).collect(),
    );
    report(
        "the list of shared names only shrinks: remove these",
        listed.difference(&shared).map(text).collect(),
    );
}

/// Most files that may define a type of one name for other files, except for the names that are counted below.
const TYPES_MAX: usize = 2;
/// Most names that more files define. Each is one that a reader must place before it means anything.
const NAMES_MAX: usize = 20;
/// The arguments of each command have this name.
const OF_COMMANDS: &str = "Arguments";

/// The type that a line defines for other files.
fn exported_type(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("pub")?;
    let rest = if rest.starts_with('(') { rest.split_once(')')?.1 } else { rest };
    let (word, rest) = rest.trim_start().split_once(' ')?;
    let is_type = ["struct", "enum", "trait", "type"].contains(&word);
    is_type.then(|| rest.split(|letter: char| !letter.is_alphanumeric() && letter != '_').next()).flatten()
}

#[test]
fn few_type_names_are_defined_in_many_files() {
    let files = files();
    let is_product = |name: &str| {
        (name.starts_with("crates/") || name.starts_with("bindings/jvm/native/")) && name.contains("/src/")
    };
    let mut places: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for file in files.iter().filter(|file| file.is_source() && !file.is_test() && is_product(&file.name)) {
        for (_, line) in file.code() {
            if let Some(name) = exported_type(line).filter(|name| *name != OF_COMMANDS) {
                places.entry(name).or_default().push(&file.name);
            }
        }
    }
    places.retain(|_, places| places.len() > TYPES_MAX);
    let lines = places.iter().map(|(name, places)| format!("{name}: {}", places.join(", ")));
    let lines: Vec<String> = lines.collect();
    let rule = format!("at most {NAMES_MAX} names of types are defined in three files and more");
    report(&rule, if lines.len() > NAMES_MAX { lines } else { Vec::new() });
}

#[test]
fn a_type_is_exported_if_other_files_may_name_it() {
    let lines =
        ["pub struct A<'a> {", "pub(crate) enum B {", "pub(in crate::x) type C = D;", "pub(super) trait E {"];
    assert_eq!(lines.map(exported_type), [Some("A"), Some("B"), Some("C"), Some("E")]);
    assert_eq!(["struct F;", "pub fn g() {", "    pub struct H;"].map(exported_type), [None; 3]);
}
