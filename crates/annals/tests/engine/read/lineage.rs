//! Lineage as it is modelled: jobs read tables and write tables, and the same of columns. Upstream and downstream are
//! compared with a recursive query in SQLite.
//!
//! A failure prints the seed; `ANNALS_GRAPH_SEED=n` repeats one, `ANNALS_GRAPH_SEEDS` makes a campaign.

use std::collections::{BTreeMap, BTreeSet};

use annals::*;
use rusqlite::Connection;

use crate::support::{Random, number_from_environment};

/// The repository and its copy in SQLite: `node(type, id, owner)` and `edge(type, from_id, to_id, since)`.
struct Lineage {
    repository: Repository,
    database: Connection,
    random: Random,
    nodes: Vec<String>,
}

impl Lineage {
    /// Tables with two columns each, and jobs that read some and write some; their columns go the same way.
    fn new(seed: u64) -> Lineage {
        let (repository, database, mut random) =
            (Repository::in_memory(), Connection::open_in_memory().unwrap(), Random(seed));
        database
            .execute_batch(
                "create table node(type text, id text primary key, owner text);
                 create table edge(type text, from_id text, to_id text, since integer);",
            )
            .unwrap();
        let (tables, jobs) = (3 + random.below(25), 2 + random.below(25));
        let mut nodes = Vec::new();
        for number in 0..tables {
            nodes.extend([("table", format!("table:{number}")), ("column", format!("column:{number}.a"))]);
            nodes.push(("column", format!("column:{number}.b")));
        }
        nodes.extend((0..jobs).map(|number| ("job", format!("job:{number}"))));
        let mut edges = Vec::new();
        for job in 0..jobs {
            for (type_name, most) in [("reads", 3), ("writes", 2)] {
                for _ in 0..random.below(most + 1) {
                    let (table, column) = (random.below(tables), random.choose(&["a", "b"]));
                    let job = format!("job:{job}");
                    edges.push((type_name, job.clone(), format!("table:{table}")));
                    edges.push((type_name, job, format!("column:{table}.{column}")));
                }
            }
        }
        for table in 0..tables {
            for column in ["a", "b"] {
                edges.push(("has", format!("table:{table}"), format!("column:{table}.{column}")));
            }
        }
        repository
            .transact(|t| {
                // Declared, because a small graph may have no relationship of one of them.
                for name in ["reads", "writes", "has"] {
                    t.define_type(TypeDefinition::relationship(name))?;
                }
                for (type_name, id) in &nodes {
                    let owner = (!random.one_in(4)).then(|| *random.choose(&["sales", "finance", "archive"]));
                    let mut entity = NewEntity::new(type_name).id(id)?;
                    if let Some(owner) = owner {
                        entity = entity.property("owner", owner);
                    }
                    t.create_entity(entity)?;
                    database.execute("insert into node values (?, ?, ?)", (type_name, id, owner)).unwrap();
                }
                for (type_name, from, to) in &edges {
                    let since = 2000 + random.below(20) as i64;
                    let edge = NewRelationship::new(type_name, Id::new(from)?, Id::new(to)?);
                    t.create_relationship(edge.property("since", since))?;
                    let row = (type_name, from, to, since);
                    database.execute("insert into edge values (?, ?, ?, ?)", row).unwrap();
                }
                Ok(())
            })
            .unwrap();
        let nodes = nodes.into_iter().map(|(_, id)| id).collect();
        Lineage { repository, database, random, nodes }
    }

    /// The ids that a recursive query reaches from `start`. `step` selects pairs of ids.
    fn closure(&self, start: &str, step: &str) -> BTreeSet<String> {
        let text = format!(
            "with recursive step(at, next) as ({step}), reached(id) as (
                 select ?1 union select next from step join reached on at = reached.id)
             select id from reached where id != ?1"
        );
        let mut statement = self.database.prepare(&text).unwrap();
        let rows = statement.query_map([start], |row| row.get::<_, String>(0)).unwrap();
        rows.map(|row| row.unwrap()).collect()
    }
}

/// Steps along edges of some types, each its way, as pairs of ids: of edges and to nodes that fulfil a condition.
fn steps(types: &[(&str, Direction)], on_edge: &str, on_node: &str) -> String {
    let of = |(type_name, direction): &(&str, Direction)| {
        let (at, next) = match direction {
            Direction::Out => ("from_id", "to_id"),
            Direction::In => ("to_id", "from_id"),
        };
        format!(
            "select {at}, {next} from edge join node on node.id = {next}
             where edge.type = '{type_name}' and ({on_edge}) and ({on_node})"
        )
    };
    types.iter().map(of).collect::<Vec<_>>().join(" union ")
}

fn reached(snapshot: &Snapshot, start: &str, reach: &Reach) -> BTreeSet<String> {
    let found = snapshot.reachable(&Id::new(start).unwrap(), reach).unwrap();
    let ids: BTreeSet<String> = found.iter().map(|one| one.id().to_string()).collect();
    assert_eq!(ids.len(), found.len(), "each once");
    ids
}

