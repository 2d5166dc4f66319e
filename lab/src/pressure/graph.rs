//! The graph: vertices with three edges each, and the edges that a load adds.

use std::collections::BTreeSet;

use crate::threads::ends as ends_of;

/// Edges of each vertex.
pub const DEGREE: u64 = 3;
/// How far the first added edge of a vertex leads.
const ADDED_STEP: u64 = 101;

/// Vertices are numbered from 0. Edge `3i + j` leads from vertex `i`. Edges with higher numbers are added by a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Graph {
    pub vertices: u64,
}

impl Graph {
    /// Number of edges before a load adds any.
    pub fn edges(self) -> u64 {
        DEGREE * self.vertices
    }

    /// Where an edge begins and ends. No two added edges have the same two ends.
    pub fn ends(self, edge: u64) -> (u64, u64) {
        if edge < self.edges() {
            let from = edge / DEGREE;
            return (from, ends_of(self.vertices, from)[(edge % DEGREE) as usize]);
        }
        let added = edge - self.edges();
        let from = added % self.vertices;
        (from, (from + ADDED_STEP + added / self.vertices) % self.vertices)
    }

    /// The vertices whose shortest path from a vertex has so many edges, ascending, before a load adds edges.
    pub fn kout(self, from: u64, depth: u8) -> Vec<u64> {
        let (mut seen, mut last) = (BTreeSet::from([from]), BTreeSet::from([from]));
        for _ in 0..depth {
            let next = last.iter().flat_map(|vertex| ends_of(self.vertices, *vertex));
            last = next.filter(|vertex| !seen.contains(vertex)).collect();
            seen.extend(&last);
        }
        last.into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn edges_lead_from_their_vertices_and_added_ones_differ() {
        let graph = Graph { vertices: 1_000 };
        for edge in 0..graph.edges() {
            let (from, to) = graph.ends(edge);
            assert_eq!((from, to < 1_000), (edge / 3, true));
        }
        let added: HashSet<(u64, u64)> = (3_000..53_000).map(|edge| graph.ends(edge)).collect();
        assert_eq!(added.len(), 50_000);
    }

    #[test]
    fn what_lies_at_a_depth_is_not_nearer() {
        let graph = Graph { vertices: 1_000 };
        let (one, two) = (graph.kout(7, 1), graph.kout(7, 2));
        assert!((1..=3).contains(&one.len()) && (1..=9).contains(&two.len()));
        assert!(two.iter().all(|vertex| !one.contains(vertex) && *vertex != 7));
        assert_eq!(graph.kout(7, 0), [7]);
    }
}
