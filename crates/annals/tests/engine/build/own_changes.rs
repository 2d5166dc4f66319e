//! Changes of one transaction: how they look to its own reads, how they become one version, and how long reads take.

use std::time::{Duration, Instant as Clock};

use crate::support::named::{entity, id, new, relationship, set};
use crate::support::{CheckedRepository, dump};
use annals::*;

fn latest(repository: &Repository, instance: &InstanceId) -> u32 {
    repository.snapshot().revision(instance).unwrap().version
}

fn last_record(repository: &Repository) -> Record {
    let before = Position(repository.snapshot().position().0 - 1);
    repository.follow(before).poll().unwrap().unwrap().1
}

#[test]
fn a_creation_and_what_is_given_after_it_are_one_version() {
    let repository = CheckedRepository::in_memory();
    repository
        .transact(|t| {
            t.create_entity(new("a").property("n", 1).property("old", true))?;
            t.create_entity(new("b"))?;
            t.create_relationship(NewRelationship::new("r", id("a"), id("b")).id("ab")?)?;
            t.update(&entity("a"), Patch::new().set("n", 2).unset("old").add("tags", "x"))?;
            t.classify(&id("a"), ClassificationContent::new("Sensitive").property("level", 3))?;
            t.update(&entity("a"), Patch::new().add("tags", "y").remove("tags", "x"))?;
            t.update(&relationship("ab"), set(4))?;
            assert_eq!(t.changes_count(), 3);
            Ok(())
        })
        .unwrap();
    let record = last_record(&repository);
    let verbs: Vec<&str> = record.changes.iter().map(|change| change.action.verb()).collect();
    assert_eq!(verbs, ["create", "create", "create"]);
    let snapshot = repository.snapshot();
    let a = snapshot.entity(&id("a")).unwrap().unwrap();
    assert_eq!((a.version(), a.property("n"), a.property("old")), (1, Some(2.into()), None));
    assert_eq!(a.property("tags"), Some(Value::set(["y".into()]).unwrap()));
    assert_eq!(a.classification("Sensitive").unwrap().version(), 1);
    let ab = snapshot.relationship(&id("ab")).unwrap().unwrap();
    assert_eq!((ab.version(), ab.property("n")), (1, Some(4.into())));
}

#[test]
fn an_entity_alone_is_read_as_in_the_view() {
    let repository = CheckedRepository::in_memory();
    repository
        .transact(|t| {
            for name in ["a", "b", "c"] {
                t.create_entity(new(name).property("n", 1))?;
            }
            t.create_relationship(NewRelationship::new("r", id("a"), id("b")).id("ab")?).map(drop)
        })
        .unwrap();
    type Step = fn(&mut Transaction) -> Result<()>;
    let steps: [Step; 7] = [
        |t| t.update(&entity("a"), set(2)),
        |t| t.create_entity(new("d").property("n", 7)).map(drop),
        |t| t.create_relationship(NewRelationship::new("r", id("b"), id("d")).id("bd")?).map(drop),
        |t| t.reidentify(&entity("b"), &id("e")),
        |t| t.delete(&entity("c")),
        |t| t.restore(&entity("c")),
        |t| t.purge(&entity("a")),
    ];
    let mut transaction = repository.transaction();
    for (number, step) in steps.into_iter().enumerate() {
        step(&mut transaction).unwrap();
        for name in ["a", "b", "c", "d", "e", "nobody"] {
            let alone = transaction.entity_alone(&id(name)).map(|one| one.map(|one| format!("{one:?}")));
            let whole = transaction.entity(&id(name)).map(|one| one.map(|one| format!("{one:?}")));
            let kind = |error: Error| error.kind();
            assert_eq!(alone.map_err(kind), whole.map_err(kind), "{name} after step {number}");
        }
        for name in ["ab", "bd"] {
            let told = |one: Relationship<'_>| format!("{one:?} {} {}", one.from(), one.to());
            let alone = transaction.relationship_alone(&id(name)).map(|one| one.map(told));
            let whole = transaction.relationship(&id(name)).map(|one| one.map(told));
            let kind = |error: Error| error.kind();
            assert_eq!(alone.map_err(kind), whole.map_err(kind), "{name} after step {number}");
        }
    }
}

