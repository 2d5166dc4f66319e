//! Graph queries give what naive walks over plain lists give: with any filters, now and as of any earlier position.
//!
//! A failure prints the seed; `ANNALS_GRAPH_SEED=n` repeats one, `ANNALS_GRAPH_SEEDS` makes a campaign.

use std::collections::{BTreeMap, BTreeSet};

use annals::*;

use crate::support::named::id;
use crate::support::plain_graph::{Plain, RandomGraph};
use crate::support::seeds;

/// Runs `check` on many random graphs.
fn for_each_graph(check: impl Fn(&mut RandomGraph)) {
    for seed in seeds("ANNALS_GRAPH_SEED", 40) {
        let mut graph =
            RandomGraph::new(seed, 4 + (seed as usize * 7) % 30, 4 + (seed as usize * 13) % 60, 25);
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| check(&mut graph)));
        if let Err(cause) = outcome {
            eprintln!("ANNALS_GRAPH_SEED={seed} repeats it");
            std::panic::resume_unwind(cause);
        }
    }
}

/// A start that the snapshot sees, and a walk of random filters.
fn query(graph: &mut RandomGraph) -> (Snapshot, Plain, Reach, String) {
    let (snapshot, plain) = graph.view();
    let reach = graph.reach();
    let live: Vec<&String> = plain.nodes.iter().filter(|(_, node)| node.is_live).map(|(id, _)| id).collect();
    let start = (*graph.random.choose(&live)).clone();
    (snapshot, plain, reach, start)
}

/// The edges that a neighbourhood lists.
fn edges_near(plain: &Plain, distances: &BTreeMap<String, usize>, reach: &Reach) -> BTreeSet<String> {
    let near =
        distances.iter().filter(|(_, distance)| reach.depth_max.is_none_or(|depth| **distance < depth));
    let hops = near.flat_map(|(node, _)| plain.hops(node, reach));
    hops.filter(|(_, to)| distances.contains_key(*to)).map(|(edge, _)| edge.to_owned()).collect()
}

#[test]
fn neighbourhoods_are_what_a_naive_walk_finds() {
    for_each_graph(|graph| {
        for _ in 0..12 {
            let (snapshot, plain, reach, start) = query(graph);
            let expected = plain.distances(&start, &reach);
            let near = snapshot.neighborhood(&id(&start), &reach).unwrap();
            let found: Vec<(String, usize)> =
                near.entities().map(|reached| (reached.id().to_string(), reached.distance)).collect();
            assert!(found.is_sorted_by_key(|(_, distance)| *distance));
            assert_eq!(found.len(), expected.len(), "each once: {start} {reach:?} {found:?}");
            assert_eq!(found.into_iter().collect::<BTreeMap<_, _>>(), expected, "{start} {reach:?}");
            let found: Vec<String> = near.relationships().map(|one| one.id().to_string()).collect();
            let edges = edges_near(&plain, &expected, &reach);
            assert_eq!(found.len(), edges.len(), "each once: {start} {reach:?} {found:?}");
            assert_eq!(found.into_iter().collect::<BTreeSet<_>>(), edges, "{start} {reach:?}");
            for reached in near.entities() {
                assert_eq!(
                    reached.entity().unwrap().type_name(),
                    plain.nodes[&reached.id().to_string()].type_name
                );
            }
            for crossed in near.relationships() {
                let edge = &plain.edges[&crossed.id().to_string()];
                let found = crossed.relationship().unwrap();
                assert_eq!(
                    (found.from().to_string(), found.to().to_string()),
                    (edge.from.clone(), edge.to.clone())
                );
            }
            compare_walk(&snapshot, &start, &reach, &expected, &edges);
        }
    });
}

