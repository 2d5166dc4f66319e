//! Instances whose place others deleted, or took, stay as they are when a record is taken back; those whose place the record
//! itself gave away return.

use super::take_back::{assert_refused, create, entity, id, leaf, move_item, number, set};
use crate::support::CheckedRepository;
use crate::support::trees::path;
use annals::*;

fn ids(left: &[BuiltOn]) -> Vec<InstanceId> {
    left.iter().map(|left| left.instance.clone()).collect()
}

/// Story: a record deleted a relationship, others deleted one of its ends, and *theirs* failed as a whole.
#[test]
fn a_relationship_whose_end_others_deleted_stays_deleted() {
    let repository = CheckedRepository::in_memory();
    let link = InstanceId::Relationship(id("r"));
    for name in ["x", "y", "z"] {
        create(&repository, name, 1);
    }
    for (is_relinked, is_purged) in [(false, false), (false, true), (true, false)] {
        let new = NewRelationship::new("knows", id("x"), id("y")).id("r").unwrap();
        repository.transact(|t| t.create_relationship(new.clone())).unwrap();
        let (_, receipt) = repository
            .transact(|t| {
                t.update(&entity("x"), Patch::new().set("n", 2))?;
                match is_relinked {
                    true => t.relink(&id("r"), None, Some(&id("z"))),
                    false => t.delete(&link),
                }
            })
            .unwrap();
        match is_purged {
            true => repository.transact(|t| t.purge(&entity("y"))).unwrap(),
            false => repository.transact(|t| t.delete(&entity("y"))).unwrap(),
        };
        if is_purged {
            // The relationship is gone with its end.
            repository.transact(|t| t.take_back(receipt.position)).unwrap();
        } else {
            assert_refused(&repository, receipt.position, "relationship r: its end y is deleted");
            let take = |t: &mut Transaction| {
                t.take_back_all(receipt.position..=receipt.position, Some(Keep::Theirs))
            };
            let (TakenBack { stays: left, .. }, _) = repository.transact(take).unwrap();
            assert_eq!(ids(&left), std::slice::from_ref(&link));
        }
        assert_eq!(number(&repository, "x", "n"), Some(1.into()));
        let found = repository.snapshot().relationship(&id("r")).unwrap().map(|found| found.to().clone());
        assert_eq!(found, is_relinked.then(|| id("z")));
        if is_purged {
            create(&repository, "y", 1);
        } else {
            repository.transact(|t| t.purge(&link)).unwrap();
            repository.transact(|t| t.restore(&entity("y"))).unwrap();
        }
    }
}

/// Story: a record deleted items, others deleted the container, or gave an item's name to another, and *theirs* failed as
/// a whole.
#[test]
fn an_item_whose_place_others_took_stays_deleted() {
    for is_taken in [false, true] {
        let repository = CheckedRepository::in_memory();
        for leaf in ["/a/box/item/leaf", "/a/box/item/deep/leaf", "/b/leaf"] {
            set(&repository, leaf, 1);
        }
        let (_, deleted) = repository
            .transact(|t| {
                t.tree().delete(&path("/a/box/item"))?;
                t.tree().set(&path("/b/leaf"), 2)
            })
            .unwrap();
        if is_taken {
            set(&repository, "/a/box/item/leaf", 7);
            assert_refused(&repository, deleted.position, "puts another item into its place");
        } else {
            repository.transact(|t| t.tree().delete(&path("/a/box"))).unwrap();
            assert_refused(&repository, deleted.position, "is deleted; keep mine");
        }
        let take =
            |t: &mut Transaction| t.take_back_all(deleted.position..=deleted.position, Some(Keep::Theirs));
        let (TakenBack { stays: left, .. }, _) = repository.transact(take).unwrap();
        // Two items, and the relationships that contain them.
        assert_eq!(left.len(), 4, "{left:?}");
        assert_eq!(leaf(&repository, "/b/leaf"), Some(1.into()));
        assert_eq!(leaf(&repository, "/a/box/item/leaf"), is_taken.then(|| 7.into()));
        assert_eq!(leaf(&repository, "/a/box/item/deep/leaf"), None);
    }
}

