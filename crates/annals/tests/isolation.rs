//! Isolation: what transactions of several threads, and of several writers, see of each other.

mod support;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Mutex};
use std::time::Duration;

use annals::log::{FaultLog, FaultPlan, Log, MemoryLog, ReadLimit};
use annals::*;
use support::{CheckedRepository, number_from_environment};

fn id(text: &str) -> Id {
    Id::new(text).unwrap()
}

fn entity(text: &str) -> InstanceId {
    InstanceId::Entity(id(text))
}

fn new(text: &str) -> NewEntity {
    NewEntity::new("t").id(text).unwrap()
}

fn set(n: i64) -> Patch {
    Patch::new().set("n", n)
}

fn number(snapshot: &Snapshot, text: &str) -> i64 {
    let found = snapshot.entity(&id(text)).unwrap().unwrap();
    found.property("n").and_then(Value::as_integer).unwrap()
}

/// A repository with the entities `a` and `b`, both with n = 1.
fn two_entities() -> CheckedRepository {
    let repository = CheckedRepository::in_memory();
    repository
        .transact(|t| {
            t.create_entity(new("a").property("n", 1))?;
            t.create_entity(new("b").property("n", 1))
        })
        .unwrap();
    repository
}

/// How often races are run. `ANNALS_RACES` makes a campaign.
fn races() -> u64 {
    number_from_environment("ANNALS_RACES", 200)
}

/// Runs both at the same time.
fn race<A: Send, B: Send>(a: impl FnOnce() -> A + Send, b: impl FnOnce() -> B + Send) -> (A, B) {
    let barrier = Barrier::new(2);
    std::thread::scope(|scope| {
        let first = scope.spawn(|| {
            barrier.wait();
            a()
        });
        barrier.wait();
        let second = b();
        (first.join().unwrap(), second)
    })
}

#[test]
fn of_two_updates_over_one_snapshot_one_loses() {
    let repository = two_entities();
    let (mut first, mut second) = (repository.transaction(), repository.transaction());
    first.update(&entity("a"), set(2)).unwrap();
    second.update(&entity("a"), set(3)).unwrap();
    first.commit().unwrap();
    let before = repository.snapshot().position();
    let error = second.commit().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict);
    assert_eq!((repository.snapshot().position(), number(&repository.snapshot(), "a")), (before, 2));
}

#[test]
fn concurrent_increments_are_all_counted() {
    let repository = two_entities();
    let conflicts = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let mut done = 0;
                while done < 50 {
                    let mut transaction = repository.transaction();
                    let n = number(transaction.base(), "a");
                    transaction.update(&entity("a"), set(n + 1)).unwrap();
                    match transaction.commit() {
                        Ok(_) => done += 1,
                        Err(error) => {
                            assert_eq!(error.kind(), ErrorKind::Conflict);
                            conflicts.fetch_add(1, Ordering::SeqCst);
                        }
                    }
                }
            });
        }
    });
    let snapshot = repository.snapshot();
    assert_eq!(number(&snapshot, "a"), 1 + 8 * 50);
    assert_eq!(snapshot.versions(&entity("a"), 0, 1).unwrap()[0].version, 1 + 8 * 50);
}

/// Two transactions that each read both and write one.
fn write_skew(is_serializable: bool) -> (Result<Receipt>, Result<Receipt>) {
    let repository = two_entities();
    let begin = |own: &str, other: &str| {
        let mut transaction = repository.transaction();
        if is_serializable {
            transaction.serializable();
        }
        assert!(transaction.entity(&id(own)).unwrap().is_some());
        assert!(transaction.entity(&id(other)).unwrap().is_some());
        transaction.update(&entity(own), set(0)).unwrap();
        transaction
    };
    let (first, second) = (begin("a", "b"), begin("b", "a"));
    (first.commit(), second.commit())
}

#[test]
fn write_skew_is_allowed_unless_asked_otherwise() {
    let (first, second) = write_skew(false);
    assert!(first.is_ok() && second.is_ok());
}

#[test]
fn write_skew_is_prevented_in_serializable_mode() {
    let (first, second) = write_skew(true);
    assert!(first.is_ok());
    assert_eq!(second.unwrap_err().kind(), ErrorKind::Conflict);
}

