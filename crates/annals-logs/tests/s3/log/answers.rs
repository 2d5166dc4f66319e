//! Answers that are lost or late, and calls that land late.

use std::sync::Arc;
use std::time::{Duration, Instant};

use annals::log::{Appended, Log, ReadLimit, Rewrite, Token};
use annals::{ErrorKind, Position};
use annals_logs::s3::S3Log;

use crate::proxy::{Proxy, Way};
use crate::server::shared;
use crate::support::{
    is_stored, is_unknown, new_bucket, open_log, open_log_within, place_at, read_all, send, wait_until,
};

/// The deadline of calls whose answer does not come. Units: milliseconds.
const SHORT_MS: u64 = 800;

/// A log behind a proxy, with one record, and another handle directly on it.
fn behind_a_proxy() -> (Proxy, Arc<S3Log>, Arc<S3Log>) {
    let (proxy, bucket) = (Proxy::before(shared().port), new_bucket());
    let log = open_log_within(&place_at(proxy.port, &bucket), SHORT_MS);
    assert!(is_stored(&send(&*log, 1, Token::random(), &[b"a"])));
    assert_eq!(read_all(&*log), [b"a"]);
    (proxy, log, open_log(&place_at(shared().port, &bucket)))
}

fn go_on(proxy: &Proxy) {
    proxy.set(Way::Open);
    proxy.cut();
}

#[test]
fn a_lost_answer_of_an_append_is_unknown_and_the_call_is_found_stored() {
    let (proxy, log, direct) = behind_a_proxy();
    let token = Token::random();
    proxy.set(Way::LosesAnswers);
    let start = Instant::now();
    let outcome = send(&*log, 2, token, &[b"b"]);
    assert!(is_unknown(&outcome), "{outcome:?}");
    assert!(start.elapsed() < Duration::from_millis(SHORT_MS + 1_500), "{:?}", start.elapsed());
    // The same call again, while answers are still lost, is still unknown.
    assert!(is_unknown(&send(&*log, 2, token, &[b"b"])));
    go_on(&proxy);
    for _ in 0..2 {
        let again = send(&*log, 2, token, &[b"b"]);
        assert!(is_stored(&again), "{again:?}");
    }
    let other = send(&*log, 2, Token::random(), &[b"b"]);
    assert!(matches!(other, Appended::Taken), "{other:?}");
    assert_eq!(read_all(&*direct), [b"a", b"b"]);
}

#[test]
fn a_connection_that_is_cut_in_an_append_makes_its_outcome_unknown() {
    let (proxy, log, _) = behind_a_proxy();
    let token = Token::random();
    proxy.set(Way::LosesAnswers);
    let outcome = std::thread::scope(|scope| {
        let sent = scope.spawn(|| send(&*log, 2, token, &[b"b"]));
        std::thread::sleep(Duration::from_millis(200));
        proxy.cut();
        sent.join().unwrap()
    });
    assert!(is_unknown(&outcome), "{outcome:?}");
    go_on(&proxy);
    assert!(is_stored(&send(&*log, 2, token, &[b"b"])));
    assert_eq!(log.tail().unwrap(), Position(2));
}

#[test]
fn lost_answers_of_reads_are_errors_or_asked_for_again() {
    let (proxy, log, _) = behind_a_proxy();
    // Small calls behind the segments are kept in memory.
    log.seal().unwrap();
    proxy.set(Way::LosesAnswers);
    let start = Instant::now();
    assert_eq!(log.tail().unwrap_err().kind(), ErrorKind::Unavailable);
    assert_eq!(log.read(Position(1), ReadLimit::ONE).unwrap_err().kind(), ErrorKind::Unavailable);
    assert!(start.elapsed() < Duration::from_secs(8), "{:?}", start.elapsed());
    go_on(&proxy);
    assert_eq!((log.tail().unwrap(), read_all(&*log)), (Position(1), vec![b"a".to_vec()]));
    // A connection that is cut is replaced within the same call.
    for _ in 0..3 {
        proxy.cut();
        assert_eq!((log.tail().unwrap(), read_all(&*log)), (Position(1), vec![b"a".to_vec()]));
    }
}

#[test]
fn an_append_that_lands_late_is_found_by_its_token() {
    let (proxy, log, direct) = behind_a_proxy();
    let token = Token::random();
    proxy.set(Way::HoldsRequests);
    assert!(is_unknown(&send(&*log, 2, token, &[b"b"])));
    assert_eq!(direct.tail().unwrap(), Position(1));
    proxy.set(Way::Open);
    wait_until(|| direct.tail().unwrap() == Position(2));
    assert!(is_stored(&send(&*log, 2, token, &[b"b"])));
    assert_eq!(read_all(&*direct), [b"a", b"b"]);
}

/// As behind the record of another writer's term.
#[test]
fn an_append_that_comes_late_to_a_taken_position_never_lands() {
    let (proxy, log, direct) = behind_a_proxy();
    let token = Token::random();
    proxy.set(Way::HoldsRequests);
    assert!(is_unknown(&send(&*log, 2, token, &[b"late"])));
    assert!(is_stored(&send(&*direct, 2, Token::random(), &[b"other", b"third"])));
    proxy.set(Way::Open);
    std::thread::sleep(Duration::from_millis(500));
    for _ in 0..2 {
        let outcome = send(&*log, 2, token, &[b"late"]);
        assert!(matches!(outcome, Appended::Taken), "{outcome:?}");
    }
    assert_eq!(read_all(&*direct), [&b"a"[..], b"other", b"third"]);
}

/// S3 refuses one of two puts at a time with 409, also if neither is there yet.
#[test]
fn of_many_puts_at_a_time_one_is_stored() {
    let (_, _, direct) = behind_a_proxy();
    let outcomes: Vec<Appended> = std::thread::scope(|scope| {
        let sent: Vec<_> =
            (0..8).map(|_| scope.spawn(|| send(&*direct, 2, Token::random(), &[b"b"]))).collect();
        sent.into_iter().map(|sent| sent.join().unwrap()).collect()
    });
    let stored = outcomes.iter().filter(|outcome| is_stored(outcome)).count();
    let taken = outcomes.iter().filter(|outcome| matches!(outcome, Appended::Taken)).count();
    assert_eq!((stored, taken), (1, 7), "{outcomes:?}");
}
