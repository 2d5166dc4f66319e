//! Follows, replaces, copies and verifies a file log while it is written.

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};

use annals::log::{FileLog, FileOptions, Log, ReadLimit, Verified};
use annals::{Error, ErrorKind, Position};
use tempfile::TempDir;

const OPTIONS: FileOptions = FileOptions { segment_bytes: 4096, verify_sealed: false, open_files_max: 2 };

fn folder() -> TempDir {
    tempfile::tempdir().expect("temporary folder")
}

fn record(position: u64) -> Vec<u8> {
    format!("record {position} ").into_bytes().repeat(1 + (position % 20) as usize)
}

fn append_upto(log: &FileLog, last: u64) {
    for position in log.tail().expect("tail").0 + 1..=last {
        log.append(Position(position), &[&record(position)]).expect("append");
    }
}

fn read_from(log: &FileLog, first: u64) -> Vec<Vec<u8>> {
    let mut records = Vec::new();
    loop {
        let read = log.read(Position(first + records.len() as u64), ReadLimit::default()).expect("read");
        if read.is_empty() {
            return records;
        }
        records.extend(read);
    }
}

fn records(range: std::ops::RangeInclusive<u64>) -> Vec<Vec<u8>> {
    range.map(record).collect()
}

#[test]
fn a_follower_sees_appends_and_new_segments() {
    let origin = folder();
    let log = FileLog::open_with(origin.path(), OPTIONS).expect("open");
    let follower = FileLog::open_read_only(origin.path()).expect("follow");
    assert_eq!(follower.tail().expect("tail"), Position::ZERO);
    for last in [1, 2, 50, 51, 400] {
        append_upto(&log, last);
        assert_eq!(follower.read(Position(last), ReadLimit::ONE).expect("read"), [record(last)]);
        assert_eq!(follower.tail().expect("tail"), Position(last));
        assert_eq!(read_from(&follower, 1), records(1..=last));
    }
    assert!(log.segments().expect("segments").len() > 5);
    assert_eq!(follower.segments().expect("segments"), log.segments().expect("segments"));
    assert_eq!(follower.append(Position(401), &[b"x"]).expect_err("read-only").kind(), ErrorKind::ReadOnly);
    assert_eq!(follower.roll().expect_err("read-only").kind(), ErrorKind::ReadOnly);
}

/// A follower sees a written record before the writer has synced it, as the file shows it. If it took note of it, and a
/// power cut took the record away, it would look for the next ones at the wrong place.
#[test]
fn a_follower_takes_no_note_of_records_beyond_the_durable_position() {
    let origin = folder();
    let segment = origin.path().join("00000000000000000001.seg");
    let mark = origin.path().join("durable");
    append_upto(&FileLog::open(origin.path()).expect("open"), 3);
    let (three, three_durable) = (fs::read(&segment).expect("read"), fs::read(&mark).expect("read"));
    append_upto(&FileLog::open(origin.path()).expect("open"), 4);
    fs::write(&mark, three_durable).expect("write");
    let follower = FileLog::open_read_only(origin.path()).expect("follow");
    assert_eq!(read_from(&follower, 1), records(1..=3));
    fs::write(&segment, three).expect("write");
    let log = FileLog::open(origin.path()).expect("open");
    log.append(Position(4), &[b"another one"]).expect("append");
    append_upto(&log, 6);
    assert_eq!(read_from(&follower, 4), [b"another one".to_vec(), record(5), record(6)]);
}

#[test]
fn a_follower_beside_a_busy_writer_reads_dense_whole_records() {
    let origin = folder();
    let log = FileLog::open_with(origin.path(), OPTIONS).expect("open");
    let follower =
        FileLog::open_read_only_on(std::sync::Arc::new(annals::log::RealDisk), origin.path(), OPTIONS)
            .expect("follow");
    std::thread::scope(|scope| {
        scope.spawn(|| append_upto(&log, 600));
        let mut next = 1;
        while next <= 600 {
            for found in follower.read(Position(next), ReadLimit::default()).expect("read") {
                assert_eq!(found, record(next));
                next += 1;
            }
        }
    });
}