#[test]
fn nothing_is_seen_of_a_transaction_before_it_commits() {
    let repository = two_entities();
    let mut transaction = repository.transaction();
    transaction.update(&entity("a"), set(9)).unwrap();
    transaction.create_entity(new("c")).unwrap();
    assert_eq!(number(transaction.view().unwrap(), "a"), 9);
    let snapshot = repository.snapshot();
    assert_eq!(number(&snapshot, "a"), 1);
    assert!(snapshot.entity(&id("c")).unwrap().is_none());
    let dry = transaction.dry_run().unwrap();
    assert_eq!((number(&dry, "a"), number(&repository.snapshot(), "a")), (9, 1));
}

#[test]
fn two_reads_of_a_snapshot_agree_and_every_snapshot_is_whole() {
    let repository = two_entities();
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for n in 2..500 {
                let written = repository.transact(|t| {
                    t.update(&entity("a"), set(n))?;
                    t.update(&entity("b"), set(n))
                });
                written.unwrap();
            }
            is_done.store(true, Ordering::SeqCst);
        });
        for _ in 0..3 {
            scope.spawn(|| {
                let mut last = 0;
                while !is_done.load(Ordering::SeqCst) {
                    let snapshot = repository.snapshot();
                    let (a, b) = (number(&snapshot, "a"), number(&snapshot, "b"));
                    let find = Find::all().matching("n", Operator::Equal, a);
                    let found = snapshot.find_entities(&find).unwrap().items.len();
                    assert_eq!((a, found), (b, 2));
                    assert_eq!(number(&snapshot, "a"), a);
                    assert!(a >= last, "the past came back");
                    last = a;
                }
            });
        }
    });
}

#[test]
fn phantoms_are_not_seen_and_not_written_in_serializable_mode() {
    let repository = two_entities();
    let find = Find::of("t").matching("n", Operator::Equal, 1);
    let mut reader = repository.transaction();
    reader.serializable();
    assert_eq!(reader.find_entities(&find).unwrap().items.len(), 2);
    repository.transact(|t| t.create_entity(new("c").property("n", 1))).unwrap();
    assert_eq!(reader.find_entities(&find).unwrap().items.len(), 2);
    reader.create_entity(NewEntity::new("sum").property("of", 2)).unwrap();
    assert_eq!(reader.commit().unwrap_err().kind(), ErrorKind::Conflict);
}

#[test]
fn what_does_not_concern_a_serializable_transaction_does_not_stop_it() {
    let repository = two_entities();
    let mut transaction = repository.transaction();
    transaction.serializable();
    assert!(transaction.entity(&id("a")).unwrap().is_some());
    transaction.find_entities(&Find::of("other")).unwrap();
    repository.transact(|t| t.update(&entity("b"), set(5))).unwrap();
    transaction.update(&entity("a"), set(5)).unwrap();
    transaction.commit().unwrap();
}

