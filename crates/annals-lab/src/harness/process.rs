//! The processes of a cell: bounded in time, watched for memory, and ended together.

use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, getpgrp, kill_process_group, test_kill_process};

use crate::outcome::Outcome;

/// The variable that tells the processes of a cell the number of the process that runs the suite.
const RUN: &str = "ANNALS_LAB_RUN";
/// How often a cell looks whether the suite still runs.
const RUN_INTERVAL: Duration = Duration::from_secs(1);

/// How often the memory of the processes is read.
const LOOK_INTERVAL: Duration = Duration::from_millis(100);

/// How a cell's processes ended.
pub struct Ended {
    /// None if the time was over.
    pub status: Option<ExitStatus>,
    pub seconds: f64,
    /// Of all processes together.
    pub memory_bytes_max: u64,
}

/// Kills a process group when dropped, so that no system outlives its cell.
struct Group(Pid);

impl Drop for Group {
    fn drop(&mut self) {
        // Fails only if all have ended.
        let _ = kill_process_group(self.0, Signal::KILL);
    }
}

/// Runs a command in a process group of its own and calls `tell` with each line of its output.
///
/// Errors: those of `tell`; then the processes have ended too.
pub fn watch(
    command: &mut Command,
    log: &Path,
    time_max: Duration,
    mut tell: impl FnMut(&str) -> Outcome<()>,
) -> Outcome<Ended> {
    let errors = std::fs::File::create(log).map_err(|error| format!("{}: {error}", log.display()))?;
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(errors).process_group(0);
    command.env(RUN, std::process::id().to_string());
    let start = Instant::now();
    let mut child = command.spawn().map_err(|error| format!("start {:?}: {error}", command.get_program()))?;
    let group = Group(Pid::from_child(&child));
    let output = child.stdout.take().expect("standard output is a pipe");
    let (send, lines) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            if send.send(line).is_err() {
                return;
            }
        }
    });
    let mut memory_bytes_max = 0;
    let mut is_open = true;
    let status = loop {
        match lines.recv_timeout(LOOK_INTERVAL) {
            Ok(line) => tell(&line)?,
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                is_open = false;
                std::thread::sleep(Duration::from_millis(1));
            }
        }
        memory_bytes_max = memory_bytes_max.max(memory_of(group.0));
        if !is_open && let Some(status) = child.try_wait()? {
            break Some(status);
        }
        if start.elapsed() > time_max {
            break None;
        }
    };
    drop(group);
    child.wait()?;
    Ok(Ended { status, seconds: start.elapsed().as_secs_f64(), memory_bytes_max })
}

/// Ends all processes of this cell when the process that runs the suite has ended, by SIGKILL too. Until its next record
/// a cell would not notice, and a system that it started would disturb whatever is measured next.
pub fn end_with_run() {
    let run = std::env::var(RUN).ok().and_then(|text| Pid::from_raw(text.parse().ok()?));
    let Some(run) = run else { return };
    std::thread::spawn(move || {
        while test_kill_process(run).is_ok() {
            std::thread::sleep(RUN_INTERVAL);
        }
        drop(Group(getpgrp()));
    });
}

/// Memory of all processes of a group and of their descendants. Units: bytes.
fn memory_of(group: Pid) -> u64 {
    let Ok(entries) = std::fs::read_dir("/proc") else { return 0 };
    let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    let processes: Vec<Process> = pids.filter_map(Process::read).collect();
    let (members, mut others): (Vec<Process>, Vec<Process>) =
        processes.into_iter().partition(|process| process.group == group.as_raw_nonzero().get());
    let mut bytes = members.iter().map(|process| process.resident_bytes).sum();
    let mut parents: Vec<i32> = members.iter().map(|process| process.pid).collect();
    while !parents.is_empty() {
        let (children, left): (Vec<Process>, Vec<Process>) =
            others.into_iter().partition(|process| parents.contains(&process.parent));
        bytes += children.iter().map(Process::own_bytes).sum::<u64>();
        parents = children.iter().map(|process| process.pid).collect();
        others = left;
    }
    bytes
}

/// What the system says of a process.
struct Process {
    pid: i32,
    parent: i32,
    group: i32,
    resident_bytes: u64,
}

impl Process {
    /// None if it has ended.
    fn read(pid: i32) -> Option<Process> {
        let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // Source: proc_pid_stat(5): after the name in parentheses follow state, parent and group; field 24 is the
        // resident memory in pages.
        let mut fields = text.rsplit(')').next()?.split_whitespace();
        let parent = fields.nth(1)?.parse().ok()?;
        let group = fields.next()?.parse().ok()?;
        let pages: u64 = fields.nth(18)?.parse().ok()?;
        Some(Process { pid, parent, group, resident_bytes: pages * rustix::param::page_size() as u64 })
    }

    /// Resident memory, with its part of what it shares. The processes of PostgreSQL leave the group of their server, and
    /// share most of their memory.
    fn own_bytes(&self) -> u64 {
        // Source: proc_pid_smaps(5).
        let text = std::fs::read_to_string(format!("/proc/{}/smaps_rollup", self.pid)).unwrap_or_default();
        let share =
            text.lines().find_map(|line| line.strip_prefix("Pss:")?.trim().strip_suffix(" kB")?.parse().ok());
        share.map_or(self.resident_bytes, |kibibytes: u64| 1_024 * kibibytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(text: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", text]);
        command
    }

    #[test]
    fn lines_come_as_they_are_printed_and_memory_is_seen() {
        let folder = tempfile::tempdir().unwrap();
        let mut lines = Vec::new();
        let ended = watch(
            &mut shell("echo one; sleep 0.3; echo two; exit 3"),
            &folder.path().join("log"),
            Duration::from_secs(20),
            |line| {
                lines.push(line.to_owned());
                Ok(())
            },
        )
        .unwrap();
        assert_eq!(lines, ["one", "two"]);
        assert_eq!(ended.status.and_then(|status| status.code()), Some(3));
        assert!(ended.memory_bytes_max > 100_000, "{}", ended.memory_bytes_max);
    }

    #[test]
    fn memory_of_a_child_that_left_the_group_is_seen() {
        let folder = tempfile::tempdir().unwrap();
        let peak = |lines: &str| {
            let log = folder.path().join("log");
            watch(&mut shell(lines), &log, Duration::from_secs(20), |_| Ok(())).unwrap().memory_bytes_max
        };
        let hold = "python3 -c 'import time; held = b\"x\" * 50_000_000; time.sleep(1)'";
        let (inside, outside) =
            (peak(&format!("{hold}; true")), peak(&format!("setsid --wait {hold}; true")));
        assert!(inside > 50_000_000 && outside > 50_000_000, "{inside} {outside}");
    }

    #[test]
    fn what_takes_too_long_ends_with_all_its_children() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        let mut pid = String::new();
        let ended =
            watch(&mut shell("sleep 100 & echo $!; wait"), &log, Duration::from_millis(300), |line| {
                line.clone_into(&mut pid);
                Ok(())
            })
            .unwrap();
        assert!(ended.status.is_none() && ended.seconds < 20.0);
        let state = |pid: &str| std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let is_gone = |pid: &str| state(pid).is_empty() || state(pid).contains(") Z ");
        let deadline = Instant::now() + Duration::from_secs(10);
        while !is_gone(&pid) {
            assert!(Instant::now() < deadline, "process {pid} lives: {}", state(&pid));
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}
