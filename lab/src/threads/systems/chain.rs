//! The chain that a thread has committed, and the walks along it.

use annals::{Direction, Id, Repository, Snapshot};

use super::annals::READS_PER_SNAPSHOT;
use crate::outcome::Outcome;

/// A timed walk ends after so many steps, so that it reads the same part of a chain, however long the chain is.
const STEPS_MAX: u64 = 1_000;

/// The chain of a thread.
#[derive(Clone, Default)]
pub struct Chain {
    pub first: Option<Id>,
    pub last: Option<Id>,
}

/// Walks along one chain. Walks share a snapshot until they have read as many steps as other reads of a snapshot.
pub struct Walks {
    first: Option<Id>,
    /// Steps of the whole chain.
    pub length: u64,
    snapshot: Snapshot,
    /// Steps of this snapshot so far.
    steps: u64,
}

impl Walks {
    /// Counts the whole chain.
    pub fn new(repository: &Repository, chain: &Chain) -> Outcome<Walks> {
        let first = chain.first.clone();
        let length = match &first {
            Some(first) => walk(&repository.snapshot(), first, u64::MAX)?,
            None => 0,
        };
        Ok(Walks { first, length, snapshot: repository.snapshot(), steps: 0 })
    }

    /// Walks once, and returns the number of steps.
    ///
    /// Errors: if the chain has another length than before.
    pub fn next(&mut self, repository: &Repository) -> Outcome<u64> {
        let Some(first) = &self.first else { return Ok(0) };
        if self.steps >= READS_PER_SNAPSHOT as u64 {
            self.snapshot = repository.snapshot();
            self.steps = 0;
        }
        let (steps, expected) = (walk(&self.snapshot, first, STEPS_MAX)?, self.length.min(STEPS_MAX));
        if steps != expected {
            return Err(format!("a walk had {steps} steps, expected {expected}").into());
        }
        self.steps += steps;
        Ok(steps)
    }
}

/// Walks to the end of the chain, or as many steps; returns how many there were.
fn walk(snapshot: &Snapshot, first: &Id, steps_max: u64) -> Outcome<u64> {
    let mut at = snapshot.entity(first)?.ok_or_else(|| format!("the first vertex {first} is gone"))?;
    for steps in 0..steps_max {
        // As the adapters of the peers: they keep the vertex, and look no id up.
        let Some(neighbor) = at.neighbors(Direction::Out, None).next().transpose()? else {
            return Ok(steps);
        };
        at = neighbor.entity;
    }
    Ok(steps_max)
}

#[cfg(test)]
mod tests {
    use annals::{NewEntity, NewRelationship};

    use super::*;

    fn chain(repository: &Repository, length: usize) -> Chain {
        let made = repository.transact(|transaction| {
            let mut ids = vec![transaction.create_entity(NewEntity::new("vertex"))?];
            for place in 0..length {
                ids.push(transaction.create_entity(NewEntity::new("vertex"))?);
                let edge = NewRelationship::new("test", ids[place].clone(), ids[place + 1].clone());
                transaction.create_relationship(edge)?;
            }
            Ok(ids)
        });
        let (ids, _) = made.unwrap();
        Chain { first: ids.first().cloned(), last: ids.last().cloned() }
    }

    #[test]
    fn the_whole_chain_is_counted_and_a_walk_ends_after_a_thousand_steps() {
        let repository = Repository::in_memory();
        for (length, walked) in [(0, 0), (1, 1), (400, 400), (1_000, 1_000), (1_500, 1_000)] {
            let mut walks = Walks::new(&repository, &chain(&repository, length)).unwrap();
            assert_eq!((walks.length, walks.next(&repository).unwrap()), (length as u64, walked));
        }
        let mut nothing = Walks::new(&repository, &Chain::default()).unwrap();
        assert_eq!((nothing.length, nothing.next(&repository).unwrap()), (0, 0));
    }

    #[test]
    fn walks_share_a_snapshot_until_they_have_read_a_thousand_steps() {
        let repository = Repository::in_memory();
        let mut walks = Walks::new(&repository, &chain(&repository, 400)).unwrap();
        let steps = [(); 5].map(|()| {
            walks.next(&repository).unwrap();
            walks.steps
        });
        assert_eq!(steps, [400, 800, 1_200, 400, 800]);
    }
}
