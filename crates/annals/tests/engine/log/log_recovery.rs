//! Damages files of a log in every way and looks at what opening makes of it.

use std::fs;
use std::path::{Path, PathBuf};

use annals::log::{FileLog, FileOptions, Log, ReadLimit};
use annals::{Error, ErrorKind, Position};
use tempfile::TempDir;

const OPTIONS: FileOptions = FileOptions { segment_bytes: 4096, verify_sealed: true, open_files_max: 8 };
const FIRST_SEGMENT: &str = "00000000000000000001.seg";
const SEGMENT_HEADER_BYTES: usize = 64;
const FRAME_HEADER_BYTES: usize = 32;

fn folder() -> TempDir {
    tempfile::tempdir().expect("temporary folder")
}

/// A folder with nothing but the manifest of the log in `origin`: a log of which only that is known.
fn folder_like(origin: &TempDir) -> TempDir {
    let left = folder();
    fs::copy(origin.path().join("manifest"), left.path().join("manifest")).expect("copy the manifest");
    left
}

fn open(folder: impl AsRef<Path>) -> Result<FileLog, Error> {
    FileLog::open_with(folder, OPTIONS)
}

fn read_all(log: &FileLog) -> Result<Vec<Vec<u8>>, Error> {
    let mut records = Vec::new();
    loop {
        let read = log.read(Position(records.len() as u64 + 1), ReadLimit::default())?;
        if read.is_empty() {
            return Ok(records);
        }
        records.extend(read);
    }
}

/// Writes the append calls and closes the log in order. Returns all records.
fn write(folder: &Path, calls: &[&[&[u8]]]) -> Vec<Vec<u8>> {
    let log = open(folder).expect("open");
    let mut records: Vec<Vec<u8>> = Vec::new();
    for call in calls {
        log.append(Position(records.len() as u64 + 1), call).expect("append");
        records.extend(call.iter().map(|record| record.to_vec()));
    }
    log.close().expect("close");
    records
}

/// Three calls in one segment; the last has two records.
const CALLS: &[&[&[u8]]] = &[&[b"one"], &[b"two", b"three"], &[b"four, of the last call", b"five"]];
const LAST_CALL_BYTES: usize = 2 * FRAME_HEADER_BYTES + 22 + 4;

fn write_segments(folder: &Path, segments: u64) -> Vec<Vec<u8>> {
    let log = open(folder).expect("open");
    let mut records = Vec::new();
    for segment in 0..segments {
        for number in 0..3 {
            let record = format!("segment {segment}, record {number}").into_bytes();
            log.append(Position(records.len() as u64 + 1), &[&record]).expect("append");
            records.push(record);
        }
        if segment + 1 < segments {
            log.roll().expect("roll");
        }
    }
    records
}

fn segment_path(folder: &Path, first: u64) -> PathBuf {
    folder.join(format!("{first:020}.seg"))
}

fn open_error(folder: &Path) -> Error {
    match open(folder).and_then(|log| read_all(&log)) {
        Ok(records) => panic!("expected an error, read {} records", records.len()),
        Err(error) => error,
    }
}

#[test]
fn torn_last_call_is_cut_whole_at_every_byte() {
    let origin = folder();
    let records = write(origin.path(), CALLS);
    let whole = fs::read(origin.path().join(FIRST_SEGMENT)).expect("read");
    let last_call = whole.len() - LAST_CALL_BYTES;
    for cut in last_call..whole.len() {
        // A file that ends early, and one whose rest was never written over the zeros reserved for it.
        let zeroed = [&whole[..cut], &vec![0; 5_000]].concat();
        for torn in [whole[..cut].to_vec(), zeroed] {
            let left = folder_like(&origin);
            fs::write(left.path().join(FIRST_SEGMENT), &torn).expect("write");
            let log = open(left.path()).unwrap_or_else(|error| panic!("cut at {cut}: {error}"));
            assert_eq!(read_all(&log).expect("read"), records[..3], "cut at {cut}");
            log.append(Position(4), &[b"next"]).expect("append");
            drop(log);
            let log = open(left.path()).expect("reopen");
            assert_eq!(read_all(&log).expect("read").last().expect("a record"), b"next");
        }
    }
}

