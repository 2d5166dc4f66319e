//! A record that is taken back at once leaves everything as it was, and by the same relationships.

use std::collections::BTreeMap;
use std::sync::Arc;

use annals::*;

use crate::support::named::{entity, id, relationship};
use crate::support::{CheckedRepository, Random, seeds};

/// All live instances by id: type, ends and properties.
fn all(snapshot: &Snapshot) -> BTreeMap<String, String> {
    let all = Find::all().limit(1_000);
    let entities = snapshot.find_entities(&all).unwrap().items.into_iter().map(|found| {
        let properties: BTreeMap<_, _> = found.properties().collect();
        (found.id().to_string(), format!("{} {properties:?}", found.type_name()))
    });
    let relationships = snapshot.find_relationships(&all).unwrap().items.into_iter().map(|found| {
        let properties: BTreeMap<_, _> = found.properties().collect();
        let (from, to) = (found.from(), found.to());
        (found.id().to_string(), format!("{} from {from} to {to} {properties:?}", found.type_name()))
    });
    entities.chain(relationships).collect()
}

fn declare(repository: &Repository) {
    repository
        .transact(|t| {
            t.define_type(TypeDefinition::relationship("contains").containing())?;
            t.define_type(TypeDefinition::relationship("orders").containing_in_order())?;
            t.define_type(TypeDefinition::relationship("cites"))?;
            t.define_type(TypeDefinition::entity("box"))?;
            let key = AttributeDefinition::new("k", ValueType::Integer).key();
            t.define_type(TypeDefinition::entity("item").attribute(key))
        })
        .unwrap();
}

fn contain(link: &str, from: &str, to: &str, name: &str) -> NewRelationship {
    NewRelationship::new("contains", id(from), id(to)).id(link).unwrap().property("name", name)
}

fn order(place: u8) -> Value {
    Value::Bytes(Arc::from([0, 0, 0, place]))
}

/// Boxes a and b. By r, a contains c as x; d is nowhere.
fn with_boxes() -> CheckedRepository {
    let repository = CheckedRepository::in_memory();
    declare(&repository);
    repository
        .transact(|t| {
            for name in ["a", "b", "c", "d"] {
                t.create_entity(NewEntity::new("box").id(name)?)?;
            }
            t.create_relationship(contain("r", "a", "c", "x"))
        })
        .unwrap();
    repository
}

fn is_taken_back(repository: &Repository, change: impl Fn(&mut Transaction) -> Result<()>) {
    let before = all(&repository.snapshot());
    let (_, receipt) = repository.transact(&change).unwrap();
    assert_ne!(all(&repository.snapshot()), before);
    repository.transact(|t| t.take_back(receipt.position)).unwrap();
    assert_eq!(all(&repository.snapshot()), before);
}

/// Story: the relationship that contained an item got a type that contains nothing. The take-back left it so, and made a new
/// one.
#[test]
fn a_relationship_contains_its_item_again_after_it_had_another_type() {
    let repository = with_boxes();
    is_taken_back(&repository, |t| t.retype(&relationship("r"), "cites"));
    is_taken_back(&repository, |t| {
        t.retype(&relationship("r"), "cites")?;
        t.update(&relationship("r"), Patch::new().unset("name").set("page", 7))
    });
    is_taken_back(&repository, |t| {
        t.retype(&relationship("r"), "cites")?;
        t.relink(&id("r"), Some(&id("b")), Some(&id("a")))?;
        t.create_relationship(contain("new", "b", "c", "y")).map(drop)
    });
    is_taken_back(&repository, |t| {
        t.update(&relationship("r"), Patch::new().set("order", order(1)))?;
        t.retype(&relationship("r"), "orders")
    });
    // It did not contain before.
    repository.transact(|t| t.retype(&relationship("r"), "cites")).unwrap();
    repository.transact(|t| t.create_relationship(contain("other", "b", "c", "x"))).unwrap();
    is_taken_back(&repository, |t| {
        t.delete(&relationship("other"))?;
        t.retype(&relationship("r"), "contains")
    });
}

/// Story: the relationship that contained an item led to another one. Its take-back found the name taken, each time.
#[test]
fn a_relationship_contains_its_item_again_after_it_contained_another_one() {
    let repository = with_boxes();
    is_taken_back(&repository, |t| t.relink(&id("r"), None, Some(&id("d"))));
    is_taken_back(&repository, |t| t.relink(&id("r"), Some(&id("b")), Some(&id("d"))));
    is_taken_back(&repository, |t| {
        t.relink(&id("r"), None, Some(&id("d")))?;
        t.create_relationship(contain("new", "b", "c", "x")).map(drop)
    });
    is_taken_back(&repository, |t| {
        t.relink(&id("r"), None, Some(&id("d")))?;
        t.delete(&relationship("r"))
    });
    // The other one was in a container, too, and one after the other takes the place of the next.
    repository.transact(|t| t.create_relationship(contain("s", "b", "d", "x"))).unwrap();
    is_taken_back(&repository, |t| {
        t.delete(&relationship("s"))?;
        t.relink(&id("r"), None, Some(&id("d")))
    });
    is_taken_back(&repository, |t| {
        t.create_entity(NewEntity::new("box").id("e")?)?;
        t.relink(&id("s"), None, Some(&id("e")))?;
        t.relink(&id("r"), None, Some(&id("d")))
    });
    is_taken_back(&repository, |t| {
        t.relink(&id("r"), None, Some(&id("b")))?;
        t.delete(&entity("c"))
    });
}

