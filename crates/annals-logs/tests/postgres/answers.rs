//! Answers that are lost or late, calls that land late, and commits that no standby has.

use std::sync::Arc;
use std::time::{Duration, Instant};

use annals::log::{Appended, Log, ReadLimit, Slot, Token};
use annals::{ErrorKind, Position};

use crate::proxy::Proxy;
use crate::server::{Server, shared};
use crate::support::{
    Held, is_stored, is_unknown, new_schema, open, open_within, place_at, read_all, send, wait_until,
};

/// The deadline of calls whose answer does not come. Units: milliseconds.
const SHORT_MS: u64 = 1_500;

/// A log behind a proxy, with one record, and another handle directly on it.
fn behind_a_proxy() -> (Proxy, Arc<dyn Log>, Arc<dyn Log>) {
    let (port, schema) = (shared().port, new_schema());
    let proxy = Proxy::before(port);
    let log = open_within(&place_at(proxy.port, &schema), SHORT_MS);
    assert!(is_stored(&send(&*log, 1, Token::random(), &[b"a"])));
    assert_eq!(read_all(&*log), [b"a"]);
    assert_eq!(log.register().unwrap().get(Slot::Lease).unwrap(), None);
    let direct = open(&place_at(port, &schema));
    (proxy, log, direct)
}

#[test]
fn a_lost_answer_of_an_append_is_unknown_and_the_call_is_found_stored() {
    let (proxy, log, direct) = behind_a_proxy();
    let token = Token::random();
    proxy.lose_answers();
    let start = Instant::now();
    let outcome = send(&*log, 2, token, &[b"b"]);
    assert!(is_unknown(&outcome), "{outcome:?}");
    assert!(start.elapsed() < Duration::from_millis(SHORT_MS + 600), "{:?}", start.elapsed());
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
    proxy.lose_answers();
    let outcome = std::thread::scope(|scope| {
        let sent = scope.spawn(|| send(&*log, 2, token, &[b"b"]));
        std::thread::sleep(Duration::from_millis(100));
        proxy.cut();
        sent.join().unwrap()
    });
    assert!(is_unknown(&outcome), "{outcome:?}");
    assert!(is_stored(&send(&*log, 2, token, &[b"b"])));
    assert_eq!(log.tail().unwrap(), Position(2));
}

#[test]
fn lost_answers_of_reads_are_errors_or_asked_for_again() {
    let (proxy, log, _) = behind_a_proxy();
    proxy.lose_answers();
    assert_eq!(log.tail().unwrap_err().kind(), ErrorKind::Unavailable);
    assert_eq!(log.tail().unwrap(), Position(1));
    proxy.lose_answers();
    assert_eq!(log.read(Position(1), ReadLimit::ONE).unwrap_err().kind(), ErrorKind::Unavailable);
    assert_eq!(read_all(&*log), [b"a"]);
    // A connection that is cut is replaced within the same call.
    proxy.cut();
    assert_eq!(log.tail().unwrap(), Position(1));
    proxy.cut();
    assert_eq!(read_all(&*log), [b"a"]);
    assert_eq!(log.verify().unwrap().records_count, 1);
}

#[test]
fn a_lost_answer_of_a_swap_is_an_error_and_the_value_tells_what_happened() {
    let (proxy, log, direct) = behind_a_proxy();
    let register = log.register().unwrap();
    // Both statements are known to the server from here on.
    assert!(register.swap(Slot::Upkeep, None, b"x").unwrap());
    assert!(register.swap(Slot::Upkeep, Some(b"x"), b"y").unwrap());
    for (expected, value) in [(None, b"one"), (Some(&b"one"[..]), b"two")] {
        register.swap(Slot::Upkeep, None, b"z").unwrap();
        register.swap(Slot::Upkeep, Some(b"z"), b"z").unwrap();
        proxy.lose_answers();
        let error = register.swap(Slot::Lease, expected, value).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unavailable);
        assert_eq!(register.get(Slot::Lease).unwrap().as_deref(), Some(&value[..]));
        assert!(!direct.register().unwrap().swap(Slot::Lease, expected, b"x").unwrap());
    }
    proxy.lose_answers();
    assert_eq!(register.now().unwrap_err().kind(), ErrorKind::Unavailable);
    register.now().unwrap();
}

#[test]
fn an_append_that_lands_late_is_found_by_its_token() {
    let (proxy, log, direct) = behind_a_proxy();
    let token = Token::random();
    proxy.hold_requests();
    assert!(is_unknown(&send(&*log, 2, token, &[b"b"])));
    assert_eq!(direct.tail().unwrap(), Position(1));
    proxy.release_requests();
    wait_until(|| direct.tail().unwrap() == Position(2));
    assert!(is_stored(&send(&*log, 2, token, &[b"b"])));
    assert_eq!(read_all(&*direct), [b"a", b"b"]);
}

