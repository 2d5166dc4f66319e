//! Durability: what was acknowledged survives power cuts, failing syncs, lost answers and `kill -9`; nothing is half.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::support::compare::compare_all;
use crate::support::operations::{Generator, SHAPES, Shape, Timed, first_definitions, push};
use crate::support::reference::{Committed, Reference, View};
use crate::support::search::compare_search;
use crate::support::{self, CheckedRepository, Random, number_from_environment, seeds};
use annals::log::{FaultLog, FaultPlan, FileLog, FileOptions, Log, MemoryLog};
use annals::storage::simulated_disk::SimulatedDisk;
use annals::*;

const FOLDER: &str = "/log";
const OPTIONS: FileOptions = FileOptions { segment_bytes: 4096, verify_sealed: true, open_files_max: 4 };
const CLOCK_START: i64 = 1_600_000_000_000_000;

fn open_log(disk: &SimulatedDisk) -> Result<Arc<FileLog>> {
    FileLog::open_on(Arc::new(disk.clone()), FOLDER, OPTIONS).map(Arc::new)
}

fn open(disk: &SimulatedDisk) -> Result<CheckedRepository> {
    CheckedRepository::on_with(open_log(disk)?, Options::default())
}

fn entity(text: &str) -> InstanceId {
    InstanceId::Entity(Id::new(text).unwrap())
}

fn new(text: &str) -> NewEntity {
    NewEntity::new("t").id(text).unwrap()
}

/// The outcome that the writer of a history knows: the acknowledged state, and the one after the commit in doubt.
struct Told {
    acknowledged: Reference,
    in_doubt: Option<Reference>,
}

/// Commits a random history until it is done or the power is cut.
fn write_history(disk: &SimulatedDisk, seed: u64, steps: u64) -> Told {
    let shape = SHAPES[(seed % 4) as usize];
    let mut generator =
        Generator { random: Random(seed), shape, instants: Vec::new(), has_homes: seed % 2 == 1 };
    let mut told = Told { acknowledged: Reference::default(), in_doubt: None };
    let mut repository = match open(disk) {
        Ok(repository) => repository.unchecked(),
        Err(_) => return told,
    };
    let definitions =
        first_definitions().into_iter().map(|definition| Action::DefineType(Box::new(definition)));
    let mut operations: Vec<Timed> =
        definitions.map(|action| (None, support::operations::Operation::Act(action))).collect();
    for step in 0..steps {
        let instant = CLOCK_START + step as i64;
        let mut next = told.acknowledged.clone();
        let committed =
            Committed { operations: &operations, instant, author: "ada", message: "", is_always: true };
        let is_possible = next.commit(&committed).is_ok();
        let mut transaction = repository.transaction();
        transaction.author("ada").always(true).committed_at(Instant::from_micros(instant).unwrap());
        let outcome = operations
            .iter()
            .try_for_each(|operation| push(&mut transaction, operation))
            .and_then(|()| transaction.commit());
        match outcome {
            Ok(_) => {
                assert!(is_possible, "seed {seed}, step {step}: {operations:?}");
                told.acknowledged = next;
            }
            Err(error) if error.kind() == ErrorKind::OutcomeUnknown => {
                if is_possible {
                    told.in_doubt = Some(next);
                }
                return told;
            }
            Err(error) if error.kind() == ErrorKind::Unavailable => return told,
            Err(error) => assert!(!is_possible, "seed {seed}, step {step}: {error:?}"),
        }
        generator.instants.clone_from(&told.acknowledged.instants);
        operations = generator.transaction();
        if generator.random.one_in(8) {
            drop(repository);
            repository = match open(disk) {
                Ok(repository) => repository.unchecked(),
                Err(_) => return told,
            };
        }
    }
    told
}

/// Checks that the disk holds all that was acknowledged, and the commit in doubt either whole or not at all.
fn check_left(left: &SimulatedDisk, told: &Told, seed: u64) {
    let repository = open(left).expect("open what a power cut has left");
    let snapshot = repository.snapshot();
    let position = snapshot.position().0;
    let model = match &told.in_doubt {
        Some(in_doubt) if in_doubt.position == position => in_doubt,
        _ => &told.acknowledged,
    };
    assert_eq!(position, model.position, "the last position");
    compare_all(&snapshot, model, View { position, valid: i64::MAX });
    let mut generator = Generator {
        random: Random(seed),
        shape: Shape::Small,
        instants: Vec::new(),
        has_homes: seed % 2 == 1,
    };
    let half = View { position: position / 2, valid: i64::MAX };
    let past = snapshot.as_of(AsOf { position: Some(Position(half.position)), ..AsOf::default() }).unwrap();
    compare_all(&past, model, half);
    compare_search(&past, model, half, &mut generator);
    repository.transact(|t| t.create_entity(NewEntity::new("after the power cut"))).expect("it goes on");
}