/// The streamed walk gives the same, and every entity before what leads to it.
fn compare_walk(
    snapshot: &Snapshot,
    start: &str,
    reach: &Reach,
    distances: &BTreeMap<String, usize>,
    edges: &BTreeSet<String>,
) {
    let (mut nodes, mut listed) = (BTreeMap::new(), BTreeSet::new());
    for element in snapshot.walk(&id(start), reach).unwrap() {
        match element.unwrap() {
            Element::Entity(reached) => {
                assert!(nodes.insert(reached.id().to_string(), reached.distance).is_none(), "twice");
            }
            Element::Relationship(crossed) => {
                let one = crossed.relationship().unwrap();
                for end in [one.from(), one.to()] {
                    assert!(nodes.contains_key(&end.to_string()), "{end} comes before {one:?}");
                }
                assert!(listed.insert(crossed.id().to_string()), "twice");
            }
        }
    }
    assert_eq!((&nodes, &listed), (distances, edges));
    for depth in 0..4 {
        let reach = reach.clone().depth(depth);
        let expected: BTreeSet<&str> =
            distances.iter().filter(|(_, distance)| **distance == depth).map(|(id, _)| id.as_str()).collect();
        if reach.depth_max.is_some_and(|depth_max| depth_max < depth) {
            continue;
        }
        let found = snapshot.walk(&id(start), &reach).unwrap().entities();
        let found: BTreeSet<String> = found.map(|one| one.unwrap().id().to_string()).collect();
        if depth == 0 || distances.values().any(|known| *known >= depth) {
            assert_eq!(
                found.iter().map(String::as_str).collect::<BTreeSet<_>>(),
                expected,
                "{depth} {reach:?}"
            );
        }
    }
}

#[test]
fn a_shortest_path_is_as_long_as_a_naive_walk_says() {
    for_each_graph(|graph| {
        for _ in 0..10 {
            let (snapshot, plain, reach, start) = query(graph);
            let goal = graph.random.choose(&plain.nodes.keys().cloned().collect::<Vec<_>>()).clone();
            if !plain.nodes[&goal].is_live {
                continue;
            }
            let paths = plain.simple_paths(&start, &goal, &Reach { depth_max: Some(4), ..reach.clone() });
            let expected = paths.iter().map(Vec::len).min();
            let reach = Reach { depth_max: Some(4), ..reach };
            let found = snapshot.shortest_path(&id(&start), &id(&goal), &reach).unwrap();
            assert_eq!(found.as_ref().map(|path| path.steps.len()), expected, "{start} {goal} {reach:?}");
            let Some(path) = found else { continue };
            let edges: Vec<String> =
                path.steps.iter().map(|step| step.relationship.id().to_string()).collect();
            assert!(paths.contains(&edges), "{edges:?}");
            assert_eq!(path.steps.last().map_or(path.start.id(), |step| step.entity.id()), &id(&goal));
        }
    });
}

#[test]
fn relationships_of_an_entity_come_once_in_any_order_page_by_page() {
    for_each_graph(|graph| {
        for round in 0..12 {
            let (snapshot, plain, reach, start) = query(graph);
            // Such a list has one direction, and no condition.
            let types: Vec<String> = reach.types.iter().map(|along| along.type_name.clone()).collect();
            let reach = reach.relationship_where(Expression::everything());
            let reach = reach.over(types.iter().map(String::as_str));
            let mut of = RelationshipsOf {
                directions: reach.directions.clone(),
                types,
                statuses: reach.statuses.clone(),
                limit: 1 + graph.random.below(5),
                ..RelationshipsOf::both()
            };
            let by = [
                None,
                Some(Field::Header(Header::Id)),
                Some(Field::Header(Header::CreatedAt)),
                Some(Field::Header(Header::UpdatedAt)),
                Some(Field::from("weight")),
            ];
            let order = if graph.random.one_in(2) { Order::Ascending } else { Order::Descending };
            of.order.extend(by[round % 5].clone().map(|field| OrderBy { field, order }));
            if round % 3 == 0 && !of.order.is_empty() {
                of.order.push(OrderBy::descending(Header::Id));
            }
            let expected: BTreeSet<String> =
                plain.hops(&start, &reach).into_iter().map(|(edge, _)| edge.to_owned()).collect();
            assert_eq!(snapshot.relationships_of_count(&id(&start), &of).unwrap(), expected.len());
            let whole = RelationshipsOf { limit: 1_000, ..of.clone() };
            let whole: Vec<String> = ids(&snapshot.relationships_of(&id(&start), &whole).unwrap());
            assert_eq!(whole.iter().cloned().collect::<BTreeSet<_>>(), expected, "{of:?}");
            assert_eq!(whole.len(), expected.len(), "each once");
            check_order(&plain, &whole, &of.order);
            let mut paged = Vec::new();
            loop {
                let page = snapshot.relationships_of(&id(&start), &of).unwrap();
                paged.extend(ids(&page));
                let Some(next) = page.next else { break };
                assert_eq!(page.items.len(), of.limit);
                of.after = Some(next);
            }
            assert_eq!(paged, whole);
            let skip = graph.random.below(whole.len() + 2);
            let offset = RelationshipsOf { after: None, skip, ..of };
            let found = ids(&snapshot.relationships_of(&id(&start), &offset).unwrap());
            let end = whole.len().min(skip + offset.limit);
            assert_eq!(found, whole.get(skip..end).unwrap_or_default());
        }
    });
}

