//! Follows, replaces, copies and verifies a file log while it is written.

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};

use annals::log::{FileLog, FileOptions, Log, ReadLimit, Rewrite, Verified};
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
    let at_work = fs::File::open(origin.path().join("lock")).expect("open");
    at_work.lock().expect("lock");
    let follower = FileLog::open_read_only(origin.path()).expect("follow");
    assert_eq!(read_from(&follower, 1), records(1..=3));
    drop(at_work);
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
        FileLog::open_read_only_on(std::sync::Arc::new(annals::storage::RealDisk), origin.path(), OPTIONS)
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

/// Puts other records in the place of those from `first` to `last`, and says what a rewriting does with the others.
fn purge(log: &FileLog, first: Position, last: Position) {
    let sealed = log.seal().expect("seal");
    let rewritten = log.rewrite(sealed, &mut |position, _| {
        Ok((first..=last).contains(&position).then(|| b"purged".to_vec()))
    });
    let rewritten = rewritten.expect("rewrite");
    assert_eq!(rewritten.report().records_count, last.0 - first.0 + 1);
    rewritten.put_in_place().expect("put in place");
}

#[test]
fn a_rewritten_log_shows_its_records_to_all_and_after_reopening() {
    let origin = folder();
    let log = FileLog::open_with(origin.path(), OPTIONS).expect("open");
    append_upto(&log, 200);
    let follower = FileLog::open_read_only(origin.path()).expect("follow");
    assert_eq!(read_from(&follower, 1), records(1..=200));
    let segment = log.segments().expect("segments").swap_remove(1);
    purge(&log, segment.first, segment.last);
    let mut expected = records(1..=200);
    expected[segment.first.0 as usize - 1..segment.last.0 as usize].fill(b"purged".to_vec());
    assert_eq!(read_from(&log, 1), expected);
    follower.tail().expect("poll");
    assert_eq!(read_from(&follower, 1), expected);
    assert_eq!((log.generation(), follower.generation()), (1, 1));
    assert!(!segment.path.exists(), "the bytes of the log before are gone");
    log.verify().expect("verify");
    drop(log);
    let log =
        FileLog::open_with(origin.path(), FileOptions { verify_sealed: true, ..OPTIONS }).expect("reopen");
    assert_eq!(read_from(&log, 1), expected);
}

/// Between two polls of a follower, its last segment may grow, be sealed and another one be rewritten.
#[test]
fn a_follower_catches_up_over_growth_rolls_and_rewritings_at_once() {
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
            purge(&log, segment.first, segment.last);
            expected[segment.first.0 as usize - 1..segment.last.0 as usize].fill(b"purged".to_vec());
        }
        assert_eq!(follower.tail().expect("poll"), Position(last));
        assert_eq!(read_from(&follower, 1), expected);
    }
}

#[test]
fn a_rewriting_that_is_not_put_in_place_changes_nothing() {
    let origin = folder();
    let log = FileLog::open_with(origin.path(), OPTIONS).expect("open");
    append_upto(&log, 200);
    let sealed = log.seal().expect("seal");
    let names = || {
        let mut names: Vec<_> = fs::read_dir(origin.path())
            .expect("list")
            .map(|entry| entry.expect("entry").file_name())
            .collect();
        names.sort();
        names
    };
    let before = names();
    let rewritten = log.rewrite(sealed, &mut |_, _| Ok(Some(b"new".to_vec()))).expect("rewrite");
    assert_eq!(rewritten.read(Position(7), ReadLimit::ONE).expect("read"), [b"new".to_vec()]);
    let busy = log.rewrite(sealed, &mut |_, _| Ok(None)).err().expect("one at a time");
    assert_eq!(busy.kind(), ErrorKind::Busy);
    append_upto(&log, 201);
    assert_eq!(rewritten.read(Position(201), ReadLimit::ONE).expect("read"), [record(201)]);
    assert_eq!(rewritten.append(Position(202), &[b"x"]).expect_err("prepared").kind(), ErrorKind::ReadOnly);
    drop(rewritten);
    assert_eq!((names(), log.generation()), (before.clone(), 0));
    let failing = log.rewrite(sealed, &mut |position, _| match position {
        Position(150) => Err(Error::new(ErrorKind::NotFound, "the source failed")),
        _ => Ok(Some(b"new".to_vec())),
    });
    assert_eq!(failing.err().expect("it fails").kind(), ErrorKind::NotFound);
    assert_eq!(names(), before);
    let beyond = log.rewrite(Position(201), &mut |_, _| Ok(None)).err().expect("not sealed");
    assert_eq!(beyond.kind(), ErrorKind::InvalidArgument);
    assert_eq!(read_from(&log, 1), records(1..=201));
    drop(log);
    assert_eq!(read_from(&FileLog::open_with(origin.path(), OPTIONS).expect("reopen"), 1), records(1..=201));
}