#[test]
fn read_only_needs_a_log_and_its_durable_position() {
    let origin = folder();
    let kind = |folder: &std::path::Path| FileLog::open_read_only(folder).expect_err("refused").kind();
    assert_eq!(kind(&origin.path().join("nowhere")), ErrorKind::NotFound);
    assert_eq!(kind(origin.path()), ErrorKind::NotFound);
    append_upto(&FileLog::open(origin.path()).expect("open"), 3);
    fs::write(origin.path().join("durable"), b"garbled").expect("write");
    assert_eq!(kind(origin.path()), ErrorKind::Unavailable);
    fs::remove_file(origin.path().join("durable")).expect("remove");
    assert_eq!(kind(origin.path()), ErrorKind::Unavailable);
    drop(FileLog::open(origin.path()).expect("a writer puts it right"));
    assert_eq!(read_from(&FileLog::open_read_only(origin.path()).expect("follow"), 1), records(1..=3));
}

fn purged(first: u64, last: u64) -> Vec<Result<(Position, Vec<u8>), Error>> {
    (first..=last).map(|position| Ok((Position(position), b"purged".to_vec()))).collect()
}

#[test]
fn a_replaced_segment_shows_its_records_to_all_and_after_reopening() {
    let origin = folder();
    let log = FileLog::open_with(origin.path(), OPTIONS).expect("open");
    append_upto(&log, 200);
    let follower = FileLog::open_read_only(origin.path()).expect("follow");
    assert_eq!(read_from(&follower, 1), records(1..=200));
    let segment = log.segments().expect("segments").swap_remove(1);
    log.replace_segment(segment.first, purged(segment.first.0, segment.last.0)).expect("replace");
    let mut expected = records(1..=200);
    expected[segment.first.0 as usize - 1..segment.last.0 as usize].fill(b"purged".to_vec());
    assert_eq!(read_from(&log, 1), expected);
    follower.tail().expect("poll");
    assert_eq!(read_from(&follower, 1), expected);
    log.verify().expect("verify");
    drop(log);
    let log =
        FileLog::open_with(origin.path(), FileOptions { verify_sealed: true, ..OPTIONS }).expect("reopen");
    assert_eq!(read_from(&log, 1), expected);
}

/// Between two polls of a follower, its last segment may grow, be sealed and another one be replaced.
#[test]
fn a_follower_catches_up_over_growth_rolls_and_replacements_at_once() {
    let origin = folder();
    let log = FileLog::open_with(origin.path(), OPTIONS).expect("open");
    let follower = FileLog::open_read_only(origin.path()).expect("follow");
    let mut expected = Vec::new();
    for last in [10, 37, 64, 150, 151, 260] {
        append_upto(&log, last);
        expected.extend(records(expected.len() as u64 + 1..=last));
        let sealed: Vec<_> =
            log.segments().expect("segments").into_iter().filter(|segment| segment.is_sealed).collect();
        if let Some(segment) = sealed.first() {
            log.replace_segment(segment.first, purged(segment.first.0, segment.last.0)).expect("replace");
            expected[segment.first.0 as usize - 1..segment.last.0 as usize].fill(b"purged".to_vec());
        }
        assert_eq!(follower.tail().expect("poll"), Position(last));
        assert_eq!(read_from(&follower, 1), expected);
    }
}

#[test]
fn a_wrong_replacement_changes_nothing() {
    let origin = folder();
    let log = FileLog::open_with(origin.path(), OPTIONS).expect("open");
    append_upto(&log, 200);
    let segments = log.segments().expect("segments");
    let (first, last) = (segments[1].first.0, segments[1].last.0);
    let refused = |at: u64, records| log.replace_segment(Position(at), records).expect_err("refused").kind();
    assert_eq!(refused(first, purged(first, last - 1)), ErrorKind::InvalidArgument);
    assert_eq!(refused(first, purged(first, last + 1)), ErrorKind::InvalidArgument);
    assert_eq!(refused(first, purged(first + 1, last)), ErrorKind::InvalidArgument);
    assert_eq!(refused(first + 1, purged(first, last)), ErrorKind::NotFound);
    let active = segments.last().expect("a segment").first.0;
    assert_eq!(refused(active, purged(active, 200)), ErrorKind::InvalidArgument);
    let failing = vec![Err(Error::new(ErrorKind::Busy, "the source failed"))];
    assert_eq!(refused(first, failing), ErrorKind::Busy);
    assert_eq!(read_from(&log, 1), records(1..=200));
    let names = fs::read_dir(origin.path()).expect("list").map(|entry| entry.expect("entry").file_name());
    assert!(names.into_iter().all(|name| !name.to_string_lossy().ends_with(".tmp")));
    append_upto(&log, 201);
}

