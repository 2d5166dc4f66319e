//! The log, feeds and differences of positions under a sight: visible changes only, and nothing of hidden versions.

use annals::*;

use crate::support::access::{CANARY, secret, sight};
use crate::support::named::{entity, id};

fn page(name: &str, text: &str) -> NewEntity {
    NewEntity::new("page").id(name).unwrap().property("text", text)
}

fn link(name: &str, type_name: &str, from: &str, to: &str) -> NewRelationship {
    NewRelationship::new(type_name, id(from), id(to)).id(name).unwrap()
}

fn commit(repository: &Repository, message: &str, mut work: impl FnMut(&mut Transaction) -> Result<()>) {
    repository.transact(|t| work(t.author(message).message(message))).unwrap();
}

/// A page `open`, one `closed`, and one `late` that was closed once. The page `gone` was deleted with a closed one in it.
fn repository() -> Repository {
    let repository = Repository::in_memory();
    let moved = InstanceId::Relationship(id("moved"));
    let closed = |name: &str| NewEntity { classifications: vec![secret()], ..page(name, CANARY) };
    // Records 1 to 4.
    commit(&repository, "declared", |t| t.define_type(TypeDefinition::relationship("contains").containing()));
    commit(&repository, "opened", |t| {
        t.create_entity(page("open", "a"))?;
        t.create_entity(page("gone", "b")).map(drop)
    });
    commit(&repository, CANARY, |t| {
        t.create_entity(closed(CANARY))?;
        t.create_entity(closed("late"))?;
        t.create_entity(closed("CANARY-2"))?;
        t.create_relationship(link("CANARY-in", "contains", "gone", CANARY).property("name", CANARY))?;
        t.create_relationship(link("moved", "links", "open", "late").property("text", CANARY))?;
        t.create_relationship(link("CANARY-r", "CANARY-links", "open", CANARY)).map(drop)
    });
    commit(&repository, "mixed", |t| {
        t.update(&entity(CANARY), Patch::new().set("text", "CANARY again"))?;
        t.update(&entity("open"), Patch::new().set("text", "c"))
    });
    // Records 5 to 9.
    commit(&repository, "declassified", |t| {
        t.push_action(action::Replace {
            instance: entity("late"),
            properties: vec![("text".into(), "clean".into())],
            classifications: Some(Vec::new()),
            provenance: None,
        })?;
        t.replace(&moved, Vec::new())
    });
    commit(&repository, "noted", |t| t.update(&moved, Patch::new().set("n", 1)));
    commit(&repository, "deleted", |t| t.delete(&entity("gone")));
    commit(&repository, CANARY, |t| t.update(&entity("CANARY-2"), Patch::new().set("text", "CANARY again")));
    commit(&repository, "changed", |t| t.update(&entity("late"), Patch::new().set("text", "d")));
    repository
}

fn seen(repository: &Repository) -> Snapshot {
    repository.snapshot().seen_by(&sight(&[("page where not classified secret", None)])).unwrap()
}

fn told(text: &impl std::fmt::Debug) -> String {
    let text = format!("{text:?}");
    assert!(!text.contains(CANARY), "{text}");
    text
}

