//! The settled instant: what was read as of an earlier one never changes, however long an append takes, however far a
//! follower is behind, and whatever the clock does.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::thread;
use std::time::Duration;

use annals::log::{Appended, Call, FaultLog, FaultPlan, Log, MemoryLog, ReadLimit};
use annals::*;

use crate::support::named::new;
use crate::support::object_log::ObjectLog;

const SECOND: i64 = 1_000_000;
/// Units: microseconds since 1970: 2025-08-09.
const START: i64 = 1_754_697_600_000_000;
const NOT_LONG: Duration = Duration::from_millis(20);
const LONG: Duration = Duration::from_secs(60);

/// A log whose appends take long, or wait, and that can be cut off from readers.
struct SlowLog {
    inner: Arc<dyn Log>,
    append_takes: Duration,
    is_held: AtomicBool,
    is_cut: AtomicBool,
}

impl SlowLog {
    fn new(inner: Arc<dyn Log>, append_takes: Duration) -> Arc<SlowLog> {
        Arc::new(SlowLog {
            inner,
            append_takes,
            is_held: AtomicBool::default(),
            is_cut: AtomicBool::default(),
        })
    }

    fn check(&self) -> Result<()> {
        if self.is_cut.load(Ordering::SeqCst) {
            return Err(Error::new(ErrorKind::Unavailable, "the log is cut off"));
        }
        Ok(())
    }
}

/// Lets appends go on when the test ends, however it ends.
struct Release<'l>(&'l SlowLog);

impl Drop for Release<'_> {
    fn drop(&mut self) {
        self.0.is_held.store(false, Ordering::SeqCst);
    }
}

impl Log for SlowLog {
    fn tail(&self) -> Result<Position> {
        self.check()?;
        self.inner.tail()
    }

    fn append_call(&self, call: &Call<'_>) -> Appended {
        thread::sleep(self.append_takes);
        while self.is_held.load(Ordering::SeqCst) {
            thread::sleep(Duration::from_millis(1));
        }
        self.inner.append_call(call)
    }

    fn read(&self, from: Position, limit: ReadLimit) -> Result<Vec<Vec<u8>>> {
        self.check()?;
        self.inner.read(from, limit)
    }

    fn describe(&self) -> String {
        "slow log".to_owned()
    }
}

/// A clock that a test sets.
#[derive(Clone)]
struct SetClock(Arc<AtomicI64>);

impl SetClock {
    fn new() -> SetClock {
        SetClock(Arc::new(AtomicI64::new(START)))
    }

    fn set(&self, seconds: i64) {
        self.0.store(START + seconds * SECOND, Ordering::SeqCst);
    }

    fn on(&self, options: Options) -> Options {
        let clock = self.clone();
        Options {
            clock: Arc::new(move || Instant::from_micros(clock.0.load(Ordering::SeqCst)).unwrap()),
            ..options
        }
    }
}

fn at(seconds: i64) -> Instant {
    Instant::from_micros(START + seconds * SECOND).unwrap()
}

fn create(repository: &Repository) -> Instant {
    repository.transact(|t| t.create_entity(NewEntity::new("t"))).unwrap().1.instant
}

/// The position of the last record at an instant or before.
fn position_at(repository: &Repository, instant: Instant) -> Position {
    let as_of = AsOf { instant: Some(instant), ..AsOf::default() };
    repository.snapshot().as_of(as_of).unwrap().position()
}

fn logs() -> [Arc<dyn Log>; 2] {
    [Arc::new(MemoryLog::new()), Arc::new(ObjectLog::new())]
}

/// Story: a record got its instant, its append took 300 ms, and a read as of a moment in between showed the state without
/// it first, and with it later.
#[test]
fn a_record_that_is_being_made_durable_is_in_no_settled_instant() {
    for log in logs() {
        let log = SlowLog::new(log, Duration::ZERO);
        let repository = Repository::with_log(log.clone(), Options::default()).unwrap();
        // Dropped before the repository, which waits for its appends.
        let _release = Release(&log);
        let first = create(&repository);
        assert!(repository.is_settled(first).unwrap(), "the present, once nothing is in flight");
        log.is_held.store(true, Ordering::SeqCst);
        let before = Instant::now();
        thread::sleep(Duration::from_millis(2));
        let mut transaction = repository.transaction();
        transaction.create_entity(NewEntity::new("t")).unwrap();
        let ticket = transaction.submit().unwrap();
        thread::sleep(Duration::from_millis(300));
        let now = Instant::now();
        assert!(repository.is_settled(before).unwrap(), "before the record that is in flight");
        assert!(!repository.is_settled(now).unwrap());
        assert_eq!(repository.wait_settled(now, NOT_LONG).unwrap_err().kind(), ErrorKind::Busy);
        let until = repository.settled_until();
        assert!(before < until && until < now, "{until}");
        log.is_held.store(false, Ordering::SeqCst);
        repository.wait_settled(now, LONG).unwrap();
        assert_eq!(position_at(&repository, now), Position(2));
        assert_eq!(ticket.wait().unwrap().instant, until);
    }
}

