//! Trees of containers: what paths lead to, how items are created, merged, put, moved, copied and deleted, and in which order they
//! stand.

use crate::support::trees::{edit, path};
use crate::support::typed::kind_of;
use crate::support::{CheckedRepository, Random, declare_lists};
use annals::*;

/// A list ordered by two keys, and one that users order.
fn perf() -> CheckedRepository {
    let repository = CheckedRepository::in_memory();
    declare_lists(&repository);
    repository
}

fn item(number: i64) -> Item {
    Item::new()
        .property("k1", number)
        .property("k2", format!("str{number}"))
        .property("l", format!("l{number}"))
}

fn user_item(number: i64) -> Item {
    Item::new().property("k", number)
}

fn fill(repository: &Repository, numbers: impl Iterator<Item = i64>) -> Result<()> {
    let all = numbers.fold(Item::new(), |all, number| all.listed("lst", item(number)));
    edit(repository, |t| t.merge(&path("/cont"), &all)).map(|_| ())
}

fn value(repository: &Repository, text: &str) -> Option<Value> {
    repository.snapshot().tree().item(&path(text)).unwrap().and_then(|found| found.value())
}

fn keys(repository: &Repository) -> Vec<i64> {
    let snapshot = repository.snapshot();
    let options = ListOptions { limit: 100_000, ..ListOptions::default() };
    let page = snapshot.tree().list(&path("/cont/usr-lst"), &options).unwrap().unwrap();
    page.items.iter().map(|found| found.entity.property("k").unwrap().as_integer().unwrap()).collect()
}

#[test]
fn a_path_leads_to_items_and_properties_however_its_keys_are_written() -> Result<()> {
    let repository = perf();
    fill(&repository, 0..200)?;
    for text in [
        "/cont/lst[k1=7][k2='str7']/l",
        "/cont/lst[k2='str7'][k1='7']/l",
        "/cont/lst[k1='7' and k2='str7']/l",
        "/cont/lst[8]/l",
        "/cont/*[k1=7]/l",
        "//lst[l='l7']/l",
    ] {
        assert_eq!(value(&repository, text), Some(Value::from("l7")), "{text}");
    }
    let snapshot = repository.snapshot();
    let tree = snapshot.tree();
    let found = tree.item(&path("/cont/lst[k2='str7'][k1='7']"))?.unwrap();
    assert_eq!(found.path()?.to_string(), "/cont/lst[k1 = 7][k2 = 'str7']");
    assert_eq!(tree.path_of(found.entity.id())?.unwrap(), found.path()?);
    assert_eq!(tree.place(&found.path()?)?, Some(8));
    assert_eq!(tree.count(&path("/cont/lst"))?, Some(200));
    assert_eq!(tree.count(&path("/cont"))?, Some(200));
    assert!(tree.item(&path("/cont/lst[k1=7][k2='str8']"))?.is_none());
    assert!(tree.item(&path("/cont/none/l"))?.is_none());
    assert_eq!(kind_of(tree.item(&path("/cont/lst[k1 < 9]"))), ErrorKind::InvalidArgument);
    assert!(tree.explain(&path("/cont/lst[k2='a'][k1=1]/l")).is_look_up);
    assert!(!tree.explain(&path("/cont/lst[k1=1]/l")).is_look_up);
    let found = tree.find(&path("/cont/lst[k1 >= 10 and k1 < 20]/l"), 100)?;
    let values: Vec<Value> = found.iter().map(|found| found.value().unwrap()).collect();
    assert_eq!(values, (10..20).map(|k| Value::from(format!("l{k}"))).collect::<Vec<_>>());
    assert_eq!(tree.find(&path("//l"), 1000)?.len(), 200);
    assert_eq!(tree.find(&path("/cont/lst[last]/k1"), 9)?[0].value(), Some(Value::from(199)));
    Ok(())
}

