//! Several repositories on a log with a register: one writes, the others wait until it is gone.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant as Clock};

use crate::support::CheckedRepository;
use crate::support::dump::{assert_same, dump};
use crate::support::named::{id, new};
use annals::log::{Appended, Call, FaultLog, FaultPlan, Log, MemoryLog, ReadLimit, Register, Slot, Term};
use annals::*;

const LEASE_MS: u64 = 150;

fn options(address: &str) -> Options {
    Options {
        address: Some(address.to_owned()),
        lease_ms: LEASE_MS,
        poll_interval_ms: 1,
        ..Options::default()
    }
}

fn standby(address: &str) -> Options {
    Options { is_standby: true, ..options(address) }
}

fn open(log: &Arc<impl Log + 'static>, options: Options) -> Result<Repository> {
    Repository::with_log(Arc::clone(log) as Arc<dyn Log>, options)
}

fn create(repository: &Repository, name: &str) -> Result<Receipt> {
    repository.transact(|t| t.create_entity(new(name))).map(|(_, receipt)| receipt)
}

fn wait_until(mut is_so: impl FnMut() -> bool) {
    let end = Clock::now() + Duration::from_secs(20);
    while !is_so() {
        assert!(Clock::now() < end, "it never happened");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Compares two repositories as soon as they have the same records: a busy machine may bring one more takeover.
fn assert_equal(first: &Repository, second: &Repository) -> Snapshot {
    let mut both = None;
    wait_until(|| {
        let (first, second) = (first.snapshot(), second.snapshot());
        let is_same = first.position() == second.position();
        both = Some((first, second));
        is_same
    });
    let (first, second) = both.unwrap();
    assert_same("two repositories of a log", &dump(&first), &dump(&second));
    first
}

fn is_writer(repository: &Repository) -> bool {
    repository.standing().unwrap().is_writer
}

/// How many records of a log begin a term.
fn terms(log: &dyn Log) -> usize {
    let records = log.read(Position(1), ReadLimit { bytes: usize::MAX, records: usize::MAX }).unwrap();
    let repository = CheckedRepository::on(Arc::new(MemoryLog::from_records(records)));
    let mut follow = repository.follow(Position::ZERO);
    let records = std::iter::from_fn(|| follow.poll().unwrap());
    records.filter(|(_, record)| record.changes.is_empty() && &*record.author == "annals").count()
}

/// A log that can be cut off from its store, calls and register apart.
#[derive(Clone)]
struct Cut {
    inner: MemoryLog,
    is_log_cut: Arc<AtomicBool>,
    is_register_cut: Arc<AtomicBool>,
    /// True once the handle cannot find out what becomes of its calls.
    is_lost: Arc<AtomicBool>,
    /// How often records were read.
    reads: Arc<AtomicUsize>,
    /// The clock of the store is so far ahead. Units: microseconds.
    ahead: Arc<AtomicI64>,
}

impl Cut {
    fn of(inner: &MemoryLog) -> Cut {
        Cut {
            inner: inner.clone(),
            is_log_cut: Arc::default(),
            is_register_cut: Arc::default(),
            is_lost: Arc::default(),
            reads: Arc::default(),
            ahead: Arc::default(),
        }
    }

    fn check(&self, is_cut: &AtomicBool) -> Result<()> {
        if is_cut.load(Ordering::SeqCst) {
            return Err(Error::new(ErrorKind::Unavailable, "cut off"));
        }
        Ok(())
    }
}

impl Log for Cut {
    fn tail(&self) -> Result<Position> {
        self.check(&self.is_log_cut)?;
        self.inner.tail()
    }

    fn append_call(&self, call: &Call<'_>) -> Appended {
        match self.check(&self.is_log_cut) {
            _ if self.is_lost.load(Ordering::SeqCst) => {
                Appended::Lost(Error::new(ErrorKind::Io, "a bad sector"))
            }
            Err(error) => Appended::Unknown(error),
            Ok(()) => self.inner.append_call(call),
        }
    }

    fn read(&self, from: Position, limit: ReadLimit) -> Result<Vec<Vec<u8>>> {
        self.check(&self.is_log_cut)?;
        self.reads.fetch_add(1, Ordering::SeqCst);
        self.inner.read(from, limit)
    }

    fn describe(&self) -> String {
        "log that may be cut off".into()
    }

    fn register(&self) -> Option<&dyn Register> {
        Some(self)
    }
}

impl Register for Cut {
    fn get(&self, slot: Slot) -> Result<Option<Vec<u8>>> {
        self.check(&self.is_register_cut)?;
        self.inner.get(slot)
    }

    fn swap(&self, slot: Slot, expected: Option<&[u8]>, value: &[u8]) -> Result<bool> {
        self.check(&self.is_register_cut)?;
        self.inner.swap(slot, expected, value)
    }

    fn now(&self) -> Result<Instant> {
        self.check(&self.is_register_cut)?;
        let now = self.inner.now()?.micros();
        Instant::from_micros(now + self.ahead.load(Ordering::SeqCst))
    }
}

#[test]
fn a_standby_takes_over_at_once_when_the_writer_ends() {
    let log = Arc::new(MemoryLog::with_register());
    let writer = open(&log, options("https://one")).unwrap();
    assert_eq!(create(&writer, "a").unwrap().position, Position(1), "an empty log gets no record of a term");
    let second = open(&log, standby("https://two")).unwrap();
    let refused = create(&second, "b").unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::NotWriter, "{refused}");
    wait_until(|| second.standing().unwrap().writer == "https://one");
    assert_eq!(writer.standing().unwrap().term, Term(1));
    assert!(!is_writer(&second) && second.is_read_only() && second.following().is_some());
    writer.close().unwrap();
    wait_until(|| is_writer(&second));
    assert_eq!(second.standing().unwrap().term, Term(2));
    assert_eq!(create(&second, "b").unwrap().position, Position(3), "behind the record of the term");
    assert!(second.snapshot().entity(&id("a")).unwrap().is_some());
    assert!(!second.is_read_only() && second.following().is_none());
}

#[test]
fn no_repository_becomes_the_writer_while_a_lease_lives() {
    let log = Arc::new(MemoryLog::with_register());
    let writer = open(&log, options("https://one")).unwrap();
    create(&writer, "a").unwrap();
    for _ in 0..3 {
        let refused = open(&log, options("https://two")).map(drop).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Locked, "{refused}");
        assert!(refused.to_string().contains("https://one"), "{refused}");
    }
    let second = open(&log, standby("https://two")).unwrap();
    assert_eq!(second.promote().unwrap_err().kind(), ErrorKind::Locked);
    std::thread::sleep(Duration::from_millis(4 * LEASE_MS));
    assert!(!is_writer(&second) && is_writer(&writer));
    assert_eq!(create(&writer, "b").unwrap().position, Position(2));
    // A reader never asks for the lease.
    let reader = open(&log, Options::read_only()).unwrap();
    assert_eq!(reader.snapshot().position(), Position(2));
    assert_eq!(reader.promote().unwrap_err().kind(), ErrorKind::ReadOnly);
    assert_eq!(create(&reader, "c").unwrap_err().kind(), ErrorKind::ReadOnly);
    wait_until(|| reader.standing().unwrap().writer == "https://one");
    let alone = Repository::in_memory();
    assert_eq!(alone.promote().unwrap_err().kind(), ErrorKind::InvalidArgument);
    assert!(alone.standing().is_none());
}

