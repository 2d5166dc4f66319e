//! A set that a reader keeps by the events of a watch is what the search finds, after any history: also after purges and
//! declarations.

use std::collections::BTreeSet;
use std::sync::Arc;

use annals::*;

use crate::support::named::{entity, id, relationship};
use crate::support::operations::{Generator, Operation, SHAPES, Timed, first_definitions, push};
use crate::support::trees::path;
use crate::support::{CheckedRepository, Random, seeds};

/// A set that is kept by events.
struct Kept {
    kind: TypeKind,
    find: Find,
    subscription: Subscription,
    set: BTreeSet<InstanceId>,
    read_again_count: usize,
}

fn found(snapshot: &Snapshot, kind: TypeKind, find: &Find) -> BTreeSet<InstanceId> {
    let find = find.clone().limit(1_000);
    let found = match kind {
        TypeKind::Relationship => snapshot.find_relationships(&find).map(|page| {
            page.items.into_iter().map(|found| InstanceId::Relationship(found.id().clone())).collect()
        }),
        _ => snapshot
            .find_entities(&find)
            .map(|page| page.items.into_iter().map(|found| InstanceId::Entity(found.id().clone())).collect()),
    };
    match found {
        // A property that nothing has.
        Err(error) if error.kind() == ErrorKind::NotFound => BTreeSet::new(),
        found => found.unwrap(),
    }
}

impl Kept {
    fn new(repository: &Repository, kind: TypeKind, text: &str) -> Kept {
        let find = Find::parse(text).unwrap();
        let watch = Watch::Search { kind, find: Box::new(find.clone()) };
        let subscription = repository.subscribe(watch, None).unwrap();
        let set = found(&repository.snapshot(), kind, &find);
        Kept { kind, find, subscription, set, read_again_count: 0 }
    }

    /// Applies all events so far.
    fn follow(&mut self, repository: &Repository) {
        while let Some(event) = self.subscription.poll().unwrap() {
            if event.read_again {
                let then = AsOf { position: Some(event.position), ..AsOf::default() };
                self.set = found(&repository.snapshot().as_of(then).unwrap(), self.kind, &self.find);
                self.read_again_count += 1;
                continue;
            }
            for change in &event.changes {
                let WatchedChange::Instance(change) = change else { panic!("{change:?}") };
                match change {
                    InstanceChange::Appeared(id) => drop(self.set.insert(id.clone())),
                    InstanceChange::Disappeared(id) => drop(self.set.remove(id)),
                    // It may have another id now.
                    InstanceChange::Changed(id, difference) => {
                        if let Some((before, _)) = &difference.id {
                            self.set.remove(&match id {
                                InstanceId::Entity(_) => InstanceId::Entity(before.clone()),
                                InstanceId::Relationship(_) => InstanceId::Relationship(before.clone()),
                            });
                        }
                        self.set.insert(id.clone());
                    }
                }
            }
        }
    }

    fn compare(&mut self, repository: &Repository, what: &str) {
        self.follow(repository);
        assert_eq!(self.set, found(&repository.snapshot(), self.kind, &self.find), "{} {what}", self.find);
    }
}

const ENTITIES: [&str; 6] = [
    "t0",
    "*",
    "t1, t2 where p0 = 1",
    "* where classified c0",
    "* where is t0",
    "t0 where not classified c1",
];

#[test]
fn a_set_kept_by_events_is_what_the_search_finds_after_every_commit() {
    let mut purges = 0;
    for seed in seeds("ANNALS_WATCH_SEED", 8) {
        let shape = SHAPES[(seed % 4) as usize];
        let mut generator = Generator {
            random: Random(seed),
            shape,
            instants: Vec::new(),
            has_homes: seed.is_multiple_of(2),
        };
        let repository = CheckedRepository::in_memory();
        let declared =
            |t: &mut Transaction| first_definitions().into_iter().try_for_each(|one| t.define_type(one));
        repository.transact(declared).unwrap();
        // Names in conditions are known from the beginning.
        repository
            .transact(|t| {
                let known = |name: &str| ClassificationContent::new(name);
                let all = ["t0", "t1", "t2"].map(|name| NewEntity::new(name).property("p0", 0));
                all.into_iter().try_for_each(|new| {
                    let id = t.create_entity(new)?;
                    ["c0", "c1"].into_iter().try_for_each(|name| t.classify(&id, known(name)))
                })
            })
            .unwrap();
        let mut all: Vec<Kept> =
            ENTITIES.iter().map(|text| Kept::new(&repository, TypeKind::Entity, text)).collect();
        all.extend(["k0", "*"].map(|text| Kept::new(&repository, TypeKind::Relationship, text)));
        // Read once in a while, so that purges come before the events of what they removed.
        let mut late: Vec<Kept> =
            ENTITIES.iter().map(|text| Kept::new(&repository, TypeKind::Entity, text)).collect();
        for step in 0..80 {
            let mut operations = generator.transaction();
            if generator.random.one_in(5) {
                let snapshot = repository.snapshot();
                let kind = *generator.random.choose(&[TypeKind::Entity, TypeKind::Relationship]);
                let there = Vec::from_iter(found(&snapshot, kind, &Find::parse("* deleted with").unwrap()));
                if let Some(instance) = there.get(generator.random.below(there.len().max(1))).cloned() {
                    operations = vec![(None, Operation::Act(Action::Purge(action::Purge { instance })))];
                }
            }
            // Alone, few of them are refused.
            let count = if generator.random.one_in(3) { operations.len() } else { 1 };
            for operations in operations.chunks(count) {
                let is_purge = |(_, operation): &Timed| matches!(operation, Operation::Act(Action::Purge(_)));
                let mut transaction = repository.transaction();
                let outcome = operations
                    .iter()
                    .try_for_each(|operation| push(&mut transaction, operation))
                    .and_then(|()| transaction.commit());
                purges += usize::from(outcome.is_ok() && operations.iter().any(is_purge));
                if let Ok(receipt) = outcome {
                    generator.instants.push(receipt.instant.micros());
                }
            }
            let what = format!("seed {seed} step {step}: {operations:?}");
            all.iter_mut().for_each(|kept| kept.compare(&repository, &what));
            for kept in &mut late {
                if generator.random.one_in(6) {
                    kept.compare(&repository, &what);
                }
            }
            if generator.random.one_in(40) {
                repository.compact().unwrap();
            }
        }
        // The events themselves say all, but for what a compaction took out before it was read.
        assert!(all.iter().all(|kept| kept.read_again_count == 0), "seed {seed}");
    }
    assert!(purges > 20, "{purges} records purged something");
}