#[test]
fn children_are_listed_in_order_page_by_page_in_either_direction() -> Result<()> {
    let repository = perf();
    // Ordered by number, not by text.
    fill(&repository, (0..1000).rev())?;
    edit(&repository, |t| t.merge(&path("/cont/a"), &Item::new()))?;
    let snapshot = repository.snapshot();
    for is_back in [false, true] {
        for text in ["/cont/lst", "/cont"] {
            let (mut found, mut after) = (Vec::new(), None);
            loop {
                let options = ListOptions { after, limit: 77, is_back, ..ListOptions::default() };
                let page = snapshot.tree().list(&path(text), &options)?.unwrap();
                found.extend(
                    page.items
                        .iter()
                        .map(|found| found.entity.property("k1").and_then(|key| key.as_integer())),
                );
                after = page.next;
                if after.is_none() {
                    break;
                }
            }
            let mut expected: Vec<Option<i64>> = (0..1000).map(Some).collect();
            if text == "/cont" {
                // Children with names of their own stand first.
                expected.insert(0, None);
            }
            if is_back {
                expected.reverse();
            }
            assert_eq!(found, expected, "{text} {is_back}");
        }
    }
    Ok(())
}

#[test]
fn create_fails_if_there_and_delete_if_missing() -> Result<()> {
    let repository = perf();
    let place = path("/cont/lst[k1=1][k2='a']");
    edit(&repository, |t| t.create(&place, &Item::new()))?;
    assert_eq!(kind_of(edit(&repository, |t| t.create(&place, &Item::new()))), ErrorKind::AlreadyExists);
    let leaf = path("/cont/lst[k1=1][k2='a']/l");
    edit(&repository, |t| t.create_property(&leaf, "x"))?;
    assert_eq!(kind_of(edit(&repository, |t| t.create_property(&leaf, "y"))), ErrorKind::AlreadyExists);
    edit(&repository, |t| t.set(&leaf, "y"))?;
    assert_eq!(value(&repository, "/cont/lst[k1=1][k2='a']/l"), Some(Value::from("y")));
    edit(&repository, |t| t.delete(&leaf))?;
    assert_eq!(kind_of(edit(&repository, |t| t.delete(&leaf))), ErrorKind::NotFound);
    assert!(!edit(&repository, |t| t.remove(&leaf))?);
    edit(&repository, |t| t.delete(&path("/cont/lst")))?;
    assert_eq!(kind_of(edit(&repository, |t| t.delete(&path("/cont/lst")))), ErrorKind::NotFound);
    assert_eq!(kind_of(edit(&repository, |t| t.replace(&place, &Item::new()))), ErrorKind::NotFound);
    edit(&repository, |t| t.delete(&path("/cont")))?;
    assert_eq!(kind_of(edit(&repository, |t| t.delete(&path("/")))), ErrorKind::InvalidArgument);
    Ok(())
}

// The tutorial of a configuration found it: the second put of a file took the defaults away.
#[test]
fn what_is_put_twice_keeps_the_defaults_of_its_types() -> Result<()> {
    let repository = perf();
    repository.transact(|t| {
        let mtu = AttributeDefinition::new("mtu", ValueType::Integer).default_value(1500);
        t.define_type(TypeDefinition::entity("card").attribute(mtu))
    })?;
    let card = Item::new().child("card", Item::new().property("speed", 10));
    edit(&repository, |t| t.put(&path("/c"), &card))?;
    let position = repository.snapshot().position();
    edit(&repository, |t| t.put(&path("/c"), &card))?;
    assert_eq!(repository.snapshot().position(), position);
    edit(&repository, |t| t.set(&path("/c/card/mtu"), 9000))?;
    edit(&repository, |t| t.put(&path("/c"), &card))?;
    assert_eq!(value(&repository, "/c/card/mtu"), Some(1500.into()));
    // A property that was removed on purpose stays removed: putting an item that was read changes nothing.
    edit(&repository, |t| t.delete(&path("/c/card/mtu")))?;
    let read = repository.snapshot().tree().get(&path("/c"), None)?.unwrap();
    edit(&repository, |t| t.put(&path("/c"), &read))?;
    assert_eq!(value(&repository, "/c/card/mtu"), None);
    Ok(())
}

