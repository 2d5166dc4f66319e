//! The engine on the log: commits, openings, takeovers, compactions, followers.

use std::io::Read;
use std::sync::Arc;
use std::time::Duration;

use annals::{
    ErrorKind, Find, InstanceId, NewContent, NewEntity, Operator, Options, Patch, Position, Repository,
};
use annals_logs::Place;

use crate::proxy::{Proxy, Way};
use crate::server::shared;
use crate::support::{new_bucket, new_log_place, new_place, open_log_within, place_at, wait_until};

/// Signs of life come often, and what is to leave leaves soon.
fn options() -> Options {
    Options { lease_ms: 1_500, removal_grace_ms: 500, ..Options::default() }
}

fn opened(place: &str, options: Options) -> Repository {
    Place::parse(place.as_ref()).unwrap().open(options).expect("open the repository")
}

fn repository(place: &str) -> Repository {
    opened(place, options())
}

fn create(repository: &Repository, name: &str) -> annals::Result<InstanceId> {
    let create = |t: &mut annals::Transaction| t.create_entity(NewEntity::new("book").property("name", name));
    repository.transact(create).map(|(id, _)| InstanceId::Entity(id))
}

/// How many entities have the name.
fn count(repository: &Repository, name: &str) -> usize {
    let search = Find::of("book").matching("name", Operator::Equal, name);
    repository.snapshot().find_entities(&search).expect("a search").items.len()
}

#[test]
fn commits_are_there_after_an_opening_and_so_is_the_past() {
    let place = new_place();
    let first = repository(&place);
    let book = create(&first, "one").unwrap();
    first.transact(|t| t.update(&book, Patch::new().set("name", "two"))).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let first = &first;
            scope.spawn(move || {
                (0..20).for_each(|number| drop(create(first, &format!("{thread}-{number}")).unwrap()))
            });
        }
    });
    assert!(first.check().unwrap().differences.is_empty());
    first.checkpoint().unwrap();
    create(&first, "behind the checkpoint").unwrap();
    let position = first.snapshot().position();
    first.close().unwrap();
    let again = repository(&place);
    assert_eq!(again.warnings(), Vec::<String>::new());
    // The new writer begins a term with a record of its own.
    assert!(again.snapshot().position() > position);
    let names = ["two", "one", "7-19", "behind the checkpoint"].map(|name| count(&again, name));
    assert_eq!(names, [1, 0, 1, 1]);
    assert_eq!(again.snapshot().versions(&book, 0, 10).unwrap().len(), 2);
    assert!(again.log_bytes() > 0);
    create(&again, "three").unwrap();
}

#[test]
fn a_standby_follows_and_takes_over_and_the_other_writes_no_more() {
    let place = new_place();
    let one = repository(&place);
    let two = opened(&place, Options { is_standby: true, ..options() });
    create(&one, "a").unwrap();
    wait_until(|| count(&two, "a") == 1);
    assert_eq!(create(&two, "x").unwrap_err().kind(), ErrorKind::NotWriter);
    let locked = Place::parse(place.as_ref()).unwrap().open(options()).err().expect("there is a writer");
    assert_eq!(locked.kind(), ErrorKind::Locked);
    one.demote().unwrap();
    wait_until(|| create(&two, "b").is_ok());
    assert_eq!(create(&one, "y").unwrap_err().kind(), ErrorKind::NotWriter);
    wait_until(|| count(&one, "b") == 1);
    two.close().unwrap();
    drop(one);
    let again = repository(&place);
    assert_eq!(["a", "b", "x", "y"].map(|name| count(&again, name)), [1, 1, 0, 0]);
}

/// The old writer's put is on its way while another one begins a term: it lands behind the term, and so not at all.
#[test]
fn a_writer_that_is_cut_off_in_flight_appends_nothing_behind_another_term() {
    let (proxy, bucket) = (Proxy::before(shared().port), new_bucket());
    let direct = place_at(shared().port, &bucket);
    let log = open_log_within(&place_at(proxy.port, &bucket), 500);
    let old = Repository::with_log(log, Options { log_patience_ms: 1_000, ..options() }).unwrap();
    create(&old, "before").unwrap();
    let next = opened(&direct, Options { is_standby: true, ..options() });
    wait_until(|| count(&next, "before") == 1);
    proxy.set(Way::HoldsRequests);
    let outcome = create(&old, "in flight").unwrap_err();
    assert!(matches!(outcome.kind(), ErrorKind::OutcomeUnknown | ErrorKind::Unavailable), "{outcome}");
    wait_until(|| create(&next, "after").is_ok());
    proxy.set(Way::Open);
    proxy.cut();
    wait_until(|| count(&old, "after") == 1);
    assert_eq!(create(&old, "late").unwrap_err().kind(), ErrorKind::NotWriter);
    next.close().unwrap();
    drop(old);
    let again = repository(&direct);
    let names = ["before", "in flight", "after", "late"].map(|name| count(&again, name));
    assert_eq!(names, [1, 0, 1, 0]);
    assert!(again.check().unwrap().differences.is_empty());
}