fn ids(page: &Page<Relationship>) -> Vec<String> {
    page.items.iter().map(|one| one.id().to_string()).collect()
}

fn check_order(plain: &Plain, found: &[String], order: &[OrderBy]) {
    let Some(first) = order.first() else { return };
    let is_descending = first.order == Order::Descending;
    match &first.field {
        Field::Header(Header::Id) if is_descending => assert!(found.is_sorted_by(|a, b| a > b)),
        Field::Header(Header::Id) => assert!(found.is_sorted()),
        Field::Property(_) => {
            let key = |id: &String| {
                let weight = plain.edges[id].weight;
                (weight.is_none(), weight.map(|weight| if is_descending { -weight } else { weight }))
            };
            assert!(found.is_sorted_by_key(key), "{found:?}");
            let is_by_id = order.len() > 1;
            assert!(!is_by_id || found.is_sorted_by(|a, b| key(a) != key(b) || a > b), "{found:?}");
        }
        _ => {}
    }
}

/// A small graph, so that all paths can be counted.
fn for_each_small_graph(check: impl Fn(&mut RandomGraph)) {
    for seed in seeds("ANNALS_GRAPH_SEED", 60) {
        let mut graph = RandomGraph::new(seed, 3 + seed as usize % 7, 3 + (seed as usize * 5) % 11, 6);
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| check(&mut graph)));
        if let Err(cause) = outcome {
            eprintln!("ANNALS_GRAPH_SEED={seed} repeats it");
            std::panic::resume_unwind(cause);
        }
    }
}

/// Two entities that the snapshot sees, and a walk of random filters to at most so many steps, or of any depth.
fn ends(graph: &mut RandomGraph) -> (Snapshot, Plain, Reach, String, String) {
    let (snapshot, plain, reach, start) = query(graph);
    let live: Vec<&String> = plain.nodes.iter().filter(|(_, node)| node.is_live).map(|(id, _)| id).collect();
    let goal = live[graph.random.below(live.len())].clone();
    (snapshot, plain, reach, start, goal)
}