#[test]
fn put_changes_what_differs_and_deletes_what_is_missing() -> Result<()> {
    let repository = perf();
    let tree = |numbers: &[i64], mtu: i64| {
        let all = numbers.iter().fold(Item::new(), |all, number| all.listed("lst", item(*number)));
        all.property("mtu", mtu).child("state", Item::new().property("up", true))
    };
    edit(&repository, |t| t.put(&path("/cont"), &tree(&[1, 2, 3], 1500)))?;
    let before = repository.snapshot();
    // Nothing differs: no record.
    edit(&repository, |t| t.put(&path("/cont"), &tree(&[1, 2, 3], 1500)))?;
    assert_eq!(repository.snapshot().position(), before.position());
    edit(&repository, |t| t.put(&path("/cont"), &tree(&[2, 3, 4], 9000)))?;
    let changes =
        repository.snapshot().changes_between(before.position(), repository.snapshot().position())?;
    assert_eq!(changes.len(), 5, "{changes:?}");
    let given = tree(&[2, 3, 4], 9000);
    let found = repository.snapshot().tree().get(&path("/cont"), None)?.unwrap();
    assert_eq!(found.children.len(), 4);
    assert_eq!(found.get("mtu"), given.get("mtu"));
    edit(&repository, |t| t.merge(&path("/cont"), &Item::new().property("mtu", 1)))?;
    assert_eq!(repository.snapshot().tree().get(&path("/cont"), Some(0))?.unwrap().children.len(), 0);
    assert_eq!(repository.snapshot().tree().count(&path("/cont"))?, Some(4));
    edit(&repository, |t| t.replace(&path("/cont/state"), &Item::new().property("down", true)))?;
    assert_eq!(
        (value(&repository, "/cont/state/up"), value(&repository, "/cont/state/down")),
        (None, Some(true.into()))
    );
    Ok(())
}

#[test]
fn users_order_a_list_by_inserting_and_moving() -> Result<()> {
    let repository = perf();
    let at = |number: i64| path(&format!("/cont/usr-lst[k={number}]"));
    let step = |number: i64| at(number).steps[1].clone();
    for number in [5, 1, 3] {
        edit(&repository, |t| t.merge(&at(number), &Item::new()))?;
    }
    assert_eq!(keys(&repository), [5, 1, 3]);
    edit(&repository, |t| t.insert(&at(9), &Item::new(), &Insert::First))?;
    edit(&repository, |t| t.insert(&at(8), &Item::new(), &Insert::After(step(5))))?;
    edit(&repository, |t| t.insert(&at(7), &Item::new(), &Insert::Before(step(3))))?;
    assert_eq!(keys(&repository), [9, 5, 8, 1, 7, 3]);
    let before = repository.snapshot();
    edit(&repository, |t| t.move_to(&at(9), &at(9), Some(&Insert::Last)))?;
    edit(&repository, |t| t.insert(&at(3), &Item::new(), &Insert::First))?;
    assert_eq!(keys(&repository), [3, 5, 8, 1, 7, 9]);
    assert_eq!(repository.snapshot().tree().place(&at(8))?, Some(3));
    // As of before, the order is that of before.
    let then = repository.snapshot().as_of(AsOf { position: Some(before.position()), ..AsOf::default() })?;
    let page = then.tree().list(&path("/cont/usr-lst"), &ListOptions::default())?.unwrap();
    let found: Vec<i64> =
        page.items.iter().map(|found| found.entity.property("k").unwrap().as_integer().unwrap()).collect();
    assert_eq!(found, [9, 5, 8, 1, 7, 3]);
    assert_eq!(then.tree().place(&at(8))?, Some(3));
    // A whole list is put into the order that is given, with few moves.
    let put = [1, 3, 5, 8, 7, 9, 2]
        .into_iter()
        .fold(Item::new(), |all, number| all.listed("usr-lst", user_item(number)));
    let position = repository.snapshot().position();
    edit(&repository, |t| t.put(&path("/cont"), &put))?;
    assert_eq!(keys(&repository), [1, 3, 5, 8, 7, 9, 2]);
    let changes = repository.snapshot().changes_between(position, repository.snapshot().position())?;
    assert_eq!(changes.len(), 3, "one moved, and one created: {changes:?}");
    let lost = edit(&repository, |t| t.insert(&at(1), &Item::new(), &Insert::After(step(77))));
    assert_eq!(kind_of(lost), ErrorKind::NotFound);
    fill(&repository, 0..1)?;
    let keyed =
        edit(&repository, |t| t.insert(&path("/cont/lst[k1=1][k2='a']"), &Item::new(), &Insert::First));
    assert_eq!(kind_of(keyed), ErrorKind::InvalidArgument);
    Ok(())
}