/// An entity that contains a copy of another collection, which contains another copy.
fn with_copies() -> CheckedRepository {
    let repository = CheckedRepository::in_memory();
    let stamp = Stamp { instant: Instant::from_micros(0).unwrap(), author: "them".into() };
    let header = CopyHeader {
        provenance: Provenance::of_home("there"),
        version: 1,
        status: None,
        created: stamp.clone(),
        updated: stamp,
    };
    let copy = EntityCopy {
        id: id("copy"),
        type_name: "node".into(),
        properties: vec![("n".into(), 1.into())],
        classifications: Vec::new(),
        header: header.clone(),
    };
    // A copy in the copy, older than the container.
    let inner = EntityCopy { id: id("inner"), ..copy.clone() };
    let inside = RelationshipCopy {
        id: id("inside"),
        type_name: "contains".into(),
        from: id("copy"),
        to: id("inner"),
        properties: vec![("name".into(), "y".into())],
        header: header.clone(),
    };
    let link = RelationshipCopy {
        id: id("far"),
        type_name: "knows".into(),
        from: id("copy"),
        to: id("own"),
        properties: Vec::new(),
        header,
    };
    repository
        .transact(|t| {
            t.define_type(TypeDefinition::relationship("contains").containing())?;
            t.save_entity_copy(copy.clone())?;
            t.save_entity_copy(inner.clone())?;
            t.save_relationship_copy(inside.clone(), [])?;
            t.create_entity(NewEntity::new("node").id("own")?)?;
            let contains = NewRelationship::new("contains", id("own"), id("copy")).id("place")?;
            t.create_relationship(contains.property("name", "x"))?;
            t.save_relationship_copy(link.clone(), [])
        })
        .unwrap();
    repository
}

/// Story: a deletion took copies of another collection along; whether it could be taken back hung on the order in which
/// the instances had come.
#[test]
fn copies_that_a_deletion_took_along_return_when_it_is_taken_back() {
    let repository = with_copies();
    let (_, deleted) = repository.transact(|t| t.delete(&entity("own"))).unwrap();
    assert_eq!(number(&repository, "copy", "n"), None);
    repository.transact(|t| t.take_back(deleted.position)).unwrap();
    let snapshot = repository.snapshot();
    let found = snapshot.entity(&id("copy")).unwrap().unwrap();
    assert_eq!((found.property("n"), found.home()), (Some(1.into()), Some("there")));
    for name in ["far", "place", "inside"] {
        assert!(snapshot.relationship(&id(name)).unwrap().is_some(), "{name}");
    }
}

/// Story: a record restored an entity and the copies in it; its take-back freed the copies first, and could then not
/// delete them.
#[test]
fn copies_that_came_back_with_their_container_go_with_it_again() {
    let repository = with_copies();
    repository.transact(|t| t.delete(&entity("own"))).unwrap();
    let (_, restored) = repository.transact(|t| t.restore(&entity("own"))).unwrap();
    repository.transact(|t| t.take_back(restored.position)).unwrap();
    assert_eq!((number(&repository, "own", "n"), number(&repository, "copy", "n")), (None, None));
    let (_, restored) = repository.transact(|t| t.restore(&entity("own"))).unwrap();
    assert_eq!(number(&repository, "copy", "n"), Some(1.into()));
    // A copy that others took out of its container stays.
    let link = InstanceId::Relationship(id("place"));
    repository.transact(|t| t.purge(&link)).unwrap();
    assert_refused(&repository, restored.position, "entity copy: it is a copy, and nothing");
    let range = restored.position..=restored.position;
    let (TakenBack { stays: left, .. }, _) =
        repository.transact(|t| t.take_back_all(range.clone(), Some(Keep::Theirs))).unwrap();
    assert!(ids(&left).contains(&entity("copy")), "{left:?}");
    assert_eq!(number(&repository, "copy", "n"), Some(1.into()));
    assert!(repository.snapshot().entity(&id("own")).unwrap().is_none());
}

/// Story: a record that moved two items through one place could not be taken back, although nobody wrote since.
#[test]
fn a_record_that_put_another_item_into_a_place_is_taken_back() {
    let repository = CheckedRepository::in_memory();
    set(&repository, "/a/x/leaf", 1);
    set(&repository, "/new/x/leaf", 2);
    set(&repository, "/old/leaf", 3);
    let (_, moved) = repository
        .transact(|t| {
            t.tree().move_to(&path("/a/x"), &path("/old/x"), None)?;
            t.tree().move_to(&path("/new/x"), &path("/a/x"), None)
        })
        .unwrap();
    assert_eq!(leaf(&repository, "/a/x/leaf"), Some(2.into()));
    repository.transact(|t| t.take_back(moved.position)).unwrap();
    assert_eq!(leaf(&repository, "/a/x/leaf"), Some(1.into()));
    assert_eq!(leaf(&repository, "/new/x/leaf"), Some(2.into()));
    assert_eq!(leaf(&repository, "/old/x/leaf"), None);
}

