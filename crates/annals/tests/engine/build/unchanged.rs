//! Writes that change nothing make no version; upserts write what differs.

use annals::*;

use crate::support::CheckedRepository;
use crate::support::named::{entity, id, relationship};

fn set(value: impl Into<Value>) -> Patch {
    Patch::new().set("n", value)
}

fn named(text: &str, n: i64) -> NewEntity {
    NewEntity::new("t").id(text).unwrap().property("n", n)
}

fn linked() -> NewRelationship {
    NewRelationship::new("r", id("a"), id("b")).id("ab").unwrap().property("n", 1)
}

fn provenance() -> Provenance {
    Provenance { license: Some("MIT".into()), ..Provenance::default() }
}

/// Entities `a` (classified as `c`) and `b`, and a relationship between them, at position 1.
fn repository() -> CheckedRepository {
    let repository = CheckedRepository::in_memory();
    repository
        .transact(|t| {
            t.define_type(TypeDefinition::entity("t"))?;
            t.create_entity(
                named("a", 1)
                    .property("tags", Value::set(["x".into(), "y".into()])?)
                    .classified(ClassificationContent::new("c").property("level", 1))
                    .from_provenance(provenance()),
            )?;
            t.create_entity(named("b", 1))?;
            t.create_relationship(linked())
        })
        .unwrap();
    repository
}

fn versions(repository: &Repository, instance: &InstanceId) -> usize {
    repository.snapshot().versions(instance, 0, 100).unwrap().len()
}

/// Every operation that leaves things as they are.
fn idle(t: &mut Transaction) -> Result<()> {
    let tags = Value::set(["y".into(), "x".into()])?;
    let a = entity("a");
    t.update(&a, set(1))?;
    t.update(&a, Patch::new())?;
    t.update(&a, Patch::new().unset("unknown").add("tags", "x").remove("tags", "z"))?;
    t.update(&a, set(2).set("n", 1))?;
    t.update(&a, Patch::new().clear().set("n", 1).set("tags", tags.clone()))?;
    t.replace(&a, vec![("tags".into(), tags), ("n".into(), 1.into())])?;
    t.reclassify(a.id(), "c", Patch::new().set("level", 1))?;
    t.set_status(&a, "active")?;
    t.set_provenance(&a, provenance())?;
    t.retype(&a, "t")?;
    t.update(&relationship("ab"), set(1))?;
    t.relink(&id("ab"), Some(&id("a")), Some(&id("b")))?;
    t.define_type(TypeDefinition::entity("t"))
}

#[test]
fn writes_that_change_nothing_make_no_record() {
    let repository = repository();
    let ((), receipt) = repository
        .transact(|t| {
            idle(t)?;
            assert_eq!(t.changes_count(), 0);
            Ok(())
        })
        .unwrap();
    let before = repository.snapshot();
    assert_eq!(receipt.position, Position(1));
    assert_eq!(Some(receipt.instant), before.instant_of(Position(1)));
    assert_eq!(before.position(), Position(1));
}

#[test]
fn they_are_kept_on_request() {
    let repository = repository();
    repository
        .transact(|t| {
            t.always(true);
            idle(t)?;
            assert_eq!(t.changes_count(), 13);
            Ok(())
        })
        .unwrap();
    assert_eq!(versions(&repository, &entity("a")), 11);
    assert_eq!(versions(&repository, &relationship("ab")), 3);
}

#[test]
fn a_change_with_its_own_valid_time_is_kept() {
    let repository = repository();
    let now = repository.snapshot().instant_of(Position(1));
    repository.transact(|t| t.valid_from(now).update(&entity("a"), set(1))).unwrap();
    assert_eq!(versions(&repository, &entity("a")), 2);
}

#[test]
fn values_are_compared_exactly() {
    let repository = repository();
    let decimal = |text: &str| Value::Decimal(text.parse().unwrap());
    let values: [Value; 5] = [1.0.into(), 0.0.into(), (-0.0).into(), decimal("1.0"), decimal("1.00")];
    for (number, value) in (2..).zip(values) {
        for _ in 0..2 {
            repository.transact(|t| t.update(&entity("a"), set(value.clone()))).unwrap();
            assert_eq!(versions(&repository, &entity("a")), number, "{value:?}");
        }
    }
    // A set of one value is another value than that value.
    repository.transact(|t| t.update(&entity("a"), Patch::new().add("n", decimal("1.00")))).unwrap();
    assert_eq!(versions(&repository, &entity("a")), 7);
}