/// A torn call may leave whole frames behind its first one. If they stayed, and the disk had no room to reserve zeros
/// over them, a later record could be followed by them, and the log would look damaged.
#[test]
fn a_cut_call_leaves_no_frame_behind() {
    let origin = folder();
    write(origin.path(), CALLS);
    let mut torn = fs::read(origin.path().join(FIRST_SEGMENT)).expect("read");
    let last_call = torn.len() - LAST_CALL_BYTES;
    torn[last_call] ^= 1;
    let left = folder_like(&origin);
    fs::write(left.path().join(FIRST_SEGMENT), &torn).expect("write");
    let _log = open(left.path()).expect("open");
    assert_eq!(fs::read(left.path().join(FIRST_SEGMENT)).expect("read"), torn[..last_call]);
}

#[test]
fn cutting_what_was_acknowledged_is_corrupted() {
    let origin = folder();
    write(origin.path(), CALLS);
    let whole = fs::read(origin.path().join(FIRST_SEGMENT)).expect("read");
    for cut in SEGMENT_HEADER_BYTES..whole.len() {
        // The file `durable` is there and knows better.
        fs::write(origin.path().join(FIRST_SEGMENT), &whole[..cut]).expect("write");
        let error = open_error(origin.path());
        assert_eq!(error.kind(), ErrorKind::Corrupted, "cut at {cut}: {error}");
        assert!(error.to_string().contains("acknowledged"), "{error}");
    }
    fs::write(origin.path().join(FIRST_SEGMENT), &whole).expect("write");
    open(origin.path()).expect("nothing was changed by refusing");
}

#[test]
fn any_flipped_bit_is_an_error_and_never_wrong_data() {
    let origin = folder();
    let records = write(origin.path(), CALLS);
    let whole = fs::read(origin.path().join(FIRST_SEGMENT)).expect("read");
    let last_call = whole.len() - LAST_CALL_BYTES;
    for bit in 0..whole.len() * 8 {
        let mut flipped = whole.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        // With the durable position, every damage shows.
        fs::write(origin.path().join(FIRST_SEGMENT), &flipped).expect("write");
        let error = open_error(origin.path());
        assert_eq!(error.kind(), ErrorKind::Corrupted, "bit {bit}: {error}");
        let read_only = FileLog::open_read_only(origin.path()).and_then(|log| read_all(&log));
        assert_eq!(read_only.expect_err("read-only").kind(), ErrorKind::Corrupted, "bit {bit}");
        // Without it, damage of the last call looks like a torn write and is cut; any other shows.
        let left = folder_like(&origin);
        fs::write(left.path().join(FIRST_SEGMENT), &flipped).expect("write");
        match open(left.path()).and_then(|log| read_all(&log)) {
            Ok(found) => {
                assert!(bit / 8 >= last_call, "bit {bit}");
                assert_eq!(found, records[..3], "bit {bit}");
            }
            Err(error) => assert_eq!(error.kind(), ErrorKind::Corrupted, "bit {bit}: {error}"),
        }
    }
}

#[test]
fn damage_in_a_sealed_segment_is_found_when_it_is_read_and_by_verify() {
    let origin = folder();
    let records = write_segments(origin.path(), 3);
    let path = segment_path(origin.path(), 4);
    let whole = fs::read(&path).expect("read");
    for byte in SEGMENT_HEADER_BYTES..whole.len() {
        let mut flipped = whole.clone();
        flipped[byte] ^= 0x10;
        fs::write(&path, &flipped).expect("write");
        let lazy = FileLog::open(origin.path()).expect("sealed segments are verified when read");
        assert_eq!(
            lazy.read(Position(1), ReadLimit { bytes: 9_999, records: 3 }).expect("read"),
            records[..3]
        );
        assert_eq!(lazy.read(Position(7), ReadLimit::default()).expect("read"), records[6..]);
        let read = lazy.read(Position(4), ReadLimit::ONE).expect_err("damaged");
        let verified = lazy.verify().expect_err("damaged");
        assert_eq!(
            (read.kind(), verified.kind()),
            (ErrorKind::Corrupted, ErrorKind::Corrupted),
            "byte {byte}"
        );
        let text = verified.to_string();
        assert!(text.contains("00000000000000000004.seg: offset") && text.contains("position"), "{text}");
        drop(lazy);
        assert_eq!(open(origin.path()).expect_err("verified on opening").kind(), ErrorKind::Corrupted);
    }
    for cut in SEGMENT_HEADER_BYTES..whole.len() {
        fs::write(&path, &whole[..cut]).expect("write");
        let kind = open_error(origin.path()).kind();
        assert!(matches!(kind, ErrorKind::Corrupted | ErrorKind::Gap), "cut at {cut}: {kind:?}");
    }
}

