//! Refuses two files of one name in a crate, unless a list says why.

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
