//! The measured graph, the same graph packed into vectors, and the same graph in persistent structures of a library.

mod random;
mod standard;
mod load;
mod packed;
mod persistent;

pub use load::{InFlight, StandardGraph, load, prepare, settle};
pub use packed::{FastMap, Packed, Plain, Uuid, edge_ids, map_of_numbers, uuid};
pub use persistent::{Persistent, PersistentIndexes, shared_map_of_numbers};
pub use random::{Random, mix};
pub use standard::{
    Standard, edge_id, is_even, name, power_law_edges, random_edges, size, vertex_id, weight,
};
