//! Records are taken back unit by unit: a property, a classification, the ends, the place. Only what both sides changed is a
//! conflict.

use super::take_back::{assert_refused, create, entity, id, leaf, number, set};
use crate::support::CheckedRepository;
use crate::support::trees::path;
use annals::*;

fn change(repository: &Repository, name: &str, patch: Patch) -> Position {
    repository.transact(|t| t.update(&entity(name), patch.clone())).unwrap().1.position
}

fn take(repository: &Repository, position: Position, keep: Option<Keep>) -> TakenBack {
    repository.transact(|t| t.take_back_all(position..=position, keep)).unwrap().0
}

fn texts(built: &[BuiltOn]) -> Vec<String> {
    built.iter().map(|built| built.reason.text().to_owned()).collect()
}

/// Story: a bad import set an elevation, and Ann corrected a city; "theirs" kept the bad elevation, and "mine" took back
/// Ann's city without a word.
#[test]
fn a_property_that_others_changed_beside_it_stays() {
    let repository = CheckedRepository::in_memory();
    create(&repository, "x", 1);
    let bad = change(&repository, "x", Patch::new().set("elevation", 9_999));
    change(&repository, "x", Patch::new().set("city", "Bern"));
    repository.transact(|t| t.take_back(bad)).unwrap();
    assert_eq!(number(&repository, "x", "elevation"), None);
    assert_eq!(number(&repository, "x", "city"), Some("Bern".into()));
}

#[test]
fn only_what_both_changed_is_a_conflict() {
    let repository = CheckedRepository::in_memory();
    create(&repository, "x", 1);
    let bad = change(&repository, "x", Patch::new().set("n", 2).set("elevation", 9_999));
    change(&repository, "x", Patch::new().set("n", 3).set("city", "Bern"));
    assert_refused(&repository, bad, "entity x: it was changed at position 3; both changed n");
    let values = || ["n", "elevation", "city"].map(|name| number(&repository, "x", name));
    let taken = take(&repository, bad, Some(Keep::Theirs));
    assert_eq!(values(), [Some(3.into()), None, Some("Bern".into())]);
    assert_eq!(texts(&taken.stays), ["entity x: it was changed at position 3; both changed n"]);
    assert!(taken.undone.is_empty());
    let taken = take(&repository, bad, Some(Keep::Mine));
    assert_eq!(values(), [Some(1.into()), None, Some("Bern".into())]);
    assert_eq!(texts(&taken.undone), ["entity x: it was changed at position 4; both changed n"]);
    assert!(taken.stays.is_empty());
}

/// Story: a merge had brought everything back already, and the take-back still asked for mine or theirs.
#[test]
fn what_is_as_before_again_needs_no_side_and_makes_no_record() {
    let repository = CheckedRepository::in_memory();
    create(&repository, "x", 1);
    set(&repository, "/a/leaf", 1);
    let (_, bad) = repository
        .transact(|t| {
            t.update(&entity("x"), Patch::new().set("n", 2))?;
            t.create_entity(NewEntity::new("node").id("new")?)?;
            t.tree().set(&path("/a/leaf"), 2)?;
            t.tree().move_to(&path("/a"), &path("/b"), None).map(drop)
        })
        .unwrap();
    change(&repository, "x", Patch::new().set("n", 1));
    repository.transact(|t| t.delete(&entity("new"))).unwrap();
    set(&repository, "/b/leaf", 1);
    let back = repository.transact(|t| t.tree().move_to(&path("/b"), &path("/a"), None).map(drop));
    let position = back.unwrap().1.position;
    for keep in [None, Some(Keep::Mine), Some(Keep::Theirs)] {
        let taken = take(&repository, bad.position, keep);
        assert_eq!((taken.stays.len(), taken.undone.len()), (0, 0), "{taken:?}");
        assert_eq!(repository.snapshot().position(), position);
    }
}

/// Story: deleted instances that a merge restored and others changed were refused.
#[test]
fn a_deletion_that_others_undid_is_no_conflict_with_what_they_changed_then() {
    let repository = CheckedRepository::in_memory();
    create(&repository, "x", 1);
    let deleted = repository.transact(|t| t.delete(&entity("x"))).unwrap().1.position;
    repository.transact(|t| t.restore(&entity("x"))).unwrap();
    let position = change(&repository, "x", Patch::new().set("city", "Bern"));
    assert!(take(&repository, deleted, None).stays.is_empty());
    assert_eq!(repository.snapshot().position(), position);
    // An instance that the record left as it was does not come back after a later deletion either.
    let (_, both) = repository
        .transact(|t| {
            t.update(&entity("x"), Patch::new().set("n", 2))?;
            t.update(&entity("x"), Patch::new().set("n", 1))
        })
        .unwrap();
    repository.transact(|t| t.delete(&entity("x"))).unwrap();
    take(&repository, both.position, Some(Keep::Mine));
    assert!(repository.snapshot().entity(&id("x")).unwrap().is_none());
}

