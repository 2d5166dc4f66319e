//! Changes of trees by writers with grants: those of a smaller graph, in which everything hidden stays as it is.

use std::sync::Arc;

use annals::*;

use crate::support::access::{self, CANARY, commit, grant, open_rights, rights, secret};
use crate::support::named::{entity, id};
use crate::support::trees::{declare_lists, path};

fn item(name: &str, n: i64) -> Item {
    Item { id: Some(id(name)), ..Item::new().property("n", n) }
}

fn listed(k: i64) -> Item {
    Item::new().property("k", k)
}

/// Creates an item that is hidden, with everything below it.
fn hide(t: &mut Transaction, at: &str, hidden: Item) -> Result<()> {
    let created = t.tree().create(&path(at), &hidden)?;
    t.classify(&created, secret())
}

/// Items `a`, with a list and `b` in it, and `d`, with and without something hidden in them.
fn repository(has_hidden: bool) -> Repository {
    let repository = Repository::in_memory();
    declare_lists(&repository);
    commit(&repository, |t| {
        t.tree().merge(&path("/a"), &item("a", 1).child("b", item("b", 2).child("c", item("c", 3))))?;
        t.tree().merge(&path("/d"), &item("d", 4))?;
        for k in [1, 3] {
            t.tree().create(&path(&format!("/a/usr-lst[k='{k}']")), &Item::new().property("l", "open"))?;
        }
        Ok(())
    });
    commit(&repository, |t| {
        if !has_hidden {
            return t.create_entity(NewEntity::new("annals.Note")).map(drop);
        }
        hide(t, "/CANARY", item("CANARY-top", 1))?;
        hide(t, "/a/CANARY", item("CANARY-in", 1).property("text", CANARY))?;
        hide(t, "/a/CANARY/x", item("CANARY-x", 1))?;
        hide(t, "/d/CANARY", item("CANARY-d", 1))?;
        for k in [2, 9] {
            hide(t, &format!("/a/usr-lst[k='{k}']"), Item::new().property("l", CANARY))?;
        }
        Ok(())
    });
    repository
}