#[test]
fn reads_beside_replacements_see_the_old_or_the_new_record() {
    let origin = folder();
    let log = FileLog::open_with(origin.path(), OPTIONS).expect("open");
    append_upto(&log, 300);
    let follower =
        FileLog::open_read_only_on(std::sync::Arc::new(annals::log::RealDisk), origin.path(), OPTIONS)
            .expect("follow");
    let is_done = AtomicBool::new(false);
    let check = |log: &FileLog| {
        while !is_done.load(Ordering::Relaxed) {
            for (position, found) in (1..).zip(read_from(log, 1)) {
                assert!(found == record(position) || found == b"purged", "position {position}");
            }
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(|| check(&log));
        scope.spawn(|| check(&follower));
        for segment in log.segments().expect("segments").iter().filter(|segment| segment.is_sealed) {
            log.replace_segment(segment.first, purged(segment.first.0, segment.last.0)).expect("replace");
        }
        append_upto(&log, 320);
        is_done.store(true, Ordering::Relaxed);
    });
    assert_eq!(read_from(&follower, 1), read_from(&log, 1));
}

#[test]
fn a_copy_holds_exactly_the_records_asked_for_while_appends_go_on() {
    let origin = folder();
    let log = FileLog::open_with(origin.path(), OPTIONS).expect("open");
    append_upto(&log, 250);
    let targets = folder();
    std::thread::scope(|scope| {
        scope.spawn(|| append_upto(&log, 400));
        for upto in [0, 1, 100, 249, 250] {
            let target = targets.path().join(upto.to_string());
            log.copy_to(&target, Position(upto)).expect("copy");
            let read_only = FileLog::open_read_only(&target).expect("open the copy read-only");
            assert_eq!(read_from(&read_only, 1), records(1..=upto));
            let copy = FileLog::open_with(&target, OPTIONS).expect("open the copy");
            assert_eq!(read_from(&copy, 1), records(1..=upto));
            assert_eq!(copy.verify().expect("verify").records_count, upto);
            append_upto(&copy, upto + 1);
        }
    });
    assert_eq!(
        log.copy_to(targets.path().join("1"), Position(1)).expect_err("taken").kind(),
        ErrorKind::AlreadyExists
    );
    let beyond = log.copy_to(targets.path().join("new"), Position(999)).expect_err("beyond the tail");
    assert_eq!(beyond.kind(), ErrorKind::NotFound);
}

#[test]
fn a_copy_cut_short_is_refused() {
    let origin = folder();
    let log = FileLog::open_with(origin.path(), OPTIONS).expect("open");
    append_upto(&log, 200);
    let target = folder();
    log.copy_to(target.path(), Position(200)).expect("copy");
    let last = log.segments().expect("segments").pop().expect("a segment");
    fs::remove_file(target.path().join(last.path.file_name().expect("a name"))).expect("remove");
    assert_eq!(FileLog::open(target.path()).expect_err("cut short").kind(), ErrorKind::Corrupted);
}

#[test]
fn verify_counts_what_it_read() {
    let origin = folder();
    let log = FileLog::open_with(origin.path(), OPTIONS).expect("open");
    append_upto(&log, 200);
    let segments = log.segments().expect("segments");
    let bytes = segments.iter().map(|segment| segment.bytes).sum();
    let expected = Verified { segments_count: segments.len() as u64, records_count: 200, bytes };
    assert_eq!(log.verify().expect("verify"), expected);
    let payloads: u64 = (1..=200).map(|position| record(position).len() as u64 + 28).sum();
    assert_eq!(bytes, payloads + 32 * segments.len() as u64);
}

#[test]
fn a_record_larger_than_a_segment_gets_its_own() {
    let origin = folder();
    let log = FileLog::open_with(origin.path(), OPTIONS).expect("open");
    log.append(Position(1), &[b"small"]).expect("append");
    log.append(Position(2), &[&[7; 10_000]]).expect("append");
    log.append(Position(3), &[b"small"]).expect("append");
    let firsts: Vec<u64> = log.segments().expect("segments").iter().map(|segment| segment.first.0).collect();
    assert_eq!(firsts, [1, 2, 3]);
    assert_eq!(read_from(&log, 1), [b"small".to_vec(), vec![7; 10_000], b"small".to_vec()]);
}