#[test]
fn a_power_cut_at_any_operation_leaves_what_was_acknowledged() {
    let steps = number_from_environment("ANNALS_POWER_STEPS", 20);
    let mut cuts_count = 0;
    for seed in seeds("ANNALS_POWER_SEED", 4) {
        let whole = SimulatedDisk::new();
        write_history(&whole, seed, steps);
        for operation in 0..whole.operations_count() {
            let disk = SimulatedDisk::new();
            disk.cut_power_at(operation);
            let told = write_history(&disk, seed, steps);
            for image in 0..2 {
                let place = format!("seed {seed}, operation {operation}, image {image}");
                let left = disk.after_power_cut(operation * 2 + image);
                let checked = std::panic::AssertUnwindSafe(|| check_left(&left, &told, seed));
                if let Err(cause) = std::panic::catch_unwind(checked) {
                    eprintln!("{place}");
                    std::panic::resume_unwind(cause);
                }
                cuts_count += 1;
            }
        }
    }
    eprintln!("{cuts_count} power cuts");
}

#[test]
fn a_power_cut_while_many_commit_leaves_every_transaction_whole_or_not_at_all() {
    for cut in 10..40 {
        let disk = SimulatedDisk::new();
        let repository = open(&disk).unwrap().unchecked();
        disk.cut_power_at(disk.operations_count() + cut);
        let acknowledged = Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            for thread in 0..8 {
                let (repository, acknowledged) = (&repository, &acknowledged);
                scope.spawn(move || {
                    for number in 0.. {
                        let name = format!("e{thread}-{number}");
                        let committed = repository.transact(|t| {
                            t.create_entity(new(&name))?;
                            t.create_entity(new(&format!("{name}-too")))
                        });
                        match committed {
                            Ok(_) => acknowledged.lock().unwrap().push(name),
                            Err(error) => {
                                let kind = error.kind();
                                assert!(matches!(kind, ErrorKind::OutcomeUnknown | ErrorKind::Unavailable));
                                break;
                            }
                        }
                    }
                });
            }
        });
        for image in 0..4 {
            let left = open(&disk.after_power_cut(image)).unwrap();
            let snapshot = left.snapshot();
            let is_there = |name: &str| snapshot.entity(&Id::new(name).unwrap()).unwrap().is_some();
            for name in acknowledged.lock().unwrap().iter() {
                assert!(is_there(name), "cut {cut}, image {image}: {name} is lost");
            }
            for found in &snapshot.find_entities(&Find::all().limit(100_000)).unwrap().items {
                let name = found.id().to_string();
                let first = name.strip_suffix("-too").unwrap_or(&name);
                assert!(is_there(first) && is_there(&format!("{first}-too")), "{first} is half there");
            }
        }
    }
}

#[test]
fn after_a_failed_sync_nothing_is_written_and_everything_acknowledged_is_read() {
    let disk = SimulatedDisk::new();
    let repository = open(&disk).unwrap().unchecked();
    repository.transact(|t| t.create_entity(new("a"))).unwrap();
    let before = repository.snapshot();
    disk.fail_sync_at(disk.syncs_count());
    for attempt in 0..3 {
        let failed = repository.transact(|t| t.create_entity(new(&format!("b{attempt}"))));
        let expected = [ErrorKind::OutcomeUnknown, ErrorKind::Unavailable][attempt.min(1)];
        assert_eq!(failed.unwrap_err().kind(), expected);
    }
    assert_eq!(repository.failure().unwrap().kind(), ErrorKind::Unavailable);
    assert_eq!(repository.refusal(), repository.failure());
    let after = repository.snapshot();
    assert_eq!(after.position(), before.position());
    assert!(after.entity(&Id::new("a").unwrap()).unwrap().is_some());
    assert!(after.entity(&Id::new("b0").unwrap()).unwrap().is_none());
    assert_eq!(after.versions(&entity("a"), 0, 9).unwrap().len(), 1);
    assert_eq!(repository.follow(Position(1)).poll().unwrap(), None);
    // Snapshots read on from the log they were taken from, so they hold it open.
    drop((before, after, repository));
    let reopened = open(&disk).unwrap();
    assert!(reopened.snapshot().entity(&Id::new("a").unwrap()).unwrap().is_some());
    reopened.transact(|t| t.create_entity(new("c"))).unwrap();
}

