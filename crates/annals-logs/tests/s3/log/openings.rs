//! Openings of logs in S3: what is refused, with one sentence, and what is accepted knowingly.

use std::time::{Duration, Instant};

use annals::log::{Log, LogId, Slot, Token};
use annals::storage::Store;
use annals::{ErrorKind, Position, Repository};
use annals_logs::s3::{S3Log, S3Store};
use annals_logs::{Options, Place};

use crate::opening::{ignoring, refusal_of};
use crate::server::shared;
use crate::support::{
    is_stored, new_bucket, new_log_place, new_place, open, open_log, place_at, put, read_all, send,
};

fn refusal(place: &str, options: &Options) -> (ErrorKind, String) {
    refusal_of(|| annals_logs::open(place, options).err())
}

fn reading() -> Options {
    Options { is_read_only: true, ..Options::default() }
}

#[test]
fn a_missing_log_is_created_by_a_writer_only() {
    let place = new_place();
    let (kind, text) = refusal(&place, &reading());
    assert!(kind == ErrorKind::NotFound && text.contains("open it for writing once"), "{text}");
    let parsed = Place::parse(place.as_ref()).unwrap();
    assert!(parsed.is_vacant().unwrap());
    drop(parsed.open(annals::Options::default()).unwrap());
    assert!(!parsed.is_vacant().unwrap());
    annals_logs::open(&place, &reading()).unwrap();
    let status = annals_logs::status(&place, &Options::default()).unwrap();
    assert!(
        status.durability.contains("acknowledged") && !status.place.contains("credentials"),
        "{status:?}"
    );
}

#[test]
fn what_is_no_place_of_a_log_is_refused() {
    for (place, expected) in [
        ("s3://hunter:hunter2@books/a", "expected no key"),
        ("s3://books/a?secret=hunter2", "expected no key"),
        ("s3://books/a?interval=hunter2", "expected 0ms to 10000ms"),
    ] {
        for text in [refusal(place, &Options::default()), refusal_of(|| Place::parse(place.as_ref()).err())] {
            assert!(text.0 == ErrorKind::InvalidArgument && text.1.contains(expected), "{place}: {text:?}");
        }
    }
    let (kind, text) = refusal(&place_at(shared().port, "no-such-bucket"), &Options::default());
    assert!(kind == ErrorKind::NotFound && text.contains("create it"), "{text}");
}

#[test]
fn a_service_that_ignores_conditions_is_refused() {
    let bucket = new_bucket();
    for (condition, expected) in [("if-none-match:", "If-None-Match"), ("if-match:", "If-Match")] {
        let (kind, text) = refusal(&place_at(ignoring(condition), &bucket), &Options::default());
        assert!(kind == ErrorKind::InvalidArgument && text.contains(expected), "{text}");
    }
}

/// Each repository removed the contents of the other.
#[test]
fn two_repositories_do_not_share_a_prefix() {
    let (one, two) = (LogId([1; 16]), LogId([2; 16]));
    // Objects of two logs that are elsewhere.
    let place = new_place();
    open(&place).claim(one).unwrap();
    open(&place).claim(one).unwrap();
    let refused = |place: &str, log| open(place).claim(log).unwrap_err();
    let error = refused(&place, two);
    let text = error.to_string();
    assert!(error.kind() == ErrorKind::InvalidArgument && text.contains("a prefix of its own"), "{text}");
    assert!(text.contains(&one.to_string()) && text.contains(&two.to_string()), "{text}");
    let reader = S3Store::open(&place, &reading()).unwrap();
    assert!(reader.claim(two).is_err() && reader.claim(one).is_ok());
    // A log there.
    for options in [Options::default(), reading()] {
        let (kind, text) = refusal(&place, &options);
        assert!(kind == ErrorKind::InvalidArgument && text.contains("which is elsewhere"), "{text}");
    }
    // Objects in the place of a log.
    let place = new_place();
    let log = open_log(&place);
    assert_eq!(refused(&place, one).kind(), ErrorKind::InvalidArgument);
    open(&place).claim(log.id()).unwrap();
    // A log in the place of objects of an earlier version, which no log has claimed.
    let place = new_place();
    put(&*open(&place), "name", b"bytes");
    let (kind, text) = refusal(&place, &Options::default());
    assert!(kind == ErrorKind::InvalidArgument && text.contains("of another repository"), "{text}");
    open(&place).claim(one).unwrap();
    assert_eq!(refused(&place, two).kind(), ErrorKind::InvalidArgument);
    // A log without an id claims nothing.
    open(&place).claim(LogId::NIL).unwrap();
}

