//! Paths between two entities, shortest first, a requested number of them.
//!
//! Source: J. Y. Yen, "Finding the k shortest loopless paths in a network", 1971, with the refinement of E. L. Lawler, 1972;
//! each search is directed by distances from the goal (P. E. Hart, N. J. Nilsson, B. Raphael, 1968).

use std::cmp::Ordering;
use std::collections::{BinaryHeap, HashSet};

use super::path::{Path, SlotMap, Step, check};
use super::reach::Reach;
use super::steps::{Steps, Turn};
use crate::graph::structures::link::Link;
use crate::graph::structures::symbols::Symbol;
use crate::model::{Direction, Id, TypeKind, Value, nearest_float};
use crate::read::snapshot::Snapshot;
use crate::{Error, ErrorKind, Result};

/// Most paths between two entities from one iterator.
const PATHS_MAX: usize = 10_000;

/// The paths between two entities that visit no entity twice, shortest first. Paths that differ only in one of several
/// parallel relationships are different. Made by [`Snapshot::shortest_paths`].
pub struct ShortestPaths<'s> {
    steps: Steps<'s>,
    weight: Weight,
    ends: [u32; 2],
    depth_max: f64,
    visited_max: usize,
    /// Distances to the goal, as far as the first path needed them; farther entities are at least `radius` away.
    to_goal: SlotMap<f64>,
    radius: f64,
    found: Vec<Found>,
    candidates: BinaryHeap<Found>,
    /// The relationships of every path that was found or is waiting.
    known: HashSet<Vec<u32>>,
    state: State,
}

#[derive(PartialEq)]
enum State {
    Unbegun,
    Going,
    Broken,
}

/// The cost of a step.
enum Weight {
    /// One.
    Step,
    /// A property of its relationship; `None` if no relationship ever had it.
    Property(Option<Symbol>, String),
}

/// A path that was found, or waits to be the next.
struct Found {
    steps: Vec<Step>,
    length: f64,
    /// The step at which it leaves the path it was made from.
    deviation: usize,
    /// Among equally long ones, earlier ones come first.
    number: usize,
}

impl PartialEq for Found {
    fn eq(&self, other: &Found) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Found {}

impl PartialOrd for Found {
    fn partial_cmp(&self, other: &Found) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Found {
    // The shortest compares as the greatest, because a heap returns the greatest.
    fn cmp(&self, other: &Found) -> Ordering {
        other.length.total_cmp(&self.length).then(other.number.cmp(&self.number))
    }
}

/// An entity that a search has reached but not expanded.
struct Open {
    /// Lower bound of the length of a path through it.
    estimate: f64,
    number: usize,
    slot: u32,
}

impl PartialEq for Open {
    fn eq(&self, other: &Open) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Open {}

impl PartialOrd for Open {
    fn partial_cmp(&self, other: &Open) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Open {
    // Among equally promising ones the latest comes first: it is nearest to the goal, and such ties are frequent when
    // each step counts one.
    fn cmp(&self, other: &Open) -> Ordering {
        other.estimate.total_cmp(&self.estimate).then(self.number.cmp(&other.number))
    }
}

impl Snapshot {
    /// The paths between two entities that visit no entity twice, shortest first: take one, the first *k*, those as
    /// long as the first, or all within `reach.depth_max`. `reach.depth_min` is ignored.
    ///
    /// With `weight` the length of a path is the sum of that property over its relationships; relationships without it
    /// are not walked. Otherwise it is the number of steps.
    ///
    /// ```
    /// use annals::{NewEntity, NewRelationship, Reach, Repository};
    /// let repository = Repository::in_memory();
    /// let (ends, _) = repository.transact(|t| {
    ///     let [a, b, c] = [(); 3].map(|()| NewEntity::new("town"));
    ///     let (a, b, c) = (t.create_entity(a)?, t.create_entity(b)?, t.create_entity(c)?);
    ///     for (from, to, km) in [(&a, &c, 90), (&a, &b, 30), (&b, &c, 40)] {
    ///         let road = NewRelationship::new("road", from.clone(), to.clone()).property("km", km);
    ///         t.create_relationship(road)?;
    ///     }
    ///     Ok((a, c))
    /// })?;
    /// let snapshot = repository.snapshot();
    /// let lengths = |weight| -> annals::Result<Vec<f64>> {
    ///     snapshot.shortest_paths(&ends.0, &ends.1, &Reach::both(), weight)?.map(|path| Ok(path?.length)).collect()
    /// };
    /// assert_eq!(lengths(None)?, [1.0, 2.0]);
    /// assert_eq!(lengths(Some("km"))?, [70.0, 90.0]);
    /// # Ok::<(), annals::Error>(())
    /// ```
    ///
    /// Errors: `NotFound` for an unknown end, type or classification; `InvalidArgument` for a weight together with
    /// `reach.depth_max`. Each item may be `InvalidArgument` for a weight that is no number from 0, `TooLarge` if one search
    /// visits more than `reach.visited_max` or after 10,000 paths, `Cancelled`, or an error of reading history.
    pub fn shortest_paths(
        &self,
        from: &Id,
        to: &Id,
        reach: &Reach,
        weight: Option<&str>,
    ) -> Result<ShortestPaths<'_>> {
        let steps = Steps::new(self, reach)?;
        if weight.is_some() && reach.depth_max.is_some() {
            let text = "paths: expected a weight or a greatest depth, found both; give one";
            return Err(Error::new(ErrorKind::InvalidArgument, text));
        }
        let ends = [steps.slot(from)?, steps.slot(to)?];
        let weight = match weight {
            None => Weight::Step,
            Some(name) => Weight::Property(self.graph().names.find(name), name.to_owned()),
        };
        Ok(ShortestPaths {
            steps,
            weight,
            ends,
            depth_max: reach.depth_max.map_or(f64::INFINITY, |depth| depth as f64),
            visited_max: reach.visited_max,
            to_goal: SlotMap::default(),
            radius: 0.0,
            found: Vec::new(),
            candidates: BinaryHeap::new(),
            known: HashSet::new(),
            state: State::Unbegun,
        })
    }

