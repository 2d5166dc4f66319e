//! Cuts the power of a simulated disk at every operation of random histories and looks at what is left.
//!
//! A failure prints the seed of the history, the operation and the image; put them into `check_history` to repeat it.

use std::path::Path;
use std::sync::Arc;

use annals::log::{FileLog, FileOptions, Log, ReadLimit, Rewrite};
use annals::storage::simulated_disk::SimulatedDisk;
use annals::{Error, ErrorKind, Position, Result};

use crate::support::seeds;

const FOLDER: &str = "/log";
const OPTIONS: FileOptions = FileOptions { segment_bytes: 4096, verify_sealed: true, open_files_max: 4 };

/// The outcome that the writer of a history knows.
#[derive(Default)]
struct Told {
    /// Acknowledged records, at positions 1, 2, 3 …
    acknowledged: Vec<Vec<u8>>,
    /// The append call whose outcome is unknown, if the power was cut during one.
    in_doubt: Vec<Vec<u8>>,
}

fn next_random(state: &mut u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    let mixed = (*state ^ (*state >> 33)).wrapping_mul(0xFF51_AFD7_ED55_8CCD);
    mixed ^ (mixed >> 29)
}

fn open(disk: &SimulatedDisk) -> Result<FileLog> {
    FileLog::open_on(Arc::new(disk.clone()), FOLDER, OPTIONS)
}

fn read_all(log: &FileLog) -> Result<Vec<Vec<u8>>> {
    let mut records = Vec::new();
    loop {
        let read = log.read(Position(records.len() as u64 + 1), ReadLimit::default())?;
        if read.is_empty() {
            return Ok(records);
        }
        records.extend(read);
    }
}

/// One record: recognizable, of any length, sometimes with the bytes of a frame inside.
fn record(random: &mut u64, disk: &SimulatedDisk) -> Vec<u8> {
    let length = match next_random(random) % 10 {
        0 => 0,
        1..=6 => next_random(random) % 200,
        7 | 8 => next_random(random) % 1_500,
        _ => next_random(random) % 9_000,
    } as usize;
    if next_random(random).is_multiple_of(8) {
        // The first segment of this very log, as a backup inside a record would hold it.
        let backup = disk.contents(&Path::new(FOLDER).join("00000000000000000001.seg"));
        return backup.unwrap_or_default().into_iter().take(length).collect();
    }
    let byte = (next_random(random) % 256) as u8;
    (0..length).map(|number| byte.wrapping_add(number as u8)).collect()
}

/// Appends, reopens, rolls and rewrites, until `steps` are done or the power is cut.
fn write_history(disk: &SimulatedDisk, seed: u64, steps: u64, told: &mut Told) -> Result<()> {
    let mut random = seed;
    let mut log = open(disk)?;
    for _ in 0..steps {
        match next_random(&mut random) % 12 {
            0 => {
                drop(log);
                log = open(disk)?;
            }
            1 => log.roll()?,
            2 => rewrite_same(&log, &mut random)?,
            _ => {
                let count = if next_random(&mut random).is_multiple_of(3) {
                    1 + next_random(&mut random) % 5
                } else {
                    1
                };
                let records: Vec<Vec<u8>> = (0..count).map(|_| record(&mut random, disk)).collect();
                let slices: Vec<&[u8]> = records.iter().map(Vec::as_slice).collect();
                let at = Position(told.acknowledged.len() as u64 + 1);
                told.in_doubt.clone_from(&records);
                log.append(at, &slices)?;
                told.in_doubt.clear();
                told.acknowledged.extend(records);
            }
        }
    }
    Ok(())
}

/// Rewrites some segments with the same records: what is acknowledged must be there before, during and after.
fn rewrite_same(log: &FileLog, random: &mut u64) -> Result<()> {
    let sealed = log.seal()?;
    let one_in = 1 + next_random(random) % 40;
    let is_dropped = next_random(random).is_multiple_of(4);
    let rewritten = log.rewrite(sealed, &mut |position, record| {
        Ok(position.0.is_multiple_of(one_in).then(|| record.to_vec()))
    })?;
    if is_dropped { Ok(()) } else { rewritten.put_in_place() }
}

