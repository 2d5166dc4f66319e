//! Tickets and the queue: commits on their way, callbacks, a full queue, closing.

use std::collections::BTreeSet;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::time::{Duration, Instant as Clock};

use crate::support::CheckedRepository;
use crate::support::named::{entity, id, new, set, two_entities};
use annals::log::{Appended, Call, Log, MemoryLog, ReadLimit};
use annals::*;

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
    let here = std::thread::current().id();
    let has_panicked = Arc::new(AtomicBool::new(false));
    // A commit may be done before the callback is there; then it is called here, and tells nothing.
    for number in 0..1_000 {
        if has_panicked.load(Ordering::SeqCst) {
            break;
        }
        let mut transaction = repository.transaction();
        transaction.update(&entity("a"), set(number)).unwrap();
        let ticket = transaction.submit().unwrap();
        let panics = Arc::clone(&has_panicked);
        ticket.on_done(move |_| {
            if std::thread::current().id() != here {
                panics.store(true, Ordering::SeqCst);
                panic!("on purpose");
            }
        });
        ticket.wait().unwrap();
    }
    assert!(has_panicked.load(Ordering::SeqCst), "no callback came from a committing thread");
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

    fn append_call(&self, call: &Call<'_>) -> Appended {
        while !self.is_open.load(Ordering::SeqCst) {
            std::thread::sleep(Duration::from_millis(1));
        }
        self.inner.append_call(call)
    }

    fn read(&self, from: Position, limit: ReadLimit) -> Result<Vec<Vec<u8>>> {
        self.inner.read(from, limit)
    }

    fn describe(&self) -> String {
        "gated log".into()
    }
}

/// A task that counts how often it is woken.
#[derive(Default)]
struct Counted(AtomicUsize);

impl Wake for Counted {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[test]
fn a_ticket_that_is_awaited_wakes_each_task_once() {
    let log = Arc::new(GatedLog { inner: MemoryLog::new(), is_open: AtomicBool::new(false) });
    let repository = CheckedRepository::on_with(log.clone(), Options::default()).unwrap();
    let mut transaction = repository.transaction();
    transaction.create_entity(new("a")).unwrap();
    let ticket = transaction.submit().unwrap();
    let mut tickets = [ticket.clone(), ticket.clone()];
    let tasks: [Arc<Counted>; 3] = Default::default();
    let poll = |ticket: &mut Ticket, task: &Arc<Counted>| {
        Pin::new(ticket).poll(&mut Context::from_waker(&Waker::from(Arc::clone(task))))
    };
    // The first asks twice, the second goes on where the first began, the third has a ticket of its own.
    for (ticket, task) in [(0, 0), (0, 0), (0, 1), (1, 2)] {
        assert_eq!(poll(&mut tickets[ticket], &tasks[task]), Poll::Pending);
    }
    log.is_open.store(true, Ordering::SeqCst);
    let receipt = ticket.wait().unwrap();
    assert_eq!(poll(&mut tickets[1], &tasks[0]), Poll::Ready(Ok(receipt)));
    // A caller that polls can see the outcome before the tasks are woken.
    let woken = || tasks.each_ref().map(|task| task.0.load(Ordering::SeqCst));
    let deadline = Clock::now() + Duration::from_secs(60);
    while woken().contains(&0) && Clock::now() < deadline {
        std::thread::yield_now();
    }
    assert_eq!(woken(), [1, 1, 1]);
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

/// A background thread that looked at the log just then kept the repository open for a moment longer.
/// Found as a child process that met a lock its parent had given up.
#[test]
fn dropping_the_last_clone_releases_the_folder_at_once() {
    let folder = tempfile::tempdir().unwrap();
    for round in 0..200 {
        let opened = Repository::open(folder.path());
        drop(opened.unwrap_or_else(|error| panic!("round {round}: {error}")));
    }
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
