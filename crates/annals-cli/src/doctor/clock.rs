//! The clock: whether it is behind the last write, and whether something keeps it right.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

use super::finding::Findings;

/// A clock that was set back by less is no trouble.
const BEHIND_MAX: Duration = Duration::from_secs(1);
/// A file of systemd-timesyncd that is there once it has synchronised the clock.
const SYNCHRONISED: &str = "/run/systemd/timesync/synchronized";

/// Looks at the clock.
pub fn examine(folder: Option<&Path>, findings: &mut Findings) {
    let last = folder.and_then(|folder| last_write(&folder.join("log")));
    let ahead = last.and_then(|last| last.duration_since(SystemTime::now()).ok());
    if let Some(ahead) = ahead.filter(|ahead| *ahead > BEHIND_MAX) {
        let text = format!("it is {} s behind the last write of the log", ahead.as_secs());
        return findings.wrong("clock", text, "set it: timedatectl; docs/operations.md, Clock behind");
    }
    match is_synchronised() {
        Some(true) => findings.ok("clock", "it is synchronised"),
        Some(false) => {
            let remedy = "timedatectl set-ntp true, with systemd-timesyncd or chrony";
            findings.warning("clock", "nothing synchronises it", remedy);
        }
        None => findings
            .ok("clock", "it is not behind the log; this machine does not tell whether it is synchronised"),
    }
}

/// When a file of the log was written last.
fn last_write(log: &Path) -> Option<SystemTime> {
    let entries = std::fs::read_dir(log).ok()?.flatten();
    entries.filter_map(|entry| entry.metadata().ok()?.modified().ok()).max()
}

/// True if the clock is synchronised; `None` if the system does not tell.
fn is_synchronised() -> Option<bool> {
    if Path::new(SYNCHRONISED).exists() {
        return Some(true);
    }
    let mut asked = Command::new("timedatectl");
    let asked = asked.args(["show", "--property=NTPSynchronized", "--value"]).stdin(Stdio::null());
    let told = asked.stderr(Stdio::null()).output().ok().filter(|told| told.status.success())?;
    match String::from_utf8_lossy(&told.stdout).trim() {
        "yes" => Some(true),
        "no" => Some(false),
        _ => None,
    }
}
