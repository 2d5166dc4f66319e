//! A log that does not answer: lost calls and answers, calls that land late, refusals that prove nothing, and the end of it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant as Clock};

use crate::support::CheckedRepository;
use crate::support::named::{entity, id, new, number, set};
use annals::log::{FaultLog, FaultPlan, Log, MemoryLog};
use annals::*;

type Faulty = Arc<FaultLog<MemoryLog>>;

const NONE: FaultPlan = FaultPlan {
    seed: 0,
    append_refused: 0,
    append_lost: 0,
    append_answer_lost: 0,
    append_late: 0,
    append_conflict: 0,
    append_full: 0,
    read_refused: 0,
    read_short: 0,
};
const ALWAYS_LOST: FaultPlan = FaultPlan { append_lost: 1_000, ..NONE };
const ANSWERS_LOST: FaultPlan = FaultPlan { append_answer_lost: 1_000, ..NONE };

fn faulty(log: &MemoryLog) -> Faulty {
    Arc::new(FaultLog::new(log.clone(), NONE))
}

fn open(log: &Faulty, log_patience_ms: u64) -> Repository {
    let log = Arc::clone(log) as Arc<dyn Log>;
    Repository::with_log(log, Options { log_patience_ms, ..Options::default() }).unwrap()
}

fn create(repository: &Repository, name: &str) -> Result<Receipt> {
    repository.transact(|t| t.create_entity(new(name))).map(|(_, receipt)| receipt)
}

fn submit(repository: &Repository, name: &str) -> Ticket {
    let mut transaction = repository.transaction();
    transaction.create_entity(new(name)).unwrap();
    transaction.submit().unwrap()
}

