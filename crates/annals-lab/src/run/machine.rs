//! The machine a run is on, and how much of it the run had: so that its figures can be judged.

use std::fs::read_to_string;
use std::time::Instant;

/// Units of `/proc/stat` in a second: what Linux tells programs, whatever it counts in itself.
const TICKS_PER_SECOND: f64 = 100.0;

/// Resident memory of this process. Units: bytes; 0 where the system does not tell.
pub fn resident_bytes() -> u64 {
    kibibytes("/proc/self/status", "VmRSS:") * 1024
}

/// Processor, cores, memory and kernel, in one line.
pub fn describe() -> String {
    let cpus = read_to_string("/proc/cpuinfo").unwrap_or_default();
    let cpu = cpus.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    let cpu = cpu.map_or("unknown processor", |(_, name)| name.trim());
    let memory = kibibytes("/proc/meminfo", "MemTotal:") as f64 / f64::from(1 << 20);
    let kernel = read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    format!("{} cores of {cpu}, {memory:.1} GiB, Linux {}", cores(), kernel.trim())
}

/// Processes that want a core, on average over the last minute; 0 where the system does not tell.
pub fn load() -> f64 {
    let text = read_to_string("/proc/loadavg").unwrap_or_default();
    text.split_whitespace().next().and_then(|first| first.parse().ok()).unwrap_or(0.0)
}

/// Time that processors have spent, from which what others have used follows.
pub struct Usage {
    at: Instant,
    /// Of all processes, and of other machines on the same hardware. Units: seconds.
    all: f64,
    /// Of this process and its children that have ended. Units: seconds.
    own: f64,
}

impl Usage {
    /// Up to now.
    pub fn now() -> Usage {
        Usage { at: Instant::now(), all: all_seconds(), own: own_seconds() }
    }

    /// Share of the machine that others have used since then, from 0 to 1.
    pub fn others(&self) -> f64 {
        let now = Usage::now();
        let others = (now.all - self.all) - (now.own - self.own);
        (others / (now.at - self.at).as_secs_f64() / cores() as f64).clamp(0.0, 1.0)
    }
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Source: proc_stat(5): user, nice, system, idle, iowait, irq, softirq, steal.
fn all_seconds() -> f64 {
    let text = read_to_string("/proc/stat").unwrap_or_default();
    let first = text.lines().next().unwrap_or_default();
    let ticks: Vec<f64> = first.split_whitespace().skip(1).take(8).flat_map(str::parse).collect();
    let idle: f64 = ticks.iter().skip(3).take(2).sum();
    (ticks.iter().sum::<f64>() - idle) / TICKS_PER_SECOND
}

/// Source: proc_pid_stat(5): utime, stime, cutime and cstime are the fields 14 to 17; the name ends with the last `)`.
fn own_seconds() -> f64 {
    let text = read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = text.rsplit(')').next().unwrap_or_default().split_whitespace();
    fields.skip(11).take(4).flat_map(str::parse::<f64>).sum::<f64>() / TICKS_PER_SECOND
}

fn kibibytes(path: &str, name: &str) -> u64 {
    let text = read_to_string(path).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse().ok()).unwrap_or(0)
}
