//! How far a walk has come: what is kept of it between two pages.

use super::visited::Visited;

/// How far a walk has come. It goes on with the steps and the bounds it began with.
pub(super) struct Breadth {
    pub(super) visited: Visited,
    /// Those that were visited and not admitted; empty if all are admitted.
    pub(super) refused: Visited,
    /// Those whose relationships were listed; empty unless relationships are listed.
    pub(super) expanded: Visited,
    /// The admitted, nearest first. The first `next` of them have been expanded.
    pub(super) order: Vec<u32>,
    /// Places in `order` of proxies, ascending: they are walked through and not listed.
    pub(super) proxies: Vec<usize>,
    pub(super) next: usize,
    /// Where each distance begins in `order`; the last one is still being filled.
    pub(super) levels: Vec<usize>,
    /// Relationships listed so far.
    pub(super) relationships_count: usize,
    pub(super) depth_max: usize,
    pub(super) visited_max: usize,
}

impl Breadth {
    /// True if nothing is left to walk.
    pub(super) fn is_done(&self) -> bool {
        self.next == self.order.len() || self.levels.len() - 2 >= self.depth_max
    }

    /// How far the entity at a place in `order` is from the start.
    pub(super) fn distance(&self, at: usize) -> usize {
        self.levels.partition_point(|first| *first <= at) - 1
    }

    /// The first place in `order` with at least this distance, as far as is walked.
    pub(super) fn first_at(&self, distance: usize) -> usize {
        self.levels.get(distance).map_or(self.order.len(), |first| *first)
    }

    /// Units: bytes it takes, about.
    pub(super) fn bytes_count(&self) -> usize {
        let sets = [&self.visited, &self.refused, &self.expanded];
        4 * self.order.capacity()
            + 8 * self.proxies.capacity()
            + sets.into_iter().map(Visited::bytes_count).sum::<usize>()
    }
}
