//! The machine a run is on, so that its figures can be judged.

use std::fs::read_to_string;

/// Resident memory of this process. Units: bytes; 0 where the system does not tell.
pub fn resident_bytes() -> u64 {
    kibibytes("/proc/self/status", "VmRSS:") * 1024
}

/// Processor, cores, memory and kernel, in one line.
pub fn describe() -> String {
    let cpus = read_to_string("/proc/cpuinfo").unwrap_or_default();
    let cpu = cpus.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    let cpu = cpu.map_or("unknown processor", |(_, name)| name.trim());
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let memory = kibibytes("/proc/meminfo", "MemTotal:") as f64 / f64::from(1 << 20);
    let kernel = read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    format!("{cores} cores of {cpu}, {memory:.1} GiB, Linux {}", kernel.trim())
}

/// Processes that want a core, on average over the last minute; 0 where the system does not tell.
pub fn load() -> f64 {
    let text = read_to_string("/proc/loadavg").unwrap_or_default();
    text.split_whitespace().next().and_then(|first| first.parse().ok()).unwrap_or(0.0)
}

fn kibibytes(path: &str, name: &str) -> u64 {
    let text = read_to_string(path).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse().ok()).unwrap_or(0)
}
