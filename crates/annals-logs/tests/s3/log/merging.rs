//! Calls in segments: many small ones become few objects, and their keys stay taken.

use std::sync::Arc;

use annals::Position;
use annals::log::{Appended, Log, ReadLimit, Rewrite, Token};
use annals_logs::s3::S3Log;

use crate::raw::RawBucket;
use crate::support::{is_stored, new_log_place, open_log, open_reader, read_all, send, wait_until};

const SEGMENTS: &str = "annals/log/segments/";

fn fill(log: &S3Log, from: u64, to: u64) {
    for at in from..=to {
        let record = format!("record {at}");
        assert!(is_stored(&send(log, at, Token::random(), &[record.as_bytes()])));
    }
}

fn expected(to: u64) -> Vec<Vec<u8>> {
    (1..=to).map(|at| format!("record {at}").into_bytes()).collect()
}

fn manifest(bucket: &RawBucket) -> String {
    String::from_utf8(bucket.get("annals/log/manifest").unwrap()).unwrap()
}

/// True if the bucket has the segments that its manifest names, and no others.
fn is_tidy(bucket: &RawBucket) -> bool {
    let text = manifest(bucket);
    let named = text.lines().filter_map(|line| line.strip_prefix("segment ")?.rsplit(' ').next());
    let mut named: Vec<String> = named.map(|name| format!("{SEGMENTS}{name}")).collect();
    named.sort();
    !named.is_empty() && bucket.keys(SEGMENTS) == named
}

#[test]
fn many_calls_become_few_objects_beside_appends_and_readers() {
    let (bucket, place) = new_log_place();
    let log = open_log(&place);
    let reader = open_reader(&place);
    fill(&log, 1, 300);
    wait_until(|| is_tidy(&bucket));
    assert_eq!(read_all(&*reader), expected(300), "a reader from before");
    fill(&log, 301, 600);
    wait_until(|| is_tidy(&bucket) && !bucket.keys(SEGMENTS)[0].contains("00000000000000000256"));
    let cold = open_reader(&place);
    for log in [&log, &reader, &cold] {
        assert_eq!(read_all(&**log), expected(600));
        assert_eq!(log.read(Position(77), ReadLimit::ONE).unwrap(), [b"record 77"]);
        assert_eq!(
            log.bytes_up_to(Position(600)),
            expected(600).iter().map(|record| record.len() as u64).sum::<u64>()
        );
    }
    assert_eq!(bucket.keys("annals/log/0").len(), 600, "the keys stay");
    assert!(cold.verify().unwrap().segments_count < 300);
}

#[test]
fn a_position_in_a_segment_stays_taken_for_a_writer_that_knows_nothing_of_it() {
    let (_, place) = new_log_place();
    let (stale, log) = (open_log(&place), open_log(&place));
    let (first, token) = (Token::random(), Token::random());
    assert!(is_stored(&send(&*log, 1, first, &[b"a", b"b"])));
    assert!(is_stored(&send(&*log, 3, token, &[b"c"])));
    log.seal().unwrap();
    // It puts at once, because it knows no tail.
    let taken = send(&*stale, 1, Token::random(), &[b"x"]);
    assert!(matches!(taken, Appended::Taken), "{taken:?}");
    for log in [&log, &stale, &open_log(&place)] {
        assert!(is_stored(&send(&**log, 1, first, &[b"a", b"b"])));
        assert!(is_stored(&send(&**log, 3, token, &[b"c"])));
        assert!(matches!(send(&**log, 2, token, &[b"c"]), Appended::Taken), "within a call");
        assert_eq!(read_all(&**log), [b"a", b"b", b"c"]);
    }
    assert!(is_stored(&send(&*stale, 4, Token::random(), &[b"d"])));
    assert_eq!(log.tail().unwrap(), Position(4));
}

#[test]
fn segments_that_nothing_names_any_more_are_removed_by_an_opening() {
    let (bucket, place) = new_log_place();
    let log = open_log(&place);
    fill(&log, 1, 5);
    log.seal().unwrap();
    assert!(is_tidy(&bucket));
    let version =
        manifest(&bucket).split("version ").nth(1).unwrap().lines().next().unwrap().parse::<u64>().unwrap();
    let orphan = |version: u64| format!("{SEGMENTS}{:020}-{:020}-{version:020}-{}", 1, 5, Token(9));
    // Of a change that was forestalled, and of one that may still come.
    bucket.put(&orphan(version), b"forestalled");
    bucket.put(&orphan(version + 1), b"under way");
    bucket.put(&format!("annals/log/leaving/{version:020}-{}", Token(9)), b"a list");
    let again = open_log(&place);
    wait_until(|| bucket.get(&orphan(version)).is_none() && bucket.keys("annals/log/leaving/").is_empty());
    assert!(bucket.get(&orphan(version + 1)).is_some());
    assert_eq!(read_all(&*again), expected(5));
    // A reader removes nothing.
    bucket.put(&orphan(version), b"forestalled");
    assert_eq!(read_all(&*open_reader(&place)), expected(5));
    assert!(bucket.get(&orphan(version)).is_some());
}

#[test]
fn two_handles_that_merge_at_once_lose_nothing() {
    let (bucket, place) = new_log_place();
    let logs: Vec<Arc<S3Log>> = (0..2).map(|_| open_log(&place)).collect();
    let mut next = 1;
    for round in 0..6 {
        fill(&logs[round % 2], next, next + 9);
        next += 10;
        let sealed: Vec<_> = std::thread::scope(|scope| {
            let seals: Vec<_> = logs.iter().map(|log| scope.spawn(|| log.seal())).collect();
            seals.into_iter().map(|seal| seal.join().unwrap()).collect()
        });
        assert!(sealed.iter().any(Result::is_ok), "{sealed:?}");
        for log in &logs {
            assert_eq!(read_all(&**log), expected(next - 1), "round {round}");
        }
    }
    drop(open_log(&place));
    assert_eq!(read_all(&*open_reader(&place)), expected(next - 1));
    wait_until(|| is_tidy(&bucket));
}
