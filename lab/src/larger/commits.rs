//! Durable commits of one entity each from several threads.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::documents::{create, entity, options};
use crate::harness::Cell;
use crate::outcome::Outcome;
use crate::threads::{Loop, repeat};

/// Measures each number of threads in a repository of its own.
pub fn run(cell: &mut Cell, elements: usize) -> Outcome<()> {
    for threads in [1, 10, 100] {
        let folder = cell.arguments.folder.join(format!("commits-{threads}"));
        let repository = create(&folder, options(cell, elements)?)?;
        let next = AtomicUsize::new(0);
        let commit = |_, (): &mut ()| {
            let mut transaction = repository.transaction();
            transaction.create_entity(entity(next.fetch_add(1, Ordering::Relaxed))?)?;
            transaction.commit()?;
            Ok(1)
        };
        let wanted = Loop { threads, seconds: cell.size(5.0, 0.2), rate: None };
        let (answer, _) = repeat(wanted, |_| Ok(()), commit)?;
        repository.close()?;
        cell.tell(&elements.to_string(), &format!("commit-{threads}"), answer.figure(None)?)?;
    }
    Ok(())
}