#[test]
fn what_links_two_entities_is_the_union_of_all_simple_paths() {
    let check = |graph: &mut RandomGraph, depth_max: Option<usize>| {
        for _ in 0..12 {
            let (snapshot, plain, reach, start, goal) = ends(graph);
            let reach = Reach { depth_max: reach.depth_max.or(depth_max), ..reach };
            let paths = plain.simple_paths(&start, &goal, &reach);
            let edges: BTreeSet<String> = paths.iter().flatten().cloned().collect();
            let mut nodes: BTreeSet<String> = edges
                .iter()
                .flat_map(|edge| [plain.edges[edge].from.clone(), plain.edges[edge].to.clone()])
                .collect();
            if start == goal {
                nodes.insert(start.clone());
            }
            let found = snapshot.linking(&id(&start), &id(&goal), &reach).unwrap();
            let distances: Vec<usize> = found.entities().map(|reached| reached.distance).collect();
            assert!(distances.is_sorted());
            let listed: Vec<String> = found.entities().map(|reached| reached.id().to_string()).collect();
            assert_eq!(listed.len(), nodes.len(), "each once: {start} {goal} {reach:?} {found:?}");
            assert_eq!(listed.into_iter().collect::<BTreeSet<_>>(), nodes, "{start} {goal} {reach:?}");
            let listed: Vec<String> = found.relationships().map(|crossed| crossed.id().to_string()).collect();
            assert_eq!(listed.len(), edges.len(), "each once: {start} {goal} {reach:?} {found:?}");
            assert_eq!(listed.into_iter().collect::<BTreeSet<_>>(), edges, "{start} {goal} {reach:?}");
        }
    };
    for_each_graph(|graph| check(graph, Some(4)));
    for_each_small_graph(|graph| check(graph, None));
}

#[test]
fn the_shortest_paths_are_all_simple_paths_in_the_order_of_their_length() {
    for_each_small_graph(|graph| {
        for round in 0..8 {
            let (snapshot, plain, reach, start, goal) = ends(graph);
            let weight = (round % 2 == 1).then_some("weight");
            let reach = if weight.is_some() { Reach { depth_max: None, ..reach } } else { reach };
            let cost = |edge: &String| if weight.is_some() { plain.edges[edge].weight } else { Some(1) };
            let mut expected: Vec<(i64, Vec<String>)> = plain
                .simple_paths(&start, &goal, &reach)
                .into_iter()
                .filter_map(|path| Some((path.iter().map(cost).sum::<Option<i64>>()?, path)))
                .collect();
            expected.sort();
            let found = snapshot.shortest_paths(&id(&start), &id(&goal), &reach, weight).unwrap();
            let mut found: Vec<(i64, Vec<String>)> = found
                .map(|path| {
                    let path = path.unwrap();
                    let ids = path.steps.iter().map(|step| step.relationship.id().to_string());
                    assert_eq!(
                        path.steps.last().map_or(path.start.id(), |step| step.entity.id()),
                        &id(&goal)
                    );
                    (path.length as i64, ids.collect())
                })
                .collect();
            assert!(found.is_sorted_by_key(|(length, _)| *length), "{found:?}");
            found.sort();
            assert_eq!(found, expected, "{start} {goal} {reach:?} {weight:?}");
        }
    });
}

#[test]
fn related_entities_come_once_in_any_order_page_by_page_whatever_is_written_meanwhile() {
    for_each_graph(|graph| {
        for round in 0..6 {
            let (snapshot, plain, reach, start) = query(graph);
            let by = [None, Some(Header::Id), Some(Header::CreatedAt)];
            let order: Vec<OrderBy> = by[round % 3].map(OrderBy::ascending).into_iter().collect();
            let limit = 1 + graph.random.below(6);
            let mut related = Related {
                reach: reach.clone(),
                order: order.clone(),
                skip: 0,
                limit,
                is_counted: round % 2 == 0,
            };
            let mut expected = plain.distances(&start, &reach);
            expected.remove(&start);
            let mut found: Vec<(String, usize)> = Vec::new();
            let position = snapshot.position();
            loop {
                // Pages after the first read a later graph as of the position of the first.
                let later = graph.repository.snapshot();
                let later = later.as_of(AsOf { position: Some(position), ..AsOf::default() }).unwrap();
                let page = later.related(&id(&start), &related).unwrap();
                assert!(!related.is_counted || page.count == Some(expected.len()));
                found.extend(page.items.iter().map(|one| (one.id().to_string(), one.distance)));
                assert_eq!(page.has_more, found.len() < expected.len());
                if !page.has_more {
                    break;
                }
                related.skip += limit;
                graph.repository.transact(|t| t.create_entity(NewEntity::new("c"))).unwrap();
            }
            match by[round % 3] {
                None => assert!(found.is_sorted_by_key(|(_, distance)| *distance)),
                Some(Header::Id) => assert!(found.is_sorted()),
                Some(_) => assert!(found.is_sorted_by_key(|(id, _)| id[1..].parse::<usize>().unwrap())),
            }
            assert_eq!(found.len(), expected.len(), "each once");
            assert_eq!(found.into_iter().collect::<BTreeMap<_, _>>(), expected);
        }
    });
}

