//! Finds all entities and relationships on paths between two entities that visit no entity twice.
#![expect(clippy::expect_used, reason = "a distance is noted before its entity is put in order")]

use super::element::Subgraph;
use super::links_between::LinksBetween;
use super::reach::Reach;
use super::steps::{Steps, Turn};
use super::visited::Numbers;
use crate::model::Id;
use crate::read::operators::expand::TOGETHER;
use crate::read::snapshot::Snapshot;
use crate::{Error, ErrorKind, Result};

impl Snapshot {
    /// The links between two entities: every entity and every relationship on a path of at most `reach.depth_max` steps
    /// from one to the other, each once. A path visits no entity twice. Empty if there is no such path; only the entity
    /// if both are the same. `reach.depth_min` is ignored.
    ///
    /// The paths are not visited one by one, because there may be far too many. First the entities too far from either
    /// end are removed, then the parts that hang on a single entity. This is linear in the entities that both ends
    /// reach, and enough if the depth is not bounded and both directions are walked. Otherwise detours that might visit
    /// an entity twice are tried, with a bound on the attempts.
    ///
    /// ```
    /// use annals::{NewEntity, NewRelationship, Reach, Repository};
    /// let repository = Repository::in_memory();
    /// let (ids, _) = repository.transact(|t| {
    ///     let new = |_| NewEntity::new("entity");
    ///     let ids = (0..5).map(|at| t.create_entity(new(at))).collect::<annals::Result<Vec<_>>>()?;
    ///     for (from, to) in [(0, 1), (1, 3), (0, 2), (2, 3), (2, 4)] {
    ///         t.create_relationship(NewRelationship::new("link", ids[from].clone(), ids[to].clone()))?;
    ///     }
    ///     Ok(ids)
    /// })?;
    /// let snapshot = repository.snapshot();
    /// let linking = snapshot.linking(&ids[0], &ids[3], &Reach::both())?;
    /// // Both ways from 0 to 3; number 4 is a dead end.
    /// assert_eq!((linking.entities().len(), linking.relationships().len()), (4, 4));
    /// # Ok::<(), annals::Error>(())
    /// ```
    ///
    /// Errors: `NotFound` for an unknown end, type or classification; `TooLarge` for more than `reach.visited_max` entities or
    /// relationships, or more than 10,000,000 attempts; `Cancelled`; those of reading history.
    pub fn linking(&self, from: &Id, to: &Id, reach: &Reach) -> Result<Subgraph<'_>> {
        let steps = Steps::new(self, reach)?;
        let (start, goal) = (steps.slot(from)?, steps.slot(to)?);
        let mut subgraph = Subgraph { snapshot: self, entities: Vec::new(), relationships: Vec::new() };
        if start == goal {
            subgraph.entities.extend((!steps.is_proxy(start)).then_some((start, 0)));
            return Ok(subgraph);
        }
        let depth_max = reach.depth_max.map_or(u32::MAX, |depth| u32::try_from(depth).unwrap_or(u32::MAX));
        let Some(near) = candidates(&steps, start, goal, depth_max, reach.visited_max)? else {
            return Ok(subgraph);
        };
        let mut links = LinksBetween::new(&steps, near, depth_max, reach.visited_max)?;
        links.keep_linking(self)?;
        subgraph.entities = links.entities();
        subgraph.entities.retain(|(slot, _)| !steps.is_proxy(*slot));
        subgraph.relationships = links.relationships();
        Ok(subgraph)
    }
}

/// An entity that may be on a path: its slot and its distances from both ends. For an unbounded walk in both directions
/// there is no second distance, because it does not matter.
#[derive(Clone, Copy)]
pub(super) struct OnPath {
    pub(super) slot: u32,
    pub(super) from_start: u32,
    pub(super) to_goal: u32,
}

