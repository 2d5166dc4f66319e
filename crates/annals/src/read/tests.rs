//! Reads beyond the bounds of inner steps, which are small in tests: slower answers instead of errors.

use std::sync::Arc;

use crate::read::past::compare::INSTANCES_MAX;
use crate::read::{Grant, Sight, Watch};
use crate::{ErrorKind, Keep, NewEntity, Position, Repository, TAKEN_BACK_MAX};

/// Creates so many pages in one record.
fn create(repository: &Repository, count: usize) -> Position {
    let pages = |t: &mut crate::Transaction| {
        (0..count).try_for_each(|_| t.create_entity(NewEntity::new("page")).map(drop))
    };
    repository.transact(pages).expect("pages").1.position
}

/// Story: after an import of over a million instances, each read of each client with grants was refused as too large.
#[test]
fn a_sight_is_made_anew_after_more_changes_than_a_difference_may_have() {
    let repository = Repository::in_memory();
    create(&repository, 1);
    let sight = Arc::new(Sight::new(vec![Grant::default()]).expect("a sight"));
    let count = || {
        let seen = repository.snapshot().seen_by(&sight).expect("an answer");
        seen.entities_count()
    };
    assert_eq!(count(), 1);
    let from = repository.snapshot().position();
    let to = create(&repository, INSTANCES_MAX + 1);
    let refused = repository.snapshot().changes(from, to).err().expect("too many changes");
    assert_eq!(refused.kind(), ErrorKind::TooLarge);
    assert_eq!(count(), INSTANCES_MAX as u64 + 2);
    // A sight of which only a part has changed is brought up to date.
    create(&repository, 1);
    assert_eq!(count(), INSTANCES_MAX as u64 + 3);
}

#[test]
fn what_one_take_back_refuses_as_too_large_several_do() {
    let repository = Repository::in_memory();
    create(&repository, 1);
    let first = create(&repository, TAKEN_BACK_MAX / 2);
    let last = create(&repository, TAKEN_BACK_MAX);
    let refused =
        repository.transact(|t| t.take_back_all(first..=last, None).map(drop)).expect_err("too many");
    assert_eq!(refused.kind(), ErrorKind::TooLarge);
    assert!(refused.text().contains("take fewer records back at once, the latest first"), "{refused}");
    for position in [last, first] {
        repository.transact(|t| t.take_back_all(position..=position, Some(Keep::Mine))).expect("a take-back");
    }
    assert_eq!(repository.snapshot().entities_count(), 1);
}

/// Story: a watch ended with an error at a record of over a million instances.
#[test]
fn a_watch_says_to_read_again_after_a_record_with_too_many_changes() {
    let repository = Repository::in_memory();
    create(&repository, 1);
    let mut watch = repository.subscribe(Watch::entities_of("page"), None).expect("a watch");
    create(&repository, INSTANCES_MAX + 1);
    create(&repository, 1);
    let event = watch.poll().expect("an event").expect("the large record");
    assert!(event.read_again && event.changes.is_empty());
    let event = watch.poll().expect("an event").expect("the small record");
    assert!(!event.read_again && event.changes.len() == 1);
}
