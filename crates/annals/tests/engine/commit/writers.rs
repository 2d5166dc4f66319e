//! Several repositories on one log: writers that meet, and followers.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::support::CheckedRepository;
use crate::support::named::{entity, id, new, number, set};
use annals::log::{Appended, Call, FaultLog, FaultPlan, Log, MemoryLog, ReadLimit};
use annals::*;

#[test]
fn two_writers_on_one_log_lose_no_commit() {
    let log = MemoryLog::new();
    let open = || CheckedRepository::on(Arc::new(log.clone()));
    let writers = [open(), open()];
    writers[0].transact(|t| t.create_entity(new("a").property("n", 0))).unwrap();
    std::thread::scope(|scope| {
        for (number, writer) in writers.iter().enumerate() {
            for thread in 0..4 {
                scope.spawn(move || {
                    for step in 0..50 {
                        let name = format!("e{number}-{thread}-{step}");
                        writer.transact(|t| t.create_entity(new(&name))).unwrap();
                        let increment = |t: &mut Transaction| {
                            let n = match t.entity(&id("a"))? {
                                Some(found) => {
                                    found.property("n").and_then(|value| value.as_integer()).unwrap()
                                }
                                // Not yet learned from the other writer: a commit meets it.
                                None => return Err(Error::new(ErrorKind::Conflict, "not there yet")),
                            };
                            t.update(&entity("a"), set(n + 1))
                        };
                        writer.transact(increment).unwrap();
                    }
                });
            }
        }
    });
    // A commit of each makes both know everything.
    for writer in &writers {
        writer.transact(|t| t.create_entity(NewEntity::new("last"))).unwrap();
    }
    let last = writers[1].snapshot();
    assert_eq!((number(&last, "a"), last.entities_count()), (400, 403));
    assert_eq!(last.position(), Position(803));
    writers[0].transact(|t| t.create_entity(NewEntity::new("last"))).unwrap();
}

#[test]
fn two_writers_keep_a_unique_value_and_see_each_others_ends() {
    let log = MemoryLog::new();
    let open = || CheckedRepository::on(Arc::new(log.clone()));
    let (first, second) = (open(), open());
    let key = AttributeDefinition::new("key", ValueType::Any).unique();
    first.transact(|t| t.define_type(TypeDefinition::entity("t").attribute(key.clone()))).unwrap();
    first.transact(|t| t.create_entity(new("a").property("key", 1))).unwrap();
    // The second has learned nothing of it yet.
    let taken = second.transact(|t| t.create_entity(new("b").property("key", 1)));
    assert_eq!(taken.unwrap_err().kind(), ErrorKind::NotUnique);
    let same = second.transact(|t| t.create_entity(new("a")));
    assert_eq!(same.unwrap_err().kind(), ErrorKind::AlreadyExists);
    second.transact(|t| t.create_relationship(NewRelationship::new("k", id("a"), id("a")))).unwrap();
    first.transact(|t| t.delete(&entity("a"))).unwrap();
    let late = second.transact(|t| t.create_relationship(NewRelationship::new("k", id("a"), id("a"))));
    assert_eq!(late.unwrap_err().kind(), ErrorKind::MissingEnd);
    // Both end at the same position.
    first.transact(|t| t.create_entity(new("c"))).unwrap();
    second.transact(|t| t.create_entity(new("d"))).unwrap();
    first.transact(|t| t.create_entity(new("e"))).unwrap();
    second.transact(|t| t.create_entity(new("f"))).unwrap();
}

#[test]
fn a_log_that_answers_conflict_for_nothing_is_asked_again() {
    let plan = FaultPlan { seed: 3, append_conflict: 500, ..FaultPlan::default() };
    let repository = CheckedRepository::on(Arc::new(FaultLog::new(MemoryLog::new(), plan)));
    for number in 0..50 {
        repository.transact(|t| t.create_entity(new(&format!("e{number}")))).unwrap();
    }
    assert_eq!(repository.snapshot().position(), Position(50));
}

/// A log that always answers so was asked for ever, and everybody waited.
#[test]
fn a_log_that_always_answers_conflict_for_nothing_is_given_up() {
    let plan = FaultPlan { append_conflict: 1_000, ..FaultPlan::default() };
    let log = Arc::new(FaultLog::new(MemoryLog::new(), plan));
    let options = Options { log_patience_ms: 100, ..Options::default() };
    let repository = Repository::with_log(log.clone(), options).unwrap();
    let refused = repository.transact(|t| t.create_entity(new("a")));
    assert_eq!(refused.unwrap_err().kind(), ErrorKind::Unavailable);
    log.set_plan(FaultPlan::default());
    repository.transact(|t| t.create_entity(new("a"))).unwrap();
}