#[test]
fn missing_segment_is_a_gap() {
    for missing in [1, 4] {
        let origin = folder();
        write_segments(origin.path(), 3);
        fs::remove_file(segment_path(origin.path(), missing)).expect("remove");
        // Found from the headers, without reading any segment.
        let error = FileLog::open(origin.path()).expect_err("a gap");
        assert_eq!(error.kind(), ErrorKind::Gap, "{error}");
        assert!(error.to_string().contains(&format!("{missing:020}")), "{error}");
        assert_eq!(FileLog::open_read_only(origin.path()).expect_err("a gap").kind(), ErrorKind::Gap);
    }
    let origin = folder();
    write_segments(origin.path(), 3);
    fs::remove_file(segment_path(origin.path(), 7)).expect("remove");
    assert_eq!(open_error(origin.path()).kind(), ErrorKind::Corrupted, "the durable position knows better");
}

/// The frame at `offset`, changed and with the right checksums again.
fn change_frame(bytes: &mut [u8], offset: usize, change: impl Fn(&mut [u8])) {
    let seed = crc32c::crc32c(&bytes[12..16]);
    let length = u32::from_le_bytes(bytes[offset + 8..offset + 12].try_into().expect("four bytes")) as usize;
    let frame = &mut bytes[offset..offset + FRAME_HEADER_BYTES + length];
    change(frame);
    let header_checksum = crc32c::crc32c_append(seed, &frame[8..28]);
    frame[28..32].copy_from_slice(&header_checksum.to_le_bytes());
    let checksum = crc32c::crc32c_append(seed, &frame[8..]);
    frame[4..8].copy_from_slice(&checksum.to_le_bytes());
}

#[test]
fn newer_formats_say_so() {
    let origin = folder();
    write(origin.path(), CALLS);
    let path = origin.path().join(FIRST_SEGMENT);
    let whole = fs::read(&path).expect("read");
    let changes: [fn(&mut [u8]); 2] = [|frame| frame[12] = 3, |frame| frame[15] = 1];
    for change in changes {
        let mut newer = whole.clone();
        change_frame(&mut newer, SEGMENT_HEADER_BYTES, change);
        fs::write(&path, &newer).expect("write");
        let error = open_error(origin.path());
        assert_eq!(error.kind(), ErrorKind::NewerFormat, "{error}");
    }
    let mut newer = whole.clone();
    newer[8] = 3;
    let checksum = crc32c::crc32c(&newer[8..32]);
    newer[4..8].copy_from_slice(&checksum.to_le_bytes());
    fs::write(&path, &newer).expect("write");
    assert_eq!(open_error(origin.path()).kind(), ErrorKind::NewerFormat);
}

#[test]
fn whole_frames_out_of_order_are_told_from_torn_ones() {
    let origin = folder();
    write(origin.path(), CALLS);
    let path = origin.path().join(FIRST_SEGMENT);
    let whole = fs::read(&path).expect("read");
    let second = SEGMENT_HEADER_BYTES + FRAME_HEADER_BYTES + 3;
    type Change = fn(&mut [u8]);
    let cases: [(Change, ErrorKind); 3] = [
        (|frame| frame[16] = 9, ErrorKind::Gap),
        (|frame| frame[16] = 1, ErrorKind::Corrupted),
        (|frame| frame[24] = 1, ErrorKind::Corrupted),
    ];
    for (change, kind) in cases {
        let mut changed = whole.clone();
        change_frame(&mut changed, second, change);
        fs::write(&path, &changed).expect("write");
        assert_eq!(open_error(origin.path()).kind(), kind);
    }
}

/// A record may hold a whole segment of another log, with higher positions. If its append is torn in front, the
/// frames inside must not pass for later frames of this log.
#[test]
fn frames_of_another_log_inside_a_torn_record_prove_nothing() {
    let other = folder();
    write_segments(other.path(), 1);
    let backup = fs::read(other.path().join(FIRST_SEGMENT)).expect("read");
    let origin = folder();
    write(origin.path(), &[&[&backup]]);
    let mut torn = fs::read(origin.path().join(FIRST_SEGMENT)).expect("read");
    torn[SEGMENT_HEADER_BYTES] ^= 1;
    let left = folder_like(&origin);
    fs::write(left.path().join(FIRST_SEGMENT), torn).expect("write");
    assert_eq!(open(left.path()).expect("a torn tail").tail().expect("tail"), Position::ZERO);
}

