//! The open files of the process, which bound its connections.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Files beside connections: segments of the log, values on disk, checkpoints, uploads, downloads.
const BESIDE: u64 = 768;
/// The part of the open files that is kept for them where there are few: one of so many.
const BESIDE_PART: u64 = 4;

/// Raises the soft limit of open files to the hard limit. Returns it; `None` if there is no limit.
pub fn raise() -> Option<u64> {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current != maximum {
        // If the system refuses, the old limit holds, and is what is returned.
        let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
    }
    getrlimit(Resource::Nofile).current
}

/// How many of the wanted connections fit into this many open files.
pub fn connections_max(wanted: usize, files_max: Option<u64>) -> usize {
    let Some(files_max) = files_max else { return wanted };
    let left = files_max - BESIDE.min(files_max / BESIDE_PART);
    wanted.min(usize::try_from(left).unwrap_or(usize::MAX)).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_leave_files_for_the_repository() {
        assert_eq!(connections_max(20_000, None), 20_000);
        assert_eq!(connections_max(20_000, Some(1 << 20)), 20_000);
        assert_eq!(connections_max(20_000, Some(20_000)), 19_232);
        assert_eq!(connections_max(20_000, Some(400)), 300);
        assert_eq!(connections_max(100, Some(400)), 100);
        assert_eq!(connections_max(0, Some(0)), 1);
    }
}