#[test]
fn classifications_ends_and_provenance_are_units() {
    let repository = CheckedRepository::in_memory();
    for name in ["x", "y", "z"] {
        create(&repository, name, 1);
    }
    let link = InstanceId::Relationship(id("r"));
    let new = NewRelationship::new("knows", id("x"), id("y")).id("r").unwrap();
    repository.transact(|t| t.create_relationship(new.clone())).unwrap();
    let classify = |name: &str, value: i64| {
        let content = ClassificationContent::new(name).property("v", value);
        repository.transact(|t| t.classify(&id("x"), content.clone())).unwrap().1.position
    };
    classify("first", 1);
    let (_, bad) = repository
        .transact(|t| {
            t.classify(&id("x"), ClassificationContent::new("bad"))?;
            t.update(&entity("x"), Patch::new().set("n", 2))?;
            t.relink(&id("r"), None, Some(&id("z")))?;
            t.update(&link, Patch::new().set("since", 2))
        })
        .unwrap();
    classify("good", 2);
    repository.transact(|t| t.update(&link, Patch::new().set("note", "theirs"))).unwrap();
    assert!(take(&repository, bad.position, None).stays.is_empty());
    let snapshot = repository.snapshot();
    let x = snapshot.entity(&id("x")).unwrap().unwrap();
    let mut names: Vec<String> = x.classifications().map(|known| known.name().to_owned()).collect();
    names.sort();
    assert_eq!((names, x.property("n")), (vec!["first".into(), "good".into()], Some(1.into())));
    let r = snapshot.relationship(&id("r")).unwrap().unwrap();
    assert_eq!((r.to(), r.property("since"), r.property("note")), (&id("y"), None, Some("theirs".into())));
}

#[test]
fn a_place_is_a_unit_beside_the_content() {
    let repository = CheckedRepository::in_memory();
    for text in ["/a/item/leaf", "/b/leaf", "/c/leaf"] {
        set(&repository, text, 1);
    }
    let (_, bad) = repository
        .transact(|t| {
            t.tree().set(&path("/a/item/leaf"), 2)?;
            t.tree().move_to(&path("/a/item"), &path("/b/item"), None).map(drop)
        })
        .unwrap();
    repository.transact(|t| t.tree().move_to(&path("/b/item"), &path("/c/item"), None).map(drop)).unwrap();
    assert_refused(&repository, bad.position, "placed it in another container at position");
    let mut theirs = repository.transaction();
    theirs.take_back_all(bad.position..=bad.position, Some(Keep::Theirs)).unwrap();
    let mut mine = repository.transaction();
    let taken = mine.take_back_all(bad.position..=bad.position, Some(Keep::Mine)).unwrap();
    assert!(!taken.undone.is_empty());
    theirs.commit().unwrap();
    assert_eq!(leaf(&repository, "/c/item/leaf"), Some(1.into()), "the place is theirs, the value is back");
    take(&repository, bad.position, Some(Keep::Mine));
    assert_eq!(leaf(&repository, "/a/item/leaf"), Some(1.into()));
}

#[test]
fn mine_lists_what_is_deleted_with_new_containers() {
    let repository = CheckedRepository::in_memory();
    set(&repository, "/config/leaf", 1);
    let created = set(&repository, "/config/box/leaf", 1);
    set(&repository, "/config/box/theirs/leaf", 7);
    let theirs =
        repository.snapshot().tree().item(&path("/config/box/theirs")).unwrap().unwrap().entity.instance_id();
    let taken = take(&repository, created, Some(Keep::Mine));
    let named: Vec<InstanceId> = taken.undone.iter().map(|built| built.instance.clone()).collect();
    assert!(named.contains(&theirs), "{taken:?}");
    assert_eq!(leaf(&repository, "/config/box/leaf"), None);
}