/// Every transaction that waits, is sequenced or is being appended is told, and nobody waits for ever.
#[test]
fn a_failed_sync_is_told_to_everybody_who_waits() {
    for failing in 1..12 {
        let disk = SimulatedDisk::new();
        let repository = open(&disk).unwrap().unchecked();
        disk.fail_sync_at(disk.syncs_count() + failing);
        let mut tickets = Vec::new();
        for number in 0..300 {
            let mut transaction = repository.transaction();
            transaction.create_entity(new(&format!("e{number}"))).unwrap();
            match transaction.submit() {
                Ok(ticket) => tickets.push((number, ticket)),
                Err(error) => assert_eq!(error.kind(), ErrorKind::Unavailable),
            }
        }
        let acknowledged: Vec<usize> =
            tickets.iter().filter(|(_, ticket)| ticket.wait().is_ok()).map(|(number, _)| *number).collect();
        let snapshot = repository.snapshot();
        assert_eq!(snapshot.entities_count(), acknowledged.len() as u64, "seen is what was acknowledged");
        let left = open(&disk.after_power_cut(failing)).unwrap();
        let left = left.snapshot();
        for number in acknowledged {
            let id = Id::new(&format!("e{number}")).unwrap();
            assert!(left.entity(&id).unwrap().is_some(), "failing sync {failing}: e{number} is lost");
        }
    }
}

/// Eight threads commit, submit, collide and violate a unique attribute, while every third append finds no room.
#[test]
fn a_log_without_room_costs_only_what_it_refused() {
    for seed in seeds("ANNALS_FULL_SEED", 6) {
        let memory = MemoryLog::new();
        let log = Arc::new(FaultLog::new(memory.clone(), FaultPlan::default()));
        let repository = CheckedRepository::on(log.clone());
        let unique = AttributeDefinition::new("key", ValueType::Integer).unique();
        let keyed = TypeDefinition::entity("keyed").attribute(unique);
        repository.transact(|t| t.define_type(keyed.clone())).unwrap();
        repository.transact(|t| t.create_entity(new("shared").property("n", 0))).unwrap();
        log.set_plan(FaultPlan { seed, append_full: 333, ..FaultPlan::default() });
        let outcomes = Mutex::new((Vec::new(), Vec::new()));
        std::thread::scope(|scope| {
            for thread in 0..8u64 {
                let (repository, outcomes) = (&repository, &outcomes);
                scope.spawn(move || {
                    let mut random = Random(seed * 8 + thread);
                    let mut tickets = Vec::new();
                    let note = |name: String, outcome: Result<Receipt>| {
                        let mut outcomes = outcomes.lock().unwrap();
                        match outcome {
                            Ok(receipt) => outcomes.0.push((name, receipt.position.0)),
                            Err(error) if error.kind() == ErrorKind::NoRoom => outcomes.1.push(name),
                            Err(error) => assert!(
                                matches!(error.kind(), ErrorKind::Conflict | ErrorKind::NotUnique),
                                "{error:?}"
                            ),
                        }
                    };
                    for number in 0..200u64 {
                        let name = format!("e{thread}-{number}");
                        let mut transaction = repository.transaction();
                        let key = if random.one_in(4) { 7 } else { (thread * 1_000 + number) as i64 };
                        let created = NewEntity::new("keyed").id(name.as_str()).unwrap().property("key", key);
                        // The view of a transaction sees a key that is taken, too.
                        if transaction.create_entity(created).is_err() {
                            continue;
                        }
                        if random.one_in(5) {
                            transaction.update(&entity("shared"), Patch::new().set("n", key)).unwrap();
                        }
                        if random.one_in(2) {
                            tickets.push((name, transaction.submit().unwrap()));
                        } else {
                            note(name, transaction.commit());
                        }
                    }
                    for (name, ticket) in tickets {
                        note(name, ticket.wait());
                    }
                });
            }
        });
        log.set_plan(FaultPlan::default());
        let (acknowledged, refused) = outcomes.into_inner().unwrap();
        assert!(refused.len() > 20 && acknowledged.len() > 100, "{} {}", refused.len(), acknowledged.len());
        let snapshot = repository.snapshot();
        let is_there = |name: &str| snapshot.entity(&Id::new(name).unwrap()).unwrap().is_some();
        assert!(acknowledged.iter().all(|(name, _)| is_there(name)), "seed {seed}");
        assert!(!refused.iter().any(|name| is_there(name)), "seed {seed}");
        let positions: std::collections::BTreeSet<u64> =
            acknowledged.iter().map(|(_, position)| *position).collect();
        assert_eq!(positions, (3..=memory.tail().unwrap().0).collect(), "seed {seed}");
        let receipt = repository.transact(|t| t.create_entity(new("after"))).unwrap().1;
        assert_eq!(receipt.position, memory.tail().unwrap());
        assert_eq!(repository.refusal(), None);
    }
}

