//! Walks over the graph: shortest paths, and everything within reach.

use std::collections::{HashMap, HashSet, VecDeque};

use super::instance::{Entity, Relationship};
use super::neighbors::LinkTypes;
use super::snapshot::Snapshot;
use crate::graph::symbols::Symbol;
use crate::model::{Direction, Id, TypeKind};
use crate::{Error, ErrorKind, Result};

/// Most entities one walk visits unless told otherwise.
pub const VISITED_MAX: usize = 1_000_000;

/// A walk: over which relationships, which way, how far.
#[derive(Clone, Debug)]
pub struct Reach {
    /// Directions to follow; both to ignore direction.
    pub directions: Vec<Direction>,
    /// Names of the relationship types to follow (with subtypes); empty means all.
    pub types: Vec<String>,
    /// Most steps from the start; `None` means any number.
    pub depth_max: Option<usize>,
    /// Most entities to visit; one more is an error, so that nobody waits for ever.
    pub visited_max: usize,
}

/// A way from one entity to another.
#[derive(Debug)]
pub struct Path<'s> {
    /// Where it starts.
    pub start: Entity<'s>,
    /// The steps, in order; empty if start and end are the same.
    pub steps: Vec<PathStep<'s>>,
}

/// One step of a path.
#[derive(Debug)]
pub struct PathStep<'s> {
    /// The relationship it goes along.
    pub relationship: Relationship<'s>,
    /// Which way it goes along.
    pub direction: Direction,
    /// The entity it leads to.
    pub entity: Entity<'s>,
}

/// An entity that a walk came to. Its content is only read when asked for.
#[derive(Clone, Copy)]
pub struct Reached<'s> {
    snapshot: &'s Snapshot,
    slot: u32,
    /// How far it is from the start. Units: steps.
    pub distance: usize,
}

impl<'s> Reached<'s> {
    /// Its id.
    pub fn id(&self) -> &'s Id {
        self.snapshot.graph().entities.id(self.slot)
    }

    /// The entity, in the version that the snapshot sees.
    ///
    /// Errors: those of reading history.
    pub fn entity(&self) -> Result<Entity<'s>> {
        self.snapshot.entity_at(self.slot)?.ok_or_else(|| dangling(self.slot))
    }
}

impl std::fmt::Debug for Reached<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} at {}", self.id(), self.distance)
    }
}

impl Reach {
    /// Along outgoing relationships of any type, however far, within [`VISITED_MAX`].
    pub fn out() -> Reach {
        Reach {
            directions: vec![Direction::Out],
            types: Vec::new(),
            depth_max: None,
            visited_max: VISITED_MAX,
        }
    }

    /// Along incoming relationships.
    pub fn incoming() -> Reach {
        Reach { directions: vec![Direction::In], ..Reach::out() }
    }

    /// In both directions.
    pub fn both() -> Reach {
        Reach { directions: vec![Direction::Out, Direction::In], ..Reach::out() }
    }

    /// The same, only over relationships of these types.
    #[must_use]
    pub fn over<'n>(mut self, types: impl IntoIterator<Item = &'n str>) -> Reach {
        self.types = types.into_iter().map(str::to_owned).collect();
        self
    }

    /// The same, at most this many steps.
    #[must_use]
    pub fn depth_max(mut self, depth: usize) -> Reach {
        self.depth_max = Some(depth);
        self
    }

    fn check(&self, visited: usize) -> Result<()> {
        if visited <= self.visited_max {
            return Ok(());
        }
        Err(Error::new(
            ErrorKind::TooLarge,
            format!("walk: expected to visit at most {} entities; narrow types or depth", self.visited_max),
        ))
    }

    fn link_types(&self, snapshot: &Snapshot) -> LinkTypes {
        if self.types.is_empty() {
            return LinkTypes::All;
        }
        let mut symbols: Vec<Symbol> =
            self.types.iter().flat_map(|name| snapshot.types_named(TypeKind::Relationship, name)).collect();
        symbols.sort_unstable();
        symbols.dedup();
        LinkTypes::Several(symbols)
    }
}

