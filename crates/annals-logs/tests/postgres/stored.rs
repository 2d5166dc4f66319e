//! The row of a call, its bounds, and damage of it.

use std::sync::Arc;

use annals::log::{APPEND_BYTES_MAX, Appended, Log, RECORD_BYTES_MAX, ReadLimit, Token};
use annals::{ErrorKind, Position};
use annals_logs::Options;

use crate::server::shared;
use crate::support::{is_stored, new_place, new_schema, open, place_at, read_all, send};

/// A log with the calls `[a b] [c] [d e f]`.
fn three_calls() -> (String, Arc<dyn Log>) {
    let schema = new_schema();
    let log = open(&place_at(shared().port, &schema));
    let calls: [(u64, &[&[u8]]); 3] = [(1, &[b"a", b"b"]), (3, &[b"c"]), (4, &[b"d", b"e", b"f"])];
    for (at, records) in calls {
        assert!(is_stored(&send(&*log, at, Token::random(), records)));
    }
    (schema, log)
}

#[test]
fn a_call_is_a_row_with_its_header() {
    let (schema, log) = three_calls();
    let rows = shared().sql(&format!(
        "select first, last, term, bytes, encode(index, 'hex'), encode(body, 'escape') from {schema}.call order by 1"
    ));
    let entry = |end: u32, record: &[u8]| format!("{end:08x}{:08x}", crc32c(record));
    let index = [(1, b"a"), (2, b"b")].map(|(end, record)| entry(end, record)).concat();
    assert_eq!(rows.lines().next(), Some(&*format!("1|2|7|2|{index}|ab")));
    assert_eq!(rows.lines().count(), 3);
    assert_eq!([0, 1, 2, 3, 6, 9].map(|at| log.bytes_up_to(Position(at))), [0, 2, 2, 3, 6, 6]);
    assert_eq!(log.verify().unwrap().segments_count, 3);
    assert_eq!(log.verify().unwrap().records_count, 6);
}

/// CRC-32C bit by bit, so that the stored checksums are compared with other code than that which made them.
fn crc32c(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc: u32, _| {
            (crc >> 1) ^ (0x82f6_3b78 & (!(crc & 1)).wrapping_add(1))
        })
    })
}

#[test]
fn records_are_read_from_any_position_up_to_any_limit() {
    let log = open(&new_place());
    let record = |position: u64| vec![position as u8; (position as usize * 37) % 900];
    let mut next = 1;
    for call in 0..30u64 {
        let records: Vec<Vec<u8>> = (next..next + 1 + call % 7).map(record).collect();
        let slices: Vec<&[u8]> = records.iter().map(Vec::as_slice).collect();
        log.append(Position(next), &slices).unwrap();
        next += records.len() as u64;
    }
    for from in 1..next {
        for (bytes, records) in [(0, 1), (500, 10), (3_000, 4), (usize::MAX, 3), (10_000, usize::MAX)] {
            let read = log.read(Position(from), ReadLimit { bytes, records }).unwrap();
            let expected: Vec<Vec<u8>> = (from..from + read.len() as u64).map(record).collect();
            assert_eq!(read, expected, "from {from}");
            let size: usize = read.iter().map(Vec::len).sum();
            assert!(!read.is_empty() && read.len() <= records && (size <= bytes || read.len() == 1));
        }
    }
}

#[test]
fn the_largest_call_is_stored_and_read_back() {
    let log = open(&new_place());
    let large: Vec<u8> = (0..RECORD_BYTES_MAX).map(|number| (number % 251) as u8).collect();
    let records = vec![&large[..]; APPEND_BYTES_MAX / RECORD_BYTES_MAX];
    assert!(is_stored(&send(&*log, 1, Token::random(), &records)));
    for position in 1..=records.len() as u64 {
        let read = log.read(Position(position), ReadLimit::ONE).unwrap();
        assert!(read == [&large[..]], "position {position}");
    }
    let beyond = [&records[..], &[b"x"]].concat();
    let refused = send(&*log, 5, Token::random(), &beyond);
    assert!(
        matches!(&refused, Appended::Refused(error) if error.kind() == ErrorKind::TooLarge),
        "{refused:?}"
    );
    assert_eq!(log.bytes_up_to(Position(4)), APPEND_BYTES_MAX as u64);
}

