//! Memory and open files: whether the machine and the unit leave the server what its options promise.

use rustix::process::{Resource, getrlimit};

use super::finding::Findings;
use super::patient::Patient;
use super::unit::UnitFile;
use crate::output::bytes;

/// Files beside connections: segments of the log, contents that come and go, files of long values, and the rest.
const FILES_BESIDE: u64 = 256 + 64 + 256 + 32;

/// Looks at both. `server` is the process of a server that runs.
pub fn examine(patient: &Patient, server: Option<u32>, findings: &mut Findings) {
    let unit = patient.unit.as_ref();
    let bound = unit.and_then(|unit| unit.size("MemoryMax"));
    examine_memory(patient.options.memory_bytes_max, bound, memory_of_machine(), findings);
    examine_files(patient.options.connections_max, files_of(unit, server), findings);
}

/// Compares the budget with what the unit and the machine have. Units: bytes.
fn examine_memory(
    budget: Option<u64>,
    of_unit: Option<u64>,
    of_machine: Option<u64>,
    findings: &mut Findings,
) {
    let of_machine = of_machine.unwrap_or(u64::MAX);
    let Some(budget) = budget else {
        return match of_unit {
            Some(bound) => findings.warning(
                "memory",
                format!("no budget, and the unit ends the server at {}", bytes(bound)),
                format!("set memory = \"{}MiB\" in the configuration", bound / 3 * 2 / (1 << 20)),
            ),
            None => findings.ok("memory", "no budget: the whole graph is in memory"),
        };
    };
    // Opening takes up to a fifth more than the budget, and peaks go beyond it.
    let peak = budget.saturating_add(budget / 5);
    let text = format!("a budget of {}", bytes(budget));
    if budget > of_machine {
        let text = format!("{text}, and the machine has {}", bytes(of_machine));
        findings.wrong("memory", text, "lower memory in the configuration");
    } else if let Some(bound) = of_unit.filter(|bound| *bound < peak) {
        let text = format!("{text}, and the unit ends the server at {}", bytes(bound));
        let set = format!("set MemoryMax={}M with systemctl edit annals", budget / 2 * 3 / (1 << 20));
        findings.wrong("memory", text, set);
    } else if peak > of_machine {
        let text = format!("{text}, and the machine has {}: opening takes a fifth more", bytes(of_machine));
        findings.warning("memory", text, "lower memory in the configuration");
    } else {
        findings.ok("memory", text);
    }
}

/// The memory of the machine, or of the container. Units: bytes.
fn memory_of_machine() -> Option<u64> {
    let told = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = told.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let whole = line.trim().trim_end_matches("kB").trim().parse::<u64>().ok()?.checked_mul(1_024)?;
    let of_group = std::fs::read_to_string("/sys/fs/cgroup/memory.max").ok();
    let of_group = of_group.and_then(|text| text.trim().parse::<u64>().ok());
    Some(of_group.map_or(whole, |bound| bound.min(whole)))
}

/// How many files the server may open, and who says so; `None` without a bound.
fn files_of(unit: Option<&UnitFile>, server: Option<u32>) -> Option<(u64, &'static str)> {
    let of_process = |process: u32| {
        let told = std::fs::read_to_string(format!("/proc/{process}/limits")).ok()?;
        let line = told.lines().find_map(|line| line.strip_prefix("Max open files"))?;
        line.split_whitespace().nth(1)?.parse().ok()
    };
    if let Some(files) = server.and_then(of_process) {
        return Some((files, "the server that runs"));
    }
    if let Some(text) = unit.and_then(|unit| unit.value("LimitNOFILE")) {
        // Soft and hard limits may differ: a server raises its own.
        return text.rsplit(':').next()?.parse().ok().map(|files| (files, "the unit"));
    }
    getrlimit(Resource::Nofile).maximum.map(|files| (files, "this process"))
}

/// Compares the files with the connections of the options.
fn examine_files(connections_max: Option<usize>, known: Option<(u64, &str)>, findings: &mut Findings) {
    let connections_max = connections_max.unwrap_or_default();
    let needed = (connections_max as u64).saturating_add(FILES_BESIDE);
    match known {
        Some((files, of)) if files < needed => {
            let text =
                format!("{of} may open {files}, expected {needed} for connections-max = {connections_max}");
            findings.warning(
                "open files",
                text,
                format!("set LimitNOFILE={needed}, or lower connections-max"),
            );
        }
        Some((files, of)) => findings.ok("open files", format!("{of} may open {files}")),
        None => findings.ok("open files", "without a bound"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::finding::Level;

    fn memory(budget: Option<u64>, of_unit: Option<u64>, of_machine: u64) -> (Level, String) {
        let mut findings = Findings::default();
        examine_memory(
            budget.map(|gib| gib << 30),
            of_unit.map(|gib| gib << 30),
            Some(of_machine << 30),
            &mut findings,
        );
        let found = findings.0.remove(0);
        (found.level, found.text + " " + &found.remedy)
    }

    #[test]
    fn a_budget_fits_into_the_unit_and_the_machine() {
        assert_eq!(memory(Some(4), Some(6), 8).0, Level::Ok);
        assert_eq!(memory(None, None, 8).0, Level::Ok);
        for (budget, of_unit, of_machine, level, text) in [
            (Some(4), Some(4), 8, Level::Wrong, "MemoryMax=6144M"),
            (Some(9), None, 8, Level::Wrong, "the machine has 8.0 GiB"),
            (Some(7), None, 8, Level::Warning, "a fifth more"),
            (None, Some(6), 8, Level::Warning, "memory = \"4096MiB\""),
        ] {
            let found = memory(budget, of_unit, of_machine);
            assert!(found.0 == level && found.1.contains(text), "{budget:?} {of_unit:?}: {found:?}");
        }
    }

    #[test]
    fn connections_need_files() {
        for (files, level) in [(32_768, Level::Ok), (1_024, Level::Warning)] {
            let mut findings = Findings::default();
            examine_files(Some(20_000), Some((files, "the unit")), &mut findings);
            assert_eq!(findings.0[0].level, level);
        }
    }
}
