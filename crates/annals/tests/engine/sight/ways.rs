//! Ways: paths lead through the containers above one that a grant names, and nothing else of these shows.

use std::sync::Arc;

use annals::*;

use crate::support::access::{CANARY, commit, limited, rights, secret, sight};
use crate::support::named::{entity, id};
use crate::support::trees::path;

fn item(name: &str) -> Item {
    Item { id: Some(id(name)), ..Item::new().property("text", format!("of {name}")) }
}

/// `/library/team/page`, where the library and the root have another child, and secrets.
fn library() -> Repository {
    let repository = Repository::in_memory();
    commit(&repository, |t| {
        t.author(CANARY);
        let team = item("team").child("page", item("page"));
        let library = Item { type_name: Some("shelf".into()), ..item("library") };
        let library = library.property("secret", CANARY).child("team", team).child(CANARY, item("other"));
        t.tree().merge(&path("/"), &Item::new().property("secret", CANARY).child("library", library))?;
        t.classify(&id("library"), secret())?;
        t.tree().merge(&path(&format!("/{CANARY}/deep")), &item("deep")).map(drop)
    });
    repository
}

fn of_team() -> Arc<Sight> {
    sight(&[("*", Some("team"))])
}

fn seen(repository: &Repository) -> Snapshot {
    repository.snapshot().seen_by(&of_team()).unwrap()
}