#[test]
fn the_lease_names_its_writer_to_programs_and_to_those_that_only_read() {
    let log = Arc::new(MemoryLog::with_register());
    assert!(LeaseHolder::of(&*log).unwrap().is_none());
    let writer = open(&log, options("https://one")).unwrap();
    let holder = LeaseHolder::of(&*log).unwrap().unwrap();
    assert_eq!((holder.address.as_str(), Some(holder.secret)), ("https://one", writer.lease_secret()));
    let reader = open(&log, Options { is_read_only: true, ..standby("https://two") }).unwrap();
    wait_until(|| create(&reader, "b").unwrap_err().to_string().contains("https://one"));
    let refused = create(&reader, "b").unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::ReadOnly);
    assert_eq!(refused.context(), [("writer", "https://one".to_owned())]);
    assert!(!reader.is_standby() && !writer.is_standby());
    create(&writer, "a").unwrap();
    wait_until(|| reader.snapshot().position() == Position(1));
    assert_eq!(writer.standing().unwrap().position, Position(1));
    writer.close().unwrap();
    assert!(LeaseHolder::of(&*log).unwrap().is_none(), "it gave the lease back");
    assert!(LeaseHolder::of(&MemoryLog::new()).unwrap().is_none());
}

#[test]
fn a_writer_hands_over_and_takes_over_again() {
    let log = Arc::new(MemoryLog::with_register());
    let first = open(&log, options("https://one")).unwrap();
    let second = open(&log, standby("https://two")).unwrap();
    create(&first, "a").unwrap();
    first.demote().unwrap();
    first.demote().unwrap();
    wait_until(|| is_writer(&second));
    create(&second, "b").unwrap();
    let refused = create(&first, "c").unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::NotWriter);
    wait_until(|| first.snapshot().entity(&id("b")).unwrap().is_some());
    // It is a standby now: it follows, and takes over in its turn.
    wait_until(|| first.standing().unwrap().writer == "https://two");
    second.close().unwrap();
    wait_until(|| is_writer(&first));
    create(&first, "c").unwrap();
    assert_eq!(first.snapshot().entities_count(), 3);
    assert_eq!(terms(&*log), 2);
    // Demoted alone, it waits until it is asked.
    first.demote().unwrap();
    std::thread::sleep(Duration::from_millis(3 * LEASE_MS));
    assert!(!is_writer(&first));
    first.promote().unwrap();
    create(&first, "d").unwrap();
}

