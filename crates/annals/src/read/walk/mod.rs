//! Walks over the graph: neighbourhoods, reach, paths.

// In the order a newcomer should read them.
mod walked_type;
mod reach;
mod visited;
mod steps;
mod element;
mod breadth;
mod walked;
mod related;
mod kept;
mod shared;
mod groups;
mod path;
mod shortest_paths;
mod linking;
mod links_between;

pub use breadth::Walk;
pub use element::{Crossed, Element, Reached, Subgraph};
pub use groups::{Group, Groups};
pub(crate) use kept::KeptWalks;
pub use path::{Path, PathStep};
pub use reach::{Reach, VISITED_MAX};
pub use related::{Related, RelatedPage};
pub use shared::Shared;
pub use shortest_paths::ShortestPaths;
pub use walked_type::Along;