#[test]
fn the_log_shows_visible_changes_with_what_was_visible_before() {
    let repository = repository();
    let snapshot = seen(&repository);
    let page = snapshot.log(&LogQuery { is_oldest_first: true, ..LogQuery::default() }).unwrap();
    told(&page);
    let shown = |record: &LoggedRecord| (record.position.0, record.changes.len());
    let records: Vec<_> = page.records.iter().map(shown).collect();
    assert_eq!(records, [(2, 2), (4, 1), (5, 2), (6, 1), (7, 1), (9, 1)]);
    let change = |number: usize| match &page.records[number].changes[0] {
        LoggedChange::Instance(change) => (**change).clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!(change(2).difference.properties[0].before, None, "the version before was hidden");
    assert_eq!((change(4).relationships_count, change(4).contained_count), (0, 0));
    // Queries find nothing else.
    for query in [
        LogQuery { author: Some(CANARY.into()), ..LogQuery::default() },
        LogQuery { type_name: Some("CANARY-links".into()), ..LogQuery::default() },
        LogQuery { type_name: Some("contains".into()), ..LogQuery::default() },
        LogQuery { kind: Some(TypeKind::Enum), ..LogQuery::default() },
        LogQuery { verb: Some("define-type".into()), ..LogQuery::default() },
    ] {
        assert_eq!(snapshot.log(&query).unwrap().records, [], "{query:?}");
    }
    let of = |name: &str| snapshot.log(&LogQuery { id: Some(id(name)), ..LogQuery::default() });
    assert_eq!(of("late").unwrap().records.len(), 2);
    let texts = [CANARY, "absent"].map(|name| of(name).unwrap_err().to_string().replace(name, "x"));
    assert_eq!(texts[0], texts[1]);
}

#[test]
fn a_feed_shows_visible_changes_of_visible_versions() {
    let repository = repository();
    let mut follow = repository.follow(Position(0));
    let mut records = Vec::new();
    while let Some((position, record)) = follow.poll_in(&seen(&repository)).unwrap() {
        told(&record);
        records.push((position.0, record.changes.len()));
    }
    // The changes of record 5 came from hidden versions.
    assert_eq!(records, [(2, 2), (4, 1), (6, 1), (7, 1), (9, 1)]);
    assert_eq!(follow.position(), Position(10));
    // Grants are asked when a record is read.
    repository.transact(|t| t.classify(&id("open"), secret())).unwrap();
    let mut follow = repository.follow(Position(2));
    let next = follow.poll_in(&seen(&repository)).unwrap().map(|(position, _)| position);
    assert_eq!(next, Some(Position(7)));
}

#[test]
fn a_subscription_shows_what_appears_and_changes_for_the_reader() {
    let repository = repository();
    let watch = |kind: TypeKind| Watch::Search { kind, find: Box::new(Find::all()) };
    let events = |watch: Watch, after: u64| {
        let mut subscription = repository.subscribe(watch, Some(Position(after))).unwrap();
        let mut events = Vec::new();
        while let Some(event) = subscription.poll_in(&seen(&repository)).unwrap() {
            told(&event);
            let kinds = event.changes.iter().map(|change| match change {
                WatchedChange::Instance(InstanceChange::Appeared(_)) => '+',
                WatchedChange::Instance(InstanceChange::Disappeared(_)) => '-',
                _ => '~',
            });
            events.push((event.position.0, kinds.collect::<String>()));
        }
        events
    };
    let of =
        |all: &[(u64, &str)]| all.iter().map(|(at, kinds)| (*at, (*kinds).to_owned())).collect::<Vec<_>>();
    let entities = of(&[(2, "++"), (4, "~"), (5, "+"), (7, "-"), (9, "~")]);
    assert_eq!(events(watch(TypeKind::Entity), 0), entities);
    assert_eq!(events(watch(TypeKind::Entity), 5), of(&[(7, "-"), (9, "~")]));
    assert_eq!(events(watch(TypeKind::Relationship), 0), of(&[(5, "+"), (6, "~")]));
}

#[test]
fn a_difference_of_positions_is_that_of_the_visible_part() {
    let repository = repository();
    let snapshot = seen(&repository);
    let between = |from: u64, to: u64| {
        let changes = snapshot.changes_between(Position(from), Position(to)).unwrap();
        told(&changes);
        changes.len()
    };
    assert_eq!([between(0, 9), between(2, 3), between(3, 4), between(4, 5), between(7, 8)], [3, 0, 1, 2, 0]);
    assert!(matches!(
        snapshot.changes_between(Position(4), Position(5)).unwrap()[..],
        [InstanceChange::Appeared(_), InstanceChange::Appeared(_)]
    ));
}