fn paths(found: &[TreeItem<'_>]) -> Vec<String> {
    found.iter().map(|item| item.path().unwrap().to_string()).collect()
}

#[test]
fn paths_lead_through_what_is_above_a_granted_container() {
    let repository = library();
    let seen = seen(&repository);
    let tree = seen.tree();
    let list = |at: &str| paths(&tree.list(&path(at), &ListOptions::default()).unwrap().unwrap().items);
    assert_eq!(list("/"), ["/library"]);
    assert_eq!(list("/library"), ["/library/team"]);
    assert_eq!(list("/library/team"), ["/library/team/page"]);
    assert_eq!(tree.count(&path("/library")).unwrap(), Some(1));
    assert_eq!(
        paths(&tree.find(&path("//*"), 9).unwrap()),
        ["/library", "/library/team", "/library/team/page"]
    );
    let text = tree.item(&path("/library/team/page/text")).unwrap().unwrap();
    assert_eq!((text.only_leads(), text.value()), (false, Some("of page".into())));
    assert_eq!(tree.path_of(&id("page")).unwrap(), Some(path("/library/team/page")));
    // Below another root it is the same.
    let below = seen.tree_below(&id("library"));
    assert_eq!(paths(&below.find(&path("/team"), 2).unwrap()), ["/team"]);
    // Entities beside the way are absent.
    for hidden in [format!("/{CANARY}"), format!("/library/{CANARY}"), format!("/{CANARY}/deep")] {
        assert!(tree.item(&path(&hidden)).unwrap().is_none(), "{hidden}");
        assert!(seen.tree_below(&id("other")).item(&path("/")).unwrap().is_none());
    }
}

#[test]
fn nothing_but_id_type_and_name_of_a_way_shows() {
    let repository = library();
    commit(&repository, |t| t.set_status(&entity("library"), "draft"));
    let seen = seen(&repository);
    let tree = seen.tree();
    let found = tree.item(&path("/library")).unwrap().unwrap();
    assert!(found.only_leads());
    assert_eq!((found.entity.id(), found.entity.type_name()), (&id("library"), "shelf"));
    assert_eq!(found.entity.properties().count(), 0);
    assert_eq!(found.entity.classifications().count(), 0);
    assert_eq!(
        (found.entity.status_name(), found.entity.position(), found.entity.birth()),
        ("active", Position::ZERO, Position::ZERO)
    );
    assert_eq!((found.entity.version(), found.entity.latest_version()), (0, 0));
    assert_eq!((found.entity.created().author, found.entity.updated().author), ("", ""));
    let whole = tree.get(&path("/"), None).unwrap().unwrap();
    assert!(!format!("{whole:?}").contains(CANARY), "{whole:?}");
    for asked in ["/library/secret", "/library/text", "/secret", "/*[secret='CANARY']", "/*[not(secret='x')]"]
    {
        let found = TreePath::parse(asked).and_then(|asked| tree.find(&asked, 9));
        assert!(
            found.as_ref().is_ok_and(Vec::is_empty),
            "{asked}: {found:?}",
            found = found.map(|found| paths(&found))
        );
    }
    assert_eq!(tree.state(&path("/library"), |_| {}).unwrap(), None);
    assert!(tree.state(&path("/library/team"), |_| {}).unwrap().is_some());
    // Every other read is as if it were absent.
    assert!(seen.entity(&id("library")).unwrap().is_none());
    assert!(seen.entity(&id(ROOT_ID)).unwrap().is_none());
    assert!(seen.versions(&entity("library"), 0, 9).is_err());
    assert_eq!((seen.entities_count(), seen.relationships_count()), (2, 1));
    assert_eq!(seen.neighbors(&id("team"), Direction::In, None).unwrap().count(), 0);
}

#[test]
fn the_past_shows_ways_of_now_with_their_names_of_then() {
    let repository = library();
    commit(&repository, |t| t.tree().move_to(&path("/library"), &path("/archive"), None));
    commit(&repository, |t| {
        t.tree().move_to(&path("/archive/team"), &path(&format!("/{CANARY}/team")), None)
    });
    let now = seen(&repository);
    assert!(now.tree().item(&path(&format!("/{CANARY}/team/page"))).unwrap().is_some());
    assert!(now.tree().item(&path("/archive")).unwrap().is_none());
    let at = |position| now.as_of(AsOf { position: Some(Position(position)), ..AsOf::default() }).unwrap();
    // The archive is no way any more.
    assert!(at(2).tree().item(&path("/archive/team")).unwrap().is_none());
    assert!(at(2).tree().item(&path("/")).unwrap().is_none());
    // The name and the place of now were others then.
    commit(&repository, |t| {
        t.tree().move_to(&path(&format!("/{CANARY}")), &path("/box"), None)?;
        t.tree().set(&path("/box/team/page/text"), "new")
    });
    let then = seen(&repository).as_of(AsOf { position: Some(Position(3)), ..AsOf::default() }).unwrap();
    assert!(then.tree().item(&path("/box")).unwrap().is_none());
    assert!(then.tree().item(&path(&format!("/{CANARY}"))).unwrap().unwrap().only_leads());
    let text = then.tree().item(&path(&format!("/{CANARY}/team/page/text"))).unwrap().unwrap();
    assert_eq!(text.value(), Some("of page".into()));
}

#[test]
fn a_way_has_no_events_and_what_it_leads_to_has_them() {
    let repository = library();
    let next = |after: u64| {
        let mut feed = repository.subscribe(Watch::tree("/").unwrap(), Some(Position(after))).unwrap();
        let event = feed.poll_in(&seen(&repository)).unwrap()?;
        let told = |change: &WatchedChange| match change {
            WatchedChange::Tree(TreeChange { path, kind, .. }) => {
                format!("{} {path}", format!("{kind:?}").split([' ', '(']).next().unwrap_or_default())
            }
            WatchedChange::Instance(other) => panic!("{other:?}"),
        };
        Some(event.changes.iter().map(told).collect::<Vec<_>>())
    };
    assert_eq!(next(0).unwrap(), ["Created /library/team", "Created /library/team/page"]);
    for change in ["library", ROOT_ID] {
        let position = repository.snapshot().position().0;
        commit(&repository, |t| t.update(&entity(change), Patch::new().set("secret", "other")));
        assert_eq!(next(position), None);
    }
    let position = repository.snapshot().position().0;
    commit(&repository, |t| t.tree().move_to(&path("/library"), &path("/archive"), None));
    assert_eq!(next(position), None);
    let position = repository.snapshot().position().0;
    commit(&repository, |t| t.tree().set(&path("/archive/team/page/text"), 1));
    assert_eq!(next(position).unwrap(), ["Modified /archive/team/page"]);
    let position = repository.snapshot().position().0;
    commit(&repository, |t| t.tree().move_to(&path("/archive/team"), &path("/archive/group"), None));
    assert_eq!(next(position), None);
    let position = repository.snapshot().position().0;
    commit(&repository, |t| t.tree().move_to(&path("/archive/group/page"), &path("/archive/group/p"), None));
    assert_eq!(next(position).unwrap(), ["Moved /archive/group/p"]);
}

#[test]
fn writers_change_what_a_way_leads_to_and_nothing_of_the_way() {
    let repository = library();
    let team = rights(&[("*", Some("team"))]);
    let edit = |work: &dyn Fn(&mut TreeEdit<'_>) -> Result<()>| {
        limited(&repository, &team, |t| work(&mut t.tree())).map(drop)
    };
    edit(&|t| t.merge(&path("/library/team/b"), &item("b")).map(drop)).unwrap();
    edit(&|t| t.set(&path("/library/team/b/text"), 2)).unwrap();
    edit(&|t| t.put(&path("/library/team"), &item("team").child("page", item("page"))).map(drop)).unwrap();
    edit(&|t| t.merge(&path("/library/team/b"), &item("b2")).map(drop)).unwrap();
    edit(&|t| t.move_to(&path("/library/team/b"), &path("/library/team/c"), None)).unwrap();
    edit(&|t| t.copy(&path("/library/team/c"), &path("/library/team/page/c")).map(drop)).unwrap();
    edit(&|t| t.revert(&path("/library/team/page"), AsOf { position: Some(Position(2)), ..AsOf::default() }))
        .unwrap();
    // A merge with nothing else of the way goes on to what it leads to.
    let library = Item::new().child("team", Item::new().property("n", 1));
    edit(&|t| t.merge(&path("/library"), &library).map(drop)).unwrap();
    edit(&|t| {
        t.put(&path("/library"), &Item::new().child("team", item("team").child("page", item("page"))))
            .map(drop)
    })
    .unwrap();
    let before = repository.snapshot().position();
    let secret = |value: &str| Item::new().property("secret", value);
    let refused: Vec<(&str, Result<()>)> = vec![
        ("equal", edit(&|t| t.merge(&path("/library"), &secret(CANARY)).map(drop))),
        ("other", edit(&|t| t.merge(&path("/library"), &secret("x")).map(drop))),
        ("root", edit(&|t| t.merge(&path("/"), &secret(CANARY)).map(drop))),
        ("property", edit(&|t| t.set(&path("/library/secret"), CANARY))),
        ("created", edit(&|t| t.create_property(&path("/library/secret"), CANARY))),
        ("beside", edit(&|t| t.merge(&path("/library/new"), &item("new")).map(drop))),
        ("hidden", edit(&|t| t.merge(&path(&format!("/library/{CANARY}")), &item("new")).map(drop))),
        ("left out", edit(&|t| t.put(&path("/library"), &Item::new()).map(drop))),
        ("away", edit(&|t| t.delete(&path("/library")))),
        ("moved", edit(&|t| t.move_to(&path("/library"), &path("/other"), None))),
        ("out", edit(&|t| t.move_to(&path("/library/team/page"), &path("/library/page"), None))),
        ("renamed", edit(&|t| t.move_to(&path("/library/team"), &path("/library/group"), None))),
        (
            "reverted",
            edit(&|t| t.revert(&path("/library"), AsOf { position: Some(Position(1)), ..AsOf::default() })),
        ),
        ("all", edit(&|t| t.revert(&path("/"), AsOf { position: Some(Position(1)), ..AsOf::default() }))),
    ];
    for (what, outcome) in refused {
        let error = outcome.expect_err(what);
        assert_eq!(error.kind(), ErrorKind::Refused, "{what}: {error}");
        assert!(!error.to_string().contains(CANARY), "{what}: {error}");
    }
    for absent in ["/library/secret", "/library/x"] {
        let error = edit(&|t| t.delete(&path(absent))).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound, "{absent}: {error}");
    }
    assert_eq!(repository.snapshot().position(), before);
}

/// A grant that admits nothing opens nothing.
#[test]
fn a_grant_without_anything_leads_nowhere() {
    let repository = library();
    for grant in [("nothing", "team"), ("*", "nowhere")] {
        let seen = repository.snapshot().seen_by(&sight(&[(grant.0, Some(grant.1))])).unwrap();
        assert!(seen.tree().item(&path("/")).unwrap().is_none(), "{grant:?}");
    }
    commit(&repository, |t| t.delete(&entity("team")));
    assert!(seen(&repository).tree().item(&path("/")).unwrap().is_none());
}

/// The container is one of what leads to the pages in it.
#[test]
fn a_container_that_no_grant_admits_leads_to_what_one_admits_in_it() {
    let repository = library();
    let shown = sight(&[("* where text = 'of page'", Some("team"))]);
    let seen = repository.snapshot().seen_by(&shown).unwrap();
    assert!(seen.tree().item(&path("/library/team")).unwrap().unwrap().only_leads());
    assert!(!seen.tree().item(&path("/library/team/page")).unwrap().unwrap().only_leads());
    assert_eq!(paths(&seen.tree().find(&path("/library/team/*"), 9).unwrap()), ["/library/team/page"]);
}
