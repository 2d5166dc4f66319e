//! Reverts by writers with grants, where hidden instances belong to what comes back.

use annals::*;

use crate::support::access::{self, commit, open_rights, secret};
use crate::support::named::{entity, id};
use crate::support::trees::path;

fn item(name: &str) -> Item {
    Item { id: Some(id(name)), ..Item::new().property("n", 1) }
}

fn link(name: &str, type_name: &str, from: &str, to: &str) -> NewRelationship {
    NewRelationship::new(type_name, id(from), id(to)).id(name).unwrap().property("name", to)
}

/// Changes what is below `root`, as a writer of everything that is not secret.
fn limited<T>(
    repository: &Repository,
    root: &str,
    mut work: impl FnMut(&mut TreeEdit<'_>) -> Result<T>,
) -> Result<T> {
    let outcome = access::limited(repository, &open_rights(), |t| work(&mut t.tree_below(id(root))));
    outcome.map(|(result, _)| result)
}

fn at(position: u64) -> AsOf {
    AsOf { position: Some(Position(position)), ..AsOf::default() }
}

/// In record 1 the root; in record 2 `p` with `x` in it, by the relationship `in-x`, and the hidden `CANARY`.
fn repository() -> Repository {
    let repository = Repository::in_memory();
    commit(&repository, |t| {
        t.define_type(TypeDefinition::relationship("contains").containing())?;
        t.create_entity(NewEntity::new("root").id("root")?).map(drop)
    });
    commit(&repository, |t| {
        t.tree().create(&path("/p"), &item("p"))?;
        t.create_entity(NewEntity::new("page").id("x")?)?;
        t.create_relationship(link("in-x", "contains", "p", "x"))?;
        t.tree().create(&path("/CANARY"), &item("CANARY"))?;
        t.classify(&id("CANARY"), secret())
    });
    repository
}

fn revision(repository: &Repository, instance: &InstanceId) -> Option<Revision> {
    repository.snapshot().revision(instance)
}

#[test]
fn a_hidden_root_is_as_one_that_is_not_there() {
    let repository = repository();
    let told = |root: &str| {
        let deleted = limited(&repository, root, |t| t.delete(&path("/n"))).unwrap_err();
        let moved = limited(&repository, root, |t| t.move_to(&path("/n"), &path("/m"), None)).unwrap_err();
        (deleted.to_string(), moved.to_string())
    };
    assert_eq!(told("CANARY"), told("absent"));
    let created = limited(&repository, "CANARY", |t| t.create(&path("/n/new"), &Item::new()));
    assert_eq!(created.unwrap_err().kind(), ErrorKind::AlreadyExists);
}

#[test]
fn a_revert_of_the_root_leaves_hidden_children() {
    let repository = repository();
    let before = revision(&repository, &entity("CANARY"));
    // At this time nobody had the root.
    limited(&repository, "root", |t| t.revert(&TreePath::root(), at(0))).unwrap();
    assert_eq!(revision(&repository, &entity("CANARY")), before);
    assert!(repository.snapshot().entity(&id("x")).unwrap().is_none());
}

#[test]
fn a_revert_leaves_hidden_relationships_deleted() {
    let repository = repository();
    commit(&repository, |t| {
        t.create_relationship(link("CANARY-r", "links", "x", "CANARY"))?;
        t.create_relationship(link("open-r", "links", "x", "p")).map(drop)
    });
    commit(&repository, |t| t.delete(&entity("x")));
    let (hidden, open) = ["CANARY-r", "open-r"].map(|name| InstanceId::Relationship(id(name))).into();
    let before = revision(&repository, &hidden);
    limited(&repository, "root", |t| t.revert(&path("/p"), at(3))).unwrap();
    assert_eq!(revision(&repository, &hidden), before);
    assert!(repository.snapshot().relationship(open.id()).unwrap().is_some());
    assert!(repository.snapshot().entity(&id("x")).unwrap().is_some());
}

/// The relationship that contained the item leads to a hidden container now.
#[test]
fn a_revert_does_not_use_a_relationship_that_is_hidden_now() {
    let repository = repository();
    let contained = InstanceId::Relationship(id("in-x"));
    commit(&repository, |t| t.relink(&id("in-x"), Some(&id("CANARY")), None));
    let refused = limited(&repository, "root", |t| t.revert(&path("/p"), at(2))).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Refused);
    assert!(!refused.to_string().contains("in-x"), "{refused}");
    commit(&repository, |t| t.delete(&contained));
    let before = revision(&repository, &contained);
    limited(&repository, "root", |t| t.revert(&path("/p"), at(2))).unwrap();
    assert_eq!(revision(&repository, &contained), before);
    assert!(repository.snapshot().tree().item(&path("/p/x")).unwrap().is_some());
}
