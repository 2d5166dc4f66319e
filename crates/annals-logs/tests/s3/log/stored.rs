//! The object of a call, its bounds, and damage of it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use annals::log::{Appended, Log, RECORD_BYTES_MAX, ReadLimit, Rewrite, Slot, Token};
use annals::{ErrorKind, Position};
use annals_logs::s3::S3Log;

use crate::raw::RawBucket;
use crate::support::{
    is_stored, new_log_place, new_place, open_log, open_reader, read_all, send, wait_until,
};

fn key(first: u64) -> String {
    format!("annals/log/{first:020}")
}

/// A log with the calls `[a b] [c] [d e f]`.
fn three_calls() -> (RawBucket, String, Arc<S3Log>) {
    let (bucket, place) = new_log_place();
    let log = open_log(&place);
    let calls: [(u64, &[&[u8]]); 3] = [(1, &[b"a", b"b"]), (3, &[b"c"]), (4, &[b"d", b"e", b"f"])];
    for (at, records) in calls {
        assert!(is_stored(&send(&*log, at, Token::random(), records)));
    }
    (bucket, place, log)
}

#[test]
fn a_call_is_an_object_under_its_first_position() {
    let (bucket, _, log) = three_calls();
    let keys = bucket.keys("annals/log/0");
    assert_eq!(keys, [1, 3, 4].map(key));
    let object = bucket.get(&key(4)).unwrap();
    assert_eq!(object[..8], [0xA7, b'a', b'n', b'c', 0, 1, 0, 0]);
    assert_eq!(object[8..24], [4_u64.to_be_bytes(), 6_u64.to_be_bytes()].concat());
    assert_eq!((object.len(), &object[object.len() - 3..]), (80 + 3 * 8 + 3, &b"def"[..]));
    let token = |first| bucket.get(&key(first)).unwrap()[24..40].to_vec();
    assert_eq!(object[48..64], token(3), "the call before");
    assert_eq!([0, 2, 3, 6, 9].map(|at| log.bytes_up_to(Position(at))), [0, 2, 3, 6, 6]);
    let verified = log.verify().unwrap();
    assert_eq!((verified.records_count, verified.bytes, verified.segments_count), (6, 6, 3));
    let manifest = String::from_utf8(bucket.get("annals/log/manifest").unwrap()).unwrap();
    assert!(manifest.starts_with(&format!("annals log 1\nid {}\nlog here\n", log.id())), "{manifest}");
}

#[test]
fn records_are_read_from_any_position_up_to_any_limit() {
    let place = new_place();
    let log = open_log(&place);
    let record = |position: u64| vec![position as u8; (position as usize * 37) % 900];
    let mut next = 1;
    for call in 0..30u64 {
        let records: Vec<Vec<u8>> = (next..next + 1 + call % 7).map(record).collect();
        let slices: Vec<&[u8]> = records.iter().map(Vec::as_slice).collect();
        log.append(Position(next), &slices).unwrap();
        next += records.len() as u64;
        // The first calls are in a segment, and the last ones behind it.
        if call == 20 {
            assert_eq!(log.seal().unwrap(), Position(next - 1));
        }
    }
    for log in [log, open_log(&place), open_reader(&place)] {
        for from in 1..next {
            for (bytes, records) in [(0, 1), (500, 10), (3_000, 4), (usize::MAX, 3), (10_000, usize::MAX)] {
                let read = log.read(Position(from), ReadLimit { bytes, records }).unwrap();
                let expected: Vec<Vec<u8>> = (from..from + read.len() as u64).map(record).collect();
                assert_eq!(read, expected, "from {from}");
                let size: usize = read.iter().map(Vec::len).sum();
                assert!(!read.is_empty() && read.len() <= records && (size <= bytes || read.len() == 1));
            }
        }
        assert_eq!(log.verify().unwrap().records_count, next - 1);
    }
}

