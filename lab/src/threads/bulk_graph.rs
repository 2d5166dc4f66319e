//! The bulk graph: its edges follow from the numbers of its vertices.

/// The three ends of the edges of a vertex.
pub fn ends(vertices: u64, from: u64) -> [u64; 3] {
    [0, 1, 2].map(|place| (from * 2_654_435_761 + place * 40_503 + 1) % vertices)
}
