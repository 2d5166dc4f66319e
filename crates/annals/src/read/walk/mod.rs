//! Walks over the graph: neighbourhoods, everything within reach, paths.

// In the order a newcomer should read them.
#[rustfmt::skip]
mod reach;
mod visited;
mod steps;
mod element;
mod breadth;
mod path;

pub use breadth::Walk;
pub use element::{Crossed, Element, Reached, Subgraph};
pub use path::{Path, PathStep};
pub use reach::{Reach, VISITED_MAX};