#[test]
fn records_of_large_calls_are_read_without_the_others() {
    let place = new_place();
    let log = open_log(&place);
    let large: Vec<u8> = (0..6_000_000u32).map(|number| (number % 251) as u8).collect();
    let records: [&[u8]; 5] = [b"first", &large, &large, b"", &large];
    assert!(is_stored(&send(&*log, 1, Token::random(), &records)));
    assert!(is_stored(&send(&*log, 6, Token::random(), &[b"small"])));
    let check = |log: &S3Log| {
        for (number, record) in records.iter().enumerate() {
            let read = log.read(Position(number as u64 + 1), ReadLimit::ONE).unwrap();
            assert!(read == [*record], "record {number}");
        }
        let read = log.read(Position(2), ReadLimit { bytes: 13_000_000, records: 10 }).unwrap();
        assert!(read == [&large[..], &large, b""], "{} records", read.len());
        assert_eq!(read_all(log).len(), 6);
    };
    check(&log);
    log.seal().unwrap();
    check(&log);
    check(&open_reader(&place));
    let beyond = vec![0; RECORD_BYTES_MAX + 1];
    let refused = send(&*log, 7, Token::random(), &[&beyond]);
    assert!(
        matches!(&refused, Appended::Refused(error) if error.kind() == ErrorKind::TooLarge),
        "{refused:?}"
    );
}

#[test]
fn damage_is_found_by_reading_and_by_verification() {
    // The byte of the call that changes; `None` takes the last one away.
    let damages =
        [("magic", Some(0)), ("header", Some(20)), ("index", Some(90)), ("body", Some(105)), ("end", None)];
    for (name, damage) in damages {
        for is_sealed in [false, true] {
            let (bucket, place, log) = three_calls();
            let key = match is_sealed {
                true => {
                    log.seal().unwrap();
                    bucket.keys("annals/log/segments/").remove(0)
                }
                false => key(4),
            };
            let mut object = bucket.get(&key).unwrap();
            let at = object.len() - 107 - if is_sealed { 20 } else { 0 };
            match damage {
                Some(byte) => object[at + byte] ^= 1,
                None => object.truncate(object.len() - 1),
            }
            bucket.put(&key, &object);
            let options = annals_logs::Options { is_read_only: true, ..annals_logs::Options::default() };
            let found = S3Log::open(&place, &options).and_then(|log| log.verify());
            let error = found.expect_err(name);
            assert_eq!(error.kind(), ErrorKind::Corrupted, "{name}, {is_sealed}: {error}");
            assert!(error.to_string().contains("restore"), "{error}");
        }
    }
    let (bucket, place, _) = three_calls();
    bucket.put("annals/log/manifest", b"annals log 1\nid x\nsum 0\n");
    let error = S3Log::open(&place, &annals_logs::Options::default()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupted, "{error}");
    bucket.put("annals/log/manifest", b"annals log 2\n");
    let error = S3Log::open(&place, &annals_logs::Options::default()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NewerFormat, "{error}");
}

fn is_another(error: &annals::Error) -> bool {
    error.kind() == ErrorKind::Unavailable && error.to_string().contains("not the log that was read here")
}

#[test]
fn a_handle_refuses_a_log_that_went_back_or_is_another_one() {
    // It has lost the last call.
    let (bucket, place, log) = three_calls();
    let reader = open_reader(&place);
    assert_eq!(reader.tail().unwrap(), Position(6));
    bucket.remove(&key(4));
    wait_until(|| reader.tail().is_err_and(|error| is_another(&error)));
    wait_until(|| log.tail().is_err_and(|error| is_another(&error)));
    let outcome = send(&*log, 7, Token::random(), &[b"g"]);
    assert!(matches!(&outcome, Appended::Lost(error) if is_another(error)), "{outcome:?}");
    // Another log of equal length.
    let (bucket, place, log) = three_calls();
    let reader = open_reader(&place);
    let manifest = String::from_utf8(bucket.get("annals/log/manifest").unwrap()).unwrap();
    let (_, other, _) = three_calls();
    let id = open_log(&other).id();
    let other = manifest.replace(&log.id().to_string(), &id.to_string());
    let lines = other.rsplit_once("sum ").unwrap().0;
    bucket.put("annals/log/manifest", format!("{lines}sum {:08x}\n", crc32c(lines.as_bytes())).as_bytes());
    wait_until(|| reader.tail().is_err_and(|error| is_another(&error)));
    // A writer looks once a second.
    std::thread::sleep(Duration::from_millis(1_100));
    let outcome = send(&*log, 7, Token::random(), &[b"g"]);
    assert!(matches!(&outcome, Appended::Lost(error) if is_another(error)), "{outcome:?}");
    // Nothing is there any more.
    let (bucket, _, log) = three_calls();
    bucket.keys("").iter().for_each(|key| bucket.remove(key));
    wait_until(|| log.tail().is_err_and(|error| is_another(&error)));
}