/// Every way to read, and a change that concerns it.
#[test]
fn every_kind_of_read_is_guarded_in_serializable_mode() {
    type Step = (&'static str, fn(&mut Transaction), fn(&mut Transaction) -> Result<()>);
    let steps: [Step; 8] = [
        ("entity", |t| drop(t.entity(&id("a"))), |t| t.update(&entity("a"), set(2))),
        ("missing entity", |t| drop(t.entity(&id("x"))), |t| t.create_entity(new("x")).map(drop)),
        ("relationship", |t| drop(t.relationship(&id("r"))), |t| t.delete(&entity("a"))),
        ("degree", |t| drop(t.degree(&id("a"), Direction::Out, None)), |t| t.delete(&entity("b"))),
        (
            "neighbors",
            |t| drop(t.neighbors(&id("a"), Direction::Out, None)),
            |t| t.update(&entity("b"), set(3)),
        ),
        ("find", |t| drop(t.find_entities(&Find::all())), |t| t.purge(&entity("b"))),
        ("find relationships", |t| drop(t.find_relationships(&Find::all())), |t| t.delete(&entity("b"))),
        ("view", |t| drop(t.view()), |t| t.define_type(TypeDefinition::entity("z"))),
    ];
    for (what, read, write) in steps {
        let repository = two_entities();
        repository
            .transact(|t| t.create_relationship(NewRelationship::new("k", id("a"), id("b")).id("r")?))
            .unwrap();
        let mut transaction = repository.transaction();
        transaction.serializable().create_entity(new("written")).unwrap();
        read(&mut transaction);
        repository.transact(write).unwrap();
        assert_eq!(transaction.commit().map_err(|error| error.kind()), Err(ErrorKind::Conflict), "{what}");
    }
}

#[test]
fn no_relationship_is_left_without_an_end() {
    let repository = two_entities();
    let (mut related, mut deleted) = (0, 0);
    for number in 0..races() {
        let end = format!("end{number}");
        repository.transact(|t| t.create_entity(new(&end))).unwrap();
        let delete = || {
            let mut transaction = repository.transaction();
            transaction.delete(&entity(&end)).and_then(|()| transaction.commit())
        };
        let relate = || {
            let mut transaction = repository.transaction();
            let new = NewRelationship::new("k", id("a"), id(&end)).id(&end)?;
            transaction.create_relationship(new).and_then(|_| transaction.commit())
        };
        let (delete, relate) = race(delete, relate);
        delete.unwrap();
        deleted += 1;
        match relate {
            Ok(_) => related += 1,
            Err(error) => assert_eq!(error.kind(), ErrorKind::MissingEnd, "{error}"),
        }
        let snapshot = repository.snapshot();
        assert_eq!(snapshot.degree(&id("a"), Direction::Out, None).unwrap(), 0);
        assert!(snapshot.relationship(&id(&end)).unwrap().is_none());
    }
    eprintln!("{deleted} races, {related} relationships came first");
}

#[test]
fn a_unique_value_and_a_cardinality_have_one_winner_each() {
    let repository = two_entities();
    let key = AttributeDefinition::new("key", ValueType::Any).unique();
    let one = EndDefinition { type_name: None, is_many: false };
    let many = EndDefinition { type_name: None, is_many: true };
    repository
        .transact(|t| {
            t.define_type(TypeDefinition::entity("unique").attribute(key.clone()))?;
            t.define_type(TypeDefinition::relationship("only").between(many.clone(), one.clone()))
        })
        .unwrap();
    for number in 0..races() as i64 {
        let claim = || {
            let mut transaction = repository.transaction();
            let new = NewEntity::new("unique").property("key", number);
            transaction.create_entity(new).and_then(|_| transaction.commit())
        };
        let relate = || {
            let mut transaction = repository.transaction();
            let new = NewRelationship::new("only", id("a"), id("b"));
            transaction.create_relationship(new).and_then(|_| transaction.commit())
        };
        for (outcomes, kind) in
            [(race(claim, claim), ErrorKind::NotUnique), (race(relate, relate), ErrorKind::Cardinality)]
        {
            let (won, lost): (Vec<_>, Vec<_>) = [outcomes.0, outcomes.1].into_iter().partition(Result::is_ok);
            assert_eq!((won.len(), lost.len()), (1, 1), "race {number}");
            assert_eq!(lost[0].as_ref().unwrap_err().kind(), kind);
        }
        let snapshot = repository.snapshot();
        let links: Vec<_> = snapshot.neighbors(&id("a"), Direction::Out, None).unwrap().collect();
        let relationship = links[0].as_ref().unwrap().relationship.instance_id();
        repository.transact(|t| t.delete(&relationship)).unwrap();
    }
}

#[test]
fn transact_gives_up_after_a_bounded_number_of_races() {
    let repository = two_entities();
    let mut attempts = 0;
    let outcome = repository.transact(|t| {
        attempts += 1;
        // Somebody else is always faster.
        repository.transact(|other| other.update(&entity("a"), set(attempts)))?;
        t.update(&entity("a"), set(-1))
    });
    assert_eq!(outcome.unwrap_err().kind(), ErrorKind::Conflict);
    assert_eq!(attempts, RETRIES_MAX as i64 + 1);
}

#[test]
fn a_failed_transaction_in_a_batch_leaves_its_neighbours_whole() {
    let repository = CheckedRepository::in_memory();
    let tickets: Vec<(usize, Ticket)> = (0..3_000)
        .map(|number| {
            let mut transaction = repository.transaction();
            transaction.create_entity(new(&format!("e{number}")).property("n", number as i64)).unwrap();
            if number % 100 == 0 {
                let nobody = NewRelationship::new("k", id("nobody"), id("nobody"));
                transaction.create_relationship(nobody).unwrap();
            }
            (number, transaction.submit().unwrap())
        })
        .collect();
    for (number, ticket) in tickets {
        let outcome = ticket.wait();
        let is_seen = repository.snapshot().entity(&id(&format!("e{number}"))).unwrap().is_some();
        assert_eq!((outcome.is_ok(), is_seen), (number % 100 != 0, number % 100 != 0), "{number}");
    }
}

#[test]
fn ten_thousand_tickets_are_in_flight_and_all_are_told() {
    let repository = CheckedRepository::in_memory();
    let told = Arc::new(Mutex::new(BTreeSet::new()));
    let mut tickets = Vec::new();
    for number in 0..10_000 {
        let mut transaction = repository.transaction();
        transaction.create_entity(NewEntity::new("t").property("n", number)).unwrap();
        let ticket = transaction.submit().unwrap();
        match number % 3 {
            // Dropped: the commit goes on.
            0 => drop(ticket),
            1 => {
                let told = Arc::clone(&told);
                ticket.on_done(move |outcome| {
                    told.lock().unwrap().insert(outcome.unwrap().position);
                });
            }
            _ => tickets.push(ticket),
        }
    }
    for ticket in &tickets {
        let receipt = ticket.wait().unwrap();
        assert_eq!(ticket.poll(), Some(Ok(receipt)));
        let late = Arc::new(AtomicBool::new(false));
        let called = Arc::clone(&late);
        ticket.on_done(move |_| called.store(true, Ordering::SeqCst));
        assert!(late.load(Ordering::SeqCst), "a callback that comes late is called at once");
    }
    assert!(repository.wait_for(Position(10_000), Duration::from_secs(60)));
    repository.transact(|t| t.create_entity(NewEntity::new("last"))).unwrap();
    assert_eq!(told.lock().unwrap().len(), 3_333);
    assert_eq!(repository.snapshot().entities_count(), 10_001);
}

/// A callback that panicked ended the thread that commits for everybody, and every later commit waited for ever.
#[test]
fn a_callback_that_panics_stops_nobody() {
    let repository = two_entities();
    let mut transaction = repository.transaction();
    transaction.update(&entity("a"), set(2)).unwrap();
    transaction.submit().unwrap().on_done(|_| panic!("on purpose"));
    repository.transact(|t| t.update(&entity("b"), set(2))).unwrap();
}

/// The last clone dropped by a callback waited for a thread that waited for the callback.
#[test]
fn the_last_clone_may_be_dropped_by_a_callback() {
    let log = MemoryLog::new();
    let repository = Repository::with_log(Arc::new(log.clone()), Options::default()).unwrap();
    let (sender, receiver) = std::sync::mpsc::channel();
    let mut transactions: Vec<Transaction> = (0..200).map(|_| repository.transaction()).collect();
    for (number, transaction) in transactions.iter_mut().enumerate() {
        transaction.create_entity(new(&format!("e{number}"))).unwrap();
    }
    let mut transactions = transactions.into_iter();
    let ticket = transactions.next().unwrap().submit().unwrap();
    let others: Vec<Ticket> = transactions.map(|transaction| transaction.submit().unwrap()).collect();
    ticket.on_done(move |_| {
        drop(repository);
        sender.send(()).unwrap();
    });
    receiver.recv_timeout(Duration::from_secs(60)).expect("the callback returns");
    for ticket in others {
        ticket.wait().unwrap();
    }
    assert_eq!(log.tail().unwrap(), Position(200));
}

/// A log whose appends wait until the gate is opened.
struct GatedLog {
    inner: MemoryLog,
    is_open: AtomicBool,
}

impl Log for GatedLog {
    fn tail(&self) -> Result<Position> {
        self.inner.tail()
    }

    fn append(&self, at: Position, records: &[&[u8]]) -> Result<()> {
        while !self.is_open.load(Ordering::SeqCst) {
            std::thread::sleep(Duration::from_millis(1));
        }
        self.inner.append(at, records)
    }

    fn read(&self, from: Position, limit: ReadLimit) -> Result<Vec<Vec<u8>>> {
        self.inner.read(from, limit)
    }

    fn describe(&self) -> String {
        "gated log".into()
    }
}

/// A batch may take what waits, so the queue is filled with transactions too large to share one.
#[test]
fn a_full_queue_refuses_who_cannot_wait_and_holds_who_can() {
    let log = Arc::new(GatedLog { inner: MemoryLog::new(), is_open: AtomicBool::new(false) });
    let options = Options { queue_transactions_max: 4, ..Options::default() };
    // Texts of everything would be too large here.
    let repository = CheckedRepository::on_with(log.clone(), options).unwrap().unchecked();
    let large = Value::Bytes(vec![7; 15 << 20].into());
    let transaction = |text: String| {
        let mut transaction = repository.transaction();
        for number in 0..4 {
            let new = new(&format!("{text}-{number}")).property("large", large.clone());
            transaction.create_entity(new).unwrap();
        }
        transaction
    };
    let mut tickets = Vec::new();
    let busy = loop {
        match transaction(format!("e{}", tickets.len())).try_submit() {
            Ok(ticket) => tickets.push(ticket),
            Err(error) => break error,
        }
        assert!(tickets.len() < 20, "the queue grows");
        std::thread::sleep(Duration::from_millis(20));
    };
    assert_eq!(busy.kind(), ErrorKind::Busy);
    assert!(tickets.iter().all(|ticket| ticket.poll().is_none()));
    let waiting = std::thread::scope(|scope| {
        let waiting = scope.spawn(|| transaction("waits".into()).commit());
        std::thread::sleep(Duration::from_millis(20));
        assert!(!waiting.is_finished());
        log.is_open.store(true, Ordering::SeqCst);
        waiting.join().unwrap()
    });
    waiting.unwrap();
    assert!(tickets.iter().all(|ticket| ticket.wait().is_ok()));
}

#[test]
fn commits_of_two_hundred_threads_are_there_after_reopening() {
    let folder = tempfile::tempdir().unwrap();
    let repository = CheckedRepository::open(folder.path());
    std::thread::scope(|scope| {
        for thread in 0..200 {
            let repository = &repository;
            scope.spawn(move || {
                for number in 0..10 {
                    let name = format!("e{thread}-{number}");
                    repository.transact(|t| t.create_entity(new(&name))).unwrap();
                }
            });
        }
    });
    drop(repository);
    let repository = CheckedRepository::open(folder.path());
    assert_eq!(repository.snapshot().entities_count(), 2_000);
}

#[test]
fn closing_during_commits_loses_nothing_that_was_acknowledged() {
    for round in 0..10 {
        let folder = tempfile::tempdir().unwrap();
        let repository = CheckedRepository::open(folder.path()).unchecked();
        let acknowledged = Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            for thread in 0..8 {
                let (repository, acknowledged) = (repository.share(), &acknowledged);
                scope.spawn(move || {
                    for number in 0.. {
                        let name = format!("e{thread}-{number}");
                        match repository.transact(|t| t.create_entity(new(&name))) {
                            Ok((id, _)) => acknowledged.lock().unwrap().push(id),
                            Err(error) => {
                                assert_eq!(error.kind(), ErrorKind::Closed, "{error}");
                                break;
                            }
                        }
                    }
                });
            }
            std::thread::sleep(Duration::from_millis(5 + round));
            repository.share().close().unwrap();
        });
        drop(repository);
        let repository = CheckedRepository::open(folder.path());
        let snapshot = repository.snapshot();
        let acknowledged = acknowledged.into_inner().unwrap();
        assert!(acknowledged.iter().all(|id| snapshot.entity(id).unwrap().is_some()), "round {round}");
        assert_eq!(snapshot.entities_count(), acknowledged.len() as u64, "what failed was not written");
    }
}

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
                                Some(found) => found.property("n").and_then(Value::as_integer).unwrap(),
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
