//! Reads of the present: look-ups, hops, pages of searches, a scan.

use std::hint::black_box;

use annals::{Direction, Entity, Find, Id, Name, Operator, Snapshot, Value};

use crate::graph::{ENTITIES, Graphs, Random, SMALL, size, vertex_id, weight};
use crate::line;
use crate::outcome::Outcome;

const GETS: usize = 10_000;
const STARTS: usize = 3_000;
const WALKS: usize = 1_024;
/// Walks that start together.
const FRONTIER: usize = 64;
const PAGES: usize = 200;
/// Items of a page, and entities in the range that is searched.
const PAGE: usize = 50;
const RANGE: usize = 300;
/// Entities whose neighbours are read together in the scan.
const SCANNED_TOGETHER: usize = 512;

/// All lines.
pub fn run(graphs: &Graphs) -> Outcome<()> {
    let snapshot = graphs.standard.snapshot();
    let size_name = snapshot.name("size").ok_or("no entity has a size")?;
    let ids = ids(GETS, ENTITIES);
    line("get", GETS, || get(&snapshot, size_name, &ids))?;
    let small = graphs.small.snapshot();
    let starts = self::ids(STARTS, SMALL);
    line("hop-small", STARTS * 6, || hop(&small, &starts))?;
    line("hop2", WALKS, || walk(&snapshot, size_name, &ids[..WALKS], 1))?;
    line("hop2-frontier", WALKS, || walk(&snapshot, size_name, &ids[..WALKS], FRONTIER))?;
    let find = Find::of("vertex").limit(PAGE);
    let mut random = Random::new(2);
    let numbers: Vec<usize> = (0..PAGES).map(|_| random.below(ENTITIES - RANGE)).collect();
    let of = |find: &dyn Fn(usize) -> Find| numbers.iter().map(|number| find(*number)).collect::<Vec<_>>();
    let one = of(&|number| find.clone().matching("weight", Operator::Equal, weight(number)));
    line("find-one", PAGES, || pages(&snapshot, &one))?;
    let equal = of(&|number| find.clone().matching("size", Operator::Equal, size(number)));
    line("find-eq", PAGES, || pages(&snapshot, &equal))?;
    let range = of(&|number| {
        find.clone()
            .matching("weight", Operator::GreaterOrEqual, weight(number))
            .matching("weight", Operator::Less, weight(number + RANGE))
            .order_by("weight")
    });
    line("find-range", PAGES, || pages(&snapshot, &range))?;
    let order = of(&|number| match number % 2 {
        0 => find.clone().order_by("weight"),
        _ => find.clone().order_by_descending("weight"),
    });
    line("find-order", PAGES, || pages(&snapshot, &order))?;
    line("scan", 3 * ENTITIES, || scan(&snapshot, size_name))
}

fn ids(count: usize, entities: usize) -> Vec<Id> {
    let mut random = Random::new(1);
    (0..count).map(|_| vertex_id(random.below(entities))).collect()
}

fn get(snapshot: &Snapshot, size: Name, ids: &[Id]) -> Outcome<()> {
    let mut sum = 0;
    for id in ids {
        let entity = snapshot.entity(id)?.ok_or("an entity is not there")?;
        sum += entity.value(size).and_then(|value| value.as_integer()).ok_or("an entity has no size")?;
    }
    black_box(sum);
    Ok(())
}

fn hop(snapshot: &Snapshot, ids: &[Id]) -> Outcome<()> {
    let mut sum = 0;
    for id in ids {
        for neighbor in snapshot.neighbors(id, Direction::Out, None)? {
            let neighbor = neighbor?;
            sum += last(neighbor.relationship.id()) + last(neighbor.entity.id());
        }
    }
    black_box(sum);
    Ok(())
}

fn last(id: &Id) -> u64 {
    id.uuid_bytes().map_or(0, |bytes| u64::from(bytes[15]))
}

fn walk(snapshot: &Snapshot, size: Name, ids: &[Id], together: usize) -> Outcome<()> {
    let mut sum = 0;
    let mut frontier: Vec<Entity<'_>> = Vec::with_capacity(together);
    for ids in ids.chunks(together) {
        frontier.clear();
        for entity in snapshot.entities(ids)? {
            frontier.push(entity.ok_or("an entity is not there")?);
        }
        let first = snapshot.expand(&frontier, Direction::Out, Some("edge"))?;
        snapshot.each_expanded_value(&first, Direction::Out, Some("edge"), size, |value| {
            sum += value.and_then(Value::as_integer).unwrap_or_default();
        })?;
    }
    black_box(sum);
    Ok(())
}

fn pages(snapshot: &Snapshot, finds: &[Find]) -> Outcome<()> {
    let mut sum = 0;
    for find in finds {
        let page = snapshot.find_entities(find)?;
        sum += page.items.iter().map(|found| last(found.id())).sum::<u64>();
    }
    black_box(sum);
    Ok(())
}

fn scan(snapshot: &Snapshot, size: Name) -> Outcome<()> {
    let mut sum = 0;
    let mut entities = snapshot.entities_of(None);
    let mut page = Vec::with_capacity(SCANNED_TOGETHER);
    loop {
        page.clear();
        for entity in entities.by_ref().take(SCANNED_TOGETHER) {
            page.push(entity?);
        }
        if page.is_empty() {
            black_box(sum);
            return Ok(());
        }
        snapshot.each_expanded_value(&page, Direction::Out, Some("edge"), size, |value| {
            sum += value.and_then(Value::as_integer).unwrap_or_default();
        })?;
    }
}