/// Readers of the moment read it again at the end, while the clock goes forth and back.
#[test]
fn what_was_read_as_of_now_is_the_same_ever_after() {
    for log in logs() {
        let real = Instant::now().micros();
        let offset = Arc::new(AtomicI64::new(0));
        let clock = {
            let offset = Arc::clone(&offset);
            Arc::new(move || {
                let micros = Instant::now().micros() - SECOND + offset.load(Ordering::SeqCst);
                Instant::from_micros(micros).unwrap()
            })
        };
        let options = Options { clock: clock.clone(), ..Options::default() };
        let log = SlowLog::new(log, Duration::from_millis(3));
        let repository = Repository::with_log(log, options).unwrap();
        let is_over = AtomicBool::new(false);
        let read: Vec<(Instant, Position)> = thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    while !is_over.load(Ordering::SeqCst) {
                        create(&repository);
                    }
                });
            }
            let readers: Vec<_> = (0..3)
                .map(|_| {
                    scope.spawn(|| {
                        let mut read = Vec::new();
                        while !is_over.load(Ordering::SeqCst) {
                            let now = clock();
                            // The clock was set back meanwhile.
                            match repository.wait_settled(now, LONG) {
                                Err(error) if error.kind() == ErrorKind::FutureInstant => continue,
                                outcome => outcome.unwrap(),
                            }
                            read.push((now, position_at(&repository, now)));
                        }
                        read
                    })
                })
                .collect();
            for step in 0..100_i64 {
                offset.store(if step % 3 == 0 { -SECOND / 2 } else { 0 }, Ordering::SeqCst);
                thread::sleep(Duration::from_millis(5));
            }
            is_over.store(true, Ordering::SeqCst);
            readers.into_iter().flat_map(|reader| reader.join().unwrap()).collect()
        });
        assert!(read.len() > 50 && repository.snapshot().position() > Position(50), "{}", read.len());
        for (instant, position) in read {
            assert_eq!(
                position_at(&repository, instant),
                position,
                "{instant}, {} after the start",
                instant.micros() - real
            );
        }
    }
}

#[test]
fn a_clock_that_is_set_back_gives_no_record_an_instant_that_was_settled() {
    let clock = SetClock::new();
    let options = clock.on(Options::default());
    let repository = Repository::with_log(Arc::new(MemoryLog::new()), options).unwrap();
    create(&repository);
    clock.set(60);
    assert_eq!(repository.settled_until(), at(60));
    assert!(repository.is_settled(at(59)).unwrap());
    assert_eq!(repository.is_settled(at(61)).unwrap_err().kind(), ErrorKind::FutureInstant);
    clock.set(0);
    assert_eq!(repository.settled_until(), at(60), "it never goes back");
    assert_eq!(position_at(&repository, at(59)), Position(1));
    assert!(create(&repository) >= at(60));
    assert_eq!(position_at(&repository, at(59)), Position(1));
    // The present itself: the next record comes after it, and no read waits for the clock.
    let present = repository.snapshot().instant_of(Position(2)).unwrap();
    assert!(repository.is_settled(present).unwrap());
    assert!(create(&repository) > present);
    // An imported history comes to where it was.
    let before = repository.settled_until();
    let mut imported = repository.transaction();
    let last = repository.snapshot().instant_of(Position(3)).unwrap();
    imported.committed_at(last).create_entity(new("a")).unwrap();
    assert_eq!(imported.commit().unwrap().instant, last);
    assert!(repository.settled_until() >= before);
}

#[test]
fn after_an_unknown_outcome_nothing_is_settled_that_may_have_a_record() {
    let log = Arc::new(FaultLog::new(MemoryLog::new(), FaultPlan::default()));
    let options = Options { log_patience_ms: 50, ..Options::default() };
    let repository = Repository::with_log(log.clone(), options).unwrap();
    let first = create(&repository);
    log.set_plan(FaultPlan { append_answer_lost: u16::MAX, ..FaultPlan::default() });
    let error = repository.transact(|t| t.create_entity(NewEntity::new("t"))).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::OutcomeUnknown, "{error}");
    let until = repository.settled_until();
    thread::sleep(Duration::from_millis(5));
    assert!(repository.is_settled(first).unwrap());
    let now = Instant::now();
    assert!(!repository.is_settled(now).unwrap());
    assert_eq!(repository.settled_until(), until, "it stands still");
    log.set_plan(FaultPlan::default());
    repository.wait_settled(now, LONG).unwrap();
    assert_eq!(position_at(&repository, now), Position(2));
}

#[test]
fn a_follower_settles_what_it_has_looked_for_some_seconds_later() {
    for log in logs() {
        let clock = SetClock::new();
        let writer = Repository::with_log(Arc::clone(&log), clock.on(Options::default())).unwrap();
        create(&writer);
        let cut = SlowLog::new(log, Duration::ZERO);
        let seldom = Options { poll_interval_ms: 3_600_000, ..Options::read_only() };
        clock.set(10);
        let follower = Repository::with_log(cut.clone(), clock.on(seldom)).unwrap();
        // Its thread looks once.
        thread::sleep(Duration::from_millis(100));
        assert_eq!(follower.refresh().unwrap(), Position(1));
        assert_eq!(follower.settled_until(), at(7), "a look, and the grace");
        // It lags: the writer commits, and the follower has not looked.
        clock.set(20);
        assert_eq!(create(&writer), at(20));
        clock.set(30);
        let is_settled = |seconds| follower.is_settled(at(seconds)).unwrap();
        assert!(!is_settled(20) && !is_settled(25));
        assert_eq!(follower.wait_settled(at(20), NOT_LONG).unwrap_err().kind(), ErrorKind::Busy);
        // The log is out of reach: it stands still.
        cut.is_cut.store(true, Ordering::SeqCst);
        follower.refresh().unwrap_err();
        assert_eq!(follower.settled_until(), at(7));
        cut.is_cut.store(false, Ordering::SeqCst);
        follower.refresh().unwrap();
        assert_eq!(follower.settled_until(), at(27));
        assert!(is_settled(20) && !is_settled(27));
        assert_eq!(position_at(&follower, at(20)), Position(2));
        // A record that it has read settles what is before it at once.
        clock.set(31);
        create(&writer);
        follower.refresh().unwrap();
        assert_eq!(follower.settled_until(), at(31));
        assert!(!is_settled(31), "the next one may have the same instant");
    }
}
