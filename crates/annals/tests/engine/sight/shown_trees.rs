//! Feeds of trees under a sight: the changes of the tree that the reader sees.

use std::sync::Arc;

use annals::*;

use crate::support::access::{commit, secret, sight};
use crate::support::named::id;
use crate::support::trees::path;

fn item(name: &str) -> Item {
    Item { id: Some(id(name)), ..Item::new() }
}

/// The next event of a feed of the tree, as `sight` shows it.
fn next(repository: &Repository, sight: &Arc<Sight>, after: u64) -> Option<Vec<String>> {
    let mut feed = repository.subscribe(Watch::tree("/").unwrap(), Some(Position(after))).unwrap();
    let event = feed.poll_in(&repository.snapshot().seen_by(sight).unwrap()).unwrap()?;
    let told = |change: &WatchedChange| match change {
        WatchedChange::Tree(TreeChange { path, kind, .. }) => {
            let kind = format!("{kind:?}");
            format!("{} {path}", kind.split([' ', '(']).next().unwrap_or_default())
        }
        WatchedChange::Instance(other) => panic!("{other:?}"),
    };
    Some(event.changes.iter().map(told).collect())
}

/// The items below a page that is not secret any more had no event.
#[test]
fn an_item_that_becomes_visible_comes_with_everything_below_it() {
    let repository = Repository::in_memory();
    let open = sight(&[("* where not classified secret", None)]);
    commit(&repository, |t| t.tree().create(&path("/other"), &item("other")).map(drop));
    assert_eq!(next(&repository, &open, 0).unwrap(), ["Created /", "Created /other"]);
    // Records 2 to 4.
    commit(&repository, |t| {
        t.tree().create(&path("/box"), &item("box").child("in", item("in").child("deep", item("deep"))))?;
        t.classify(&id("box"), secret())
    });
    assert_eq!(next(&repository, &open, 1), None);
    commit(&repository, |t| t.set_status(&InstanceId::Entity(id("box")), "draft"));
    assert_eq!(next(&repository, &open, 1), None);
    commit(&repository, |t| t.declassify(&id("box"), "secret"));
    let created = ["Created /box", "Created /box/in", "Created /box/in/deep"];
    assert_eq!(next(&repository, &open, 1).unwrap(), created);
    // It is hidden again, and so is its past.
    commit(&repository, |t| t.classify(&id("box"), secret()));
    assert_eq!(next(&repository, &open, 1), None);
}

/// Grants name containers, so that a move shows items that nobody changed.
#[test]
fn a_move_below_a_container_of_a_grant_shows_what_it_contains() {
    let repository = Repository::in_memory();
    let shown = sight(&[("root", None), ("* where team = own", None), ("*", Some("library"))]);
    commit(&repository, |t| {
        t.tree().create(&path("/library"), &item("library"))?;
        let own = item("box").property("team", "own");
        t.tree().create(&path("/box"), &own.child("in", item("in").child("deep", item("deep")))).map(drop)
    });
    commit(&repository, |t| t.tree().move_to(&path("/box"), &path("/library/box"), None));
    let told = ["Moved /library/box", "Created /library/box/in", "Created /library/box/in/deep"];
    assert_eq!(next(&repository, &shown, 1).unwrap(), told);
}
