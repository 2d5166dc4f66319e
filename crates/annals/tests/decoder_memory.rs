//! The decoder makes room for what it finds, not for what a damaged length claims. Alone in this file: it measures the
//! process.

use std::sync::Arc;

use annals::log::{Log, MemoryLog};
use annals::{ErrorKind, Options, Position, Repository};

/// Each claim is about as large as what follows it, which is all that is checked.
const RECORD_BYTES: usize = 16 << 20;
/// A record in memory, a few times, and the threads of a repository.
const EXTRA_BYTES_MAX: usize = 160 << 20;

// CBOR: a map of one, a map of two, an array of one, and the tag of a set.
const MAP_1: u8 = 0xa1;
const MAP_2: u8 = 0xa2;
const ARRAY_1: u8 = 0x81;
const SET: [u8; 3] = [0xd9, 0x01, 0x02];
// Keys of a record and of a change (docs/formats.md).
const NAMES: u8 = 4;
const CHANGES: u8 = 5;
const PROPERTIES: u8 = 3;

/// Most address space that this process ever had. Units: bytes.
fn peak_bytes() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmPeak:")).unwrap();
    let kibibytes: usize = line.trim().trim_end_matches("kB").trim().parse().unwrap();
    kibibytes << 10
}

/// The head of an array (major type 4) or a map (5) that claims to be almost as long as the record.
fn claim(major: u8) -> Vec<u8> {
    let length = u32::try_from(RECORD_BYTES - 256).unwrap();
    [&[major << 5 | 26][..], &length.to_be_bytes()].concat()
}

// A review found that 64 MiB of damaged record reserved 1 to 3 GiB, and once more with each level of nesting.
#[test]
fn a_claimed_length_makes_no_room() {
    let properties = [MAP_2, NAMES, ARRAY_1, 0x61, b'a', CHANGES, ARRAY_1, MAP_1, PROPERTIES];
    let value = [&properties[..], &[MAP_1, 0]].concat();
    let cases = [
        ("names", [&[MAP_1, NAMES][..], &claim(4)].concat()),
        ("properties", [&properties[..], &claim(5)].concat()),
        ("list", [&value[..], &claim(4).repeat(8)].concat()),
        ("set", [&value[..], &SET, &claim(4)].concat()),
    ];
    for (name, mut record) in cases {
        // A break that breaks nothing off: the first item is already malformed.
        record.resize(RECORD_BYTES, 0xff);
        let log = MemoryLog::new();
        log.append(Position(1), &[&record]).unwrap();
        drop(record);
        let before = peak_bytes();
        let error = Repository::with_log(Arc::new(log), Options::default()).err().expect(name);
        assert_eq!(error.kind(), ErrorKind::Corrupted, "{name}: {error}");
        let extra = peak_bytes() - before;
        assert!(extra <= EXTRA_BYTES_MAX, "{name}: {} MiB", extra >> 20);
    }
}
