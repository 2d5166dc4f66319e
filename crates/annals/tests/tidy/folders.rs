//! Refuses folders of sources with more files than a reader takes in, unless they are lists.

use std::collections::BTreeMap;

use super::{files, report};

/// Past this a folder is a hall: sort its files into rooms.
const FILES_MAX: usize = 25;

/// Folders that are lists: their files are of one kind, and a reader looks one up by its name. Shape: folder, reason.
const LISTS: [(&str, &str); 4] = [
    ("crates/annals/src/graph/actions", "a file for each action"),
    ("crates/annals-cli/src/command", "a file for each command"),
    ("crates/annals-json/src", "a file for each JSON form"),
    ("crates/annals-server/src/endpoints", "a file for each group of endpoints"),
];

/// Folders of tests that are sorted as the sources are.
const TESTS: [&str; 2] = ["crates/annals/tests/engine", "crates/annals-cli/tests/http"];

/// True for the folders of the sources of the product, and for those of [`TESTS`].
fn is_sorted(folder: &str) -> bool {
    let is_in =
        |top: &str| folder.strip_prefix(top).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    let is_source = folder.starts_with("crates/") && format!("{folder}/").contains("/src/");
    is_source || is_in("bindings/jvm/native/src") || TESTS.into_iter().any(is_in)
}

#[test]
fn a_folder_of_many_files_is_a_list_or_has_rooms() {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for file in files().iter().filter(|file| file.is_source()) {
        if let Some((folder, _)) = file.name.rsplit_once('/').filter(|(folder, _)| is_sorted(folder)) {
            *counts.entry(folder.to_owned()).or_default() += 1;
        }
    }
    for top in TESTS {
        assert!(counts.contains_key(top), "{top}: the folder was not found");
    }
    let is_list = |folder: &str| LISTS.iter().any(|(list, _)| *list == folder);
    let halls = counts.iter().filter(|(folder, count)| **count > FILES_MAX && !is_list(folder));
    report(
        "at most 25 files in a folder that is no list: sort them into rooms",
        halls.map(|(folder, count)| format!("{folder}: {count} files")).collect(),
    );
    let is_short = |folder: &str| counts.get(folder).is_none_or(|count| *count <= FILES_MAX);
    let short = LISTS.iter().filter(|(folder, _)| is_short(folder));
    report(
        "the list of lists only shrinks: remove these",
        short.map(|(folder, _)| (*folder).to_owned()).collect(),
    );
}
