//! A snapshot under a sight answers as a repository that never had the hidden instances.

use std::collections::BTreeMap;
use std::sync::Arc;

use annals::*;

use crate::support::named::id;
use crate::support::{Random, fresh_seed, number_from_environment, seeds};

/// One change of both repositories. The second repository gets only those that concern visible instances.
#[derive(Clone, Debug)]
enum Step {
    Entity { id: usize, type_name: &'static str, is_open: bool, under: Option<usize> },
    Link { id: usize, type_name: &'static str, from: usize, to: usize },
    Set { id: usize, n: i64 },
    Classify { id: usize },
    Delete { id: usize },
    Restore { id: usize },
    Unlink { id: usize },
    Purge { id: usize },
}

struct Twins {
    whole: Repository,
    part: Repository,
    is_hidden: BTreeMap<usize, bool>,
    links: BTreeMap<usize, (usize, usize, bool)>,
}

fn entity(number: usize) -> InstanceId {
    InstanceId::Entity(id(&format!("e{number}")))
}

fn link(number: usize) -> InstanceId {
    InstanceId::Relationship(id(&format!("r{number}")))
}

fn push(t: &mut Transaction, step: &Step) -> Result<()> {
    match step {
        Step::Entity { id: number, type_name, is_open, under } => {
            let new = NewEntity::new(type_name).id(&format!("e{number}"))?;
            t.create_entity(new.property("open", *is_open).property("n", 0))?;
            if let Some(parent) = under {
                let (from, to) = (entity(*parent).id().clone(), entity(*number).id().clone());
                let contained =
                    NewRelationship::new("contains", from, to).id(format!("c{number}").as_str())?;
                t.create_relationship(contained.property("name", format!("n{number}")))?;
            }
            Ok(())
        }
        Step::Link { id: number, type_name, from, to } => {
            let new = NewRelationship::new(type_name, entity(*from).id().clone(), entity(*to).id().clone());
            t.create_relationship(new.id(&format!("r{number}"))?.property("w", 1)).map(drop)
        }
        Step::Set { id, n } => t.update(&entity(*id), Patch::new().set("n", *n)),
        Step::Classify { id } => t.classify(entity(*id).id(), ClassificationContent::new("mark")),
        Step::Delete { id } => t.delete(&entity(*id)),
        Step::Restore { id } => t.restore(&entity(*id)),
        Step::Unlink { id } => t.delete(&link(*id)),
        Step::Purge { id } => t.purge(&entity(*id)),
    }
}

impl Twins {
    fn new() -> Twins {
        let declare = |repository: &Repository| {
            let contains = TypeDefinition::relationship("contains").containing();
            repository.transact(|t| t.define_type(contains.clone())).unwrap();
        };
        let (whole, part) = (Repository::in_memory(), Repository::in_memory());
        [&whole, &part].into_iter().for_each(declare);
        Twins { whole, part, is_hidden: BTreeMap::new(), links: BTreeMap::new() }
    }

    /// Random, but only such as both repositories accept: nothing visible depends on something hidden.
    fn step(&mut self, random: &mut Random, number: usize) {
        let known: Vec<usize> = self.is_hidden.keys().copied().collect();
        let visible: Vec<usize> = known.iter().copied().filter(|one| !self.is_hidden[one]).collect();
        let step = match random.below(if known.len() < 4 { 1 } else { 9 }) {
            0..3 => {
                let (is_open, type_name) = (random.one_in(2), *random.choose(&["a", "b", "secret"]));
                let is_hidden = !is_open || type_name == "secret";
                let parents = if is_hidden { &known } else { &visible };
                let under = (!parents.is_empty() && random.one_in(2)).then(|| *random.choose(parents));
                self.is_hidden.insert(number, is_hidden);
                Step::Entity { id: number, type_name, is_open, under }
            }
            3 | 4 => {
                let (from, to) = (*random.choose(&known), *random.choose(&known));
                let type_name = *random.choose(&["k", "whispers"]);
                let is_hidden = type_name == "whispers" || self.is_hidden[&from] || self.is_hidden[&to];
                self.links.insert(number, (from, to, is_hidden));
                Step::Link { id: number, type_name, from, to }
            }
            5 if random.one_in(2) => Step::Classify { id: *random.choose(&known) },
            5 => Step::Set { id: *random.choose(&known), n: random.below(5) as i64 },
            6 => Step::Delete { id: *random.choose(&known) },
            7 => Step::Restore { id: *random.choose(&known) },
            _ if random.one_in(3) => Step::Purge { id: *random.choose(&known) },
            _ => match self.links.keys().next_back() {
                Some(last) => Step::Unlink { id: *last },
                None => return,
            },
        };
        let is_hidden = match &step {
            Step::Entity { id, .. }
            | Step::Set { id, .. }
            | Step::Classify { id }
            | Step::Delete { id }
            | Step::Restore { id }
            | Step::Purge { id } => self.is_hidden[id],
            Step::Link { id, .. } | Step::Unlink { id } => self.links[id].2,
        };
        let outcome = self.whole.transact(|t| push(t, &step)).map(drop);
        if is_hidden {
            // Its record keeps the positions of both equal.
            let note = NewEntity::new("note").id(format!("note{number}").as_str()).unwrap();
            self.part.transact(|t| t.create_entity(note.clone())).unwrap();
            if self.whole.snapshot().position() < self.part.snapshot().position() {
                self.whole.transact(|t| t.create_entity(note.clone())).unwrap();
            }
            return;
        }
        let own = self.part.transact(|t| push(t, &step)).map(drop);
        assert_eq!(self.whole.snapshot().position(), self.part.snapshot().position(), "{step:?}");
        assert_eq!(outcome.as_ref().map_err(Error::kind), own.as_ref().map_err(Error::kind), "{step:?}");
    }
}

/// Only open entities that are no secrets, and no relationships of the type `whispers`.
fn sight() -> Arc<Sight> {
    let grant = |text: &str| Grant {
        entities: text.parse().unwrap(),
        under: None,
        relationships: vec!["k".into(), "contains".into()],
    };
    Arc::new(Sight::new(vec![grant("a where open = true"), grant("b where open = true and n >= 0")]).unwrap())
}

/// All that a reader can learn of entities other than notes.
fn told(snapshot: &Snapshot) -> Vec<String> {
    let mut told = Vec::new();
    let mut note = |what: &str, found: String| told.push(format!("{what}: {found}"));
    let kinds = |kind| -> Vec<(Arc<str>, u64)> {
        let mut counts = snapshot.counts(kind).unwrap();
        counts.retain(|(name, _)| **name != *"note");
        counts
    };
    note("entities", format!("{:?}", kinds(TypeKind::Entity)));
    note("classified", format!("{:?}", snapshot.counts(TypeKind::Classification).unwrap()));
    note("relationships", format!("{:?} {}", kinds(TypeKind::Relationship), snapshot.relationships_count()));
    for text in [
        "a, b, secret",
        "a, b, secret order by n desc, @id limit 3",
        "a, b, secret order by @createdAt desc",
        "a, b, secret where n > 1 order by n",
        "a, b, secret where open = false",
        "a, b, secret where has out k",
        "a, b, secret deleted with",
        "a, b, secret deleted only order by @id",
    ] {
        let find: Find = text.parse().unwrap_or_else(|error| panic!("{text}: {error}"));
        let page = snapshot.find_entities(&find).unwrap();
        let ids: Vec<String> =
            page.items.iter().map(|one| format!("{} v{}", one.id(), one.version())).collect();
        let count = snapshot.count_entities(&find).unwrap();
        note(text, format!("{ids:?} of {count}, more: {}", page.next.is_some()));
    }
    for text in ["*", "k where w = 1 order by @id", "whispers", "* deleted with"] {
        let find: Find = text.parse().unwrap();
        let page = snapshot.find_relationships(&find).unwrap();
        let ids: Vec<String> =
            page.items.iter().map(|one| format!("{} v{}", one.id(), one.version())).collect();
        note(text, format!("{ids:?} of {}", snapshot.count_relationships(&find).unwrap()));
    }
    for number in 0..60 {
        let (entity, link) = (entity(number), link(number));
        let found = snapshot.entity(entity.id());
        let is_seen = matches!(found, Ok(Some(_)));
        note("get", format!("{entity} {:?}", found.map(|one| one.map(|one| one.version()))));
        let found = snapshot.relationship(link.id());
        note("get", format!("{link} {:?}", found.map(|one| one.map(|one| one.version()))));
        for instance in [entity.clone(), link.clone()] {
            let versions = snapshot.history(&instance, &History::default());
            let versions =
                versions.map(|all| all.iter().map(|one| (one.version, one.verb)).collect::<Vec<_>>());
            note("history", format!("{versions:?}"));
            let unseen = snapshot.check_present_id(&instance).map_err(|error| error.kind());
            note("known", format!("{unseen:?} {:?}", snapshot.revision(&instance).map(|one| one.version)));
        }
        let start = entity.id();
        for direction in [Direction::Out, Direction::In] {
            let near = snapshot.neighbors(start, direction, None).map(|near| {
                near.map(|one| one.unwrap())
                    .map(|one| format!("{}>{}", one.relationship.id(), one.entity.id()))
                    .collect::<Vec<_>>()
            });
            note("neighbors", format!("{near:?} {:?}", snapshot.degree(start, direction, Some("k"))));
        }
        if !is_seen {
            continue;
        }
        let of = RelationshipsOf::both();
        note("degree", format!("{:?}", snapshot.relationships_of_count(start, &of)));
        let page = snapshot.relationships_of(start, &RelationshipsOf { limit: 2, ..of }).unwrap();
        note("page", format!("{:?}", page.items.iter().map(|one| one.id().to_string()).collect::<Vec<_>>()));
        let reached = snapshot.reachable(start, &Reach::both()).unwrap();
        let mut reached: Vec<String> =
            reached.iter().map(|one| format!("{} at {}", one.id(), one.distance)).collect();
        reached.sort();
        note("reach", format!("{reached:?}"));
        let near = snapshot.neighborhood(start, &Reach::both().depth_max(2)).unwrap();
        note("near", format!("{} {}", near.entities().len(), near.relationships().len()));
        let related = snapshot.related(start, &Related { limit: 2, ..Related::by(Reach::out()) }).unwrap();
        note("related", format!("{} {}", related.items.len(), related.has_more));
        for of in [RelationshipsOf::out(), RelationshipsOf::incoming()] {
            note("one way", format!("{:?}", snapshot.relationships_of_count(start, &of)));
            let statuses = vec!["active".to_owned(), "deleted".to_owned()];
            let ever = snapshot.relationships_of(start, &RelationshipsOf { statuses, ..of }).unwrap();
            note(
                "ever",
                format!("{:?}", ever.items.iter().map(|one| one.id().to_string()).collect::<Vec<_>>()),
            );
        }
        tree(&snapshot.tree_below(start), &mut note);
        note("path", format!("{:?}", snapshot.tree().path_of(start)));
        let other = format!("e{}", (number * 7 + 3) % 40);
        let path = snapshot.shortest_path(start, &id(&other), &Reach::both());
        note("path", format!("{:?}", path.map(|path| path.map(|path| path.steps.len()))));
    }
    told
}

/// The items of a tree, one by one.
fn tree(tree: &Tree<'_>, note: &mut impl FnMut(&str, String)) {
    let path = |text: &str| TreePath::parse(text).unwrap();
    note("whole", format!("{:?}", tree.get(&path("/"), None).unwrap()));
    note("children", format!("{:?}", tree.count(&path("/")).unwrap()));
    let page = tree.list(&path("/"), &ListOptions { limit: 2, ..ListOptions::default() }).unwrap();
    note("list", format!("{:?}", page.map(|page| (page.items.len(), page.next.is_some()))));
    for number in 0..60 {
        let name = path(&format!("/n{number}"));
        let item = tree.item(&name).unwrap();
        if item.is_some() {
            note(
                "item",
                format!("{number} {:?} {:?}", tree.place(&name).unwrap(), tree.count(&name).unwrap()),
            );
        }
        if number % 8 == 0 {
            note(
                "entry",
                format!(
                    "{:?} {:?}",
                    tree.item(&path(&format!("/a[{}]", number / 8 + 1))).is_ok(),
                    item.is_some()
                ),
            );
        }
    }
}

fn same(left: &[String], right: &[String], what: &str) {
    let differs = |(left, right): &(&String, &String)| left != right;
    let first: Vec<_> = left.iter().zip(right).filter(differs).take(4).collect();
    assert!(first.is_empty() && left.len() == right.len(), "{what}: {first:#?}");
}

#[test]
fn hidden_instances_are_as_if_they_had_never_been() {
    for seed in seeds("ANNALS_SIGHT_SEED", 6) {
        let (mut random, mut twins, sight) = (Random(seed), Twins::new(), sight());
        for number in 0..60 {
            twins.step(&mut random, number);
            if random.one_in(6) || number == 59 {
                let all = Arc::new(Sight::new(vec![Grant::default()]).unwrap());
                let part = twins.part.snapshot().seen_by(&sight).unwrap();
                let plain = told(&twins.part.snapshot().seen_by(&all).unwrap());
                let seen = twins.whole.snapshot().seen_by(&sight).unwrap();
                let what = format!("seed {seed}, step {number}");
                same(&told(&seen), &told(&part), &what);
                same(&told(&part), &plain, &what);
            }
        }
        let position = Position(random.next() % twins.whole.snapshot().position().0);
        let as_of = AsOf { position: Some(position), ..AsOf::default() };
        let then = |repository: &Repository| {
            let seen = repository.snapshot().seen_by(&sight).unwrap();
            let late = repository.snapshot().as_of(as_of).unwrap().seen_by(&sight).unwrap();
            let then = told(&seen.as_of(as_of).unwrap());
            same(&told(&late), &then, "a sight of the past");
            then
        };
        same(&then(&twins.whole), &then(&twins.part), &format!("seed {seed} as of {position}"));
    }
}

#[test]
fn revoking_covers_the_past_and_declassifying_does_not_open_it() {
    let repository = Repository::in_memory();
    let page = |name: &str| NewEntity::new("page").id(name).unwrap();
    repository.transact(|t| t.create_entity(page("a"))).unwrap();
    repository.transact(|t| t.classify(&id("a"), ClassificationContent::new("confidential"))).unwrap();
    repository.transact(|t| t.create_entity(page("b"))).unwrap();
    let grant =
        Grant { entities: "page where not classified confidential".parse().unwrap(), ..Grant::default() };
    let sight = Arc::new(Sight::new(vec![grant]).unwrap());
    let at = |position| {
        let seen = repository.snapshot().seen_by(&sight).unwrap();
        seen.as_of(AsOf { position: Some(Position(position)), ..AsOf::default() }).unwrap()
    };
    assert!(at(1).entity(&id("a")).unwrap().is_none(), "it is confidential now");
    repository.transact(|t| t.declassify(&id("a"), "confidential")).unwrap();
    assert!(at(4).entity(&id("a")).unwrap().is_some());
    assert!(at(2).entity(&id("a")).unwrap().is_none(), "it was confidential then");
    assert!(at(1).entity(&id("a")).unwrap().is_some());
    let versions = at(4).history(&InstanceId::Entity(id("a")), &History::default()).unwrap();
    assert_eq!(versions.iter().map(|one| one.version).collect::<Vec<_>>(), [3, 1]);
    assert!(at(4).entity_version(&id("a"), 2).unwrap().is_none());
}

#[test]
fn a_container_opens_what_is_below_it_and_follows_moves() {
    let repository = Repository::in_memory();
    let contains = TypeDefinition::relationship("contains").containing();
    let contain = |from: &str, to: &str| {
        let new = NewRelationship::new("contains", id(from), id(to)).id(format!("in-{to}").as_str()).unwrap();
        new.property("name", to)
    };
    repository
        .transact(|t| {
            t.define_type(contains.clone())?;
            for name in ["open", "closed", "x", "y"] {
                t.create_entity(NewEntity::new("folder").id(name)?)?;
            }
            t.create_relationship(contain("open", "x"))?;
            t.create_relationship(contain("x", "y"))
        })
        .unwrap();
    let grant = Grant { under: Some(id("open")), ..Grant::default() };
    let sight = Arc::new(Sight::new(vec![grant]).unwrap());
    let ids = || {
        let seen = repository.snapshot().seen_by(&sight).unwrap();
        let page = seen.find_entities(&"* order by @id".parse().unwrap()).unwrap();
        page.items.iter().map(|one| one.id().to_string()).collect::<Vec<_>>()
    };
    assert_eq!(ids(), ["open", "x", "y"]);
    repository.transact(|t| t.relink(&id("in-x"), Some(&id("closed")), None)).unwrap();
    assert_eq!(ids(), ["open"]);
    repository.transact(|t| t.relink(&id("in-y"), Some(&id("open")), None)).unwrap();
    assert_eq!(ids(), ["open", "y"]);
}

#[test]
fn a_grant_that_cannot_be_one_is_refused() {
    for text in ["page where has out k", "page deleted with", "page proxies with", "page only article"] {
        let grant = Grant { entities: text.parse().unwrap(), ..Grant::default() };
        let error = Sight::new(vec![grant]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidArgument, "{text}: {error}");
    }
    // An unknown name admits nothing.
    let repository = Repository::in_memory();
    repository.transact(|t| t.define_type(TypeDefinition::entity("page"))).unwrap();
    repository.transact(|t| t.create_entity(NewEntity::new("page"))).unwrap();
    let grant = Grant { entities: "pge".parse().unwrap(), ..Grant::default() };
    let sight = Arc::new(Sight::new(vec![grant]).unwrap());
    assert_eq!(repository.snapshot().seen_by(&sight).unwrap().entities_count(), 0);
}

#[test]
fn several_grants_admit_what_each_of_them_admits() {
    let repository = Repository::in_memory();
    let mut random = Random(number_from_environment("ANNALS_SIGHT_SEED", fresh_seed()));
    let contains = TypeDefinition::relationship("contains").containing();
    repository.transact(|t| t.define_type(contains.clone())).unwrap();
    for number in 0..40 {
        let owner: Value = match random.below(3) {
            0 => Value::from(random.below(3) as i64),
            1 => Value::from(["ada", "Ada", "bob"][random.below(3)]),
            _ => Value::set([Value::from("ada"), Value::from(1)]).unwrap(),
        };
        let parent = (number > 0 && random.one_in(2)).then(|| id(&format!("e{}", random.below(number))));
        let type_name = *random.choose(&["a", "b", "c"]);
        repository
            .transact(|t| {
                let new =
                    NewEntity::new(type_name).id(&format!("e{number}"))?.property("owner", owner.clone());
                let own = t.create_entity(new)?;
                let Some(parent) = parent.clone() else { return Ok(()) };
                let contained = NewRelationship::new("contains", parent, own);
                t.create_relationship(contained.property("name", format!("n{number}"))).map(drop)
            })
            .unwrap();
    }
    let ids = |grants: Vec<Grant>| {
        let sight = Arc::new(Sight::new(grants).unwrap());
        let seen = repository.snapshot().seen_by(&sight).unwrap();
        let page = seen.find_entities(&"*".parse().unwrap()).unwrap();
        page.items.iter().map(|one| one.id().to_string()).collect::<std::collections::BTreeSet<_>>()
    };
    for round in 0..200 {
        let grants: Vec<Grant> = (0..1 + random.below(6))
            .map(|_| {
                let types = *random.choose(&["*", "a", "b", "a, c"]);
                let condition = *random.choose(&[
                    "",
                    " where owner = 1",
                    " where owner = 2",
                    " where owner = 'ada'",
                    " where owner = 'Ada'",
                    " where owner = 'ADA' nocase",
                    " where owner in (1, 'bob')",
                    " where owner != 1",
                    " where owner = 'ada' and @type = b",
                ]);
                let under = random.one_in(3).then(|| id(&format!("e{}", random.below(40))));
                let entities = format!("{types}{condition}").parse().unwrap();
                Grant { entities, under, relationships: Vec::new() }
            })
            .collect();
        let each = grants.iter().flat_map(|grant| ids(vec![grant.clone()])).collect();
        assert_eq!(ids(grants.clone()), each, "round {round}: {grants:#?}");
    }
}

/// Story: found by the mixture of changes. The purge of a relationship that contains left everything below it visible.
#[test]
fn a_purged_place_closes_what_is_below_it() {
    let repository = Repository::in_memory();
    let contain = |from: &str, to: &str| {
        let new = NewRelationship::new("contains", id(from), id(to)).id(format!("in-{to}").as_str()).unwrap();
        new.property("name", to)
    };
    repository
        .transact(|t| {
            t.define_type(TypeDefinition::relationship("contains").containing())?;
            for name in ["top", "a", "b"] {
                t.create_entity(NewEntity::new("page").id(name)?)?;
            }
            t.create_relationship(contain("top", "a"))?;
            t.create_relationship(contain("a", "b"))
        })
        .unwrap();
    let under = Grant { under: Some(id("top")), ..Grant::default() };
    let sight = Arc::new(Sight::new(vec![under]).unwrap());
    let count = || repository.snapshot().seen_by(&sight).unwrap().entities_count();
    assert_eq!(count(), 3);
    repository.transact(|t| t.purge(&InstanceId::Relationship(id("in-a")))).unwrap();
    assert_eq!(count(), 1);
    repository.transact(|t| t.create_relationship(contain("top", "a"))).unwrap();
    assert_eq!(count(), 3);
    // An id is a name: the grant admits what has it now.
    repository.transact(|t| t.reidentify(&InstanceId::Entity(id("top")), &id("old"))).unwrap();
    assert_eq!(count(), 0);
    repository.transact(|t| t.reidentify(&InstanceId::Entity(id("old")), &id("top"))).unwrap();
    assert_eq!(count(), 3);
}
