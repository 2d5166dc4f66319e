//! Containers: one parent, no cycle, names that are unique in the parent, and what deleting and purging takes along.

use crate::support::CheckedRepository;
use crate::support::named::{entity, id};
use crate::support::typed::kind_of;
use annals::*;

fn declare(repository: &Repository) -> Result<()> {
    repository.transact(|t| {
        t.define_type(TypeDefinition::relationship("contains").containing())?;
        let key = |name: &str, value_type| AttributeDefinition::new(name, value_type).key();
        let list = TypeDefinition::entity("list").attribute(key("k1", ValueType::Integer));
        t.define_type(list.attribute(key("k2", ValueType::String)))
    })?;
    Ok(())
}

fn contain(repository: &Repository, parent: &str, child: &str, name: Option<&str>) -> Result<Id> {
    let contains = NewRelationship::new("contains", id(parent), id(child));
    let contains = match name {
        Some(name) => contains.property("name", name),
        None => contains,
    };
    repository.transact(|t| t.create_relationship(contains.clone())).map(|(id, _)| id)
}

fn create(repository: &Repository, ids: &[&str]) -> Result<()> {
    repository.transact(|t| {
        ids.iter().try_for_each(|id| t.create_entity(NewEntity::new("folder").id(id)?).map(|_| ()))
    })?;
    Ok(())
}

fn item(repository: &Repository, text: &str, k1: i64, k2: &str) -> Result<()> {
    let item = NewEntity::new("list").id(text)?.property("k1", k1).property("k2", k2);
    repository.transact(|t| t.create_entity(item.clone()))?;
    Ok(())
}

#[test]
fn an_entity_has_one_parent_and_never_contains_itself() -> Result<()> {
    let repository = CheckedRepository::in_memory();
    declare(&repository)?;
    create(&repository, &["a", "b", "c"])?;
    contain(&repository, "a", "b", Some("b"))?;
    let link = contain(&repository, "b", "c", Some("c"))?;
    assert_eq!(kind_of(contain(&repository, "a", "c", Some("c"))), ErrorKind::Cardinality);
    assert_eq!(kind_of(contain(&repository, "c", "a", Some("a"))), ErrorKind::InvalidEnds);
    assert_eq!(kind_of(contain(&repository, "a", "a", Some("a"))), ErrorKind::InvalidEnds);
    // Moved, it has one parent all the time.
    repository.transact(|t| t.relink(&link, Some(&id("a")), None))?;
    contain(&repository, "c", "b", Some("b")).expect_err("b has a parent");
    Ok(())
}

#[test]
fn names_are_unique_among_the_children_of_an_entity() -> Result<()> {
    let repository = CheckedRepository::in_memory();
    declare(&repository)?;
    create(&repository, &["a", "b", "c", "d"])?;
    let link = contain(&repository, "a", "b", Some("x"))?;
    assert_eq!(kind_of(contain(&repository, "a", "c", Some("x"))), ErrorKind::NotUnique);
    assert_eq!(kind_of(contain(&repository, "a", "c", None)), ErrorKind::InvalidProperty);
    contain(&repository, "d", "c", Some("x"))?;
    // Under its next name the one before is free.
    repository
        .transact(|t| t.update(&InstanceId::Relationship(link.clone()), Patch::new().set("name", "y")))?;
    create(&repository, &["e"])?;
    contain(&repository, "a", "e", Some("x"))?;
    let back = Patch::new().set("name", "x");
    let refused = repository.transact(|t| t.update(&InstanceId::Relationship(link.clone()), back.clone()));
    assert_eq!(kind_of(refused), ErrorKind::NotUnique);
    Ok(())
}

#[test]
fn keys_name_a_child_also_after_they_changed() -> Result<()> {
    let repository = CheckedRepository::in_memory();
    declare(&repository)?;
    create(&repository, &["a"])?;
    item(&repository, "i", 1, "x")?;
    item(&repository, "j", 2, "x")?;
    contain(&repository, "a", "i", None)?;
    contain(&repository, "a", "j", None)?;
    let change = |text: &str, k1: i64| {
        repository.transact(|t| t.update(&entity(text), Patch::new().set("k1", k1))).map(|_| ())
    };
    assert_eq!(kind_of(change("j", 1)), ErrorKind::NotUnique);
    change("i", 3)?;
    change("j", 1)?;
    item(&repository, "k", 1, "x")?;
    assert_eq!(kind_of(contain(&repository, "a", "k", None)), ErrorKind::NotUnique);
    let nothing = repository.transact(|t| t.update(&entity("j"), Patch::new().unset("k1")));
    assert_eq!(kind_of(nothing), ErrorKind::InvalidProperty);
    Ok(())
}

