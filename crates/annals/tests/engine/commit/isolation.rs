//! Isolation: what transactions of several threads see of each other.

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::support::named::{entity, id, new, number, set, two_entities};
use crate::support::{CheckedRepository, number_from_environment};
use annals::*;

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
    transaction.update(&entity("a"), set(6)).unwrap();
    transaction.commit().unwrap();
    let snapshot = repository.snapshot();
    assert_eq!((number(&snapshot, "a"), number(&snapshot, "b")), (6, 5));
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
    let one = EndDefinition { is_many: false, ..EndDefinition::ANY };
    let many = EndDefinition::ANY;
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
        repository.transact(|other| other.update(&entity("a"), set(1_000 + attempts)))?;
        t.update(&entity("a"), set(-1))
    });
    assert_eq!(outcome.unwrap_err().kind(), ErrorKind::Conflict);
    assert_eq!(attempts, RETRIES_MAX as i64 + 1);
}

// Commits a transaction that is refused because an end is missing, after it created, purged or renamed an instance.
fn refused_after(repository: &Repository, id: &Id, step: u32) {
    let mut transaction = repository.transaction();
    transaction.create_entity(new(&id.to_string())).unwrap();
    match step % 3 {
        0 => {}
        1 => transaction.purge(&InstanceId::Entity(id.clone())).unwrap(),
        _ => transaction.reidentify(&InstanceId::Entity(id.clone()), &Id::random()).unwrap(),
    }
    transaction.create_relationship(NewRelationship::new("r", Id::random(), Id::random())).unwrap();
    assert_eq!(transaction.commit().unwrap_err().kind(), ErrorKind::MissingEnd);
}

#[test]
fn ids_of_what_was_refused_or_only_tried_lead_to_nothing_and_can_be_given_again() {
    let repository = CheckedRepository::in_memory();
    let kept: Vec<(Vec<Id>, Vec<Id>)> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4u32)
            .map(|thread| {
                let repository = &repository;
                scope.spawn(move || {
                    let (mut kept, mut tried) = (Vec::new(), Vec::new());
                    for step in 0..150 {
                        let id = if step % 2 == 0 { Id::random() } else { id(&format!("{thread}-{step}")) };
                        match step % 5 {
                            0 | 1 => {
                                refused_after(repository, &id, step / 5);
                                tried.push(id);
                            }
                            2 => {
                                let mut view = repository.transaction();
                                view.create_entity(new(&id.to_string())).unwrap();
                                assert!(view.entity(&id).unwrap().is_some(), "it sees its own");
                                tried.push(id);
                            }
                            _ => {
                                let new = new(&id.to_string()).property("n", i64::from(step));
                                repository.transact(|t| t.create_entity(new.clone())).unwrap();
                                kept.push(id);
                            }
                        }
                    }
                    (kept, tried)
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let snapshot = repository.snapshot();
    for (kept, tried) in &kept {
        assert!(kept.iter().all(|id| *snapshot.entity(id).unwrap().expect("it was committed").id() == *id));
        assert!(tried.iter().all(|id| snapshot.entity(id).unwrap().is_none()));
        for id in tried {
            repository.transact(|t| t.create_entity(new(&id.to_string()))).unwrap();
        }
    }
    let last = repository.snapshot();
    let all: Vec<&Id> = kept.iter().flat_map(|(kept, tried)| kept.iter().chain(tried)).collect();
    assert!(all.iter().all(|id| last.entity(id).unwrap().is_some_and(|entity| entity.id() == *id)));
    assert_eq!((last.entities_count(), snapshot.entities_count()), (all.len() as u64, 4 * 60));
}

#[test]
fn of_two_that_each_expect_what_the_other_changes_one_is_refused() {
    let repository = two_entities();
    for round in 0..races() {
        let read = |name: &str| repository.snapshot().entity(&id(name)).unwrap().unwrap().latest_version();
        let versions = (read("a"), read("b"));
        let write = |own: &str, other: &str, expected: u32| {
            let mut transaction = repository.transaction();
            transaction.expect_version(&entity(other), expected).unwrap();
            transaction.update(&entity(own), set(i64::try_from(round).unwrap() + 10)).unwrap();
            transaction.commit().map(drop).map_err(|error| error.kind())
        };
        let outcomes = race(|| write("a", "b", versions.1), || write("b", "a", versions.0));
        let refused = Err(ErrorKind::PreconditionFailed);
        assert!(outcomes == (Ok(()), refused) || outcomes == (refused, Ok(())), "{outcomes:?}");
        assert_eq!(read("a") + read("b"), versions.0 + versions.1 + 1);
    }
}

#[test]
fn an_expectation_is_of_the_moment_of_the_commit() {
    let repository = two_entities();
    let mut early = repository.transaction();
    repository.transact(|t| t.update(&entity("a"), set(2))).unwrap();
    early.expect_version(&entity("a"), 2).unwrap();
    early.update(&entity("b"), set(2)).unwrap();
    early.commit().unwrap();
    // An expectation alone causes no conflict. An unmet expectation about a changed instance is refused as such.
    let mut attempts = 0;
    let outcome = repository.transact(|t| {
        attempts += 1;
        repository.transact(|other| other.update(&entity("b"), set(3)))?;
        t.expect_version(&entity("b"), 2)?;
        t.update(&entity("b"), set(4))
    });
    let error = outcome.unwrap_err();
    assert_eq!((error.kind(), attempts), (ErrorKind::PreconditionFailed, 1));
    assert!(!error.kind().is_retryable());
    let revision = repository.snapshot().revision(&entity("b")).unwrap().to_string();
    assert_eq!(error.context(), [("latestVersion", "3".to_owned()), ("revision", revision)]);
    // Its own changes do not count, and 0 is what was never there.
    let mut own = repository.transaction();
    own.update(&entity("b"), set(5)).unwrap();
    own.expect_version(&entity("b"), 3).unwrap();
    own.expect_version(&entity("c"), 0).unwrap();
    own.create_entity(new("c")).unwrap();
    own.commit().unwrap();
    let before = repository.snapshot().position();
    for (name, version) in [("c", 0), ("c", 2), ("nobody", 1)] {
        let mut only = repository.transaction();
        only.expect_version(&entity(name), version).unwrap();
        assert_eq!(only.commit().unwrap_err().kind(), ErrorKind::PreconditionFailed, "{name} {version}");
        let mut tried = repository.transaction();
        tried.expect_version(&entity(name), version).unwrap();
        tried.update(&entity("a"), set(9)).unwrap();
        assert_eq!(tried.dry_run().err().unwrap().kind(), ErrorKind::PreconditionFailed, "{name} {version}");
    }
    assert_eq!(repository.snapshot().position(), before);
}
