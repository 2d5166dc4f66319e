//! A follower refuses a log that is not the one that it has read, and says how old it is.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use annals::log::{Appended, Call, Log, MemoryLog, ReadLimit};
use annals::*;

use crate::support::copy_folder;
use crate::support::named::{id, new};

/// The log at one address: another one may take its place.
#[derive(Default)]
struct Address(Mutex<MemoryLog>);

impl Address {
    fn log(&self) -> MemoryLog {
        self.0.lock().unwrap().clone()
    }

    fn put(&self, log: &MemoryLog) {
        *self.0.lock().unwrap() = log.clone();
    }
}

impl Log for Address {
    fn tail(&self) -> Result<Position> {
        self.log().tail()
    }

    fn append_call(&self, call: &Call<'_>) -> Appended {
        self.log().append_call(call)
    }

    fn read(&self, from: Position, limit: ReadLimit) -> Result<Vec<Vec<u8>>> {
        self.log().read(from, limit)
    }

    fn describe(&self) -> String {
        "log at an address".to_owned()
    }
}

/// A log of entities that are named by `name` and their position.
fn log_of(name: &str, count: u64) -> MemoryLog {
    let log = MemoryLog::new();
    let writer = Repository::with_log(Arc::new(log.clone()), Options::default()).unwrap();
    for number in 1..=count {
        writer.transact(|t| t.create_entity(new(&format!("{name}{number}")))).unwrap();
    }
    log
}

fn seldom() -> Options {
    Options { poll_interval_ms: 3_600_000, ..Options::read_only() }
}

fn check_refused(follower: &Repository, at: u64, shown: &str) {
    let error = follower.refresh().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
    let following = follower.following().unwrap();
    assert!(following.is_of_other_log, "{following:?}");
    assert_eq!(following.position, Position(at));
    assert_eq!(following.problem.unwrap().to_string(), error.to_string());
    let snapshot = follower.snapshot();
    assert_eq!(snapshot.position(), Position(at));
    assert!(snapshot.entity(&id(shown)).unwrap().is_some(), "{shown}");
}

#[test]
fn a_longer_log_of_another_history_is_refused_and_nothing_of_it_is_mixed_in() {
    let address = Arc::new(Address::default());
    let own = log_of("own", 5);
    address.put(&own);
    let follower = Repository::with_log(Arc::clone(&address) as Arc<dyn Log>, seldom()).unwrap();
    // The first look.
    assert_eq!(follower.refresh().unwrap(), Position(5));
    address.put(&log_of("other", 8));
    check_refused(&follower, 5, "own5");
    assert!(follower.snapshot().entity(&id("other6")).unwrap().is_none());

    // Its own log is back.
    let writer = Repository::with_log(Arc::new(own.clone()), Options::default()).unwrap();
    writer.transact(|t| t.create_entity(new("own6"))).unwrap();
    address.put(&own);
    assert_eq!(follower.refresh().unwrap(), Position(6));
    let following = follower.following().unwrap();
    assert!(following.problem.is_none() && !following.is_of_other_log, "{following:?}");
}

#[test]
fn a_log_that_has_lost_records_is_refused() {
    let address = Arc::new(Address::default());
    address.put(&log_of("own", 5));
    let follower = Repository::with_log(Arc::clone(&address) as Arc<dyn Log>, seldom()).unwrap();
    follower.refresh().unwrap();
    address.put(&log_of("own", 3));
    check_refused(&follower, 5, "own5");
}

#[test]
fn another_log_of_the_same_length_is_seen_within_seconds() {
    let address = Arc::new(Address::default());
    address.put(&log_of("own", 5));
    let follower = Repository::with_log(Arc::clone(&address) as Arc<dyn Log>, seldom()).unwrap();
    follower.refresh().unwrap();
    address.put(&log_of("other", 5));
    let start = Instant::now();
    while follower.refresh().is_ok() {
        assert!(start.elapsed() < Duration::from_secs(20), "it is not seen");
        std::thread::sleep(Duration::from_millis(50));
    }
    check_refused(&follower, 5, "own5");
}

#[test]
fn a_follower_tells_its_age_and_why() {
    let address = Arc::new(Address::default());
    address.put(&log_of("own", 2));
    let follower = Repository::with_log(Arc::clone(&address) as Arc<dyn Log>, seldom()).unwrap();
    follower.refresh().unwrap();
    address.put(&log_of("own", 1));
    std::thread::sleep(Duration::from_millis(30));
    follower.refresh().unwrap_err();
    assert!(follower.following().unwrap().age >= Duration::from_millis(30));
    let writer = Repository::in_memory();
    assert!(writer.following().is_none(), "a writer follows nothing");
}

/// Moves a folder away, and puts another one in its place.
fn exchange(folder: &Path, by: &Path) {
    std::fs::rename(folder, folder.with_extension("away")).unwrap();
    std::fs::rename(by, folder).unwrap();
}

fn fill(folder: &Path, name: &str, count: u64) -> Repository {
    let writer = Repository::open(folder).unwrap();
    for number in 1..=count {
        writer.transact(|t| t.create_entity(new(&format!("{name}{number}")))).unwrap();
    }
    writer
}

#[test]
fn a_folder_that_was_moved_away_and_restored_is_another_log() {
    let parent = tempfile::tempdir().unwrap();
    let [folder, backup, restored] = ["folder", "backup", "restored"].map(|name| parent.path().join(name));
    let writer = fill(&folder, "own", 5);
    writer.backup(&backup).unwrap();
    writer.close().unwrap();
    let follower = Repository::open_with(&folder, seldom()).unwrap();
    follower.refresh().unwrap();
    restore(&backup, &restored).unwrap();
    exchange(&folder, &restored);
    fill(&folder, "after", 3).close().unwrap();
    check_refused(&follower, 5, "own5");
    assert!(follower.snapshot().entity(&id("after1")).unwrap().is_none());
}

#[test]
fn a_folder_that_was_copied_by_hand_and_put_back_shows_what_it_has() {
    let parent = tempfile::tempdir().unwrap();
    let [folder, copy] = ["folder", "copy"].map(|name| parent.path().join(name));
    fill(&folder, "own", 5).close().unwrap();
    copy_folder(&folder, &copy);
    let follower = Repository::open_with(&folder, seldom()).unwrap();
    follower.refresh().unwrap();

    // The same history goes on in the copy.
    exchange(&folder, &copy);
    fill(&folder, "after", 3).close().unwrap();
    assert_eq!(follower.refresh().unwrap(), Position(8));
    assert!(follower.snapshot().entity(&id("after3")).unwrap().is_some());
}

#[test]
fn a_copy_by_hand_that_is_older_is_refused() {
    let parent = tempfile::tempdir().unwrap();
    let [folder, copy] = ["folder", "copy"].map(|name| parent.path().join(name));
    fill(&folder, "own", 5).close().unwrap();
    copy_folder(&folder, &copy);
    fill(&folder, "late", 2).close().unwrap();
    let follower = Repository::open_with(&folder, seldom()).unwrap();
    follower.refresh().unwrap();
    exchange(&folder, &copy);
    check_refused(&follower, 7, "late2");
    fill(&folder, "after", 4).close().unwrap();
    check_refused(&follower, 7, "late2");
}