#[test]
fn a_container_takes_along_all_that_it_contains_and_brings_it_back() -> Result<()> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("repository");
    let repository = CheckedRepository::open_with(&path, Options::default());
    declare(&repository)?;
    create(&repository, &["a", "b", "c", "d", "other"])?;
    for (parent, child) in [("a", "b"), ("b", "c"), ("b", "d")] {
        contain(&repository, parent, child, Some(child))?;
    }
    repository.transact(|t| t.create_relationship(NewRelationship::new("knows", id("c"), id("other"))))?;
    repository.transact(|t| t.create_relationship(NewRelationship::new("knows", id("c"), id("d"))))?;
    // Deleted by itself before, it does not come back with the rest.
    repository.transact(|t| t.delete(&entity("d")))?;
    repository.transact(|t| t.delete(&entity("a")))?;
    let counts = |repository: &Repository| {
        (repository.snapshot().entities_count(), repository.snapshot().relationships_count())
    };
    assert_eq!(counts(&repository), (1, 0));
    repository.checkpoint()?;
    drop(repository);
    let repository = CheckedRepository::open_with(&path, Options::default());
    repository.transact(|t| t.restore(&entity("a")))?;
    assert_eq!(counts(&repository), (4, 3));
    assert_eq!(kind_of(contain(&repository, "a", "other", Some("b"))), ErrorKind::NotUnique);
    repository.transact(|t| t.delete(&entity("b")))?;
    repository.transact(|t| t.purge(&entity("b")))?;
    let snapshot = repository.snapshot();
    assert!(
        snapshot.entity(&id("c"))?.is_none() && snapshot.history(&entity("c"), &History::default()).is_err()
    );
    // It was deleted before, by itself: purging the container does not reach it.
    assert!(snapshot.history(&entity("d"), &History::default()).is_ok());
    contain(&repository, "a", "other", Some("b"))?;
    Ok(())
}

#[test]
fn what_a_large_container_takes_along_is_deleted_once_wherever_it_leads() -> Result<()> {
    let repository = CheckedRepository::in_memory();
    declare(&repository)?;
    create(&repository, &["a", "other", "far"])?;
    let count = 200;
    let child = |number: i64| format!("child{}", (number + count) % count);
    repository.transact(|t| {
        for number in 0..count {
            let item = NewEntity::new("list").id(&child(number))?.property("k1", number).property("k2", "k");
            t.create_entity(item)?;
            t.create_relationship(NewRelationship::new("contains", id("a"), id(&child(number))))?;
        }
        // To itself, to a sibling, out of the container, and into it from an entity with many links.
        for number in 0..count {
            let knows = |from: &str, to: &str| NewRelationship::new("knows", id(from), id(to));
            t.create_relationship(knows(&child(number), &child(number)))?;
            t.create_relationship(knows(&child(number), &child(number - 1)))?;
            t.create_relationship(knows(&child(number), "other"))?;
            t.create_relationship(knows("other", &child(number)))?;
        }
        t.create_relationship(NewRelationship::new("knows", id("other"), id("far"))).map(|_| ())
    })?;
    let before = repository.snapshot();
    repository.transact(|t| t.delete(&entity("a")))?;
    let after = repository.snapshot();
    assert_eq!((after.entities_count(), after.relationships_count()), (2, 1));
    assert_eq!(after.degree(&id("other"), Direction::Out, None)?, 1);
    assert_eq!(after.degree(&id("other"), Direction::In, None)?, 0);
    for number in 0..count {
        assert_eq!(after.history(&entity(&child(number)), &History::default())?.len(), 2);
    }
    for relationship in before.relationships_of(&id("other"), &RelationshipsOf::both())?.items {
        let relationship = InstanceId::Relationship(relationship.id().clone());
        let versions = after.history(&relationship, &History::default())?.len();
        assert!((1..=2).contains(&versions), "{relationship} has {versions} versions");
    }
    // The earlier snapshot is unchanged.
    assert_eq!(before.degree(&id("other"), Direction::Out, None)?, count as usize + 1);
    repository.transact(|t| t.restore(&entity("a")))?;
    let restored = repository.snapshot();
    assert_eq!(restored.entities_count(), before.entities_count());
    assert_eq!(restored.relationships_count(), before.relationships_count());
    Ok(())
}

