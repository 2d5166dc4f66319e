//! The memory of the process that may move onto huge pages, and how much of it is resident.

use std::fs::{File, read, read_to_string};
use std::io::Result;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::Path;

use crate::advice::page_bytes;
use crate::unsupported::unsupported;

/// Bytes per page in `/proc/self/pagemap`.
const ENTRY: usize = 8;
/// Copying more in one step would block other threads for too long: with small pages of 64 KiB, huge pages have 512
/// MiB.
const HUGE_BYTES_MAX: usize = 2 << 20;
/// The folder in which the system describes its huge pages.
const FOLDER: &str = "/sys/kernel/mm/transparent_hugepage";

/// The memory of this process, in regions of the size and the alignment of a huge page.
pub struct Regions {
    pagemap: File,
    pub page_bytes: usize,
    pub huge_bytes: usize,
}

/// The number of resident pages of a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resident {
    pub pages: usize,
    pub of: usize,
}

impl Resident {
    /// True if moving the region is worth it: a huge page also takes memory for pages that are not resident.
    pub fn is_enough(self) -> bool {
        self.pages >= self.of / 4 * 3
    }

    pub fn is_all(self) -> bool {
        self.pages == self.of
    }
}

impl Regions {
    /// Errors: `Unsupported` if the system has no huge pages, none for this process, or does not report resident pages.
    pub fn new() -> Result<Regions> {
        let told = |name| read_to_string(Path::new(FOLDER).join(name)).unwrap_or_default();
        let size = told("hpage_pmd_size").trim().parse().ok();
        let huge_bytes = size.ok_or_else(|| unsupported(&format!("expected their size in {FOLDER}")))?;
        if huge_bytes > HUGE_BYTES_MAX {
            let text = format!("expected {HUGE_BYTES_MAX} bytes or fewer, found {huge_bytes}");
            return Err(unsupported(&text));
        }
        // Memory could be moved even so, but the administrator does not want huge pages.
        if told("enabled").contains("[never]") {
            return Err(unsupported(&format!("they are turned off in {FOLDER}/enabled")));
        }
        // Source: proc_pid_status(5).
        let is_off = |line: &str| line.strip_prefix("THP_enabled:").is_some_and(|value| value.trim() == "0");
        if read_to_string("/proc/self/status").is_ok_and(|status| status.lines().any(is_off)) {
            return Err(unsupported("they are turned off for this process (MIMALLOC_ALLOW_THP=0 does so)"));
        }
        let pagemap = File::open("/proc/self/pagemap")
            .map_err(|error| unsupported(&format!("expected /proc/self/pagemap: {error}")))?;
        Ok(Regions { pagemap, page_bytes: page_bytes(), huge_bytes })
    }

    /// The start of every region in private, writable memory.
    pub fn starts(&self) -> Result<Vec<usize>> {
        // Names of files may have any bytes.
        let maps = read("/proc/self/maps")?;
        let whole = |range: Range<usize>| {
            let first = range.start.next_multiple_of(self.huge_bytes);
            (first..(range.end + 1).saturating_sub(self.huge_bytes)).step_by(self.huge_bytes)
        };
        Ok(String::from_utf8_lossy(&maps).lines().filter_map(private_memory).flat_map(whole).collect())
    }

    /// How much of a region is resident.
    pub fn resident(&self, start: usize) -> Result<Resident> {
        let mut entries = vec![0; self.huge_bytes / self.page_bytes * ENTRY];
        self.pagemap.read_exact_at(&mut entries, (start / self.page_bytes * ENTRY) as u64)?;
        // Source: Documentation/admin-guide/mm/pagemap.rst: bit 63 is set if the page is in memory.
        let (entries, _) = entries.as_chunks::<ENTRY>();
        let pages = entries.iter().filter(|entry| u64::from_ne_bytes(**entry) >> 63 == 1).count();
        Ok(Resident { pages, of: entries.len() })
    }
}

/// The addresses on a line of `/proc/self/maps`, if the memory is private, without a file, and not the stack of the
/// first thread.
///
/// Source: proc_pid_maps(5): addresses, permissions, offset, device, inode, name.
fn private_memory(line: &str) -> Option<Range<usize>> {
    let mut words = line.split_ascii_whitespace();
    let (start, end) = words.next()?.split_once('-')?;
    let [permissions, _offset, _device, inode] = [words.next()?, words.next()?, words.next()?, words.next()?];
    let name = words.next().unwrap_or_default();
    let is_ours = permissions == "rw-p" && inode == "0";
    let is_allocated = name.is_empty() || name == "[heap]" || name.starts_with("[anon:");
    let address = |text| usize::from_str_radix(text, 16).ok();
    if is_ours && is_allocated { Some(address(start)?..address(end)?) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_that_is_allocated_is_told_from_files_stacks_and_what_may_not_be_written() {
        let ours = [
            "7f12a0000000-7f12a0400000 rw-p 00000000 00:00 0 ",
            "55d0c0000000-55d0c0021000 rw-p 00000000 00:00 0                          [heap]",
            "7f12b0000000-7f12b0400000 rw-p 00000000 00:00 0                          [anon:mimalloc]",
        ];
        assert_eq!(private_memory(ours[0]), Some(0x7f12_a000_0000..0x7f12_a040_0000));
        assert!(ours.iter().all(|line| private_memory(line).is_some()));
        let others = [
            "7f12a0000000-7f12a0400000 ---p 00000000 00:00 0 ",
            "7f12a0000000-7f12a0400000 r--p 00000000 00:00 0 ",
            "7f12a0000000-7f12a0400000 rw-s 00000000 00:01 2051       /dev/zero (deleted)",
            "7f12a0000000-7f12a0400000 rw-p 00000000 08:01 131        /usr/lib/libc.so.6",
            "7ffc10000000-7ffc10021000 rw-p 00000000 00:00 0                          [stack]",
            "",
            "not a line",
        ];
        assert!(others.iter().all(|line| private_memory(line).is_none()));
    }
}
