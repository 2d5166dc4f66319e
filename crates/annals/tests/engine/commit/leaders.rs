//! Commits that a calling thread leads to the log itself, beside queued ones, failures and closing.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread::ThreadId;
use std::time::Duration;

use crate::support::dump;
use crate::support::dump::assert_same;
use crate::support::named::{id, new};
use annals::log::{Appended, Call, Log, MemoryLog, ReadLimit};
use annals::*;

/// The behaviours of an append.
const GO_ON: usize = 0;
const WAIT: usize = 1;
const FAIL: usize = 2;
const PANIC: usize = 3;
/// Refuses this append, and goes on with the next.
const REFUSE_ONE: usize = 4;

/// A log whose appends do as told, and that remembers who called.
#[derive(Default)]
struct ToldLog {
    inner: MemoryLog,
    order: AtomicUsize,
    callers: Mutex<Vec<ThreadId>>,
}

impl ToldLog {
    fn repository() -> (Arc<ToldLog>, Repository) {
        let log = Arc::new(ToldLog::default());
        let repository = Repository::with_log(Arc::clone(&log) as Arc<dyn Log>, Options::default()).unwrap();
        (log, repository)
    }

    fn tell(&self, order: usize) {
        self.order.store(order, Ordering::SeqCst);
    }

    fn calls(&self) -> usize {
        self.callers.lock().unwrap().len()
    }

    /// Waits until there were this many appends, the last one perhaps under way.
    fn wait_for_calls(&self, count: usize) {
        while self.calls() < count {
            std::thread::yield_now();
        }
    }
}

impl Log for ToldLog {
    fn tail(&self) -> Result<Position> {
        self.inner.tail()
    }

    fn append_call(&self, call: &Call<'_>) -> Appended {
        self.callers.lock().unwrap().push(std::thread::current().id());
        while self.order.load(Ordering::SeqCst) == WAIT {
            std::thread::sleep(Duration::from_millis(1));
        }
        match self.order.load(Ordering::SeqCst) {
            FAIL => Appended::Lost(Error::new(ErrorKind::Unavailable, "on purpose")),
            REFUSE_ONE => {
                self.tell(GO_ON);
                Appended::Refused(Error::new(ErrorKind::NoRoom, "on purpose"))
            }
            PANIC => panic!("on purpose"),
            _ => self.inner.append_call(call),
        }
    }

    fn read(&self, from: Position, limit: ReadLimit) -> Result<Vec<Vec<u8>>> {
        self.inner.read(from, limit)
    }

    fn describe(&self) -> String {
        "told log".into()
    }
}

fn create(repository: &Repository, name: &str) -> Transaction {
    let mut transaction = repository.transaction();
    transaction.create_entity(new(name)).unwrap();
    transaction
}

#[test]
fn a_commit_that_is_alone_changes_no_threads_and_a_submitted_one_does() {
    let (log, repository) = ToldLog::repository();
    let here = std::thread::current().id();
    create(&repository, "a").commit().unwrap();
    assert_eq!(*log.callers.lock().unwrap(), [here]);
    create(&repository, "b").submit().unwrap().wait().unwrap();
    assert_ne!(log.callers.lock().unwrap()[1], here);
}

#[test]
fn commits_and_submissions_of_many_threads_get_dense_positions() {
    let (log, repository) = ToldLog::repository();
    let positions = Mutex::new(BTreeSet::new());
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let (repository, positions) = (&repository, &positions);
            scope.spawn(move || {
                let mut tickets = Vec::new();
                for number in 0..500 {
                    let transaction = create(repository, &format!("{thread}-{number}"));
                    if (number + thread) % 3 == 0 {
                        tickets.push(transaction.submit().unwrap());
                    } else {
                        let receipt = transaction.commit().unwrap();
                        assert!(repository.snapshot().position() >= receipt.position, "it is published");
                        positions.lock().unwrap().insert(receipt.position.0);
                    }
                }
                let receipts = tickets.iter().map(|ticket| ticket.wait().unwrap().position.0);
                positions.lock().unwrap().extend(receipts);
            });
        }
    });
    assert_eq!(positions.into_inner().unwrap(), (1..=4_000).collect());
    assert_eq!(log.tail().unwrap(), Position(4_000));
}

#[test]
fn a_submission_does_not_wait_for_a_commit_that_has_the_device() {
    let (log, repository) = ToldLog::repository();
    log.tell(WAIT);
    std::thread::scope(|scope| {
        let leading = scope.spawn(|| create(&repository, "a").commit());
        log.wait_for_calls(1);
        let tickets: Vec<Ticket> =
            (0..200).map(|number| create(&repository, &format!("b{number}")).submit().unwrap()).collect();
        assert!(tickets.iter().all(|ticket| ticket.poll().is_none()));
        log.tell(GO_ON);
        assert_eq!(leading.join().unwrap().unwrap().position, Position(1));
        for (position, ticket) in (2..).zip(&tickets) {
            assert_eq!(ticket.wait().unwrap().position, Position(position));
        }
    });
}