/// Checks that the disk holds all that was acknowledged, and the append call in doubt either whole or not at all.
fn check_image(left: &SimulatedDisk, told: &Told) -> Result<()> {
    let log = open(left)?;
    let found = read_all(&log)?;
    let all: Vec<Vec<u8>> = told.acknowledged.iter().chain(&told.in_doubt).cloned().collect();
    let is_right = found == told.acknowledged || found == all;
    assert!(
        is_right,
        "{} acknowledged, {} in doubt, {} found",
        told.acknowledged.len(),
        told.in_doubt.len(),
        found.len()
    );
    // It goes on, and stays: a second power cut right after takes nothing of it.
    let at = Position(found.len() as u64 + 1);
    log.append(at, &[b"after the power cut"])?;
    let again = open(&left.after_power_cut(1))?;
    let mut expected = found;
    expected.push(b"after the power cut".to_vec());
    assert_eq!(read_all(&again)?, expected);
    again.verify()?;
    Ok(())
}

fn check_history(seed: u64, operation: u64, image: u64) {
    let disk = SimulatedDisk::new();
    disk.cut_power_at(operation);
    let mut told = Told::default();
    let place = format!("seed {seed}, operation {operation}, image {image}");
    match write_history(&disk, seed, 40, &mut told) {
        Ok(()) => {}
        Err(error) => {
            assert!(matches!(error.kind(), ErrorKind::Unavailable | ErrorKind::Io), "{place}: {error}")
        }
    }
    let checked = std::panic::catch_unwind(|| check_image(&disk.after_power_cut(image), &told));
    match checked {
        Ok(Ok(())) => {}
        Ok(Err(error)) => panic!("{place}: {error:?}"),
        Err(_) => panic!("{place}: see above"),
    }
}

#[test]
fn a_power_cut_at_any_operation_loses_nothing_acknowledged_and_leaves_nothing_half() {
    for seed in seeds("LOG_CRASH_SEED", 2) {
        println!("seed {seed}");
        let disk = SimulatedDisk::new();
        write_history(&disk, seed, 40, &mut Told::default()).expect("a history without a power cut");
        for operation in 0..disk.operations_count() {
            for image in 0..3 {
                check_history(seed, operation, operation * 1_000 + image);
            }
        }
    }
}

/// Linux reports a failed sync once and then takes the lost pages for written. A log that trusted the page cache
/// when it was reopened would acknowledge records that are nowhere on the disk.
#[test]
fn records_found_after_a_failed_sync_and_a_reopening_survive_a_power_cut() {
    for failing in 0..40 {
        for image in 0..4 {
            let disk = SimulatedDisk::new();
            disk.fail_sync_at(failing);
            let mut told = Told::default();
            if write_history(&disk, 9, 12, &mut told).is_ok() {
                continue;
            }
            let log = open(&disk).expect("reopen after a failed sync");
            let found = read_all(&log).expect("read");
            assert!(found.len() >= told.acknowledged.len(), "failing sync {failing}");
            let left = open(&disk.after_power_cut(image)).unwrap_or_else(|error| {
                panic!("failing sync {failing}, image {image}: {error}");
            });
            assert_eq!(read_all(&left).expect("read"), found, "failing sync {failing}, image {image}");
        }
    }
}

/// Rewriting replaced one segment after the other, so that a power cut left a log of old and new ones.
#[test]
fn a_rewritten_log_is_the_old_or_the_new_one_and_once_acknowledged_the_new_one() {
    let new = |position: u64| vec![b'n'; position as usize];
    for operation in 0..30 {
        for image in 0..8 {
            let disk = SimulatedDisk::new();
            let log = open(&disk).expect("open");
            for position in 1..=9 {
                log.append(Position(position), &[&[position as u8; 100]]).expect("append");
                if position % 3 == 0 {
                    log.roll().expect("roll");
                }
            }
            let sealed = log.seal().expect("seal");
            disk.cut_power_at(disk.operations_count() + operation);
            let rewritten = log
                .rewrite(sealed, &mut |position, _| Ok(Some(new(position.0))))
                .and_then(|rewritten| rewritten.put_in_place());
            let found = read_all(&open(&disk.after_power_cut(image)).expect("open")).expect("read");
            let is_old = found == (1..=9u8).map(|number| vec![number; 100]).collect::<Vec<_>>();
            let is_new = found == (1..=9).map(new).collect::<Vec<_>>();
            assert!(is_new || is_old && rewritten.is_err(), "operation {operation}, image {image}");
        }
    }
}

