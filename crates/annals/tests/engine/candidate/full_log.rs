//! A commit that nobody confirms is taken back soon after an outage of the log is over.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::time::{Duration, Instant as Clock};

use annals::log::{Appended, Call, Log, MemoryLog, ReadLimit};
use annals::*;

use crate::support::trees::path;

/// A log that refuses appends while it is full.
#[derive(Default)]
struct FullLog {
    log: MemoryLog,
    is_full: AtomicBool,
    refused: AtomicU64,
}

impl Log for FullLog {
    fn tail(&self) -> Result<Position> {
        self.log.tail()
    }

    fn append_call(&self, call: &Call<'_>) -> Appended {
        if !self.is_full.load(Ordering::SeqCst) {
            return self.log.append_call(call);
        }
        self.refused.fetch_add(1, Ordering::SeqCst);
        Appended::Refused(Error::new(ErrorKind::NoRoom, "the disk is full"))
    }

    fn read(&self, from: Position, limit: ReadLimit) -> Result<Vec<Vec<u8>>> {
        self.log.read(from, limit)
    }

    fn describe(&self) -> String {
        "log of a small disk".to_owned()
    }
}

fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let start = Clock::now();
    while !is_so() {
        assert!(start.elapsed() < Duration::from_secs(20), "waited in vain until {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A full disk of a moment delayed it by a minute.
#[test]
fn a_commit_is_taken_back_soon_after_the_disk_has_room_again() {
    let log = Arc::new(FullLog::default());
    let now = Arc::new(AtomicI64::new(Instant::now().micros()));
    let clock = Arc::clone(&now);
    let options = Options {
        clock: Arc::new(move || Instant::from_micros(clock.load(Ordering::SeqCst)).unwrap()),
        ..Options::default()
    };
    let repository = Repository::with_log(Arc::clone(&log) as Arc<dyn Log>, options).unwrap();
    let candidates = repository.candidates();
    candidates.open("c", "").unwrap();
    candidates.edit("c", |t| t.tree().set(&path("/leaf"), 1)).unwrap();
    let how =
        CandidateCommit { confirm_within: Some(Duration::from_secs(600)), ..CandidateCommit::default() };
    candidates.commit("c", &how).unwrap();

    log.is_full.store(true, Ordering::SeqCst);
    now.fetch_add(601_000_000, Ordering::SeqCst);
    // The record, and the one that says why it failed; then they are tried again.
    wait_until("it was refused again", || log.refused.load(Ordering::SeqCst) >= 4);
    log.is_full.store(false, Ordering::SeqCst);
    wait_until("it is taken back", || candidates.get("c").unwrap().unconfirmed.is_none());
    let snapshot = repository.snapshot();
    assert!(snapshot.tree().item(&path("/leaf")).unwrap().is_none());
}