/// The old writer is cut off from the register only: it still reaches the log, and must not write behind the new term.
#[test]
fn a_writer_that_was_deposed_writes_nothing_behind_the_new_term() {
    let memory = MemoryLog::with_register();
    let cut = Cut::of(&memory);
    let old = open(&Arc::new(cut.clone()), options("https://old")).unwrap();
    create(&old, "a").unwrap();
    cut.is_register_cut.store(true, Ordering::SeqCst);
    let next = open(&Arc::new(memory.clone()), standby("https://new")).unwrap();
    wait_until(|| is_writer(&next));
    create(&next, "b").unwrap();
    assert!(is_writer(&old), "it has not heard of it");
    let refused = create(&old, "zombie").unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::NotWriter, "{refused}");
    assert!(!is_writer(&old));
    wait_until(|| old.snapshot().entity(&id("b")).unwrap().is_some());
    cut.is_register_cut.store(false, Ordering::SeqCst);
    wait_until(|| old.standing().unwrap().writer == "https://new");
    create(&next, "c").unwrap();
    assert_equal(&next, &old);
    assert!(next.snapshot().entity(&id("zombie")).unwrap().is_none());
}

/// Such a writer is opened again by its server, which must not keep others from writing until then.
#[test]
fn a_writer_that_refuses_writes_for_good_lets_its_lease_end() {
    let memory = MemoryLog::with_register();
    let cut = Cut::of(&memory);
    let broken = open(&Arc::new(cut.clone()), options("https://broken")).unwrap();
    create(&broken, "a").unwrap();
    let next = open(&Arc::new(memory.clone()), standby("https://next")).unwrap();
    cut.is_lost.store(true, Ordering::SeqCst);
    assert_eq!(create(&broken, "b").unwrap_err().kind(), ErrorKind::OutcomeUnknown);
    wait_until(|| is_writer(&next));
    create(&next, "c").unwrap();
    assert!(next.snapshot().entity(&id("b")).unwrap().is_none());
    assert!(create(&broken, "d").is_err());
}