#[test]
fn damage_is_found_by_reading_and_by_verification() {
    let damages: [(&str, ErrorKind); 5] = [
        ("update {s}.call set body = 'dXf' where first = 4", ErrorKind::Corrupted),
        ("update {s}.call set body = 'd' where first = 4", ErrorKind::Corrupted),
        ("update {s}.call set index = substring(index from 1 for 12) where first = 4", ErrorKind::Corrupted),
        ("update {s}.call set index = '' where first = 4", ErrorKind::Corrupted),
        ("delete from {s}.call where first = 3", ErrorKind::Gap),
    ];
    for (damage, kind) in damages {
        let (schema, log) = three_calls();
        shared().sql(&damage.replace("{s}", &schema));
        let read = (1..=6).find_map(|position| log.read(Position(position), ReadLimit::default()).err());
        let read = read.unwrap_or_else(|| panic!("{damage}: it was not found"));
        assert_eq!(read.kind(), kind, "{damage}: {read}");
        assert_eq!(log.verify().expect_err(damage).kind(), kind);
    }
    let (schema, log) = three_calls();
    shared().sql(&format!("update {schema}.call set last = 3 where first = 1"));
    assert_eq!(log.verify().expect_err("calls overlap").kind(), ErrorKind::Corrupted);
}

#[test]
fn a_writer_refuses_a_log_that_went_back_or_is_another_one() {
    let expect = |outcome: Appended, what: &str| match outcome {
        Appended::Refused(error) => {
            assert_eq!(error.kind(), ErrorKind::Unavailable);
            assert!(error.to_string().contains("not the log that was read here"), "{what}: {error}");
        }
        other => panic!("{what}: {other:?}"),
    };
    // It has lost the last call.
    let (schema, log) = three_calls();
    shared().sql(&format!("delete from {schema}.call where first = 4"));
    expect(send(&*log, 7, Token::random(), &[b"g"]), "lost");
    assert_eq!(log.tail().unwrap_err().kind(), ErrorKind::Unavailable);
    assert_eq!(log.read(Position(5), ReadLimit::ONE).unwrap_err().kind(), ErrorKind::Unavailable);
    // Another writer has gone on from there.
    let other = open(&place_at(shared().port, &schema));
    assert!(is_stored(&send(&*other, 4, Token::random(), &[b"D", b"E", b"F"])));
    expect(send(&*log, 7, Token::random(), &[b"g"]), "another history");
    assert_eq!(log.tail().unwrap_err().kind(), ErrorKind::Unavailable);
    assert_eq!(read_all(&*other).len(), 6);
    // Another log of equal length.
    let (schema, log) = three_calls();
    shared().sql(&format!("update {schema}.log set id = gen_random_uuid()"));
    expect(send(&*log, 7, Token::random(), &[b"g"]), "another id");
    for error in [log.tail().unwrap_err(), log.read(Position(1), ReadLimit::ONE).unwrap_err()] {
        assert!(error.to_string().contains("expected the log"), "{error}");
    }
    assert_eq!(shared().sql(&format!("select max(last) from {schema}.call")), "6");
}

#[test]
fn a_log_without_its_tables_answers_with_an_error() {
    let (schema, log) = three_calls();
    shared().sql(&format!("drop schema {schema} cascade"));
    let refused = send(&*log, 7, Token::random(), &[b"g"]);
    assert!(
        matches!(&refused, Appended::Refused(error) if error.kind() == ErrorKind::Unavailable),
        "{refused:?}"
    );
    assert_eq!(log.tail().unwrap_err().kind(), ErrorKind::Unavailable);
    assert_eq!(log.bytes_up_to(Position(2)), 0);
}

#[test]
fn a_closed_log_reads_and_does_not_append_and_a_reader_neither_appends_nor_swaps() {
    let (schema, log) = three_calls();
    log.close().unwrap();
    let refused = send(&*log, 7, Token::random(), &[b"g"]);
    assert!(matches!(&refused, Appended::Refused(error) if error.kind() == ErrorKind::Closed), "{refused:?}");
    assert_eq!(read_all(&*log).len(), 6);
    let options = Options { is_read_only: true, ..Options::default() };
    let reader = annals_logs::open(&place_at(shared().port, &schema), &options).unwrap();
    let refused = send(&*reader, 7, Token::random(), &[b"g"]);
    assert!(
        matches!(&refused, Appended::Refused(error) if error.kind() == ErrorKind::ReadOnly),
        "{refused:?}"
    );
    let swapped = reader.register().unwrap().swap(annals::log::Slot::Lease, None, b"x");
    assert_eq!(swapped.unwrap_err().kind(), ErrorKind::ReadOnly);
    assert_eq!(read_all(&*reader).len(), 6);
}

/// Calls come from threads of servers, which have a runtime of their own.
#[test]
fn calls_come_from_threads_of_another_runtime() {
    let log = open(&new_place());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        assert!(is_stored(&send(&*log, 1, Token::random(), &[b"a"])));
        assert_eq!(log.tail().unwrap(), Position(1));
        assert_eq!(read_all(&*log), [b"a"]);
    });
    // Also the end of the log.
    runtime.block_on(async move { drop(log) });
}
