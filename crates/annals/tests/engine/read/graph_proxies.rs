//! Walks go through proxies of entities that are not here, and list the entities behind them.

use crate::support::named::id;
use annals::*;

fn there(version: u32) -> CopyHeader {
    let stamp = Stamp { instant: "2020-01-01".parse().unwrap(), author: "x".into() };
    let (created, updated) = (stamp.clone(), stamp);
    CopyHeader { provenance: Provenance::of_home("there"), version, status: None, created, updated }
}

/// `hub` is linked with `a`, a proxy `far`, and behind it `b`; with `c` behind `a`.
fn with_proxy() -> (Repository, Position) {
    let repository = Repository::in_memory();
    let copy = |name: &str, from: &str, to: &str| {
        let (type_name, properties) = ("k".into(), Vec::new());
        RelationshipCopy { id: id(name), type_name, from: id(from), to: id(to), properties, header: there(1) }
    };
    let far = || EntityProxy {
        properties: vec![("size".into(), 2.into())],
        ..EntityProxy::new(id("far"), "t", "there")
    };
    let (_, receipt) = repository
        .transact(|t| {
            for (name, size) in [("hub", 0), ("a", 3), ("b", 1), ("c", 4)] {
                t.create_entity(NewEntity::new("t").id(name)?.property("size", size))?;
            }
            t.save_relationship_copy(copy("r1", "hub", "far"), [far()])?;
            t.create_relationship(NewRelationship::new("k", id("hub"), id("a")).id("r2")?)?;
            t.save_relationship_copy(copy("r3", "far", "b"), [])?;
            t.create_relationship(NewRelationship::new("k", id("a"), id("c")).id("r4")?)?;
            t.create_relationship(NewRelationship::new("k", id("b"), id("c")).id("r5")?)
        })
        .unwrap();
    (repository, receipt.position)
}

#[test]
fn proxies_are_walked_through_and_not_listed() {
    let (repository, first) = with_proxy();
    let check = |snapshot: &Snapshot| {
        let near = snapshot.neighborhood(&id("hub"), &Reach::both().depth_max(2)).unwrap();
        let entities: Vec<String> = near.entities().map(|one| format!("{one:?}")).collect();
        assert_eq!(entities, ["hub at 0", "a at 1", "b at 2", "c at 2"]);
        assert_eq!(near.relationships().len(), 4, "those that lead to a proxy are listed");
        let walked: Vec<Element> =
            snapshot.walk(&id("hub"), &Reach::both()).unwrap().collect::<Result<_>>().unwrap();
        let is_far = |one: &Element| matches!(one, Element::Entity(reached) if reached.id() == &id("far"));
        assert_eq!((walked.len(), walked.iter().any(is_far)), (4 + 5, false));
        let reached = snapshot.reachable(&id("hub"), &Reach::out()).unwrap();
        assert_eq!(reached.iter().map(|one| one.id().to_string()).collect::<Vec<_>>(), ["a", "b", "c"]);
        let from_far = snapshot.neighborhood(&id("far"), &Reach::both().depth_max(1)).unwrap();
        assert_eq!(from_far.entities().map(|one| one.id()).collect::<Vec<_>>(), [&id("b"), &id("hub")]);
        let linking = snapshot.linking(&id("hub"), &id("c"), &Reach::out()).unwrap();
        assert_eq!((linking.entities().len(), linking.relationships().len()), (4, 5));
        assert_eq!(snapshot.linking(&id("far"), &id("far"), &Reach::out()).unwrap().entities().len(), 0);
        let shared = snapshot.shared(&id("hub"), &id("b"), &Reach::both().depth_max(1)).unwrap();
        assert_eq!(shared.len(), 0, "only the proxy");
        let shared = snapshot.shared(&id("hub"), &id("b"), &Reach::both().depth_max(2)).unwrap();
        assert_eq!(shared.len(), 2);
    };
    check(&repository.snapshot());
    repository
        .transact(|t| {
            t.save_entity_copy(EntityCopy {
                id: id("far"),
                type_name: "t".into(),
                properties: Vec::new(),
                classifications: Vec::new(),
                header: there(2),
            })
        })
        .unwrap();
    let now = repository.snapshot();
    assert_eq!(now.neighborhood(&id("hub"), &Reach::both().depth_max(2)).unwrap().entities().len(), 5);
    check(&now.as_of(AsOf { position: Some(first), ..AsOf::default() }).unwrap());
}

#[test]
fn pages_of_related_entities_leave_proxies_out_and_follow_another_id() {
    for order in [Vec::new(), vec![OrderBy::ascending("size")], vec![OrderBy::descending(Header::Id)]] {
        let (repository, first) = with_proxy();
        let expected: &[&str] = match order.first().map(|key| &key.field) {
            None => &["a", "b", "c"],
            Some(Field::Header(_)) => &["c", "b", "a"],
            Some(_) => &["b", "a", "c"],
        };
        for limit in 1..4 {
            let mut related = Related { limit, order: order.clone(), ..Related::by(Reach::both()) };
            let mut found = Vec::new();
            loop {
                let then =
                    repository.snapshot().as_of(AsOf { position: Some(first), ..AsOf::default() }).unwrap();
                let page = then.related(&id("hub"), &related).unwrap();
                found.extend(page.items.iter().map(|one| {
                    assert_eq!(one.id(), one.entity().unwrap().id());
                    one.id().to_string()
                }));
                if !page.has_more {
                    break;
                }
                assert_eq!(page.items.len(), limit);
                related.skip += limit;
                // The next page goes over another graph, in which it has another id.
                let (now, next) = (repository.snapshot(), format!("c{limit}{}", related.skip));
                let known = ["c"]
                    .into_iter()
                    .map(str::to_owned)
                    .chain((1..9).flat_map(|a| (1..9).map(move |b| format!("c{a}{b}"))));
                let at = known.into_iter().find(|name| now.entity(&id(name)).unwrap().is_some()).unwrap();
                repository.transact(|t| t.reidentify(&InstanceId::Entity(id(&at)), &id(&next))).unwrap();
            }
            assert_eq!(found, expected, "{order:?} {limit}");
        }
    }
}

#[test]
fn searches_by_home_leave_proxies_out_unless_asked_for() {
    let (repository, first) = with_proxy();
    let now = repository.snapshot();
    let then = now.as_of(AsOf { position: Some(first), ..AsOf::default() }).unwrap();
    for snapshot in [&now, &then] {
        let found = |text: &str| {
            let page = snapshot.find_entities(&Find::parse(text).unwrap()).unwrap();
            page.items.iter().map(|one| one.id().to_string()).collect::<Vec<_>>()
        };
        assert_eq!(found("where @home = 'there'"), [""; 0]);
        assert_eq!(found("t where @home = 'there' order by size"), [""; 0]);
        assert_eq!(found("where @home = 'there' proxies with"), ["far"]);
        assert_eq!(found("t where size = 2 proxies with"), ["far"]);
        assert_eq!(found("t order by size desc"), ["c", "a", "b", "hub"]);
    }
}
