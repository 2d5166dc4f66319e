//! The entities that walks from both of two entities reach.

use super::element::Reached;
use super::path::SlotMap;
use super::reach::Reach;
use super::steps::Steps;
use super::walked::Breadth;
use crate::Result;
use crate::model::Id;
use crate::read::instance::Entity;
use crate::read::snapshot::Snapshot;

/// An entity that two walks reached. Its content is read on demand.
#[derive(Clone, Copy)]
pub struct Shared<'s> {
    snapshot: &'s Snapshot,
    slot: u32,
    /// Its distance from each start. Units: steps.
    pub distances: [usize; 2],
}

impl<'s> Shared<'s> {
    /// Its id.
    pub fn id(&self) -> &'s Id {
        self.reached().id()
    }

    /// The entity, in the version that the snapshot sees.
    ///
    /// Errors: those of reading history.
    pub fn entity(&self) -> Result<Entity<'s>> {
        self.reached().entity()
    }

    fn reached(&self) -> Reached<'s> {
        Reached { snapshot: self.snapshot, slot: self.slot, distance: self.distances[0] }
    }
}

impl std::fmt::Debug for Shared<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} at {} and {}", self.id(), self.distances[0], self.distances[1])
    }
}

impl Snapshot {
    /// The entities that walks from both of two entities reach, without the two themselves. With a depth of one, these
    /// are the common neighbours; with a greater depth, all entities that both reach. Those nearest to both together
    /// come first.
    ///
    /// ```
    /// use annals::{NewEntity, NewRelationship, Reach, Repository};
    /// let repository = Repository::in_memory();
    /// let (ids, _) = repository.transact(|t| {
    ///     let new = |_| NewEntity::new("person");
    ///     let ids = (0..4).map(|at| t.create_entity(new(at))).collect::<annals::Result<Vec<_>>>()?;
    ///     for (from, to) in [(0, 2), (1, 2), (1, 3)] {
    ///         t.create_relationship(NewRelationship::new("knows", ids[from].clone(), ids[to].clone()))?;
    ///     }
    ///     Ok(ids)
    /// })?;
    /// let snapshot = repository.snapshot();
    /// let common = snapshot.shared(&ids[0], &ids[1], &Reach::both().depth_max(1))?;
    /// assert_eq!(common.iter().map(|one| one.id()).collect::<Vec<_>>(), [&ids[2]]);
    /// # Ok::<(), annals::Error>(())
    /// ```
    ///
    /// Errors: as [`Snapshot::neighborhood`].
    pub fn shared(&self, one: &Id, other: &Id, reach: &Reach) -> Result<Vec<Shared<'_>>> {
        let steps = Steps::new(self, reach)?;
        let starts = [steps.slot(one)?, steps.slot(other)?];
        let walk = |start: u32| {
            let mut breadth = Breadth::new(&steps, start, reach)?;
            while !breadth.is_done() {
                breadth.advance(&steps, None)?;
            }
            Ok::<_, crate::Error>(breadth.listed(reach.depth_min.max(1)))
        };
        let first: SlotMap<u32> = walk(starts[0])?.into_iter().collect();
        let second = walk(starts[1])?.into_iter();
        let both = second.filter(|(slot, _)| !starts.contains(slot)).filter_map(|(slot, far)| {
            let distances = [*first.get(&slot)? as usize, far as usize];
            Some(Shared { snapshot: self, slot, distances })
        });
        let mut both: Vec<Shared> = both.collect();
        both.sort_by_key(|shared| {
            (shared.distances[0] + shared.distances[1], shared.distances[0], shared.slot)
        });
        Ok(both)
    }
}
