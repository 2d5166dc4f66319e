//! How long deleting, restoring and undoing a hub takes, and how long another commit waits meanwhile.
//!
//! `cargo run --release -p annals --example hub -- 100000`

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use annals::{Id, InstanceId, NewEntity, NewRelationship, Repository, Result, Transaction};

/// Links that one transaction creates.
const TOGETHER: usize = 10_000;

fn main() -> Result<()> {
    let links: usize = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(100_000);
    let rounds: usize = std::env::args().nth(2).and_then(|text| text.parse().ok()).unwrap_or(3);
    let repository = Repository::in_memory();
    let hub = Id::new("hub")?;
    repository.transact(|t| t.create_entity(NewEntity::new("hub").id("hub")?))?;
    for _ in 0..links.div_ceil(TOGETHER) {
        repository.transact(|t| {
            for _ in 0..TOGETHER.min(links) {
                let leaf = t.create_entity(NewEntity::new("leaf"))?;
                t.create_relationship(NewRelationship::new("has", hub.clone(), leaf).property("weight", 1))?;
            }
            Ok(())
        })?;
    }
    for _ in 0..rounds {
        let hub = InstanceId::Entity(hub.clone());
        measure(&repository, "delete", |t| t.delete(&hub))?;
        measure(&repository, "undo", |t| t.undo(&hub))?;
        measure(&repository, "delete", |t| t.delete(&hub))?;
        measure(&repository, "restore", |t| t.restore(&hub))?;
    }
    Ok(())
}

fn measure<T>(
    repository: &Repository,
    name: &str,
    mut work: impl FnMut(&mut Transaction) -> Result<T>,
) -> Result<()> {
    let is_done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let others = scope.spawn(|| -> Result<Duration> {
            let mut longest = Duration::ZERO;
            while !is_done.load(Ordering::SeqCst) {
                let start = Instant::now();
                repository.transact(|t| t.create_entity(NewEntity::new("other")))?;
                longest = longest.max(start.elapsed());
            }
            Ok(longest)
        });
        let mut transaction = repository.transaction();
        let start = Instant::now();
        work(&mut transaction)?;
        let prepared = start.elapsed();
        transaction.commit()?;
        let took = start.elapsed();
        is_done.store(true, Ordering::SeqCst);
        let longest = others.join().expect("it does not panic")?;
        println!(
            "{name}: {took:?} ({prepared:?} of it before the commit); another commit waited {longest:?}"
        );
        Ok(())
    })
}