#[test]
fn an_item_moves_with_all_below_it_and_is_copied() -> Result<()> {
    let repository = perf();
    let inner = Item::new().property("x", 1).child("leaf", Item::new().property("y", 2));
    for name in ["/a/p", "/a/q", "/b/p"] {
        edit(&repository, |t| t.merge(&path(name), &inner))?;
    }
    let id = repository.snapshot().tree().item(&path("/a/p"))?.unwrap().entity.id().clone();
    // Both names are taken on the way: `q` here, `p` there.
    edit(&repository, |t| t.move_to(&path("/a/p"), &path("/b/q"), None))?;
    assert_eq!(repository.snapshot().tree().path_of(&id)?.unwrap().to_string(), "/b/q");
    assert_eq!(value(&repository, "/b/q/leaf/y"), Some(2.into()));
    assert_eq!(
        kind_of(edit(&repository, |t| t.move_to(&path("/b/q"), &path("/b/p"), None))),
        ErrorKind::AlreadyExists
    );
    assert_eq!(
        kind_of(edit(&repository, |t| t.move_to(&path("/b"), &path("/b/q/b"), None))),
        ErrorKind::InvalidEnds
    );
    assert_eq!(
        kind_of(edit(&repository, |t| t.move_to(&path("/c"), &path("/d"), None))),
        ErrorKind::NotFound
    );
    assert_eq!(
        kind_of(edit(&repository, |t| t.move_to(&path("/b/q"), &path("/none/q"), None))),
        ErrorKind::NotFound
    );
    edit(&repository, |t| t.copy(&path("/b"), &path("/c")))?;
    assert_eq!(value(&repository, "/c/q/leaf/y"), Some(2.into()));
    assert_eq!(kind_of(edit(&repository, |t| t.copy(&path("/b"), &path("/c")))), ErrorKind::AlreadyExists);
    fill(&repository, 1..3)?;
    edit(&repository, |t| {
        t.move_to(&path("/cont/lst[k1=1][k2='str1']"), &path("/cont/lst[k1=9][k2='z']"), None)
    })?;
    assert_eq!(value(&repository, "/cont/lst[k1=9][k2='z']/l"), Some("l1".into()));
    edit(&repository, |t| t.copy(&path("/cont/lst[k1=9][k2='z']"), &path("/c/lst[k1=3][k2='z']")))?;
    assert_eq!(value(&repository, "/c/lst[k1=3][k2='z']/l"), Some("l1".into()));
    Ok(())
}

#[test]
fn what_fits_no_tree_is_refused_and_changes_nothing() -> Result<()> {
    let repository = perf();
    fill(&repository, 0..2)?;
    let before = repository.snapshot().position();
    let twice = Item::new().listed("lst", item(7)).listed("lst", item(7));
    let refused = [
        edit(&repository, |t| t.merge(&path("/cont"), &twice)).map(|_| ()),
        edit(&repository, |t| t.merge(&path("/cont/lst"), &Item::new())).map(|_| ()),
        edit(&repository, |t| t.merge(&path("/cont/lst[k1=1]"), &Item::new())).map(|_| ()),
        edit(&repository, |t| t.merge(&path("/cont/x[k1=1]"), &Item::new())).map(|_| ()),
        edit(&repository, |t| t.merge(&path("/cont"), &Item::new().child("lst", Item::new()))).map(|_| ()),
        edit(&repository, |t| t.merge(&path("/cont"), &Item::new().listed("x", Item::new()))).map(|_| ()),
        edit(&repository, |t| t.merge(&path("/cont//x"), &Item::new())).map(|_| ()),
        edit(&repository, |t| t.set(&path("/"), 1)).map(|_| ()),
        edit(&repository, |t| t.set(&path("/cont/x[1]"), 1)).map(|_| ()),
        edit(&repository, |t| t.set(&path("/cont//x"), 1)).map(|_| ()),
        edit(&repository, |t| t.merge(&path("/cont/lst[k1=1][k2='str1']"), &Item::new().property("k1", 2)))
            .map(|_| ()),
    ];
    for refused in refused {
        assert_eq!(kind_of(refused), ErrorKind::InvalidArgument);
    }
    let wrong = edit(&repository, |t| t.merge(&path("/cont/lst[k1='x'][k2='a']"), &Item::new()));
    assert_eq!(kind_of(wrong), ErrorKind::InvalidProperty);
    assert_eq!(repository.snapshot().position(), before);
    // A slash in a name is a character like any other, in quotes.
    edit(&repository, |t| t.merge(&path("/cont/'a/b'"), &Item::new().property("x", 1)))?;
    assert_eq!(value(&repository, "/cont/'a/b'/x"), Some(1.into()));
    Ok(())
}

