//! Memory moves onto huge pages and keeps its content; mostly empty memory stays.

use std::collections::BTreeSet;
use std::fs::read_to_string;
use std::io::ErrorKind;
use std::sync::Mutex;

use crate::behind::{BEHIND, Pace, Seen, Watch};
use crate::regions::Resident;

/// The number of allocated regions.
const REGIONS: usize = 8;
const NOW: Pace = Pace { rests: 0, refusals_max: usize::MAX };

/// The size of huge pages in the mappings of these addresses, from `/proc/self/smaps`. Units: bytes.
fn huge_bytes(start: usize, end: usize) -> usize {
    let smaps = read_to_string("/proc/self/smaps").unwrap();
    let mut is_within = false;
    let mut bytes = 0;
    for line in smaps.lines() {
        let first = line.split_ascii_whitespace().next().unwrap_or_default();
        if let Some((from, to)) = first.split_once('-') {
            let address = |text| usize::from_str_radix(text, 16).unwrap();
            is_within = address(from) < end && start < address(to);
        } else if is_within && first == "AnonHugePages:" {
            let kibibytes: usize = line.split_ascii_whitespace().nth(1).unwrap().parse().unwrap();
            bytes += kibibytes * 1024;
        }
    }
    bytes
}

/// The size of regions with this state at the last look. Units: bytes.
fn bytes(watch: &Watch, is_meant: fn(&Seen) -> bool) -> usize {
    watch.seen.values().filter(|seen| is_meant(seen)).count() * watch.regions.huge_bytes
}

fn moved_bytes(watch: &Watch) -> usize {
    bytes(watch, |seen| matches!(seen, Seen::Huge(_)))
}

fn refused_bytes(watch: &Watch) -> usize {
    bytes(watch, |seen| matches!(seen, Seen::Refused))
}

/// A watch of this process, unless the system has no huge pages: an old kernel, or one with huge pages turned off. Then
/// the test only checks the error.
fn watch(pace: Pace) -> Option<Watch> {
    Watch::new(pace)
        .inspect_err(|error| {
            assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
            eprintln!("not tested: {error}");
        })
        .ok()
}

#[test]
fn what_is_refused_keeps_nothing_else_waiting_for_ever() {
    const LOOKS: usize = 12;
    static ASKED: Mutex<Vec<usize>> = Mutex::new(Vec::new());
    let Some(mut watch) = watch(Pace { rests: 0, ..BEHIND }) else { return };
    watch.collapse = |start, _| {
        ASKED.lock().unwrap().push(start);
        Err(ErrorKind::WouldBlock.into())
    };
    let full = vec![1u8; 5 * BEHIND.refusals_max * watch.regions.huge_bytes];
    for _ in 0..LOOKS {
        watch.look().unwrap();
    }

    let asked = ASKED.lock().unwrap();
    assert_eq!(asked.len(), (LOOKS - 1) * BEHIND.refusals_max, "the first look only looks");
    let range = full.as_ptr_range();
    let within: BTreeSet<_> =
        asked.iter().filter(|start| (range.start as usize..range.end as usize).contains(start)).collect();
    assert!(within.len() >= 5 * BEHIND.refusals_max - 1, "{} of its regions were asked for", within.len());
}

#[test]
fn full_memory_moves_and_keeps_its_contents_and_what_is_half_empty_is_left_alone() {
    let Some(mut watch) = watch(NOW) else { return };
    let (page, huge) = (watch.regions.page_bytes, watch.regions.huge_bytes);
    let full: Vec<u64> = (0..(REGIONS * huge / 8) as u64).collect();
    // The test writes to every other page, so half of the memory is resident, unless the system uses huge pages for all
    // memory.
    let mut half = vec![0u8; REGIONS * huge];
    half.iter_mut().step_by(2 * page).for_each(|byte| *byte = 1);
    let half_start = half.as_ptr() as usize;
    let is_half = |start: &usize| half_start <= *start && *start + huge <= half_start + half.len();
    let resident_of_half = |watch: &Watch| -> Vec<Resident> {
        let starts = watch.regions.starts().unwrap();
        starts.into_iter().filter(is_half).map(|start| watch.regions.resident(start).unwrap()).collect()
    };
    let half_before = resident_of_half(&watch);

    watch.look().unwrap();
    assert_eq!((moved_bytes(&watch), refused_bytes(&watch)), (0, 0), "what was seen once may go again");
    watch.look().unwrap();

    let (moved, refused) = (moved_bytes(&watch), refused_bytes(&watch));
    let least = (REGIONS - 1) * huge;
    assert!(moved + refused >= least, "{moved} moved, {refused} refused");
    let full_start = full.as_ptr() as usize;
    let found = huge_bytes(full_start, full_start + full.len() * 8);
    assert!(found + refused >= least, "{found} bytes of it are on huge pages, {refused} refused");
    assert!((0..).zip(&full).all(|(expected, found)| expected == *found));
    assert_eq!((half_before.len() >= REGIONS - 1, resident_of_half(&watch)), (true, half_before));
}
