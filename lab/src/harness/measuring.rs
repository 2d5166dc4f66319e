//! Measures one cell in fresh processes: passes its records on, and says how it ended and what it cost.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::cell::CellArguments;
use super::process::{Ended, watch};
use super::record::{CellRecord, Record, Syncs, TargetRecord};
use super::suite::Part;
use super::syncs::{can_trace, count_syncs, under_strace};
use crate::outcome::Outcome;
use crate::run::{WRONG_ANSWER, own_seconds};

/// An error contains one of these if a system ran out of memory: a virtual machine says so, and an adapter without one
/// is killed by the kernel.
pub const OUT_OF_MEMORY: &[&str] = &["OutOfMemoryError", "signal: 9"];

/// A cell, and the program that measures it.
pub struct Measuring {
    /// This program, or another build of it.
    pub program: PathBuf,
    pub part: &'static Part,
    /// Its folder is created here.
    pub arguments: CellArguments,
    /// The file for what the processes print on standard error.
    pub log: PathBuf,
}

impl Measuring {
    /// Measures, and calls `tell` with each record as it comes.
    ///
    /// Errors: those of `tell`.
    pub fn run(&self, mut tell: impl FnMut(Record) -> Outcome<()>) -> Outcome<CellRecord> {
        let Measuring { program, part, arguments, log } = self;
        let folder = &arguments.folder;
        std::fs::create_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let trace = folder.with_extension("strace");
        let is_traced = part.counts_syncs && can_trace();
        let mut command = if is_traced { under_strace(program, &trace) } else { Command::new(program) };
        command.args(arguments.options());
        let seconds_max = arguments.seconds_max;
        let cpu = own_seconds();
        let mut introduced: Option<TargetRecord> = None;
        // A line that is no record: cut off because the process was killed, or another output.
        let mut babble = None;
        let ended = watch(&mut command, log, Duration::from_secs(seconds_max), |line| {
            match serde_json::from_str::<Record>(line) {
                Ok(Record::Target(target)) if part.counts_syncs => introduced = Some(target),
                Ok(record) => tell(record)?,
                Err(error) => babble = Some(format!("ERR(the cell printed {line:?}: {error})")),
            }
            Ok(())
        })?;
        let mut outcome = outcome(&ended, seconds_max, log);
        if outcome == "ok" {
            outcome = babble.unwrap_or(outcome);
        }
        if let Some(mut target) = introduced {
            target.syncs = match target.syncs {
                Some(Syncs { commits, .. }) if is_traced => {
                    Some(Syncs { commits, syncs: count_syncs(&trace)? })
                }
                _ => None,
            };
            if outcome == "ok" {
                outcome = durability(&target).unwrap_or(outcome);
            }
            tell(Record::Target(target))?;
        }
        Ok(CellRecord {
            target: arguments.target.clone(),
            part: part.name.into(),
            repeat: arguments.repeat,
            outcome,
            seconds: ended.seconds,
            cpu_seconds: own_seconds() - cpu + ended.killed_cpu_seconds,
            memory_bytes_max: ended.memory_bytes_max,
            disk_bytes: bytes_in(folder),
        })
    }
}

/// How a cell ended, in a word.
fn outcome(ended: &Ended, seconds_max: u64, log: &Path) -> String {
    use std::os::unix::process::ExitStatusExt;
    let Some(status) = ended.status else { return format!("DNF({seconds_max} s)") };
    if status.success() {
        return "ok".into();
    }
    let text = std::fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let last = text.lines().rev().find_map(|line| line.strip_prefix("annals-lab: "));
    let last = last.unwrap_or("ended without a reason; see its log");
    if last.contains(WRONG_ANSWER) {
        return format!("ERR({last})");
    }
    // Only the system kills a cell or an adapter: the lab would have said so.
    let is_out_of_memory = OUT_OF_MEMORY.iter().any(|sign| text.contains(sign));
    if status.signal() == Some(9) || is_out_of_memory {
        return "OOM".into();
    }
    if last.starts_with("DNF(") { last.to_owned() } else { format!("ERR({last})") }
}

/// The contradiction between the stated durability of a target and its counted syncs, if there is one.
fn durability(target: &TargetRecord) -> Option<String> {
    let Syncs { commits, syncs } = target.syncs?;
    let is_short = target.durability.starts_with("synced") && syncs < commits;
    is_short.then(|| {
        let claim = &target.durability;
        format!("ERR({WRONG_ANSWER}: it says {claim}, and made {syncs} calls that sync for {commits} commits of a lone thread)")
    })
}

/// Bytes of all files below a folder.
pub fn bytes_in(folder: &Path) -> u64 {
    let Ok(entries) = std::fs::read_dir(folder) else { return 0 };
    let bytes = |entry: std::fs::DirEntry| match entry.metadata() {
        Ok(found) if found.is_dir() => bytes_in(&entry.path()),
        Ok(found) => found.len(),
        Err(_) => 0,
    };
    entries.filter_map(Result::ok).map(bytes).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_that_syncs_less_often_than_it_says_is_wrong() {
        let target = |durability: &str, syncs: Option<u64>| TargetRecord {
            target: "it".into(),
            version: "1".into(),
            durability: durability.into(),
            settings: Vec::new(),
            syncs: syncs.map(|syncs| Syncs { commits: 100, syncs }),
        };
        for (durability_told, syncs, is_wrong) in [
            ("synced", Some(99), true),
            ("synced-group", Some(0), true),
            ("synced", Some(100), false),
            ("synced", None, false),
            ("unsynced", Some(3), false),
            ("memory", Some(0), false),
        ] {
            let found = durability(&target(durability_told, syncs));
            assert_eq!(found.is_some(), is_wrong, "{durability_told} {syncs:?}: {found:?}");
            assert!(found.is_none_or(|text| text.contains(WRONG_ANSWER)));
        }
    }
}
