//! Damages files of a log in every way and looks at what opening makes of it.

use std::fs;
use std::path::{Path, PathBuf};

use annals::log::{FileLog, FileOptions, Log, ReadLimit};
use annals::{Error, ErrorKind, Position};
use tempfile::TempDir;

const OPTIONS: FileOptions = FileOptions { segment_bytes: 4096, verify_sealed: true, open_files_max: 8 };
const FIRST_SEGMENT: &str = "00000000000000000001.seg";
const SEGMENT_HEADER_BYTES: usize = 32;

fn folder() -> TempDir {
    tempfile::tempdir().expect("temporary folder")
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
const LAST_CALL_BYTES: usize = 2 * 28 + 22 + 4;

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
            let left = folder();
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
    let left = folder();
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
        let left = folder();
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
        assert!(error.to_string().contains(&format!("{missing:020}.seg")), "{error}");
        assert_eq!(FileLog::open_read_only(origin.path()).expect_err("a gap").kind(), ErrorKind::Gap);
    }
    let origin = folder();
    write_segments(origin.path(), 3);
    fs::remove_file(segment_path(origin.path(), 7)).expect("remove");
    assert_eq!(open_error(origin.path()).kind(), ErrorKind::Corrupted, "the durable position knows better");
}

/// The frame at `offset`, changed and with the right checksum again.
fn change_frame(bytes: &mut [u8], offset: usize, change: impl Fn(&mut [u8])) {
    let salt = bytes[12..16].to_vec();
    let length = u32::from_le_bytes(bytes[offset + 8..offset + 12].try_into().expect("four bytes")) as usize;
    let frame = &mut bytes[offset..offset + 28 + length];
    change(frame);
    let checksum = crc32c::crc32c_append(crc32c::crc32c(&salt), &frame[8..]);
    frame[4..8].copy_from_slice(&checksum.to_le_bytes());
}

#[test]
fn newer_formats_say_so() {
    let origin = folder();
    write(origin.path(), CALLS);
    let path = origin.path().join(FIRST_SEGMENT);
    let whole = fs::read(&path).expect("read");
    let changes: [fn(&mut [u8]); 2] = [|frame| frame[12] = 2, |frame| frame[15] = 1];
    for change in changes {
        let mut newer = whole.clone();
        change_frame(&mut newer, SEGMENT_HEADER_BYTES, change);
        fs::write(&path, &newer).expect("write");
        let error = open_error(origin.path());
        assert_eq!(error.kind(), ErrorKind::NewerFormat, "{error}");
    }
    let mut newer = whole.clone();
    newer[8] = 2;
    let checksum = crc32c::crc32c(&newer[8..SEGMENT_HEADER_BYTES]);
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
    let second = SEGMENT_HEADER_BYTES + 28 + 3;
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
    let left = folder();
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
        let left = folder();
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

/// Everything the log wrote before this version of the format was released, byte by byte. It must stay readable.
#[test]
fn fixture_of_format_1_opens_and_reads_exactly() {
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/log-v1");
    // Written once, into an empty folder; the bytes are kept, never made again.
    if std::env::var_os("WRITE_LOG_FIXTURE").is_some() {
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
    let writable = folder();
    for entry in fs::read_dir(&fixture).expect("list") {
        let entry = entry.expect("list");
        fs::copy(entry.path(), writable.path().join(entry.file_name())).expect("copy");
    }
    let log = open(writable.path()).expect("open");
    log.append(Position(6), &[b"six"]).expect("append");
    assert_eq!(read_all(&log).expect("read")[..5], expected);
    assert_eq!(log.verify().expect("verify").records_count, 6);
}