/// Another writer goes on from an earlier call than the one that this one has read.
#[test]
fn calls_of_two_histories_are_not_mixed() {
    let (bucket, place, log) = three_calls();
    bucket.remove(&key(4));
    let other = open_log(&place);
    assert!(is_stored(&send(&*other, 4, Token::random(), &[b"D", b"E", b"F"])));
    wait_until(|| log.tail().is_err_and(|error| is_another(&error)));
    let outcome = send(&*log, 7, Token::random(), &[b"g"]);
    assert!(matches!(&outcome, Appended::Lost(error) if is_another(error)), "{outcome:?}");
    // The call that it has put is behind another one now, and nobody takes it for its own.
    assert!(is_another(&other.tail().unwrap_err()));
    let error = S3Log::open(&place, &annals_logs::Options::default()).unwrap_err();
    assert!(is_another(&error), "{error}");
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
fn a_closed_log_reads_and_does_not_append_and_a_reader_neither_appends_nor_swaps() {
    let (_, place, log) = three_calls();
    log.close().unwrap();
    let refused = send(&*log, 7, Token::random(), &[b"g"]);
    assert!(matches!(&refused, Appended::Refused(error) if error.kind() == ErrorKind::Closed), "{refused:?}");
    assert_eq!(read_all(&*log).len(), 6);
    let reader = open_reader(&place);
    let refused = send(&*reader, 7, Token::random(), &[b"g"]);
    assert!(
        matches!(&refused, Appended::Refused(error) if error.kind() == ErrorKind::ReadOnly),
        "{refused:?}"
    );
    let swapped = reader.register().unwrap().swap(Slot::Lease, None, b"x");
    assert_eq!(swapped.unwrap_err().kind(), ErrorKind::ReadOnly);
    assert_eq!(reader.seal().unwrap_err().kind(), ErrorKind::ReadOnly);
    assert_eq!(read_all(&*reader).len(), 6);
}

#[test]
fn an_interval_bounds_the_calls_in_a_time() {
    let log = open_log(&format!("{}&interval=200ms", new_place()));
    let start = Instant::now();
    for at in 1..=4 {
        assert!(is_stored(&send(&*log, at, Token::random(), &[b"a"])));
    }
    assert!(start.elapsed() >= Duration::from_millis(600), "{:?}", start.elapsed());
    std::thread::sleep(Duration::from_millis(250));
    let start = Instant::now();
    assert!(is_stored(&send(&*log, 5, Token::random(), &[b"a"])));
    assert!(start.elapsed() < Duration::from_millis(200), "a lone call does not wait: {:?}", start.elapsed());
}

/// Calls come from threads of servers, which have a runtime of their own.
#[test]
fn calls_come_from_threads_of_another_runtime() {
    let log = open_log(&new_place());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        assert!(is_stored(&send(&*log, 1, Token::random(), &[b"a"])));
        assert_eq!(log.tail().unwrap(), Position(1));
        assert_eq!(read_all(&*log), [b"a"]);
    });
    // Also the end of the log.
    runtime.block_on(async move { drop(log) });
}