#[test]
fn arbitrary_bytes_never_panic() {
    let origin = folder();
    write(origin.path(), CALLS);
    let whole = fs::read(origin.path().join(FIRST_SEGMENT)).expect("read");
    let mut random = 1u64;
    for _ in 0..2_000 {
        let mut next = || {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (random >> 33) as usize
        };
        let mut bytes = whole.clone();
        for _ in 0..1 + next() % 8 {
            let at = next() % bytes.len();
            match next() % 3 {
                0 => bytes[at] = next() as u8,
                1 => bytes.truncate(at.max(1)),
                _ => bytes.extend((0..next() % 64).map(|_| 0xA7u8)),
            }
        }
        let left = folder_like(&origin);
        fs::write(left.path().join(FIRST_SEGMENT), bytes).expect("write");
        if let Err(error) = open(left.path()).and_then(|log| read_all(&log)) {
            assert!(matches!(error.kind(), ErrorKind::Corrupted | ErrorKind::Gap), "{error}");
        }
    }
}

#[test]
fn second_writer_is_refused_until_the_first_closes() {
    let origin = folder();
    let first = open(origin.path()).expect("open");
    let error = open(origin.path()).expect_err("locked");
    assert_eq!(error.kind(), ErrorKind::Locked);
    assert!(error.to_string().contains("only writer"), "{error}");
    // Every door shows this text, so it names the process and its command.
    let process = format!("lock: process {}, engine-", std::process::id());
    assert!(error.to_string().contains(&process), "{error}");
    first.close().expect("close");
    open(origin.path()).expect("open after closing").append(Position(1), &[b"a"]).expect("append");
    assert_eq!(first.append(Position(1), &[b"b"]).expect_err("closed").kind(), ErrorKind::Closed);
}

#[test]
fn leftovers_of_a_replacement_are_removed_and_other_files_are_not() {
    let origin = folder();
    write(origin.path(), CALLS);
    let unfinished = origin.path().join(format!("{FIRST_SEGMENT}.tmp"));
    let foreign = origin.path().join("notes.tmp");
    fs::write(&unfinished, b"half").expect("write");
    fs::write(&foreign, b"mine").expect("write");
    open(origin.path()).expect("open");
    assert!(!unfinished.exists() && foreign.exists());
}

/// Users may store bytes that look like the headers of many later frames. The log could not tell them from later frames
/// within its budget of checksums, and did not open after a power cut.
#[test]
fn stored_bytes_that_look_like_frames_do_not_keep_a_log_from_opening() {
    let mut fakes = Vec::new();
    for format in [1u16, 2] {
        let mut fake = b"\xa7anr\0\0\0\0".to_vec();
        fake.extend((2u32 << 20).to_le_bytes());
        fake.extend([format, 1].map(u16::to_le_bytes).concat());
        fake.extend(1_000_000_000u64.to_le_bytes());
        fake.extend([0; 8]);
        fakes.extend(fake.repeat(500));
    }
    fakes.resize(4 << 20, 0);
    let origin = folder();
    let log = FileLog::open(origin.path()).expect("open");
    log.append(Position(1), &[b"first"]).expect("append");
    log.append(Position(2), &[&fakes]).expect("append");
    drop(log);
    let mut torn = fs::read(origin.path().join(FIRST_SEGMENT)).expect("read");
    torn.truncate(torn.len() - 1_000);
    let left = folder_like(&origin);
    fs::write(left.path().join(FIRST_SEGMENT), torn).expect("write");
    let log = open(left.path()).expect("a torn tail");
    assert_eq!(read_all(&log).expect("read"), [b"first".to_vec()]);
}

fn copy_folder(from: &Path) -> TempDir {
    let to = folder();
    for entry in fs::read_dir(from).expect("list") {
        let entry = entry.expect("list");
        fs::copy(entry.path(), to.path().join(entry.file_name())).expect("copy");
    }
    to
}

/// Segments of format 1 did not say which log they belong to, and another log's records were served.
#[test]
fn a_segment_or_mark_of_another_log_is_refused() {
    let (origin, other) = (folder(), folder());
    write_segments(origin.path(), 3);
    write_segments(other.path(), 3);
    for name in ["00000000000000000004.seg", "00000000000000000007.seg", "durable"] {
        let mixed = copy_folder(origin.path());
        fs::copy(other.path().join(name), mixed.path().join(name)).expect("copy");
        for error in [open(mixed.path()), FileLog::open_read_only(mixed.path())].map(|log| log.err().unwrap())
        {
            assert_eq!(error.kind(), ErrorKind::Corrupted, "{name}: {error}");
            assert!(error.to_string().contains("of the log"), "{error}");
        }
    }
}

