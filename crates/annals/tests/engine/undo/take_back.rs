//! Records are taken back only where nobody built on them, and never from an instance that only has the id.

use std::time::Duration;

use crate::support::CheckedRepository;
use crate::support::trees::path;
use crate::support::typed::kind_of;
use annals::*;

pub fn id(text: &str) -> Id {
    Id::new(text).unwrap()
}

pub fn entity(text: &str) -> InstanceId {
    InstanceId::Entity(id(text))
}

pub fn create(repository: &Repository, name: &str, value: i64) -> Position {
    let new = NewEntity::new("node").id(name).unwrap().property("n", value);
    repository.transact(|t| t.create_entity(new.clone())).unwrap().1.position
}

fn update(repository: &Repository, name: &str, property: &str, value: i64) -> Position {
    repository.transact(|t| t.update(&entity(name), Patch::new().set(property, value))).unwrap().1.position
}

pub fn number(repository: &Repository, name: &str, property: &str) -> Option<Value> {
    repository.snapshot().entity(&id(name)).unwrap().and_then(|found| found.property(property))
}

pub fn set(repository: &Repository, text: &str, value: i64) -> Position {
    repository.transact(|t| t.tree().set(&path(text), value)).unwrap().1.position
}

pub fn leaf(repository: &Repository, text: &str) -> Option<Value> {
    repository.snapshot().tree().item(&path(text)).unwrap().and_then(|found| found.value())
}

/// Refused, with an error that names `named`; and nothing has changed.
pub fn assert_refused(repository: &Repository, position: Position, named: &str) {
    let before = repository.snapshot().position();
    let error = repository.transact(|t| t.take_back(position)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::PreconditionFailed, "{error}");
    assert!(error.to_string().contains(named), "{error}");
    assert_eq!(repository.snapshot().position(), before);
}

/// Story: a candidate updated x; x was purged, and another x was made; the take-back deleted the other one.
#[test]
fn an_instance_that_has_the_id_of_a_purged_one_is_not_touched() {
    let repository = CheckedRepository::in_memory();
    create(&repository, "x", 1);
    create(&repository, "y", 1);
    let (_, both) = repository
        .transact(|t| {
            t.update(&entity("x"), Patch::new().set("n", 2))?;
            t.update(&entity("y"), Patch::new().set("n", 2))
        })
        .unwrap();
    repository.transact(|t| t.purge(&entity("x"))).unwrap();
    repository.transact(|t| t.create_entity(NewEntity::new("book").id("x")?.property("pages", 7))).unwrap();
    repository.transact(|t| t.take_back(both.position)).unwrap();
    let snapshot = repository.snapshot();
    let stranger = snapshot.entity(&id("x")).unwrap().expect("it is not touched");
    assert_eq!((stranger.type_name(), stranger.version()), ("book", 1));
    assert_eq!(number(&repository, "y", "n"), Some(1.into()));
}

#[test]
fn a_record_is_not_taken_back_if_later_records_changed_its_instances() {
    let repository = CheckedRepository::in_memory();
    create(&repository, "x", 1);
    let changed = update(&repository, "x", "n", 2);
    let later = update(&repository, "x", "n", 7);
    assert_refused(&repository, changed, "entity x: it was changed at position 3; both changed n");
    // Both sides can be chosen.
    let take = |keep| repository.transact(|t| t.take_back_all(changed..=changed, Some(keep))).unwrap().0;
    let stays = take(Keep::Theirs).stays;
    assert_eq!(stays.iter().map(|stays| stays.instance.clone()).collect::<Vec<_>>(), [entity("x")]);
    assert_eq!(number(&repository, "x", "n"), Some(7.into()));
    assert!(take(Keep::Mine).stays.is_empty());
    assert_eq!(number(&repository, "x", "n"), Some(1.into()));
    // A range of records is taken back as one.
    let changed = update(&repository, "x", "n", 5);
    let last = update(&repository, "x", "n", 6);
    assert_refused(&repository, changed, "entity x");
    repository.transact(|t| t.take_back_all(changed..=last, None)).unwrap();
    assert_eq!(number(&repository, "x", "n"), Some(1.into()));
    assert_eq!(later, Position(3));
}

