//! A shortest path between two entities, searched from both ends at once.

use std::collections::HashMap;

use super::reach::Reach;
use super::steps::{Steps, Turn, reversed};
use crate::model::{Direction, Id};
use crate::read::instance::{Entity, Relationship};
use crate::read::snapshot::Snapshot;
use crate::{Error, ErrorKind, Result};

/// A path from one entity to another.
#[derive(Debug)]
pub struct Path<'s> {
    /// Its start.
    pub start: Entity<'s>,
    /// The steps, in order; empty if start and end are the same.
    pub steps: Vec<PathStep<'s>>,
    /// Its length: the sum of its weights, or the number of its steps without weights.
    pub length: f64,
}

/// One step of a path.
#[derive(Debug)]
pub struct PathStep<'s> {
    /// Its relationship.
    pub relationship: Relationship<'s>,
    /// The direction along the relationship.
    pub direction: Direction,
    /// The entity at its end.
    pub entity: Entity<'s>,
}

/// One step of a path, before its content is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Step {
    /// Slot of its start.
    pub(super) from: u32,
    pub(super) relationship: u32,
    pub(super) direction: Direction,
    /// Slot of its end.
    pub(super) to: u32,
}

/// A map with slots as keys.
pub(super) type SlotMap<T> = HashMap<u32, T, foldhash::fast::FixedState>;

impl Snapshot {
    /// A shortest path between two entities; `None` if there is none within reach. `reach.depth_min` is ignored.
    ///
    /// ```
    /// use annals::{NewEntity, NewRelationship, Reach, Repository};
    /// let repository = Repository::in_memory();
    /// let (ends, _) = repository.transact(|t| {
    ///     let stop = |_| NewEntity::new("stop");
    ///     let stops = (0..4).map(|at| t.create_entity(stop(at))).collect::<annals::Result<Vec<_>>>()?;
    ///     for pair in stops.windows(2) {
    ///         t.create_relationship(NewRelationship::new("line", pair[0].clone(), pair[1].clone()))?;
    ///     }
    ///     Ok((stops[0].clone(), stops[3].clone()))
    /// })?;
    /// let snapshot = repository.snapshot();
    /// assert_eq!(snapshot.shortest_path(&ends.0, &ends.1, &Reach::out())?.unwrap().steps.len(), 3);
    /// assert!(snapshot.shortest_path(&ends.1, &ends.0, &Reach::out())?.is_none());
    /// # Ok::<(), annals::Error>(())
    /// ```
    ///
    /// Errors: `NotFound` for an unknown end, type or classification; `TooLarge` beyond `reach.visited_max`;
    /// `Cancelled`; those of reading history.
    pub fn shortest_path(&self, from: &Id, to: &Id, reach: &Reach) -> Result<Option<Path<'_>>> {
        let steps = Steps::new(self, reach)?;
        let (start, goal) = (steps.slot(from)?, steps.slot(to)?);
        let found = between(&steps, start, goal, reach)?;
        found.map(|found| self.path(start, &found, found.len() as f64)).transpose()
    }

    /// Reads the entities and relationships of a path.
    pub(super) fn path(&self, start: u32, steps: &[Step], length: f64) -> Result<Path<'_>> {
        let read = |step: &Step| {
            let relationship = self.fetch_relationship(step.relationship)?;
            Ok(PathStep { relationship, direction: step.direction, entity: self.fetch_entity(step.to)? })
        };
        let steps = steps.iter().map(read).collect::<Result<_>>()?;
        Ok(Path { start: self.fetch_entity(start)?, steps, length })
    }
}

/// One of the two searches: the step to each reached entity, and the latest entities.
struct Side {
    arrivals: SlotMap<Option<Step>>,
    frontier: Vec<u32>,
    turn: Turn,
}

impl Side {
    fn new(start: u32, turn: Turn) -> Side {
        Side { arrivals: SlotMap::from_iter([(start, None)]), frontier: vec![start], turn }
    }

    /// The steps back from `at` to the start of this side, nearest to `at` first.
    fn steps_back(&self, mut at: u32) -> Vec<Step> {
        let mut steps = Vec::new();
        while let Some(Some(step)) = self.arrivals.get(&at) {
            steps.push(*step);
            at = step.from;
        }
        steps
    }
}

/// The steps of a shortest path between two slots.
fn between(steps: &Steps, start: u32, goal: u32, reach: &Reach) -> Result<Option<Vec<Step>>> {
    if start == goal {
        return Ok(Some(Vec::new()));
    }
    let mut near = Side::new(start, Turn::Onward);
    let mut far = Side::new(goal, Turn::Backward);
    let depth_max = reach.depth_max.unwrap_or(usize::MAX);
    for _ in 0..depth_max {
        let is_near = near.frontier.len() <= far.frontier.len();
        let (side, other) = if is_near { (&mut near, &far) } else { (&mut far, &near) };
        let mut next = Vec::new();
        let mut meeting = None;
        let frontier = std::mem::take(&mut side.frontier);
        steps.each(side.turn, &frontier, |from, direction, link| {
            let is_met = other.arrivals.contains_key(&link.other);
            if meeting.is_some() || side.arrivals.contains_key(&link.other) {
                return Ok(());
            }
            if !is_met && !steps.may_enter_all() && !steps.may_enter(link.other)? {
                return Ok(());
            }
            let step = Step { from, relationship: link.relationship, direction, to: link.other };
            side.arrivals.insert(link.other, Some(step));
            if is_met {
                // Each side walks whole levels in turn, so the first common entity is as near as any.
                meeting = Some(link.other);
            }
            next.push(link.other);
            check(side.arrivals.len() + other.arrivals.len() - 2, reach.visited_max)
        })?;
        side.frontier = next;
        if let Some(meeting) = meeting {
            let mut path = near.steps_back(meeting);
            path.reverse();
            let turned = |step: Step| Step {
                from: step.to,
                to: step.from,
                direction: reversed(step.direction),
                relationship: step.relationship,
            };
            path.extend(far.steps_back(meeting).into_iter().map(turned));
            return Ok(Some(path));
        }
        if side.frontier.is_empty() {
            return Ok(None);
        }
    }
    Ok(None)
}

/// Errors: `TooLarge` if the walk visited more than allowed.
pub(super) fn check(visited: usize, visited_max: usize) -> Result<()> {
    if visited <= visited_max {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::TooLarge,
        format!(
            "path: expected to visit at most {visited_max} entities (visited_max); narrow types or depth, or raise the bound"
        ),
    ))
}