#[test]
fn what_contains_is_declared_before_there_is_anything() -> Result<()> {
    let repository = CheckedRepository::in_memory();
    create(&repository, &["a", "b"])?;
    repository.transact(|t| t.create_relationship(NewRelationship::new("holds", id("a"), id("b"))))?;
    let define =
        |definition: TypeDefinition| repository.transact(|t| t.define_type(definition.clone())).map(|_| ());
    assert_eq!(kind_of(define(TypeDefinition::relationship("holds").containing())), ErrorKind::TypeViolation);
    let keyed = |name: &str| {
        TypeDefinition::entity(name).attribute(AttributeDefinition::new("k", ValueType::Integer).key())
    };
    assert_eq!(kind_of(define(keyed("folder"))), ErrorKind::TypeViolation);
    assert_eq!(kind_of(define(TypeDefinition::entity("e").containing())), ErrorKind::TypeViolation);
    define(TypeDefinition::relationship("contains").containing())?;
    assert_eq!(kind_of(define(TypeDefinition::relationship("contains"))), ErrorKind::TypeViolation);
    define(keyed("list"))?;
    assert_eq!(kind_of(define(TypeDefinition::entity("list"))), ErrorKind::TypeViolation);
    Ok(())
}

#[test]
fn values_stay_within_their_limits() -> Result<()> {
    let repository = CheckedRepository::in_memory();
    let port = AttributeDefinition::new("port", ValueType::Integer).within(1, 65_535);
    let name = AttributeDefinition::new("name", ValueType::String).matching("[a-z]+[0-9]*");
    repository.transact(|t| {
        t.define_type(TypeDefinition::entity("server").attribute(port.clone()).attribute(name.clone()))
    })?;
    let create = |port: i64, name: &str| {
        let server = NewEntity::new("server").property("port", port).property("name", name);
        repository.transact(|t| t.create_entity(server.clone())).map(|_| ())
    };
    create(1, "web")?;
    create(65_535, "web2")?;
    for (port, name) in [(0, "web"), (65_536, "web"), (80, "web-1"), (80, "")] {
        assert_eq!(kind_of(create(port, name)), ErrorKind::InvalidProperty, "{port} {name}");
    }
    let text = AttributeDefinition::new("x", ValueType::Integer).matching("a");
    let refused = repository.transact(|t| t.define_type(TypeDefinition::entity("x").attribute(text.clone())));
    assert_eq!(kind_of(refused), ErrorKind::TypeViolation);
    let broken = AttributeDefinition::new("x", ValueType::String).matching("(");
    let refused =
        repository.transact(|t| t.define_type(TypeDefinition::entity("x").attribute(broken.clone())));
    assert_eq!(kind_of(refused), ErrorKind::TypeViolation);
    Ok(())
}

/// Deleting, restoring and purging a container each touch what it contains, and every door tells so.
#[test]
fn what_a_container_takes_along_is_told_by_differences_and_the_log() -> Result<()> {
    let repository = CheckedRepository::in_memory();
    declare(&repository)?;
    create(&repository, &["a", "b", "c", "other"])?;
    for (parent, child) in [("a", "b"), ("b", "c")] {
        contain(&repository, parent, child, Some(child))?;
    }
    let before = repository.snapshot().position();
    repository.transact(|t| t.delete(&entity("a")))?;
    let deleted = repository.snapshot().position();
    repository.transact(|t| t.restore_alone(&id("a")))?;
    let changed = |repository: &Repository, from: Position, to: Position| -> Result<(Vec<String>, usize)> {
        let changes = repository.snapshot().changes_between(from, to)?;
        let mut entities: Vec<String> = Vec::new();
        for change in &changes {
            let (sign, id) = match change {
                InstanceChange::Appeared(id) => ("+", id),
                InstanceChange::Disappeared(id) => ("-", id),
                InstanceChange::Changed(id, _) => ("~", id),
            };
            if let InstanceId::Entity(id) = id {
                entities.push(format!("{sign}{id}"));
            }
        }
        entities.sort();
        Ok((entities, changes.len()))
    };
    let last = repository.snapshot().position();
    assert_eq!(changed(&repository, before, deleted)?, (vec!["-a".into(), "-b".into(), "-c".into()], 5));
    assert_eq!(changed(&repository, deleted, last)?, (vec!["+a".into(), "+b".into(), "+c".into()], 5));
    let log = |repository: &Repository, id: &str| -> Result<Vec<String>> {
        let query = LogQuery { id: Some(Id::new(id)?), is_oldest_first: true, ..LogQuery::default() };
        let page = repository.snapshot().log(&query)?;
        let changes = page.records.iter().flat_map(|record| &record.changes);
        let line = |change: &LoggedChange| match change {
            LoggedChange::Instance(change) => format!(
                "{} {} {} {}",
                change.verb,
                change.id.id(),
                change.relationships_count,
                change.contained_count
            ),
            other => other.verb().into(),
        };
        Ok(changes.map(line).collect())
    };
    assert_eq!(log(&repository, "c")?, ["create c 0 0", "delete a 2 2", "restore a 2 2"]);
    // Moved out of it, and the container purged: what it took along was taken along all the same.
    repository.transact(|t| {
        let link =
            t.view()?.neighbors(&id("b"), Direction::Out, None)?.next().unwrap()?.relationship.id().clone();
        t.delete(&InstanceId::Relationship(link))?;
        t.create_relationship(NewRelationship::new("contains", id("other"), id("c")).property("name", "c"))
    })?;
    repository.transact(|t| t.purge(&entity("a")))?;
    assert_eq!(changed(&repository, before, deleted)?, (vec!["-c".into()], 1));
    assert_eq!(log(&repository, "c")?, ["create c 0 0", "delete c 0 0", "restore c 0 0"]);
    Ok(())
}