/// Story: a record deleted an item and changed another, and others moved the other into the place.
#[test]
fn a_place_that_others_gave_to_a_changed_item_is_theirs() {
    let repository = CheckedRepository::in_memory();
    set(&repository, "/a/x/leaf", 1);
    set(&repository, "/b/y/leaf", 1);
    let (_, both) = repository
        .transact(|t| {
            t.tree().delete(&path("/a/x"))?;
            t.tree().set(&path("/b/y/leaf"), 2)
        })
        .unwrap();
    move_item(&repository, "/b/y", "/a/x");
    assert_refused(&repository, both.position, "puts another item into its place");
    let take = |t: &mut Transaction| t.take_back_all(both.position..=both.position, Some(Keep::Theirs));
    let (TakenBack { stays: left, .. }, _) = repository.transact(take).unwrap();
    assert_eq!(left.len(), 2, "{left:?}");
    assert_eq!(leaf(&repository, "/a/x/leaf"), Some(1.into()), "the other one, with its value of before");
}

/// Story: a record replaced an item by another of its name, and others changed that one.
#[test]
fn a_place_of_a_new_item_that_others_changed_is_theirs() {
    let repository = CheckedRepository::in_memory();
    set(&repository, "/a/x/leaf", 1);
    set(&repository, "/b/leaf", 1);
    let (_, replaced) = repository
        .transact(|t| {
            t.tree().delete(&path("/a/x"))?;
            t.tree().set(&path("/a/x/leaf"), 2)?;
            t.tree().set(&path("/b/leaf"), 2)
        })
        .unwrap();
    set(&repository, "/a/x/leaf", 7);
    let take =
        |t: &mut Transaction| t.take_back_all(replaced.position..=replaced.position, Some(Keep::Theirs));
    repository.transact(take).unwrap();
    assert_eq!(leaf(&repository, "/a/x/leaf"), Some(7.into()));
    assert_eq!(leaf(&repository, "/b/leaf"), Some(1.into()));
}

/// The relationship that contains an entity.
fn place_of(repository: &Repository, child: &str) -> Id {
    let snapshot = repository.snapshot();
    let link = snapshot.neighbors(&id(child), Direction::In, None).unwrap().next().unwrap().unwrap();
    link.relationship.id().clone()
}

/// A list of two items with the keys 1 and 2.
fn listed() -> CheckedRepository {
    let repository = CheckedRepository::in_memory();
    create(&repository, "list", 1);
    repository
        .transact(|t| {
            t.define_type(TypeDefinition::relationship("contains").containing())?;
            let key = AttributeDefinition::new("n", ValueType::Integer).key();
            t.define_type(TypeDefinition::entity("item").attribute(key))?;
            for (name, n) in [("one", 1), ("two", 2)] {
                t.create_entity(NewEntity::new("item").id(name)?.property("n", n))?;
                t.create_relationship(NewRelationship::new("contains", id("list"), id(name)))?;
            }
            Ok(())
        })
        .unwrap();
    repository
}

/// Story: others exchanged the keys of two items; taking back a value of the relationship that contains one of them
/// replaced that relationship by a new one.
#[test]
fn items_whose_keys_others_exchanged_keep_their_relationships() {
    let repository = listed();
    let link = place_of(&repository, "one");
    let instance = InstanceId::Relationship(link.clone());
    let (_, noted) = repository.transact(|t| t.update(&instance, Patch::new().set("note", 7))).unwrap();
    repository
        .transact(|t| {
            for (name, n) in [("one", 9), ("two", 1), ("one", 2)] {
                t.update(&entity(name), Patch::new().set("n", n))?;
            }
            Ok(())
        })
        .unwrap();
    repository.transact(|t| t.take_back(noted.position)).unwrap();
    assert_eq!(place_of(&repository, "one"), link);
    let note = repository.snapshot().relationship(&link).unwrap().unwrap().property("note");
    assert_eq!(note, None);
}

