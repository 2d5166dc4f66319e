//! The places in the server that begin or commit a transaction: each asks first whether its client may commit it.

use std::collections::BTreeSet;

use super::files;

/// The calls that begin, try or commit a write.
const CALLS: [&str; 9] = [
    ".transaction()",
    ".transact(",
    ".commit()",
    ".submit()",
    ".try_submit()",
    ".dry_run()",
    ".candidates()",
    "load_jsonl(",
    "missing.delete(",
];

/// Each call of the server, and who asks there.
const KNOWN: [(&str, &str); 8] = [
    // `commit`, whose `checked` asks `may_commit`.
    ("crates/annals-server/src/request/commit.rs", ".transaction()"),
    ("crates/annals-server/src/request/commit.rs", ".try_submit()"),
    // `with_candidates`: each write of a candidate asks `may_commit`.
    ("crates/annals-server/src/request/commit.rs", ".candidates()"),
    // `dry_run` asks `may_commit`.
    ("crates/annals-server/src/endpoints/transactions.rs", ".transaction()"),
    ("crates/annals-server/src/endpoints/transactions.rs", ".dry_run()"),
    // Only looks; each step goes through `commit`.
    ("crates/annals-server/src/endpoints/delete_in_steps.rs", ".transaction()"),
    // Each batch asks `may_commit` by the check of `LoadOptions`.
    ("crates/annals-server/src/endpoints/import.rs", "load_jsonl("),
    ("crates/annals-server/src/endpoints/import.rs", "missing.delete("),
];

/// Reads the view of a candidate.
const READS: (&str, &str) = ("crates/annals-server/src/request/call.rs", ".candidates()");

#[test]
fn every_commit_of_the_server_asks_first() {
    let mut found = BTreeSet::new();
    for file in files().iter().filter(|file| file.name.starts_with("crates/annals-server/src/")) {
        if !file.is_source() || file.is_test() {
            continue;
        }
        for (_, line) in file.code() {
            let called = CALLS.into_iter().filter(|call| line.contains(call) && !line.contains("use "));
            found.extend(called.map(|call| (file.name.clone(), call.to_owned())));
        }
    }
    let known = KNOWN.iter().chain([&READS]).map(|(file, call)| ((*file).to_owned(), (*call).to_owned()));
    let known: BTreeSet<(String, String)> = known.collect();
    assert_eq!(found, known, "a commit that is not listed: may its client commit it, and who asks?");
}