    /// The cost of a step along a relationship; `None` if it has no weight.
    fn weight(&self, weight: &Weight, relationship: u32) -> Result<Option<f64>> {
        let (name, text) = match weight {
            Weight::Step => return Ok(Some(1.0)),
            Weight::Property(None, _) => return Ok(None),
            Weight::Property(Some(name), text) => (*name, text),
        };
        let Some(held) = self.seen(TypeKind::Relationship, relationship, true)? else { return Ok(None) };
        let value = self.value(TypeKind::Relationship, relationship, &held, name);
        let number = match &value {
            None => return Ok(None),
            Some(Value::Integer(number)) => Some(*number as f64),
            Some(Value::Float(number)) => Some(*number),
            Some(Value::Decimal(number)) => Some(nearest_float(*number)),
            Some(_) => None,
        };
        match number.filter(|number: &f64| number.is_finite() && *number >= 0.0) {
            Some(number) => Ok(Some(number)),
            None => {
                let id = self.graph().relationships.id(relationship);
                let found = value.map(|value| format!("{value:?}")).unwrap_or_default();
                let text = format!(
                    "weight {text} of relationship {id}: expected a number from 0, found {found}; correct it, or leave \
                     such relationships out by their type"
                );
                Err(Error::new(ErrorKind::InvalidArgument, text))
            }
        }
    }
}

impl ShortestPaths<'_> {
    /// Computes the distances from the goal of all entities that are nearer than the start.
    fn measure(&mut self) -> Result<()> {
        let [start, goal] = self.ends;
        let mut nearest: SlotMap<f64> = SlotMap::from_iter([(goal, 0.0)]);
        let mut open = BinaryHeap::from([Open { estimate: 0.0, number: 0, slot: goal }]);
        self.radius = f64::INFINITY;
        while let Some(Open { estimate, slot, .. }) = open.pop() {
            if self.to_goal.contains_key(&slot) {
                continue;
            }
            self.to_goal.insert(slot, estimate);
            if slot == start {
                self.radius = estimate;
                break;
            }
            if estimate >= self.depth_max {
                continue;
            }
            let (settled, steps, weight) = (&self.to_goal, &self.steps, &self.weight);
            steps.each(Turn::Backward, &[slot], |_, _, link| {
                if settled.contains_key(&link.other) {
                    return Ok(());
                }
                let is_end = link.other == start || link.other == goal;
                let Some(cost) = steps.snapshot.weight(weight, link.relationship)? else { return Ok(()) };
                let distance = estimate + cost;
                let is_nearer = nearest.get(&link.other).is_none_or(|known| distance < *known);
                if is_nearer && (is_end || steps.may_enter_all() || steps.may_enter(link.other)?) {
                    nearest.insert(link.other, distance);
                    check(nearest.len(), self.visited_max)?;
                    open.push(Open { estimate: distance, number: nearest.len(), slot: link.other });
                }
                Ok(())
            })?;
        }
        Ok(())
    }

    /// Lower bound of the distance to the goal.
    fn estimate(&self, slot: u32) -> f64 {
        self.to_goal.get(&slot).copied().unwrap_or(self.radius)
    }