/// How a walk came to an entity.
#[derive(Clone, Copy)]
struct Arrival {
    from: u32,
    relationship: u32,
    direction: Direction,
}

impl Snapshot {
    /// A shortest path between two entities; `None` if there is none within reach.
    ///
    /// Errors: `NotFound` for an unknown end; `TooLarge` beyond `reach.visited_max`.
    pub fn shortest_path(&self, from: &Id, to: &Id, reach: &Reach) -> Result<Option<Path<'_>>> {
        let (start, goal) = (self.live_slot(from)?, self.live_slot(to)?);
        let types = reach.link_types(self);
        let mut arrivals: HashMap<u32, Arrival> = HashMap::new();
        let mut frontier = VecDeque::from([(start, 0)]);
        'walk: while let Some((at, depth)) = frontier.pop_front() {
            if at == goal {
                break;
            }
            if reach.depth_max.is_some_and(|depth_max| depth >= depth_max) {
                continue;
            }
            for &direction in &reach.directions {
                let mut neighbors = self.neighbors_at(at, direction, types.clone(), None);
                while let Some(link) = neighbors.next_link() {
                    if link.other == start || arrivals.contains_key(&link.other) {
                        continue;
                    }
                    let arrival = Arrival { from: at, relationship: link.relationship, direction };
                    arrivals.insert(link.other, arrival);
                    reach.check(arrivals.len())?;
                    if link.other == goal {
                        break 'walk;
                    }
                    frontier.push_back((link.other, depth + 1));
                }
            }
        }
        if start != goal && !arrivals.contains_key(&goal) {
            return Ok(None);
        }
        self.path(start, goal, &arrivals).map(Some)
    }

    fn path(&self, start: u32, goal: u32, arrivals: &HashMap<u32, Arrival>) -> Result<Path<'_>> {
        let seen = |slot| self.entity_at(slot)?.ok_or_else(|| dangling(slot));
        let mut steps = Vec::new();
        let mut at = goal;
        while at != start {
            let arrival = arrivals[&at];
            let relationship =
                self.relationship_at(arrival.relationship)?.ok_or_else(|| dangling(arrival.relationship))?;
            steps.push(PathStep { relationship, direction: arrival.direction, entity: seen(at)? });
            at = arrival.from;
        }
        steps.reverse();
        Ok(Path { start: seen(start)?, steps })
    }

    /// Every entity within reach of `start`, each once, nearest first, with its distance; without `start` itself.
    ///
    /// Units: distance counts steps.
    /// Errors: `NotFound` for an unknown start; `TooLarge` beyond `reach.visited_max`.
    pub fn reachable(&self, start: &Id, reach: &Reach) -> Result<Vec<Reached<'_>>> {
        let start = self.live_slot(start)?;
        let types = reach.link_types(self);
        let mut visited = HashSet::from([start]);
        let mut order = vec![(start, 0)];
        let mut next = 0;
        while let Some(&(at, depth)) = order.get(next) {
            next += 1;
            if reach.depth_max.is_some_and(|depth_max| depth >= depth_max) {
                break;
            }
            for &direction in &reach.directions {
                let mut neighbors = self.neighbors_at(at, direction, types.clone(), None);
                while let Some(link) = neighbors.next_link() {
                    if visited.insert(link.other) {
                        reach.check(visited.len())?;
                        order.push((link.other, depth + 1));
                    }
                }
            }
        }
        let reached = order.into_iter().skip(1);
        Ok(reached.map(|(slot, distance)| Reached { snapshot: self, slot, distance }).collect())
    }
}

fn dangling(slot: u32) -> Error {
    Error::new(
        ErrorKind::Corrupted,
        format!("slot {slot}: expected a live instance behind a live link; run `annals check`"),
    )
}