/// Story: a record that moved an item into a container of its own could not be taken back, and *mine* deleted the item with
/// the container.
#[test]
fn an_item_leaves_a_new_container_before_that_is_deleted() {
    let repository = with_boxes();
    let into_new = |t: &mut Transaction, new: &str, name: &str| {
        t.create_entity(NewEntity::new("box").id(new)?)?;
        t.relink(&id("r"), Some(&id(new)), None)?;
        t.create_relationship(contain(&format!("in-{new}"), "a", new, name)).map(drop)
    };
    is_taken_back(&repository, |t| into_new(t, "e", "y"));
    // The new container takes its place.
    is_taken_back(&repository, |t| into_new(t, "f", "x"));
    let before = all(&repository.snapshot());
    let (_, receipt) = repository.transact(|t| into_new(t, "g", "x")).unwrap();
    repository.transact(|t| t.update(&entity("g"), Patch::new().set("n", 1))).unwrap();
    let mine = |t: &mut Transaction| t.take_back_all(receipt.position..=receipt.position, Some(Keep::Mine));
    repository.transact(mine).unwrap();
    assert_eq!(all(&repository.snapshot()), before);
}

/// Story: a later record put the item elsewhere, and *mine* made a new relationship.
#[test]
fn mine_brings_an_item_back_by_its_relationship() {
    let repository = with_boxes();
    let before = all(&repository.snapshot());
    let (_, receipt) = repository.transact(|t| t.relink(&id("r"), None, Some(&id("d")))).unwrap();
    repository.transact(|t| t.create_relationship(contain("later", "b", "c", "y"))).unwrap();
    let mine = |t: &mut Transaction| t.take_back_all(receipt.position..=receipt.position, Some(Keep::Mine));
    repository.transact(mine).unwrap();
    assert_eq!(all(&repository.snapshot()), before);
}

/// Story: a revert of an item whose relationship had got another type contained it by a new one.
#[test]
fn a_revert_gives_the_relationship_of_an_item_its_type_back() {
    let repository = with_boxes();
    let root = repository.transact(|t| t.create_relationship(contain("top", "b", "a", "a"))).unwrap().1;
    let before = all(&repository.snapshot());
    let as_of = AsOf { position: Some(root.position), ..AsOf::default() };
    let path = TreePath::parse("/a").unwrap();
    repository.transact(|t| t.retype(&relationship("r"), "cites")).unwrap();
    repository.transact(|t| t.tree_below(id("b")).revert(&path, as_of)).unwrap();
    assert_eq!(all(&repository.snapshot()), before);
}

/// Changes something, or is refused.
fn change(t: &mut Transaction, random: &mut Random, new: usize) -> Result<()> {
    let any = |random: &mut Random| format!("e{}", random.below(8));
    let (one, other) = (any(random), any(random));
    let link = format!("r{}", random.below(8));
    let named = if random.one_in(2) { entity(&one) } else { relationship(&link) };
    let place = order(1 + random.below(9) as u8);
    let name = format!("n{}", random.below(3));
    match random.below(16) {
        0 | 1 => {
            let type_name = *random.choose(&["item", "box"]);
            let k = random.below(3) as i64;
            t.create_entity(NewEntity::new(type_name).id(&one)?.property("k", k)).map(drop)
        }
        2..5 => {
            let type_name = *random.choose(&["contains", "orders", "cites"]);
            let created = NewRelationship::new(type_name, id(&one), id(&other)).id(&link)?;
            t.create_relationship(created.property("name", name).property("order", place)).map(drop)
        }
        5 | 6 => t.retype(&relationship(&link), random.choose::<&str>(&["contains", "orders", "cites"])),
        7 => t.relink(&id(&link), Some(&id(&one)), None),
        8 | 9 => t.relink(&id(&link), None, Some(&id(&one))),
        10 => t.update(&relationship(&link), Patch::new().set("name", name).set("order", place)),
        11 => t.update(&entity(&one), Patch::new().set("k", new as i64)),
        12 => t.retype(&entity(&one), random.choose::<&str>(&["item", "box"])),
        13 => t.delete(&named),
        _ => t.restore(&named),
    }
}

#[test]
fn any_record_is_taken_back_at_once() {
    let mut taken = 0;
    for seed in seeds("ANNALS_TAKE_BACK_SEED", 12) {
        let mut random = Random(seed);
        let repository = CheckedRepository::in_memory();
        declare(&repository);
        for number in 0..150 {
            let before = all(&repository.snapshot());
            let (count, start) = (1 + random.below(2), random.next());
            let outcome = repository.transact(|t| {
                let mut random = Random(start);
                (0..count).try_for_each(|_| change(t, &mut random, number))
            });
            let Ok((_, receipt)) = outcome else { continue };
            let after = all(&repository.snapshot());
            if after == before {
                continue;
            }
            let mut back = repository.transaction();
            let what = || format!("seed {seed}, record {}: from {before:#?} to {after:#?}", receipt.position);
            back.take_back(receipt.position).unwrap_or_else(|error| panic!("{error}: {}", what()));
            let found = back.dry_run().unwrap_or_else(|error| panic!("{error}: {}", what()));
            assert_eq!(all(&found), before, "{}", what());
            taken += 1;
        }
    }
    assert!(taken > 100, "{taken}");
}
