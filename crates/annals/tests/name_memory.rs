//! Names with few values take little memory each. Alone in this file: it measures the process.

use std::sync::Arc;

use annals::{AsOf, Find, Id, InstanceId, NewEntity, Operator, Patch, PatchStep, Repository, Value};

/// Units: bytes.
fn resident_bytes() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    let kibibytes: usize = line.trim().trim_end_matches("kB").trim().parse().unwrap();
    kibibytes << 10
}

const NAMES: usize = 300_000;
const NAMES_OF_ONE: usize = 10_000;
/// Entities that are there before: far slots must not make an index large.
const OTHERS: usize = 100_000;

fn count(repository: &Repository, find: &Find, as_of: AsOf) -> usize {
    repository.snapshot().as_of(as_of).unwrap().find_entities(find).unwrap().items.len()
}

/// Calls `fill` and prints how much memory it took for each of `count`, which must not be more than `bytes_max`.
fn measure(what: &str, count: usize, bytes_max: usize, fill: impl FnOnce()) {
    let before = resident_bytes();
    fill();
    let each = resident_bytes().saturating_sub(before) / count;
    println!("{what}: {each} bytes each");
    assert!(each <= bytes_max, "{what}: {each} bytes each, expected at most {bytes_max}");
}

// A review: a name of a property took 1.8 KB, and 23 KB more where a million entities were, and a type as much.
#[test]
fn a_name_with_few_values_takes_little_memory() {
    let repository = Repository::in_memory();
    for start in (0..OTHERS).step_by(10_000) {
        let create = |n: usize| NewEntity::new("other").id(&format!("o{n}")).unwrap();
        let others = |t: &mut annals::Transaction| {
            (start..start + 10_000).try_for_each(|n| t.create_entity(create(n)).map(drop))
        };
        repository.transact(others).unwrap();
    }
    let starts = || (0..NAMES).step_by(NAMES_OF_ONE);
    let names = |start: usize| (start..start + NAMES_OF_ONE).map(|n| Arc::<str>::from(format!("name {n}")));
    let id = |start: usize| Id::new(&format!("e{start}")).unwrap();
    let last = format!("name {}", NAMES - 1);
    let find = |value: i64| Find::all().matching(&last, Operator::Equal, value);
    // The record on the log, which is in memory here, the entity and the name itself included.
    measure("properties", NAMES, 550, || {
        for start in starts() {
            let properties = names(start).map(|name| (name, Value::from(1))).collect();
            let entity = NewEntity { id: id(start), properties, ..NewEntity::new("t") };
            repository.transact(|t| t.create_entity(entity.clone())).unwrap();
        }
        assert_eq!(count(&repository, &find(1), AsOf::default()), 1);
    });
    let before = repository.snapshot().position();
    measure("past values of properties", NAMES, 400, || {
        for start in starts() {
            let steps = names(start).map(|name| PatchStep::Set(name, Value::from(2))).collect();
            let patch = Patch { steps };
            repository.transact(|t| t.update(&InstanceId::Entity(id(start)), patch.clone())).unwrap();
        }
        let earlier = AsOf { position: Some(before), ..AsOf::default() };
        assert_eq!(
            (count(&repository, &find(1), earlier), count(&repository, &find(2), AsOf::default())),
            (1, 1)
        );
    });
    // The entity included.
    measure("types", OTHERS, 600, || {
        for start in (0..OTHERS).step_by(10_000) {
            repository
                .transact(|t| {
                    (start..start + 10_000).try_for_each(|n| {
                        let entity = NewEntity::new(&format!("type {n}")).id(&format!("of type {n}"))?;
                        t.create_entity(entity).map(drop)
                    })
                })
                .unwrap();
        }
        assert_eq!(count(&repository, &Find::of("type 7"), AsOf::default()), 1);
    });
}
