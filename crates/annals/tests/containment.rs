//! Containers: one parent, no cycle, names that are unique in the parent, and what deleting and purging takes along.

mod support;

use annals::*;
use support::CheckedRepository;

fn id(text: &str) -> Id {
    Id::new(text).unwrap()
}

fn entity(text: &str) -> InstanceId {
    InstanceId::Entity(id(text))
}

fn kind_of<T>(result: Result<T>) -> ErrorKind {
    result.err().expect("it should be refused").kind()
}

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
