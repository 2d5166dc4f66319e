//! How long graph queries take per element visited, beside their bars. Measured only when asked for:
//! `cargo test --release -p annals --test engine graph_speed -- --ignored --nocapture`.

use std::time::{Duration, Instant};

use annals::*;

use crate::support::Random;

/// Bar for neighbourhoods and related entities, per entity or relationship visited.
const ELEMENT_MAX: Duration = Duration::from_micros(1);
/// Bar for what links two entities of a graph of 20,000 instances.
const LINKING_MAX: Duration = Duration::from_millis(5);
fn entity(number: usize) -> Id {
    Id::new(&format!("e{number}")).unwrap()
}

/// So many entities in one piece and so many relationships; every fifth end is one of twenty hubs.
fn graph(entities: usize, relationships: usize) -> Repository {
    let repository = Repository::in_memory();
    let mut random = Random(7);
    repository
        .transact(|t| {
            for number in 0..entities {
                let name = format!("type{}", number % 50);
                t.create_entity(
                    NewEntity::new(&name).id(&format!("e{number}"))?.property("n", number as i64),
                )?;
            }
            Ok(())
        })
        .unwrap();
    let end = |random: &mut Random| {
        if random.one_in(5) { random.below(20) } else { random.below(entities) }
    };
    let pairs: Vec<(usize, usize)> = (0..relationships)
        .map(|number| match number {
            // A tree first, so that all is in one piece.
            number if number + 1 < entities => (number + 1, random.below(number + 1).min(end(&mut random))),
            _ => (end(&mut random), end(&mut random)),
        })
        .collect();
    repository
        .transact(|t| {
            for (number, (from, to)) in pairs.iter().enumerate() {
                let name = format!("link{}", number % 40);
                t.create_relationship(NewRelationship::new(&name, entity(*from), entity(*to)))?;
            }
            Ok(())
        })
        .unwrap();
    // A few later changes, so that the past differs.
    let mut random = Random(9);
    repository
        .transact(|t| {
            for _ in 0..entities / 100 {
                t.update(&InstanceId::Entity(entity(random.below(entities))), Patch::new().set("n", 0))?;
            }
            Ok(())
        })
        .unwrap();
    repository
}

/// Queries of each kind: so many that a run takes seconds.
fn samples(entities: usize) -> usize {
    (4_000_000 / entities).clamp(20, 400)
}

/// Runs `work` on random starts, and gives the median time and the median time per element it counts.
fn measure(name: &str, entities: usize, mut work: impl FnMut(&mut Random) -> usize) -> (Duration, Duration) {
    let mut random = Random(3);
    let samples = samples(entities);
    let mut times: Vec<(Duration, usize)> = (0..samples)
        .map(|_| {
            let start = Instant::now();
            let count = work(&mut random);
            (start.elapsed(), count.max(1))
        })
        .collect();
    times.sort();
    let middle = times[samples / 2];
    let slow = times[samples * 99 / 100];
    let total: Duration = times.iter().map(|(time, _)| *time).sum();
    let counted: usize = times.iter().map(|(_, count)| count).sum();
    let each = total / u32::try_from(counted).unwrap();
    eprintln!(
        "{entities:>9} entities  {name:<34} median {:>10.1?} ({} elements)  p99 {:>10.1?} ({})  {each:.0?} per element",
        middle.0, middle.1, slow.0, slow.1
    );
    (middle.0, each)
}

fn run(entities: usize, relationships: usize) {
    let repository = graph(entities, relationships);
    let present = repository.snapshot();
    let past = present.as_of(AsOf { position: Some(Position(2)), ..AsOf::default() }).unwrap();
    let any = |random: &mut Random| entity(random.below(entities));
    let count = |subgraph: Subgraph| subgraph.entities().len() + subgraph.relationships().len();
    for depth in 1..=3 {
        let reach = Reach::both().depth_max(depth);
        let name = format!("neighbourhood to depth {depth}");
        let (_, each) =
            measure(&name, entities, |random| count(present.neighborhood(&any(random), &reach).unwrap()));
        assert!(each <= ELEMENT_MAX, "{name}: {each:?} per element");
        let name = format!("{name}, as of then");
        measure(&name, entities, |random| count(past.neighborhood(&any(random), &reach).unwrap()));
    }
    let filtered = Reach::both().depth_max(3).through(["type1", "type2", "type3"]);
    measure("neighbourhood, of three types", entities, |random| {
        count(present.neighborhood(&any(random), &filtered).unwrap())
    });
    let all = Reach::both();
    let (_, each) =
        measure("reachable", entities, |random| present.reachable(&any(random), &all).unwrap().len());
    assert!(each <= ELEMENT_MAX, "reachable: {each:?} per element");
    let mut related = Related { limit: 10, ..Related::by(Reach::both()) };
    measure("related, first page of ten", entities, |random| {
        related.skip = 0;
        present.related(&any(random), &related).unwrap().items.len()
    });
    measure("related, each next page", entities, |_| {
        related.skip += 10;
        present.related(&entity(0), &related).unwrap().items.len()
    });
    measure("shortest path", entities, |random| {
        present.shortest_path(&any(random), &any(random), &all).unwrap().map_or(1, |path| path.steps.len())
    });
    measure("five shortest paths", entities, |random| {
        present.shortest_paths(&any(random), &any(random), &all, None).unwrap().take(5).count()
    });
    let (median, _) = measure("linking", entities, |random| {
        count(present.linking(&any(random), &any(random), &all).unwrap())
    });
    if entities + relationships <= 20_000 {
        assert!(median <= LINKING_MAX, "linking: {median:?}");
    }
    let near = Reach::both().depth_max(4);
    let is_told = |result: Result<Subgraph>| result.map_or(1, count);
    measure("linking to depth 4", entities, |random| {
        is_told(present.linking(&any(random), &any(random), &near))
    });
    let sorted = RelationshipsOf { limit: 10, ..RelationshipsOf::both() };
    measure("relationships of a hub, a page of ten", entities, |random| {
        present.relationships_of(&entity(random.below(20)), &sorted).unwrap().items.len()
    });
}

#[test]
#[ignore = "measures; run it alone, with --release"]
fn graph_queries_keep_their_bars() {
    run(10_000, 10_000);
    run(10_000, 30_000);
    run(200_000, 400_000);
}