#[test]
fn what_two_entities_share_is_what_two_naive_walks_come_to() {
    for_each_graph(|graph| {
        for _ in 0..8 {
            let (snapshot, plain, reach, start, goal) = ends(graph);
            let far = plain.distances(&goal, &reach);
            let expected: BTreeMap<String, [usize; 2]> = plain
                .distances(&start, &reach)
                .into_iter()
                .filter(|(id, _)| *id != start && *id != goal)
                .filter_map(|(id, near)| far.get(&id).map(|far| (id.clone(), [near, *far])))
                .collect();
            let found = snapshot.shared(&id(&start), &id(&goal), &reach).unwrap();
            assert!(found.is_sorted_by_key(|one| one.distances.iter().sum::<usize>()));
            let found: BTreeMap<String, [usize; 2]> =
                found.iter().map(|one| (one.id().to_string(), one.distances)).collect();
            assert_eq!(found, expected, "{start} {goal} {reach:?}");
        }
    });
}

#[test]
fn a_purge_between_two_pages_takes_the_entity_out_of_the_pages_to_come() {
    let repository = Repository::in_memory();
    let (ids, first) = repository
        .transact(|t| {
            let ids = (0..10).map(|_| t.create_entity(NewEntity::new("a"))).collect::<Result<Vec<_>>>()?;
            for other in &ids[1..] {
                t.create_relationship(NewRelationship::new("x", ids[0].clone(), other.clone()))?;
            }
            Ok(ids)
        })
        .unwrap();
    let mut related = Related { limit: 3, ..Related::by(Reach::out()) };
    let page = repository.snapshot();
    let page = page.related(&ids[0], &related).unwrap();
    assert_eq!(page.items.iter().map(Reached::id).collect::<Vec<_>>(), [&ids[1], &ids[2], &ids[3]]);
    repository.transact(|t| t.purge(&InstanceId::Entity(ids[5].clone()))).unwrap();
    related.skip = 3;
    let then = AsOf { position: Some(first.position), ..AsOf::default() };
    let snapshot = repository.snapshot().as_of(then).unwrap();
    let page = snapshot.related(&ids[0], &related).unwrap();
    assert_eq!(page.items.iter().map(Reached::id).collect::<Vec<_>>(), [&ids[4], &ids[6]]);
    assert!(page.has_more);
}