#[test]
fn a_repository_without_room_says_so_until_there_is_some_and_finds_out_by_itself() {
    let log = Arc::new(FaultLog::new(MemoryLog::new(), FaultPlan::default()));
    let repository = CheckedRepository::on(log.clone());
    repository.transact(|t| t.create_entity(new("a"))).unwrap();
    assert_eq!(repository.refusal(), None);
    log.set_plan(FaultPlan { append_full: 1_000, ..FaultPlan::default() });
    let refused = repository.transact(|t| t.create_entity(new("b"))).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::NoRoom);
    std::thread::sleep(Duration::from_millis(1_100));
    for _ in 0..3 {
        assert_eq!(repository.refusal().map(|error| error.kind()), Some(ErrorKind::NoRoom));
    }
    assert!(repository.failure().is_none(), "nothing that needs a reopening");
    log.set_plan(FaultPlan::default());
    let deadline = std::time::Instant::now() + Duration::from_secs(30);
    while repository.refusal().is_some() {
        assert!(std::time::Instant::now() < deadline);
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(repository.snapshot().position(), Position(1), "nobody has written");
    // An append that the log takes says the same at once.
    log.set_plan(FaultPlan { append_full: 1_000, ..FaultPlan::default() });
    repository.transact(|t| t.create_entity(new("b"))).unwrap_err();
    log.set_plan(FaultPlan::default());
    assert!(repository.refusal().is_some());
    repository.transact(|t| t.create_entity(new("b"))).unwrap();
    assert_eq!(repository.refusal(), None);
}

#[test]
fn a_full_disk_refuses_one_transaction_and_the_next_is_written() {
    let whole = SimulatedDisk::new();
    let create = |disk: &SimulatedDisk| -> Result<(usize, Vec<ErrorKind>)> {
        let repository = open(disk)?;
        let mut refusals = Vec::new();
        for number in 0..60 {
            let made = repository
                .transact(|t| t.create_entity(new(&format!("e{number}")).property("text", "x".repeat(200))));
            refusals.extend(made.err().map(|error| error.kind()));
        }
        let count = repository.snapshot().entities_count() as usize;
        if repository.failure().is_some() {
            // Only followers lost track: the durable position could not be written.
            drop(repository.unchecked());
        }
        Ok((count, refusals))
    };
    create(&whole).unwrap();
    let mut refused_one = 0;
    for failing in 0..whole.writes_count() {
        let disk = SimulatedDisk::new();
        disk.fail_write_at(failing);
        let Ok((count, refusals)) = create(&disk) else { continue };
        assert_eq!(count + refusals.len(), 60, "write {failing}");
        if refusals == [ErrorKind::NoRoom] {
            refused_one += 1;
        }
        assert_eq!(open(&disk).unwrap().snapshot().entities_count() as usize, count, "write {failing}");
    }
    assert!(refused_one >= 60, "{refused_one}");
}

#[test]
fn a_log_that_does_not_answer_reads_costs_no_writer_its_data() {
    let memory = MemoryLog::new();
    let log = Arc::new(FaultLog::new(memory.clone(), FaultPlan::default()));
    let repository = CheckedRepository::on(log.clone());
    repository.transact(|t| t.create_entity(new("a").property("n", 1))).unwrap();
    repository.transact(|t| t.update(&entity("a"), Patch::new().set("n", 2))).unwrap();
    let past = AsOf { position: Some(Position(1)), ..AsOf::default() };
    let past = repository.snapshot().as_of(past).unwrap();
    log.set_plan(FaultPlan { read_refused: 1_000, ..FaultPlan::default() });
    let unread = past.entity(&Id::new("a").unwrap()).map(drop);
    assert_eq!(unread.unwrap_err().kind(), ErrorKind::Unavailable);
    // The present needs no log.
    assert!(repository.snapshot().entity(&Id::new("a").unwrap()).unwrap().is_some());
    repository.transact(|t| t.update(&entity("a"), Patch::new().set("n", 3))).unwrap();
    log.set_plan(FaultPlan::default());
    let found = past.entity(&Id::new("a").unwrap()).unwrap().unwrap();
    assert_eq!(found.property("n"), Some(Value::from(1)));
}

