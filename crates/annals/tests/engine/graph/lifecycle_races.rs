//! Two at once give one instance another id, type or end: the first committer wins, and nothing is left dangling. An
//! instance that is purged under a new id leaves the log under the old one too.

use crate::support::CheckedRepository;
use crate::support::named::{entity, id};
use annals::*;

fn new(text: &str) -> NewEntity {
    NewEntity::new("t").id(text).unwrap()
}

fn filled(repository: &Repository) {
    let fill = |t: &mut Transaction| {
        ["a", "b", "c"].into_iter().try_for_each(|text| t.create_entity(new(text)).map(drop))?;
        t.create_relationship(NewRelationship::new("k", id("a"), id("b")).id("r")?)
    };
    repository.transact(fill).unwrap();
}

type Work = fn(&mut Transaction) -> Result<()>;

/// Both begin before either commits; tells how the second fared.
fn second_of(first: Work, second: Work) -> Option<ErrorKind> {
    let repository = CheckedRepository::in_memory();
    filled(&repository);
    let begin = |work: Work| {
        let mut transaction = repository.transaction();
        work(&mut transaction).unwrap();
        transaction
    };
    let (first, second) = (begin(first), begin(second));
    first.commit().unwrap();
    let outcome = second.commit().err().map(|error| error.kind());
    let snapshot = repository.snapshot();
    for relationship in snapshot.find_relationships(&Find::all()).unwrap().items {
        assert!(relationship.from_entity().unwrap().is_some(), "{relationship:?}");
        assert!(relationship.to_entity().unwrap().is_some(), "{relationship:?}");
    }
    outcome
}

#[test]
fn the_first_to_give_an_instance_another_id_type_or_end_wins() {
    let rename: Work = |t| t.reidentify(&entity("a"), &id("x"));
    let again: Work = |t| t.reidentify(&entity("a"), &id("y"));
    let retype: Work = |t| t.retype(&entity("a"), "u");
    let relink: Work = |t| t.relink(&id("r"), None, Some(&id("c")));
    let update: Work = |t| t.update(&entity("a"), Patch::new().set("p", 1));
    for (first, second) in [
        (rename, again),
        (rename, retype),
        (retype, rename),
        (retype, retype),
        (relink, relink),
        (rename, update),
    ] {
        assert_eq!(second_of(first, second), Some(ErrorKind::Conflict));
    }
}

#[test]
fn a_relationship_is_not_attached_to_an_id_that_was_given_up() {
    let rename: Work = |t| t.reidentify(&entity("a"), &id("x"));
    let attach: Work = |t| t.create_relationship(NewRelationship::new("k", id("a"), id("c"))).map(drop);
    let relink: Work = |t| t.relink(&id("r"), None, Some(&id("a")));
    assert!(second_of(rename, attach).is_some());
    assert!(second_of(rename, relink).is_some());
    assert_eq!(second_of(attach, rename), None, "links lead to slots, so they follow");
}

#[test]
fn what_is_purged_under_a_new_id_leaves_the_log_under_the_old_one_too() {
    let folder = tempfile::tempdir().unwrap();
    let repository = CheckedRepository::open(folder.path());
    filled(&repository);
    let commit = |work: Work| assert!(repository.transact(work).is_ok());
    commit(|t| t.update(&entity("a"), Patch::new().set("secret", "swordfish")));
    commit(|t| t.reidentify(&entity("a"), &id("x")));
    commit(|t| t.retype(&entity("x"), "u"));
    commit(|t| t.reidentify(&entity("b"), &id("y")));
    commit(|t| t.purge(&entity("x")));
    let is_on_log = || {
        let files = std::fs::read_dir(folder.path().join("log")).unwrap();
        files
            .map(|file| std::fs::read(file.unwrap().path()).unwrap())
            .any(|bytes| bytes.windows(9).any(|part| part == b"swordfish"))
    };
    assert!(is_on_log());
    repository.compact().unwrap();
    assert!(!is_on_log());
    drop(repository);
    let repository = CheckedRepository::open(folder.path());
    let snapshot = repository.snapshot();
    assert!(snapshot.relationship(&id("r")).unwrap().is_none());
    assert_eq!(snapshot.entity(&id("y")).unwrap().unwrap().reidentified_from(), Some(&id("b")));
    let before = snapshot.as_of(AsOf { position: Some(Position(2)), ..AsOf::default() }).unwrap();
    assert!(before.entity(&id("b")).unwrap().is_some() && before.entity(&id("y")).unwrap().is_none());
    assert!(before.entity(&id("a")).unwrap().is_none());
    assert_eq!(repository.check().unwrap().differences, Vec::<String>::new());
    repository.transact(|t| t.create_entity(new("a"))).unwrap();
}
