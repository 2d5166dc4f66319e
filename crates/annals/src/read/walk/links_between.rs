//! The links between candidates for paths from one end to the other, and which of them are on a path.

use std::collections::VecDeque;

use super::linking::{OnPath, too_large};
use super::path::SlotMap;
use super::steps::Steps;
use super::visited::Numbers;
use crate::read::snapshot::Snapshot;
use crate::structures::number::narrow;
use crate::{Error, ErrorKind, Result};

/// Most steps tried to find whether a detour visits an entity twice.
const ATTEMPTS_MAX: usize = 10_000_000;
/// Number of attempts between two checks for cancellation.
const ATTEMPTS_UNCHECKED: usize = 4_096;

/// A relationship between two candidates, given by their indexes.
#[derive(Clone, Copy)]
struct Edge {
    ends: [u32; 2],
    relationship: u32,
    /// True if it is walked in both directions, otherwise only from its first end to its second.
    is_both: bool,
}

/// Candidates, of which the first is the start and the last the goal, and their links.
pub(super) struct LinksBetween {
    candidates: Vec<OnPath>,
    edges: Vec<Edge>,
    /// True if all edges are walked in both directions.
    is_both: bool,
    depth_max: u32,
    /// Edges by the index of their start (or end, if walked both ways). Shape: `[(edge, other end)]` by index.
    out: Packed,
    /// Edges by the index of their end.
    into: Packed,
    is_kept: Vec<bool>,
    is_edge_kept: Vec<bool>,
    attempts: usize,
}

/// Lists side by side.
struct Packed {
    ends: Vec<u32>,
    items: Vec<(u32, u32)>,
}

impl Packed {
    fn new(count: usize, pairs: &[(u32, u32, u32)]) -> Packed {
        let mut ends = vec![0u32; count + 1];
        pairs.iter().for_each(|(at, _, _)| ends[*at as usize + 1] += 1);
        for at in 1..=count {
            ends[at] += ends[at - 1];
        }
        let mut next = ends.clone();
        let mut items = vec![(0, 0); pairs.len()];
        for (at, edge, other) in pairs {
            items[next[*at as usize] as usize] = (*edge, *other);
            next[*at as usize] += 1;
        }
        Packed { ends, items }
    }

    fn of(&self, place: u32) -> &[(u32, u32)] {
        &self.items[self.ends[place as usize] as usize..self.ends[place as usize + 1] as usize]
    }
}

impl LinksBetween {
    /// Errors: `TooLarge` beyond `visited_max` relationships; `Cancelled`.
    pub(super) fn new(
        steps: &Steps,
        candidates: Vec<OnPath>,
        depth_max: u32,
        visited_max: usize,
    ) -> Result<LinksBetween> {
        let mut places = Numbers::new(steps.slots_count());
        (0..).zip(&candidates).for_each(|(place, known)| places.insert(known.slot, place));
        let slots: Vec<u32> = candidates.iter().map(|candidate| candidate.slot).collect();
        let goal: u32 = narrow(candidates.len() - 1);
        let mut edges: Vec<Edge> = Vec::new();
        let mut from = 0;
        steps.each_once(&slots, |slot, link| {
            while slots[from] != slot {
                from += 1;
            }
            let Some(to) = places.get(link.other).filter(|to| *to as usize != from) else { return Ok(()) };
            let length = |from: u32, to: u32| {
                let (from, to) = (candidates[from as usize], candidates[to as usize]);
                from.from_start.saturating_add(to.to_goal).saturating_add(1)
            };
            let (place, is_both) = (narrow(from), steps.is_both_ways(link));
            let is_forward = to != 0 && place != goal && length(place, to) <= depth_max;
            let is_backward = is_both && place != 0 && to != goal && length(to, place) <= depth_max;
            if is_forward || is_backward {
                edges.push(Edge { ends: [place, to], relationship: link.relationship, is_both });
                if edges.len() > visited_max {
                    return Err(too_large(visited_max, "relationships"));
                }
            }
            Ok(())
        })?;
        let mut links = LinksBetween {
            is_kept: vec![true; candidates.len()],
            is_edge_kept: vec![true; edges.len()],
            out: Packed { ends: Vec::new(), items: Vec::new() },
            into: Packed { ends: Vec::new(), items: Vec::new() },
            candidates,
            edges,
            is_both: steps.is_both(),
            depth_max,
            attempts: 0,
        };
        links.pack();
        Ok(links)
    }

    /// Packs the lists of the kept edges.
    fn pack(&mut self) {
        let (mut out, mut into) = (Vec::new(), Vec::new());
        for (number, edge) in (0u32..).zip(&self.edges).filter(|(at, _)| self.is_edge_kept[*at as usize]) {
            let [from, to] = edge.ends;
            out.push((from, number, to));
            into.push((to, number, from));
            if edge.is_both {
                out.push((to, number, from));
                into.push((from, number, to));
            }
        }
        self.out = Packed::new(self.candidates.len(), &out);
        self.into = Packed::new(self.candidates.len(), &into);
    }

