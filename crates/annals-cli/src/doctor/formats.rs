//! The log of a repository: whether this version of the program reads it.

use std::path::Path;

use annals::ErrorKind;
use annals::log::{FileLog, Log};
use annals_exchange::text::count;

use super::finding::Findings;

/// The folder of the log in that of the repository.
const LOG: &str = "log";

/// Opens the log as a reader does, beside a writer if there is one. It writes nothing.
pub fn examine(folder: &Path, findings: &mut Findings) {
    let version = env!("CARGO_PKG_VERSION");
    let tail = FileLog::open_read_only(folder.join(LOG)).and_then(|log| log.tail());
    match tail {
        Ok(tail) => {
            let text = format!("{} records, which annals {version} reads", count(tail.0));
            findings.ok("log", text);
        }
        Err(error) => {
            let remedy = match error.kind() {
                ErrorKind::NewerFormat => "install the version that wrote it, or a later one",
                ErrorKind::Corrupted | ErrorKind::Gap => {
                    "docs/operations.md, Damaged log: keep the folder, then restore a backup"
                }
                // Of a writer that ended before its first commit.
                ErrorKind::Unavailable => "start the server, which completes it",
                _ => "ask as root, or as the user of the server",
            };
            findings.wrong("log", error.to_string(), remedy);
        }
    }
}
