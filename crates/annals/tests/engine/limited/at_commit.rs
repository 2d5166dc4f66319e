//! Limits hold at the commit: whoever commits forgets no question, and what the answers were read from has not changed.

use std::sync::Arc;

use crate::support::access::{grant, open_rights};
use crate::support::named::id;
use annals::*;

fn entity(name: &str) -> InstanceId {
    InstanceId::Entity(id(name))
}

/// May write pages of the own team.
fn own_pages() -> Arc<Rights> {
    Arc::new(Rights::new(&[(grant("page where team = own", None), Right::ALL.to_vec())]).unwrap())
}

fn page(name: &str, team: &str) -> NewEntity {
    NewEntity { id: id(name), ..NewEntity::new("page") }.property("team", team)
}

fn filled() -> Repository {
    let repository = Repository::in_memory();
    repository
        .transact(|t| {
            t.define_type(TypeDefinition::relationship("contains").containing())?;
            t.create_entity(page("own", "own"))?;
            t.create_entity(page("theirs", "theirs"))?;
            for name in ["root", "box", "out"] {
                t.create_entity(NewEntity { id: id(name), ..NewEntity::new("box") })?;
            }
            contain(t, "root", "box")
        })
        .unwrap();
    repository
}

fn contain(t: &mut Transaction, parent: &str, child: &str) -> Result<()> {
    let link = NewRelationship::new("contains", id(parent), id(child)).property("name", child);
    t.create_relationship(NewRelationship { id: id(&format!("in-{child}")), ..link }).map(drop)
}

/// Gives an own page away, which the rights do not allow.
fn overreach(repository: &Repository) -> Transaction {
    let mut t = repository.transaction();
    t.limit_to(&own_pages()).unwrap();
    t.update(&entity("own"), Patch::new().set("team", "theirs")).unwrap();
    t
}

#[test]
fn no_way_to_commit_forgets_the_rights() {
    let repository = filled();
    let before = repository.snapshot().position();
    assert_eq!(overreach(&repository).commit().unwrap_err().kind(), ErrorKind::Refused);
    assert_eq!(overreach(&repository).submit().err().unwrap().kind(), ErrorKind::Refused);
    assert_eq!(overreach(&repository).try_submit().err().unwrap().kind(), ErrorKind::Refused);
    assert_eq!(overreach(&repository).dry_run().err().unwrap().kind(), ErrorKind::Refused);
    assert_eq!(repository.snapshot().position(), before);
}

#[test]
fn a_limit_comes_before_the_first_change_and_once() {
    let repository = filled();
    let mut late = repository.transaction();
    late.update(&entity("theirs"), Patch::new().set("n", 1)).unwrap();
    assert_eq!(late.limit_to(&own_pages()).unwrap_err().kind(), ErrorKind::InvalidArgument);
    let mut wider = repository.transaction();
    wider.limit_to(&own_pages()).unwrap();
    assert_eq!(wider.limit_to(&open_rights()).unwrap_err().kind(), ErrorKind::InvalidArgument);
}

/// An admin moves the box out of what the writer may write, between its changes and its commit.
#[test]
fn a_place_that_changed_is_asked_again() {
    let rights = Arc::new(Rights::new(&[(grant("*", Some("root")), Right::ALL.to_vec())]).unwrap());
    let moves: [fn(&mut Transaction) -> Result<()>; 3] = [
        |t| t.relink(&id("in-box"), Some(&id("out")), None),
        |t| t.delete(&InstanceId::Relationship(id("in-box"))),
        |t| t.reidentify(&entity("root"), &id("elsewhere")),
    ];
    for (number, moved) in moves.into_iter().enumerate() {
        let repository = filled();
        let begin = || {
            let mut t = repository.transaction();
            t.limit_to(&rights)?;
            t.create_entity(NewEntity { id: id("kid"), ..NewEntity::new("page") })?;
            contain(&mut t, "box", "kid")?;
            Ok(t)
        };
        let late: Result<Transaction> = begin();
        repository.transact(moved).unwrap();
        assert_eq!(late.unwrap().commit().unwrap_err().kind(), ErrorKind::Conflict, "{number}");
        assert!(begin().and_then(Transaction::commit).is_err(), "{number}: asked again, it is refused");
    }
}

#[test]
fn what_does_not_concern_the_writer_is_no_conflict() {
    let rights = Arc::new(Rights::new(&[(grant("*", Some("root")), Right::ALL.to_vec())]).unwrap());
    let repository = filled();
    // The first transaction of this kind makes the repository remember what its records touch.
    let commit_beside = |name: &str| {
        let mut t = repository.transaction();
        t.limit_to(&rights)?;
        t.create_entity(NewEntity { id: id(name), ..NewEntity::new("page") })?;
        contain(&mut t, "box", name)?;
        repository.transact(|t| {
            t.update(&entity("theirs"), Patch::new().set("by", name))?;
            t.create_entity(NewEntity { id: id(&format!("{name}-sibling")), ..NewEntity::new("page") })?;
            contain(t, "box", &format!("{name}-sibling"))
        })?;
        t.commit()
    };
    let _ = commit_beside("first");
    commit_beside("second").unwrap();
}

#[test]
fn a_caller_may_rely_on_more() {
    let repository = filled();
    let begin = |rely: fn(&mut Transaction)| {
        let mut t = repository.transaction();
        rely(&mut t);
        t.update(&entity("own"), Patch::new().set("n", i64::try_from(t.base().position().0).unwrap()))
            .unwrap();
        t
    };
    begin(|t| t.rely_on(&entity("theirs"))).commit().unwrap();
    type Case = (fn(&mut Transaction), fn(&mut Transaction) -> Result<()>);
    let changes: [Case; 3] = [
        (|t| t.rely_on(&entity("theirs")), |t| t.delete(&entity("theirs"))),
        (
            |t| t.rely_on_type(TypeKind::Entity, "grant"),
            |t| t.create_entity(NewEntity::new("grant")).map(drop),
        ),
        (|t| t.rely_on_relationships(&id("out")), |t| contain(t, "out", "own")),
    ];
    for (number, (rely, change)) in changes.into_iter().enumerate() {
        let late = begin(rely);
        repository.transact(change).unwrap();
        assert_eq!(late.commit().unwrap_err().kind(), ErrorKind::Conflict, "{number}");
    }
    let late = begin(|t| t.rely_on(&entity("box")));
    repository.transact(|t| t.update(&entity("out"), Patch::new().set("n", 1))).unwrap();
    late.commit().unwrap();
}
