//! Graph queries give what naive walks over plain lists give: with any filters, now and as of any earlier position.
//!
//! A failure prints the seed; `ANNALS_GRAPH_SEED=n` repeats one, `ANNALS_GRAPH_SEEDS` makes a campaign.

mod support;

use std::collections::{BTreeMap, BTreeSet};

use annals::*;

use support::number_from_environment;
use support::plain_graph::{Plain, RandomGraph};

fn id(text: &str) -> Id {
    Id::new(text).unwrap()
}

/// Runs `check` on many random graphs.
fn for_each_graph(check: impl Fn(&mut RandomGraph)) {
    let first = number_from_environment("ANNALS_GRAPH_SEED", 1);
    let count = if std::env::var("ANNALS_GRAPH_SEED").is_ok() {
        1
    } else {
        number_from_environment("ANNALS_GRAPH_SEEDS", 40)
    };
    for seed in first..first + count {
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
            let mut of = RelationshipsOf {
                directions: reach.directions.clone(),
                types: reach.types.clone(),
                statuses: reach.statuses.clone(),
                limit: 1 + graph.random.below(5),
                ..RelationshipsOf::both()
            };
            let by = [
                None,
                Some(SortBy::Id),
                Some(SortBy::Created),
                Some(SortBy::Updated),
                Some(SortBy::Property("weight".into())),
            ];
            let order = if graph.random.one_in(2) { Order::Ascending } else { Order::Descending };
            of.sort = by[round % 5].clone().map(|by| Sort { by, order });
            let expected: BTreeSet<String> =
                plain.hops(&start, &reach).into_iter().map(|(edge, _)| edge.to_owned()).collect();
            assert_eq!(snapshot.relationships_of_count(&id(&start), &of).unwrap(), expected.len());
            let whole = RelationshipsOf { limit: 1_000, ..of.clone() };
            let whole: Vec<String> = ids(&snapshot.relationships_of(&id(&start), &whole).unwrap());
            assert_eq!(whole.iter().cloned().collect::<BTreeSet<_>>(), expected, "{of:?}");
            assert_eq!(whole.len(), expected.len(), "each once");
            check_order(&plain, &whole, of.sort.as_ref());
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

fn check_order(plain: &Plain, found: &[String], sort: Option<&Sort>) {
    let is_descending = sort.is_some_and(|sort| sort.order == Order::Descending);
    match sort.map(|sort| &sort.by) {
        Some(SortBy::Id) if is_descending => assert!(found.is_sorted_by(|a, b| a > b)),
        Some(SortBy::Id) => assert!(found.is_sorted()),
        Some(SortBy::Property(_)) => {
            let key = |id: &String| {
                let weight = plain.edges[id].weight;
                (weight.is_none(), weight.map(|weight| if is_descending { -weight } else { weight }))
            };
            assert!(found.is_sorted_by_key(key), "{found:?}");
        }
        _ => {}
    }
}