/// Story: a transaction that states its commit instant, to take over a state of last month, made a version of each change.
#[test]
fn a_stated_commit_instant_leaves_one_version() {
    let repository = CheckedRepository::in_memory();
    let last_month = annals::Instant::from_micros(1_000_000).unwrap();
    repository
        .transact(|t| {
            t.committed_at(last_month).create_entity(new("a").property("n", 1))?;
            t.update(&entity("a"), set(2))?;
            assert_eq!(t.entity(&id("a"))?.unwrap().version(), 1);
            t.update(&entity("a"), set(3))
        })
        .unwrap();
    assert_eq!(latest(&repository, &entity("a")), 1);
    assert_eq!(last_record(&repository).instant, last_month);
}

#[test]
fn updates_of_one_instance_are_one_version_and_its_patch_stays_short() {
    let repository = CheckedRepository::in_memory();
    repository.transact(|t| t.create_entity(new("a").property("n", 0).property("gone", 1))).unwrap();
    repository
        .transact(|t| {
            for n in 1..=1_000 {
                t.update(&entity("a"), set(n))?;
            }
            t.update(&entity("a"), Patch::new().unset("gone"))?;
            assert_eq!(t.entity(&id("a"))?.unwrap().version(), 2);
            Ok(())
        })
        .unwrap();
    assert_eq!(latest(&repository, &entity("a")), 2);
    let record = last_record(&repository);
    let Action::Update(update) = &record.changes[0].action else { panic!("{record:?}") };
    assert_eq!(update.patch, set(1_000).unset("gone"));
    let then = AsOf { position: Some(Position(1)), ..AsOf::default() };
    let before = repository.snapshot().as_of(then).unwrap();
    assert_eq!(before.entity(&id("a")).unwrap().unwrap().property("n"), Some(0.into()));
}

/// Story: a random history replaced an entity twice, undid its content, and declared a type, all in one transaction.
#[test]
fn an_undo_takes_back_what_became_one_version() {
    let declaration = || TypeDefinition::entity("other");
    let undone = |declares_first: bool| {
        let repository = CheckedRepository::in_memory();
        repository.transact(|t| t.create_entity(new("a").property("n", 1))).unwrap();
        let replace = |t: &mut Transaction, n: i64| t.replace(&entity("a"), vec![("n".into(), n.into())]);
        let outcome = repository.transact(|t| {
            if declares_first {
                t.define_type(declaration())?;
            }
            replace(t, 2)?;
            replace(t, 3)?;
            t.undo_content(&entity("a"))?;
            if declares_first { Ok(()) } else { t.define_type(declaration()) }
        });
        outcome.unwrap();
        let snapshot = repository.snapshot();
        let a = snapshot.entity(&id("a")).unwrap().unwrap();
        (a.version(), a.property("n"))
    };
    // Both replacements are one version; changes behind a declaration stay apart.
    assert_eq!(undone(false), (3, Some(1.into())));
    assert_eq!(undone(true), (4, Some(2.into())));
}

#[test]
fn a_change_that_counts_for_itself_stays_a_version() {
    let repository = CheckedRepository::in_memory();
    let yesterday = Instant::from_micros(Instant::now().micros() - 86_400_000_000).unwrap();
    repository
        .transact(|t| {
            t.valid_from(Some(yesterday)).create_entity(new("dated"))?;
            t.valid_from(None).update(&entity("dated"), set(1))?;
            t.create_entity(new("counted"))?;
            t.always(true).update(&entity("counted"), set(1))?;
            t.update(&entity("counted"), set(2))?;
            t.always(false).create_entity(new("deleted"))?;
            t.delete(&entity("deleted"))?;
            t.restore(&entity("deleted"))?;
            t.update(&entity("deleted"), set(1))?;
            t.update(&entity("deleted"), set(2))?;
            t.create_entity(new("classified"))?;
            t.classify(&id("classified"), ClassificationContent::new("c").property("n", 1))?;
            t.reclassify(&id("classified"), "c", set(2))
        })
        .unwrap();
    let versions = ["dated", "counted", "deleted", "classified"].map(|id| latest(&repository, &entity(id)));
    assert_eq!(versions, [2, 3, 4, 2]);
}