/// It once answered reads of its old state until its server was started again.
#[test]
fn a_writer_that_failed_follows_the_next_one_and_takes_over_in_its_turn() {
    let memory = MemoryLog::with_register();
    let cut = Cut::of(&memory);
    let broken = open(&Arc::new(cut.clone()), options("https://broken")).unwrap();
    create(&broken, "a").unwrap();
    let next = open(&Arc::new(memory.clone()), standby("https://next")).unwrap();
    cut.is_lost.store(true, Ordering::SeqCst);
    assert_eq!(create(&broken, "b").unwrap_err().kind(), ErrorKind::OutcomeUnknown);
    assert!(broken.failure().is_some() && broken.refusal().is_some());
    cut.is_lost.store(false, Ordering::SeqCst);
    wait_until(|| is_writer(&next));
    create(&next, "c").unwrap();
    follows_and_takes_over(broken, next);
}

/// The same if the committing thread panicked: then no thread had the right to commit, or to follow, any more.
#[test]
fn a_writer_that_panicked_follows_the_next_one_and_takes_over_in_its_turn() {
    let memory = MemoryLog::with_register();
    let is_bad = Arc::new(AtomicBool::new(false));
    let clock = {
        let is_bad = Arc::clone(&is_bad);
        move || {
            let is_committing = std::thread::current().name() == Some("annals-commit");
            assert!(!(is_committing && is_bad.load(Ordering::SeqCst)), "a clock that fails");
            Instant::now()
        }
    };
    let broken = Options { clock: Arc::new(clock), ..options("https://broken") };
    let broken = open(&Arc::new(memory.clone()), broken).unwrap();
    create(&broken, "a").unwrap();
    let next = open(&Arc::new(memory.clone()), standby("https://next")).unwrap();
    is_bad.store(true, Ordering::SeqCst);
    let mut transaction = broken.transaction();
    transaction.create_entity(new("b")).unwrap();
    assert!(transaction.submit().unwrap().wait().is_err());
    is_bad.store(false, Ordering::SeqCst);
    wait_until(|| is_writer(&next));
    create(&next, "c").unwrap();
    follows_and_takes_over(broken, next);
}

fn follows_and_takes_over(broken: Repository, next: Repository) {
    wait_until(|| broken.snapshot().entity(&id("c")).unwrap().is_some());
    assert_eq!(create(&broken, "d").unwrap_err().kind(), ErrorKind::NotWriter);
    wait_until(|| broken.failure().is_none());
    assert!(broken.is_standby());
    assert_equal(&broken, &next);
    next.close().unwrap();
    wait_until(|| is_writer(&broken));
    create(&broken, "e").unwrap();
    assert!(broken.snapshot().entity(&id("b")).unwrap().is_none());
    assert!(broken.settled_until() >= broken.snapshot().instant_of(Position(1)).unwrap());
}

/// It said nothing of how old its state may be.
#[test]
fn the_age_of_a_writer_counts_from_its_latest_sign_of_life() {
    let memory = MemoryLog::with_register();
    let cut = Cut::of(&memory);
    let writer = open(&Arc::new(cut.clone()), options("https://one")).unwrap();
    assert!(writer.age() < Duration::from_secs(5));
    cut.is_register_cut.store(true, Ordering::SeqCst);
    let lease = Duration::from_millis(LEASE_MS);
    wait_until(|| writer.age() > 3 * lease);
    cut.is_register_cut.store(false, Ordering::SeqCst);
    wait_until(|| writer.age() < lease);
    assert!(is_writer(&writer));
    let reader = open(&Arc::new(memory.clone()), Options::read_only()).unwrap();
    wait_until(|| reader.age() < lease);
    assert_eq!(Repository::in_memory().age(), Duration::ZERO, "nobody can take it over");
}

