//! Counts the calls that sync: a cell runs below strace, so that the system's durability is seen and not believed.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::outcome::Outcome;

/// Calls that bring written bytes to the disk.
const CALLS: &str = "fsync,fdatasync,msync,sync_file_range";

/// A command that runs `program` below strace, which writes what it sees to `log`.
pub fn under_strace(program: &Path, log: &Path) -> Command {
    let mut command = Command::new("strace");
    command.args(["-f", "-qq", "-e", &format!("trace={CALLS}"), "-e", "signal=none", "-o"]);
    command.arg(log).arg(program);
    command
}

/// True if this machine lets a program trace another one. Some containers do not.
pub fn can_trace() -> bool {
    let mut command = Command::new("strace");
    command
        .args(["-qq", "-o", "/dev/null", "true"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// The calls that sync in the log of strace. A call that was interrupted by another thread's line counts once.
pub fn count_syncs(log: &Path) -> Outcome<u64> {
    let text = std::fs::read_to_string(log).map_err(|error| format!("{}: {error}", log.display()))?;
    Ok(text.lines().filter(|line| is_call(line)).count() as u64)
}

/// Shape of a line: the number of the process, then `fdatasync(7) = 0`, `fsync(3 <unfinished ...>` or
/// `<... fsync resumed>) = 0`.
fn is_call(line: &str) -> bool {
    let call = line.trim_start_matches(|letter: char| letter.is_ascii_digit()).trim_start();
    CALLS.split(',').any(|name| call.strip_prefix(name).is_some_and(|rest| rest.starts_with('(')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_call_counts_once() {
        let lines = [
            ("1234 fdatasync(7)                      = 0", true),
            ("1234  fsync(3 <unfinished ...>", true),
            ("1234  <... fsync resumed>)               = 0", false),
            ("1234  +++ exited with 0 +++", false),
        ];
        for (line, is_counted) in lines {
            assert_eq!(is_call(line), is_counted, "{line}");
        }
    }
}