/// The entities near enough to both ends, the start first and the goal last; `None` if no path links the ends.
fn candidates(
    steps: &Steps,
    start: u32,
    goal: u32,
    depth_max: u32,
    visited_max: usize,
) -> Result<Option<Vec<OnPath>>> {
    let is_both = steps.is_both();
    let mut near = Walked::new(steps.slots_count(), start, goal);
    let mut far = Walked::new(steps.slots_count(), goal, start);
    if depth_max == u32::MAX {
        near.go(steps, Turn::Onward, u32::MAX, visited_max, |_, _| true)?;
        if !is_both {
            far.go(steps, Turn::Backward, u32::MAX, visited_max, |slot, _| {
                near.distances.get(slot).is_some()
            })?;
        }
    } else {
        // Each end walks half of the depth to all entities, and from there only to entities that the other end has
        // reached.
        let half = depth_max.div_ceil(2);
        near.go(steps, Turn::Onward, half, visited_max, |_, _| true)?;
        far.go(steps, Turn::Backward, depth_max - half, visited_max, |_, _| true)?;
        let is_near = |other: &Numbers, slot, own: u32| {
            other.get(slot).is_some_and(|other| other.saturating_add(own) <= depth_max)
        };
        let first = near.distances.clone();
        near.go(steps, Turn::Onward, depth_max, visited_max, |slot, own| is_near(&far.distances, slot, own))?;
        far.go(steps, Turn::Backward, depth_max, visited_max, |slot, own| is_near(&first, slot, own))?;
    }
    let Some(way) = near.distances.get(goal).filter(|way| *way <= depth_max) else { return Ok(None) };
    let candidate = |slot: &u32| {
        let from_start = near.distances.get(*slot)?;
        let to_goal = if depth_max == u32::MAX && is_both { 0 } else { far.distances.get(*slot)? };
        let is_near = from_start.saturating_add(to_goal) <= depth_max;
        (is_near && *slot != goal).then_some(OnPath { slot: *slot, from_start, to_goal })
    };
    let mut found: Vec<OnPath> = near.order.iter().filter_map(candidate).collect();
    found.push(OnPath { slot: goal, from_start: way, to_goal: 0 });
    Ok(Some(found))
}

/// The entities that a walk from one of the ends has reached.
struct Walked {
    distances: Numbers,
    /// Nearest first. The first `next` have been expanded.
    order: Vec<u32>,
    next: usize,
    /// The entity that the walk does not pass through.
    other_end: u32,
}

impl Walked {
    fn new(slots_count: usize, start: u32, other_end: u32) -> Walked {
        let mut distances = Numbers::new(slots_count);
        distances.insert(start, 0);
        Walked { distances, order: vec![start], next: 0, other_end }
    }

    /// Continues to at most this many steps, to entities that `is_wanted` accepts by slot and distance.
    fn go(
        &mut self,
        steps: &Steps,
        turn: Turn,
        depth_max: u32,
        visited_max: usize,
        is_wanted: impl Fn(u32, u32) -> bool,
    ) -> Result<()> {
        while let Some(&first) = self.order.get(self.next) {
            let distance = self.distances.get(first).expect("it was noted when it was put in order");
            if distance >= depth_max {
                return Ok(());
            }
            // A few together that are equally far, without the end that the walk does not pass through.
            let waiting = self.order[self.next..].iter().take(TOGETHER);
            let together = waiting.take_while(|slot| self.distances.get(**slot) == Some(distance));
            let mut slots: Vec<u32> = together.copied().collect();
            self.next += slots.len();
            slots.retain(|slot| *slot != self.other_end);
            let (distances, order, other_end) = (&mut self.distances, &mut self.order, self.other_end);
            steps.each(turn, &slots, |_, _, link| {
                if distances.get(link.other).is_some() || !is_wanted(link.other, distance + 1) {
                    return Ok(());
                }
                if link.other == other_end || steps.may_enter_all() || steps.may_enter(link.other)? {
                    distances.insert(link.other, distance + 1);
                    order.push(link.other);
                    if order.len() > visited_max {
                        return Err(too_large(visited_max, "entities"));
                    }
                }
                Ok(())
            })?;
        }
        Ok(())
    }
}

pub(super) fn too_large(visited_max: usize, what: &str) -> Error {
    Error::new(
        ErrorKind::TooLarge,
        format!(
            "linking: expected to visit at most {visited_max} {what} (visited_max); narrow types or depth, or raise the \
             bound"
        ),
    )
}
