//! A log tells up to where rewritings changed it, and snapshots of a follower outlive them.

use std::sync::Arc;

use annals::log::{FileLog, Log, MemoryLog};
use annals::*;

use crate::support::named::{id, new};

fn create(repository: &Repository, name: &str) {
    repository.transact(|t| t.create_entity(new(name))).unwrap();
}

/// Removes an entity, also from the log.
fn remove(repository: &Repository, name: &str) {
    repository.transact(|t| t.purge(&InstanceId::Entity(id(name)))).unwrap();
    repository.compact().unwrap();
}

/// The last position that changed since each of the generations 0, 1 and 2.
fn rewritten(log: &dyn Log) -> [u64; 3] {
    log.tail().unwrap();
    [0, 1, 2].map(|since| log.rewritten_since(since).0)
}

#[test]
fn a_log_in_memory_knows_up_to_where_it_was_rewritten() {
    let log = MemoryLog::new();
    let repository = Repository::with_log(Arc::new(log.clone()), Options::default()).unwrap();
    ["a", "b", "c"].iter().for_each(|name| create(&repository, name));
    assert_eq!(rewritten(&log), [0, 0, 0]);
    remove(&repository, "a");
    create(&repository, "d");
    assert_eq!(rewritten(&log), [4, 0, 0]);
    remove(&repository, "b");
    create(&repository, "e");
    assert_eq!(rewritten(&log), [6, 6, 0]);
}

#[test]
fn a_reader_of_files_knows_up_to_where_they_were_rewritten() {
    let folder = tempfile::tempdir().unwrap();
    let repository = Repository::open(folder.path()).unwrap();
    ["a", "b", "c"].iter().for_each(|name| create(&repository, name));
    let log = FileLog::open_read_only(folder.path().join("log")).unwrap();
    assert_eq!(rewritten(&log), [0, 0, 0]);
    remove(&repository, "a");
    assert_eq!(rewritten(&log), [4, 0, 0], "no segment follows the rewritten one yet");
    create(&repository, "d");
    assert_eq!(rewritten(&log), [4, 0, 0]);
    // In the second segment.
    remove(&repository, "d");
    create(&repository, "e");
    assert_eq!(rewritten(&log), [6, 6, 0]);
    // In the first segment again, and in the third.
    remove(&repository, "b");
    assert_eq!(rewritten(&log), [8, 8, 8]);
}

#[test]
fn a_snapshot_of_before_a_compaction_stays_what_it_is() {
    let log = MemoryLog::new();
    let writer = Repository::with_log(Arc::new(log.clone()), Options::default()).unwrap();
    ["a", "b"].iter().for_each(|name| create(&writer, name));
    let options = Options { poll_interval_ms: 3_600_000, ..Options::read_only() };
    let follower = Repository::with_log(Arc::new(log), options).unwrap();
    let held = follower.snapshot();
    remove(&writer, "a");
    create(&writer, "c");
    let last = writer.snapshot().position();
    assert_eq!(follower.refresh().unwrap(), last);
    let shows =
        |snapshot: &Snapshot| ["a", "b", "c"].map(|name| snapshot.entity(&id(name)).unwrap().is_some());
    assert_eq!(shows(&held), [true, true, false]);
    assert_eq!(shows(&follower.try_snapshot().unwrap()), [false, true, true]);
    let following = follower.following().unwrap();
    assert!(following.opening.is_none() && following.problem.is_none(), "{following:?}");
    assert_eq!(follower.check().unwrap().differences, Vec::<String>::new());
    let refused = Operational::over(&follower).err().unwrap();
    assert_eq!(refused.kind(), ErrorKind::ReadOnly, "{refused}");
}