/// Waits until `is_so`; a test that waits longer than this has failed.
fn wait_until(mut is_so: impl FnMut() -> bool) {
    let end = Clock::now() + Duration::from_secs(20);
    while !is_so() {
        assert!(Clock::now() < end, "it never happened");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Counts what each acknowledged commit has added, beside calls and answers that are lost, late or refused.
#[test]
fn no_commit_is_doubled_or_lost_whatever_becomes_of_calls_and_answers() {
    for seed in 1..=20 {
        let memory = MemoryLog::new();
        let log = faulty(&memory);
        let repository = open(&log, 60_000);
        create(&repository, "a").unwrap();
        repository.transact(|t| t.update(&entity("a"), set(0))).unwrap();
        let plan = FaultPlan {
            seed,
            append_lost: 200,
            append_answer_lost: 200,
            append_late: 200,
            append_refused: 100,
            append_full: 50,
            ..NONE
        };
        log.set_plan(plan);
        let added: i64 = std::thread::scope(|scope| {
            let adding = (0..4).map(|_| {
                scope.spawn(|| {
                    let add = |_| {
                        let step = |t: &mut Transaction| {
                            let n = t.entity(&id("a"))?.and_then(|a| a.property("n")?.as_integer());
                            t.update(&entity("a"), set(n.unwrap() + 1))
                        };
                        match repository.transact(step) {
                            Ok(_) => 1,
                            Err(error) => {
                                let kind = error.kind();
                                let is_refusal = matches!(kind, ErrorKind::Unavailable | ErrorKind::NoRoom);
                                assert!(is_refusal, "{error}");
                                0
                            }
                        }
                    };
                    (0..15).map(add).sum::<i64>()
                })
            });
            adding.collect::<Vec<_>>().into_iter().map(|thread| thread.join().unwrap()).sum()
        });
        log.set_plan(NONE);
        assert!(added > 0, "seed {seed}");
        assert_eq!(number(&repository.snapshot(), "a"), added, "seed {seed}");
        assert_eq!(memory.tail().unwrap().0, 2 + u64::try_from(added).unwrap(), "seed {seed}");
        let reopened = CheckedRepository::on(Arc::new(memory));
        assert_eq!(number(&reopened.snapshot(), "a"), added, "seed {seed}");
    }
}

#[test]
fn a_lost_answer_is_found_out_without_reopening() {
    for plan in [ALWAYS_LOST, ANSWERS_LOST] {
        let memory = MemoryLog::new();
        let log = faulty(&memory);
        let repository = CheckedRepository::on(log.clone());
        create(&repository, "a").unwrap();
        log.set_plan(plan);
        std::thread::scope(|scope| {
            let doubtful = scope.spawn(|| create(&repository, "b"));
            wait_until(|| plan == ALWAYS_LOST || memory.tail().unwrap() == Position(2));
            std::thread::sleep(Duration::from_millis(30));
            // Readers go on, and see nothing of it; writers wait.
            assert_eq!(repository.snapshot().position(), Position(1));
            let behind = submit(&repository, "c");
            assert!(behind.poll().is_none());
            log.set_plan(NONE);
            assert_eq!(doubtful.join().unwrap().unwrap().position, Position(2));
            assert_eq!(behind.wait().unwrap().position, Position(3));
        });
        assert!(repository.failure().is_none() && repository.refusal().is_none());
    }
}

#[test]
fn writes_are_refused_after_a_while_and_a_lost_one_may_land_later() {
    let memory = MemoryLog::new();
    let log = faulty(&memory);
    let repository = open(&log, 100);
    create(&repository, "a").unwrap();
    log.set_plan(ALWAYS_LOST);
    let doubtful = submit(&repository, "b");
    std::thread::sleep(Duration::from_millis(20));
    let behind = submit(&repository, "c");
    // Of the first it is unknown whether it lands; the second was never sent.
    assert_eq!(doubtful.wait().unwrap_err().kind(), ErrorKind::OutcomeUnknown);
    assert_eq!(behind.wait().unwrap_err().kind(), ErrorKind::Unavailable);
    let refused = create(&repository, "d").unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Unavailable, "{refused}");
    assert!(refused.to_string().contains("nothing was written"), "{refused}");
    assert_eq!(repository.refusal().unwrap().kind(), ErrorKind::Unavailable);
    assert!(repository.failure().is_none());
    assert_eq!(repository.snapshot().position(), Position(1));
    log.set_plan(NONE);
    wait_until(|| repository.refusal().is_none());
    assert!(repository.snapshot().entity(&id("b")).unwrap().is_some(), "it landed");
    assert_eq!(create(&repository, "c").unwrap().position, Position(3));
    assert_eq!(memory.tail().unwrap(), Position(3));
    let told = doubtful.wait().unwrap_err();
    assert_eq!(told.kind(), ErrorKind::OutcomeUnknown, "what was told stays");
}

/// A log said that it had no room, and the change that was refused came with the next commit: the refusal was of a second
/// try, while the first one was under way.
#[test]
fn a_refusal_after_a_call_that_was_not_answered_proves_nothing() {
    let memory = MemoryLog::new();
    let log = faulty(&memory);
    let repository = open(&log, 60_000);
    create(&repository, "a").unwrap();
    log.set_plan(FaultPlan { append_late: 1_000, ..NONE });
    let doubtful = submit(&repository, "b");
    wait_until(|| log.late_count() > 0);
    log.set_plan(FaultPlan { append_full: 1_000, ..NONE });
    // The late call lands before one of the next tries, each of which is refused.
    wait_until(|| memory.tail().unwrap() == Position(2));
    assert!(doubtful.poll().is_none(), "no refusal is told");
    log.set_plan(NONE);
    assert_eq!(doubtful.wait().unwrap().position, Position(2));
    assert_eq!(create(&repository, "c").unwrap().position, Position(3));
}

#[test]
fn a_refusal_of_the_first_try_is_told_at_once_and_leaves_nothing() {
    let memory = MemoryLog::new();
    let log = faulty(&memory);
    let repository = open(&log, 60_000);
    log.set_plan(FaultPlan { append_refused: 1_000, ..NONE });
    assert_eq!(create(&repository, "a").unwrap_err().kind(), ErrorKind::Unavailable);
    log.set_plan(NONE);
    assert_eq!(create(&repository, "a").unwrap().position, Position(1));
}

/// One failed read after a lost race ended writing.
#[test]
fn a_writer_that_lost_a_race_waits_until_the_log_can_be_read() {
    let memory = MemoryLog::new();
    let log = faulty(&memory);
    let (first, second) = (open(&log, 60_000), CheckedRepository::on(Arc::new(memory.clone())));
    create(&first, "a").unwrap();
    create(&second, "b").unwrap();
    log.set_plan(FaultPlan { read_refused: 1_000, ..NONE });
    let ticket = submit(&first, "c");
    std::thread::sleep(Duration::from_millis(50));
    assert!(ticket.poll().is_none());
    assert_eq!(first.snapshot().position(), Position(1));
    log.set_plan(NONE);
    assert_eq!(ticket.wait().unwrap().position, Position(3));
    create(&second, "d").unwrap();
}

#[test]
fn a_writer_that_cannot_read_refuses_after_a_while_and_goes_on_later() {
    let memory = MemoryLog::new();
    let log = faulty(&memory);
    let first = open(&log, 100);
    create(&first, "a").unwrap();
    create(&CheckedRepository::on(Arc::new(memory.clone())), "b").unwrap();
    log.set_plan(FaultPlan { read_refused: 1_000, ..NONE });
    let refused = create(&first, "c").unwrap_err();
    assert_eq!(
        refused.kind(),
        ErrorKind::Unavailable,
        "nothing of it was sent behind the other's record: {refused}"
    );
    log.set_plan(NONE);
    wait_until(|| first.refusal().is_none());
    assert_eq!(first.snapshot().position(), Position(2));
    assert_eq!(create(&first, "c").unwrap().position, Position(3));
}

#[test]
fn closing_gives_up_after_a_while() {
    for plan in [ALWAYS_LOST, ANSWERS_LOST] {
        let memory = MemoryLog::new();
        let log = faulty(&memory);
        let repository = open(&log, 100);
        create(&repository, "a").unwrap();
        log.set_plan(plan);
        let tickets = [submit(&repository, "b"), submit(&repository, "c")];
        let begin = Clock::now();
        repository.close().unwrap();
        assert!(begin.elapsed() < Duration::from_secs(10), "{:?}", begin.elapsed());
        let mut kinds = BTreeMap::new();
        for ticket in tickets {
            *kinds.entry(ticket.wait().unwrap_err().kind().name()).or_insert(0) += 1;
        }
        assert!(kinds.contains_key("outcome-unknown"), "{kinds:?}");
        // The clients were told the truth in both cases.
        let reopened = CheckedRepository::on(Arc::new(memory));
        assert_eq!(reopened.snapshot().entity(&id("b")).unwrap().is_some(), plan == ANSWERS_LOST);
    }
}

/// Another writer takes the position of a call that was told as unknown: it is not sent behind that writer's record.
#[test]
fn a_call_that_was_given_up_and_whose_position_is_taken_never_lands() {
    let memory = MemoryLog::new();
    let log = faulty(&memory);
    let repository = open(&log, 50);
    create(&repository, "a").unwrap();
    log.set_plan(ALWAYS_LOST);
    let doubtful = submit(&repository, "b");
    assert_eq!(doubtful.wait().unwrap_err().kind(), ErrorKind::OutcomeUnknown);
    create(&CheckedRepository::on(Arc::new(memory.clone())), "other").unwrap();
    log.set_plan(NONE);
    wait_until(|| repository.refusal().is_none());
    assert_eq!(create(&repository, "c").unwrap().position, Position(3));
    let snapshot = repository.snapshot();
    assert!(snapshot.entity(&id("other")).unwrap().is_some());
    assert!(snapshot.entity(&id("b")).unwrap().is_none(), "its client may have sent it again");
}