/// Story: a record changed a value of the relationship that contains an item, and moved the item; the take-back made a new
/// relationship.
#[test]
fn a_relationship_that_its_record_changed_and_deleted_returns_as_it_was() {
    let repository = CheckedRepository::in_memory();
    set(&repository, "/a/x/leaf", 1);
    set(&repository, "/b/leaf", 1);
    let item = repository.snapshot().tree().item(&path("/a/x")).unwrap().unwrap().entity.id().to_string();
    let link = place_of(&repository, &item);
    let (_, moved) = repository
        .transact(|t| {
            t.update(&InstanceId::Relationship(link.clone()), Patch::new().set("note", 7))?;
            t.tree().move_to(&path("/a/x"), &path("/b/x"), None)
        })
        .unwrap();
    assert_ne!(place_of(&repository, &item), link);
    repository.transact(|t| t.take_back(moved.position)).unwrap();
    assert_eq!(leaf(&repository, "/a/x/leaf"), Some(1.into()));
    assert_eq!(place_of(&repository, &item), link);
    let note = repository.snapshot().relationship(&link).unwrap().unwrap().property("note");
    assert_eq!(note, None);
}

/// Story: a record moved an item out of a container and then deleted that container; the take-back contained the item by a
/// new relationship.
#[test]
fn an_item_returns_by_its_relationship_into_a_container_that_its_record_deleted() {
    let repository = CheckedRepository::in_memory();
    set(&repository, "/a/x/leaf", 1);
    set(&repository, "/b/leaf", 1);
    let of = |at: &str| repository.snapshot().tree().item(&path(at)).unwrap().unwrap().entity.id().clone();
    let (item, container, other) = (of("/a/x").to_string(), of("/a"), of("/b"));
    let link = place_of(&repository, &item);
    let (_, moved) = repository
        .transact(|t| {
            t.relink(&link, Some(&other), None)?;
            t.delete(&InstanceId::Entity(container.clone()))
        })
        .unwrap();
    assert_eq!(leaf(&repository, "/b/x/leaf"), Some(1.into()));
    repository.transact(|t| t.take_back(moved.position)).unwrap();
    assert_eq!(leaf(&repository, "/a/x/leaf"), Some(1.into()));
    assert_eq!(place_of(&repository, &item), link);
}

/// Story: a record took an item out of a list; others gave the item another key, and another item its key of then. The
/// take-back was refused, because the other item holds the place that the first one had.
#[test]
fn an_item_returns_with_the_key_that_others_gave_it() {
    for (key, is_free) in [(9, true), (2, false)] {
        let repository = listed();
        let link = InstanceId::Relationship(place_of(&repository, "one"));
        let (_, removed) = repository.transact(|t| t.delete(&link)).unwrap();
        repository
            .transact(|t| {
                t.update(&entity("two"), Patch::new().set("n", if is_free { 1 } else { 2 }))?;
                t.update(&entity("one"), Patch::new().set("n", key))
            })
            .unwrap();
        if is_free {
            repository.transact(|t| t.take_back(removed.position)).unwrap();
            assert_eq!(InstanceId::Relationship(place_of(&repository, "one")), link);
        } else {
            assert_refused(&repository, removed.position, "puts another item into its place");
        }
    }
}

/// Story: a record exchanged the keys of two items, and others then changed the relationship that contains one; the
/// take-back set that back, too.
#[test]
fn what_others_wrote_into_the_relationship_of_an_item_stays() {
    let repository = listed();
    let link = place_of(&repository, "one");
    let (_, exchanged) = repository
        .transact(|t| {
            for (name, n) in [("one", 9), ("two", 1), ("one", 2)] {
                t.update(&entity(name), Patch::new().set("n", n))?;
            }
            Ok(())
        })
        .unwrap();
    let instance = InstanceId::Relationship(link.clone());
    repository.transact(|t| t.update(&instance, Patch::new().set("note", 7))).unwrap();
    repository.transact(|t| t.take_back(exchanged.position)).unwrap();
    assert_eq!(
        (number(&repository, "one", "n"), number(&repository, "two", "n")),
        (Some(1.into()), Some(2.into()))
    );
    assert_eq!(place_of(&repository, "one"), link);
    let note = repository.snapshot().relationship(&link).unwrap().unwrap().property("note");
    assert_eq!(note, Some(7.into()));
}
