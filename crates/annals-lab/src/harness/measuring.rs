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
use crate::run::own_seconds;

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
    /// Errors: those of `tell`, and if the program prints anything else than records.
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
        let ended = watch(&mut command, log, Duration::from_secs(seconds_max), |line| {
            let read = serde_json::from_str::<Record>(line);
            match read.map_err(|error| format!("{}: printed {line:?}: {error}", arguments.target))? {
                Record::Target(target) if part.counts_syncs => introduced = Some(target),
                record => tell(record)?,
            }
            Ok(())
        })?;
        if let Some(mut target) = introduced {
            target.syncs = match target.syncs {
                Some(Syncs { commits, .. }) if is_traced => {
                    Some(Syncs { commits, syncs: count_syncs(&trace)? })
                }
                _ => None,
            };
            tell(Record::Target(target))?;
        }
        Ok(CellRecord {
            target: arguments.target.clone(),
            part: part.name.into(),
            repeat: arguments.repeat,
            outcome: outcome(&ended, seconds_max, log),
            seconds: ended.seconds,
            cpu_seconds: own_seconds() - cpu,
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
    let text = std::fs::read_to_string(log).unwrap_or_default();
    let last = text.lines().rev().find_map(|line| line.strip_prefix("annals-lab: "));
    let last = last.unwrap_or("ended without a reason; see its log");
    // Only the system kills a cell: the lab would have said so.
    if status.signal() == Some(9) || text.contains("OutOfMemoryError") {
        return "OOM".into();
    }
    if last.starts_with("DNF(") { last.to_owned() } else { format!("ERR({last})") }
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
