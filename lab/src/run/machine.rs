//! The machine of a run, and its load during the run, so that readers can judge the figures.

use std::fs::read_to_string;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use super::raw_file::RawFile;
use super::sample::Timed;
use crate::latencies::Latencies;
use crate::outcome::Outcome;

/// Average number of processes that wanted a core before the run, above which figures are doubtful.
const LOAD_MAX: f64 = 0.5;
/// Durable writes whose median is the speed of the disk, and the bytes of each.
const SYNCS: usize = 100;
const SYNC_BYTES: usize = 512;

/// Units of `/proc/stat` per second: Linux reports this to programs, whatever its internal unit.
pub const TICKS_PER_SECOND: f64 = 100.0;

/// Resident memory of this process. Units: bytes; 0 if the system does not report it.
pub fn resident_bytes() -> u64 {
    kibibytes("/proc/self/status", "VmRSS:") * 1024
}

/// The most that it was so far.
pub fn resident_bytes_max() -> u64 {
    kibibytes("/proc/self/status", "VmHWM:") * 1024
}

/// Facts about the machine that figures depend on.
pub struct Machine {
    /// Shape: name, value.
    pub facts: Vec<(&'static str, String)>,
    /// Median of a small durable write before the run. Units: microseconds.
    pub sync_us: f64,
    /// Processes that wanted a core before the run, on average over the last minute.
    load: f64,
}

impl Machine {
    /// This machine and this program; `folder` is on the measured disk.
    ///
    /// Errors: if nothing can be written into the folder.
    pub fn look(folder: &Path) -> Outcome<Machine> {
        let load = load();
        let source = env!("CARGO_MANIFEST_DIR");
        let commit = first_line("git", &["-C", source, "describe", "--always", "--dirty", "--exclude=*"]);
        let (disk, sync_us) = disk(folder)?;
        let facts = vec![
            ("processor", processor()),
            ("memory", memory()),
            ("disk", disk),
            ("kernel", kernel()),
            ("Annals", format!("{}, built with the profile {}", env!("CARGO_PKG_VERSION"), profile())),
            ("compiler", first_line("rustc", &["--version"])),
            ("commit", commit.replace("-dirty", ", with changes that are not committed")),
            ("load before", format!("{load:.2}")),
        ];
        Ok(Machine { facts, sync_us, load })
    }

    /// Adds the version that the program with this name prints.
    pub fn add_program(&mut self, name: &'static str, argument: &str) {
        self.facts.push((name, first_line(name, &[argument])));
    }

    /// Reasons why the figures of a run that begins now cannot be trusted.
    pub fn doubts(&self) -> Vec<String> {
        let mut doubts = Vec::new();
        if cfg!(debug_assertions) {
            doubts.push("this is a debug build, many times slower than what users run".into());
        }
        if self.load > LOAD_MAX {
            doubts.push(format!("the machine was busy before (load {:.2})", self.load));
        }
        doubts
    }
}

/// Processor, cores, memory, kernel and load, in one line.
pub fn describe() -> String {
    let load = load();
    let busy = if load > LOAD_MAX { "; it was busy before: distrust all figures" } else { "" };
    format!("{}, {}, {}; load {load:.2}{busy}", processor(), memory(), kernel())
}

fn processor() -> String {
    let cpus = read_to_string("/proc/cpuinfo").unwrap_or_default();
    let cpu = cpus.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    format!("{} cores of {}", cores(), cpu.map_or("unknown processor", |(_, name)| name.trim()))
}

fn memory() -> String {
    format!("{:.1} GiB", kibibytes("/proc/meminfo", "MemTotal:") as f64 / f64::from(1 << 20))
}

fn kernel() -> String {
    format!("Linux {}", read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default().trim())
}

/// The file system of the folder, and the median of a small durable write there.
///
/// Units: microseconds.
fn disk(folder: &Path) -> Outcome<(String, f64)> {
    let path = folder.join("sync");
    let (mut file, mut latencies) = (RawFile::create(&path)?, Latencies::new()?);
    for _ in 0..SYNCS {
        latencies.record(Timed::of(|| Ok(file.append(&[7; SYNC_BYTES])?))?.elapsed);
    }
    std::fs::remove_file(path)?;
    let sync = latencies.quantile_us(0.5);
    let mounts = read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let on = file_system(&mounts, &folder.canonicalize()?);
    let on = on.unwrap_or_else(|| "unknown file system".into());
    let text =
        format!("{on}; a write of {SYNC_BYTES} bytes with fdatasync takes {sync:.0} µs (median of {SYNCS})");
    Ok((text, sync))
}

/// Source: proc_pid_mountinfo(5): the mount point is the fifth field; type and device follow a lone hyphen. Of two mounts at one
/// place the later one counts.
fn file_system(mounts: &str, folder: &Path) -> Option<String> {
    let of_mount = |line: &str| {
        let (mount, device) = line.split_once(" - ")?;
        let place = mount.split(' ').nth(4)?;
        let mut device = device.split(' ');
        let text = format!("{} on {}", device.next()?, device.next()?);
        folder.starts_with(place).then_some((place.len(), text))
    };
    mounts.lines().filter_map(of_mount).max_by_key(|(length, _)| *length).map(|(_, text)| text)
}

/// The profile of cargo that this program was built with, by its folder.
pub fn profile() -> String {
    let program = std::env::current_exe().unwrap_or_default();
    // Tests are in a folder of their own below.
    let mut folders = program.ancestors().skip(1).filter_map(|folder| folder.file_name()?.to_str());
    match folders.find(|name| *name != "deps").unwrap_or("debug") {
        "debug" => "dev".to_owned(),
        profile => profile.to_owned(),
    }
}

/// The first line that a program prints, whatever its exit status.
fn first_line(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output();
    let text = output.map(|output| [output.stdout, output.stderr].concat());
    let text = text.map(|text| String::from_utf8_lossy(&text).lines().next().unwrap_or_default().to_owned());
    text.unwrap_or_else(|_| format!("unknown: {program} is not there"))
}

/// Average number of processes that want a core over the last minute; 0 if the system does not report it.
fn load() -> f64 {
    let text = read_to_string("/proc/loadavg").unwrap_or_default();
    text.split_whitespace().next().and_then(|first| first.parse().ok()).unwrap_or(0.0)
}

/// Processor time, from which the share of other processes follows.
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

    /// Share of the machine that other processes have used since then, from 0 to 1.
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

/// Processor time of this process and its children that have ended. Units: seconds.
///
/// Source: proc_pid_stat(5): utime, stime, cutime and cstime are the fields 14 to 17; the name ends with the last `)`.
pub fn own_seconds() -> f64 {
    let text = read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = text.rsplit(')').next().unwrap_or_default().split_whitespace();
    fields.skip(11).take(4).flat_map(str::parse::<f64>).sum::<f64>() / TICKS_PER_SECOND
}

fn kibibytes(path: &str, name: &str) -> u64 {
    let text = read_to_string(path).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_on_the_innermost_mount_around_it() {
        let mounts = "22 1 254:0 / / rw shared:1 - ext4 /dev/vda rw\n\
                      23 22 0:5 / /tmp rw - tmpfs tmpfs rw\n24 22 0:6 / /tmp/a rw - xfs /dev/vdb rw\n";
        let found =
            ["/tmp/x", "/tmp/a/b", "/tmpx"].map(|folder| file_system(mounts, Path::new(folder)).unwrap());
        assert_eq!(found, ["tmpfs on tmpfs", "xfs on /dev/vdb", "ext4 on /dev/vda"]);
    }
}