    /// A shortest way on from the end of `root`, without its entities and without the `barred` relationships.
    fn search(&self, root: &[Step], barred: &HashSet<u32>) -> Result<Option<Vec<Step>>> {
        let [start, goal] = self.ends;
        let from = root.last().map_or(start, |step| step.to);
        let mut arrivals: SlotMap<(f64, Option<Step>)> = SlotMap::from_iter([(from, (0.0, None))]);
        let mut left: SlotMap<()> = root.iter().map(|step| (step.from, ())).collect();
        let mut open = BinaryHeap::from([Open { estimate: self.estimate(from), number: 0, slot: from }]);
        let mut number = 0;
        while let Some(Open { slot, .. }) = open.pop() {
            if slot == goal {
                let mut way = Vec::new();
                let mut at = goal;
                while let Some((_, Some(step))) = arrivals.get(&at) {
                    way.push(*step);
                    at = step.from;
                }
                way.reverse();
                return Ok(Some(way));
            }
            if left.insert(slot, ()).is_some() {
                continue;
            }
            let length = arrivals[&slot].0;
            self.steps.each(Turn::Onward, &[slot], |_, direction: Direction, link: Link| {
                if left.contains_key(&link.other) || (slot == from && barred.contains(&link.relationship)) {
                    return Ok(());
                }
                let weight = self.steps.snapshot.weight(&self.weight, link.relationship)?;
                let Some(weight) = weight else { return Ok(()) };
                let (length, rest) = (length + weight, self.estimate(link.other));
                let is_nearer = arrivals.get(&link.other).is_none_or(|(known, _)| length < *known);
                if !is_nearer || rest.is_infinite() || root.len() as f64 + length + rest > self.depth_max {
                    return Ok(());
                }
                let may_pass = link.other == goal
                    || arrivals.contains_key(&link.other)
                    || self.steps.may_enter_all()
                    || self.steps.may_enter(link.other)?;
                if may_pass {
                    let step =
                        Step { from: slot, relationship: link.relationship, direction, to: link.other };
                    arrivals.insert(link.other, (length, Some(step)));
                    check(arrivals.len() - 1, self.visited_max)?;
                    number += 1;
                    open.push(Open { estimate: length + rest, number, slot: link.other });
                }
                Ok(())
            })?;
        }
        Ok(None)
    }

    /// Adds the shortest paths that leave the latest path at each of its entities.
    fn branch(&mut self) -> Result<()> {
        let Some(last) = self.found.last() else { return Ok(()) };
        let (steps, deviation) = (last.steps.clone(), last.deviation);
        for at in deviation..steps.len() {
            let root = &steps[..at];
            let same = |known: &&Found| known.steps.len() > at && known.steps[..at] == *root;
            let barred = self.found.iter().filter(same).map(|known| known.steps[at].relationship).collect();
            if let Some(way) = self.search(root, &barred)? {
                self.wait([root, &way].concat(), at)?;
            }
        }
        Ok(())
    }

    fn wait(&mut self, steps: Vec<Step>, deviation: usize) -> Result<()> {
        if !self.known.insert(steps.iter().map(|step| step.relationship).collect()) {
            return Ok(());
        }
        let mut length = 0.0;
        for step in &steps {
            let weight = self.steps.snapshot.weight(&self.weight, step.relationship)?;
            // Without a weight it would not have been walked along.
            let Some(weight) = weight else { return Ok(()) };
            length += weight;
        }
        self.candidates.push(Found { steps, length, deviation, number: self.known.len() });
        Ok(())
    }

    fn advance(&mut self) -> Result<()> {
        if self.found.len() >= PATHS_MAX {
            let text = format!("paths: expected at most {PATHS_MAX} to be asked for; give a smaller depth");
            return Err(Error::new(ErrorKind::TooLarge, text));
        }
        if self.state == State::Unbegun {
            self.state = State::Going;
            self.measure()?;
            if let Some(way) = self.search(&[], &HashSet::new())? {
                self.wait(way, 0)?;
            }
        } else {
            self.branch()?;
        }
        self.found.extend(self.candidates.pop());
        Ok(())
    }
}

impl<'s> Iterator for ShortestPaths<'s> {
    type Item = Result<Path<'s>>;

    fn next(&mut self) -> Option<Result<Path<'s>>> {
        if self.state == State::Broken {
            return None;
        }
        let count = self.found.len();
        let advanced = self.advance();
        let (snapshot, start) = (self.steps.snapshot, self.ends[0]);
        let next = match advanced {
            Err(error) => Some(Err(error)),
            Ok(_) if self.found.len() == count => None,
            Ok(_) => self.found.last().map(|found| snapshot.path(start, &found.steps, found.length)),
        };
        if !matches!(next, Some(Ok(_))) {
            self.state = State::Broken;
        }
        next
    }
}