/// The relationship that contains a moved item still knew the parent before, and went with it when that was purged.
#[test]
fn an_item_that_was_moved_stays_when_the_parent_before_is_purged() -> Result<()> {
    let repository = perf();
    fill(&repository, 1..3)?;
    edit(&repository, |t| t.merge(&path("/old/item/leaf"), &Item::new().property("x", 1)))?;
    edit(&repository, |t| t.merge(&path("/new"), &Item::new()))?;
    edit(&repository, |t| t.move_to(&path("/old/item"), &path("/new/item"), None))?;
    edit(&repository, |t| {
        t.move_to(&path("/cont/lst[k1=1][k2='str1']"), &path("/new/lst[k1=2][k2='str2']"), None)
    })?;
    for old in ["/old", "/cont"] {
        let id = repository.snapshot().tree().item(&path(old))?.unwrap().entity.id().clone();
        repository.transact(|t| t.purge(&InstanceId::Entity(id.clone())))?;
    }
    assert_eq!(value(&repository, "/new/item/leaf/x"), Some(1.into()));
    assert_eq!(value(&repository, "/new/lst[k1=2][k2='str2']/l"), Some("l1".into()));
    Ok(())
}

/// Later steps of a transaction find the items that it created, also if it has only created items so far.
#[test]
fn a_transaction_sees_the_items_that_it_created() -> Result<()> {
    let repository = perf();
    edit(&repository, |t| t.merge(&path("/cont"), &Item::new()))?;
    edit(&repository, |t| {
        for k in 0..50 {
            t.set(&path(&format!("/cont/lst[k1={k}][k2='a']/l")), format!("{k}"))?;
            t.set(&path(&format!("/cont/usr-lst[k={k}]/l")), "x")?;
            t.merge(&path("/cont/in/there"), &Item::new().property("n", k))?;
        }
        t.set(&path("/cont/lst[k1=7][k2='a']/l"), "again")?;
        t.create(&path("/cont/lst[k1=50][k2='a']"), &Item::new())?;
        let twice = t.create(&path("/cont/lst[k1=50][k2='a']"), &Item::new());
        assert_eq!(kind_of(twice), ErrorKind::AlreadyExists);
        t.insert(&path("/cont/usr-lst[k=49]"), &Item::new(), &Insert::First)?;
        t.delete(&path("/cont/usr-lst[k=48]"))?;
        t.set(&path("/cont/usr-lst[k=48]/l"), "back")?;
        t.merge(&path("/cont/in/there"), &Item::new().property("m", 1))
    })?;
    let expected: Vec<i64> = std::iter::once(49).chain(0..49).collect();
    assert_eq!(keys(&repository), expected);
    assert_eq!(value(&repository, "/cont/lst[k1=7][k2='a']/l"), Some("again".into()));
    assert_eq!(value(&repository, "/cont/usr-lst[k=48]/l"), Some("back".into()));
    assert_eq!(
        (value(&repository, "/cont/in/there/n"), value(&repository, "/cont/in/there/m")),
        (Some(49.into()), Some(1.into()))
    );
    assert_eq!(repository.snapshot().tree().count(&path("/cont/lst"))?, Some(51));
    Ok(())
}

