//! Servers that are killed, stopped, restarted or full, in the middle of commits.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use annals::log::{Appended, Log, Token};
use annals::{ErrorKind, NewEntity, Options, Position, Repository};

use crate::proxy::Proxy;
use crate::server::{Server, give};
use crate::support::{is_stored, is_unknown, open, open_within, place_at, read_all, send, wait_until};

/// How often each name is in a record of the log.
fn counts(log: &dyn Log) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for record in read_all(log) {
        let text = String::from_utf8_lossy(&record).into_owned();
        for part in text.split("name<").skip(1) {
            let name = part.split('>').next().unwrap_or_default();
            *counts.entry(name.to_owned()).or_default() += 1;
        }
    }
    counts
}

#[test]
fn a_server_that_is_killed_loses_and_doubles_no_commit() {
    let mut server = Server::start(&[]);
    let place = place_at(server.port, "one");
    let options = Options { log_patience_ms: 60_000, ..Options::default() };
    let repository = Repository::with_log(open_within(&place, 1_000), options).unwrap();
    let is_over = AtomicBool::new(false);
    let next = AtomicU64::new(0);
    // Shape: name, and the kind of the error.
    let outcomes: Mutex<Vec<(String, Option<ErrorKind>)>> = Mutex::default();
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| {
                while !is_over.load(Ordering::SeqCst) {
                    let name = next.fetch_add(1, Ordering::SeqCst).to_string();
                    let text = format!("name<{name}>");
                    let done = repository
                        .transact(|t| t.create_entity(NewEntity::new("book").property("name", &*text)));
                    outcomes.lock().unwrap().push((name, done.err().map(|error| error.kind())));
                }
            });
        }
        for _ in 0..3 {
            std::thread::sleep(Duration::from_millis(400));
            let before = outcomes.lock().unwrap().len();
            server.kill();
            server.run();
            wait_until(|| outcomes.lock().unwrap().len() > before + 100);
        }
        is_over.store(true, Ordering::SeqCst);
    });
    let outcomes = outcomes.into_inner().unwrap();
    let found = counts(&*open(&place));
    let acknowledged = outcomes.iter().filter(|(_, error)| error.is_none()).count();
    assert!(acknowledged > 300, "{acknowledged}");
    for (name, error) in outcomes {
        let count = found.get(&name).copied().unwrap_or_default();
        match error {
            None => assert_eq!(count, 1, "{name} was acknowledged"),
            Some(ErrorKind::OutcomeUnknown) => assert!(count <= 1, "{name} is doubled"),
            Some(_) => assert_eq!(count, 0, "{name} was refused"),
        }
    }
    assert!(repository.check().unwrap().differences.is_empty());
}

#[test]
fn a_call_to_a_server_that_is_stopped_is_unknown_and_found_later() {
    let server = Server::start(&[]);
    let log = open_within(&place_at(server.port, "one"), 800);
    assert!(is_stored(&send(&*log, 1, Token::random(), &[b"a"])));
    log.tail().unwrap();
    server.pause(true);
    let token = Token::random();
    let first = send(&*log, 2, token, &[b"b"]);
    // The connection is closed, and there is no other: nothing of this try can land.
    let second = send(&*log, 2, token, &[b"b"]);
    let tail = log.tail();
    server.pause(false);
    assert!(is_unknown(&first), "{first:?}");
    assert!(
        matches!(&second, Appended::Refused(error) if error.kind() == ErrorKind::Unavailable),
        "{second:?}"
    );
    assert_eq!(tail.unwrap_err().kind(), ErrorKind::Unavailable);
    wait_until(|| is_stored(&send(&*log, 2, token, &[b"b"])));
    assert_eq!(read_all(&*log), [b"a", b"b"]);
}

#[test]
fn a_call_in_doubt_is_found_after_a_restart() {
    let mut server = Server::start(&[]);
    let proxy = Proxy::before(server.port);
    let log = open_within(&place_at(proxy.port, "one"), 800);
    assert!(is_stored(&send(&*log, 1, Token::random(), &[b"a"])));
    let (landed, lost) = (Token::random(), Token::random());
    proxy.lose_answers();
    assert!(is_unknown(&send(&*log, 2, landed, &[b"b"])));
    server.kill();
    let refused = send(&*log, 2, landed, &[b"b"]);
    assert!(
        matches!(&refused, Appended::Refused(error) if error.kind() == ErrorKind::Unavailable),
        "{refused:?}"
    );
    server.run();
    assert!(is_stored(&send(&*log, 2, landed, &[b"b"])));
    // This one never reached it.
    proxy.hold_requests();
    assert!(is_unknown(&send(&*log, 3, lost, &[b"c"])));
    proxy.cut();
    server.kill();
    server.run();
    assert!(is_stored(&send(&*log, 3, lost, &[b"c"])));
    assert_eq!(read_all(&*log), [b"a", b"b", b"c"]);
}

#[test]
fn the_engine_goes_on_after_a_restart_and_reads_meanwhile() {
    let mut server = Server::start(&[]);
    let place = place_at(server.port, "one");
    let options = Options { log_patience_ms: 1_500, ..Options::default() };
    let repository = Repository::with_log(open_within(&place, 500), options).unwrap();
    let create = |name: &str| {
        repository
            .transact(|t| t.create_entity(NewEntity::new("book").property("name", name)))
            .map(|(id, _)| id)
    };
    let book = create("one").unwrap();
    server.kill();
    let error = create("two").unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Unavailable | ErrorKind::OutcomeUnknown), "{error}");
    assert!(repository.snapshot().entity(&book).unwrap().is_some());
    server.run();
    wait_until(|| create("three").is_ok());
    assert!(repository.check().unwrap().differences.is_empty());
}

#[test]
fn a_full_disk_refuses_appends_until_there_is_room() {
    let server = Server::start(&[]);
    let small = server.folder().join("small");
    std::fs::create_dir(&small).unwrap();
    let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", "size=8m", "tmpfs"]).arg(&small).status();
    if !mounted.is_ok_and(|status| status.success()) {
        return println!("skipped: this user may not mount a small disk");
    }
    give(&small);
    let place = place_at(server.port, "one");
    drop(open(&place));
    server.sql(&format!("create tablespace small location '{}'", small.display()));
    server.sql("alter table one.call set tablespace small; create table filler (b bytea) tablespace small");
    server.sql("insert into filler select convert_to(repeat(md5(random()::text), 60), 'UTF8') from generate_series(1, 1500)");
    let log = open(&place);
    let (record, mut next) = (noise(100_000), 1);
    let error = loop {
        match send(&*log, next, Token::random(), &[&record]) {
            Appended::Stored => next += 1,
            Appended::Refused(error) => break error,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(error.kind(), ErrorKind::NoRoom, "{error}");
    assert!(error.to_string().contains("make room"), "{error}");
    assert_eq!(log.tail().unwrap(), Position(next - 1));
    server.sql("drop table filler");
    assert!(is_stored(&send(&*log, next, Token::random(), &[&record])));
    assert_eq!(read_all(&*log).len() as u64, next);
    umount(&small, server);
}

/// Bytes that do not become smaller.
fn noise(length: u32) -> Vec<u8> {
    (0..length).map(|number| (number.wrapping_mul(2_654_435_761) >> 13) as u8).collect()
}

/// Ends the server before its disk.
fn umount(small: &Path, mut server: Server) {
    server.kill();
    let _ = Command::new("umount").arg(small).status();
}