/// Two children outlived the container that was deleted, restored and purged. Taking out its changes would have changed theirs, so
/// that no compaction ever succeeded again.
#[test]
fn a_compaction_keeps_what_a_purged_container_did_to_others() -> Result<()> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("repository");
    let repository = CheckedRepository::open_with(&path, Options::default());
    declare(&repository)?;
    create(&repository, &["secret-a", "b", "c", "d", "gone", "other"])?;
    for (parent, child) in [("secret-a", "b"), ("b", "c"), ("secret-a", "d"), ("secret-a", "gone")] {
        contain(&repository, parent, child, Some(child))?;
    }
    repository
        .transact(|t| t.create_relationship(NewRelationship::new("knows", id("c"), id("d")).id("k")?))?;
    repository.transact(|t| t.delete(&entity("secret-a")))?;
    repository.transact(|t| t.restore(&entity("secret-a")))?;
    let moves = |repository: &Repository, child: &str| {
        repository.transact(|t| {
            let links = t.view()?.neighbors(&id(child), Direction::In, Some("contains"))?;
            let link = links.map(|link| link.map(|link| link.relationship.id().clone())).next().unwrap()?;
            t.delete(&InstanceId::Relationship(link))?;
            let contains = NewRelationship::new("contains", id("other"), id(child));
            t.create_relationship(contains.property("name", child))
        })
    };
    moves(&repository, "b")?;
    moves(&repository, "d")?;
    // A child is purged, and what named its container stays.
    repository.transact(|t| t.purge(&entity("gone")))?;
    assert_eq!(repository.compact()?.changes_count, 3);
    repository.transact(|t| t.purge(&entity("secret-a")))?;
    let history = |repository: &Repository, of: InstanceId| -> Result<Vec<(&'static str, u64)>> {
        let versions = repository.snapshot().history(&of, &History::default())?;
        Ok(versions.into_iter().map(|version| (version.verb, version.position.0)).collect())
    };
    let all = [entity("b"), entity("c"), entity("d"), InstanceId::Relationship(id("k"))];
    let before: Vec<_> = all.iter().map(|of| history(&repository, of.clone())).collect::<Result<_>>()?;
    repository.compact()?;
    let after: Vec<_> = all.iter().map(|of| history(&repository, of.clone())).collect::<Result<_>>()?;
    assert_eq!(after, before);
    let verbs: Vec<_> = before[1].iter().map(|(verb, _)| *verb).collect();
    assert_eq!(verbs, ["restore", "delete", "create"]);
    for entry in std::fs::read_dir(path.join("log")).unwrap() {
        let bytes = std::fs::read(entry.unwrap().path()).unwrap();
        assert!(!String::from_utf8_lossy(&bytes).contains("secret-a"));
    }
    // One of those that are listed is purged, too.
    repository.transact(|t| t.purge(&entity("d")))?;
    repository.compact()?;
    repository.transact(|t| t.purge(&entity("other")))?;
    repository.compact()?;
    assert_eq!(repository.snapshot().entities_count(), 0);
    Ok(())
}

#[test]
fn a_serializable_search_loses_to_the_deletion_of_a_container_of_what_it_may_find() -> Result<()> {
    let repository = CheckedRepository::in_memory();
    declare(&repository)?;
    create(&repository, &["a", "b", "other"])?;
    item(&repository, "i", 1, "x")?;
    contain(&repository, "a", "b", Some("b"))?;
    contain(&repository, "b", "i", None)?;
    let outcome = |deletes: &str| -> Result<Receipt> {
        let mut transaction = repository.transaction();
        transaction.serializable();
        transaction.find_entities(&Find::of("list"))?;
        repository.transact(|t| t.delete(&entity(deletes)))?;
        repository.transact(|t| t.restore(&entity(deletes)))?;
        transaction.create_entity(NewEntity::new("note"))?;
        transaction.commit()
    };
    // The first of a repository loses in any case: nothing was remembered before.
    outcome("other").ok();
    assert_eq!(kind_of(outcome("a")), ErrorKind::Conflict);
    outcome("other")?;
    Ok(())
}