    /// Shape: slot and distance from the start, nearest first.
    pub(super) fn entities(&self) -> Vec<(u32, u32)> {
        let kept = self.candidates.iter().zip(&self.is_kept).filter(|(_, is_kept)| **is_kept);
        let mut entities: Vec<(u32, u32)> =
            kept.map(|(candidate, _)| (candidate.slot, candidate.from_start)).collect();
        entities.sort_by_key(|(_, distance)| *distance);
        entities
    }

    pub(super) fn relationships(&self) -> Vec<u32> {
        let kept = self.edges.iter().zip(&self.is_edge_kept).filter(|(_, is_kept)| **is_kept);
        kept.map(|(edge, _)| edge.relationship).collect()
    }

    fn goal(&self) -> u32 {
        narrow(self.candidates.len() - 1)
    }

    /// Keeps only entities and relationships on a path from the start to the goal that visits no entity twice.
    pub(super) fn keep_linking(&mut self, snapshot: &Snapshot) -> Result<()> {
        if self.is_both {
            self.keep_block();
            let count = self.is_kept.iter().filter(|is_kept| **is_kept).count();
            // No path through so few entities is longer than the bound.
            if count <= self.depth_max.saturating_add(1) as usize || self.depth_max == u32::MAX {
                return Ok(());
            }
        } else if self.is_acyclic() {
            // Every walk is a path.
            return Ok(());
        }
        self.keep_tried(snapshot)
    }

    /// Keeps only entities and edges that stay on a path if any one other entity is removed: those in one block with an
    /// edge between start and goal.
    ///
    /// Source: J. Hopcroft, R. Tarjan, "Efficient algorithms for graph manipulation", 1973.
    fn keep_block(&mut self) {
        const UNSEEN: u32 = u32::MAX;
        let (count, goal) = (self.candidates.len(), self.goal());
        let mut number = vec![UNSEEN; count];
        let mut low = vec![UNSEEN; count];
        let mut is_in = vec![false; count];
        // The edge between start and goal is walked first, although it does not exist.
        number[0] = 0;
        (number[goal as usize], low[goal as usize]) = (1, 0);
        let mut next_number = 2;
        let mut waiting = vec![goal];
        // Shape: entity, edge by which it was reached, number of its visited edges.
        let mut stack: Vec<(u32, u32, usize)> = vec![(goal, UNSEEN, 0)];
        while let Some((at, by, done)) = stack.last_mut() {
            let at = *at;
            let Some(&(edge, other)) = self.out.of(at).get(*done) else {
                stack.pop();
                let Some((above, _, _)) = stack.last() else { break };
                let above = *above as usize;
                low[above] = low[above].min(low[at as usize]);
                if low[at as usize] >= number[above] {
                    // It hangs on one entity, together with everything that hangs on it.
                    while waiting.pop().is_some_and(|hanging| hanging != at) {}
                }
                continue;
            };
            *done += 1;
            if edge == *by {
                continue;
            }
            match number[other as usize] {
                UNSEEN => {
                    number[other as usize] = next_number;
                    low[other as usize] = next_number;
                    next_number += 1;
                    waiting.push(other);
                    stack.push((other, edge, 0));
                }
                known => low[at as usize] = low[at as usize].min(known),
            }
        }
        waiting.iter().for_each(|place| is_in[*place as usize] = true);
        is_in[0] = true;
        for (edge, is_kept) in self.edges.iter().zip(&mut self.is_edge_kept) {
            *is_kept &= edge.ends.iter().all(|end| is_in[*end as usize]);
        }
        self.is_kept = is_in;
        self.pack();
    }

    fn is_acyclic(&self) -> bool {
        let count: u32 = narrow(self.candidates.len());
        let mut waiting: Vec<usize> = (0..count).map(|place| self.into.of(place).len()).collect();
        let mut ready: Vec<u32> = (0..count).filter(|place| waiting[*place as usize] == 0).collect();
        let mut done = 0;
        while let Some(place) = ready.pop() {
            done += 1;
            for (_, other) in self.out.of(place) {
                waiting[*other as usize] -= 1;
                if waiting[*other as usize] == 0 {
                    ready.push(*other);
                }
            }
        }
        done == count
    }