/// It once read the whole log first, and said minutes later that another one writes.
#[test]
fn an_opening_beside_a_writer_reads_no_log() {
    let memory = MemoryLog::with_register();
    let writer = open(&Arc::new(memory.clone()), options("https://one")).unwrap();
    create(&writer, "a").unwrap();
    let beside = Cut::of(&memory);
    let refused = open(&Arc::new(beside.clone()), options("https://two")).map(drop).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Locked, "{refused}");
    assert!(refused.context().contains(&("writer", "https://one".to_owned())), "{refused}");
    assert_eq!(beside.reads.load(Ordering::SeqCst), 0);
    // A standby reads it, and waits.
    let standby = open(&Arc::new(beside.clone()), standby("https://two")).unwrap();
    assert!(beside.reads.load(Ordering::SeqCst) > 0 && !is_writer(&standby));
}

/// A writer that was cut off loses its place while the outcome of a commit is unknown. It writes again later: it once refused all
/// writes then, because the log had not answered long ago, and kept the lease.
#[test]
fn a_writer_that_was_cut_off_writes_when_its_turn_comes_again() {
    let memory = MemoryLog::with_register();
    let cut = Cut::of(&memory);
    let cut_off = |is_cut| {
        cut.is_log_cut.store(is_cut, Ordering::SeqCst);
        cut.is_register_cut.store(is_cut, Ordering::SeqCst);
    };
    // Longer than the takeover takes.
    let patience = Duration::from_millis(10 * LEASE_MS);
    let old = Options { log_patience_ms: 10 * LEASE_MS, ..options("https://old") };
    let old = open(&Arc::new(cut.clone()), old).unwrap();
    create(&old, "a").unwrap();
    let next = open(&Arc::new(memory.clone()), standby("https://new")).unwrap();
    cut_off(true);
    let mut transaction = old.transaction();
    transaction.create_entity(new("b")).unwrap();
    let doubtful = transaction.submit().unwrap();
    wait_until(|| is_writer(&next));
    create(&next, "c").unwrap();
    cut_off(false);
    assert_eq!(doubtful.wait().unwrap_err().kind(), ErrorKind::NotWriter);
    wait_until(|| !is_writer(&old) && old.snapshot().position() == next.snapshot().position());
    std::thread::sleep(patience);
    assert!(old.refusal().is_none(), "{:?}", old.refusal());
    next.demote().unwrap();
    wait_until(|| is_writer(&old));
    create(&old, "d").unwrap();
    assert_equal(&old, &next);
}

/// The clock of the old writer is ahead, so it has told instants as settled that are still to come for the new one. The record
/// of the new term once came before them.
#[test]
fn the_record_of_a_term_comes_after_what_was_told_as_settled() {
    let memory = MemoryLog::with_register();
    let cut = Cut::of(&memory);
    let ahead = || Instant::from_micros(Instant::now().micros() + 1_500_000).unwrap();
    let old = Options { clock: Arc::new(ahead), ..options("https://old") };
    let old = open(&Arc::new(cut.clone()), old).unwrap();
    create(&old, "a").unwrap();
    let next = open(&Arc::new(memory.clone()), standby("https://new")).unwrap();
    std::thread::sleep(Duration::from_millis(LEASE_MS));
    cut.is_register_cut.store(true, Ordering::SeqCst);
    let told = old.settled_until();
    assert!(told > Instant::now());
    wait_until(|| is_writer(&next));
    let mut follow = next.follow(Position::ZERO);
    let records = std::iter::from_fn(|| follow.poll().unwrap());
    let begun: Vec<Instant> =
        records.filter(|(_, record)| &*record.author == "annals").map(|(_, record)| record.instant).collect();
    assert!(matches!(begun[..], [begun] if begun >= told), "{begun:?}, told {told}");
}