#[test]
fn a_log_without_its_manifest_is_refused() {
    let origin = folder();
    write_segments(origin.path(), 2);
    fs::remove_file(origin.path().join("manifest")).expect("remove");
    for has_mark in [true, false] {
        if !has_mark {
            fs::remove_file(origin.path().join("durable")).expect("remove");
        }
        for error in
            [open(origin.path()), FileLog::open_read_only(origin.path())].map(|log| log.err().unwrap())
        {
            assert_eq!(error.kind(), ErrorKind::Corrupted, "{error}");
            assert!(error.to_string().contains("expected the file manifest"), "{error}");
        }
    }
}

/// Without manifest and mark nothing says which generation is in force, and a writer began anew and removed the segment.
#[test]
fn a_rewritten_segment_without_its_manifest_is_kept() {
    let origin = folder();
    write(origin.path(), CALLS);
    let left = folder();
    let name = "00000000000000000001-0000000003.seg";
    fs::copy(origin.path().join(FIRST_SEGMENT), left.path().join(name)).expect("copy");
    assert_eq!(open(left.path()).expect_err("no manifest").kind(), ErrorKind::Corrupted);
    assert!(left.path().join(name).exists());
}

/// A manifest from an old copy would bring segments of before a compaction into force.
#[test]
fn a_manifest_older_than_the_mark_is_refused() {
    use annals::log::Rewrite;
    let origin = folder();
    write_segments(origin.path(), 2);
    let old = fs::read(origin.path().join("manifest")).expect("read");
    let log = open(origin.path()).expect("open");
    let sealed = log.seal().expect("seal");
    let rewritten = log.rewrite(sealed, &mut |_, _| Ok(Some(b"new".to_vec()))).expect("rewrite");
    rewritten.put_in_place().expect("put in place");
    drop(log);
    fs::write(origin.path().join("manifest"), old).expect("write");
    for error in [open(origin.path()), FileLog::open_read_only(origin.path())].map(|log| log.err().unwrap()) {
        assert_eq!(error.kind(), ErrorKind::Corrupted, "{error}");
        assert!(error.to_string().contains("generation 1"), "{error}");
    }
}

/// A removed lock file let a second writer in, and both acknowledged the same positions.
#[test]
fn removing_the_lock_file_lets_no_second_writer_in() {
    let origin = folder();
    let first = open(origin.path()).expect("open");
    first.append(Position(1), &[b"a"]).expect("append");
    fs::remove_file(origin.path().join("lock")).expect("remove");
    assert_eq!(open(origin.path()).expect_err("locked").kind(), ErrorKind::Locked);
    first.append(Position(2), &[b"b"]).expect("append");
    first.close().expect("close");
    open(origin.path()).expect("the next writer");
}

/// Writes to files that were removed were acknowledged, and gone with the process.
#[test]
fn an_append_to_a_removed_folder_is_refused() {
    let origin = folder();
    let log = open(origin.path().join("log")).expect("open");
    log.append(Position(1), &[b"a"]).expect("append");
    fs::remove_dir_all(origin.path().join("log")).expect("remove");
    for _ in 0..2 {
        let error = log.append(Position(2), &[b"b"]).expect_err("removed");
        assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
    }
}

/// After a power cut the mark lags behind. A reader stopped there, and said that all was well.
#[test]
fn a_reader_refuses_to_show_less_than_was_acknowledged_unless_a_writer_is_at_work() {
    let origin = folder();
    let log = open(origin.path()).expect("open");
    let lagging = fs::read(origin.path().join("durable")).expect("read");
    for position in 1..=5 {
        log.append(Position(position), &[b"acknowledged"]).expect("append");
    }
    log.roll().expect("roll");
    FileLog::open_read_only(origin.path()).expect("a writer is at work");
    drop(log);
    fs::write(origin.path().join("durable"), lagging).expect("write");
    let error = FileLog::open_read_only(origin.path()).expect_err("hidden records");
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
    assert!(error.to_string().contains("up to 5"), "{error}");
    drop(open(origin.path()).expect("open for writing"));
    let log = FileLog::open_read_only(origin.path()).expect("open");
    assert_eq!(log.tail().expect("tail"), Position(5));
}