/// A crash during a rewriting leaves files that no manifest names.
#[test]
fn leftovers_of_a_rewriting_are_not_read_and_removed_by_the_next_writer() {
    let origin = folder();
    let log = FileLog::open_with(origin.path(), OPTIONS).expect("open");
    append_upto(&log, 200);
    let sealed = log.seal().expect("seal");
    let rewritten = log.rewrite(sealed, &mut |_, _| Ok(Some(b"new".to_vec()))).expect("rewrite");
    let crashed = folder();
    for entry in fs::read_dir(origin.path()).expect("list") {
        let entry = entry.expect("entry");
        fs::copy(entry.path(), crashed.path().join(entry.file_name())).expect("copy");
    }
    drop(rewritten);
    drop(log);
    let leftover = crashed.path().join("00000000000000000001-0000000001.seg");
    assert!(leftover.exists());
    assert_eq!(read_from(&FileLog::open_read_only(crashed.path()).expect("open"), 1), records(1..=200));
    assert_eq!(read_from(&FileLog::open_with(crashed.path(), OPTIONS).expect("open"), 1), records(1..=200));
    assert!(!leftover.exists());
}

#[test]
fn reads_beside_rewritings_see_the_old_or_the_new_record() {
    let origin = folder();
    let log = FileLog::open_with(origin.path(), OPTIONS).expect("open");
    append_upto(&log, 300);
    let follower =
        FileLog::open_read_only_on(std::sync::Arc::new(annals::storage::RealDisk), origin.path(), OPTIONS)
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
            purge(&log, segment.first, segment.last);
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
    assert_ne!(FileLog::open_read_only(target.path()).expect("open").id(), log.id(), "a log of its own");
    let copy = FileLog::open_read_only(target.path()).expect("open");
    let last = copy.segments().expect("segments").pop().expect("a segment");
    fs::remove_file(last.path).expect("remove");
    assert_eq!(FileLog::open(target.path()).expect_err("cut short").kind(), ErrorKind::Corrupted);
}

/// A copy that was killed half-way was in the way of the next one, and had to be removed by hand.
#[test]
fn the_next_copy_replaces_one_that_was_cut_short() {
    let origin = folder();
    let log = FileLog::open_with(origin.path(), OPTIONS).expect("open");
    append_upto(&log, 200);
    let target = folder();
    log.copy_to(target.path(), Position(200)).expect("copy");
    fs::write(target.path().join("copying"), b"").expect("write");
    fs::remove_file(target.path().join("manifest")).expect("remove");
    for error in [FileLog::open(target.path()), FileLog::open_read_only(target.path())] {
        assert_eq!(error.expect_err("cut short").kind(), ErrorKind::Corrupted);
    }
    log.copy_to(target.path(), Position(150)).expect("copy again");
    assert_eq!(read_from(&FileLog::open(target.path()).expect("open"), 1), records(1..=150));
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
    let payloads: u64 = (1..=200).map(|position| record(position).len() as u64 + 32).sum();
    assert_eq!(bytes, payloads + 64 * segments.len() as u64);
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