#[test]
fn unknown_names_bounds_and_bad_ranges_are_refused() {
    let graph = RandomGraph::new(7, 20, 60, 10);
    let snapshot = graph.repository.snapshot();
    let plain = graph.plains.last().unwrap();
    let start = id(plain.nodes.iter().find(|(_, node)| node.is_live).unwrap().0);
    let kind = |reach: &Reach| snapshot.neighborhood(&start, reach).map(drop).unwrap_err().kind();
    assert_eq!(kind(&Reach::both().over(["nothing"])), ErrorKind::NotFound);
    // A type, but of entities.
    assert_eq!(kind(&Reach::both().over(["a"])), ErrorKind::NotFound);
    assert_eq!(kind(&Reach::both().through(["x"])), ErrorKind::NotFound);
    assert_eq!(kind(&Reach::both().classified(["a"])), ErrorKind::NotFound);
    assert_eq!(kind(&Reach::both().with_statuses([""])), ErrorKind::InvalidArgument);
    assert_eq!(kind(&Reach::both().depth_min(3).depth_max(2)), ErrorKind::InvalidArgument);
    assert_eq!(kind(&Reach { directions: Vec::new(), ..Reach::both() }), ErrorKind::InvalidArgument);
    assert_eq!(kind(&Reach::both().visited_max(0)), ErrorKind::TooLarge);
    let error = snapshot.neighborhood(&start, &Reach::both().visited_max(2)).unwrap_err();
    assert!(error.text().contains("visited_max"), "{error}");
    assert_eq!(snapshot.neighborhood(&start, &Reach::both().depth_max(0)).unwrap().entities().len(), 1);
    let unknown = snapshot.neighborhood(&id("nobody"), &Reach::both()).unwrap_err();
    assert_eq!(unknown.kind(), ErrorKind::NotFound);
    let turned = snapshot.neighborhood(&start, &Reach::both().over(["x:up"])).unwrap_err();
    assert_eq!(turned.kind(), ErrorKind::InvalidArgument);
    assert!(turned.text().contains("expected in, out or both behind x:"), "{turned}");
    let bare = snapshot.neighborhood(&start, &Reach::both().over(["x:in"])).unwrap_err();
    assert!(bare.text().contains("parse the text as an Along"), "{bare}");
    assert_eq!(kind(&Reach::both().over(["nothing:in"])), ErrorKind::NotFound);
    let on = |condition: &str| Reach::both().entity_where(condition.parse().unwrap());
    assert_eq!(kind(&on("soze > 1")), ErrorKind::NotFound);
    assert_eq!(kind(&on("is nothing")), ErrorKind::NotFound);
    assert_eq!(kind(&on("@createdAt > 5")), ErrorKind::InvalidExpression);
    let on_link = |condition: &str| Reach::both().relationship_where(condition.parse().unwrap());
    assert_eq!(kind(&on_link("has out x")), ErrorKind::InvalidExpression);
    assert_eq!(kind(&on_link("weigth > 1")), ErrorKind::NotFound);
    let deep = (0..40).fold(Expression::everything(), |inner, _| Expression::Any(vec![inner]));
    assert_eq!(kind(&Reach::both().entity_where(deep)), ErrorKind::TooLarge);
    let weighed = snapshot.shortest_paths(&start, &start, &Reach::both().depth_max(1), Some("weight"));
    assert_eq!(weighed.map(drop).unwrap_err().kind(), ErrorKind::InvalidArgument);
    let foreign = RelationshipsOf { after: Some("1f00".into()), ..RelationshipsOf::both() };
    let foreign = snapshot.relationships_of(&start, &foreign).unwrap_err();
    assert_eq!(foreign.kind(), ErrorKind::InvalidPage);
}

#[test]
#[allow(clippy::mutable_key_type, reason = "what an index knows of its texts is no part of a value")]
fn groups_are_what_is_reachable_counted_by_value() {
    for_each_graph(|graph| {
        for round in 0..8 {
            let (snapshot, plain, reach, start) = query(graph);
            let by: Field = if round % 2 == 0 { "size".into() } else { Header::Type.into() };
            let mut expected: BTreeMap<String, usize> = BTreeMap::new();
            let reached = plain.distances(&start, &reach);
            for name in reached.keys().filter(|name| **name != start) {
                let node = &plain.nodes[name];
                let value = match round % 2 {
                    0 => node.size.map(Value::from),
                    _ => Some(Value::from(&*node.type_name)),
                };
                *expected.entry(format!("{value:?}")).or_default() += 1;
            }
            let found = snapshot.groups(&id(&start), &reach, &by).unwrap();
            assert_eq!(found.count, reached.len() - 1);
            assert!(found.groups.is_sorted_by_key(|group| std::cmp::Reverse(group.count)), "{found:?}");
            let found = found.groups.into_iter().map(|group| (format!("{:?}", group.value), group.count));
            assert_eq!(found.collect::<BTreeMap<_, _>>(), expected, "{start} {reach:?}");
        }
    });
}

