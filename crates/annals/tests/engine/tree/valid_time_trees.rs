//! Trees as of a valid time: the rules of containers hold for the present, so an item may then be in several containers,
//! and below itself.

use std::sync::Arc;

use annals::*;

use crate::support::CheckedRepository;
use crate::support::named::{entity, id, relationship};
use crate::support::trees::{edit, path};
use crate::support::typed::kind_of;

fn day(text: &str) -> Instant {
    text.parse().unwrap()
}

fn at(valid: &str) -> AsOf {
    AsOf { valid: Some(day(valid)), ..AsOf::default() }
}

fn since(repository: &Repository, valid: &str, change: impl Fn(&mut Transaction) -> Result<()>) {
    let mut transaction = repository.transaction();
    transaction.valid_from(Some(day(valid)));
    change(&mut transaction).unwrap();
    transaction.commit().unwrap();
}

fn contain(t: &mut Transaction, link: &str, from: &str, to: &str) -> Result<()> {
    let new = NewRelationship::new("contains", id(from), id(to)).id(link)?.property("name", to);
    t.create_relationship(new).map(drop)
}

fn with_items(items: &[&str]) -> CheckedRepository {
    let repository = CheckedRepository::in_memory();
    repository.transact(|t| t.define_type(TypeDefinition::relationship("contains").containing())).unwrap();
    since(&repository, "2020-01-01", |t| {
        t.create_entity(NewEntity::new("root").id(ROOT_ID)?)?;
        items.iter().try_for_each(|item| t.create_entity(NewEntity::new("item").id(item)?).map(drop))
    });
    repository
}

/// In the summer of 2021 the root and b contain a, and a contains b. Now the root contains a.
fn with_circle() -> CheckedRepository {
    let repository = with_items(&["a", "b"]);
    since(&repository, "2020-01-01", |t| contain(t, "r1", "a", "b"));
    since(&repository, "2022-01-01", |t| t.delete(&relationship("r1")));
    since(&repository, "2021-01-01", |t| contain(t, "r2", "b", "a"));
    since(&repository, "2023-01-01", |t| t.delete(&relationship("r2")));
    since(&repository, "2021-01-01", |t| contain(t, "r3", ROOT_ID, "a"));
    repository
}

/// Story: the path of such an item was looked for until the memory was used up.
#[test]
fn reads_of_items_that_are_below_themselves_end() -> Result<()> {
    let repository = with_circle();
    let then = repository.snapshot().as_of(at("2021-06-01"))?;
    let tree = then.tree();
    assert_eq!(tree.path_of(&id("a"))?, Some(path("/a")));
    assert_eq!(tree.path_of(&id("b"))?, Some(path("/a/b")));
    assert_eq!(tree.item(&path("/a/b"))?.unwrap().path()?, path("/a/b"));
    assert_eq!(tree.place(&path("/a"))?, Some(1));
    let found = |text: &str| -> Result<usize> { Ok(tree.find(&path(text), 10)?.len()) };
    // a is a child of the root and of b.
    assert_eq!((found("//nothing")?, found("//b")?, found("//a")?), (0, 1, 2));
    assert_eq!(kind_of(tree.get(&path("/a"), None)), ErrorKind::TooLarge);
    assert!(tree.get(&path("/a"), Some(2))?.is_some());
    let whole = repository.snapshot();
    let difference = whole.tree().difference(&path("/a"), at("2021-06-01"), AsOf::default());
    assert_eq!(kind_of(difference), ErrorKind::TooLarge);
    Ok(())
}

#[test]
fn grants_below_a_container_end_for_items_that_are_below_themselves() -> Result<()> {
    let repository = with_circle();
    for (under, is_above) in [(ROOT_ID, true), ("a", true), ("b", false)] {
        let grant = Grant { under: Some(id(under)), ..Grant::default() };
        let seen = repository.snapshot().seen_by(&Arc::new(Sight::new(vec![grant])?))?;
        let then = seen.as_of(at("2021-06-01"))?;
        // Grants of now count, too: b is in no container now.
        assert_eq!(then.entity(&id("a"))?.is_some(), is_above, "under {under}");
        assert_eq!(then.history(&entity("a"), &History::default()).is_ok(), is_above, "under {under}");
    }
    Ok(())
}

#[test]
fn a_revert_to_such_a_time_puts_each_item_into_one_place() -> Result<()> {
    let repository = with_circle();
    edit(&repository, |t| t.revert(&path("/a"), at("2021-06-01")))?;
    let now = repository.snapshot();
    assert_eq!(now.tree().path_of(&id("b"))?, Some(path("/a/b")));
    assert_eq!(now.tree().count(&path("/a/b"))?, Some(0));
    Ok(())
}

#[test]
fn an_item_in_several_containers_is_in_each_of_them_within_bounds() -> Result<()> {
    const LEVELS: usize = 14;
    let names: Vec<String> = (0..=LEVELS).flat_map(|n| [format!("x{n}"), format!("y{n}")]).collect();
    let repository = with_items(&names.iter().map(String::as_str).collect::<Vec<_>>());
    since(&repository, "2020-01-01", |t| contain(t, "top", ROOT_ID, "x0"));
    for level in 0..LEVELS {
        let [x, y, below] = [format!("x{level}"), format!("y{level}"), format!("x{}", level + 1)];
        since(&repository, "2020-01-01", |t| {
            contain(t, &format!("in-{y}"), &x, &y)?;
            contain(t, &format!("in-{below}"), &x, &below)
        });
        // It was in y, too: nothing contains it now.
        since(&repository, "2022-01-01", |t| t.delete(&relationship(&format!("in-{below}"))));
        since(&repository, "2021-01-01", |t| contain(t, &format!("also-{below}"), &y, &below));
    }
    let then = repository.snapshot().as_of(at("2021-06-01"))?;
    let tree = then.tree();
    let two = tree.get(&path("/x0"), Some(2))?.unwrap();
    let children = |item: &Item| item.children.iter().map(|child| &*child.name).collect::<Vec<_>>().join(" ");
    assert_eq!((children(&two), children(&two.children[1].item)), ("x1 y0".into(), "x1".into()));
    // 2^14 ways lead to the last one.
    assert_eq!(kind_of(tree.get(&path("/x0"), None)), ErrorKind::TooLarge);
    assert_eq!(tree.find(&path("//x14"), 10)?.len(), 2);
    assert!(tree.path_of(&id("x14"))?.is_some());
    Ok(())
}