#[test]
fn an_update_of_what_an_earlier_change_deleted_is_refused() {
    let repository = CheckedRepository::in_memory();
    repository
        .transact(|t| {
            t.define_type(TypeDefinition::relationship("holds").containing())?;
            t.create_entity(new("box"))?;
            t.create_entity(new("a"))?;
            t.create_relationship(NewRelationship::new("holds", id("box"), id("a")).property("name", "a"))
        })
        .unwrap();
    let gone = repository.transact(|t| {
        t.update(&entity("a"), set(1))?;
        t.delete(&entity("box"))?;
        t.update(&entity("a"), set(2))
    });
    assert_eq!(gone.unwrap_err().kind(), ErrorKind::Deleted);
}

#[test]
fn the_error_of_a_change_does_not_vanish_with_a_later_one() {
    let repository = CheckedRepository::in_memory();
    let list = || Value::List([Value::from(1)].into());
    repository.transact(|t| t.create_entity(new("a").property("list", list()))).unwrap();
    let bad = || Patch::new().add("list", 2);
    type Later<'l> = &'l dyn Fn(&mut Transaction) -> Result<()>;
    let later: [Later<'_>; 2] =
        [&|t| t.replace(&entity("a"), Vec::new()), &|t| t.update(&entity("a"), Patch::new().set("list", 3))];
    for change in later {
        let refused = repository.transact(|t| {
            t.update(&entity("a"), bad())?;
            change(t)
        });
        assert_eq!(refused.unwrap_err().kind(), ErrorKind::InvalidArgument);
        let refused = repository.transact(|t| {
            t.create_entity(new("b").property("list", list()))?;
            t.update(&entity("b"), Patch::new().add("list", 2))?;
            t.update(&entity("b"), Patch::new().clear())
        });
        assert_eq!(refused.unwrap_err().kind(), ErrorKind::InvalidArgument);
    }
}

#[test]
fn a_declaration_between_two_changes_keeps_them_apart() {
    let repository = CheckedRepository::in_memory();
    repository.transact(|t| t.create_entity(new("a").property("n", "text"))).unwrap();
    repository
        .transact(|t| {
            t.update(&entity("a"), set(1))?;
            t.define_type(
                TypeDefinition::entity("t").attribute(AttributeDefinition::new("n", ValueType::Integer)),
            )?;
            t.update(&entity("a"), set(2))
        })
        .unwrap();
    assert_eq!(latest(&repository, &entity("a")), 3);
    let refused = repository.transact(|t| {
        t.update(&entity("a"), set(1))?;
        t.update(&entity("a"), Patch::new().set("n", "no number"))
    });
    assert_eq!(refused.unwrap_err().kind(), ErrorKind::InvalidProperty);
}

#[test]
fn children_that_exchange_their_names_do_it_in_order() {
    let repository = CheckedRepository::in_memory();
    let path = |text: &str| TreePath::parse(text).unwrap();
    let key = AttributeDefinition::new("k", ValueType::Integer).key();
    let (ids, _) = repository
        .transact(|t| {
            t.define_type(TypeDefinition::relationship("contains").containing())?;
            t.define_type(TypeDefinition::entity("item").attribute(key.clone()))?;
            let mut create =
                |k: i64| t.tree().create(&path(&format!("/item[k={k}]")), &Item::new().property("was", k));
            Ok([create(1)?, create(2)?])
        })
        .unwrap();
    let instance = |number: usize| InstanceId::Entity(ids[number].clone());
    let k = |k: i64| Patch::new().set("k", k);
    repository
        .transact(|t| {
            t.update(&instance(0), k(3))?;
            t.update(&instance(1), k(1))?;
            t.update(&instance(0), k(2))
        })
        .unwrap();
    let snapshot = repository.snapshot();
    let found = snapshot.tree().item(&path("/item[k=2]/was")).unwrap().unwrap();
    assert_eq!(found.value(), Some(1.into()));
}

#[test]
fn edits_of_a_candidate_do_not_take_later_changes() {
    let repository = CheckedRepository::in_memory();
    repository.transact(|t| t.create_entity(new("a").property("n", 0))).unwrap();
    let candidates = repository.candidates();
    candidates.open("c", "ada").unwrap();
    for n in 1..=3 {
        candidates.edit("c", |t| t.update(&entity("a"), set(n))).unwrap();
        let view = candidates.view("c").unwrap();
        assert_eq!(view.entity(&id("a")).unwrap().unwrap().property("n"), Some(n.into()));
    }
    candidates.commit("c", &CandidateCommit::default()).unwrap();
    let snapshot = repository.snapshot();
    assert_eq!(snapshot.entity(&id("a")).unwrap().unwrap().property("n"), Some(3.into()));
}

/// The view before the commit shows what the snapshot after it shows.
#[test]
fn the_view_shows_the_versions_of_the_commit() {
    let clock = Instant::now();
    let options = Options { clock: std::sync::Arc::new(move || clock), ..Options::default() };
    let repository =
        Repository::with_log(std::sync::Arc::new(annals::log::MemoryLog::new()), options).unwrap();
    let mut t = repository.transaction();
    for n in 0..40i64 {
        let name = format!("e{}", n % 7);
        if t.view().unwrap().entity(&id(&name)).unwrap().is_none() {
            t.create_entity(new(&name)).unwrap();
        }
        t.update(&entity(&name), set(n)).unwrap();
        assert_eq!(t.entity(&id(&name)).unwrap().unwrap().version(), 1);
        if n == 20 {
            t.classify(&id("e1"), ClassificationContent::new("c")).unwrap();
        }
    }
    let before = dump::dump(t.view().unwrap());
    t.commit().unwrap();
    dump::assert_same("view and commit", &before, &dump::dump(&repository.snapshot()));
}

#[test]
fn a_view_that_is_kept_does_not_change() {
    let repository = CheckedRepository::in_memory();
    let mut t = repository.transaction();
    t.create_entity(new("a").property("n", 0)).unwrap();
    let mut kept = Vec::new();
    for n in 1..50i64 {
        kept.push(t.view().unwrap().clone());
        t.update(&entity("a"), set(n)).unwrap();
    }
    for (n, view) in (0i64..).zip(&kept) {
        assert_eq!(view.entity(&id("a")).unwrap().unwrap().property("n"), Some(n.into()));
        let version = view.entity_version(&id("a"), 1).unwrap().unwrap();
        assert_eq!(version.property("n"), Some(n.into()));
    }
}

/// The shortest of three runs with `count` steps.
fn shortest(count: i64, mut step: impl FnMut(&mut Transaction, i64)) -> Duration {
    let run = |_| {
        let repository = CheckedRepository::in_memory();
        repository.transact(|t| t.create_entity(new("hub"))).unwrap();
        let mut t = repository.transaction();
        let start = Clock::now();
        (0..count).for_each(|n| step(&mut t, n));
        let took = start.elapsed();
        t.commit().unwrap();
        took
    };
    (0..3).map(run).min().unwrap()
}

/// Ten times the steps take ten times as long, not a hundred times.
fn assert_linear(what: &str, mut step: impl FnMut(&mut Transaction, i64)) {
    let (few, many) = (shortest(500, &mut step), shortest(5_000, &mut step));
    assert!(many < few * 35, "{what}: 500 steps took {few:?}, 5,000 took {many:?}");
    println!("{what}: 500 steps {few:?}, 5,000 steps {many:?}");
}

#[test]
fn reads_between_changes_take_as_long_in_a_large_transaction() {
    assert_linear("create and get", |t, n| {
        let name = t.create_entity(new(&format!("e{n}")).property("n", n)).unwrap();
        assert_eq!(t.entity(&name).unwrap().unwrap().property("n"), Some(n.into()));
    });
    assert_linear("create, link and walk", |t, n| {
        let name = t.create_entity(new(&format!("e{n}"))).unwrap();
        t.create_relationship(NewRelationship::new("r", id("hub"), name.clone())).unwrap();
        assert_eq!(t.degree(&id("hub"), Direction::Out, None).unwrap(), n as usize + 1);
        assert_eq!(t.neighbors(&name, Direction::In, None).unwrap().count(), 1);
    });
    assert_linear("create and search", |t, n| {
        t.create_entity(new(&format!("e{n}")).property("n", n)).unwrap();
        let found = t.find_entities(&Find::all().matching("n", Operator::Equal, n)).unwrap();
        assert_eq!(found.items.len(), 1);
    });
    assert_linear("change one instance and read it", |t, n| {
        t.update(&entity("hub"), set(n)).unwrap();
        assert_eq!(t.entity(&id("hub")).unwrap().unwrap().property("n"), Some(n.into()));
    });
}