#[test]
fn what_an_earlier_change_of_the_transaction_did_counts() {
    let repository = repository();
    let ((), _) = repository
        .transact(|t| {
            t.update(&entity("a"), set(2))?;
            t.update(&entity("a"), set(2))?;
            t.update(&entity("a"), set(1))?;
            t.create_entity(named("new", 1))?;
            t.update(&entity("new"), set(1))?;
            // This deletes the relationship, too.
            t.delete(&entity("b"))?;
            t.restore_alone(&id("b"))?;
            t.update(&entity("b"), set(1))?;
            t.reidentify(&entity("b"), &id("c"))?;
            t.update(&entity("c"), set(1))?;
            // Both updates of `a` are one change, which leaves it as it was.
            assert_eq!(t.changes_count(), 5);
            Ok(())
        })
        .unwrap();
    assert_eq!(versions(&repository, &entity("a")), 2);
    assert_eq!(versions(&repository, &entity("new")), 1);
    let gone = repository.transact(|t| {
        t.delete(&entity("a"))?;
        t.update(&entity("a"), set(1))
    });
    assert_eq!(gone.unwrap_err().kind(), ErrorKind::Deleted);
}

#[test]
fn many_changes_of_what_the_transaction_created_are_compared_in_one_pass() {
    const COUNT: i64 = 5_000;
    let repository = CheckedRepository::in_memory();
    let start = std::time::Instant::now();
    repository
        .transact(|t| {
            (0..COUNT).try_for_each(|n| t.create_entity(named(&format!("e{n}"), n)).map(drop))?;
            (0..COUNT).try_for_each(|n| t.update(&entity(&format!("e{n}")), set(n)))?;
            (0..COUNT).try_for_each(|n| t.update(&entity(&format!("e{n}")), set(n + 1)))?;
            assert_eq!(t.changes_count(), COUNT as usize);
            Ok(())
        })
        .unwrap();
    // Comparing with a view that is made anew for each would take minutes.
    assert!(start.elapsed().as_secs() < 30, "{:?}", start.elapsed());
}

#[test]
fn errors_are_not_hidden() {
    let repository = repository();
    repository.transact(|t| t.delete(&relationship("ab"))).unwrap();
    let long = "x".repeat(300);
    for (patch, of, kind) in [
        (Patch::new().unset(&long), entity("a"), ErrorKind::InvalidArgument),
        (set(1), entity("nobody"), ErrorKind::NotFound),
        (set(1), relationship("ab"), ErrorKind::Deleted),
    ] {
        let outcome = repository.transact(|t| t.update(&of, patch.clone()));
        assert_eq!(outcome.unwrap_err().kind(), kind, "{of}");
    }
    let outcome = repository.transact(|t| t.classify(&id("a"), ClassificationContent::new("c")));
    assert_eq!(outcome.unwrap_err().kind(), ErrorKind::AlreadyExists);
    let outcome = repository.transact(|t| t.reclassify(&id("a"), "d", Patch::new()));
    assert_eq!(outcome.unwrap_err().kind(), ErrorKind::NotFound);
}

#[test]
fn a_version_that_is_not_the_expected_one_is_refused_all_the_same() {
    let repository = repository();
    for (version, is_right) in [(1, true), (2, false)] {
        let outcome = repository.transact(|t| {
            t.expect_version(&entity("a"), version)?;
            t.update(&entity("a"), set(1))
        });
        match outcome {
            Ok((_, receipt)) => assert!(is_right && receipt.position == Position(1)),
            Err(error) => assert!(!is_right && error.kind() == ErrorKind::PreconditionFailed, "{error}"),
        }
    }
    // Also if something is left to write, and the instance changes meanwhile.
    let mut transaction = repository.transaction();
    transaction.expect_version(&entity("a"), 1).unwrap();
    transaction.update(&entity("a"), set(1)).unwrap();
    transaction.update(&entity("b"), set(2)).unwrap();
    repository.transact(|t| t.update(&entity("a"), set(3))).unwrap();
    assert_eq!(transaction.commit().unwrap_err().kind(), ErrorKind::PreconditionFailed);
}

#[test]
fn what_is_left_out_is_a_read() {
    let repository = repository();
    for is_serializable in [false, true] {
        let value = i64::from(is_serializable) + 1;
        let mut transaction = repository.transaction();
        if is_serializable {
            transaction.serializable();
        }
        transaction.update(&entity("a"), set(value)).unwrap();
        transaction.update(&entity("b"), set(10 + value)).unwrap();
        repository.transact(|t| t.update(&entity("a"), set(value + 1))).unwrap();
        let found = transaction.commit().map(drop).map_err(|error| error.kind());
        assert_eq!(found, if is_serializable { Err(ErrorKind::Conflict) } else { Ok(()) });
    }
}

#[test]
fn an_upsert_creates_then_updates_then_does_nothing() {
    let repository = CheckedRepository::in_memory();
    let mut type_definition = TypeDefinition::entity("t");
    let owner = AttributeDefinition {
        default: Some("nobody".into()),
        ..AttributeDefinition::new("owner", ValueType::String)
    };
    type_definition.attributes.push(owner);
    repository.transact(|t| t.define_type(type_definition.clone())).unwrap();
    let mut positions = Vec::new();
    for n in [1, 1, 2, 2] {
        let (is_created, receipt) = repository.transact(|t| t.upsert_entity(named("a", n))).unwrap();
        positions.push((is_created, receipt.position.0));
    }
    assert_eq!(positions, [(true, 2), (false, 2), (false, 3), (false, 3)]);
    let snapshot = repository.snapshot();
    let found = snapshot.entity(&id("a")).unwrap().unwrap();
    let properties: Vec<(&str, Value)> = found.properties().collect();
    assert_eq!(properties, [("owner", "nobody".into()), ("n", 2.into())]);
}

