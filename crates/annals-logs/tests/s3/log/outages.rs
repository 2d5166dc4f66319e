//! A service that does not answer, loses answers or is full, in the middle of commits.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use annals::log::{Appended, Log, Token};
use annals::{ErrorKind, NewEntity, Options, Repository};

use crate::proxy::{Proxy, Way};
use crate::server::shared;
use crate::support::{
    is_stored, new_bucket, open_log, open_log_within, place_at, read_all, send, wait_until,
};

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
fn a_service_that_stops_and_loses_answers_loses_and_doubles_no_commit() {
    let (proxy, bucket) = (Proxy::before(shared().port), new_bucket());
    let options = Options { log_patience_ms: 60_000, ..Options::default() };
    let log = open_log_within(&place_at(proxy.port, &bucket), 400);
    let repository = Repository::with_log(log, options).unwrap();
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
        for way in [Way::LosesAnswers, Way::HoldsRequests, Way::LosesAnswers] {
            std::thread::sleep(Duration::from_millis(300));
            let before = outcomes.lock().unwrap().len();
            proxy.set(way);
            std::thread::sleep(Duration::from_millis(900));
            proxy.set(Way::Open);
            proxy.cut();
            wait_until(|| outcomes.lock().unwrap().len() > before + 40);
        }
        is_over.store(true, Ordering::SeqCst);
    });
    let outcomes = outcomes.into_inner().unwrap();
    let found = counts(&*open_log(&place_at(shared().port, &bucket)));
    let acknowledged = outcomes.iter().filter(|(_, error)| error.is_none()).count();
    assert!(acknowledged > 100, "{acknowledged}");
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
fn the_engine_goes_on_after_an_outage_and_reads_meanwhile() {
    let (proxy, bucket) = (Proxy::before(shared().port), new_bucket());
    let options = Options { log_patience_ms: 1_500, ..Options::default() };
    let log = open_log_within(&place_at(proxy.port, &bucket), 500);
    let repository = Repository::with_log(log, options).unwrap();
    let create = |name: &str| {
        repository
            .transact(|t| t.create_entity(NewEntity::new("book").property("name", name)))
            .map(|(id, _)| id)
    };
    let book = create("one").unwrap();
    proxy.set(Way::HoldsRequests);
    let error = create("two").unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Unavailable | ErrorKind::OutcomeUnknown), "{error}");
    assert!(repository.snapshot().entity(&book).unwrap().is_some());
    proxy.set(Way::Open);
    proxy.cut();
    wait_until(|| create("three").is_ok());
    assert!(repository.check().unwrap().differences.is_empty());
}

#[test]
fn a_full_service_refuses_appends_until_there_is_room() {
    let (proxy, bucket) = (Proxy::before(shared().port), new_bucket());
    let log = open_log(&place_at(proxy.port, &bucket));
    assert!(is_stored(&send(&*log, 1, Token::random(), &[b"a"])));
    proxy.set(Way::IsFull);
    let refused = send(&*log, 2, Token::random(), &[b"b"]);
    let is_no_room =
        |error: &annals::Error| error.kind() == ErrorKind::NoRoom && error.to_string().contains("make room");
    assert!(matches!(&refused, Appended::Refused(error) if is_no_room(error)), "{refused:?}");
    assert_eq!(read_all(&*log), [b"a"]);
    proxy.set(Way::Open);
    assert!(is_stored(&send(&*log, 2, Token::random(), &[b"b"])));
    assert_eq!(read_all(&*log), [b"a", b"b"]);
}
