//! The progress of a walk: the part that is kept between two pages.

use super::visited::Visited;

/// The progress of a walk. It continues with its original steps and bounds.
pub(super) struct Breadth {
    pub(super) visited: Visited,
    /// Visited entities that the walk may not enter; empty if it may enter all.
    pub(super) refused: Visited,
    /// Entities whose relationships were listed; empty unless relationships are listed.
    pub(super) expanded: Visited,
    /// The entered ones, nearest first. The first `next` of them have been expanded.
    pub(super) order: Vec<u32>,
    /// Indexes in `order` of proxies, ascending: they are walked through but not listed.
    pub(super) proxies: Vec<usize>,
    pub(super) next: usize,
    /// The first index in `order` of each distance; the last one is still being filled.
    pub(super) levels: Vec<usize>,
    /// Relationships listed so far.
    pub(super) relationships_count: usize,
    pub(super) depth_max: usize,
    pub(super) visited_max: usize,
}

impl Breadth {
    /// True if the walk is complete.
    pub(super) fn is_done(&self) -> bool {
        self.next == self.order.len() || self.levels.len() - 2 >= self.depth_max
    }

    /// The distance from the start of the entity at an index in `order`.
    pub(super) fn distance(&self, at: usize) -> usize {
        self.levels.partition_point(|first| *first <= at) - 1
    }

    /// The first index in `order` with at least this distance, as far as the walk has come.
    pub(super) fn first_at(&self, distance: usize) -> usize {
        self.levels.get(distance).map_or(self.order.len(), |first| *first)
    }

    /// Units: bytes, approximate size.
    pub(super) fn bytes_count(&self) -> usize {
        let sets = [&self.visited, &self.refused, &self.expanded];
        4 * self.order.capacity()
            + 8 * self.proxies.capacity()
            + sets.into_iter().map(Visited::bytes_count).sum::<usize>()
    }
}