#[test]
fn a_failure_or_panic_of_the_log_in_a_leading_commit_is_told_to_all_and_ends_writing() {
    for order in [FAIL, PANIC] {
        let (log, repository) = ToldLog::repository();
        log.tell(WAIT);
        std::thread::scope(|scope| {
            let mut committing = vec![scope.spawn(|| create(&repository, "first").commit())];
            log.wait_for_calls(1);
            let submitted: Vec<Ticket> =
                (0..100).map(|number| create(&repository, &format!("s{number}")).submit().unwrap()).collect();
            for number in 0..8 {
                let name = format!("c{number}");
                let repository = &repository;
                committing.push(scope.spawn(move || create(repository, &name).commit()));
            }
            log.tell(order);
            let mut committing = committing.into_iter().map(|thread| thread.join().unwrap().unwrap_err());
            assert_eq!(committing.next().unwrap().kind(), ErrorKind::OutcomeUnknown, "it was sent");
            let waited = submitted.iter().map(|ticket| ticket.wait().unwrap_err());
            for refused in waited.chain(committing) {
                assert_eq!(refused.kind(), ErrorKind::Unavailable);
            }
        });
        log.tell(GO_ON);
        assert_eq!(log.calls(), 1, "nothing is appended after a failure");
        assert_eq!(repository.failure().unwrap().kind(), ErrorKind::Unavailable);
        assert_eq!(create(&repository, "late").commit().unwrap_err().kind(), ErrorKind::Unavailable);
        assert_eq!(repository.snapshot().position(), Position::ZERO);
        repository.close().unwrap();
    }
}

#[test]
fn a_refused_append_is_told_to_its_batch_only_and_leaves_nothing_in_the_batches_behind() {
    for behind in [0, 1, 200, 2_000] {
        let (log, repository) = ToldLog::repository();
        create(&repository, "before").commit().unwrap();
        log.tell(WAIT);
        std::thread::scope(|scope| {
            let mut refused = repository.transaction();
            refused
                .create_entity(NewEntity::new("lost type").id("lost").unwrap().property("lost name", 1))
                .unwrap();
            refused.update(&InstanceId::Entity(id("before")), Patch::new().set("n", 2)).unwrap();
            let refused = scope.spawn(|| refused.commit());
            log.wait_for_calls(2);
            let tickets: Vec<Ticket> = (0..behind)
                .map(|number| create(&repository, &format!("e{number}")).submit().unwrap())
                .collect();
            log.tell(REFUSE_ONE);
            assert_eq!(refused.join().unwrap().unwrap_err().kind(), ErrorKind::NoRoom);
            // It was told when nothing of it was left: the same id is free, and the entity is as it was.
            create(&repository, "lost").commit().unwrap();
            for (position, ticket) in (2..).zip(&tickets) {
                assert_eq!(ticket.wait().unwrap().position, Position(position), "{behind} behind");
            }
        });
        let snapshot = repository.snapshot();
        assert_eq!((repository.failure(), repository.refusal()), (None, None));
        assert_eq!(snapshot.entities_count(), behind + 2);
        assert_eq!(snapshot.entity(&id("before")).unwrap().unwrap().property("n"), None);
        assert_eq!(log.tail().unwrap(), Position(behind + 2));
        assert_eq!(repository.check().unwrap().differences, Vec::<String>::new());
        let rebuilt = Repository::with_log(log, Options::read_only()).unwrap();
        assert_same("replay", &dump(&snapshot), &dump(&rebuilt.snapshot()));
    }
}

#[test]
fn closing_waits_for_a_commit_that_leads_and_for_what_is_queued_behind() {
    let (log, repository) = ToldLog::repository();
    log.tell(WAIT);
    let (first, second) = (create(&repository, "a"), create(&repository, "b"));
    let late = create(&repository, "c");
    let leading = std::thread::spawn(move || first.commit());
    log.wait_for_calls(1);
    let queued = second.submit().unwrap();
    let (sender, closed) = mpsc::channel();
    let closing = std::thread::spawn(move || {
        repository.close().unwrap();
        sender.send(()).unwrap();
    });
    assert!(closed.recv_timeout(Duration::from_millis(50)).is_err(), "it closed before all was written");
    assert_eq!(late.commit().unwrap_err().kind(), ErrorKind::Closed);
    log.tell(GO_ON);
    closed.recv_timeout(Duration::from_secs(60)).expect("it closes");
    closing.join().unwrap();
    assert_eq!(leading.join().unwrap().unwrap().position, Position(1));
    assert_eq!(queued.wait().unwrap().position, Position(2));
}

#[test]
fn a_callback_may_submit_and_drop_the_last_clone() {
    let (log, repository) = ToldLog::repository();
    log.tell(WAIT);
    let transaction = create(&repository, "a");
    let leading = std::thread::spawn(move || transaction.commit());
    log.wait_for_calls(1);
    let ticket = create(&repository, "b").submit().unwrap();
    let (sender, receiver) = mpsc::channel();
    ticket.on_done(move |_| {
        sender.send(create(&repository, "c").submit().unwrap()).unwrap();
        drop(repository);
    });
    log.tell(GO_ON);
    let ticket = receiver.recv_timeout(Duration::from_secs(60)).expect("the callback returns");
    assert_eq!(ticket.wait().unwrap().position, Position(3));
    leading.join().unwrap().unwrap();
}