/// A follower's own thread and its caller both read on; the slower of them took the later graph back.
#[test]
fn a_follower_never_goes_back() {
    let log = MemoryLog::new();
    let writer = CheckedRepository::on(Arc::new(log.clone()));
    let options = Options { is_read_only: true, poll_interval_ms: 1, ..Options::default() };
    let follower = Repository::with_log(Arc::new(log), options).unwrap();
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let mut last = Position::ZERO;
                while !is_done.load(Ordering::SeqCst) {
                    let refreshed = follower.refresh().unwrap();
                    let seen = follower.snapshot().position();
                    assert!(seen >= refreshed && seen >= last, "{last}, then {seen}");
                    last = seen;
                }
            });
        }
        for number in 0..2_000 {
            writer.transact(|t| t.create_entity(new(&format!("e{number}")))).unwrap();
        }
        is_done.store(true, Ordering::SeqCst);
    });
    assert_eq!(follower.refresh().unwrap(), Position(2_000));
    let refused = follower.transact(|t| t.create_entity(new("x")));
    assert_eq!(refused.unwrap_err().kind(), ErrorKind::ReadOnly);
}

/// A log that tells whether two threads have read it at once. Reading takes a while.
#[derive(Debug)]
struct WatchedLog {
    inner: MemoryLog,
    is_being_read: AtomicBool,
    was_read_at_once: AtomicBool,
}

impl Log for WatchedLog {
    fn tail(&self) -> Result<Position> {
        self.inner.tail()
    }

    fn append_call(&self, call: &Call<'_>) -> Appended {
        self.inner.append_call(call)
    }

    fn read(&self, from: Position, limit: ReadLimit) -> Result<Vec<Vec<u8>>> {
        if self.is_being_read.swap(true, Ordering::SeqCst) {
            self.was_read_at_once.store(true, Ordering::SeqCst);
        }
        std::thread::sleep(Duration::from_millis(2));
        let records = self.inner.read(from, limit);
        self.is_being_read.store(false, Ordering::SeqCst);
        records
    }

    fn describe(&self) -> String {
        self.inner.describe()
    }
}

/// A follower's own thread and its caller applied the same records to two clones of one graph: one of them became a fork,
/// whose map of ids is slower for good.
#[test]
fn a_follower_reads_on_in_one_thread_at_a_time() {
    let inner = MemoryLog::new();
    let writer = CheckedRepository::on(Arc::new(inner.clone()));
    let log = Arc::new(WatchedLog {
        inner,
        is_being_read: AtomicBool::default(),
        was_read_at_once: AtomicBool::default(),
    });
    let options = Options { is_read_only: true, poll_interval_ms: 1, ..Options::default() };
    let follower = Repository::with_log(Arc::clone(&log) as Arc<dyn Log>, options).unwrap();
    for number in 0..30 {
        writer.transact(|t| t.create_entity(new(&format!("e{number}")))).unwrap();
        assert_eq!(follower.refresh().unwrap(), Position(number + 1));
    }
    assert!(!log.was_read_at_once.load(Ordering::SeqCst));
}

#[test]
fn followed_records_come_once_in_order_and_only_when_durable() {
    let repository = CheckedRepository::in_memory();
    let mut follow = repository.follow(Position::ZERO);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for number in 0..1_000 {
                repository.transact(|t| t.create_entity(new(&format!("e{number}")))).unwrap();
            }
        });
        for expected in 1..=1_000 {
            let (position, record) = follow.wait(Duration::from_secs(60)).unwrap().expect("a record");
            assert_eq!(position, Position(expected));
            assert!(repository.snapshot().position() >= position);
            let Action::CreateEntity(entity) = &record.changes[0].action else { panic!("{record:?}") };
            assert_eq!(entity.id, id(&format!("e{}", expected - 1)));
        }
    });
    assert_eq!(follow.poll().unwrap(), None);
}

#[test]
fn ids_of_two_writers_lead_to_their_own_entities_whoever_was_first() {
    let log = MemoryLog::new();
    let open = || CheckedRepository::on(Arc::new(log.clone()));
    let writers = [open(), open()];
    let created: Vec<(Id, i64)> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8i64)
            .map(|thread| {
                let writer = &writers[thread as usize % 2];
                let create = move |step: i64| {
                    let number = 100 * thread + step;
                    let id = if step % 4 == 0 { id(&format!("e{number}")) } else { Id::random() };
                    let new = new(&id.to_string()).property("n", number);
                    writer.transact(|t| t.create_entity(new.clone())).unwrap();
                    (id, number)
                };
                scope.spawn(move || (0..50).map(create).collect::<Vec<_>>())
            })
            .collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    for writer in writers.iter().rev() {
        // A commit makes it know everything.
        writer.transact(|t| t.create_entity(NewEntity::new("last"))).unwrap();
        let snapshot = writer.snapshot();
        for (id, number) in &created {
            let found = snapshot.entity(id).unwrap().expect("it was committed");
            assert_eq!((found.id(), found.property("n")), (id, Some(Value::Integer(*number))));
        }
    }
}
