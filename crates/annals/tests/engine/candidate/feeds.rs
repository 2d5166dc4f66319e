//! Candidates in the feed of records.

use crate::support::named::id;
use annals::*;

/// A repository that began with a checkpoint left the edits out that a candidate has no more, and the one that wrote the
/// checkpoint showed them.
#[test]
fn feeds_before_and_after_a_checkpoint_show_the_same_edits() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("repository");
    let writer = Repository::open(&path).unwrap();
    let a = InstanceId::Entity(id("a"));
    let n = |value: i64| Patch::new().set("n", value);
    writer.transact(|t| t.create_entity(NewEntity::new("item").id("a")?.property("n", 0))).unwrap();
    let candidates = writer.candidates();
    candidates.open("c", "").unwrap();
    candidates.edit("c", |t| t.update(&a, n(1))).unwrap();
    candidates.edit("c", |t| t.update(&a, n(2))).unwrap();
    writer.transact(|t| t.update(&a, n(3))).unwrap();
    candidates.rebase("c", Some(Keep::Theirs), "").unwrap();
    let feed_of = |repository: &Repository| -> Vec<(Position, Record)> {
        let mut feed = repository.follow(Position::ZERO);
        std::iter::from_fn(|| feed.poll().unwrap()).collect()
    };
    writer.checkpoint().unwrap();
    let follower = Repository::open_with(&path, Options::read_only()).unwrap();
    assert_eq!(feed_of(&writer), feed_of(&follower));
}
