//! A clock that was wrong once: what is told, what is still written, and what is refused.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use annals::*;

const DAY: i64 = 86_400_000_000;
/// Units: microseconds since 1970: 2025-08-09.
const START: i64 = 1_754_697_600_000_000;

/// A clock that a test sets.
#[derive(Clone)]
struct SetClock(Arc<AtomicI64>);

impl SetClock {
    fn at(micros: i64) -> SetClock {
        SetClock(Arc::new(AtomicI64::new(micros)))
    }

    fn set(&self, micros: i64) {
        self.0.store(micros, Ordering::SeqCst);
    }

    fn options(&self) -> Options {
        let clock = self.clone();
        Options { clock: Arc::new(move || instant(clock.0.load(Ordering::SeqCst))), ..Options::default() }
    }
}

fn instant(micros: i64) -> Instant {
    Instant::from_micros(micros).unwrap()
}

fn create(repository: &Repository, id: &str) -> Receipt {
    repository.transact(|t| t.create_entity(NewEntity::new("t").id(id).unwrap())).unwrap().1
}

fn create_at(repository: &Repository, id: &str, micros: i64) -> Result<Receipt> {
    let mut transaction = repository.transaction();
    transaction.committed_at(instant(micros)).create_entity(NewEntity::new("t").id(id).unwrap())?;
    transaction.commit()
}

#[test]
fn a_clock_that_was_ahead_is_told_once_when_opening_and_until_it_has_caught_up() {
    let folder = tempfile::tempdir().unwrap();
    let clock = SetClock::at(START + 4_000 * DAY);
    let repository = Repository::open_with(folder.path(), clock.options()).unwrap();
    create(&repository, "a");
    assert_eq!(repository.warnings(), Vec::<String>::new(), "nobody can know it yet");
    repository.close().unwrap();
    clock.set(START);
    let read_only = Options { is_read_only: true, ..clock.options() };
    for options in [read_only, clock.options()] {
        let repository = Repository::open_with(folder.path(), options).unwrap();
        let warnings = repository.warnings();
        assert_eq!(warnings.len(), 1, "{warnings:?}");
        assert!(warnings[0].contains("4000 days ahead of the clock"), "{warnings:?}");
    }
    let repository = Repository::open_with(folder.path(), clock.options()).unwrap();
    for number in 0..10 {
        assert_eq!(create(&repository, &format!("b{number}")).instant, instant(START + 4_000 * DAY));
    }
    assert_eq!(repository.warnings().len(), 1);
    clock.set(START + 4_001 * DAY);
    assert_eq!(repository.warnings(), Vec::<String>::new());
    assert_eq!(create(&repository, "c").instant, instant(START + 4_001 * DAY));
}

#[test]
fn a_clock_that_is_set_back_while_running_is_told_once() {
    let clock = SetClock::at(START);
    let repository = Repository::with_log(Arc::new(log::MemoryLog::new()), clock.options()).unwrap();
    create(&repository, "a");
    clock.set(START - 30_000_000);
    create(&repository, "b");
    assert_eq!(repository.warnings(), Vec::<String>::new(), "half a minute comes and goes");
    clock.set(START - 90_000_000);
    for number in 0..5 {
        create(&repository, &format!("c{number}"));
        let warnings = repository.warnings();
        assert_eq!(warnings.len(), 1, "{warnings:?}");
        assert!(warnings[0].contains(" 90 seconds ahead"), "{warnings:?}");
    }
}

#[test]
fn with_the_clock_behind_a_set_instant_goes_no_further_ahead_and_writing_goes_on() {
    let clock = SetClock::at(START + 10 * DAY);
    let repository = Repository::with_log(Arc::new(log::MemoryLog::new()), clock.options()).unwrap();
    create(&repository, "a");
    clock.set(START);
    let last = START + 10 * DAY;
    let kind = |id, micros| create_at(&repository, id, micros).map_err(|error| error.kind());
    assert_eq!(kind("today", START), Err(ErrorKind::InvalidArgument));
    assert_eq!(kind("between", last - 1), Err(ErrorKind::InvalidArgument));
    assert_eq!(kind("beyond", last + 1), Err(ErrorKind::FutureInstant));
    assert_eq!(create_at(&repository, "b", last).unwrap().instant, instant(last));
    assert_eq!(create(&repository, "c").instant, instant(last));
    let refused = create_at(&repository, "beyond", last + 1).unwrap_err().to_string();
    assert!(refused.contains(&format!("says {}", instant(START))), "{refused}");
}
