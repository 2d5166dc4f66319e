//! Transactions that lose a race and try again.

use std::sync::Arc;
use std::time::Duration;

use annals::log::{Appended, Call, Log, MemoryLog, ReadLimit};
use annals::{InstanceId, NewEntity, Options, Patch, Position, Repository, Result, Value};

/// A log on a device that takes its time.
struct SlowLog(MemoryLog);

impl Log for SlowLog {
    fn tail(&self) -> Result<Position> {
        self.0.tail()
    }

    fn append_call(&self, call: &Call<'_>) -> Appended {
        std::thread::sleep(Duration::from_millis(5));
        self.0.append_call(call)
    }

    fn read(&self, from: Position, limit: ReadLimit) -> Result<Vec<Vec<u8>>> {
        self.0.read(from, limit)
    }

    fn describe(&self) -> String {
        "slow log".into()
    }
}

// A loser retried at once, on a snapshot that did not show the winner yet because it was still being synced, and so
// used up all its retries within one sync.
#[test]
fn a_retry_waits_until_the_winner_is_visible() {
    let repository = Repository::with_log(Arc::new(SlowLog(MemoryLog::new())), Options::default()).unwrap();
    let (id, _) =
        repository.transact(|t| t.create_entity(NewEntity::new("counter").property("n", 0))).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..16 {
            let (repository, id) = (&repository, &id);
            scope.spawn(move || {
                let count = |t: &mut annals::Transaction| {
                    let n =
                        t.entity(id)?.unwrap().property("n").and_then(|value| value.as_integer()).unwrap();
                    t.update(&InstanceId::Entity(id.clone()), Patch::new().set("n", n + 1))
                };
                repository.transact(count).unwrap();
            });
        }
    });
    let snapshot = repository.snapshot();
    assert_eq!(snapshot.entity(&id).unwrap().unwrap().property("n"), Some(Value::Integer(16)));
}