fn for_each_lineage(check: impl Fn(&mut Lineage)) {
    let first = number_from_environment("ANNALS_GRAPH_SEED", 1);
    let is_one = std::env::var("ANNALS_GRAPH_SEED").is_ok();
    let count = if is_one { 1 } else { number_from_environment("ANNALS_GRAPH_SEEDS", 30) };
    for seed in first..first + count {
        let mut lineage = Lineage::new(seed);
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| check(&mut lineage)));
        if let Err(cause) = outcome {
            eprintln!("ANNALS_GRAPH_SEED={seed} repeats it");
            std::panic::resume_unwind(cause);
        }
    }
}

const DOWN: [(&str, Direction); 2] = [("reads", Direction::In), ("writes", Direction::Out)];
const UP: [(&str, Direction); 2] = [("writes", Direction::In), ("reads", Direction::Out)];

#[test]
fn downstream_and_upstream_are_what_a_recursive_query_finds() {
    for_each_lineage(|lineage| {
        let snapshot = lineage.repository.snapshot();
        for _ in 0..10 {
            let start = lineage.random.choose(&lineage.nodes).clone();
            for types in [DOWN, UP] {
                let expected = lineage.closure(&start, &steps(&types, "true", "true"));
                assert_eq!(reached(&snapshot, &start, &Reach::out().over(types)), expected, "{start}");
                // The direction of the walk does not matter where each type has its own.
                assert_eq!(reached(&snapshot, &start, &Reach::both().over(types)), expected, "{start}");
            }
            // Columns of what is downstream, too.
            let with_columns = [DOWN[0], DOWN[1], ("has", Direction::Out)];
            let expected = lineage.closure(&start, &steps(&with_columns, "true", "true"));
            assert_eq!(reached(&snapshot, &start, &Reach::incoming().over(with_columns)), expected);
        }
    });
}

#[test]
fn conditions_are_those_of_a_recursive_query_now_and_as_of_then() {
    for_each_lineage(|lineage| {
        let downstream = Reach::out()
            .over(DOWN)
            .entity_where("owner is null or owner != archive".parse().unwrap())
            .relationship_where("since > 2005".parse().unwrap());
        let steps = steps(&DOWN, "since > 2005", "owner is null or owner != 'archive'");
        let starts: Vec<String> = (0..6).map(|_| lineage.random.choose(&lineage.nodes).clone()).collect();
        let expected: Vec<_> = starts.iter().map(|start| lineage.closure(start, &steps)).collect();
        let compare = |snapshot: &Snapshot| {
            for (start, expected) in starts.iter().zip(&expected) {
                assert_eq!(reached(snapshot, start, &downstream), *expected, "{start}");
            }
        };
        let before = lineage.repository.snapshot();
        compare(&before);
        // Everything gets another owner: nothing is passed now, and the same as before as of then.
        let nodes = lineage.nodes.clone();
        let archive = |t: &mut Transaction| {
            nodes.iter().try_for_each(|node| {
                t.update(&InstanceId::Entity(Id::new(node)?), Patch::new().set("owner", "archive"))
            })
        };
        lineage.repository.transact(archive).unwrap();
        let now = lineage.repository.snapshot();
        starts.iter().for_each(|start| assert!(reached(&now, start, &downstream).is_empty()));
        let then = AsOf { position: Some(before.position()), ..AsOf::default() };
        compare(&now.as_of(then).unwrap());
    });
}

#[test]
fn groups_are_those_of_a_query_that_counts() {
    for_each_lineage(|lineage| {
        let snapshot = lineage.repository.snapshot();
        let start = lineage.random.choose(&lineage.nodes).clone();
        let downstream = Reach::out().over(DOWN);
        for (by, column) in [(Field::from("owner"), "owner"), (Field::from(Header::Type), "type")] {
            let text = format!(
                "with recursive step(at, next) as ({}), reached(id) as (
                     select ?1 union select next from step join reached on at = reached.id)
                 select node.{column}, count(*) from reached join node using (id) where id != ?1 group by 1",
                steps(&DOWN, "true", "true")
            );
            let mut statement = lineage.database.prepare(&text).unwrap();
            let rows = statement.query_map([&start], |row| {
                let value = row.get::<_, Option<String>>(0)?.map(Value::from);
                Ok((format!("{value:?}"), row.get::<_, usize>(1)?))
            });
            let expected: BTreeMap<String, usize> = rows.unwrap().map(|row| row.unwrap()).collect();
            let found = snapshot.groups(&Id::new(&start).unwrap(), &downstream, &by).unwrap();
            assert_eq!(found.count, expected.values().sum::<usize>());
            let found = found.groups.into_iter().map(|group| (format!("{:?}", group.value), group.count));
            assert_eq!(found.collect::<BTreeMap<_, _>>(), expected, "{start} by {column}");
        }
    });
}