#[test]
fn short_reads_open_the_same_repository() {
    let memory = MemoryLog::new();
    let repository = CheckedRepository::on(Arc::new(memory.clone()));
    for number in 0..100 {
        repository.transact(|t| t.create_entity(new(&format!("e{number}")))).unwrap();
    }
    let plan = FaultPlan { seed: 9, read_short: 700, ..FaultPlan::default() };
    let short = Repository::with_log(Arc::new(FaultLog::new(memory, plan)), Options::default()).unwrap();
    support::dump::assert_same(
        "short reads",
        &support::dump(&repository.snapshot()),
        &support::dump(&short.snapshot()),
    );
}

const CHILD_FOLDER: &str = "ANNALS_KILLED_CHILD_FOLDER";
const CHILD_ROUND: &str = "ANNALS_KILLED_CHILD_ROUND";

/// Not a test of its own: the process that the next test kills. It commits, and tells what was acknowledged.
#[test]
fn child_that_is_killed() {
    let Ok(folder) = std::env::var(CHILD_FOLDER) else { return };
    let round = std::env::var(CHILD_ROUND).expect("the parent sets it");
    let repository = Repository::open(folder).expect("open what the child before has left");
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let (repository, round) = (&repository, &round);
            scope.spawn(move || {
                for number in 0..1_000_000 {
                    let name = format!("e{round}-{thread}-{number}");
                    repository
                        .transact(|t| {
                            t.create_entity(new(&name))?;
                            t.create_entity(new(&format!("{name}-too")))
                        })
                        .expect("commit");
                    // Not println, which the test harness would keep to itself.
                    let line = format!("ack {name}\n");
                    std::io::stdout().write_all(line.as_bytes()).expect("tell the parent");
                }
            });
        }
    });
}

#[test]
fn a_killed_process_loses_nothing_that_was_acknowledged() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("repository");
    let mut acknowledged: Vec<String> = Vec::new();
    let mut random = Random(7);
    let rounds = number_from_environment("ANNALS_KILL_ROUNDS", 10);
    for round in 0..rounds {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "maintenance::durability::child_that_is_killed",
                "--nocapture",
                "--test-threads=1",
            ])
            .env(CHILD_FOLDER, &path)
            .env(CHILD_ROUND, round.to_string())
            .stdout(Stdio::piped())
            .spawn()
            .expect("start the child");
        let output = child.stdout.take().expect("it is piped");
        let reader = std::thread::spawn(move || {
            let lines = BufReader::new(output).split(b'\n').map_while(std::result::Result::ok);
            let lines = lines.filter_map(|line| String::from_utf8(line).ok());
            lines.filter_map(|line| line.strip_prefix("ack ").map(str::to_owned)).collect::<Vec<String>>()
        });
        std::thread::sleep(Duration::from_millis(100 + random.below(200) as u64));
        child.kill().expect("kill -9");
        child.wait().expect("the child is gone");
        let mut told = reader.join().unwrap();
        // The pipe may end in the middle of a line, which then names another entity, or none.
        told.pop();
        acknowledged.extend(told);
        let repository = Repository::open(&path).expect("open after kill -9");
        let snapshot = repository.snapshot();
        for name in &acknowledged {
            for id in [name.clone(), format!("{name}-too")] {
                let found = snapshot.entity(&Id::new(&id).unwrap()).unwrap();
                assert!(found.is_some(), "round {round}: {id} was acknowledged and is lost");
            }
        }
        assert_eq!(snapshot.entities_count() % 2, 0, "round {round}: a transaction is half there");
    }
    assert!(acknowledged.len() > rounds as usize, "the children did not come to commit");
    eprintln!("{} commits were acknowledged by killed processes", acknowledged.len());
    drop(CheckedRepository::open(&path).unchecked());
    assert!(Repository::open(&path).unwrap().check().unwrap().is_clean());
}