#[test]
fn what_others_linked_to_a_new_entity_keeps_it() {
    let repository = CheckedRepository::in_memory();
    create(&repository, "other", 1);
    let created = create(&repository, "x", 1);
    let knows = || NewRelationship::new("knows", id("other"), id("x")).id("r");
    repository.transact(|t| t.create_relationship(knows()?)).unwrap();
    assert_refused(&repository, created, "entity x: relationship r was added to it at position 3");
    let (taken, _) = repository.transact(|t| t.take_back_all(created..=created, Some(Keep::Theirs))).unwrap();
    assert_eq!(taken.stays.len(), 1);
    assert!(repository.snapshot().relationship(&id("r")).unwrap().is_some());
    // Once their link is gone, nothing prevents it.
    repository.transact(|t| t.delete(&InstanceId::Relationship(id("r")))).unwrap();
    repository.transact(|t| t.take_back(created)).unwrap();
    assert!(repository.snapshot().entity(&id("x")).unwrap().is_none());
}

/// Story: a candidate created a container, others created an item in it, and the take-back deleted both.
#[test]
fn what_others_put_into_a_new_container_keeps_it_and_its_containers() {
    let repository = CheckedRepository::in_memory();
    set(&repository, "/config/leaf", 1);
    let (_, created) = repository
        .transact(|t| {
            t.tree().set(&path("/config/box/inner/leaf"), 1)?;
            t.tree().set(&path("/config/free/leaf"), 1)?;
            t.tree().set(&path("/config/leaf"), 2)
        })
        .unwrap();
    set(&repository, "/config/box/inner/theirs/leaf", 7);
    assert_refused(&repository, created.position, "was added to it at position 3");
    let (TakenBack { stays, .. }, _) = repository
        .transact(|t| t.take_back_all(created.position..=created.position, Some(Keep::Theirs)))
        .unwrap();
    // Two entities, and the relationships that place them.
    assert_eq!(stays.len(), 4, "{stays:?}");
    assert_eq!(leaf(&repository, "/config/box/inner/theirs/leaf"), Some(7.into()));
    assert_eq!(leaf(&repository, "/config/box/inner/leaf"), Some(1.into()));
    assert_eq!(leaf(&repository, "/config/free/leaf"), None);
    assert_eq!(leaf(&repository, "/config/leaf"), Some(1.into()));
}

/// Story: between the decision to delete a container and the commit, another transaction put something into it.
#[test]
fn a_take_back_conflicts_with_a_transaction_that_puts_something_into_the_container_meanwhile() {
    let repository = CheckedRepository::in_memory();
    set(&repository, "/config/leaf", 1);
    let created = set(&repository, "/config/box/leaf", 1);
    let mut late = repository.transaction();
    late.take_back(created).unwrap();
    set(&repository, "/config/box/theirs/leaf", 7);
    assert_eq!(kind_of(late.commit()), ErrorKind::Conflict);
    assert_eq!(leaf(&repository, "/config/box/theirs/leaf"), Some(7.into()));
}

#[test]
fn a_deletion_that_was_guarded_conflicts_if_it_would_take_others_along() {
    let repository = CheckedRepository::in_memory();
    set(&repository, "/config/box/leaf", 1);
    let container =
        repository.snapshot().tree().item(&path("/config/box")).unwrap().unwrap().entity.instance_id();
    let delete = Action::from(action::Delete { instance: container.clone() });
    let mut late = repository.transaction();
    assert_eq!(late.taken_along(&delete).unwrap().len(), 1, "the relationship that contains it");
    late.expect_taken_along(&delete).unwrap();
    late.delete(&container).unwrap();
    set(&repository, "/config/box/theirs/leaf", 7);
    assert_eq!(kind_of(late.commit()), ErrorKind::Conflict);
    let mut again = repository.transaction();
    assert_eq!(again.taken_along(&delete).unwrap().len(), 3, "one more item, with its relationship");
    again.expect_taken_along(&delete).unwrap();
    again.delete(&container).unwrap();
    again.commit().unwrap();
    let restore = Action::from(action::Restore { instance: container.clone(), with_relationships: true });
    assert_eq!(repository.transaction().taken_along(&restore).unwrap().len(), 3);
    let purge = Action::from(action::Purge { instance: container });
    assert_eq!(repository.transaction().taken_along(&purge).unwrap().len(), 3);
}

