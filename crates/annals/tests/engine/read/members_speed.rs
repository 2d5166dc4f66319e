//! Members of a collection: in either direction, direct or through proxies, as fast at the end as at the start.
//! `cargo test --release -p annals --test engine members_speed -- --ignored --nocapture`.

use std::time::{Duration, Instant as Clock};

use crate::support::named::id;
use annals::*;

const MEMBERS: usize = 100_000;
/// Members that one reading visits.
const READ: usize = 10_000;
const READ_MAX: Duration = Duration::from_millis(10);
const FIRST_MAX: Duration = Duration::from_micros(100);
/// The last member may take this many times as long as the tenth: more memory is visited, and machines are noisy.
const GROWTH_MAX: f64 = 2.5;

/// A collection whose members point at it, or it at them, or which has them through proxies.
#[derive(Clone, Copy, Debug)]
enum Way {
    HasMember,
    MemberOf,
    Proxies,
}

const WAYS: [Way; 3] = [Way::HasMember, Way::MemberOf, Way::Proxies];

fn add(t: &mut Transaction, way: Way, number: usize) -> Result<()> {
    let member =
        NewEntity::new("work").id(&format!("w{number}"))?.property("title", format!("title {number}"));
    let member = t.create_entity(member)?;
    let collection = id("collection");
    match way {
        Way::HasMember => t.create_relationship(NewRelationship::new("hasMember", collection, member))?,
        Way::MemberOf => t.create_relationship(NewRelationship::new("memberOf", member, collection))?,
        Way::Proxies => {
            let proxy = t.create_entity(NewEntity::new("proxy"))?;
            t.create_relationship(NewRelationship::new("proxyIn", proxy.clone(), collection))?;
            t.create_relationship(NewRelationship::new("proxyFor", proxy, member))?
        }
    };
    Ok(())
}

/// The titles of the first members, at most `count`, in the order in which they were added.
fn titles(snapshot: &Snapshot, way: Way, count: usize) -> Result<Vec<Value>> {
    let collection = id("collection");
    let title = |entity: &Entity<'_>| entity.property("title").expect("each work has a title");
    let (direction, type_name) = match way {
        Way::HasMember => (Direction::Out, "hasMember"),
        Way::MemberOf => (Direction::In, "memberOf"),
        Way::Proxies => (Direction::In, "proxyIn"),
    };
    let neighbors = snapshot.neighbors(&collection, direction, Some(type_name))?.entities().take(count);
    let mut titles = Vec::new();
    for entity in neighbors {
        let entity = entity?;
        if !matches!(way, Way::Proxies) {
            titles.push(title(&entity));
            continue;
        }
        for member in entity.neighbors(Direction::Out, Some("proxyFor")).entities() {
            titles.push(title(&member?));
        }
    }
    Ok(titles)
}

fn collection() -> Result<Repository> {
    let repository = Repository::in_memory();
    repository.transact(|t| t.create_entity(NewEntity::new("collection").id("collection")?))?;
    Ok(repository)
}

#[test]
fn members_are_listed_in_their_order_in_every_way() -> Result<()> {
    for way in WAYS {
        let repository = collection()?;
        for number in 0..500 {
            repository.transact(|t| add(t, way, number))?;
        }
        let expected: Vec<Value> = (0..500).map(|number| Value::from(format!("title {number}"))).collect();
        assert_eq!(titles(&repository.snapshot(), way, usize::MAX)?, expected, "{way:?}");
    }
    Ok(())
}

#[test]
#[ignore = "measures; run it alone, with --release"]
fn members_keep_their_bars() -> Result<()> {
    for way in WAYS {
        let repository = collection()?;
        let mut costs = Vec::new();
        for number in 0..MEMBERS {
            let start = Clock::now();
            repository.transact(|t| add(t, way, number))?;
            costs.push(start.elapsed());
        }
        let median = |costs: &[Duration]| {
            let mut sorted = costs.to_vec();
            sorted.sort();
            sorted[sorted.len() / 2]
        };
        let (early, late) = (median(&costs[10..1_010]), median(&costs[MEMBERS - 1_000..]));
        let snapshot = repository.snapshot();
        let measured = |count: usize| {
            let once = || {
                let start = Clock::now();
                assert_eq!(titles(&snapshot, way, count).unwrap().len(), count);
                start.elapsed()
            };
            median(&(0..21).map(|_| once()).collect::<Vec<_>>())
        };
        let (first, all) = (measured(1), measured(READ));
        println!("{way:?}: add {early:?}, at the end {late:?}; first {first:?}; {READ} members {all:?}");
        assert!(late.as_secs_f64() <= GROWTH_MAX * early.as_secs_f64(), "{way:?}: adding grows");
        assert!(first <= FIRST_MAX && all <= READ_MAX, "{way:?}: {first:?}, {all:?}");
    }
    Ok(())
}