/// A copy cut short is refused, or there is none at all; never does it pass for a shorter log.
#[test]
fn a_power_cut_while_copying_leaves_a_whole_copy_or_none() {
    for operation in 0..60 {
        for image in 0..8 {
            let disk = SimulatedDisk::new();
            let mut told = Told::default();
            write_history(&disk, 3, 40, &mut told).expect("a history without a power cut");
            let log = open(&disk).expect("open");
            disk.cut_power_at(disk.operations_count() + operation);
            let copied = log.copy_to("/copy", log.tail().expect("tail"));
            let left = Arc::new(disk.after_power_cut(image));
            match FileLog::open_on(left, "/copy", OPTIONS).and_then(|copy| read_all(&copy)) {
                Ok(found) => assert!(found == told.acknowledged || found.is_empty() && copied.is_err()),
                Err(error) => {
                    assert!(
                        copied.is_err() && matches!(error.kind(), ErrorKind::Corrupted | ErrorKind::Gap),
                        "{error}"
                    );
                }
            }
        }
    }
}

#[test]
fn a_full_disk_loses_nothing_acknowledged_and_leaves_nothing_half() {
    let whole = SimulatedDisk::new();
    write_history(&whole, 5, 40, &mut Told::default()).expect("a history without a fault");
    for failing in 0..whole.writes_count() {
        let disk = SimulatedDisk::new();
        disk.fail_write_at(failing);
        let mut told = Told::default();
        if let Err(error) = write_history(&disk, 5, 40, &mut told) {
            let kinds = [ErrorKind::Unavailable, ErrorKind::NoRoom, ErrorKind::Io];
            assert!(kinds.contains(&error.kind()), "write {failing}: {error}");
        }
        // The process goes on without a power cut, and room was made.
        check_image(&disk, &told).unwrap_or_else(|error| panic!("write {failing}: {error}"));
    }
}

/// Appends until 40 records are there. Shape: how often there was no room; `None` if only followers lost track.
fn append_stubbornly(log: &FileLog) -> Option<usize> {
    let mut refusals = 0;
    for position in 1..=40 {
        while let Err(error) = log.append(Position(position), &[&[position as u8; 300]]) {
            if error.text().contains("durable position") {
                return None;
            }
            assert_eq!(error.kind(), ErrorKind::NoRoom, "{error}");
            assert_eq!(log.tail().expect("tail"), Position(position - 1));
            refusals += 1;
            assert!(refusals < 3, "{error}");
        }
    }
    Some(refusals)
}

/// In the middle of a segment as well as at the start of the next one.
#[test]
fn after_a_failed_write_the_log_says_that_nothing_was_written_and_goes_on() {
    let expected: Vec<Vec<u8>> = (1..=40u8).map(|position| vec![position; 300]).collect();
    let whole = SimulatedDisk::new();
    append_stubbornly(&open(&whole).expect("open"));
    let mut refusals = 0;
    for failing in 0..whole.writes_count() {
        let disk = SimulatedDisk::new();
        disk.fail_write_at(failing);
        let Ok(log) = open(&disk) else { continue };
        let Some(found) = append_stubbornly(&log) else { continue };
        refusals += found;
        assert_eq!(read_all(&log).expect("read"), expected, "write {failing}");
        for image in 0..3 {
            let left = open(&disk.after_power_cut(image)).expect("reopen");
            assert_eq!(read_all(&left).expect("read"), expected, "write {failing}, image {image}");
        }
    }
    assert!(refusals >= 43, "found {refusals}: one for each record and for each new segment");
}

