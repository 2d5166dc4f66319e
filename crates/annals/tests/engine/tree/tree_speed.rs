//! How long changes and reads of a tree take. Run by hand: `cargo test --release -p annals --test engine tree_speed -- --ignored --nocapture`.

use std::time::{Duration, Instant as Clock};

use crate::support::declare_lists;
use crate::support::trees::path;
use annals::*;

fn told(what: &str, start: Clock, count: u32) {
    println!("{what:30} {:?}", start.elapsed() / count);
}

#[test]
#[ignore = "measures"]
fn a_hundred_thousand_items() -> Result<()> {
    let folder = tempfile::tempdir().unwrap();
    let repository = Repository::open(folder.path().join("r"))?;
    declare_lists(&repository);
    let n = 100_000i64;
    for round in 0..3 {
        let all = (0..n).fold(Item::new(), |all, k| {
            all.listed(
                "lst",
                Item::new()
                    .property("k1", k)
                    .property("k2", format!("str{k}"))
                    .property("l", format!("l{k}")),
            )
        });
        let start = Clock::now();
        repository.transact(|t| t.tree().merge(&path("/cont"), &all).map(|_| ()))?;
        told("create batch", start, 1);
        let start = Clock::now();
        repository.transact(|t| t.tree().delete(&path("/cont")))?;
        told("delete subtree", start, 1);
        let snapshot = repository.snapshot();
        let at =
            |back: u64| AsOf { position: Some(Position(snapshot.position().0 - back)), ..AsOf::default() };
        let start = Clock::now();
        let created = snapshot.tree().difference(&path("/cont"), at(2), at(1))?;
        told("difference of creating", start, 1);
        let start = Clock::now();
        let deleted = snapshot.tree().difference(&path("/cont"), at(1), at(0))?;
        told("difference of deleting", start, 1);
        assert_eq!((created.len(), deleted.len()), (100_001, 100_001));
        let _ = round;
        std::thread::sleep(Duration::from_secs(1));
    }
    let texts: Vec<String> = (0..n).map(|k| format!("/cont/lst[k1='{k}'][k2='str{k}']/l")).collect();
    let start = Clock::now();
    repository.transact(|t| {
        let mut tree = t.tree();
        texts.iter().try_for_each(|text| tree.set(&TreePath::parse(text)?, "l"))
    })?;
    told("create all by path", start, 1);
    std::thread::sleep(Duration::from_secs(1));
    let snapshot = repository.snapshot();
    let start = Clock::now();
    for k in 0..10_000 {
        let found = snapshot.tree().item(&TreePath::parse(&texts[k * 7])?)?;
        assert!(found.is_some());
    }
    told("get item by path", start, 10_000);
    let start = Clock::now();
    let all = snapshot.tree().get(&path("/cont"), None)?.unwrap();
    told("get all", start, 1);
    assert_eq!(all.children.len(), n as usize);
    let mut times = Vec::new();
    for k in 0..200 {
        let start = Clock::now();
        repository.transact(|t| t.tree().set(&path(&texts[5000]), k))?;
        times.push(start.elapsed());
    }
    times.sort();
    println!("modify an item: median {:?}", times[100]);
    let start = Clock::now();
    repository.transact(|t| {
        let mut tree = t.tree();
        (0..n).try_for_each(|k| tree.set(&path(&format!("/cont/usr-lst[k='{k}']/l")), "l"))
    })?;
    told("user ordered by path", start, 1);
    let start = Clock::now();
    repository.transact(|t| t.tree().delete(&path("/cont/lst")))?;
    told("delete list", start, 1);
    Ok(())
}