#[test]
fn a_compaction_takes_everything_purged_out_of_the_bucket_and_followers_go_on() {
    let (bucket, place) = new_log_place();
    let writer = repository(&place);
    let follower = opened(&place, Options { is_read_only: true, ..options() });
    let content =
        writer.contents().unwrap().put(&mut &b"hunted content"[..], &NewContent::default()).unwrap();
    let entity =
        || Ok(NewEntity::new("book").property("name", "hunted name").property("scan", content.value()));
    let secret = InstanceId::Entity(writer.transact(|t| t.create_entity(entity()?)).unwrap().0);
    // It is pinned as long as somebody may name it.
    drop(content);
    create(&writer, "kept").unwrap();
    writer.checkpoint().unwrap();
    wait_until(|| count(&follower, "kept") == 1);
    assert!(bucket.holding(b"hunted").len() >= 2);
    writer.transact(|t| t.purge(&secret)).unwrap();
    let report = writer.compact().unwrap();
    assert!(report.records_count > 0 && report.bytes_after < report.bytes_before, "{report:?}");
    let in_log = |key: &String| key.starts_with("annals/log/");
    assert!(!bucket.holding(b"hunted").iter().any(in_log), "the log loses them at once");
    wait_until(|| bucket.holding(b"hunted").is_empty());
    create(&writer, "later").unwrap();
    assert!(follower.wait_for(writer.snapshot().position(), Duration::from_secs(20)));
    for repository in [&follower, &writer] {
        let names = ["hunted name", "kept", "later"].map(|name| count(repository, name));
        assert_eq!(names, [0, 1, 1]);
    }
    assert!(follower.following().unwrap().problem.is_none());
    assert!(writer.check().unwrap().differences.is_empty());
    writer.close().unwrap();
    let again = repository(&place);
    assert_eq!(["hunted name", "kept", "later"].map(|name| count(&again, name)), [0, 1, 1]);
    let folder = tempfile::tempdir().unwrap();
    again.backup(folder.path().join("backup")).unwrap();
}

#[test]
fn contents_are_beside_the_log_and_outlive_their_writer() {
    let place = new_place();
    let writer = repository(&place);
    let stored = writer.contents().unwrap().put(&mut &b"bytes"[..], &NewContent::default()).unwrap();
    let entity = || Ok(NewEntity::new("scan").id("a")?.property("content", stored.value()));
    writer.transact(|t| t.create_entity(entity()?)).unwrap();
    writer.close().unwrap();
    let again = opened(&place, Options { is_read_only: true, ..options() });
    let snapshot = again.snapshot();
    let found = snapshot.entity(&annals::Id::new("a").unwrap()).unwrap().expect("it is there");
    let Some(annals::Value::Content(content)) = found.property("content") else { panic!("it has a content") };
    let mut bytes = Vec::new();
    again.contents().unwrap().open(&content).unwrap().read_to_end(&mut bytes).unwrap();
    assert_eq!(bytes, b"bytes");
}

#[test]
fn a_follower_refuses_a_log_that_went_back_and_a_writer_writes_nothing_into_it() {
    let (bucket, place) = new_log_place();
    let writer = repository(&place);
    create(&writer, "one").unwrap();
    create(&writer, "two").unwrap();
    let follower = opened(&place, Options { is_read_only: true, ..options() });
    assert_eq!(count(&follower, "two"), 1);
    let last = bucket.keys("annals/log/0").pop().unwrap();
    bucket.remove(&last);
    wait_until(|| follower.following().is_some_and(|following| following.is_of_other_log));
    std::thread::sleep(Duration::from_millis(1_100));
    let error = create(&writer, "three").unwrap_err();
    assert!(error.to_string().contains("not the log that was read here"), "{error}");
    assert!(create(&writer, "four").is_err(), "it writes no more");
    // The call that was put there is behind a gap, and an opening says so.
    let refused = Place::parse(place.as_ref()).unwrap().open(Options { is_read_only: true, ..options() });
    assert_eq!(refused.err().expect("a gap").kind(), ErrorKind::Gap);
}

#[test]
fn a_log_is_shared_by_a_repository_and_its_caller() {
    let log = open_log_within(&new_place(), 4_000);
    let repository = Repository::with_log(Arc::clone(&log) as Arc<dyn annals::log::Log>, options()).unwrap();
    create(&repository, "one").unwrap();
    let position = repository.snapshot().position();
    assert_eq!(annals::log::Log::tail(&*log).unwrap(), position);
    assert_eq!(Position(annals::log::Log::verify(&*log).unwrap().records_count), position);
}
