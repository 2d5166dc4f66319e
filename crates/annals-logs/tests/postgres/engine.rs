//! The engine on the log: commits, openings, compactions, followers.

use std::sync::Arc;
use std::time::Duration;

use annals::{ErrorKind, Find, InstanceId, NewEntity, Operator, Options, Patch, Position, Repository};

use crate::server::shared;
use crate::support::{new_place, new_schema, open, open_within, place_at, wait_until};

fn repository(place: &str) -> Repository {
    Repository::with_log(open(place), Options::default()).expect("open the repository")
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
    let position = first.snapshot().position();
    first.close().unwrap();
    let again = repository(&place);
    // The new writer begins a term with a record of its own.
    assert!(again.snapshot().position() >= position);
    assert_eq!((count(&again, "two"), count(&again, "one"), count(&again, "7-19")), (1, 0, 1));
    assert_eq!(again.snapshot().versions(&book, 0, 10).unwrap().len(), 2);
    assert!(again.log_bytes() > 0);
    create(&again, "three").unwrap();
}

#[test]
fn a_standby_follows_and_takes_over_and_the_other_writes_no_more() {
    let place = new_place();
    let one = repository(&place);
    let standing_by = Options { is_standby: true, ..Options::default() };
    let two = Repository::with_log(open(&place), standing_by).unwrap();
    create(&one, "a").unwrap();
    wait_until(|| count(&two, "a") == 1);
    assert_eq!(create(&two, "x").unwrap_err().kind(), ErrorKind::NotWriter);
    one.demote().unwrap();
    wait_until(|| create(&two, "b").is_ok());
    assert_eq!(create(&one, "y").unwrap_err().kind(), ErrorKind::NotWriter);
    wait_until(|| count(&one, "b") == 1);
    two.close().unwrap();
    drop(one);
    let again = repository(&place);
    let names = ["a", "b", "x", "y"].map(|name| count(&again, name));
    assert_eq!(names, [1, 1, 0, 0]);
}

#[test]
fn a_compaction_takes_a_purged_instance_out_and_a_follower_goes_on() {
    let place = new_place();
    let writer = repository(&place);
    let secret = create(&writer, "a secret").unwrap();
    create(&writer, "kept").unwrap();
    let reading = annals_logs::Options { is_read_only: true, ..annals_logs::Options::default() };
    let options = Options { is_read_only: true, ..Options::default() };
    let follower = Repository::with_log(annals_logs::open(&place, &reading).unwrap(), options).unwrap();
    assert_eq!(count(&follower, "a secret"), 1);
    writer.transact(|t| t.purge(&secret)).unwrap();
    let report = writer.compact().unwrap();
    assert!(report.records_count > 0 && report.bytes_after < report.bytes_before, "{report:?}");
    create(&writer, "later").unwrap();
    assert!(follower.wait_for(writer.snapshot().position(), Duration::from_secs(20)));
    assert_eq!(
        (count(&follower, "a secret"), count(&follower, "kept"), count(&follower, "later")),
        (0, 1, 1)
    );
    assert!(follower.following().unwrap().problem.is_none());
    writer.close().unwrap();
    let again = repository(&place);
    assert_eq!((count(&again, "a secret"), count(&again, "kept"), count(&again, "later")), (0, 1, 1));
    assert!(again.check().unwrap().differences.is_empty());
}

#[test]
fn a_follower_refuses_a_log_that_went_back_or_was_replaced() {
    for loss in ["delete from {s}.call where first > 1", "update {s}.log set id = gen_random_uuid()"] {
        let schema = new_schema();
        let place = place_at(shared().port, &schema);
        let writer = repository(&place);
        create(&writer, "one").unwrap();
        create(&writer, "two").unwrap();
        writer.close().unwrap();
        let reading = annals_logs::Options { is_read_only: true, ..annals_logs::Options::default() };
        let options = Options { is_read_only: true, ..Options::default() };
        let follower = Repository::with_log(annals_logs::open(&place, &reading).unwrap(), options).unwrap();
        assert_eq!(count(&follower, "two"), 1);
        shared().sql(&loss.replace("{s}", &schema));
        wait_until(|| follower.following().is_some_and(|following| following.is_of_other_log));
    }
}

#[test]
fn a_writer_whose_log_went_back_writes_nothing_into_it() {
    let schema = new_schema();
    let place = place_at(shared().port, &schema);
    let writer = Repository::with_log(open_within(&place, 1_000), Options::default()).unwrap();
    create(&writer, "one").unwrap();
    create(&writer, "two").unwrap();
    shared().sql(&format!("delete from {schema}.call where first > 1"));
    let error = create(&writer, "three").unwrap_err();
    assert!(error.to_string().contains("not the log that was read here"), "{error}");
    assert_eq!(shared().sql(&format!("select max(last) from {schema}.call")), "1");
}

#[test]
fn a_log_is_shared_by_a_repository_and_its_caller() {
    let log = open(&new_place());
    let repository = Repository::with_log(Arc::clone(&log), Options::default()).unwrap();
    create(&repository, "one").unwrap();
    assert_eq!(log.tail().unwrap(), repository.snapshot().position());
    assert_eq!(Position(log.verify().unwrap().records_count), repository.snapshot().position());
}