#[test]
fn a_repository_whose_objects_are_those_of_another_log_is_not_opened() {
    let (place, other) = (new_place(), new_place());
    let parse = |place: &str| Place::parse(place.as_ref()).unwrap();
    drop(parse(&other).open(annals::Options::default()).unwrap());
    let with_objects = parse(&place).with_objects(Some(other)).unwrap();
    let error = with_objects.open(annals::Options::default()).err().expect("it is refused");
    assert!(error.to_string().contains("each would remove contents of the other"), "{error}");
    // Its own place, and one of its own elsewhere.
    let elsewhere = new_place();
    for objects in [&place, &elsewhere] {
        let own = parse(&place).with_objects(Some(objects.clone())).unwrap();
        drop(own.open(annals::Options::default()).unwrap());
    }
    // With the log's new id, the objects stay those of the log.
    let before = open_log(&place).id();
    let id = annals_logs::adopt(&place, Some(&elsewhere), &Options::default()).unwrap();
    assert_ne!(id, before);
    open(&elsewhere).claim(id).unwrap();
    assert_eq!(open_log(&place).id(), id);
    let foreign = annals_logs::adopt(&place, Some(&new_place_of(LogId([9; 16]))), &Options::default());
    assert_eq!(foreign.unwrap_err().kind(), ErrorKind::InvalidArgument);
    assert_eq!(open_log(&place).id(), id, "nothing was adopted");
}

fn new_place_of(log: LogId) -> String {
    let place = new_place();
    open(&place).claim(log).unwrap();
    place
}

#[test]
fn a_log_with_a_gap_is_refused_until_it_is_adopted() {
    let (bucket, place) = new_log_place();
    let log = open_log(&place);
    for at in 1..=5 {
        assert!(is_stored(&send(&*log, at, Token::random(), &[b"a"])));
    }
    bucket.remove(&format!("annals/log/{:020}", 3));
    for options in [Options::default(), reading()] {
        let (kind, text) = refusal(&place, &options);
        assert!(
            kind == ErrorKind::Gap && text.contains("expected a call at 3, found the next one at 4"),
            "{text}"
        );
    }
    let id = annals_logs::adopt(&place, None, &Options::default()).unwrap();
    assert_eq!(bucket.keys("annals/log/0").len(), 2, "no call is behind a gap");
    let again = open_log(&place);
    assert_eq!((again.id(), again.tail().unwrap()), (id, Position(2)));
    assert!(is_stored(&send(&*again, 3, Token::random(), &[b"b"])));
    assert_eq!(read_all(&*again), [b"a", b"a", b"b"]);
    // The handle of before refuses it.
    std::thread::sleep(Duration::from_millis(1_100));
    assert!(log.tail().unwrap_err().to_string().contains("not the log that was read here"));
}

#[test]
fn a_log_with_a_writer_is_not_adopted() {
    let place = new_place();
    let writer = Repository::with_log(open_log(&place), annals::Options::default()).unwrap();
    let start = Instant::now();
    let error = annals_logs::adopt(&place, None, &Options::default()).unwrap_err();
    assert!(error.kind() == ErrorKind::Locked && error.to_string().contains("stop it"), "{error}");
    assert!(start.elapsed() >= Duration::from_secs(4));
    writer.close().unwrap();
    annals_logs::adopt(&place, None, &Options::default()).unwrap();
}

#[test]
fn the_objects_and_the_register_are_beside_the_log() {
    let (bucket, place) = new_log_place();
    let log = open_log(&place);
    put(&**log.store(), "name", b"bytes");
    assert!(log.register().unwrap().swap(Slot::Lease, None, b"value").unwrap());
    assert_eq!(bucket.keys("annals/objects/"), ["annals/objects/name"]);
    assert_eq!(bucket.keys("annals/register/"), ["annals/register/lease"]);
    assert_eq!(log.store().list().unwrap(), ["name"]);
    assert!(S3Log::check(&place).is_ok() && format!("{log:?}").contains("s3://"));
}
