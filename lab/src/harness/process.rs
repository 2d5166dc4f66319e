//! The processes of a cell: bounded in time, watched for memory, and ended together.

use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, getpgrp, kill_process_group, test_kill_process};

use crate::outcome::Outcome;
use crate::run::TICKS_PER_SECOND;

/// The variable that tells the processes of a cell the number of the process that runs the suite.
const RUN: &str = "ANNALS_LAB_RUN";
/// How often a cell looks whether the suite still runs.
const RUN_INTERVAL: Duration = Duration::from_secs(1);

/// How often the memory of the processes is read.
const LOOK_INTERVAL: Duration = Duration::from_millis(100);
/// At which of these looks the memory of processes outside of the group is read, too.
const OUTSIDE_LOOKS: u32 = 10;

/// How a cell's processes ended.
pub struct Ended {
    /// None if the time was over.
    pub status: Option<ExitStatus>,
    pub seconds: f64,
    /// Of all processes together.
    pub memory_bytes_max: u64,
    /// Of the processes that lived when the time was over, and of those that they had waited for. A process that is killed
    /// takes what its children used with it.
    pub killed_cpu_seconds: f64,
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
    let mut usage = Usage::default();
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
        usage.look(group.0);
        if !is_open && let Some(status) = child.try_wait()? {
            break Some(status);
        }
        if start.elapsed() > time_max {
            break None;
        }
    };
    let killed_cpu_seconds = if status.is_none() { cpu_seconds_of(group.0) } else { 0.0 };
    drop(group);
    child.wait()?;
    let seconds = start.elapsed().as_secs_f64();
    Ok(Ended { status, seconds, memory_bytes_max: usage.memory_bytes_max, killed_cpu_seconds })
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

/// The memory that the processes of a cell use.
#[derive(Default)]
struct Usage {
    memory_bytes_max: u64,
    looks: u32,
    /// Of the processes that left the group, at the last look at them. Units: bytes.
    outside_bytes: u64,
}

impl Usage {
    fn look(&mut self, group: Pid) {
        let (members, outside) = processes_of(group);
        // The system walks all pages of a process to tell its part of what it shares.
        if self.looks.is_multiple_of(OUTSIDE_LOOKS) {
            self.outside_bytes = outside.iter().map(Process::own_bytes).sum();
        }
        self.looks += 1;
        let inside: u64 = members.iter().map(|process| process.resident_bytes).sum();
        self.memory_bytes_max = self.memory_bytes_max.max(inside + self.outside_bytes);
    }
}

/// Resources that a process and its descendants use.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TreeUsage {
    /// With that of children that they have waited for.
    pub cpu_seconds: f64,
    pub resident_bytes: u64,
}

/// The resources of a process and its descendants now; none if it has ended.
pub fn tree_usage(pid: u32) -> TreeUsage {
    let (mut parents, mut others): (Vec<Process>, Vec<Process>) =
        processes().into_iter().partition(|process| process.pid.cast_unsigned() == pid);
    let mut usage = TreeUsage::default();
    while !parents.is_empty() {
        for process in &parents {
            usage.cpu_seconds += process.cpu_seconds;
            usage.resident_bytes += process.resident_bytes;
        }
        let pids: Vec<i32> = parents.iter().map(|process| process.pid).collect();
        (parents, others) = others.into_iter().partition(|process| pids.contains(&process.parent));
    }
    usage
}

/// Processor time of all processes of a cell, and of the children that they waited for.
fn cpu_seconds_of(group: Pid) -> f64 {
    let (members, outside) = processes_of(group);
    members.iter().chain(&outside).map(|process| process.cpu_seconds).sum()
}

/// All processes of this machine.
fn processes() -> Vec<Process> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    pids.filter_map(Process::read).collect()
}

/// The processes of a group, and their descendants that have left it.
fn processes_of(group: Pid) -> (Vec<Process>, Vec<Process>) {
    let (members, mut others): (Vec<Process>, Vec<Process>) =
        processes().into_iter().partition(|process| process.group == group.as_raw_nonzero().get());
    let mut outside: Vec<Process> = Vec::new();
    let mut parents: Vec<i32> = members.iter().map(|process| process.pid).collect();
    while !parents.is_empty() {
        let (children, left): (Vec<Process>, Vec<Process>) =
            others.into_iter().partition(|process| parents.contains(&process.parent));
        parents = children.iter().map(|process| process.pid).collect();
        outside.extend(children);
        others = left;
    }
    (members, outside)
}

/// A process, as the operating system reports it.
struct Process {
    pid: i32,
    parent: i32,
    group: i32,
    resident_bytes: u64,
    /// Its own, and that of the children that it has waited for.
    cpu_seconds: f64,
}

impl Process {
    /// None if it has ended.
    fn read(pid: i32) -> Option<Process> {
        let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // Source: proc_pid_stat(5): after the name in parentheses follow state, parent and group; the fields 14 to 17 are
        // times of the processor, and field 24 is the resident memory in pages.
        let fields: Vec<&str> = text.rsplit(')').next()?.split_whitespace().collect();
        let field = |number: usize| fields.get(number - 3)?.parse::<i64>().ok();
        let ticks: i64 = (14..=17).filter_map(field).sum();
        Some(Process {
            pid,
            parent: i32::try_from(field(4)?).ok()?,
            group: i32::try_from(field(5)?).ok()?,
            resident_bytes: u64::try_from(field(24)?).ok()? * rustix::param::page_size() as u64,
            cpu_seconds: ticks as f64 / TICKS_PER_SECOND,
        })
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
        let hold = "python3 -c 'import time; held = b\"x\" * 50_000_000; time.sleep(3)'";
        let (inside, outside) =
            (peak(&format!("{hold}; true")), peak(&format!("setsid --wait {hold}; true")));
        assert!(inside > 50_000_000 && outside > 50_000_000, "{inside} {outside}");
    }

    #[test]
    fn what_takes_too_long_ends_with_all_its_children() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("log");
        let mut pid = String::new();
        // The child works, so that its processor time is seen, too.
        let text = "(while :; do :; done) & echo $!; wait";
        let ended = watch(&mut shell(text), &log, Duration::from_millis(900), |line| {
            line.clone_into(&mut pid);
            Ok(())
        })
        .unwrap();
        assert!(ended.status.is_none() && ended.seconds < 20.0);
        assert!(ended.killed_cpu_seconds > 0.1, "{}", ended.killed_cpu_seconds);
        let state = |pid: &str| std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let is_gone = |pid: &str| state(pid).is_empty() || state(pid).contains(") Z ");
        let deadline = Instant::now() + Duration::from_secs(10);
        while !is_gone(&pid) {
            assert!(Instant::now() < deadline, "process {pid} lives: {}", state(&pid));
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}