/// The warnings that an application got.
#[derive(Default)]
struct Warnings(Mutex<Vec<String>>);

impl Observer for Warnings {
    fn warned(&self, text: &str) {
        self.0.lock().unwrap().push(text.to_owned());
    }
}

/// It was told only once the writer was gone.
#[test]
fn a_standby_with_a_wrong_clock_warns_before_it_must_take_over() {
    let memory = MemoryLog::with_register();
    let writer = open(&Arc::new(memory.clone()), options("https://one")).unwrap();
    let (cut, warnings) = (Cut::of(&memory), Arc::new(Warnings::default()));
    cut.ahead.store(2_500_000, Ordering::SeqCst);
    let observer = Some(Arc::clone(&warnings) as Arc<dyn Observer>);
    let next = open(&Arc::new(cut.clone()), Options { observer, ..standby("https://new") }).unwrap();
    let has_problem = || next.standing().unwrap().problem.is_some_and(|text| text.contains("set the clock"));
    wait_until(has_problem);
    writer.demote().unwrap();
    std::thread::sleep(Duration::from_millis(3 * LEASE_MS));
    assert!(!is_writer(&next) && has_problem());
    assert_eq!(warnings.0.lock().unwrap().len(), 1, "{:?}", warnings.0);
    cut.ahead.store(0, Ordering::SeqCst);
    wait_until(|| is_writer(&next));
    wait_until(|| !has_problem());
}

/// A call of the old writer is under way while the new one begins: it lands before the record of the term, or never.
#[test]
fn a_call_under_way_at_a_takeover_lands_before_the_term_or_never() {
    for seed in 0..12 {
        let memory = MemoryLog::with_register();
        let faulty = Arc::new(FaultLog::new(memory.clone(), FaultPlan::default()));
        let old = open(&faulty, options("https://old")).unwrap();
        create(&old, "a").unwrap();
        let plan = if seed % 2 == 0 {
            FaultPlan { seed, append_late: 1_000, ..FaultPlan::default() }
        } else {
            FaultPlan { seed, append_answer_lost: 1_000, ..FaultPlan::default() }
        };
        faulty.set_plan(plan);
        let mut transaction = old.transaction();
        transaction.create_entity(new("b")).unwrap();
        let doubtful = transaction.submit().unwrap();
        let next = open(&Arc::new(memory.clone()), standby("https://new")).unwrap();
        let outcome = std::thread::scope(|scope| {
            // It gives no more signs of life, and waits for the outcome.
            let demoted = scope.spawn(|| old.demote());
            wait_until(|| is_writer(&next));
            create(&next, "c").unwrap();
            faulty.set_plan(FaultPlan::default());
            demoted.join().unwrap().unwrap();
            doubtful.wait()
        });
        let is_there = assert_equal(&next, &old).entity(&id("b")).unwrap().is_some();
        match outcome {
            Ok(receipt) => assert!(is_there && receipt.position == Position(2), "seed {seed}"),
            Err(error) if error.kind() == ErrorKind::OutcomeUnknown => {}
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::NotWriter, "seed {seed}: {error}");
                assert!(!is_there, "seed {seed}: it was refused, and landed");
            }
        }
    }
}