/// The power may fail right after the refusal: what was cut stays cut, and a new segment half-made does not come back.
#[test]
fn a_power_cut_after_a_failed_write_leaves_nothing_of_it() {
    let whole = SimulatedDisk::new();
    append_stubbornly(&open(&whole).expect("open"));
    for failing in 0..whole.writes_count() {
        let disk = SimulatedDisk::new();
        disk.fail_write_at(failing);
        let Ok(log) = open(&disk) else { continue };
        let acknowledged = (1..=40u64)
            .take_while(|position| log.append(Position(*position), &[&[*position as u8; 300]]).is_ok())
            .count();
        let expected: Vec<Vec<u8>> = (1..=acknowledged as u8).map(|position| vec![position; 300]).collect();
        for image in 0..8 {
            let left = open(&disk.after_power_cut(image)).expect("reopen");
            assert_eq!(read_all(&left).expect("read"), expected, "write {failing}, image {image}");
        }
        // A small record still fits where the large one did not.
        if log.append(Position(acknowledged as u64 + 1), &[b"small"]).is_ok() {
            for image in 0..8 {
                let left = open(&disk.after_power_cut(image)).expect("reopen");
                let found = read_all(&left).expect("read");
                assert_eq!(found.len(), acknowledged + 1, "write {failing}, image {image}");
            }
        }
    }
}

#[test]
fn probing_tells_when_there_is_room_again_and_changes_nothing_that_is_read() {
    let disk = SimulatedDisk::new();
    let log = open(&disk).expect("open");
    log.append(Position(1), &[b"a"]).expect("append");
    disk.fail_write_at(disk.writes_count());
    assert_eq!(log.append(Position(2), &[b"b"]).unwrap_err().kind(), ErrorKind::NoRoom);
    disk.fail_write_at(disk.writes_count());
    assert_eq!(log.probe().unwrap_err().kind(), ErrorKind::NoRoom);
    log.probe().expect("there is room");
    assert_eq!(read_all(&open(&disk.after_power_cut(1)).expect("reopen")).expect("read"), [b"a".to_vec()]);
    log.append(Position(2), &[b"b"]).expect("append");
    drop(log);
    assert_eq!(read_all(&open(&disk).expect("reopen")).expect("read"), [b"a".to_vec(), b"b".to_vec()]);
}

/// A failed sync is never retried, also if it is the one after a failed write.
#[test]
fn a_failed_sync_after_a_failed_write_refuses_until_reopened() {
    let disk = SimulatedDisk::new();
    let log = open(&disk).expect("open");
    log.append(Position(1), &[b"a"]).expect("append");
    disk.fail_write_at(disk.writes_count());
    disk.fail_sync_at(disk.syncs_count());
    for _ in 0..2 {
        assert_eq!(log.append(Position(2), &[b"b"]).unwrap_err().kind(), ErrorKind::Unavailable);
        assert_eq!(log.probe().unwrap_err().kind(), ErrorKind::Unavailable);
    }
}

/// Records of 100 bytes at the positions of `range`.
fn append_range(log: &FileLog, range: std::ops::RangeInclusive<u8>) {
    for position in range {
        log.append(Position(position.into()), &[&[position; 100]]).expect("append");
    }
}

/// File systems may tell only during a sync that there is no room. The zeros after the frames were synced together with
/// them, so that such a sync refused records for bytes that no record needs, until the log was reopened.
#[test]
fn a_failed_sync_of_reserved_zeros_costs_no_append() {
    let expected = |count: u8| (1..=count).map(|position| vec![position; 100]).collect::<Vec<_>>();
    let disk = SimulatedDisk::new();
    let log = open(&disk).expect("open");
    // The first sync of an append is that of its frames.
    disk.fail_sync_at(disk.syncs_count() + 1);
    append_range(&log, 1..=1);
    for image in 0..8 {
        let left = open(&disk.after_power_cut(image)).expect("reopen");
        assert_eq!(read_all(&left).expect("read"), expected(1), "image {image}");
    }
    append_range(&log, 2..=90);
    log.close().expect("close");
    for image in 0..8 {
        let left = open(&disk.after_power_cut(image)).expect("reopen");
        assert_eq!(read_all(&left).expect("read"), expected(90), "image {image}");
    }
}