    /// Keeps the edges for which a path is found, with their ends.
    fn keep_tried(&mut self, snapshot: &Snapshot) -> Result<()> {
        let to_goal = self.distances(&self.into, self.goal());
        let from_start = self.distances(&self.out, 0);
        let mut is_sure = vec![false; self.edges.len()];
        for number in 0..self.edges.len() {
            if is_sure[number] || !self.is_edge_kept[number] {
                continue;
            }
            let Edge { ends: [from, to], is_both, .. } = self.edges[number];
            let both = [(from, to), (to, from)];
            for (from, to) in both.into_iter().take(if is_both { 2 } else { 1 }) {
                let found = self.path_over(narrow(number), from, to, &from_start, &to_goal, snapshot)?;
                if let Some(path) = found {
                    path.into_iter().for_each(|edge| is_sure[edge as usize] = true);
                    break;
                }
            }
        }
        let mut is_in = vec![false; self.candidates.len()];
        for edge in self.edges.iter().zip(&is_sure).filter(|(_, is_sure)| **is_sure).map(|(edge, _)| edge) {
            edge.ends.iter().for_each(|end| is_in[*end as usize] = true);
        }
        (self.is_kept, self.is_edge_kept) = (is_in, is_sure);
        Ok(())
    }

    fn distances(&self, links: &Packed, start: u32) -> Vec<u32> {
        let mut distances = vec![u32::MAX; self.candidates.len()];
        distances[start as usize] = 0;
        let mut queue = VecDeque::from([start]);
        while let Some(at) = queue.pop_front() {
            for (_, other) in links.of(at) {
                if distances[*other as usize] == u32::MAX {
                    distances[*other as usize] = distances[at as usize] + 1;
                    queue.push_back(*other);
                }
            }
        }
        distances
    }

    /// The edges of a path through one edge, within the bound; `None` if there is none.
    ///
    /// It tries every way back from the edge to the start, and for each the shortest way on to the goal.
    fn path_over(
        &mut self,
        edge: u32,
        from: u32,
        to: u32,
        from_start: &[u32],
        to_goal: &[u32],
        snapshot: &Snapshot,
    ) -> Result<Option<Vec<u32>>> {
        let goal = self.goal();
        if from == goal || to == 0 {
            return Ok(None);
        }
        let rest_max =
            match self.depth_max.checked_sub(1).and_then(|rest| rest.checked_sub(to_goal[to as usize])) {
                Some(rest_max) if from_start[from as usize] <= rest_max => rest_max,
                _ => return Ok(None),
            };
        let mut is_used = vec![false; self.candidates.len()];
        is_used[to as usize] = true;
        is_used[from as usize] = true;
        // Shape: entity, edge by which it was reached, number of its visited edges.
        let mut stack: Vec<(u32, u32, usize)> = vec![(from, edge, 0)];
        loop {
            let length: u32 = narrow(stack.len().saturating_sub(1));
            let Some((at, _, done)) = stack.last_mut() else { return Ok(None) };
            self.attempts += 1;
            if self.attempts.is_multiple_of(ATTEMPTS_UNCHECKED) {
                snapshot.check_cancelled()?;
            }
            if self.attempts > ATTEMPTS_MAX {
                let text = format!(
                    "linking: expected to tell what lies on a path within {ATTEMPTS_MAX} attempts; narrow the types, or ask \
                     in both directions without a greatest depth, which needs none"
                );
                return Err(Error::new(ErrorKind::TooLarge, text));
            }
            let at = *at;
            if at == 0 {
                let rest = self.depth_max - 1 - length;
                if let Some(onward) = onward(&self.out, &is_used, to, goal, rest, &mut self.attempts) {
                    return Ok(Some(stack.iter().map(|(_, by, _)| *by).chain(onward).collect()));
                }
            }
            let next = if at == 0 { None } else { self.into.of(at).get(*done) };
            let Some(&(by, other)) = next else {
                is_used[at as usize] = false;
                stack.pop();
                continue;
            };
            *done += 1;
            let is_near = from_start[other as usize].saturating_add(length + 1) <= rest_max;
            if !is_used[other as usize] && other != goal && is_near {
                is_used[other as usize] = true;
                stack.push((other, by, 0));
            }
        }
    }
}

/// The edges of a shortest way on to the goal without used entities; `None` if it is longer than `rest`.
fn onward(
    out: &Packed,
    is_used: &[bool],
    from: u32,
    goal: u32,
    rest: u32,
    attempts: &mut usize,
) -> Option<Vec<u32>> {
    let mut arrivals: SlotMap<(u32, u32, u32)> = SlotMap::from_iter([(from, (from, 0, 0))]);
    let mut queue = VecDeque::from([from]);
    while let Some(at) = queue.pop_front() {
        if at == goal {
            let mut edges = Vec::new();
            let mut at = goal;
            while at != from {
                let (before, edge, _) = arrivals[&at];
                edges.push(edge);
                at = before;
            }
            return Some(edges);
        }
        let distance = arrivals[&at].2;
        if distance >= rest {
            continue;
        }
        for (edge, other) in out.of(at) {
            *attempts += 1;
            if !is_used[*other as usize] && !arrivals.contains_key(other) {
                arrivals.insert(*other, (at, *edge, distance + 1));
                queue.push_back(*other);
            }
        }
    }
    None
}