#[test]
fn an_upsert_sees_what_the_transaction_did_before() {
    let repository = CheckedRepository::in_memory();
    let (created, receipt) = repository
        .transact(|t| {
            let created = [t.upsert_entity(named("a", 1))?, t.upsert_entity(named("a", 1))?];
            assert_eq!(t.changes_count(), 1);
            t.upsert_entity(named("b", 1))?;
            assert!(t.upsert_relationship(linked())?);
            assert!(!t.upsert_relationship(linked().property("weight", 2))?);
            assert!(!t.upsert_relationship(linked().property("weight", 2))?);
            assert_eq!(t.changes_count(), 3);
            Ok(created)
        })
        .unwrap();
    assert_eq!((created, receipt.position), ([true, false], Position(1)));
    assert_eq!(versions(&repository, &relationship("ab")), 1);
}

#[test]
fn an_upsert_replaces_classifications_status_and_provenance_that_it_states() {
    let repository = repository();
    let properties =
        |new: NewEntity| -> NewEntity { new.property("tags", Value::set(["x".into(), "y".into()]).unwrap()) };
    let steps = [
        // Nothing is stated.
        (properties(named("a", 1)), false, 1, 1),
        (properties(named("a", 1)).from_provenance(provenance()).status("active"), false, 1, 1),
        (
            properties(named("a", 1)).classified(ClassificationContent::new("c").property("level", 1)),
            false,
            1,
            1,
        ),
        (properties(named("a", 1)).classified(ClassificationContent::new("d")), false, 2, 1),
        (properties(named("a", 1)).status("draft"), false, 3, 1),
        (properties(named("a", 2)).status("active"), false, 5, 1),
        (properties(named("a", 2)).from_provenance(Provenance::default()), false, 6, 1),
        (properties(named("a", 2)), true, 7, 0),
        (properties(named("a", 2)), true, 7, 0),
    ];
    for (number, (new, is_whole, count, classifications)) in steps.into_iter().enumerate() {
        repository
            .transact(|t| {
                if is_whole { t.upsert_whole_entity(new.clone()) } else { t.upsert_entity(new.clone()) }
            })
            .unwrap();
        assert_eq!(versions(&repository, &entity("a")), count, "step {number}");
        let snapshot = repository.snapshot();
        let found = snapshot.entity(&id("a")).unwrap().unwrap();
        assert_eq!(found.classifications().count(), classifications, "step {number}");
    }
    // An upsert that is kept in any case makes one version.
    repository
        .transact(|t| t.always(true).upsert_entity(properties(named("a", 2)).status("active")))
        .unwrap();
    assert_eq!(versions(&repository, &entity("a")), 8);
}

#[test]
fn an_upsert_refuses_another_type_other_ends_and_what_is_deleted() {
    let repository = repository();
    let other_type = repository.transact(|t| t.upsert_entity(NewEntity::new("u").id("a")?)).unwrap_err();
    assert_eq!(other_type.kind(), ErrorKind::WrongType);
    assert_eq!(other_type.text(), "entity a: expected the type t that it has, found u; retype it first");
    let back = || NewRelationship::new("r", id("b"), id("a")).id("ab");
    let other_ends = repository.transact(|t| t.upsert_relationship(back()?)).unwrap_err();
    assert_eq!(other_ends.kind(), ErrorKind::InvalidArgument);
    assert_eq!(
        other_ends.text(),
        "relationship ab: expected the ends a and b that it has, found b and a; relink it first"
    );
    repository.transact(|t| t.delete(&entity("a"))).unwrap();
    let deleted = repository.transact(|t| t.upsert_entity(named("a", 1))).unwrap_err();
    assert_eq!(deleted.kind(), ErrorKind::AlreadyExists);
}

#[test]
fn an_undo_of_a_kept_version_is_kept() {
    let repository = repository();
    repository.transact(|t| t.always(true).update(&entity("a"), set(1))).unwrap();
    repository.transact(|t| t.undo(&entity("a"))).unwrap();
    assert_eq!(versions(&repository, &entity("a")), 3);
}

#[test]
fn a_closed_repository_refuses_also_what_would_change_nothing() {
    let repository = Repository::in_memory();
    repository.transact(|t| t.create_entity(named("a", 1))).unwrap();
    let mut transaction = repository.transaction();
    transaction.update(&entity("a"), set(1)).unwrap();
    repository.close().unwrap();
    assert_eq!(transaction.commit().unwrap_err().kind(), ErrorKind::Closed);
}
