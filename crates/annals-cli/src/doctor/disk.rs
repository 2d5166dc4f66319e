//! The disk of a repository: its room, its kind, and how long a sync takes there.

use std::fs::{File, remove_file};
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant as Clock};

use annals::storage::private_files;
use rustix::fs::{StatVfsMountFlags, statfs, statvfs};

use super::finding::Findings;
use super::patient::Patient;
use crate::output::bytes;

/// With less room, a server refuses writes soon. Units: bytes.
const FREE_BYTES_MIN: u64 = 64 << 20;
/// The same in files.
const FREE_FILES_MIN: u64 = 1_000;
/// So many writes are synced, each of this size. Units: writes, bytes.
const PROBES: usize = 32;
const PROBE_BYTES: usize = 4_096;
/// A sync that takes longer holds up each commit noticeably.
const SYNC_TIME_MAX: Duration = Duration::from_millis(20);

/// Kinds of file systems that lose data, or keep others from it by locks of their own. Source: linux/magic.h.
/// Shape: `(number, name, remedy)`.
const KINDS: [(i128, &str, &str); 6] = [
    (0x0102_1994, "tmpfs", "it is gone after a restart of the machine: use a disk"),
    (0x8584_58f6, "ramfs", "it is gone after a restart of the machine: use a disk"),
    (0x794c_7630, "overlayfs", "it is gone with its container: mount a volume there"),
    (0x6969, "NFS", "one machine at a time may use it; a disk of this machine syncs faster"),
    (0xff53_4d42, "CIFS", "use a disk of this machine, or a log in a store"),
    (0xfe53_4d42, "SMB", "use a disk of this machine, or a log in a store"),
];

/// Looks at the disk of a folder.
pub fn examine(folder: &Path, patient: &Patient, findings: &mut Findings) {
    examine_kind(folder, findings);
    examine_room(folder, patient.options.is_read_only, findings);
    if patient.options.is_read_only {
        return findings.ok("sync", "not measured: the server only reads");
    }
    match probe_folder(folder, patient.probe.as_deref()).and_then(|beside| {
        measure(&beside).map_err(|error| format!("no probe file in {}: {error}", beside.display()))
    }) {
        Err(reason) => findings.ok("sync", format!("not measured: {reason}; name a folder with --probe")),
        Ok((median, longest)) => {
            let text = format!(
                "{:.2} ms in the middle of {PROBES}, {:.2} ms the longest",
                median.as_secs_f64() * 1e3,
                longest.as_secs_f64() * 1e3
            );
            if median > SYNC_TIME_MAX {
                let remedy =
                    "each commit waits for one: use a faster disk, or write many changes in one transaction";
                findings.warning("sync", text, remedy);
            } else {
                findings.ok("sync", text);
            }
        }
    }
}

fn examine_kind(folder: &Path, findings: &mut Findings) {
    let Ok(known) = statfs(folder) else { return };
    let kind = i128::from(known.f_type);
    if let Some((_, name, remedy)) = KINDS.iter().find(|(number, ..)| *number == kind) {
        findings.warning("disk", format!("{} is on {name}", folder.display()), *remedy);
    }
}

fn examine_room(folder: &Path, is_read_only: bool, findings: &mut Findings) {
    let known = match statvfs(folder) {
        Ok(known) => known,
        Err(error) => {
            return findings.wrong(
                "disk",
                format!("{}: {error}", folder.display()),
                "ask as the user of the server",
            );
        }
    };
    let free = known.f_bavail.saturating_mul(known.f_frsize);
    let (log, checkpoint) =
        (sizes(&folder.join("log")).iter().sum::<u64>(), sizes(&folder.join("checkpoints")));
    let checkpoint = checkpoint.into_iter().max().unwrap_or_default();
    let text =
        format!("{} free, the log has {}, a checkpoint {}", bytes(free), bytes(log), bytes(checkpoint));
    let make_room = "make room: docs/operations.md, Full disk";
    if known.f_flag.contains(StatVfsMountFlags::RDONLY) && !is_read_only {
        findings.wrong(
            "disk",
            "it is mounted read-only",
            "mount it for writing, or serve with read-only = true",
        );
    } else if free < FREE_BYTES_MIN {
        findings.wrong(
            "disk",
            format!("expected at least {} free: {text}", bytes(FREE_BYTES_MIN)),
            make_room,
        );
    } else if known.f_files > 0 && known.f_favail < FREE_FILES_MIN {
        let text = format!("expected room for {FREE_FILES_MIN} more files, found {}", known.f_favail);
        findings.wrong("disk", text, make_room);
    } else if free < log + checkpoint {
        findings.warning(
            "disk",
            text,
            "a compaction writes the log again, and a checkpoint: make room before",
        );
    } else {
        findings.ok("disk", text);
    }
}

/// The sizes of the files of a folder. Units: bytes.
fn sizes(folder: &Path) -> Vec<u64> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.metadata().ok()).map(|known| known.len()).collect()
}

/// The folder for the probe file: one on the same disk, and never that of the repository.
///
/// Errors: why there is none.
fn probe_folder(folder: &Path, named: Option<&Path>) -> Result<PathBuf, String> {
    if let Some(named) = named {
        return Ok(named.to_owned());
    }
    let told = |error: io::Error| format!("{}: {error}", folder.display());
    let whole = folder.canonicalize().map_err(told)?;
    let above = whole.parent().ok_or("it has no folder above it")?;
    let device = |path: &Path| std::fs::metadata(path).map(|known| known.dev());
    match device(above).map_err(told)? == device(&whole).map_err(told)? {
        true => Ok(above.to_owned()),
        false => Err(format!("{} is on another disk", above.display())),
    }
}

/// A file that goes away.
struct Probe(PathBuf);

impl Drop for Probe {
    fn drop(&mut self) {
        let _ = remove_file(&self.0);
    }
}

/// The time of a sync: the one in the middle, and the longest.
fn measure(folder: &Path) -> io::Result<(Duration, Duration)> {
    let path = folder.join(format!(".annals-doctor-{}", std::process::id()));
    let mut file: File = private_files::create(&path)?;
    let _probe = Probe(path);
    let mut times = Vec::with_capacity(PROBES);
    for _ in 0..PROBES {
        let start = Clock::now();
        file.write_all(&[0; PROBE_BYTES])?;
        file.sync_data()?;
        times.push(start.elapsed());
    }
    times.sort_unstable();
    Ok((times[PROBES / 2], times[PROBES - 1]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_probe_leaves_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let (median, longest) = measure(folder.path()).unwrap();
        assert!(median <= longest);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn the_probe_is_beside_the_repository() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("r");
        std::fs::create_dir(&inner).unwrap();
        assert_eq!(probe_folder(&inner, None).unwrap(), folder.path().canonicalize().unwrap());
        assert_eq!(probe_folder(&inner, Some(&inner)).unwrap(), inner);
        assert!(probe_folder(Path::new("/"), None).is_err());
    }
}
