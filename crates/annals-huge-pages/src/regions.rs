//! Which memory of the process may stand on huge pages, and how much of it is resident.

use std::fs::{File, read_to_string};
use std::io::Result;
use std::ops::Range;
use std::os::unix::fs::FileExt;

use crate::advice::page_bytes;
use crate::unsupported;

/// The bytes that `/proc/self/pagemap` has for a page.
const ENTRY: usize = 8;

/// The memory of this process, in regions as long as a huge page, at addresses that are multiples of it.
pub struct Regions {
    pagemap: File,
    page_bytes: usize,
    pub huge_bytes: usize,
}

impl Regions {
    /// Errors: `Unsupported` if the system has no huge pages; those of opening `/proc/self/pagemap`.
    pub fn new() -> Result<Regions> {
        let path = "/sys/kernel/mm/transparent_hugepage/hpage_pmd_size";
        let size = read_to_string(path).ok().and_then(|text| text.trim().parse().ok());
        let huge_bytes = size.ok_or_else(|| unsupported(&format!("expected their size in {path}")))?;
        Ok(Regions { pagemap: File::open("/proc/self/pagemap")?, page_bytes: page_bytes(), huge_bytes })
    }

    /// Where all regions begin that the process has for itself and may write to.
    pub fn starts(&self) -> Result<Vec<usize>> {
        let maps = read_to_string("/proc/self/maps")?;
        let whole = |range: Range<usize>| {
            let first = range.start.next_multiple_of(self.huge_bytes);
            (first..(range.end + 1).saturating_sub(self.huge_bytes)).step_by(self.huge_bytes)
        };
        Ok(maps.lines().filter_map(private_memory).flat_map(whole).collect())
    }

    /// How many of the pages of a region are resident, and how many it has.
    pub fn resident(&self, start: usize) -> Result<(usize, usize)> {
        let mut entries = vec![0; self.huge_bytes / self.page_bytes * ENTRY];
        self.pagemap.read_exact_at(&mut entries, (start / self.page_bytes * ENTRY) as u64)?;
        // Source: Documentation/admin-guide/mm/pagemap.rst: bit 63 is set if the page is in memory.
        let (entries, _) = entries.as_chunks::<ENTRY>();
        let resident = entries.iter().filter(|entry| u64::from_ne_bytes(**entry) >> 63 == 1).count();
        Ok((resident, entries.len()))
    }
}

/// The addresses on a line of `/proc/self/maps`, if it is of memory that is nobody else's, no file's and no stack's.
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