/// Opening a pipe waits until somebody opens its other end.
#[test]
fn a_pipe_in_place_of_a_segment_is_an_error_and_no_hang() {
    let origin = folder();
    write_segments(origin.path(), 2);
    let path = segment_path(origin.path(), 1);
    fs::remove_file(&path).expect("remove");
    let made = std::process::Command::new("mkfifo").arg(&path).status().expect("mkfifo runs");
    assert!(made.success());
    for error in [open(origin.path()), FileLog::open_read_only(origin.path())].map(|log| log.err().unwrap()) {
        assert_eq!(error.kind(), ErrorKind::Io, "{error}");
        assert!(error.to_string().contains("regular file"), "{error}");
    }
}

/// A user who could write a folder had any file of another user read, or restored, by a link to it.
#[test]
fn a_link_in_place_of_a_segment_is_an_error_and_a_link_to_the_folder_is_none() {
    let origin = folder();
    write_segments(origin.path(), 2);
    let linked = folder();
    let path = linked.path().join("log");
    std::os::unix::fs::symlink(origin.path(), &path).expect("link");
    drop(open(&path).expect("a folder may be elsewhere"));
    let (segment, elsewhere) = (segment_path(origin.path(), 1), linked.path().join("segment"));
    fs::rename(&segment, &elsewhere).expect("rename");
    std::os::unix::fs::symlink(&elsewhere, &segment).expect("link");
    for error in [open(origin.path()), FileLog::open_read_only(origin.path())].map(|log| log.err().unwrap()) {
        assert_eq!(error.kind(), ErrorKind::Io, "{error}");
        assert!(error.to_string().contains("found a link"), "{error}");
    }
}

/// A segment of over 4 GiB panicked: places in an index have 32 bits.
#[test]
fn a_segment_longer_than_any_is_an_error() {
    let origin = folder();
    write_segments(origin.path(), 2);
    for first in [1, 4] {
        let copied = copy_folder(origin.path());
        let file = fs::OpenOptions::new().write(true).open(segment_path(copied.path(), first)).expect("open");
        file.set_len(5 << 30).expect("a sparse file");
        assert_eq!(open_error(copied.path()).kind(), ErrorKind::Corrupted);
    }
}

/// Everything the log wrote before this version of the format was released, byte by byte. It must stay readable.
#[test]
fn fixtures_of_all_formats_open_and_read_exactly() {
    for format in [1, 2] {
        let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/fixtures/log-v{format}"));
        // Written once, into an empty folder; the bytes are kept, never made again.
        if std::env::var_os("WRITE_LOG_FIXTURE").is_some() && !fixture.exists() {
            fs::create_dir_all(&fixture).expect("create");
            let log = open(&fixture).expect("open");
            log.append(Position(1), &[b"first"]).expect("append");
            log.append(Position(2), &[b"second", b"", &[0xA7; 40]]).expect("append");
            log.roll().expect("roll");
            log.append(Position(5), &["fünf".as_bytes()]).expect("append");
            log.close().expect("close");
            fs::remove_file(fixture.join("lock")).expect("remove");
        }
        let expected =
            [b"first".to_vec(), b"second".to_vec(), vec![], vec![0xA7; 40], "fünf".as_bytes().to_vec()];
        let read_only = FileLog::open_read_only(&fixture).expect("open read-only");
        assert_eq!(read_all(&read_only).expect("read"), expected);
        let writable = copy_folder(&fixture);
        let log = open(writable.path()).expect("open");
        log.append(Position(6), &[b"six"]).expect("append");
        assert_eq!(read_all(&log).expect("read")[..5], expected);
        assert_eq!(log.verify().expect("verify").records_count, 6);
        drop(log);
        let reopened = open(writable.path()).expect("reopen");
        assert_eq!(reopened.tail().expect("tail"), Position(6));
    }
}

#[test]
fn an_empty_log_of_format_1_opens_and_goes_on_in_format_2() {
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/log-v1");
    let header = fs::read(fixture.join(FIRST_SEGMENT)).expect("read");
    for reserved in [0, 4096] {
        let left = folder();
        let empty = [&header[..32], &vec![0; reserved]].concat();
        fs::write(left.path().join(FIRST_SEGMENT), empty).expect("write");
        let log = open(left.path()).expect("open");
        log.append(Position(1), &[b"one"]).expect("append");
        drop(log);
        assert_eq!(read_all(&open(left.path()).expect("reopen")).expect("read"), [b"one".to_vec()]);
    }
}