/// Story: a cursor that had only the bytes that every cursor has made the list panic.
#[test]
fn garbage_in_place_of_a_cursor_is_refused_or_goes_on_somewhere() -> Result<()> {
    let repository = perf();
    fill(&repository, 0..5)?;
    for number in 0..5 {
        edit(&repository, |t| t.merge(&path(&format!("/cont/usr-lst[k={number}]")), &user_item(number)))?;
        edit(&repository, |t| t.merge(&path(&format!("/cont/own{number}")), &Item::new()))?;
    }
    let now = repository.snapshot();
    let before = Position(now.position().0 - 1);
    let then = now.as_of(AsOf { position: Some(before), ..AsOf::default() })?;
    let first =
        now.tree().list(&path("/cont"), &ListOptions { limit: 1, ..ListOptions::default() })?.unwrap();
    let cursor = first.next.unwrap();
    let mut random = Random(11);
    for _ in 0..4_000 {
        // The digits of the graph and of the order; of the position, too; of the group, too; of the list in it, too.
        let kept = *random.choose(&[16, 32, 40, 42]);
        let added = 2 * random.below(24);
        let digits = (0..added).map(|_| *random.choose(&['0', '0', '1', '7', 'f']));
        let after: String = cursor.chars().take(kept).chain(digits).collect();
        let snapshot = *random.choose(&[&now, &then]);
        let at = path(random.choose::<&str>(&["/cont", "/cont/lst", "/cont/usr-lst"]));
        let is_short = after.len() < 42;
        let options =
            ListOptions { after: Some(after.clone()), is_back: random.one_in(2), ..ListOptions::default() };
        match snapshot.tree().list(&at, &options) {
            Ok(page) => assert!(!is_short && page.unwrap().items.len() <= 15, "{at} after {after}"),
            Err(error) => {
                assert_eq!((error.kind(), is_short), (ErrorKind::InvalidPage, true), "{at} after {after}")
            }
        }
    }
    Ok(())
}

/// A second change was compared with the item as it was before the transaction, and left out if it was equal to that.
#[test]
fn a_transaction_that_changes_an_item_and_changes_it_back_leaves_it_as_it_was() -> Result<()> {
    type Change = fn(&mut TreeEdit<'_>) -> Result<()>;
    let repository = perf();
    fill(&repository, 0..2)?;
    let l = "/cont/lst[k1=1][k2='str1']/l";
    let listed = || path("/cont/lst[k1=1][k2='str1']");
    let changes: [(&str, Change); 5] = [
        ("set", |t| t.set(&path("/cont/lst[k1=1][k2='str1']/l"), "l1")),
        ("merge", |t| t.merge(&path("/cont/lst[k1=1][k2='str1']"), &item(1)).map(drop)),
        ("put", |t| t.put(&path("/cont/lst[k1=1][k2='str1']"), &item(1)).map(drop)),
        ("replace", |t| t.replace(&path("/cont/lst[k1=1][k2='str1']"), &item(1)).map(drop)),
        ("merge above", |t| t.merge(&path("/cont"), &Item::new().listed("lst", item(1))).map(drop)),
    ];
    for (name, back) in changes {
        edit(&repository, |t| {
            t.set(&path("/cont/lst[k1=1][k2='str1']/l"), "other")?;
            // Also beside an item that the transaction creates.
            t.merge(&path("/cont/lst[k1=9][k2='str9']"), &item(9))?;
            back(t)
        })?;
        assert_eq!(value(&repository, l), Some(Value::from("l1")), "{name}");
        edit(&repository, |t| {
            t.merge(&listed(), &item(1).property("l", "other"))?;
            back(t)?;
            t.set(&path(l), "third")?;
            t.set(&path(l), "l1")
        })?;
        assert_eq!(value(&repository, l), Some(Value::from("l1")), "{name}");
        edit(&repository, |t| t.delete(&path("/cont/lst[k1=9][k2='str9']")).map(drop))?;
    }
    Ok(())
}