/// Another type has other properties, so the content is one unit then.
#[test]
fn the_content_is_one_unit_if_the_type_changed() {
    let repository = CheckedRepository::in_memory();
    create(&repository, "x", 1);
    let bad = repository.transact(|t| t.retype(&entity("x"), "other")).unwrap().1.position;
    change(&repository, "x", Patch::new().set("city", "Bern"));
    assert_refused(&repository, bad, "both changed its content");
    take(&repository, bad, Some(Keep::Theirs));
    assert_eq!(number(&repository, "x", "city"), Some("Bern".into()));
    take(&repository, bad, Some(Keep::Mine));
    assert_eq!(number(&repository, "x", "city"), None);
}

/// The value of a property after a take-back; `None` for a conflict without a side.
fn expected([was, became, is]: [i64; 3], keep: Option<Keep>) -> Option<i64> {
    match keep {
        _ if was == became => Some(is),
        _ if became == is || was == is => Some(was),
        Some(Keep::Mine) => Some(was),
        Some(Keep::Theirs) => Some(is),
        None => None,
    }
}

#[test]
fn every_combination_of_values_is_merged_as_version_control_does() {
    // Three states of two properties; 0 is none.
    for number in 0..3_i64.pow(6) {
        let digits: Vec<i64> = (0..6).map(|place| number / 3_i64.pow(place) % 3).collect();
        let states = [[digits[0], digits[1]], [digits[2], digits[3]], [digits[4], digits[5]]];
        let keep = [None, Some(Keep::Mine), Some(Keep::Theirs)][usize::try_from(number % 7 % 3).unwrap()];
        let repository = Repository::in_memory();
        repository.transact(|t| t.create_entity(NewEntity::new("node").id("x")?)).unwrap();
        let mut position = Position::ZERO;
        for (step, state) in (0..).zip(states) {
            let patch = ["a", "b"].into_iter().zip(state).fold(Patch::new(), |patch, (name, value)| {
                if value == 0 { patch.unset(name) } else { patch.set(name, value) }
            });
            // So that each state is a record.
            let reached = change(&repository, "x", patch.set(&format!("step{step}"), 1));
            position = if step == 1 { reached } else { position };
        }
        let outcome = repository.transact(|t| t.take_back_all(position..=position, keep)).map(drop);
        let merged: Option<Vec<i64>> =
            [0, 1].into_iter().map(|at| expected(states.map(|state| state[at]), keep)).collect();
        assert_eq!(outcome.is_ok(), merged.is_some(), "{states:?} {keep:?}: {outcome:?}");
        if let Some(merged) = merged {
            let found = ["a", "b"].map(|name| match number_of(&repository, name) {
                Some(Value::Integer(value)) => value,
                _ => 0,
            });
            assert_eq!(found.to_vec(), merged, "{states:?} {keep:?}");
            assert_eq!(number_of(&repository, "step1"), None);
            assert_eq!(number_of(&repository, "step2"), Some(1.into()));
        }
    }
}

fn number_of(repository: &Repository, property: &str) -> Option<Value> {
    number(repository, "x", property)
}

/// Story: a container was deleted, came back, got an item, and was deleted again with it; the take-back of the first
/// deletion brought the item back, too, which that one had not deleted.
#[test]
fn a_deletion_that_is_taken_back_returns_only_what_it_had_deleted() {
    let repository = CheckedRepository::in_memory();
    let named = |name: &str| NewEntity::new("box").id(name).unwrap();
    let inside = |name: &str| NewRelationship::new("contains", id("outer"), id(name)).property("name", name);
    repository
        .transact(|t| {
            t.define_type(TypeDefinition::relationship("contains").containing())?;
            t.create_entity(named("outer"))?;
            t.create_entity(named("kept"))?;
            t.create_relationship(inside("kept"))
        })
        .unwrap();
    let deleted = repository.transact(|t| t.delete(&entity("outer"))).unwrap().1.position;
    repository
        .transact(|t| {
            t.restore(&entity("outer"))?;
            t.create_entity(named("later"))?;
            t.create_relationship(inside("later"))
        })
        .unwrap();
    repository.transact(|t| t.delete(&entity("outer"))).unwrap();
    take(&repository, deleted, None);
    let snapshot = repository.snapshot();
    let is_there = |name: &str| snapshot.entity(&id(name)).unwrap().is_some();
    assert_eq!(["outer", "kept", "later"].map(is_there), [true, true, false]);
    assert_eq!(snapshot.relationships_count(), 1);
}