/// A disk that is nearly full is not asked at every append.
#[test]
fn after_a_failed_sync_of_reserved_zeros_only_a_probe_or_a_new_segment_reserves_again() {
    let syncs_of = |disk: &SimulatedDisk, position: u8, log: &FileLog| {
        let before = disk.syncs_count();
        append_range(log, position..=position);
        disk.syncs_count() - before
    };
    for is_probed in [true, false] {
        let disk = SimulatedDisk::new();
        let log = open(&disk).expect("open");
        disk.fail_sync_at(disk.syncs_count() + 1);
        append_range(&log, 1..=1);
        assert_eq!([2, 3, 4].map(|position| syncs_of(&disk, position, &log)), [1, 1, 1]);
        if is_probed {
            // The zeros of the probe itself are there; the next append overwrites them.
            log.probe().expect("there is room");
            let path = Path::new(FOLDER).join("00000000000000000001.seg");
            let left = disk.after_power_cut(1).contents(&path).map(|bytes| bytes.len());
            assert_eq!(left, disk.contents(&path).map(|bytes| bytes.len()), "synced");
            assert_eq!(syncs_of(&disk, 5, &log), 1);
        } else {
            log.roll().expect("roll");
            assert_eq!(syncs_of(&disk, 5, &log), 2, "of the frames and of the zeros");
            assert_eq!(syncs_of(&disk, 6, &log), 1);
        }
    }
}

#[test]
fn a_probe_whose_zeros_cannot_be_synced_says_so_and_appends_go_on() {
    let disk = SimulatedDisk::new();
    let log = open(&disk).expect("open");
    append_range(&log, 1..=1);
    disk.fail_sync_at(disk.syncs_count());
    assert_eq!(log.probe().unwrap_err().kind(), ErrorKind::Io);
    append_range(&log, 2..=40);
    for image in 0..8 {
        let left = open(&disk.after_power_cut(image)).expect("reopen");
        assert_eq!(read_all(&left).expect("read").len(), 40, "image {image}");
    }
}

#[test]
fn after_a_failed_sync_every_append_is_refused_until_reopened() {
    let disk = SimulatedDisk::new();
    let log = open(&disk).expect("open");
    log.append(Position(1), &[b"a"]).expect("append");
    disk.fail_sync_at(disk.syncs_count());
    let kinds: Vec<ErrorKind> =
        (0..3).map(|_| log.append(Position(2), &[b"b"]).unwrap_err().kind()).collect();
    assert_eq!(kinds, [ErrorKind::Unavailable; 3]);
    let text = log.append(Position(2), &[b"b"]).map_err(|error: Error| error.to_string()).unwrap_err();
    assert!(text.contains("reopen"), "{text}");
    // Readers see what is durable, and nothing of what failed.
    assert_eq!(log.tail().expect("tail"), Position(1));
    assert_eq!(read_all(&log).expect("read"), [b"a".to_vec()]);
    drop(log);
    open(&disk).expect("reopen").append(Position(3), &[b"c"]).expect("append after the record that was kept");
}

#[test]
fn a_follower_never_sees_what_is_not_synced() {
    let disk = SimulatedDisk::new();
    let log = open(&disk).expect("open");
    let follower = FileLog::open_read_only_on(Arc::new(disk.clone()), FOLDER, OPTIONS).expect("follow");
    log.append(Position(1), &[b"a"]).expect("append");
    disk.fail_sync_at(disk.syncs_count());
    log.append(Position(2), &[b"b"]).expect_err("the sync fails");
    assert_eq!(read_all(&follower).expect("read"), [b"a".to_vec()]);
    assert_eq!(follower.tail().expect("tail"), Position(1));
}

/// The simulator itself: without a sync, a write may be lost.
#[test]
fn the_simulator_loses_what_was_not_synced() {
    use annals::storage::Disk;
    let disk = SimulatedDisk::new();
    let path = Path::new("/folder/file");
    let file = disk.create(path).expect("create");
    file.write_at(b"synced", 0).expect("write");
    file.sync_all().expect("sync");
    disk.sync_folder(Path::new("/folder")).expect("sync");
    file.write_at(b"change", 0).expect("write");
    let left: std::collections::BTreeSet<Option<Vec<u8>>> =
        (0..50).map(|seed| disk.after_power_cut(seed).contents(path)).collect();
    assert_eq!(left, [Some(b"synced".to_vec()), Some(b"change".to_vec())].into());
}