#[test]
fn an_append_that_comes_late_to_a_taken_position_never_lands() {
    let (proxy, log, direct) = behind_a_proxy();
    let token = Token::random();
    proxy.hold_requests();
    assert!(is_unknown(&send(&*log, 2, token, &[b"late"])));
    assert!(is_stored(&send(&*direct, 2, Token::random(), &[b"other", b"third"])));
    proxy.release_requests();
    std::thread::sleep(Duration::from_millis(300));
    for _ in 0..2 {
        let outcome = send(&*log, 2, token, &[b"late"]);
        assert!(matches!(outcome, Appended::Taken), "{outcome:?}");
    }
    assert_eq!(read_all(&*direct), [&b"a"[..], b"other", b"third"]);
}

/// The first try has its row, and waits for its commit: the second waits for the first, and is not stored beside it.
#[test]
fn a_repeat_waits_for_the_try_that_is_under_way() {
    let schema = new_schema();
    let log = open_within(&place_at(shared().port, &schema), SHORT_MS);
    let token = Token::random();
    let insert = format!(
        "insert into {schema}.call select 1, 1, '{token}', 0, gen_random_uuid(), 1, '\\x00000001c1d04330', 'a'"
    );
    let first = Held::begin(shared().port, &insert);
    let outcome = send(&*log, 1, token, &[b"a"]);
    assert!(is_unknown(&outcome), "{outcome:?}");
    first.commit();
    assert!(is_stored(&send(&*log, 1, token, &[b"a"])));
    assert_eq!(read_all(&*log), [b"a"]);
}

#[test]
fn an_own_call_without_a_standby_is_stored_only_behind_a_synced_write() {
    let server = Server::start(&[]);
    let place = place_at(server.port, "one");
    let log = open_within(&place, SHORT_MS);
    assert!(is_stored(&send(&*log, 1, Token::random(), &[b"a"])));
    server.sql("alter system set synchronous_standby_names = 'nobody'");
    server.sql("select pg_reload_conf()");
    std::thread::sleep(Duration::from_millis(300));
    let token = Token::random();
    assert!(is_unknown(&send(&*log, 2, token, &[b"b"])), "the commit waits for the standby");
    let waiting = "from pg_stat_activity where wait_event = 'SyncRep'";
    let cancel = format!("select count(pg_cancel_backend(pid)) {waiting}");
    wait_until(|| server.sql(&cancel) != "0" || server.sql("select max(last) from one.call") == "2");
    wait_until(|| server.sql("select max(last) from one.call") == "2");
    // The row is visible, and no standby has it.
    for _ in 0..2 {
        let outcome = send(&*log, 2, token, &[b"b"]);
        assert!(is_unknown(&outcome), "{outcome:?}");
    }
    server.sql("alter system reset synchronous_standby_names");
    server.sql("select pg_reload_conf()");
    wait_until(|| is_stored(&send(&*log, 2, token, &[b"b"])));
    assert_eq!(read_all(&*log), [b"a", b"b"]);
}

#[test]
fn a_commit_that_gave_up_waiting_for_a_standby_is_unknown() {
    let server = Server::start(&[]);
    let log = open_within(&place_at(server.port, "one"), 20_000);
    assert!(is_stored(&send(&*log, 1, Token::random(), &[b"a"])));
    server.sql("alter system set synchronous_standby_names = 'nobody'");
    server.sql("select pg_reload_conf()");
    std::thread::sleep(Duration::from_millis(300));
    let waiting = "from pg_stat_activity where wait_event = 'SyncRep' and usename = 'annals'";
    let cancelled = |of: &dyn Fn()| {
        std::thread::scope(|scope| {
            scope.spawn(|| {
                wait_until(|| server.sql(&format!("select count(*) {waiting}")) == "1");
                server.sql(&format!("select pg_cancel_backend(pid) {waiting}"));
            });
            of();
        });
    };
    cancelled(&|| {
        let outcome = send(&*log, 2, Token::random(), &[b"b"]);
        assert!(is_unknown(&outcome), "{outcome:?}");
    });
    cancelled(&|| {
        let error = log.register().unwrap().swap(Slot::Lease, None, b"x").unwrap_err();
        assert!(error.to_string().contains("standbys"), "{error}");
    });
    // The value is visible, and proves nothing until a later write is synced.
    assert_eq!(server.sql("select count(*) from one.register"), "1");
    cancelled(&|| {
        let error = log.register().unwrap().get(Slot::Lease).unwrap_err();
        assert!(error.to_string().contains("standbys"), "{error}");
    });
    server.sql("alter system reset synchronous_standby_names");
    server.sql("select pg_reload_conf()");
    assert_eq!(log.register().unwrap().get(Slot::Lease).unwrap().as_deref(), Some(&b"x"[..]));
}