fn watched(repository: &Repository, text: &str) -> Subscription {
    let watch = Watch::Search { kind: TypeKind::Entity, find: Box::new(Find::parse(text).unwrap()) };
    repository.subscribe(watch, None).unwrap()
}

fn lines(event: Option<Arc<Event>>) -> Vec<String> {
    let Some(event) = event else { return Vec::new() };
    let line = |change: &WatchedChange| match change {
        WatchedChange::Instance(InstanceChange::Appeared(id)) => format!("appeared {}", id.id()),
        WatchedChange::Instance(InstanceChange::Disappeared(id)) => format!("disappeared {}", id.id()),
        WatchedChange::Instance(InstanceChange::Changed(id, _)) => format!("changed {}", id.id()),
        WatchedChange::Tree(change) => format!("{:?} {}", change.kind, change.path),
    };
    let again = event.read_again.then(|| "read again".to_owned());
    event.changes.iter().map(line).chain(again).collect()
}

fn boxed() -> CheckedRepository {
    let repository = CheckedRepository::in_memory();
    repository
        .transact(|t| {
            t.define_type(TypeDefinition::relationship("contains").containing())?;
            t.tree().set(&path("/a/x/v"), "one")?;
            t.tree().set(&path("/a/y/v"), "two")?;
            t.tree().set(&path("/b/v"), "three")
        })
        .unwrap();
    repository
}

fn id_at(repository: &Repository, text: &str) -> InstanceId {
    let snapshot = repository.snapshot();
    let item = snapshot.tree().item(&path(text)).unwrap().unwrap();
    InstanceId::Entity(item.entity.id().clone())
}

/// Story: a client kept the configuration of a device by the feed, and kept what was purged for ever.
#[test]
fn the_purge_of_an_item_says_that_the_tree_must_be_read_again_where_it_was() {
    let repository = boxed();
    let watch = |text: &str| repository.subscribe(Watch::tree(text).unwrap(), None).unwrap();
    let mut watches = ["/", "/a", "/a/x", "/a/y", "/b"].map(watch);
    repository.transact(|t| t.purge(&id_at(&repository, "/a/x"))).unwrap();
    let told = watches.each_mut().map(|watch| lines(watch.poll().unwrap()));
    let again = || vec!["read again".to_owned()];
    assert_eq!(told, [again(), again(), again(), vec![], vec![]]);
    repository.transact(|t| t.purge(&id_at(&repository, "/b"))).unwrap();
    let told = watches.each_mut().map(|watch| lines(watch.poll().unwrap()));
    assert_eq!(told, [again(), vec![], vec![], vec![], again()]);
    repository.transact(|t| t.purge(&entity("root"))).unwrap();
    let told = watches.each_mut().map(|watch| lines(watch.poll().unwrap()));
    assert!(told.iter().all(|lines| *lines == again()), "{told:?}");
}

/// The item left the tree with its container, and was purged before the client asked: then no state shows that it had been
/// there, and the client kept it.
#[test]
fn a_reader_that_is_behind_reads_again_what_left_the_tree_before_it_was_purged() {
    let repository = boxed();
    let mut behind = repository.subscribe(Watch::tree("/a").unwrap(), None).unwrap();
    let gone = id_at(&repository, "/a");
    repository.transact(|t| t.delete(&entity("root"))).unwrap();
    repository.transact(|t| t.purge(&gone)).unwrap();
    let told: Vec<String> = (0..3).flat_map(|_| lines(behind.poll().unwrap())).collect();
    assert!(told.iter().any(|line| line == "read again"), "{told:?}");
}

