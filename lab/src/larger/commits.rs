//! Durable commits of one entity each from several threads.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use super::documents::{create, entity, options};
use crate::harness::{Cell, Figure};
use crate::outcome::Outcome;

/// Measures each number of threads in a repository of its own.
pub fn run(cell: &mut Cell, elements: usize) -> Outcome<()> {
    let seconds = cell.size(5.0, 0.2);
    for threads in [1, 10, 100] {
        let folder = cell.arguments.folder.join(format!("commits-{threads}"));
        let repository = create(&folder, options(cell, elements)?)?;
        let (start, next) = (Instant::now(), AtomicU64::new(0));
        let work = || -> annals::Result<()> {
            while start.elapsed().as_secs_f64() < seconds {
                let number = next.fetch_add(1, Ordering::Relaxed) as usize;
                let mut transaction = repository.transaction();
                transaction.create_entity(entity(number)?)?;
                transaction.commit()?;
            }
            Ok(())
        };
        std::thread::scope(|scope| -> Outcome<()> {
            let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
            for worker in workers {
                worker.join().map_err(|_| "a thread that commits panicked")??;
            }
            Ok(())
        })?;
        let rate = next.into_inner() as f64 / start.elapsed().as_secs_f64();
        repository.close()?;
        cell.tell(&elements.to_string(), &format!("commit-{threads}"), Figure::of(rate))?;
    }
    Ok(())
}
