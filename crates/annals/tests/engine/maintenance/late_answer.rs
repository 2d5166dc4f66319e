//! A compaction while the log has a record that its repository does not show yet: the answer of the log is under way.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Barrier};
use std::time::Duration;

use annals::log::{Appended, Call, Log, MemoryLog, ReadLimit, Rewrite, RewriteRecord, Rewritten};
use annals::*;

use crate::support::named::{entity, new};

/// A log that has a record for a while before it answers the call.
struct LateLog {
    inner: MemoryLog,
    is_late: AtomicBool,
    /// The record is there, and its answer is not.
    is_there: Barrier,
}

impl Log for LateLog {
    fn tail(&self) -> Result<Position> {
        self.inner.tail()
    }

    fn append_call(&self, call: &Call<'_>) -> Appended {
        let appended = self.inner.append_call(call);
        if self.is_late.swap(false, Ordering::SeqCst) {
            self.is_there.wait();
            std::thread::sleep(Duration::from_millis(300));
        }
        appended
    }

    fn read(&self, from: Position, limit: ReadLimit) -> Result<Vec<Vec<u8>>> {
        self.inner.read(from, limit)
    }

    fn describe(&self) -> String {
        "late log".into()
    }

    fn generation(&self) -> u64 {
        self.inner.generation()
    }

    fn as_rewrite(&self) -> Option<&dyn Rewrite> {
        Some(self)
    }
}

impl Rewrite for LateLog {
    fn seal(&self) -> Result<Position> {
        self.inner.seal()
    }

    fn rewrite(&self, last: Position, change: &mut RewriteRecord<'_>) -> Result<Box<dyn Rewritten + '_>> {
        self.inner.rewrite(last, change)
    }
}

/// The graph that does not show the record yet has other edits of the candidate than the log, which are in force.
#[test]
fn edits_of_a_candidate_in_a_record_that_is_not_shown_yet_stay() {
    let log = Arc::new(LateLog {
        inner: MemoryLog::new(),
        is_late: AtomicBool::new(false),
        is_there: Barrier::new(2),
    });
    let repository = Repository::with_log(Arc::clone(&log) as Arc<dyn Log>, Options::default()).unwrap();
    repository.transact(|t| t.create_entity(new("purged")).map(drop)).unwrap();
    repository.transact(|t| t.purge(&entity("purged"))).unwrap();
    let candidates = repository.candidates();
    candidates.open("c", "").unwrap();
    candidates.edit("c", |t| t.create_entity(new("a")).map(drop)).unwrap();
    log.is_late.store(true, Ordering::SeqCst);
    std::thread::scope(|scope| {
        let editing = scope.spawn(|| candidates.edit("c", |t| t.create_entity(new("b")).map(drop)));
        log.is_there.wait();
        repository.compact().unwrap();
        editing.join().unwrap().unwrap();
    });
    let changed = candidates.view("c").unwrap();
    assert_eq!(changed.entities_count() - repository.snapshot().entities_count(), 2);
    assert!(repository.check().unwrap().is_clean());
}