#[test]
fn a_candidate_that_ends_is_no_event_of_other_watches() {
    let repository = boxed();
    let mut search = watched(&repository, "node");
    let mut tree = repository.subscribe(Watch::tree("/a").unwrap(), None).unwrap();
    repository.candidates().open("c", "").unwrap();
    repository.candidates().discard("c", "").unwrap();
    assert_eq!((lines(search.poll().unwrap()), lines(tree.poll().unwrap())), (vec![], vec![]));
}

#[test]
fn types_that_are_declared_below_others_bring_their_instances_into_searches() {
    let repository = CheckedRepository::in_memory();
    let new = |name: &str, type_name: &str| NewEntity::new(type_name).id(name).unwrap();
    repository
        .transact(|t| {
            t.define_type(TypeDefinition::entity("page"))?;
            t.create_entity(new("a", "article"))?;
            t.create_entity(new("p", "page")).map(drop)
        })
        .unwrap();
    let note = AttributeDefinition::new("note", ValueType::String);
    let mut pages = watched(&repository, "page");
    repository.transact(|t| t.define_type(TypeDefinition::entity("article").supertype("page"))).unwrap();
    assert_eq!(lines(pages.poll().unwrap()), ["appeared a"]);
    repository.transact(|t| t.define_type(TypeDefinition::entity("page").attribute(note.clone()))).unwrap();
    assert_eq!(lines(pages.poll().unwrap()), Vec::<String>::new());
}

/// Neither a compacted log nor a checkpoint holds which instances were purged.
#[test]
fn a_reader_that_missed_a_purge_before_a_compaction_or_a_restart_reads_again() {
    let folder = tempfile::tempdir().unwrap();
    let open = || CheckedRepository::open(folder.path().join("repository"));
    let repository = open();
    repository.transact(|t| t.create_entity(NewEntity::new("page").id("a")?).map(drop)).unwrap();
    repository.transact(|t| t.create_entity(NewEntity::new("page").id("b")?).map(drop)).unwrap();
    let before = repository.snapshot().position();
    repository.transact(|t| t.purge(&entity("a"))).unwrap();
    let resumed = |repository: &Repository| {
        let watch = Watch::entities_of("page");
        let mut subscription = repository.subscribe(watch, Some(before)).unwrap();
        [lines(subscription.poll().unwrap()), lines(subscription.poll().unwrap())]
    };
    assert_eq!(resumed(&repository), [vec!["disappeared a".to_owned()], vec![]]);
    repository.checkpoint().unwrap();
    repository.close();
    let repository = open();
    assert_eq!(resumed(&repository), [vec!["read again".to_owned()], vec![]]);
    repository.compact().unwrap();
    assert_eq!(resumed(&repository), [vec!["read again".to_owned()], vec![]]);
    repository.close();
    assert_eq!(resumed(&open()), [vec!["read again".to_owned()], vec![]]);
}

#[test]
fn a_reader_with_grants_learns_only_of_purges_of_what_it_saw() {
    let repository = CheckedRepository::in_memory();
    let page =
        |name: &str, is_public: bool| NewEntity::new("page").id(name).unwrap().property("public", is_public);
    repository
        .transact(|t| {
            t.define_type(TypeDefinition::relationship("contains").containing())?;
            t.create_entity(NewEntity::new("box").id("root")?.property("public", true))?;
            for (name, is_public) in [("open", true), ("closed", false)] {
                t.create_entity(page(name, is_public))?;
                let link = NewRelationship::new("contains", id("root"), id(name)).id(name)?;
                t.create_relationship(link.property("name", name))?;
            }
            t.create_entity(page("other", true)).map(drop)
        })
        .unwrap();
    let public: Find = "* where public = true".parse().unwrap();
    let sight = Arc::new(Sight::new(vec![Grant { entities: public, ..Grant::default() }]).unwrap());
    let before = repository.snapshot().position();
    let mut search = watched(&repository, "page");
    let mut tree = repository.subscribe(Watch::tree("/").unwrap(), None).unwrap();
    let nothing = Vec::<String>::new;
    let mut told = |repository: &Repository| {
        let seen = repository.snapshot().seen_by(&sight).unwrap();
        [lines(search.poll_in(&seen).unwrap()), lines(tree.poll_in(&seen).unwrap())]
    };
    assert_eq!(told(&repository), [nothing(), nothing()]);
    repository.transact(|t| t.purge(&entity("closed"))).unwrap();
    assert_eq!(told(&repository), [nothing(), nothing()]);
    repository.transact(|t| t.purge(&entity("open"))).unwrap();
    assert_eq!(told(&repository), [vec!["disappeared open".to_owned()], vec!["read again".to_owned()]]);
    // Nobody kept the sight from before: whether it had the purged ones is not known any more.
    let other = Arc::new(Sight::new(sight.grants().to_vec()).unwrap());
    let seen = repository.snapshot().seen_by(&other).unwrap();
    let mut late = repository.subscribe(Watch::entities_of("page"), Some(before)).unwrap();
    assert_eq!(lines(late.poll_in(&seen).unwrap()), ["read again"]);
    repository.transact(|t| t.purge(&relationship("closed"))).unwrap_err();
}
