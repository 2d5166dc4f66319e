//! A sight that was used before shows what a new one with the same grants shows.

use std::collections::BTreeSet;
use std::sync::Arc;

use annals::*;

use crate::support::named::{entity, id, relationship};
use crate::support::{CheckedRepository, Random, seeds};

fn contain(link: &str, from: &str, to: &str) -> NewRelationship {
    NewRelationship::new("contains", id(from), id(to)).id(link).unwrap().property("name", to)
}

fn sight(search: &str, under: Option<&str>) -> Sight {
    let entities = search.parse().unwrap();
    Sight::new(vec![Grant { entities, under: under.map(id), ..Grant::default() }]).unwrap()
}

fn seen(repository: &Repository, sight: &Arc<Sight>) -> BTreeSet<String> {
    let seen = repository.snapshot().seen_by(sight).unwrap();
    let all = Find::all().limit(1_000);
    let entities = seen.find_entities(&all).unwrap().items.into_iter().map(|found| found.id().to_string());
    let links = seen.find_relationships(&all).unwrap().items.into_iter().map(|found| found.id().to_string());
    entities.chain(links).collect()
}

/// Story: the relationship that contained an item got a type that contains nothing; readers of the container went on seeing
/// the item until the next restart.
#[test]
fn an_item_is_hidden_once_the_relationship_that_contained_it_has_another_type() {
    let repository = CheckedRepository::in_memory();
    repository
        .transact(|t| {
            t.define_type(TypeDefinition::relationship("contains").containing())?;
            t.define_type(TypeDefinition::relationship("cites"))?;
            t.create_entity(NewEntity::new("box").id("lib")?)?;
            t.create_entity(NewEntity::new("page").id("p")?)?;
            t.create_relationship(contain("r", "lib", "p"))
        })
        .unwrap();
    let sight = Arc::new(sight("*", Some("lib")));
    let all = || seen(&repository, &sight).into_iter().collect::<Vec<_>>().join(" ");
    assert_eq!(all(), "lib p r");
    repository.transact(|t| t.retype(&relationship("r"), "cites")).unwrap();
    assert_eq!(all(), "lib");
    repository.transact(|t| t.retype(&relationship("r"), "contains")).unwrap();
    assert_eq!(all(), "lib p r");
}

/// Story: a grant named a classification that was declared and not in use yet. Its first use showed the other entities to
/// readers only after the next restart.
#[test]
fn a_classification_with_a_first_instance_shows_what_lacks_it() {
    let repository = CheckedRepository::in_memory();
    let page = |name: &str| NewEntity::new("page").id(name).unwrap();
    repository.transact(|t| t.define_type(TypeDefinition::classification("public"))).unwrap();
    repository.transact(|t| t.create_entity(page("p1")).and_then(|_| t.create_entity(page("p2")))).unwrap();
    let sight = Arc::new(sight("page where not classified confidential", None));
    assert_eq!(seen(&repository, &sight).len(), 0);
    repository.transact(|t| t.classify(&id("p2"), ClassificationContent::new("confidential"))).unwrap();
    assert_eq!(seen(&repository, &sight), BTreeSet::from(["p1".to_owned()]));
}

/// Changes something, or is refused.
fn change(t: &mut Transaction, random: &mut Random, number: usize) -> Result<()> {
    let any = |random: &mut Random| format!("e{}", random.below(10));
    let (one, other) = (any(random), any(random));
    let link = format!("r{}", random.below(10));
    let named = if random.one_in(2) { entity(&one) } else { relationship(&link) };
    let mark = *random.choose(&["public", "secret"]);
    match random.below(16) {
        0..3 => {
            let type_name = *random.choose(&["page", "box", "note"]);
            t.create_entity(NewEntity::new(type_name).id(&one)?.property("n", 0)).map(drop)
        }
        3..6 => t.create_relationship(contain(&link, &one, &other)).map(drop),
        6 => {
            let new = NewRelationship::new("cites", id(&one), id(&other)).id(&link)?;
            t.create_relationship(new.property("name", format!("n{number}"))).map(drop)
        }
        7 | 8 => t.retype(&relationship(&link), random.choose::<&str>(&["cites", "contains"])),
        9 => t.relink(&id(&link), Some(&id(&one)), None),
        10 => t.relink(&id(&link), None, Some(&id(&one))),
        11 => t.classify(&id(&one), ClassificationContent::new(mark)),
        12 => t.declassify(&id(&one), mark),
        13 => t.delete(&named),
        14 => t.restore(&named),
        _ if random.one_in(4) => t.purge(&named),
        _ if random.one_in(3) => t.reidentify(&entity(&one), &id(&other)),
        _ => t.retype(&entity(&one), random.choose::<&str>(&["page", "box"])),
    }
}

#[test]
fn a_sight_that_is_kept_shows_what_a_new_one_shows() {
    let grants = [
        ("*", Some("e0")),
        ("page", Some("e1")),
        ("* where classified public", None),
        ("* where not classified secret", None),
        ("page, box where not (classified public and classified secret)", None),
        ("* where not is note", Some("e2")),
    ];
    for seed in seeds("ANNALS_SIGHT_SEED", 12) {
        let mut random = Random(seed);
        let repository = CheckedRepository::in_memory();
        repository
            .transact(|t| {
                t.define_type(TypeDefinition::classification("declared"))?;
                t.define_type(TypeDefinition::entity("thing"))?;
                t.define_type(TypeDefinition::relationship("cites"))?;
                t.define_type(TypeDefinition::relationship("contains").containing())
            })
            .unwrap();
        let kept = grants.map(|(search, under)| Arc::new(sight(search, under)));
        for number in 0..120 {
            let count = 1 + random.below(3);
            let mut rest = Random(random.next());
            let outcome =
                repository.transact(|t| (0..count).try_for_each(|_| change(t, &mut rest, number))).map(drop);
            if random.one_in(3) {
                continue;
            }
            for ((search, under), kept) in grants.into_iter().zip(&kept) {
                let new = seen(&repository, &Arc::new(sight(search, under)));
                let what =
                    format!("seed {seed}, change {number}: {search} under {under:?}, after {outcome:?}");
                assert_eq!(seen(&repository, kept), new, "{what}");
            }
        }
    }
}
