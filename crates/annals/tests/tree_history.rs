//! Trees in time: what is put back to how it was is as it was, after any history.

mod support;

use annals::*;
use support::{CheckedRepository, Random, number_from_environment};

fn path(text: &str) -> TreePath {
    TreePath::parse(text).unwrap()
}

fn then(position: Position) -> AsOf {
    AsOf { position: Some(position), ..AsOf::default() }
}

fn kind_of<T>(result: Result<T>) -> ErrorKind {
    result.err().expect("it should be refused").kind()
}

fn edit<T>(repository: &Repository, mut work: impl FnMut(&mut TreeEdit<'_>) -> Result<T>) -> Result<T> {
    repository.transact(|t| work(&mut t.tree())).map(|(done, _)| done)
}

fn repository() -> CheckedRepository {
    let repository = CheckedRepository::in_memory();
    repository
        .transact(|t| {
            let key = |name: &str, value_type| AttributeDefinition::new(name, value_type).key();
            t.define_type(TypeDefinition::entity("lst").attribute(key("k", ValueType::Integer)))?;
            t.define_type(TypeDefinition::entity("usr").attribute(key("k", ValueType::Integer)))?;
            t.define_type(TypeDefinition::relationship("contains").containing())?;
            let orders = TypeDefinition::relationship("orders").containing_in_order();
            t.define_type(orders.between(EndDefinition::ANY, EndDefinition::many("usr")))
        })
        .unwrap();
    repository
}

fn step(random: &mut Random) -> String {
    match random.below(4) {
        0 => format!("lst[k={}]", random.below(3)),
        1 => format!("usr[k={}]", random.below(4)),
        _ => ["x", "y", "z"][random.below(3)].to_owned(),
    }
}

fn any_path(random: &mut Random) -> TreePath {
    let steps: Vec<String> = (0..=random.below(3)).map(|_| step(random)).collect();
    path(&format!("/{}", steps.join("/")))
}

/// Does something to the tree; many of these are refused.
fn change(repository: &Repository, random: &mut Random) {
    let (at, to) = (any_path(random), any_path(random));
    let number = i64::try_from(random.below(1000)).unwrap();
    let action = random.below(12);
    let outcome = repository.transact(|t| match action {
        0..3 => t.tree().merge(&at, &Item::new().property("v", number)).map(drop),
        3 => t.tree().set(&at.clone().child(TreeStep::named("w")), number),
        4 => t.tree().put(&at, &Item::new().property("v", number).child("x", Item::new())).map(drop),
        5 => t.tree().delete(&at),
        6 | 7 => t.tree().move_to(&at, &to, None),
        8 => t.tree().insert(&at, &Item::new(), &Insert::First).map(drop),
        9 => t.tree().copy(&at, &to).map(drop),
        10 => {
            let Some(id) = any_deleted(t, number)? else { return Ok(()) };
            t.restore(&InstanceId::Entity(id))
        }
        _ => {
            let found = t.view()?.tree().item(&at)?.map(|item| item.entity.id().clone());
            let Some(id) = found else { return Ok(()) };
            let other = Patch::new().set("k", number % 4);
            t.classify(&id, ClassificationContent::new("seen").property("n", number)).ok();
            t.update(&InstanceId::Entity(id), other)
        }
    });
    drop(outcome);
}

fn any_deleted(t: &mut Transaction, number: i64) -> Result<Option<Id>> {
    let position = t.base().position();
    let back = u64::try_from(number).unwrap() % (position.0 + 1);
    let before = t.base().as_of(then(Position(position.0 - back)))?;
    let mut ids = Vec::new();
    for entity in before.find_entities(&Find::all().limit(1000))?.items {
        if t.base().entity(entity.id())?.is_none() {
            ids.push(entity.id().clone());
        }
    }
    Ok((!ids.is_empty()).then(|| ids[usize::try_from(number).unwrap() % ids.len()].clone()))
}

#[test]
fn what_is_put_back_is_as_it_was_after_any_history() -> Result<()> {
    let mut reverts = 0;
    for seed in 0..number_from_environment("TREE_SEEDS", 24) {
        let mut random = Random(seed);
        let repository = repository();
        for _ in 0..12 {
            for _ in 0..12 {
                change(&repository, &mut random);
            }
            let snapshot = repository.snapshot();
            let position = Position(1 + random.below(snapshot.position().0 as usize) as u64);
            let before = snapshot.as_of(then(position))?;
            let at = if random.below(3) == 0 { TreePath::root() } else { any_path(&mut random) };
            let wanted = before.tree().get(&at, None)?;
            match edit(&repository, |t| t.revert(&at, then(position))) {
                Ok(()) => {
                    let found = repository.snapshot().tree().get(&at, None)?;
                    let wanted = match (&wanted, &found) {
                        // The root stays.
                        (None, Some(root)) if at == TreePath::root() => {
                            Some(Item { children: Vec::new(), ..root.clone() })
                        }
                        _ => wanted,
                    };
                    assert_eq!(found, wanted, "seed {seed}: {at} as of {position}");
                    reverts += 1;
                }
                // Its parent is missing, or it was not there and is not.
                Err(error) if error.kind() == ErrorKind::NotFound => {
                    assert!(at != TreePath::root(), "seed {seed}: {error}");
                }
                // What contains it now was below it then.
                Err(error) if error.kind() == ErrorKind::InvalidEnds && at != TreePath::root() => {}
                Err(error) => panic!("seed {seed}: {at} as of {position}: {error}"),
            }
        }
    }
    assert!(reverts > 100, "{reverts}");
    Ok(())
}

#[test]
fn a_subtree_is_put_back_with_its_items_names_order_and_links() -> Result<()> {
    let repository = repository();
    edit(&repository, |t| {
        let users =
            [3, 1, 2].into_iter().fold(Item::new(), |all, k| all.listed("usr", Item::new().property("k", k)));
        t.put(&path("/c"), &users.property("mtu", 1500).child("x", Item::new()).child("y", Item::new()))?;
        t.merge(&path("/out"), &Item::new())
    })?;
    let id = |repository: &Repository, text: &str| -> Result<Id> {
        Ok(repository.snapshot().tree().item(&path(text))?.unwrap().entity.id().clone())
    };
    let (x, out) = (id(&repository, "/c/x")?, id(&repository, "/out")?);
    repository.transact(|t| {
        t.create_relationship(NewRelationship::new("knows", out.clone(), x.clone()).id("k")?)
    })?;
    let position = repository.snapshot().position();
    let wanted = repository.snapshot().tree().get(&path("/c"), None)?;
    // Swapped names, another order, another value, one gone, one moved out, one new.
    edit(&repository, |t| t.move_to(&path("/c/x"), &path("/c/z"), None))?;
    edit(&repository, |t| t.move_to(&path("/c/y"), &path("/c/x"), None))?;
    edit(&repository, |t| t.move_to(&path("/c/z"), &path("/c/y"), None))?;
    edit(&repository, |t| t.insert(&path("/c/usr[k=2]"), &Item::new(), &Insert::First))?;
    edit(&repository, |t| t.set(&path("/c/mtu"), 9000))?;
    edit(&repository, |t| t.delete(&path("/c/y")))?;
    edit(&repository, |t| t.move_to(&path("/c/usr[k=3]"), &path("/out/usr[k=9]"), None))?;
    edit(&repository, |t| t.merge(&path("/c/new/deep"), &Item::new()))?;
    edit(&repository, |t| t.revert(&path("/c"), then(position)))?;
    let snapshot = repository.snapshot();
    assert_eq!(snapshot.tree().get(&path("/c"), None)?, wanted);
    assert!(snapshot.relationship(&Id::new("k")?)?.is_some(), "it went with an item that came back");
    assert_eq!(snapshot.tree().count(&path("/out"))?, Some(0));
    // Nothing differs: no record.
    edit(&repository, |t| t.revert(&path("/c"), then(position)))?;
    assert_eq!(repository.snapshot().position(), snapshot.position());
    // A property alone.
    edit(&repository, |t| t.delete(&path("/c/mtu")))?;
    edit(&repository, |t| t.revert(&path("/c/mtu"), then(position)))?;
    assert_eq!(repository.snapshot().tree().get(&path("/c"), None)?, wanted);
    assert_eq!(kind_of(edit(&repository, |t| t.revert(&path("/none"), then(position)))), ErrorKind::NotFound);
    Ok(())
}

#[test]
fn a_deleted_item_is_brought_back_to_its_path() -> Result<()> {
    let repository = repository();
    edit(&repository, |t| t.merge(&path("/c/x/deep"), &Item::new().property("v", 1)))?;
    let position = repository.snapshot().position();
    let wanted = repository.snapshot().tree().get(&path("/c/x"), None)?;
    let restore = |text: &str| edit(&repository, |t| t.restore(&path(text), then(position)));
    assert_eq!(kind_of(restore("/c/x")), ErrorKind::NotDeleted);
    assert_eq!(kind_of(restore("/c/none")), ErrorKind::NotFound);
    edit(&repository, |t| t.delete(&path("/c/x")))?;
    restore("/c/x")?;
    assert_eq!(repository.snapshot().tree().get(&path("/c/x"), None)?, wanted);
    // Its parent went, and another one is there.
    edit(&repository, |t| t.delete(&path("/c")))?;
    assert_eq!(kind_of(restore("/c/x")), ErrorKind::NotFound);
    edit(&repository, |t| t.merge(&path("/c"), &Item::new()))?;
    restore("/c/x")?;
    assert_eq!(repository.snapshot().tree().get(&path("/c/x"), None)?, wanted);
    edit(&repository, |t| t.delete(&path("/c/x")))?;
    edit(&repository, |t| t.merge(&path("/c/x"), &Item::new()))?;
    assert_eq!(kind_of(restore("/c/x")), ErrorKind::AlreadyExists);
    Ok(())
}