/// Story: the timer undid what others had built on the commit, and reported success.
#[test]
fn the_timer_refuses_where_others_built_and_the_candidate_says_why() {
    let repository = CheckedRepository::in_memory();
    set(&repository, "/config/host", 1);
    let candidates = repository.candidates();
    candidates.open("c", "").unwrap();
    candidates
        .edit("c", |t| {
            t.tree().set(&path("/config/box/leaf"), 1)?;
            t.tree().set(&path("/config/host"), 2)
        })
        .unwrap();
    let how =
        CandidateCommit { confirm_within: Some(Duration::from_millis(300)), ..CandidateCommit::default() };
    candidates.commit("c", &how).unwrap();
    set(&repository, "/config/box/theirs/leaf", 7);
    set(&repository, "/config/host", 3);
    let mut failure = None;
    for _ in 0..200 {
        failure = candidates.get("c").unwrap().unconfirmed.and_then(|waiting| waiting.failure);
        if failure.is_some() {
            break;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    let failure = failure.expect("the candidate stores the failure");
    assert!(failure.contains("later records built on"), "{failure}");
    assert_eq!(leaf(&repository, "/config/box/theirs/leaf"), Some(7.into()));
    assert_eq!(leaf(&repository, "/config/host"), Some(3.into()));
    // The failure is stored once.
    let position = repository.snapshot().position();
    std::thread::sleep(Duration::from_millis(900));
    assert_eq!(repository.snapshot().position(), position);
    // People decide.
    assert_eq!(kind_of(candidates.take_back("c", None, "ada")), ErrorKind::PreconditionFailed);
    let (TakenBack { stays, .. }, _) = candidates.take_back("c", Some(Keep::Theirs), "ada").unwrap();
    assert!(!stays.is_empty());
    assert_eq!(leaf(&repository, "/config/host"), Some(3.into()));
    assert_eq!(candidates.get("c").unwrap().unconfirmed, None);
}

/// Story: the copy of a history had a commit that nobody confirmed in time; its timer took that back in the middle of the
/// import, whose next record then found its position taken.
#[test]
fn the_timer_waits_while_it_is_held() {
    let repository = CheckedRepository::in_memory();
    set(&repository, "/config/host", 1);
    let candidates = repository.candidates();
    candidates.open("c", "").unwrap();
    candidates.edit("c", |t| t.tree().set(&path("/config/host"), 2)).unwrap();
    let (one, other) = (candidates.hold_timer(), candidates.hold_timer());
    let how =
        CandidateCommit { confirm_within: Some(Duration::from_millis(1)), ..CandidateCommit::default() };
    candidates.commit("c", &how).unwrap();
    let position = repository.snapshot().position();
    drop(one);
    std::thread::sleep(Duration::from_millis(700));
    assert_eq!(repository.snapshot().position(), position);
    drop(other);
    assert!(repository.wait_for(position.next(), Duration::from_secs(20)));
    assert_eq!(leaf(&repository, "/config/host"), Some(1.into()));
}

/// Story: an edit was rebased with "mine" onto an instance that only had the id.
#[test]
fn a_rebase_never_moves_an_edit_to_another_instance_of_the_id() {
    let repository = CheckedRepository::in_memory();
    create(&repository, "x", 1);
    let candidates = repository.candidates();
    candidates.open("c", "").unwrap();
    candidates.edit("c", |t| t.update(&entity("x"), Patch::new().set("n", 2))).unwrap();
    repository.transact(|t| t.purge(&entity("x"))).unwrap();
    repository.transact(|t| t.create_entity(NewEntity::new("book").id("x")?)).unwrap();
    let dropped = candidates.rebase("c", Some(Keep::Mine), "");
    assert_eq!(kind_of(dropped), ErrorKind::PreconditionFailed);
    assert_eq!(candidates.rebase("c", Some(Keep::Theirs), "").unwrap().len(), 1);
    candidates.commit("c", &CandidateCommit::default()).unwrap();
    assert_eq!(number(&repository, "x", "n"), None);
}

/// Story: a child was restored alone and got another container; then its old container could never be restored.
#[test]
fn a_container_returns_without_a_child_that_has_another_one_now() {
    let repository = CheckedRepository::in_memory();
    set(&repository, "/a/child/leaf", 1);
    set(&repository, "/a/other/leaf", 2);
    set(&repository, "/b/leaf", 3);
    let find = |text: &str| {
        let found =
            repository.snapshot().tree().item(&path(text)).unwrap().map(|found| found.entity.instance_id());
        found.expect("it is there")
    };
    let (a, b, child) = (find("/a"), find("/b"), find("/a/child"));
    let snapshot = repository.snapshot();
    let link = snapshot.neighbors(child.id(), Direction::In, None).unwrap().next().unwrap().unwrap();
    let containing = link.relationship.type_name().to_owned();
    repository.transact(|t| t.delete(&a)).unwrap();
    repository.transact(|t| t.restore(&child)).unwrap();
    let place =
        NewRelationship::new(&containing, b.id().clone(), child.id().clone()).property("name", "child");
    repository.transact(|t| t.create_relationship(place.clone())).unwrap();
    repository.transact(|t| t.restore(&a)).unwrap();
    assert_eq!(leaf(&repository, "/b/child/leaf"), Some(1.into()));
    assert_eq!(leaf(&repository, "/a/other/leaf"), Some(2.into()));
    assert_eq!(leaf(&repository, "/a/child/leaf"), None);
}

/// Two containers, and an item that moves between them.
fn with_containers() -> (CheckedRepository, Id) {
    let repository = CheckedRepository::in_memory();
    set(&repository, "/a/item/leaf", 1);
    set(&repository, "/b/leaf", 1);
    set(&repository, "/c/leaf", 1);
    let item = repository.snapshot().tree().item(&path("/a/item")).unwrap().unwrap().entity.id().clone();
    (repository, item)
}

pub fn move_item(repository: &Repository, from: &str, to: &str) -> Position {
    let moved = repository.transact(|t| t.tree().move_to(&path(from), &path(to), None).map(drop));
    moved.unwrap().1.position
}

/// Story: a record changed a value of an item; others moved the item; the take-back moved it back, too.
#[test]
fn an_item_that_others_moved_or_changed_since_keeps_their_place_and_their_values() {
    let (repository, item) = with_containers();
    let changed = set(&repository, "/a/item/leaf", 2);
    move_item(&repository, "/a/item", "/b/item");
    repository.transact(|t| t.take_back(changed)).unwrap();
    assert_eq!(leaf(&repository, "/b/item/leaf"), Some(1.into()));
    // The other way round: the record moved it, and others changed a value.
    let moved = move_item(&repository, "/b/item", "/c/item");
    set(&repository, "/c/item/leaf", 7);
    repository.transact(|t| t.take_back(moved)).unwrap();
    assert_eq!(leaf(&repository, "/b/item/leaf"), Some(7.into()));
    // A record that only placed it does not bring it back after others deleted it.
    let moved = move_item(&repository, "/b/item", "/a/item");
    repository.transact(|t| t.delete(&InstanceId::Entity(item.clone()))).unwrap();
    repository.transact(|t| t.take_back(moved)).unwrap();
    assert!(repository.snapshot().entity(&item).unwrap().is_none());
}

/// Story: taking back a move made a new relationship instead of moving the one that there was.
#[test]
fn a_move_is_taken_back_by_the_relationship_that_contains_the_item() {
    let (repository, item) = with_containers();
    let containing = || {
        let snapshot = repository.snapshot();
        let link = snapshot.neighbors(&item, Direction::In, None).unwrap().next().unwrap().unwrap();
        link.relationship.id().clone()
    };
    let before = containing();
    let b = repository.snapshot().tree().item(&path("/b")).unwrap().unwrap().entity.id().clone();
    let (_, moved) = repository.transact(|t| t.relink(&before, Some(&b), None)).unwrap();
    assert_eq!(leaf(&repository, "/b/item/leaf"), Some(1.into()));
    repository.transact(|t| t.take_back(moved.position)).unwrap();
    assert_eq!(leaf(&repository, "/a/item/leaf"), Some(1.into()));
    assert_eq!(containing(), before);
}

/// Story: a deletion took an item along; the relationship that had contained it was purged; the take-back of the deletion
/// left the item deleted.
#[test]
fn an_item_returns_whose_relationship_to_its_container_was_purged() {
    let (repository, item) = with_containers();
    let a = repository.snapshot().tree().item(&path("/a")).unwrap().unwrap().entity.instance_id();
    let link = {
        let snapshot = repository.snapshot();
        let link = snapshot.neighbors(&item, Direction::In, None).unwrap().next().unwrap().unwrap();
        link.relationship.instance_id()
    };
    let seen = || {
        let snapshot = repository.snapshot();
        let item = snapshot.entity(&item).unwrap().expect("it is there");
        (item.birth(), item.type_name().to_owned(), item.property("leaf"))
    };
    let before = seen();
    assert_eq!(before.2, Some(1.into()));
    let (_, deleted) = repository.transact(|t| t.delete(&a)).unwrap();
    repository.transact(|t| t.purge(&link)).unwrap();
    repository.transact(|t| t.take_back(deleted.position)).unwrap();
    assert_eq!(seen(), before);
    let snapshot = repository.snapshot();
    assert!(snapshot.tree().item(&path("/a")).unwrap().is_some());
    // Its place is purged.
    assert!(snapshot.neighbors(&item, Direction::In, None).unwrap().next().is_none());
}

/// Story: a record changed a value of an item; a later one deleted the item; "mine" brought it back outside of its tree.
#[test]
fn an_item_that_mine_brings_back_returns_to_its_place() {
    let (repository, item) = with_containers();
    let changed = set(&repository, "/a/item/leaf", 2);
    repository.transact(|t| t.delete(&InstanceId::Entity(item.clone()))).unwrap();
    assert_refused(&repository, changed, "it was changed at position");
    repository.transact(|t| t.take_back_all(changed..=changed, Some(Keep::Mine))).unwrap();
    assert_eq!(leaf(&repository, "/a/item/leaf"), Some(1.into()));
}

/// Story: a commit of a candidate could never be taken back, because its record ends the candidate.
#[test]
fn a_commit_of_a_candidate_is_taken_back_like_any_record() {
    let (repository, _) = with_containers();
    let candidates = repository.candidates();
    candidates.open("c", "").unwrap();
    candidates.edit("c", |t| t.tree().set(&path("/a/item/leaf"), 2)).unwrap();
    let committed = candidates.commit("c", &CandidateCommit::default()).unwrap();
    repository.transact(|t| t.take_back(committed.position)).unwrap();
    assert_eq!(leaf(&repository, "/a/item/leaf"), Some(1.into()));
}

/// Story: after "theirs" the edits of the candidate restored an instance that was live, so nobody could read it.
#[test]
fn a_candidate_that_was_taken_back_with_theirs_is_open_with_its_other_edits() {
    let repository = CheckedRepository::in_memory();
    create(&repository, "a", 1);
    let candidates = repository.candidates();
    candidates.open("c", "").unwrap();
    candidates
        .edit("c", |t| {
            t.create_entity(NewEntity::new("node").id("new")?.property("n", 1))?;
            t.update(&entity("a"), Patch::new().set("n", 2))
        })
        .unwrap();
    let how =
        CandidateCommit { confirm_within: Some(Duration::from_secs(600)), ..CandidateCommit::default() };
    candidates.commit("c", &how).unwrap();
    update(&repository, "new", "n", 7);
    let (TakenBack { stays, .. }, _) = candidates.take_back("c", Some(Keep::Theirs), "").unwrap();
    assert_eq!(stays.len(), 1);
    assert_eq!(
        (number(&repository, "a", "n"), number(&repository, "new", "n")),
        (Some(1.into()), Some(7.into()))
    );
    let view = candidates.view("c").unwrap();
    assert_eq!(view.entity(&id("a")).unwrap().unwrap().property("n"), Some(2.into()));
    candidates.commit("c", &CandidateCommit::default()).unwrap();
    assert_eq!(number(&repository, "new", "n"), Some(7.into()));
}

/// The relationship that contains an entity.
fn containing(repository: &Repository, child: &Id) -> InstanceId {
    let snapshot = repository.snapshot();
    let link = snapshot.neighbors(child, Direction::In, None).unwrap().next().unwrap().unwrap();
    link.relationship.instance_id()
}

/// Story: a record changed an item; others set a value of the relationship that contains it; the take-back removed it.
#[test]
fn a_value_that_others_gave_to_the_relationship_of_an_item_stays() {
    let (repository, item) = with_containers();
    let changed = set(&repository, "/a/item/leaf", 2);
    let link = containing(&repository, &item);
    repository.transact(|t| t.update(&link, Patch::new().set("note", "theirs"))).unwrap();
    repository.transact(|t| t.take_back(changed)).unwrap();
    assert_eq!(leaf(&repository, "/a/item/leaf"), Some(1.into()));
    let found = repository.snapshot().relationship(link.id()).unwrap().unwrap().property("note");
    assert_eq!(found, Some("theirs".into()));
}

/// Story: a record took an item out of its container; others placed it anew; the take-back overwrote their relationship.
#[test]
fn an_item_that_others_placed_anew_is_a_conflict() {
    let (repository, item) = with_containers();
    let link = containing(&repository, &item);
    let (type_name, from) = {
        let snapshot = repository.snapshot();
        let found = snapshot.relationship(link.id()).unwrap().unwrap();
        (found.type_name().to_owned(), found.from().clone())
    };
    let (_, removed) = repository.transact(|t| t.delete(&link)).unwrap();
    let again = NewRelationship::new(&type_name, from, item.clone()).property("name", "anew");
    repository.transact(|t| t.create_relationship(again.clone())).unwrap();
    assert_refused(&repository, removed.position, "placed it in another container");
    assert_eq!(leaf(&repository, "/a/anew/leaf"), Some(1.into()));
}

/// Story: a record created an item in a container and deleted the container; the take-back left the item there.
#[test]
fn a_container_returns_without_what_its_record_created_in_it() {
    let (repository, _) = with_containers();
    let (_, both) = repository
        .transact(|t| {
            t.tree().set(&path("/a/new/below/leaf"), 2)?;
            t.tree().delete(&path("/a"))
        })
        .unwrap();
    assert_eq!(leaf(&repository, "/a/item/leaf"), None);
    repository.transact(|t| t.take_back(both.position)).unwrap();
    assert_eq!(leaf(&repository, "/a/item/leaf"), Some(1.into()));
    assert!(repository.snapshot().tree().item(&path("/a/new")).unwrap().is_none());
    assert_eq!(leaf(&repository, "/a/new/below/leaf"), None);
}

/// Story: a random history moved an item into a container, and deleted both; the container was new in the same records.
#[test]
fn an_item_returns_from_a_new_container_that_was_deleted_with_it() {
    let (repository, item) = with_containers();
    let first = set(&repository, "/new/leaf", 1);
    move_item(&repository, "/a/item", "/new/item");
    let new = repository.snapshot().tree().item(&path("/new")).unwrap().unwrap().entity.instance_id();
    let (_, last) = repository.transact(|t| t.delete(&new)).unwrap();
    repository.transact(|t| t.take_back_all(first..=last.position, None)).unwrap();
    let snapshot = repository.snapshot();
    let found = snapshot.tree().item(&path("/a/item")).unwrap().expect("it is back");
    assert_eq!((found.entity.id(), leaf(&repository, "/a/item/leaf")), (&item, Some(1.into())));
    assert!(snapshot.tree().item(&path("/new")).unwrap().is_none());
    // Its relationship went with the container, so it has another one.
}