#[test]
fn members_of_a_set_are_counted_one_by_one_and_too_many_values_are_refused() {
    let repository = Repository::in_memory();
    let (hub, _) = repository
        .transact(|t| {
            let hub = t.create_entity(NewEntity::new("hub"))?;
            for number in 0..=GROUPS_MAX as i64 {
                let tags = Value::set(["all".into(), Value::from(number % 2)])?;
                let leaf = NewEntity::new("leaf").property("number", number).property("tags", tags);
                let leaf = t.create_entity(leaf)?;
                t.create_relationship(NewRelationship::new("x", hub.clone(), leaf))?;
            }
            Ok(hub)
        })
        .unwrap();
    let snapshot = repository.snapshot();
    let found = snapshot.groups(&hub, &Reach::out(), &"tags".into()).unwrap();
    let counts: Vec<usize> = found.groups.iter().map(|group| group.count).collect();
    assert_eq!((found.count, &*counts), (GROUPS_MAX + 1, &[10_001, 5_001, 5_000][..]));
    let error = snapshot.groups(&hub, &Reach::out(), &"number".into()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TooLarge);
    let few = Reach::out().entity_where("number < 10000".parse().unwrap());
    assert_eq!(snapshot.groups(&hub, &few, &"number".into()).unwrap().groups.len(), GROUPS_MAX);
    assert_eq!(
        snapshot.groups(&hub, &few, &Field::AnyText).unwrap_err().kind(),
        ErrorKind::InvalidExpression
    );
}

#[test]
fn a_read_that_is_called_off_ends() {
    let graph = RandomGraph::new(3, 30, 60, 0);
    let present = graph.repository.snapshot();
    let cancel = Cancel::new();
    let snapshot = present.cancelled_by(&cancel);
    let (start, goal) = (id("n0"), id("n1"));
    let mut walk = snapshot.walk(&start, &Reach::both()).unwrap();
    assert!(walk.next().unwrap().is_ok());
    cancel.cancel();
    assert_eq!(walk.next().unwrap().unwrap_err().kind(), ErrorKind::Cancelled);
    assert!(walk.next().is_none(), "it ends after an error");
    let over = present.cancelled_by(&Cancel::after(std::time::Duration::ZERO));
    for snapshot in [&snapshot, &over] {
        let kinds = [
            snapshot.neighborhood(&start, &Reach::both()).map(drop),
            snapshot.linking(&start, &goal, &Reach::both()).map(drop),
            snapshot.shortest_path(&start, &goal, &Reach::both()).map(drop),
            snapshot.related(&start, &Related::by(Reach::both())).map(drop),
            snapshot.shared(&start, &goal, &Reach::both()).map(drop),
            snapshot.shortest_paths(&start, &goal, &Reach::both(), None).unwrap().next().unwrap().map(drop),
        ];
        for kind in kinds {
            assert_eq!(kind.unwrap_err().kind(), ErrorKind::Cancelled);
        }
    }
    assert!(present.neighborhood(&start, &Reach::both()).is_ok(), "the snapshot it was made from goes on");
}

#[test]
fn a_walk_that_was_forgotten_is_walked_again() {
    let graph = RandomGraph::new(11, 60, 120, 0);
    let snapshot = graph.repository.snapshot();
    let ids = |page: &RelatedPage| page.items.iter().map(|one| one.id().clone()).collect::<Vec<Id>>();
    // More walks than are kept, all begun before any goes on.
    let mut walks: Vec<(Id, Related, Vec<Id>)> = (0..60)
        .map(|number| {
            (id(&format!("n{number}")), Related { limit: 7, ..Related::by(Reach::both()) }, Vec::new())
        })
        .collect();
    let mut is_going = true;
    while is_going {
        is_going = false;
        for (start, related, found) in &mut walks {
            let page = snapshot.related(start, related).unwrap();
            found.extend(ids(&page));
            is_going |= page.has_more;
            related.skip += related.limit;
        }
    }
    for (start, _, found) in &walks {
        let whole: Vec<Id> =
            snapshot.reachable(start, &Reach::both()).unwrap().iter().map(|one| one.id().clone()).collect();
        assert_eq!(*found, whole);
    }
    let long = walks.iter().filter(|(_, _, found)| found.len() > 14).count();
    assert!(long > 40, "{long} walks of more than two pages are more than are kept");
}