/// Writers end without a word while clients write: every acknowledged commit is there once.
#[test]
fn takeovers_beside_commits_lose_and_double_nothing() {
    let memory = MemoryLog::with_register();
    let servers: Vec<(Cut, Repository)> = (0..3)
        .map(|number| {
            let cut = Cut::of(&memory);
            let options = Options { log_patience_ms: 200, ..standby(&format!("https://{number}")) };
            let repository = open(&Arc::new(cut.clone()), options).unwrap();
            (cut, repository)
        })
        .collect();
    let (acknowledged, unknown) = (Mutex::new(BTreeSet::new()), Mutex::new(BTreeSet::new()));
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for client in 0..4 {
            let (servers, acknowledged, unknown, is_done) = (&servers, &acknowledged, &unknown, &is_done);
            scope.spawn(move || {
                for number in 0.. {
                    if is_done.load(Ordering::SeqCst) {
                        return;
                    }
                    let name = format!("c{client}-{number}");
                    for (_, server) in servers.iter().cycle().skip(number % 3).take(3) {
                        match create(server, &name) {
                            Ok(_) => {
                                acknowledged.lock().unwrap().insert(name.clone());
                                break;
                            }
                            Err(error) if error.kind() == ErrorKind::OutcomeUnknown => {
                                unknown.lock().unwrap().insert(name.clone());
                                break;
                            }
                            Err(error) => {
                                let kind = error.kind();
                                assert!(
                                    matches!(kind, ErrorKind::NotWriter | ErrorKind::Unavailable),
                                    "{error}"
                                );
                            }
                        }
                    }
                    std::thread::sleep(Duration::from_millis(3));
                }
            });
        }
        for round in 0..8 {
            wait_until(|| servers.iter().any(|(_, server)| is_writer(server)));
            std::thread::sleep(Duration::from_millis(60));
            let Some((cut, _)) = servers.iter().find(|(_, server)| is_writer(server)) else { continue };
            cut.is_register_cut.store(true, Ordering::SeqCst);
            cut.is_log_cut.store(round % 2 == 0, Ordering::SeqCst);
            std::thread::sleep(Duration::from_millis(3 * LEASE_MS));
            cut.is_log_cut.store(false, Ordering::SeqCst);
            cut.is_register_cut.store(false, Ordering::SeqCst);
        }
        is_done.store(true, Ordering::SeqCst);
    });
    let (acknowledged, unknown) = (acknowledged.into_inner().unwrap(), unknown.into_inner().unwrap());
    assert!(acknowledged.len() > 50, "{}", acknowledged.len());
    let tail = memory.tail().unwrap();
    for (_, server) in &servers {
        wait_until(|| server.snapshot().position() >= tail);
    }
    let first = assert_equal(&servers[0].1, &servers[1].1);
    for name in &acknowledged {
        assert!(first.entity(&id(name)).unwrap().is_some(), "{name} was acknowledged and is lost");
    }
    let found = usize::try_from(first.entities_count()).unwrap();
    assert!(found >= acknowledged.len() && found <= acknowledged.len() + unknown.len(), "{found}");
    assert!(terms(&memory) >= 3, "{}", terms(&memory));
    drop(servers);
    let records = usize::try_from(first.position().0).unwrap();
    let records = memory.read(Position(1), ReadLimit { bytes: usize::MAX, records }).unwrap();
    let replayed = CheckedRepository::on(Arc::new(MemoryLog::from_records(records)));
    assert_same("replayed", &dump(&first), &dump(&replayed.snapshot()));
}

#[test]
fn only_the_holder_of_the_term_puts_a_compacted_log_in_place() {
    let memory = MemoryLog::with_register();
    let cut = Cut::of(&memory);
    let old = open(&Arc::new(memory.clone()), options("https://old")).unwrap();
    create(&old, "a").unwrap();
    old.transact(|t| t.purge(&InstanceId::Entity(id("a")))).unwrap();
    // Another one swaps the term, and has not written yet.
    let value = memory.get(Slot::Upkeep).unwrap();
    let mut other = value.clone().unwrap();
    *other.last_mut().unwrap() ^= 1;
    assert!(cut.swap(Slot::Upkeep, value.as_deref(), &other).unwrap());
    let refused = old.compact().unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::NotWriter, "{refused}");
    assert_eq!(memory.generation(), 0);
    assert!(memory.swap(Slot::Upkeep, Some(&other), &value.unwrap()).unwrap());
    old.compact().unwrap();
    assert_eq!(memory.generation(), 1);
}