fn limited<T>(
    repository: &Repository,
    rights: &Arc<Rights>,
    mut work: impl FnMut(&mut TreeEdit<'_>) -> Result<T>,
) -> Result<T> {
    let outcome = access::limited(repository, rights, |t| work(&mut t.tree()));
    outcome.map(|(result, _)| result)
}

/// A tree without the ids, which are random.
fn shape(item: &Item) -> String {
    let children = item.children.iter().map(|branch| format!("{}: {}", branch.name, shape(&branch.item)));
    let mut properties: Vec<_> = item.properties.iter().map(|known| format!("{known:?}")).collect();
    properties.sort();
    format!("{:?} {properties:?} {{{}}}", item.type_name, children.collect::<Vec<_>>().join(", "))
}

/// The tree that the writer sees.
fn seen(repository: &Repository) -> String {
    let snapshot = repository.snapshot().seen_by(open_rights().sight()).unwrap();
    shape(&snapshot.tree().get(&TreePath::root(), None).unwrap().unwrap())
}

/// All hidden instances, with their versions and their places.
fn hidden(repository: &Repository) -> Vec<String> {
    let whole = repository.snapshot();
    let all = whole.entities_of(None).map(Result::unwrap);
    let secret = all.filter(|entity| entity.classification("secret").is_some());
    let place = |of: &Id| {
        whole
            .neighbors(of, Direction::In, None)
            .unwrap()
            .map(|found| found.unwrap().relationship.revision())
            .collect::<Vec<_>>()
    };
    secret.map(|entity| format!("{} {:?} {:?}", entity.id(), entity.revision(), place(entity.id()))).collect()
}

fn step(k: i64) -> TreeStep {
    TreeStep::named("usr-lst").with_keys([("k".into(), k.into())])
}

type Edit<'e> = &'e dyn Fn(&mut TreeEdit<'_>) -> Result<()>;

fn at(position: u64) -> AsOf {
    AsOf { position: Some(Position(position)), ..AsOf::default() }
}

#[test]
fn a_writer_changes_the_tree_that_it_sees() {
    let edits: [(&str, Edit); 29] = [
        ("merge", &|t| t.merge(&path("/a/new/deep"), &Item::new().property("n", 1)).map(drop)),
        ("put", &|t| t.put(&path("/a"), &Item::new().property("n", 5)).map(drop)),
        ("put b", &|t| t.put(&path("/a"), &Item::new().child("b", Item::new())).map(drop)),
        ("put list", &|t| {
            t.put(&path("/a"), &Item::new().listed("usr-lst", listed(3)).listed("usr-lst", listed(1)))
                .map(drop)
        }),
        ("replace", &|t| t.replace(&path("/a/b"), &Item::new().property("n", 5)).map(drop)),
        ("replace hidden", &|t| t.replace(&path("/a/CANARY"), &Item::new()).map(drop)),
        ("set", &|t| t.set(&path("/a/n"), 8)),
        ("property", &|t| t.create_property(&path("/a/CANARY"), 8)),
        ("delete property", &|t| t.delete(&path("/a/n"))),
        ("replace property", &|t| t.replace_property(&path("/a/CANARY/text"), 1)),
        ("delete", &|t| t.delete(&path("/a/b"))),
        ("delete list", &|t| t.delete(&path("/a/usr-lst"))),
        ("delete hidden", &|t| t.delete(&path("/a/CANARY"))),
        ("delete hidden item", &|t| t.delete(&path("/a/usr-lst[k='2']"))),
        ("remove hidden", &|t| t.remove(&path("/a/CANARY/x")).map(|found| assert!(!found))),
        ("move", &|t| t.move_to(&path("/a/b"), &path("/d/b"), None)),
        ("rename", &|t| t.move_to(&path("/a/b"), &path("/a/bb"), None)),
        ("move hidden", &|t| t.move_to(&path("/a/CANARY"), &path("/free"), None)),
        ("move below hidden", &|t| t.move_to(&path("/a/b"), &path("/a/CANARY/b"), None)),
        ("copy", &|t| t.copy(&path("/a"), &path("/e")).map(drop)),
        ("copy hidden", &|t| t.copy(&path("/a/CANARY"), &path("/e")).map(drop)),
        ("insert", &|t| {
            let place = Insert::Before(step(3));
            t.insert(&path("/a/usr-lst[k='7']"), &Item::new(), &place).map(drop)
        }),
        ("insert beside hidden", &|t| {
            let place = Insert::After(step(2));
            t.insert(&path("/a/usr-lst[k='7']"), &Item::new(), &place).map(drop)
        }),
        ("revert", &|t| t.revert(&path("/a"), at(2))),
        ("revert hidden", &|t| t.revert(&path("/a/CANARY"), at(3))),
        ("revert to nothing", &|t| t.revert(&path("/a/b"), at(1))),
        ("revert all", &|t| t.revert(&TreePath::root(), at(4))),
        ("restore", &|t| t.restore(&path("/gone"), at(4)).map(drop)),
        ("restore hidden", &|t| t.restore(&path("/a/CANARY"), at(3)).map(drop)),
    ];
    for (name, edit) in edits {
        let told = [true, false].map(|has_hidden| {
            let repository = repository(has_hidden);
            // Records 4 and 5, so that there is something to revert and to restore.
            commit(&repository, |t| {
                t.tree().set(&path("/a/n"), 7)?;
                t.tree().create(&path("/gone"), &Item::new().property("n", 9)).map(drop)
            });
            commit(&repository, |t| t.tree().delete(&path("/gone")));
            assert_eq!(
                repository.snapshot().position(),
                Position(5),
                "the records are those that the edits name"
            );
            let before = hidden(&repository);
            let outcome = limited(&repository, &open_rights(), edit);
            assert_eq!(hidden(&repository), before, "{name}");
            assert_eq!(before.is_empty(), !has_hidden);
            (outcome.map_err(|error| (error.kind(), error.to_string())), seen(&repository))
        });
        assert_eq!(told[0], told[1], "{name}");
        assert!(!told[0].1.contains(CANARY) || name == "property", "{name}: {}", told[0].1);
    }
}

fn refused(repository: &Repository, rights: &Arc<Rights>, edit: Edit) -> (ErrorKind, String) {
    let error = limited(repository, rights, edit).unwrap_err();
    (error.kind(), error.to_string())
}

#[test]
fn nothing_hidden_moves_or_goes_along() {
    let edits: [(&str, Edit); 6] = [
        ("delete", &|t| t.delete(&path("/d"))),
        ("move", &|t| t.move_to(&path("/d"), &path("/a/d"), None)),
        ("put", &|t| t.put(&TreePath::root(), &Item::new().child("a", Item::new())).map(drop)),
        ("revert", &|t| t.revert(&path("/d"), at(1))),
        ("restore", &|t| t.restore(&path("/away"), at(4)).map(drop)),
        ("revert restored", &|t| t.revert(&path("/away"), at(4))),
    ];
    for (name, edit) in edits {
        let repository = repository(true);
        // Records 4 and 5: a page is deleted with something hidden in it.
        commit(&repository, |t| {
            t.tree().create(&path("/away"), &Item::new().property("n", 9))?;
            hide(t, "/away/CANARY", item("CANARY-away", 1))
        });
        commit(&repository, |t| t.tree().delete(&path("/away")));
        let (position, before) = (repository.snapshot().position(), seen(&repository));
        let (kind, text) = refused(&repository, &open_rights(), edit);
        assert_eq!(kind, ErrorKind::Refused, "{name}: {text}");
        assert!(!text.contains(CANARY), "{name}: {text}");
        assert_eq!((repository.snapshot().position(), seen(&repository)), (position, before), "{name}");
    }
}

#[test]
fn a_name_that_something_hidden_has_is_taken() {
    let edits: [(&str, Edit); 5] = [
        ("merge", &|t| t.merge(&path("/a/CANARY"), &Item::new()).map(drop)),
        ("below", &|t| t.create(&path("/a/CANARY/new"), &Item::new()).map(drop)),
        ("put", &|t| t.put(&path("/a"), &Item::new().child(CANARY, Item::new())).map(drop)),
        ("move", &|t| t.move_to(&path("/a/b"), &path("/CANARY"), None)),
        ("copy", &|t| t.copy(&path("/a/b"), &path("/a/usr-lst[k='2']")).map(drop)),
    ];
    for (name, edit) in edits {
        let repository = repository(true);
        let before = hidden(&repository);
        let (kind, text) = refused(&repository, &open_rights(), edit);
        assert!(
            matches!(kind, ErrorKind::NotUnique | ErrorKind::InvalidArgument),
            "{name}: {kind:?}: {text}"
        );
        assert_eq!(hidden(&repository), before, "{name}");
    }
}

/// An order beyond that of a hidden item told that there is one.
#[test]
fn a_new_place_in_a_list_tells_nothing_of_hidden_items() {
    let repository = repository(true);
    commit(&repository, |t| {
        (100..300).try_for_each(|k| hide(t, &format!("/a/usr-lst[k='{k}']"), Item::new()))
    });
    let order = |k: i64| {
        let snapshot = repository.snapshot();
        let found = snapshot.tree().item(&path(&format!("/a/usr-lst[k='{k}']"))).unwrap().unwrap();
        let contained =
            snapshot.neighbors(found.entity.id(), Direction::In, None).unwrap().next().unwrap().unwrap();
        contained.relationship.property("order").unwrap()
    };
    for (k, place) in [(4, None), (5, Some(Insert::Last)), (6, Some(Insert::After(step(5))))] {
        limited(&repository, &open_rights(), |t| match &place {
            None => t.create(&path(&format!("/a/usr-lst[k='{k}']")), &Item::new()),
            Some(place) => t.insert(&path(&format!("/a/usr-lst[k='{k}']")), &Item::new(), place),
        })
        .unwrap();
        let (Value::Bytes(new), Value::Bytes(last)) = (order(k), order(299)) else {
            panic!("orders are bytes")
        };
        assert!(new < last, "{k}");
    }
}

/// Reads all, and changes what is below `own`.
fn below_own() -> Arc<Rights> {
    let (all, own) = (grant("* where not classified secret", None), grant("*", Some("own")));
    Arc::new(Rights::new(&[(all, Vec::new()), (own, Right::ALL.to_vec())]).unwrap())
}

/// A page that a writer puts into its own container would be its own; one that it takes out of it would be that of others.
#[test]
fn a_move_takes_nothing_and_gives_nothing_away() {
    let repository = Repository::in_memory();
    commit(&repository, |t| {
        t.tree().create(
            &path("/own"),
            &item("own", 1).child("in", item("in", 1).child("deep", item("deep", 1))),
        )?;
        t.tree().create(&path("/theirs"), &item("theirs", 2).child("page", item("page", 2)))?;
        t.create_entity(NewEntity::new("page").id("free")?).map(drop)
    });
    let rights = below_own();
    let refused = |work: &dyn Fn(&mut Transaction) -> Result<()>| {
        let outcome = repository.transact(|t| {
            t.limit_to(&rights)?;
            work(t).map(drop)
        });
        assert_eq!(outcome.unwrap_err().kind(), ErrorKind::Refused);
    };
    let contain = |from: &str, to: &str| {
        let contained = NewRelationship::new("contains", id(from), id(to)).property("name", "new");
        move |t: &mut Transaction| t.create_relationship(contained.clone()).map(drop)
    };
    refused(&|t| t.tree().move_to(&path("/theirs/page"), &path("/own/page"), None));
    refused(&|t| t.tree().move_to(&path("/own/in"), &path("/theirs/in"), None));
    refused(&|t| t.tree().copy(&path("/own/in"), &path("/theirs/in")).map(drop));
    refused(&contain("own", "free"));
    let contained = |name: &str| {
        let snapshot = repository.snapshot();
        let found = snapshot.neighbors(&id(name), Direction::In, None).unwrap().next().unwrap().unwrap();
        InstanceId::Relationship(found.relationship.id().clone())
    };
    refused(&|t| t.delete(&contained("in")));
    refused(&|t| t.relink(contained("page").id(), Some(&id("own")), None));
    // Its own pages move within its own container.
    limited(&repository, &rights, |t| t.move_to(&path("/own/in/deep"), &path("/own/deep"), None)).unwrap();
    limited(&repository, &rights, |t| t.copy(&path("/theirs/page"), &path("/own/copy"))).unwrap();
}

/// Another id would make a container the one that a grant names.
#[test]
fn an_entity_with_another_id_opens_nothing_below_it() {
    let repository = Repository::in_memory();
    commit(&repository, |t| {
        t.tree().create(&path("/mine"), &item("mine", 1).property("team", "own"))?;
        hide(t, "/mine/CANARY", item("CANARY-in", 1))
    });
    let rights = rights(&[("* where team = own", None), ("*", Some("own"))]);
    let outcome = repository.transact(|t| {
        t.limit_to(&rights)?;
        t.reidentify(&entity("mine"), &id("own"))
    });
    assert_eq!(outcome.unwrap_err().kind(), ErrorKind::Refused);
}

/// A container that a transaction moves below one that a grant names shows nothing more to the same transaction.
#[test]
fn a_transaction_does_not_read_what_its_own_changes_show() {
    let repository = Repository::in_memory();
    commit(&repository, |t| {
        t.tree().create(&path("/own"), &item("own", 1))?;
        t.tree().create(&path("/box"), &item("box", 1).property("team", "own"))?;
        hide(t, "/box/CANARY", item("CANARY-in", 1))
    });
    let team = "* where team = own or n = 1 and not classified secret";
    let rights = rights(&[(team, None), ("root", None), ("*", Some("own"))]);
    let mut t = repository.transaction();
    t.limit_to(&rights).unwrap();
    t.tree().move_to(&path("/box"), &path("/own/box"), None).unwrap();
    assert!(t.view().unwrap().entity(&id("CANARY-in")).unwrap().is_none());
    let update = t.update(&entity("CANARY-in"), Patch::new().set("n", 2));
    assert_eq!(update.unwrap_err().kind(), ErrorKind::NotFound);
    t.tree().copy(&path("/own/box"), &path("/own/copy")).unwrap();
    assert!(t.tree().copy(&path("/own/box/CANARY"), &path("/own/other")).is_err());
    assert!(t.view().unwrap().tree().get(&path("/own/copy/CANARY"), None).unwrap().is_none());
    assert_eq!(t.dry_run().err().unwrap().kind(), ErrorKind::Refused);
}

/// A page was secret once. A revert to that time would bring its secret text back.
#[test]
fn a_revert_brings_no_hidden_version_back() {
    let repository = Repository::in_memory();
    let replaced = |text: &str, classifications: Vec<ClassificationContent>| action::Replace {
        instance: entity("page"),
        properties: vec![("text".into(), text.into())],
        classifications: Some(classifications),
        provenance: None,
    };
    commit(&repository, |t| t.tree().create(&path("/in/page"), &item("page", 1)).map(drop));
    commit(&repository, |t| t.push_action(replaced(CANARY, vec![secret()])));
    commit(&repository, |t| t.push_action(replaced("clean", Vec::new())));
    for (at_path, then) in [("/in/page", 2), ("/in", 2), ("/in/page/text", 2)] {
        let outcome = limited(&repository, &open_rights(), |t| t.revert(&path(at_path), at(then)));
        let found = seen(&repository);
        assert!(!found.contains(CANARY), "{at_path}: {outcome:?}: {found}");
        let restored = limited(&repository, &open_rights(), |t| t.restore(&path("/in/page"), at(then)));
        assert!(restored.is_err(), "{at_path}");
        assert!(!seen(&repository).contains(CANARY), "{at_path}");
        // Of a time at which it was visible it comes back.
        limited(&repository, &open_rights(), |t| t.revert(&path("/in"), at(3))).unwrap();
        assert!(seen(&repository).contains("clean"), "{at_path}");
    }
}

/// An undo did not look at the valid time of the transaction.
#[test]
fn an_undo_writes_no_version_of_another_time() {
    let repository = Repository::in_memory();
    commit(&repository, |t| t.create_entity(NewEntity::new("page").id("own")?.property("n", 1)).map(drop));
    commit(&repository, |t| t.update(&entity("own"), Patch::new().set("n", 2)));
    for of_content in [true, false] {
        let outcome = repository.transact(|t| {
            t.limit_to(&open_rights())?;
            t.valid_from(Some("2000-01-01".parse()?));
            if of_content {
                t.undo_content(&entity("own"))?
            } else {
                t.undo(&entity("own"))?
            };
            Ok(())
        });
        assert_eq!(outcome.unwrap_err().kind(), ErrorKind::Refused);
    }
}
